/* SPDX-License-Identifier: GPL-2.0 */
/* pace.h - CLOCK_MONOTONIC, and the schedule by which a polled source is read */
#ifndef SPEK_DAQ_PACE_H
#define SPEK_DAQ_PACE_H

#include <stdbool.h>
#include <stdint.h>

/** daq_now_ns() - Return: CLOCK_MONOTONIC. */
uint64_t daq_now_ns(void);

/**
 * struct daq_pace - a schedule; moments that nobody came to in time are left out
 * @interval_ns: from moment to moment
 * @next_ns: the next one, CLOCK_MONOTONIC
 */
struct daq_pace {
	uint64_t interval_ns;
	uint64_t next_ns;
};

void daq_pace_begin(struct daq_pace *pace, uint64_t interval_ns);

/** daq_pace_wait() - Return: true when the next moment has come, false after @timeout_ms. */
bool daq_pace_wait(struct daq_pace *pace, int timeout_ms);

/** daq_sleep_until() - Return: true at @at_ns, false after @timeout_ms. */
bool daq_sleep_until(uint64_t at_ns, int timeout_ms);

#endif
