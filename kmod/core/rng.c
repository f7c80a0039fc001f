// SPDX-License-Identifier: GPL-2.0
/* Seeding of the random sequences; drawing is in rng.h. */
#include "rng.h"

/**
 * spek_splitmix64() - next number of the SplitMix64 sequence
 * @state: any value; advanced
 *
 * Return: 64 random bits.
 */
u64 spek_splitmix64(u64 *state)
{
	return spek_mix64(*state += SPEK_GOLDEN64);
}

/**
 * spek_rng_seed() - seed a sequence with the first four numbers of SplitMix64
 * @rng: filled in
 * @seed: any value
 */
void spek_rng_seed(struct spek_rng *rng, u64 seed)
{
	u32 i;

	/* Never all zero: SplitMix64 is a bijection of a counter, so it gives 0 only once. */
	for (i = 0; i < 4; i++)
		rng->s[i] = spek_splitmix64(&seed);
}

/**
 * spek_rng_init() - start a sequence of an arrival process
 * @rng: filled in
 * @seed: seed of the run
 * @worker: number of the worker
 * @arrival: index of the arrival process
 * @purpose: use of the sequence
 *
 * A different seed, worker, arrival process or purpose gives an unrelated sequence.
 */
void spek_rng_init(struct spek_rng *rng, u64 seed, u32 worker, u32 arrival,
		   enum spek_rng_purpose purpose)
{
	u64 state = seed;

	/*
	 * Mix twice: neighbouring seeds and neighbouring keys must both end up
	 * far apart on the one cycle of SplitMix64.
	 */
	state = spek_splitmix64(&state);
	state ^= (u64)worker << 32 | arrival << 8 | (u32)purpose;
	spek_rng_seed(rng, spek_splitmix64(&state));
}
