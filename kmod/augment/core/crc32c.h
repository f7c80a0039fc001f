/* SPDX-License-Identifier: GPL-2.0 */
/* The checksum of blocks and headers. */
#ifndef SPEK_AUGMENT_CRC32C_H
#define SPEK_AUGMENT_CRC32C_H

#include "../../core/spek_host.h"

u32 spek_augment_crc32c(const u8 *bytes, size_t length);

#endif
