/* SPDX-License-Identifier: GPL-2.0 */
/* energy_counter.h - counters that wrap around, as totals that don't. Pure. */
#ifndef SPEK_DAQ_SOURCES_ENERGY_COUNTER_H
#define SPEK_DAQ_SOURCES_ENERGY_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct daq_energy_counter - state of one counter
 * @range_uj: the counter begins again at 0 after this; 0: it never wraps
 */
struct daq_energy_counter {
	uint64_t range_uj;
	uint64_t last_uj;
	uint64_t total_uj;
	bool has_begun;
};

/**
 * daq_energy_counter_read() - the counter was read as @raw_uj
 * @total_nj: energy since the first reading
 *
 * A counter must be read at least once in each round. One that never wraps but falls, or that is
 * beyond its range, has been reset: what it counted since the last reading is unknown.
 *
 * Return: true; false if it was reset: @total_nj goes on from here, after a gap.
 */
bool daq_energy_counter_read(struct daq_energy_counter *counter, uint64_t raw_uj,
			     int64_t *total_nj);

#endif
