// SPDX-License-Identifier: GPL-2.0
/* Making the data of writes, block by block. */
#include "../../core/rng.h"
#include "contents.h"

#define WORD_BYTES	((u32)sizeof(u64))
#define ALL_PPM		1000000

static void set_fill(struct spek_contents *contents, const struct spek_stream *stream)
{
	u8 *byte = (u8 *)contents->fill;
	u32 i;

	contents->fill_words = stream->fill_bytes;
	for (i = 0; i < stream->fill_bytes * WORD_BYTES; i++)
		byte[i] = stream->fill[i % stream->fill_bytes];
}

/**
 * spek_contents_init() - prepare the data of a stream
 * @contents: filled in
 * @stream: stream of a workload that was checked
 * @index: number of @stream
 * @seed: seed of the run
 * @worker: number of the worker
 * @random: what a stream without data of its own writes: random data, else zeroes
 */
void spek_contents_init(struct spek_contents *contents, const struct spek_stream *stream,
			u32 index, u64 seed, u32 worker, bool random)
{
	u64 base = spek_mix64(seed + SPEK_GOLDEN64);

	spek_memset(contents, 0, sizeof(*contents));
	/* Workers count from 1: their unique blocks are none of the duplicates. */
	contents->key = spek_mix64((base ^ ((u64)(worker + 1) << 32 | index)) + SPEK_GOLDEN64);
	contents->common_key = spek_mix64((base ^ index) + SPEK_GOLDEN64);
	if (!stream->own_data) {
		contents->random = spek_ppm_threshold(random ? ALL_PPM : 0);
		return;
	}
	contents->duplicates = spek_ppm_threshold(stream->duplicate_ppm);
	contents->random = spek_ppm_threshold(ALL_PPM - stream->compressible_ppm);
	set_fill(contents, stream);
}

/* Return: what the random words of the next block follow from */
static u64 next_key(struct spek_contents *contents)
{
	u64 draw = spek_mix64((contents->key ^ contents->next++) + SPEK_GOLDEN64);

	if (draw >> 32 >= contents->duplicates)
		return draw;
	return spek_mix64((contents->common_key ^ draw % SPEK_CONTENTS_COMMON) + SPEK_GOLDEN64);
}

/**
 * spek_contents_write() - write the next block
 * @contents: source, advanced
 * @block: @bytes of memory, 8-byte aligned
 * @bytes: size of the block, a multiple of 8, at most SPEK_CONTENTS_BLOCK
 */
void spek_contents_write(struct spek_contents *contents, void *block, u32 bytes)
{
	/* Rounded up: unless all of it is fill, there is a word to tell blocks apart. */
	u32 words = bytes / WORD_BYTES, random = (words * contents->random + 0xffffffffu) >> 32;
	u64 key = next_key(contents), *word = block;
	u32 i, k = 0;

	for (i = 0; i < random; i++)
		word[i] = spek_mix64(key + i * SPEK_GOLDEN64);
	if (!contents->fill_words) {
		spek_memset(&word[random], 0, (words - random) * WORD_BYTES);
		return;
	}
	for (; i < words; i++) {
		word[i] = contents->fill[k];
		if (++k == contents->fill_words)
			k = 0;
	}
}
