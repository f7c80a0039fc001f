// SPDX-License-Identifier: GPL-2.0
/* The law of hot bands, and addresses by it without a division. */
#include "hotband.h"

#define LAST	(SPEK_HOTBAND_SEGMENTS - 1)
#define END	10737418240ull	/* of the law, in its unit */

const u32 spek_hotband_limit[SPEK_HOTBAND_SEGMENTS - 1] = {
	374594163u, 433834647u, 567820446u, 686962839u, 866350738u, 1127867002u,
	1402092074u, 1575832091u, 1658608996u, 1876647305u, 2072884361u, 2249497711u,
	2408449726u, 2551506540u, 2680257672u, 2796133691u, 2900422109u, 2994281684u,
	3078755302u, 3154781558u, 3223205188u, 3284786456u, 3340209597u, 3390090423u,
	3434983167u, 3475386637u, 3511749759u,
};

static int check(const struct spek_stream *stream, u64 parts, struct spek_refusal *refusal)
{
	if (stream->range_bytes < SPEK_HOTBAND_MIN_BYTES)
		return spek_refuse_part(refusal, -ERANGE,
					"A hot band is too small: its range must have 1000000 bytes or more.");
	return 0;
}

static void init(struct spek_source *source, const struct spek_stream *stream,
		 const struct spek_share *share, struct spek_rng *rng, void *states, void *shared)
{
	/* The same places for all sizes: those where the largest one fits. */
	source->hotband.slots = spek_stream_slots(stream);
	source->hotband.per_slots = spek_div64(~0ull, source->hotband.slots);
	source->hotband.per_align = spek_div64(~0ull, stream->align_bytes);
	source->hotband.write_shift = spek_div64(source->hotband.slots, 100);
}

static enum spek_kind kind(const struct spek_stream *stream, bool write)
{
	return SPEK_KIND_HOTBAND;
}

const struct spek_pattern_ops spek_pattern_hotband = {
	.check = check,
	.init = init,
	.kind = kind,
};

static u32 segment_of(u32 bits)
{
	u32 low = 0, high = LAST;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (bits < spek_hotband_limit[middle])
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/**
 * spek_hotband_distance() - draw from the law
 * @rng: operations sequence of the arrival process
 *
 * Return: bytes from the start of an endless band.
 */
u64 spek_hotband_distance(struct spek_rng *rng)
{
	u32 segment = segment_of((u32)(spek_rng_next(rng) >> 32));
	u64 start = segment ? 8ull << segment : 0;
	u64 end = segment < LAST ? 16ull << segment : END;

	return start * SPEK_HOTBAND_UNIT +
	       spek_rng_below(rng, (end - start) * SPEK_HOTBAND_UNIT);
}

/**
 * spek_hotband_next() - address of the next I/O of a hot band
 * @choice: stream, size and direction
 * @rng: operations sequence of the arrival process
 * @op: write is given, addr is set
 */
void spek_hotband_next(const struct spek_choice *choice, struct spek_rng *rng,
		       struct spek_op *op)
{
	const struct spek_source *source = choice->source;
	u64 slots = source->hotband.slots;
	u64 slot = spek_mulhi64(spek_hotband_distance(rng), source->hotband.per_align);

	if (op->write)
		slot += source->hotband.write_shift;
	/* The rounded reciprocal can make the quotient one too small, never more: slot < 2^55. */
	slot -= spek_mulhi64(slot, source->hotband.per_slots) * slots;
	if (slot >= slots)
		slot -= slots;
	op->addr = choice->start + slot * choice->align_bytes;
}
