/* SPDX-License-Identifier: GPL-2.0 */
/* energy_counter.h - convert wrapping counters to totals. Pure. */
#ifndef SPEK_DAQ_SOURCES_ENERGY_COUNTER_H
#define SPEK_DAQ_SOURCES_ENERGY_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct daq_energy_counter - state of one counter
 * @range_uj: largest value before the counter wraps to 0; 0: it never wraps
 * @max_w: most power that a wrap may stand for; 0: any
 * @last_uj: last reading
 * @last_ns: its time
 * @total_uj: energy since the first reading
 * @has_begun: @last_uj is valid
 */
struct daq_energy_counter {
	uint64_t range_uj;
	uint64_t max_w;
	uint64_t last_uj;
	uint64_t last_ns;
	uint64_t total_uj;
	bool has_begun;
};

/**
 * daq_energy_counter_read() - process a reading
 * @now_ns: time of the reading
 * @raw_uj: value of the counter
 * @total_nj: energy since the first reading
 *
 * A counter must be read at least once per wrap. One that decreases without wrapping, exceeds its
 * range, or would have wrapped with more than @max_w, has been reset, as when its package lost
 * power: the energy since the last reading is unknown.
 *
 * Return: true; false after a reset: @total_nj continues from here, after a gap.
 */
bool daq_energy_counter_read(struct daq_energy_counter *counter, uint64_t now_ns, uint64_t raw_uj,
			     int64_t *total_nj);

#endif
