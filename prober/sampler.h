/* SPDX-License-Identifier: GPL-2.0 */
/* The thread that takes the rows of a probe by a schedule. */
#ifndef SPEK_PROBER_SAMPLER_H
#define SPEK_PROBER_SAMPLER_H

#include <linux/completion.h>
#include <linux/types.h>

struct spek_probe_source;
struct spek_ring;
struct task_struct;

/**
 * struct spek_probe_row - one row of the ring
 * @tick: number of the tick in the schedule
 * @due_ns: time of the tick
 * @start_ns: time at which reading began
 * @end_ns: time at which reading ended
 * @final: 1 for the row taken at the stop, 0 for all others
 * @cells: cells of all sources, source by source
 *
 * Times are CLOCK_MONOTONIC. All fields are u64, as the ring copies words.
 */
struct spek_probe_row {
	u64 tick;
	u64 due_ns;
	u64 start_ns;
	u64 end_ns;
	u64 final;
	u64 cells[];
};

/**
 * struct spek_sampler - the sampling thread of one probe
 * @sources: SPEK_NR_SOURCES started sources; owned by the probe
 * @ring: ring that rows are added to; owned by the probe
 * @interval_ns: time between ticks; const
 * @started_ns: CLOCK_MONOTONIC of tick 0; const after start
 * @thread: the thread; valid from create to stop
 * @is_started: set by start
 * @entered: completed once the started thread runs
 * @missed: number of ticks without a row; thread-owned, read elsewhere with READ_ONCE(), as
 *	are the following fields
 * @late_sum_ns: time from tick to start of row, sum over all rows
 * @late_max_ns: time from tick to start of row, maximum
 * @cost_sum_ns: time from start to end of row, sum over all rows
 * @cost_max_ns: time from start to end of row, maximum
 */
struct spek_sampler {
	struct spek_probe_source *sources;
	struct spek_ring *ring;
	u64 interval_ns;
	u64 started_ns;
	struct task_struct *thread;
	bool is_started;
	struct completion entered;

	u64 missed;
	u64 late_sum_ns;
	u64 late_max_ns;
	u64 cost_sum_ns;
	u64 cost_max_ns;
};

int spek_sampler_create(struct spek_sampler *sampler);
void spek_sampler_start(struct spek_sampler *sampler, u64 started_ns);
void spek_sampler_stop(struct spek_sampler *sampler);

#endif
