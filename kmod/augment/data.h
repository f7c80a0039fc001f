/* SPDX-License-Identifier: GPL-2.0 */
/* Blocks in memory. */
#ifndef SPEK_AUGMENT_DATA_H
#define SPEK_AUGMENT_DATA_H

#include <linux/bio.h>
#include <linux/types.h>

int spek_augment_blocks_alloc(u8 **blocks, u32 number);
void spek_augment_blocks_free(u8 **blocks, u32 number);
u32 spek_augment_block_crc(const u8 *block);
void spek_augment_copy_from_bio(struct bio *bio, u8 *const *blocks);
void spek_augment_copy_to_bio(struct bio *bio, u32 first, u8 *const *blocks, u32 number);

#endif
