// SPDX-License-Identifier: GPL-2.0
/* Pareto random numbers by powers of two. */
#include "expo.h"
#include "muldiv.h"
#include "pareto.h"

#define LOG2_E		14426950408889634ull	/* in units of 10^-16 */
#define MILLI		10000000000000ull	/* a thousandth in these units */
#define ONE_Q32		(1ull << 32)

/* 2^(2^-k) for k from 1 on, in Q63. */
static const u64 root_of_two[32] = {
	0xb504f333f9de6484ull, 0x9837f0518db8a96full, 0x8b95c1e3ea8bd6e7ull, 0x85aac367cc487b15ull,
	0x82cd8698ac2ba1d7ull, 0x8164d1f3bc030773ull, 0x80b1ed4fd999ab6cull, 0x8058d7d2d5e5f6b1ull,
	0x802c6436d0e04f51ull, 0x8016302f17467628ull, 0x800b179c82028fd1ull, 0x80058baf7fee3b5dull,
	0x8002c5d00fdcfcb7ull, 0x800162e61bed4a49ull, 0x8000b17292f702a4ull, 0x800058b92abbae02ull,
	0x80002c5c8dade4d7ull, 0x8000162e44eaf636ull, 0x80000b1721fa7c19ull, 0x8000058b90de7e4dull,
	0x800002c5c8678f37ull, 0x80000162e431dba0ull, 0x800000b1721872d1ull, 0x80000058b90c1aa9ull,
	0x8000002c5c8605a4ull, 0x800000162e4300e6ull, 0x8000000b17217ff8ull, 0x800000058b90bfddull,
	0x80000002c5c85fe7ull, 0x8000000162e42ff2ull, 0x80000000b17217f8ull, 0x8000000058b90bfcull,
};

/* 2^(part / 2^32) in Q63. */
static u64 power_of_two(u32 part)
{
	u64 power = 1ull << 63;
	u32 k;

	for (k = 0; part; k++, part <<= 1)
		if (part >> 31)
			power = spek_mulhi64(power, root_of_two[k]) << 1;
	return power;
}

/**
 * spek_pareto_least() - compute the smallest number of a Pareto distribution from its mean
 * @mean: mean, below 2^63
 * @shape_milli: shape in thousandths, above 1000
 *
 * Return: smallest number, rounded down.
 */
u64 spek_pareto_least(u64 mean, u32 shape_milli)
{
	u64 beyond_one = shape_milli - 1000;
	u64 power = spek_div64(beyond_one * SPEK_PARETO_CUT_BITS * ONE_Q32, 1000);
	u64 whole = power >> 32;
	/* 2^-power, as 2^(1 - part) * 2^-(whole + 1) */
	u64 cut_q63 = (u32)power ? power_of_two((u32)-(u32)power) >> 1 : 1ull << 63;
	u64 cut_q32 = whole < 32 ? cut_q63 >> (31 + whole) : 0;

	return spek_muldiv64(mean, beyond_one * ONE_Q32,
			     shape_milli * ONE_Q32 - 1000 * cut_q32, NULL);
}

/**
 * spek_pareto_next() - draw a Pareto random number
 * @rng: sequence, advanced
 * @least: smallest number, at least 1
 * @shape_milli: shape in thousandths, above 0
 *
 * Return: number, at most 2^20 * @least; 2^64 - 1 instead of one beyond 64 bits, and of some that
 * need all of them.
 */
u64 spek_pareto_next(struct spek_rng *rng, u64 least, u32 shape_milli)
{
	u64 power = spek_muldiv64(spek_expo_next(rng), LOG2_E, shape_milli * MILLI, NULL);
	u32 whole;

	if (power > SPEK_PARETO_CUT_BITS * ONE_Q32)
		power = SPEK_PARETO_CUT_BITS * ONE_Q32;
	/* The factor is whole powers of two and a part in Q63, which has one of them. */
	whole = (u32)(power >> 32) + 1;
	if (whole > (u32)__builtin_clzll(least))
		return ~(u64)0;
	return spek_mulhi64(power_of_two((u32)power), least << whole);
}
