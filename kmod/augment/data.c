// SPDX-License-Identifier: GPL-2.0
/* Blocks in memory: allocation, checksums, copies from and to bios. */
#include <linux/bvec.h>
#include <linux/crc32c.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include "core/format.h"
#include "data.h"

/**
 * spek_augment_blocks_alloc() - allocate blocks
 * @blocks: filled in; NULL where there is none yet
 * @number: number of blocks
 *
 * Return: 0 or -ENOMEM; spek_augment_blocks_free() has to follow either way.
 */
int spek_augment_blocks_alloc(u8 **blocks, u32 number)
{
	u32 i;

	for (i = 0; i < number; i++) {
		blocks[i] = (u8 *)__get_free_page(GFP_KERNEL);
		if (!blocks[i])
			return -ENOMEM;
	}
	return 0;
}

/**
 * spek_augment_blocks_free() - free blocks
 * @blocks: blocks, or NULL for those that were not allocated
 * @number: number of blocks
 */
void spek_augment_blocks_free(u8 **blocks, u32 number)
{
	u32 i;

	for (i = 0; i < number; i++)
		free_page((unsigned long)blocks[i]);
}

/**
 * spek_augment_block_crc() - compute the CRC-32C of a block
 * @block: block
 *
 * Return: what spek_augment_crc32c() would, but faster.
 */
u32 spek_augment_block_crc(const u8 *block)
{
	return ~crc32c(~0U, block, SPEK_AUGMENT_BLOCK_BYTES);
}

/* Copy between a vector and blocks, where a vector may begin and end anywhere. */
static void copy_vec(struct bio_vec *vec, u8 *const *blocks, size_t at, bool to_bio)
{
	u8 *mapped = bvec_kmap_local(vec);
	size_t done = 0;

	while (done < vec->bv_len) {
		size_t offset = (at + done) % SPEK_AUGMENT_BLOCK_BYTES;
		u8 *block = blocks[(at + done) / SPEK_AUGMENT_BLOCK_BYTES] + offset;
		size_t length = min_t(size_t, vec->bv_len - done,
				      SPEK_AUGMENT_BLOCK_BYTES - offset);

		if (to_bio)
			memcpy(mapped + done, block, length);
		else
			memcpy(block, mapped + done, length);
		done += length;
	}
	if (to_bio)
		flush_dcache_page(vec->bv_page);
	kunmap_local(mapped);
}

/**
 * spek_augment_copy_from_bio() - copy all data of a bio
 * @bio: bio of whole blocks, which does not advance
 * @blocks: enough blocks
 */
void spek_augment_copy_from_bio(struct bio *bio, u8 *const *blocks)
{
	struct bvec_iter iter;
	struct bio_vec vec;
	size_t at = 0;

	bio_for_each_segment(vec, bio, iter) {
		copy_vec(&vec, blocks, at, false);
		at += vec.bv_len;
	}
}

/**
 * spek_augment_copy_to_bio() - copy blocks into a bio
 * @bio: bio of whole blocks, which does not advance
 * @first: first of its blocks to be filled
 * @blocks: blocks
 * @number: number of blocks
 */
void spek_augment_copy_to_bio(struct bio *bio, u32 first, u8 *const *blocks, u32 number)
{
	struct bvec_iter iter = bio->bi_iter;
	struct bvec_iter at_iter;
	struct bio_vec vec;
	size_t at = 0;

	bio_advance_iter(bio, &iter, first * SPEK_AUGMENT_BLOCK_BYTES);
	iter.bi_size = number * SPEK_AUGMENT_BLOCK_BYTES;
	__bio_for_each_segment(vec, bio, at_iter, iter) {
		copy_vec(&vec, blocks, at, true);
		at += vec.bv_len;
	}
}
