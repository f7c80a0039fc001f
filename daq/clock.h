/* SPDX-License-Identifier: GPL-2.0 */
/*
 * clock.h - map a device's scan numbers to CLOCK_MONOTONIC
 *
 * Scan k is taken at offset + k * T * (1 + drift), where T is the exact rational period by the
 * device's own clock. Only arrivals can be observed, and a bus only adds delay: arrival(k) =
 * taken(k) + delay, delay >= 0. So the line is fitted below the arrivals: of all lines with no
 * arrival below them, the one with the smallest sum of distances to the arrivals. That is the edge
 * of their lower convex hull at the mean scan number; least squares would be off by the mean delay.
 *
 * The fit covers a sliding window, because crystals drift with temperature. Each segment of the
 * window (a 64th) keeps only its own hull, without loss: the hull of the hulls is the hull of all
 * arrivals. No crystal drifts by more than max_ppm: a steeper line is replaced by one with that
 * slope that touches the hull. This bounds the error in the first second, when the slope between
 * two arrivals a few ms apart is meaningless.
 *
 * Arrivals cannot reveal the smallest delay. It offsets every timestamp, and the source states
 * its bound (daq_source.uncertainty_ns).
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
 * struct daq_clock_config - parameters of a clock
 * @period_num: scan interval in ns, multiplied by @period_den
 * @period_den: denominator of the scan interval, not 0
 * @window_ns: maximum age of the arrivals used; 60 s suits crystals
 * @settle_ns: time that arrivals must span before scans are mapped: a delay of some ms in the first
 *	arrival would shift all scans after it
 * @max_ppm: largest drift accepted
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

/* one part of the window and its lower hull */
struct daq_clock_segment {
	uint32_t nr;
	uint64_t nr_seen;	/* arrivals, including those above the hull */
	uint64_t start_scan;
	__int128 sum_scan;	/* sum of the arrivals' scan numbers, for their mean */
};

/**
 * struct daq_clock - use daq_clock_*()
 * @point: hulls of the segments, one after the other
 * @line: valid if @nr_points > 0: late(k) = at_late + (k - at_scan) * rise / run
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
 * daq_clock_init() - initialize a clock; again whenever scan numbers restart
 * Return: 0, or -EINVAL and a sentence if the period or the window is invalid.
 */
int daq_clock_init(struct daq_clock *clock, const struct daq_clock_config *config,
		   struct daq_error *err);

/**
 * daq_clock_arrival() - add the arrival of a scan
 * @scan: number of the scan; must increase from call to call
 * @arrival_ns: CLOCK_MONOTONIC
 * Return: 0, or -EINVAL if @scan does not increase or an argument is out of range.
 */
int daq_clock_arrival(struct daq_clock *clock, uint64_t scan, uint64_t arrival_ns);

/** daq_clock_is_settled() - Return: true if daq_clock_at() may be called. */
bool daq_clock_is_settled(const struct daq_clock *clock);

/**
 * daq_clock_at() - time at which scan @scan was taken, plus @delay_ns
 * Return: CLOCK_MONOTONIC in ns, rounded down. Later arrivals shift the result slightly: the
 * times of neighbouring scans may be out of order if arrivals were added between the calls.
 */
uint64_t daq_clock_at(struct daq_clock *clock, uint64_t scan, uint32_t delay_ns);

/** daq_clock_drift_ppb() - Return: excess of the device's second over the host's, in ppb. */
int64_t daq_clock_drift_ppb(struct daq_clock *clock);

/**
 * daq_clock_residual_ns() - residual of the fitted line
 * Return: the largest distance, over the window's segments, between the line and the
 * segment's best arrival. 0 for a perfect clock and a bus that is sometimes as fast as it ever was.
 */
uint64_t daq_clock_residual_ns(struct daq_clock *clock);

#endif
