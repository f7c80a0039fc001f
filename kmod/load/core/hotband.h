/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hot band: a range whose low addresses are hit more often than its high ones, like the
 * pages of a database index.
 *
 * The law gives the distance of an I/O from the start of the band, for bands of any size: within
 * 16 kB (of 1000 bytes) in 8.7 % of all cases, 1 MB in 33 %, 8 MB in 44 %, 1 GB in 82 %. Its
 * distribution function is linear between the powers of two from 16 kB to 2^30 kB and from there
 * to 10737418240 kB, where it ends. From 8192 kB on each doubling adds 0.9 of the previous
 * step. Distances beyond the end of a smaller band wrap around, which spreads them almost evenly.
 *
 * Writes are shifted up by 1 % of the band, away from the most frequently read part.
 *
 * No state, no memory; error of each probability below 2^-32.
 */
#ifndef SPEK_CORE_HOTBAND_H
#define SPEK_CORE_HOTBAND_H

#include "pattern.h"
#include "../../core/rng.h"
#include "../../core/spek_host.h"

#define SPEK_HOTBAND_SEGMENTS	28
#define SPEK_HOTBAND_UNIT	1000ull		/* unit of the law, bytes */
#define SPEK_HOTBAND_MIN_BYTES	1000000u	/* smallest band; the law is undefined below */

/**
 * struct spek_hotband_segment - part of the law within which all distances are equally likely
 * @limit: 2^32 times the probability that an I/O lies before its end
 * @start: its first byte
 * @bytes: its length
 */
struct spek_hotband_segment {
	u64 limit;
	u64 start;
	u64 bytes;
};

extern const struct spek_hotband_segment spek_hotband_segment[SPEK_HOTBAND_SEGMENTS];

/* By the top bits of 32 random ones: the first segment that they may mean. */
#define SPEK_HOTBAND_PARTS	64
extern const u8 spek_hotband_first[SPEK_HOTBAND_PARTS];

/**
 * spek_hotband_distance() - draw from the law
 * @rng: operations sequence of the arrival process
 *
 * Return: bytes from the start of an endless band.
 */
static inline u64 spek_hotband_distance(struct spek_rng *rng)
{
	u64 bits = spek_rng_next(rng) >> 32;
	u32 part = bits / ((1ull << 32) / SPEK_HOTBAND_PARTS);
	const struct spek_hotband_segment *segment =
		&spek_hotband_segment[spek_hotband_first[part]];

	while (bits >= segment->limit)
		segment++;
	return segment->start + spek_rng_below(rng, segment->bytes);
}

/**
 * spek_hotband_next() - address of the next I/O of a hot band
 * @choice: stream, size and direction
 * @rng: operations sequence of the arrival process
 * @write: direction
 *
 * Return: first byte in the asu.
 */
static inline u64 spek_hotband_next(const struct spek_choice *choice, struct spek_rng *rng,
				    bool write)
{
	const struct spek_source *source = choice->source;
	u64 slots = source->hotband.slots;
	u64 slot = spek_mulhi64(spek_hotband_distance(rng), source->hotband.per_align);

	if (write)
		slot += source->hotband.write_shift;
	/* The rounded reciprocal can make the quotient one too small, never more: slot < 2^55. */
	slot -= spek_mulhi64(slot, source->hotband.per_slots) * slots;
	if (slot >= slots)
		slot -= slots;
	return choice->start + slot * choice->align_bytes;
}

#endif
