// SPDX-License-Identifier: GPL-2.0
/*
 * Strided streams whose I/Os stay in a zone for a while, with gaps between the zones. An I/O that
 * completes the size of a zone is the last one there; the next zone starts a stride after it, and
 * the last zone that fits into the replica's part of the range is followed by the first one. In a
 * zone, I/Os follow each other and start over once they have passed its range, or are at random
 * places in the range, or touch its blocks once, in a random order that differs between zones and
 * repetitions.
 *
 * The order of up to DECK_BLOCKS blocks is drawn like cards: each I/O takes one of the blocks left,
 * so every order is equally likely. More blocks have a permutation as in once.h, whose structure
 * would show in few blocks.
 */
#include "pattern.h"

#define DECK_BLOCKS	1024
/* No multiple of a unit: the order of the zone is to be drawn. */
#define NO_ORDER	(~0ull)

static u64 count_blocks(const struct spek_stream *stream)
{
	return spek_div64(spek_gap_range(stream), stream->size[0].bytes);
}

static bool is_deck(const struct spek_stream *stream)
{
	return stream->zone_order == SPEK_ZONE_ORDER_ONCE && count_blocks(stream) <= DECK_BLOCKS;
}

static bool is_many(const struct spek_stream *stream)
{
	return stream->zone_order == SPEK_ZONE_ORDER_ONCE && count_blocks(stream) > DECK_BLOCKS;
}

static struct spek_gap_cursor *cursor_of(const struct spek_source *source, u32 replica)
{
	return (void *)((u8 *)source->states + (u64)replica * source->state_bytes);
}

/**
 * spek_gap_range() - length of the part of a zone in which I/Os start
 * @stream: strided stream with zones
 *
 * Return: bytes from the start of the zone.
 */
u64 spek_gap_range(const struct spek_stream *stream)
{
	return stream->zone_range_bytes ? stream->zone_range_bytes : stream->zone_size_bytes;
}

/**
 * spek_gap_reach() - how far the I/Os of a zone reach
 * @stream: strided stream with zones; a sequential one has an alignment
 *
 * Return: bytes from the start of the zone to the end of its last byte.
 */
u64 spek_gap_reach(const struct spek_stream *stream)
{
	u64 range = spek_gap_range(stream), align = stream->align_bytes;

	if (stream->zone_order != SPEK_ZONE_ORDER_SEQUENTIAL)
		return range;
	/* The last I/O starts before both and may end after them. */
	if (range > stream->zone_size_bytes)
		range = stream->zone_size_bytes;
	return spek_div64(range - 1, align) * align + spek_stream_max_bytes(stream);
}

/**
 * spek_gap_ios() - count the I/Os of a zone
 * @stream: strided stream with zones and one block size
 *
 * Return: I/Os.
 */
u64 spek_gap_ios(const struct spek_stream *stream)
{
	return spek_div64(stream->zone_size_bytes - 1, stream->size[0].bytes) + 1;
}

/**
 * spek_gap_check() - check the zones of a strided stream
 * @stream: stream whose range, alignment, sizes, stride and jitter are valid
 * @refusal: filled in on failure
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int spek_gap_check(const struct spek_stream *stream, struct spek_refusal *refusal)
{
	if (!stream->zone_size_bytes) {
		if (stream->zone_range_bytes || stream->zone_order)
			return spek_refuse_part(refusal, -EINVAL,
						"A range or an order of zones is given for a strided stream whose zones have no size.");
		return 0;
	}
	if (stream->zone_order > SPEK_ZONE_ORDER_ONCE)
		return spek_refuse_part(refusal, -EINVAL,
					"A strided stream has an unknown order of I/Os in its zones.");
	if (stream->jitter_bytes)
		return spek_refuse_part(refusal, -EINVAL,
					"A strided stream has a jitter or zones, but not both.");
	if (spek_gap_range(stream) > stream->range_bytes)
		return spek_refuse_part(refusal, -ERANGE,
					"A zone is larger than the range of its strided stream.");
	if (stream->zone_order == SPEK_ZONE_ORDER_ONCE && stream->nr_sizes > 1)
		return spek_refuse_part(refusal, -EINVAL,
					"Zones whose blocks are touched once need one block size.");
	if (stream->zone_order != SPEK_ZONE_ORDER_RANDOM && !spek_stream_is_aligned(stream))
		return spek_refuse_part(refusal, -EINVAL,
					"Every block size of a strided stream with zones must be a multiple of its alignment, unless its I/Os are at random places.");
	if (stream->zone_order != SPEK_ZONE_ORDER_SEQUENTIAL &&
	    spek_gap_range(stream) < spek_stream_max_bytes(stream))
		return spek_refuse_part(refusal, -ERANGE,
					"The zones of a strided stream have no room for its largest block.");
	return 0;
}

/**
 * spek_gap_state_bytes() - size of a replica of a strided stream with zones
 * @stream: stream
 *
 * Return: bytes, a multiple of 8.
 */
u64 spek_gap_state_bytes(const struct spek_stream *stream)
{
	if (is_many(stream))
		return sizeof(struct spek_gap_once);
	if (is_deck(stream))
		return (sizeof(struct spek_gap_deck) + sizeof(u16) * count_blocks(stream) + 7) &
		       ~7ull;
	return sizeof(struct spek_gap_cursor);
}

/**
 * spek_gap_init() - fill in what the replicas of a strided stream with zones share
 * @source: filled in
 * @stream: checked stream
 */
void spek_gap_init(struct spek_source *source, const struct spek_stream *stream)
{
	struct spek_order order;

	source->gap.stride_bytes = stream->stride_bytes;
	source->gap.size_bytes = stream->zone_size_bytes;
	source->gap.range_bytes = spek_gap_range(stream);
	source->gap.blocks = count_blocks(stream);
	source->gap.block_bytes = stream->size[0].bytes;
	if (is_many(stream))
		source->gap.block_bytes <<= spek_order_init(&order, source->gap.blocks, 0);
}

/**
 * spek_gap_init_state() - prepare a replica
 * @source: filled in
 * @replica: index among its replicas
 * @stream: checked stream
 * @start: first byte of its part of the range
 * @end: first byte after it
 */
void spek_gap_init_state(const struct spek_source *source, u32 replica,
			 const struct spek_stream *stream, u64 start, u64 end)
{
	struct spek_gap_cursor *cursor = cursor_of(source, replica);
	u64 places = spek_div64(end - start - spek_gap_reach(stream), stream->stride_bytes);
	u32 i;

	cursor->zone = start;
	cursor->next = start;
	cursor->left = stream->zone_size_bytes;
	cursor->start = start;
	cursor->last = start + places * stream->stride_bytes;
	if (is_deck(stream)) {
		cursor->next = 0;
		for (i = 0; i < source->gap.blocks; i++)
			((struct spek_gap_deck *)cursor)->block[i] = (u16)i;
	} else if (is_many(stream)) {
		cursor->next = NO_ORDER;
		spek_order_init(&((struct spek_gap_once *)cursor)->order, source->gap.blocks, 0);
	}
}

/**
 * spek_gap_kind() - how addresses of a strided stream with zones are found
 * @stream: checked stream
 *
 * Return: kind.
 */
enum spek_kind spek_gap_kind(const struct spek_stream *stream)
{
	switch (stream->zone_order) {
	case SPEK_ZONE_ORDER_RANDOM:
		return SPEK_KIND_GAP_RANDOM;
	case SPEK_ZONE_ORDER_ONCE:
		return is_deck(stream) ? SPEK_KIND_GAP_DECK : SPEK_KIND_GAP_ONCE;
	default:
		return SPEK_KIND_GAP_SEQUENTIAL;
	}
}

/* Move on to the next zone, from the last one to the first one. */
static inline void begin_zone(struct spek_gap_cursor *cursor, const struct spek_source *source)
{
	cursor->zone = cursor->zone == cursor->last ? cursor->start :
						      cursor->zone + source->gap.stride_bytes;
	cursor->left = source->gap.size_bytes;
}

static inline void take(struct spek_gap_cursor *cursor, u32 bytes)
{
	cursor->left = cursor->left > bytes ? cursor->left - bytes : 0;
}

static inline u64 next_sequential(const struct spek_choice *choice, u32 replica)
{
	const struct spek_source *source = choice->source;
	struct spek_gap_cursor *cursor = cursor_of(source, replica);
	u64 addr = cursor->next;

	if (!cursor->left) {
		begin_zone(cursor, source);
		addr = cursor->zone;
	} else if (addr - cursor->zone >= source->gap.range_bytes) {
		addr = cursor->zone;
	}
	take(cursor, choice->bytes);
	cursor->next = addr + choice->bytes;
	return addr;
}

static inline u64 next_random(const struct spek_choice *choice, u32 replica, struct spek_rng *rng)
{
	const struct spek_source *source = choice->source;
	struct spek_gap_cursor *cursor = cursor_of(source, replica);

	if (!cursor->left)
		begin_zone(cursor, source);
	take(cursor, choice->bytes);
	return cursor->zone + spek_rng_below(rng, choice->slots) * choice->align_bytes;
}

static inline u64 next_of_deck(const struct spek_choice *choice, u32 replica, struct spek_rng *rng)
{
	const struct spek_source *source = choice->source;
	struct spek_gap_deck *deck = (struct spek_gap_deck *)cursor_of(source, replica);
	struct spek_gap_cursor *cursor = &deck->cursor;
	u64 i = cursor->next, drawn;
	u16 block;

	/* Any order of the deck is as good as any other one to begin with. */
	if (!cursor->left) {
		begin_zone(cursor, source);
		i = 0;
	}
	drawn = i + spek_rng_below(rng, source->gap.blocks - i);
	block = deck->block[drawn];
	deck->block[drawn] = deck->block[i];
	deck->block[i] = block;
	take(cursor, choice->bytes);
	cursor->next = i + 1 == source->gap.blocks ? 0 : i + 1;
	return cursor->zone + (u64)block * choice->bytes;
}

static void draw_order(struct spek_order *order, struct spek_rng *rng)
{
	u64 key;
	u32 i;

	spek_order_set_key(order, spek_rng_next(rng));
	/* With equal factors, blocks that are neighbours in one order are so in too many others. */
	key = spek_rng_next(rng);
	for (i = 0; i < SPEK_ONCE_ROUNDS; i++)
		order->factor[i] = spek_splitmix64(&key) | 1;
}

static inline u64 next_once(const struct spek_choice *choice, u32 replica, struct spek_rng *rng)
{
	const struct spek_source *source = choice->source;
	struct spek_gap_once *once = (struct spek_gap_once *)cursor_of(source, replica);
	struct spek_gap_cursor *cursor = &once->cursor;
	u64 i = cursor->next;

	if (!cursor->left) {
		begin_zone(cursor, source);
		i = NO_ORDER;
	}
	if (i == NO_ORDER) {
		draw_order(&once->order, rng);
		i = 0;
	}
	take(cursor, choice->bytes);
	cursor->next = i == once->order.last ? NO_ORDER : i + once->order.unit;
	return cursor->zone + spek_mulhi64(spek_order_at(&once->order, i),
					   source->gap.block_bytes);
}

/**
 * spek_gap_next() - find the next address of a strided stream with zones
 * @choice: stream, size and direction
 * @replica: index among the source's replicas
 * @rng: operations sequence of the arrival process
 * @op: addr is filled in
 */
void spek_gap_next(const struct spek_choice *choice, u32 replica, struct spek_rng *rng,
		   struct spek_op *op)
{
	if (choice->kind == SPEK_KIND_GAP_SEQUENTIAL)
		op->addr = next_sequential(choice, replica);
	else if (choice->kind == SPEK_KIND_GAP_RANDOM)
		op->addr = next_random(choice, replica, rng);
	else if (choice->kind == SPEK_KIND_GAP_DECK)
		op->addr = next_of_deck(choice, replica, rng);
	else
		op->addr = next_once(choice, replica, rng);
}
