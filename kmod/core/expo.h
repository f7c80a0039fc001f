/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exponential random numbers without floating point: Marsaglia and Tsang's
 * ziggurat with 128 layers of equal area under exp(-x).
 *
 * 64 random bits choose a layer (their low 7) and a place in its width. In 96 % of all
 * draws the place lies under the curve whatever the height, which costs one comparison and one
 * multiplication. Otherwise a height is drawn and compared through the logarithm
 * of explog.h, or, in the lowest layer, the draw is repeated from the start of the tail, which has
 * the same distribution.
 *
 * The law is exact except for rounding to 2^-32 of the mean. Tables: 2 KiB hot, 1 KiB rare.
 */
#ifndef SPEK_CORE_EXPO_H
#define SPEK_CORE_EXPO_H

#include "rng.h"
#include "spek_host.h"

#define SPEK_EXPO_LAYERS	128

/**
 * struct spek_expo_layer - a layer of the ziggurat
 * @inside: random bits below this are under the curve at any height of the layer
 * @width_q32: width of the layer
 */
struct spek_expo_layer {
	u64 inside;
	u64 width_q32;
};

extern const struct spek_expo_layer spek_expo_layer[SPEK_EXPO_LAYERS];

spek_cold spek_noinline u64 spek_expo_rare(struct spek_rng *rng, u64 bits);

/**
 * spek_expo_is_rare() - check whether a draw needs more than its first bits
 * @bits: 64 random bits
 *
 * Return: true in 4 % of all draws: use spek_expo_rare() instead of spek_expo_common().
 */
static inline bool spek_expo_is_rare(u64 bits)
{
	return spek_unlikely(bits >= spek_expo_layer[bits & (SPEK_EXPO_LAYERS - 1)].inside);
}

/**
 * spek_expo_common() - exponential random number from bits inside their layer
 * @bits: 64 random bits, for which spek_expo_is_rare() is false
 *
 * Return: exponential random number with mean 2^32.
 */
static inline u64 spek_expo_common(u64 bits)
{
	return spek_mulhi64(bits, spek_expo_layer[bits & (SPEK_EXPO_LAYERS - 1)].width_q32);
}

/**
 * spek_expo_next() - draw an exponential random number
 * @rng: sequence, advanced
 *
 * Return: number with mean 2^32, below 2^38.
 */
static inline u64 spek_expo_next(struct spek_rng *rng)
{
	u64 bits = spek_rng_next(rng);

	return spek_expo_is_rare(bits) ? spek_expo_rare(rng, bits) : spek_expo_common(bits);
}

#endif
