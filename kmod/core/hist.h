/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log-linear histogram of nanoseconds.
 *
 * Values below 2^(M+1) have a bucket of their own; above, the top bit selects a
 * group and the next M bits one of its 2^M buckets. A bucket of group g is 2^g wide
 * and reported by its middle: relative error at most 1/2^(M+1) = 1/128 with M = 6.
 * Values from 2^SPEK_HIST_MAX_BITS on (about 18 minutes) share the last bucket; the exact
 * maximum is kept by the user of the histogram.
 */
#ifndef SPEK_CORE_HIST_H
#define SPEK_CORE_HIST_H

#include "spek_host.h"

#define SPEK_HIST_BITS		6
#define SPEK_HIST_MAX_BITS	40
#define SPEK_HIST_GROUPS	(SPEK_HIST_MAX_BITS - SPEK_HIST_BITS)
#define SPEK_HIST_BUCKETS	((SPEK_HIST_GROUPS + 1) << SPEK_HIST_BITS)

/* Values that spek_hist_index_within() takes. */
#define SPEK_HIST_WITHIN_MIN	(1ull << SPEK_HIST_BITS)
#define SPEK_HIST_WITHIN_MAX	((1ull << SPEK_HIST_MAX_BITS) - 1)

/**
 * spek_hist_index() - find the bucket of a value
 * @ns: value, ns
 *
 * Return: index, below SPEK_HIST_BUCKETS.
 */
static inline u32 spek_hist_index(u64 ns)
{
	u32 top, shift;

	if (ns >> SPEK_HIST_MAX_BITS)
		return SPEK_HIST_BUCKETS - 1;
	top = 63 - (u32)__builtin_clzll(ns | (1ull << SPEK_HIST_BITS));
	shift = top - SPEK_HIST_BITS;
	return (shift << SPEK_HIST_BITS) + (u32)(ns >> shift);
}

/**
 * spek_hist_index_within() - find the bucket of a value that needs no check
 * @ns: value, SPEK_HIST_WITHIN_MIN to SPEK_HIST_WITHIN_MAX, ns
 *
 * Return: the same as spek_hist_index(), in half as many instructions.
 */
static inline u64 spek_hist_index_within(u64 ns)
{
	/* Not 63 minus it: gcc computes clz as bsr xor 63, and drops both if they meet. */
	u32 top = (u32)__builtin_clzll(ns) ^ 63;
	u32 shift = top - SPEK_HIST_BITS;

	return ((u64)shift << SPEK_HIST_BITS) + (ns >> shift);
}

u64 spek_hist_low(u32 index);
u64 spek_hist_value(u32 index);
u64 spek_hist_percentile(const u64 *counts, u64 total, u32 ppm, u64 max_ns);

#endif
