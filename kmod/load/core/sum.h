/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sums of times that may take more than 64 bits. A device that falls behind its arrivals makes
 * response times of hours: their sum passes 2^64 ns when 100,000 arrivals in a second, twice what
 * the device can do, have gone on for 859 s.
 */
#ifndef SPEK_CORE_SUM_H
#define SPEK_CORE_SUM_H

#include "../../core/spek_host.h"

/**
 * struct spek_sum - sum of times, high * 2^64 + low ns
 * @low: lower 64 bits
 * @high: upper 64 bits
 */
struct spek_sum {
	u64 low;
	u64 high;
};

/**
 * spek_sum_add() - add a time
 * @sum: sum
 * @ns: time
 */
static inline void spek_sum_add(struct spek_sum *sum, u64 ns)
{
	u64 low = sum->low + ns;

	sum->high += low < ns;
	sum->low = low;
}

/**
 * spek_sum_join() - add another sum
 * @sum: sum
 * @more: what is added
 */
static inline void spek_sum_join(struct spek_sum *sum, const struct spek_sum *more)
{
	spek_sum_add(sum, more->low);
	sum->high += more->high;
}

#endif
