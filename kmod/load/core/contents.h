/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Data of writes: how far they can be compressed and deduplicated.
 *
 * An I/O is made of blocks of SPEK_CONTENTS_BLOCK bytes from its start on; the last one may be
 * shorter. With the share of duplicates a block is one of SPEK_CONTENTS_COMMON blocks of its
 * stream, which all workers share, else it is unique. A block is random up to its share of fill,
 * which is its end.
 * The n-th block that a worker writes in a stream follows from the seed, the worker and the stream:
 * a run with another seed has other blocks, duplicates too.
 */
#ifndef SPEK_CORE_CONTENTS_H
#define SPEK_CORE_CONTENTS_H

#include "workload.h"

#define SPEK_CONTENTS_BLOCK		4096
#define SPEK_CONTENTS_COMMON	64

/**
 * struct spek_contents - source of the data that one worker writes in one stream
 * @next: number of the next block
 * @key: of unique blocks
 * @common_key: of duplicates, the same for all workers
 * @duplicates: share of duplicates, over 2^32
 * @random: share of random bytes in a block, over 2^32
 * @fill_words: entries of @fill in use; 0: zeroes
 * @fill: the fill, repeated up to whole words
 */
struct spek_contents {
	u64 next;
	u64 key;
	u64 common_key;
	u64 duplicates;
	u64 random;
	u32 fill_words;
	u64 fill[SPEK_MAX_FILL];
};

void spek_contents_init(struct spek_contents *contents, const struct spek_stream *stream,
			u32 index, u64 seed, u32 worker, bool random);
void spek_contents_write(struct spek_contents *contents, void *block, u32 bytes);

#endif
