/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pareto random numbers without floating point: X = least * e^(E / a) with an exponential number E
 * of mean 1 is above x with probability (least / x)^a, for the shape a. The factor is a power of
 * two, the product of 2^(2^-k) over the binary digits of its exponent.
 *
 * Numbers above 2^20 times the least are cut: that number is taken instead. So there is a mean,
 *
 *   least * (a - 2^(-20 (a - 1))) / (a - 1),
 *
 * that samples come close to even when a is just above 1.
 */
#ifndef SPEK_CORE_PARETO_H
#define SPEK_CORE_PARETO_H

#include "rng.h"
#include "spek_host.h"

#define SPEK_PARETO_CUT_BITS	20	/* log2 of greatest / least */

u64 spek_pareto_least(u64 mean, u32 shape_milli);
u64 spek_pareto_next(struct spek_rng *rng, u64 least, u32 shape_milli);

#endif
