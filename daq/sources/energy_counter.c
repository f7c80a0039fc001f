// SPDX-License-Identifier: GPL-2.0
/* Unwrapping of energy counters. */
#include "sources/energy_counter.h"

bool daq_energy_counter_read(struct daq_energy_counter *counter, uint64_t raw_uj,
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
	else if (range && counter->last_uj <= range)
		counter->total_uj += range - counter->last_uj + raw_uj;
	else
		is_known = false;
	counter->last_uj = raw_uj;
	*total_nj = (int64_t)(counter->total_uj * 1000);
	return is_known;
}
