// SPDX-License-Identifier: GPL-2.0
/* Set-up of streams that touch every block once per pass; addresses are found in pattern.h. */
#include "../../core/muldiv.h"
#include "../../core/rng.h"
#include "once.h"
#include "pattern.h"

static u64 count_blocks(const struct spek_stream *stream)
{
	return spek_div64(stream->range_bytes, stream->size[0].bytes);
}

static u64 part_start(const struct spek_stream *stream, u64 part, u64 parts)
{
	return spek_muldiv64(count_blocks(stream), part, parts, NULL);
}

static u64 blocks(const struct spek_stream *stream, u64 part, u64 parts)
{
	return part_start(stream, part + 1, parts) - part_start(stream, part, parts);
}

static int check(const struct spek_stream *stream, u64 parts, struct spek_refusal *refusal)
{
	if (stream->nr_sizes != 1 || !spek_stream_is_aligned(stream))
		return spek_refuse_part(refusal, -EINVAL,
					"A stream that touches every block once needs one block size, a multiple of its alignment.");
	if (count_blocks(stream) < parts)
		return spek_refuse_part(refusal, -ERANGE,
					"The range of a stream that touches every block once is too small: each worker's part of it must hold a block.");
	return 0;
}

static void memory(struct spek_source_memory *memory, const struct spek_stream *stream)
{
	memory->replica_bytes = sizeof(struct spek_once);
}

static void init(struct spek_source *source, const struct spek_stream *stream,
		 const struct spek_share *share, struct spek_rng *rng, void *states, void *shared)
{
	struct spek_once *once = states;
	struct spek_order first;
	u32 i;

	/* A block is 16 MiB at most and lies below 2^62, so no bit is lost. */
	source->once.block_bytes = (u64)stream->size[0].bytes
				   << spek_order_init(&first, count_blocks(stream),
						       share->key);
	source->once.key = share->key;
	for (i = 0; i < share->count; i++) {
		u64 part = share->first_part + i;

		spek_yield_at(i);
		spek_memset(&once[i], 0, sizeof(once[i]));
		once[i].start = part_start(stream, part, share->parts) * first.unit;
		once[i].next = once[i].start;
		once[i].left = blocks(stream, part, share->parts);
		once[i].order = first;
	}
}

static enum spek_kind kind(const struct spek_stream *stream, bool write)
{
	return SPEK_KIND_ONCE;
}

const struct spek_pattern_ops spek_pattern_once = {
	.check = check,
	.memory = memory,
	.init = init,
	.kind = kind,
	.blocks = blocks,
};

/**
 * spek_once_begin_pass() - begin the next pass
 * @once: replica, whose pass is complete
 * @key: of the stream
 */
void spek_once_begin_pass(struct spek_once *once, u64 key)
{
	u64 unit = once->order.unit;

	/* All 2^k numbers are 2^64, which is 0: then the last one tells. */
	once->left = ((once->next - unit - once->start) >> __builtin_ctzll(unit)) + 1;
	once->next = once->start;
	spek_order_set_key(&once->order, key ^ spek_mix64(++once->pass));
}

/**
 * spek_order_init() - choose a permutation
 * @order: filled in
 * @count: size, 1 to 2^53
 * @key: number of the permutation
 *
 * Return: k, the bits that it scrambles.
 */
u32 spek_order_init(struct spek_order *order, u64 count, u64 key)
{
	static const u64 factor[SPEK_ONCE_ROUNDS] = {
		0x9e3779b97f4a7c15ull, 0xbf58476d1ce4e5b9ull,
		0x94d049bb133111ebull, 0xd6e8feb86659fd93ull,
	};
	/* One bit at least: a unit of 2^64 does not fit. */
	u32 bits = count > 1 ? 64 - (u32)__builtin_clzll(count - 1) : 1, i;

	order->unit = 1ull << (64 - bits);
	order->last = (count - 1) * order->unit;
	order->mask = -order->unit;
	order->shift = (bits + 1) / 2;
	for (i = 0; i < SPEK_ONCE_ROUNDS; i++)
		order->factor[i] = factor[i];
	spek_order_set_key(order, key);
	return bits;
}

/**
 * spek_order_set_key() - choose another permutation of as many numbers
 * @order: permutation, changed
 * @key: number of the permutation
 */
void spek_order_set_key(struct spek_order *order, u64 key)
{
	u32 i;

	for (i = 0; i < SPEK_ONCE_ROUNDS; i++)
		order->key[i] = spek_splitmix64(&key) & order->mask;
}
