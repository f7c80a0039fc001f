/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks the numbers of scans against their arrival times.
 *
 * The packet counter has only 8 bits: a repeated packet looks like 255 missing ones, and 256
 * missing packets look like none. After the former, scans arrive before they can have been taken.
 * After the latter, all scans are late, whereas a busy host delays only some.
 *
 * Pure: no clock.
 */
#ifndef SPEK_DAQ_U6_PLAUSIBLE_H
#define SPEK_DAQ_U6_PLAUSIBLE_H

#include <stdint.h>

/**
 * struct u6_plausible - state of the check for one stream
 * @started_ns: lower bound of the time of scan 0
 * @limit_ns: largest change of lateness between windows that drift or a busy host can explain
 * @window_start_ns: start of the current window
 * @window_late_ns: smallest lateness of an arrival in the current window; negative if the device's
 *                  clock runs fast
 * @before_late_ns: smallest lateness in the previous window; INT64_MAX in the first window
 */
struct u6_plausible {
	uint64_t started_ns;
	int64_t limit_ns;
	uint64_t window_start_ns;
	int64_t window_late_ns;
	int64_t before_late_ns;
};

/**
 * u6_plausible_start() - start the check of a new stream
 * @plausible: caller's memory
 * @now_ns: CLOCK_MONOTONIC before the start command
 * @packet_ns: duration of the samples of one packet
 */
void u6_plausible_start(struct u6_plausible *plausible, uint64_t now_ns, uint64_t packet_ns);

/**
 * u6_plausible_check() - check the newest scan that has arrived
 * @plausible: state of the stream
 * @scan_ns: its time since scan 0 by the device's clock
 * @arrival_ns: CLOCK_MONOTONIC at its arrival
 *
 * Return: 0, or -ESTALE: the scan numbers are wrong.
 */
int u6_plausible_check(struct u6_plausible *plausible, uint64_t scan_ns, uint64_t arrival_ns);

#endif
