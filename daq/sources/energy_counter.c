// SPDX-License-Identifier: GPL-2.0
/* Unwrapping of energy counters. */
#include "sources/energy_counter.h"

/* Counters are updated every millisecond or so: a step may be that of a longer time. */
#define UPDATE_NS	10000000

static bool is_wrap(const struct daq_energy_counter *counter, uint64_t now_ns, uint64_t step_uj)
{
	/* uJ = W * us */
	uint64_t most_uj;

	if (!counter->max_w)
		return true;
	return __builtin_mul_overflow((now_ns - counter->last_ns + UPDATE_NS) / 1000,
				      counter->max_w, &most_uj) ||
	       step_uj <= most_uj;
}

bool daq_energy_counter_read(struct daq_energy_counter *counter, uint64_t now_ns, uint64_t raw_uj,
			     int64_t *total_nj)
{
	uint64_t range = counter->range_uj;
	bool is_known = true;

	if (!counter->has_begun)
		counter->has_begun = true;
	else if (range && raw_uj > range)
		is_known = false;
	else if (raw_uj >= counter->last_uj)
		counter->total_uj += raw_uj - counter->last_uj;
	else if (range && counter->last_uj <= range &&
		 is_wrap(counter, now_ns, range - counter->last_uj + raw_uj))
		counter->total_uj += range - counter->last_uj + raw_uj;
	else
		is_known = false;
	counter->last_uj = raw_uj;
	counter->last_ns = now_ns;
	*total_nj = (int64_t)(counter->total_uj * 1000);
	return is_known;
}
