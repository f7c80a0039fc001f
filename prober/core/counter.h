/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of drivers, which may fall, as counters that only grow.
 *
 * A driver may clear its counters, and a sum over its queues may fall for a moment. What was
 * counted since the last reading is unknown then; the counter continues from its last value.
 *
 * Pure C, as all of core/.
 */
#ifndef SPEK_PROBER_CORE_COUNTER_H
#define SPEK_PROBER_CORE_COUNTER_H

#include "../../kmod/core/spek_host.h"

/**
 * struct spek_counter - one counter; initially zero
 * @raw: last reading
 * @base: difference of the value from @raw, modulo 2^64
 */
struct spek_counter {
	u64 raw;
	u64 base;
};

/**
 * spek_counter_read() - process a reading
 * @counter: counter
 * @raw: the driver's count
 * @value: number to report; unchanged if it is unknown
 *
 * Return: true; false if the driver's count has fallen.
 */
bool spek_counter_read(struct spek_counter *counter, u64 raw, u64 *value);

#endif
