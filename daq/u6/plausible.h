/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether the numbers of the scans can be true, judged by when they arrive.
 *
 * The counter of the packets has 8 bits. A repeated packet looks like 255 missing ones, and 256
 * missing ones like none. The first makes scans that arrive before they can have been
 * taken; the second makes every scan late from then on, where a host that is busy makes only some
 * late.
 *
 * Pure: no clock.
 */
#ifndef SPEK_DAQ_U6_PLAUSIBLE_H
#define SPEK_DAQ_U6_PLAUSIBLE_H

#include <stdint.h>

/**
 * struct u6_plausible - one stream's
 * @started_ns: no scan was taken before
 * @limit_ns: more than this, from one window to the next, is neither drift nor a busy host
 * @window_start_ns: since when @window_late_ns holds
 * @window_late_ns: how late the earliest arrival since then was; negative where the
 *                  device's clock is the faster one
 * @before_late_ns: the same of the window before; INT64_MAX in the first one
 */
struct u6_plausible {
	uint64_t started_ns;
	int64_t limit_ns;
	uint64_t window_start_ns;
	int64_t window_late_ns;
	int64_t before_late_ns;
};

/**
 * u6_plausible_start() - a stream begins
 * @plausible: caller's memory
 * @now_ns: before the device is told to start
 * @packet_ns: time that the samples of one packet take
 */
void u6_plausible_start(struct u6_plausible *plausible, uint64_t now_ns, uint64_t packet_ns);

/**
 * u6_plausible_check() - scans have arrived
 * @plausible: of their stream
 * @scan_ns: when the newest of them was taken, since scan 0, by the device's clock
 * @arrival_ns: when it was here
 *
 * Return: 0 or -ESTALE: the numbers are wrong.
 */
int u6_plausible_check(struct u6_plausible *plausible, uint64_t scan_ns, uint64_t arrival_ns);

#endif
