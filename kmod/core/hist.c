// SPDX-License-Identifier: GPL-2.0
/* Reading of histograms; counting is in hist.h. */
#include "hist.h"

#define SUB_BUCKETS	(1u << SPEK_HIST_BITS)

/* log2 of the width of bucket @index; the first two runs of sub-buckets are 1 wide. */
static u32 width_shift(u32 index)
{
	return index < 2 * SUB_BUCKETS ? 0 : (index >> SPEK_HIST_BITS) - 1;
}

/**
 * spek_hist_low() - lower bound of a bucket
 * @index: bucket, 0 to SPEK_HIST_BUCKETS
 *
 * Return: smallest value of the bucket, ns.
 */
u64 spek_hist_low(u32 index)
{
	u32 shift = width_shift(index);

	return (u64)(index - (shift << SPEK_HIST_BITS)) << shift;
}

/**
 * spek_hist_value() - value that represents a bucket
 * @index: bucket, below SPEK_HIST_BUCKETS
 *
 * Return: middle of the bucket, ns.
 */
u64 spek_hist_value(u32 index)
{
	return spek_hist_low(index) + ((1ull << width_shift(index)) >> 1);
}

/**
 * spek_hist_percentile() - value below or at which a share of the counts lies
 * @counts: SPEK_HIST_BUCKETS counts
 * @total: sum of @counts; 0 gives 0
 * @ppm: share, 0 to 1000000; nearest rank, rounded up
 * @max_ns: exact maximum of the values, limits the result
 *
 * Return: percentile, ns; relative error at most 1/128.
 */
u64 spek_hist_percentile(const u64 *counts, u64 total, u32 ppm, u64 max_ns)
{
	u64 millions = spek_div64(total, 1000000);
	u64 remainder = total - millions * 1000000;
	u64 rank, value;
	u32 i;

	if (!total)
		return 0;
	/* ceil(total * ppm / 10^6) in two parts, because the product could overflow */
	rank = millions * ppm + spek_div64(remainder * ppm + 999999, 1000000);
	if (!rank)
		rank = 1;

	for (i = 0; i < SPEK_HIST_BUCKETS - 1; i++) {
		if (counts[i] >= rank)
			break;
		rank -= counts[i];
	}
	/* The last bucket also holds all that is beyond: only the maximum says how far. */
	if (i == SPEK_HIST_BUCKETS - 1 && max_ns >> SPEK_HIST_MAX_BITS)
		return max_ns;
	value = spek_hist_value(i);
	return value < max_ns ? value : max_ns;
}
