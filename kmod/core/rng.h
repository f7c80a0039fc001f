/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers: xoshiro256** (Blackman and Vigna), seeded through SplitMix64.
 *
 * Period 2^256 - 1, 32 bytes of state, no weak low bits, about a dozen
 * instructions a number. A number below n is the upper half of a product:
 * no division, no rejection; a value is off its probability 1/n by at most 2^-64
 * (2^-32 for spek_rng_scale32()), far below what a run could reveal.
 */
#ifndef SPEK_CORE_RNG_H
#define SPEK_CORE_RNG_H

#include "spek_host.h"

/**
 * struct spek_rng - state of xoshiro256**
 * @s: state; not all zero
 */
struct spek_rng {
	u64 s[4];
};

/**
 * enum spek_rng_purpose - use of a sequence of an arrival process
 * @SPEK_RNG_TIMES: arrival times
 * @SPEK_RNG_OPERATIONS: choices and addresses
 * @SPEK_RNG_ORDER: of a stream and not of an arrival process: its key, the same on all workers
 * @SPEK_RNG_PERIODS: key of the on and off periods, the same on all workers
 */
enum spek_rng_purpose {
	SPEK_RNG_TIMES,
	SPEK_RNG_OPERATIONS,
	SPEK_RNG_ORDER,
	SPEK_RNG_PERIODS,
};

/* Step of SplitMix64: 2^64 over the golden ratio. */
#define SPEK_GOLDEN64	0x9e3779b97f4a7c15ull

/**
 * spek_mix64() - the finalizer of SplitMix64
 * @x: any value
 *
 * Return: 64 mixed bits, another for each @x.
 */
static inline u64 spek_mix64(u64 x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

u64 spek_splitmix64(u64 *state);
void spek_rng_seed(struct spek_rng *rng, u64 seed);
void spek_rng_init(struct spek_rng *rng, u64 seed, u32 worker, u32 arrival,
		   enum spek_rng_purpose purpose);

static inline u64 spek_rotl64(u64 x, u32 k)
{
	return (x << k) | (x >> (64 - k));
}

/**
 * spek_rng_next() - draw 64 random bits
 * @rng: sequence, advanced
 *
 * Return: the bits.
 */
static inline u64 spek_rng_next(struct spek_rng *rng)
{
	u64 *s = rng->s;
	u64 result = spek_rotl64(s[1] * 5, 7) * 9;
	u64 t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = spek_rotl64(s[3], 45);
	return result;
}

/**
 * spek_rng_below() - draw a uniform number
 * @rng: sequence, advanced by one draw
 * @n: upper bound
 *
 * Return: number in [0, @n); 0 for @n = 0.
 */
static inline u64 spek_rng_below(struct spek_rng *rng, u64 n)
{
	return spek_mulhi64(spek_rng_next(rng), n);
}

/**
 * spek_rng_scale32() - scale random bits to a range
 * @bits: 32 random bits
 * @n: upper bound
 *
 * Return: number in [0, @n).
 */
static inline u32 spek_rng_scale32(u32 bits, u32 n)
{
	return (u32)(((u64)bits * n) >> 32);
}

/**
 * spek_ppm_threshold() - threshold for a decision with a given probability
 * @ppm: probability, 0 to 1000000
 *
 * Return: bound that 32 random bits are below with that probability, 0 to 2^32.
 */
static inline u64 spek_ppm_threshold(u32 ppm)
{
	return spek_div64(((u64)ppm << 32) + 500000, 1000000);
}

#endif
