/* SPDX-License-Identifier: GPL-2.0 */
/* The natural logarithm without floating point. */
#ifndef SPEK_CORE_EXPLOG_H
#define SPEK_CORE_EXPLOG_H

#include "spek_host.h"

/**
 * spek_neg_log_q32() - minus the natural logarithm of a fraction
 * @u: the fraction in units of 2^-64; 0 counts as 1 unit
 *
 * Applied to 64 random bits the result is exponentially distributed with mean
 * 2^32; expo.h does that faster.
 *
 * Error: at most 0.53 units of 2^-32, half of it the rounding; 1.3e-10 of the
 * mean. Range: 0 to 190530846196.
 *
 * Return: -ln(@u / 2^64) * 2^32, rounded to nearest.
 */
u64 spek_neg_log_q32(u64 u);

#endif
