/* SPDX-License-Identifier: GPL-2.0 */
/*
 * clock.h - a device's scan numbers as CLOCK_MONOTONIC
 *
 * Scan k is taken at offset + k * T * (1 + drift), T the exact rational period by the device's own
 * clock. What is seen are arrivals, and a bus can only be late: arrival(k) = taken(k) + delay,
 * delay >= 0. So the line is laid under the arrivals: of all lines that no arrival lies below
 * the one whose distances to the arrivals have the smallest sum. That is the edge of their
 * lower convex hull over the mean scan number; least squares would be half a delay off.
 *
 * Over a sliding window, because crystals drift with temperature. Each segment of the window
 * (a 64th) keeps only its own hull, which loses nothing: the hull of hulls is the hull of all.
 * Slopes beyond max_ppm are no crystal's: then the line has that slope and touches the hull. This
 * keeps the first second, when two arrivals a few ms apart would say anything, sane.
 *
 * What no arrival can show is the smallest delay of all; it is in every time stamp as an
 * offset, and a source states it (daq_source.uncertainty_ns).
 *
 * Pure: no clock, no allocation, integers only. 128-bit products, so scans < 2^48, times < 2^62.
 */
#ifndef SPEK_DAQ_CLOCK_H
#define SPEK_DAQ_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

#define DAQ_CLOCK_POINTS 2048
#define DAQ_CLOCK_SEGMENTS 64

/**
 * struct daq_clock_config - a clock
 * @period_num: nanoseconds between scans, times @period_den
 * @period_den: not 0
 * @window_ns: arrivals older than this are forgotten; 60 s is right for crystals
 * @settle_ns: no scan is mapped before arrivals span this much, for a first delay of some ms would
 *	move all that follows it
 * @max_ppm: largest drift that is believed
 */
struct daq_clock_config {
	uint64_t period_num;
	uint64_t period_den;
	uint64_t window_ns;
	uint64_t settle_ns;
	uint32_t max_ppm;
};

struct daq_clock_point {
	uint64_t scan;
	int64_t late_ns;	/* arrival - scan * T */
};

/* a part of the window: points [first, first + nr) are its lower hull */
struct daq_clock_segment {
	uint32_t nr;
	uint64_t nr_seen;	/* arrivals, with those above the hull */
	uint64_t start_scan;
	__int128 sum_scan;	/* of the arrivals, for their mean */
};

/**
 * struct daq_clock - use daq_clock_*()
 * @point: hulls of the segments, one after the other
 * @line: valid when @nr_points: late(k) = at_late + (k - at_scan) * rise / run
 */
struct daq_clock {
	struct daq_clock_config config;
	struct daq_clock_point point[DAQ_CLOCK_POINTS];
	uint32_t nr_points;
	struct daq_clock_segment segment[DAQ_CLOCK_SEGMENTS];
	uint32_t nr_segments;
	uint64_t segment_scans;
	uint64_t first_scan, last_scan;
	struct {
		uint64_t at_scan;
		int64_t at_late;
		int64_t rise;
		int64_t run;
	} line;
	bool line_is_old;
	bool is_settled;
};

/**
 * daq_clock_init() - begin, and begin anew when scan numbers do
 * Return: 0, or -EINVAL with a sentence when the period or the window makes no sense.
 */
int daq_clock_init(struct daq_clock *clock, const struct daq_clock_config *config,
		   struct daq_error *err);

/**
 * daq_clock_arrival() - scan @scan was here at @arrival_ns
 * @scan: larger than those of all calls before
 * Return: 0, or -EINVAL when @scan is not.
 */
int daq_clock_arrival(struct daq_clock *clock, uint64_t scan, uint64_t arrival_ns);

/** daq_clock_is_settled() - Return: whether daq_clock_at() may be asked. */
bool daq_clock_is_settled(const struct daq_clock *clock);

/**
 * daq_clock_at() - when scan @scan was taken, plus @delay_ns
 * Return: CLOCK_MONOTONIC in ns, rounded down. Moves a little with later arrivals: two calls for
 * neighbouring scans, with arrivals in between, may come out in the wrong order.
 */
uint64_t daq_clock_at(struct daq_clock *clock, uint64_t scan, uint32_t delay_ns);

/** daq_clock_drift_ppb() - Return: how much longer the device's second is than ours, in 10^-9. */
int64_t daq_clock_drift_ppb(struct daq_clock *clock);

/**
 * daq_clock_residual_ns() - how well the line is confirmed
 * Return: the largest distance, over the window's segments, between the line and the
 * segment's best arrival. 0 for a perfect clock and a bus that is sometimes as fast as it ever was.
 */
uint64_t daq_clock_residual_ns(struct daq_clock *clock);

#endif
