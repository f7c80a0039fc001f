// SPDX-License-Identifier: GPL-2.0
/* Counters that continue from their last value. */
#include "counter.h"

bool spek_counter_read(struct spek_counter *counter, u64 raw, u64 *value)
{
	bool has_fallen = raw < counter->raw;

	if (has_fallen)
		counter->base += counter->raw - raw;
	else
		*value = counter->base + raw;
	counter->raw = raw;
	return !has_fallen;
}
