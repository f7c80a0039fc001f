/* SPDX-License-Identifier: GPL-2.0 */
/* pace.h - CLOCK_MONOTONIC, and the schedule by which a polled source is read */
#ifndef SPEK_DAQ_PACE_H
#define SPEK_DAQ_PACE_H

#include <stdbool.h>
#include <stdint.h>

/** daq_now_ns() - Return: CLOCK_MONOTONIC. */
uint64_t daq_now_ns(void);

/**
 * struct daq_pace - a periodic schedule; missed moments are skipped
 * @interval_ns: period
 * @next_ns: next moment, CLOCK_MONOTONIC
 */
struct daq_pace {
	uint64_t interval_ns;
	uint64_t next_ns;
};

/** daq_pace_begin() - start a schedule now. */
void daq_pace_begin(struct daq_pace *pace, uint64_t interval_ns);

/** daq_pace_wait() - wait for the next moment. Return: false after @timeout_ms. */
bool daq_pace_wait(struct daq_pace *pace, int timeout_ms);

/** daq_sleep_until() - wait until @at_ns. Return: false after @timeout_ms. */
bool daq_sleep_until(uint64_t at_ns, int timeout_ms);

#endif
