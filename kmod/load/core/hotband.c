// SPDX-License-Identifier: GPL-2.0
/* Tables of the law of hot bands, and set-up; hotband.h has the addresses. */
#include "hotband.h"

#define UNIT(n)	(SPEK_HOTBAND_UNIT * (n))

const struct spek_hotband_segment spek_hotband_segment[SPEK_HOTBAND_SEGMENTS] = {
	{ 374594163u, 0, UNIT(16) },
	{ 433834647u, UNIT(8 << 1), UNIT(8 << 1) },
	{ 567820446u, UNIT(8 << 2), UNIT(8 << 2) },
	{ 686962839u, UNIT(8 << 3), UNIT(8 << 3) },
	{ 866350738u, UNIT(8 << 4), UNIT(8 << 4) },
	{ 1127867002u, UNIT(8 << 5), UNIT(8 << 5) },
	{ 1402092074u, UNIT(8 << 6), UNIT(8 << 6) },
	{ 1575832091u, UNIT(8 << 7), UNIT(8 << 7) },
	{ 1658608996u, UNIT(8 << 8), UNIT(8 << 8) },
	{ 1876647305u, UNIT(8 << 9), UNIT(8 << 9) },
	{ 2072884361u, UNIT(8 << 10), UNIT(8 << 10) },
	{ 2249497711u, UNIT(8 << 11), UNIT(8 << 11) },
	{ 2408449726u, UNIT(8 << 12), UNIT(8 << 12) },
	{ 2551506540u, UNIT(8 << 13), UNIT(8 << 13) },
	{ 2680257672u, UNIT(8 << 14), UNIT(8 << 14) },
	{ 2796133691u, UNIT(8 << 15), UNIT(8 << 15) },
	{ 2900422109u, UNIT(8 << 16), UNIT(8 << 16) },
	{ 2994281684u, UNIT(8 << 17), UNIT(8 << 17) },
	{ 3078755302u, UNIT(8 << 18), UNIT(8 << 18) },
	{ 3154781558u, UNIT(8 << 19), UNIT(8 << 19) },
	{ 3223205188u, UNIT(8 << 20), UNIT(8 << 20) },
	{ 3284786456u, UNIT(8 << 21), UNIT(8 << 21) },
	{ 3340209597u, UNIT(8 << 22), UNIT(8 << 22) },
	{ 3390090423u, UNIT(8 << 23), UNIT(8 << 23) },
	{ 3434983167u, UNIT(8 << 24), UNIT(8 << 24) },
	{ 3475386637u, UNIT(8 << 25), UNIT(8 << 25) },
	{ 3511749759u, UNIT(8 << 26), UNIT(8 << 26) },
	{ 1ull << 32, UNIT(8 << 27), UNIT(10737418240 - (8 << 27)) },
};

const u8 spek_hotband_first[SPEK_HOTBAND_PARTS] = {
	0, 0, 0, 0, 0, 0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5,
	5, 6, 6, 6, 6, 7, 7, 7, 8, 9, 9, 9, 10, 10, 10, 11,
	11, 11, 12, 12, 13, 13, 13, 14, 15, 15, 16, 16, 17, 18, 19, 19,
	20, 22, 23, 24, 26, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27, 27,
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
