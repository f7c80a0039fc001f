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

u64 spek_hist_low(u32 index);
u64 spek_hist_value(u32 index);
u64 spek_hist_percentile(const u64 *counts, u64 total, u32 ppm, u64 max_ns);

#endif
