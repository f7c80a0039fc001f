// SPDX-License-Identifier: GPL-2.0
/* The line below the arrivals: hulls of segments, their common hull, its edge at the mean. */
#include <errno.h>
#include <string.h>

#include "clock.h"

#define SCAN_LIMIT ((uint64_t)1 << 48)
#define TIME_LIMIT ((uint64_t)1 << 62)

static __int128 floor_div(__int128 a, __int128 b)
{
	__int128 q = a / b;

	return a % b && (a < 0) != (b < 0) ? q - 1 : q;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t remainder = a % b;

		a = b;
		b = remainder;
	}
	return a;
}

static int64_t schedule_ns(const struct daq_clock_config *config, uint64_t scan)
{
	return (int64_t)((unsigned __int128)scan * config->period_num / config->period_den);
}

static uint64_t scans_in(const struct daq_clock_config *config, uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * config->period_den / config->period_num);
}

int daq_clock_init(struct daq_clock *clock, const struct daq_clock_config *config,
		   struct daq_error *err)
{
	uint64_t common;

	memset(clock, 0, sizeof(*clock));
	if (!config->period_num || !config->period_den)
		return daq_fail(err, EINVAL, "the scan interval can't be zero");
	common = gcd(config->period_num, config->period_den);
	clock->config = *config;
	clock->config.period_num /= common;
	clock->config.period_den /= common;
	/* The steepest line rises by period_num * max_ppm in 10^6 periods: 63 bits. */
	if (clock->config.period_num >> 46 || clock->config.period_den >> 30)
		return daq_fail(err, EINVAL, "the scan interval, %llu/%llu ns, is too long or its fraction too fine",
				(unsigned long long)config->period_num,
				(unsigned long long)config->period_den);
	if (!config->window_ns || config->window_ns >> 50 || config->settle_ns > config->window_ns)
		return daq_fail(err, EINVAL,
				"the clock's window must not be shorter than its settling time, nor longer than 10 days");
	if (config->max_ppm > 100000)
		return daq_fail(err, EINVAL, "the limit on a clock's drift must not exceed 100000 ppm");
	/* The window consists of the full segments; one more is being filled. */
	clock->segment_scans = scans_in(&clock->config, config->window_ns) /
			       (DAQ_CLOCK_SEGMENTS - 1);
	if (!clock->segment_scans)
		clock->segment_scans = 1;
	return 0;
}

static void drop_oldest(struct daq_clock *clock)
{
	uint32_t nr = clock->segment[0].nr;

	clock->nr_points -= nr;
	memmove(clock->point, clock->point + nr, clock->nr_points * sizeof(clock->point[0]));
	clock->nr_segments--;
	memmove(clock->segment, clock->segment + 1,
		clock->nr_segments * sizeof(clock->segment[0]));
}

static void begin_segment(struct daq_clock *clock, uint64_t scan)
{
	uint64_t window = scans_in(&clock->config, clock->config.window_ns);

	while (clock->nr_segments &&
	       (clock->nr_segments == DAQ_CLOCK_SEGMENTS ||
		clock->segment[0].start_scan + clock->segment_scans + window < scan))
		drop_oldest(clock);
	clock->segment[clock->nr_segments++] = (struct daq_clock_segment){ .start_scan = scan };
}

/* Return: whether b lies on or above the line from a to c. */
static bool is_above(const struct daq_clock_point *a, const struct daq_clock_point *b,
		     const struct daq_clock_point *c)
{
	__int128 left = (__int128)(int64_t)(b->scan - a->scan) * (c->late_ns - a->late_ns);
	__int128 right = (__int128)(int64_t)(c->scan - a->scan) * (b->late_ns - a->late_ns);

	return left <= right;
}

/* Append a point to a lower hull of nr points. Return: its new length. */
static uint32_t add_to_hull(struct daq_clock_point *hull, uint32_t nr,
			    const struct daq_clock_point *point)
{
	while (nr >= 2 && is_above(&hull[nr - 2], &hull[nr - 1], point))
		nr--;
	hull[nr] = *point;
	return nr + 1;
}

int daq_clock_arrival(struct daq_clock *clock, uint64_t scan, uint64_t arrival_ns)
{
	struct daq_clock_segment *segment;
	struct daq_clock_point point;
	uint32_t nr;

	if (scan >= SCAN_LIMIT || arrival_ns >= TIME_LIMIT)
		return -EINVAL;
	if (!clock->nr_segments)
		clock->first_scan = scan;
	else if (scan <= clock->last_scan)
		return -EINVAL;
	point = (struct daq_clock_point){
		.scan = scan,
		.late_ns = (int64_t)arrival_ns - schedule_ns(&clock->config, scan),
	};

	segment = clock->nr_segments ? &clock->segment[clock->nr_segments - 1] : NULL;
	if (!segment || scan - segment->start_scan >= clock->segment_scans ||
	    segment->nr == DAQ_CLOCK_POINTS / 4)
		begin_segment(clock, scan);
	while (clock->nr_points == DAQ_CLOCK_POINTS)
		drop_oldest(clock);

	segment = &clock->segment[clock->nr_segments - 1];
	nr = add_to_hull(clock->point + (clock->nr_points - segment->nr), segment->nr, &point);
	clock->nr_points += nr - segment->nr;
	segment->nr = nr;
	segment->nr_seen++;
	segment->sum_scan += (__int128)scan;
	clock->last_scan = scan;
	clock->line_is_old = true;
	if (scan - clock->first_scan >= scans_in(&clock->config, clock->config.settle_ns))
		clock->is_settled = true;
	return 0;
}

/* Return: index of the hull's edge that spans the mean scan number of all arrivals. */
static uint32_t edge_over_mean(const struct daq_clock *clock, const struct daq_clock_point *hull,
			       uint32_t nr)
{
	__int128 sum = 0;
	uint64_t seen = 0;
	uint32_t i;

	for (i = 0; i < clock->nr_segments; i++) {
		sum += clock->segment[i].sum_scan;
		seen += clock->segment[i].nr_seen;
	}
	for (i = 0; i + 2 < nr && (__int128)hull[i + 1].scan * seen <= sum; i++)
		;
	return i;
}

/* Return: index of the hull's point that a line of this slope touches from below. */
static uint32_t touched(const struct daq_clock_point *hull, uint32_t nr, int64_t rise, int64_t run)
{
	__int128 best = 0;
	uint32_t found = 0, i;

	for (i = 0; i < nr; i++) {
		int64_t scans = (int64_t)(hull[i].scan - hull[0].scan);
		__int128 height = (__int128)hull[i].late_ns * run - (__int128)scans * rise;

		if (!i || height < best) {
			best = height;
			found = i;
		}
	}
	return found;
}

static void fit(struct daq_clock *clock)
{
	const struct daq_clock_config *config = &clock->config;
	struct daq_clock_point hull[DAQ_CLOCK_POINTS];
	int64_t rise = 0, run = 1;
	uint32_t nr = 0, at = 0, i;

	if (!clock->line_is_old || !clock->nr_points)
		return;
	clock->line_is_old = false;
	hull[0] = clock->point[0];
	for (i = 0; i < clock->nr_points; i++)
		nr = add_to_hull(hull, nr, &clock->point[i]);
	if (nr > 1) {
		__int128 steepest, slope;

		at = edge_over_mean(clock, hull, nr);
		rise = hull[at + 1].late_ns - hull[at].late_ns;
		run = (int64_t)(hull[at + 1].scan - hull[at].scan);
		slope = (__int128)rise * (int64_t)config->period_den * 1000000;
		steepest = (__int128)run * (int64_t)config->period_num * config->max_ppm;
		if (slope > steepest || slope < -steepest) {
			rise = (int64_t)config->period_num * config->max_ppm;
			rise = slope < 0 ? -rise : rise;
			run = (int64_t)config->period_den * 1000000;
			at = touched(hull, nr, rise, run);
		}
	}
	clock->line.at_scan = hull[at].scan;
	clock->line.at_late = hull[at].late_ns;
	clock->line.rise = rise;
	clock->line.run = run;
}

static int64_t line_late_ns(const struct daq_clock *clock, uint64_t scan)
{
	int64_t scans = (int64_t)(scan - clock->line.at_scan);

	return clock->line.at_late +
	       (int64_t)floor_div((__int128)scans * clock->line.rise, clock->line.run);
}

bool daq_clock_is_settled(const struct daq_clock *clock)
{
	return clock->is_settled;
}

uint64_t daq_clock_at(struct daq_clock *clock, uint64_t scan, uint32_t delay_ns)
{
	int64_t at;

	if (!clock->nr_points)
		return 0;
	fit(clock);
	at = schedule_ns(&clock->config, scan) + line_late_ns(clock, scan) + delay_ns;
	return at < 0 ? 0 : (uint64_t)at;
}

int64_t daq_clock_drift_ppb(struct daq_clock *clock)
{
	if (!clock->nr_points)
		return 0;
	fit(clock);
	return (int64_t)floor_div((__int128)clock->line.rise *
				  (int64_t)clock->config.period_den * 1000000000,
				  (__int128)clock->line.run * (int64_t)clock->config.period_num);
}

uint64_t daq_clock_residual_ns(struct daq_clock *clock)
{
	const struct daq_clock_point *point = clock->point;
	int64_t worst = 0;
	uint32_t i, j;

	if (!clock->nr_points)
		return 0;
	fit(clock);
	for (i = 0; i < clock->nr_segments; i++) {
		int64_t best = INT64_MAX;

		for (j = 0; j < clock->segment[i].nr; j++) {
			int64_t above = point[j].late_ns - line_late_ns(clock, point[j].scan);

			best = above < best ? above : best;
		}
		point += clock->segment[i].nr;
		worst = best > worst ? best : worst;
	}
	return (uint64_t)worst;
}
