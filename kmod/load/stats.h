/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counting: sets owned by workers, totals and interval rows owned by the run.
 *
 * A worker counts into its active set and nobody else looks at it. At an interval
 * boundary it seals the set (worker_phase.c): ownership passes to the collector,
 * which adds it to the totals and to the row of its time, empties it and gives
 * it back. So the hot path has no lock, no shared line, and every I/O is in exactly
 * one set and one row.
 */
#ifndef SPEK_STATS_H
#define SPEK_STATS_H

#include <linux/blk_types.h>
#include <linux/types.h>
#include "core/gen.h"
#include "../core/hist.h"
#include "core/metric.h"
#include "core/rows.h"
#include "core/sum.h"
#include "core/workload.h"
#include "uapi/spek.h"

#define SPEK_NR_METRICS		3	/* of a completed I/O */
#define SPEK_NR_TOTAL_METRICS	5	/* with the ages of those in flight */
#define SPEK_NR_STATUS		24	/* blk_status_t values told apart; the last: "others" */
#define SPEK_ROWS		4096	/* closed intervals kept for reading */

/**
 * struct spek_cell - one stream and direction in one set
 * @ios: I/Os completed without an error
 * @bytes: bytes of these
 * @requests: requests that devices received for them
 * @errors: I/Os that failed
 * @error: failed I/Os by blk_status_t; the last entry has all others
 * @metric: response, service and slip of @ios
 */
struct spek_cell {
	u64 ios;
	u64 bytes;
	u64 requests;
	u64 errors;
	u32 error[SPEK_NR_STATUS];
	struct spek_metric metric[SPEK_NR_METRICS];
};

/**
 * struct spek_age - an I/O in flight at the end of the measure phase
 * @response_ns: the end minus the intended arrival
 * @service_ns: the end minus the issue; 0 if it was due before the end and issued later
 * @cell: stream * 2 + write
 */
struct spek_age {
	u64 response_ns;
	u64 service_ns;
	u32 cell;
};

/**
 * struct spek_set - what one worker counts between two boundaries
 * @span: time in which it counted
 * @backlog: of this worker at the end; from @mark, when the collector has the set
 * @made_backlog: arrivals that were made and wait for their target without a slot, or were given
 *	up, and records of a trace that are due
 * @outstanding: of this worker at the end, with those that wait with a slot
 * @cpu_ns: CPU time of the worker since the set before
 * @switches: context switches of the worker since the set before
 * @mark: where the generator was at the end
 * @age: I/Os in flight, if the set ends the measure phase; the worker's memory
 * @nr_ages: entries of @age
 * @nr_cells: entries of @cell
 * @cell: stream * 2 + write; NULL for directions the stream can't have
 */
struct spek_set {
	struct spek_span span;
	u64 backlog;
	u64 made_backlog;
	u32 outstanding;
	u64 cpu_ns;
	u64 switches;
	struct spek_gen_mark *mark;
	const struct spek_age *age;
	u32 nr_ages;
	u32 nr_cells;
	struct spek_cell *cell[];
};

/**
 * struct spek_total - one stream and direction in one phase of the run
 * @ios: I/Os completed without an error
 * @bytes: bytes of these
 * @requests: requests that devices received for them
 * @errors: I/Os that failed
 * @error: failed I/Os by blk_status_t; the last entry has all others
 * @sum: sum of the times of each metric
 * @min: shortest time of each metric, ns; U64_MAX without any
 * @max: longest time of each metric, ns
 * @hist: SPEK_HIST_BUCKETS for each metric that the phase has, else NULL: all in the measure
 *	phase, those of completed I/Os in the drain, none in the ramp-up
 */
struct spek_total {
	u64 ios;
	u64 bytes;
	u64 requests;
	u64 errors;
	u64 error[SPEK_NR_STATUS];
	struct spek_sum sum[SPEK_NR_TOTAL_METRICS];
	u64 min[SPEK_NR_TOTAL_METRICS];
	u64 max[SPEK_NR_TOTAL_METRICS];
	u64 *hist[SPEK_NR_TOTAL_METRICS];
};

/**
 * struct spek_row_cell - one direction in a closed interval
 * @ios: I/Os completed without an error
 * @bytes: bytes of these
 * @errors: I/Os that failed
 * @response_sum: sum of response times
 * @response_max_ns: longest response time
 * @response_ns: percentiles 50, 90, 99 and 99.9 of the response time
 * @service_sum: sum of service times
 * @service_max_ns: longest service time
 * @service_ns: percentiles 50 and 99 of the service time
 */
struct spek_row_cell {
	u64 ios;
	u64 bytes;
	u64 errors;
	struct spek_sum response_sum;
	u64 response_max_ns;
	u64 response_ns[4];
	struct spek_sum service_sum;
	u64 service_max_ns;
	u64 service_ns[2];
};

/**
 * struct spek_row - a closed interval
 * @seq: number of the interval, from 0, in the order of closing
 * @coverage_ppm: share of the workers' time between @start_ns and @end_ns whose I/Os it counts
 * @phase: enum spek_phase
 * @outstanding: I/Os outstanding at its end
 * @start_ns: start, CLOCK_MONOTONIC
 * @end_ns: end, CLOCK_MONOTONIC
 * @backlog: arrivals not issued at its end
 * @cpu_ns: CPU time of the workers
 * @switches: context switches of the workers
 * @cell: reads and writes
 * @stream: I/Os of each stream
 */
struct spek_row {
	u64 seq;
	u32 coverage_ppm;
	u32 phase;
	u32 outstanding;
	u64 start_ns;
	u64 end_ns;
	u64 backlog;
	u64 cpu_ns;
	u64 switches;
	struct spek_row_cell cell[2];
	struct spek_interval_stream stream[];
};

/**
 * struct spek_snapshot - totals of a run at one moment, so that a dump of many messages is
 * consistent while the run continues
 * @nr: entries of @item
 * @hist: memory of the histograms, behind the items
 * @item: totals of one phase, stream and direction; cell is stream * 2 + write
 */
struct spek_snapshot {
	u32 nr;
	u64 *hist;
	struct spek_snapshot_item {
		u32 phase;
		u32 cell;
		struct spek_total total;
	} item[];
};

struct spek_stats;

struct spek_stats *spek_stats_create(const struct spek_workload *wl, u32 nr_workers,
				     bool keep_rows);
void spek_stats_set_run_id(struct spek_stats *stats, u32 run_id);
void spek_stats_destroy(struct spek_stats *stats);

u64 spek_set_bytes(const struct spek_workload *wl);
struct spek_set *spek_set_create(const struct spek_workload *wl, int node);
void spek_set_destroy(struct spek_set *set);

void spek_stats_collect(struct spek_stats *stats, u32 worker, struct spek_set *set);

void spek_stats_flush(struct spek_stats *stats);

const struct spek_total *spek_stats_total(const struct spek_stats *stats, u32 phase, u32 cell);

u64 spek_stats_nr_rows(const struct spek_stats *stats);
u64 spek_stats_dropped(const struct spek_stats *stats);
const struct spek_row *spek_stats_row(const struct spek_stats *stats, u64 seq);
u32 spek_stats_phase(const struct spek_stats *stats);
void spek_stats_measured(const struct spek_stats *stats, u64 *start_ns, u64 *end_ns);
u64 spek_stats_backlog(const struct spek_stats *stats);

/**
 * spek_total_has() - check whether a metric was counted at all
 * @total: totals
 * @metric: enum spek_nl_metric
 *
 * Return: true if it was counted at least once.
 */
static inline bool spek_total_has(const struct spek_total *total, u32 metric)
{
	return total->min[metric] <= total->max[metric];
}

struct spek_snapshot *spek_snapshot_alloc(u32 nr_streams);
void spek_snapshot_take(struct spek_snapshot *snapshot, const struct spek_stats *stats);
size_t spek_stats_row_bytes(const struct spek_stats *stats);

#endif
