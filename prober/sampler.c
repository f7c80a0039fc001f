// SPDX-License-Identifier: GPL-2.0
/*
 * The thread that takes the rows of a probe by a schedule.
 *
 * Tick n is due at started_ns + n * interval_ns. The thread sleeps until the next tick, reads
 * every source into the next slot of the ring and commits the row. It takes only locks of the
 * sources and waits only for its timer and the request to stop, so spek_sampler_stop() waits
 * for it to be scheduled once, and for at most one row.
 */
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/timekeeping.h>

#include "ring.h"
#include "sampler.h"
#include "source.h"
#include "trace.h"

/* Return: false if the thread has to stop */
static bool sleep_until(u64 due_ns)
{
	ktime_t due = ns_to_ktime(due_ns);
	bool expired = false;

	while (!expired) {
		set_current_state(TASK_IDLE);
		if (kthread_should_stop()) {
			__set_current_state(TASK_RUNNING);
			return false;
		}
		expired = !schedule_hrtimeout_range(&due, 0, HRTIMER_MODE_ABS);
	}
	return true;
}

/*
 * The current time, but at least @floor_ns: the clocks of CPUs may differ slightly, and this
 * CPU's may be behind that of the CPU on which the timer has expired.
 */
static u64 time_from(u64 floor_ns)
{
	return max(ktime_get_ns(), floor_ns);
}

/* Return: CLOCK_MONOTONIC at the end of the row */
static u64 take_row(struct spek_sampler *sampler, u64 tick, u64 start_ns, bool final)
{
	struct spek_probe_row *row = (struct spek_probe_row *)spek_ring_begin(sampler->ring);
	u64 due_ns = final ? start_ns : sampler->started_ns + tick * sampler->interval_ns;
	u64 late_ns = start_ns - due_ns;
	u64 end_ns, cost_ns;
	unsigned int i;

	for (i = 0; i < SPEK_NR_SOURCES; i++) {
		struct spek_probe_source *source = &sampler->sources[i];

		if (source->ops->sample && !source->left_out)
			source->ops->sample(source, row->cells + source->first_cell);
	}
	end_ns = time_from(start_ns);
	cost_ns = end_ns - start_ns;

	row->tick = tick;
	row->due_ns = due_ns;
	row->start_ns = start_ns;
	row->end_ns = end_ns;
	row->final = final;
	spek_ring_commit(sampler->ring);
	trace_spek_probe_row(spek_ring_made(sampler->ring) - 1, row);

	WRITE_ONCE(sampler->late_sum_ns, sampler->late_sum_ns + late_ns);
	WRITE_ONCE(sampler->late_max_ns, max(sampler->late_max_ns, late_ns));
	WRITE_ONCE(sampler->cost_sum_ns, sampler->cost_sum_ns + cost_ns);
	WRITE_ONCE(sampler->cost_max_ns, max(sampler->cost_max_ns, cost_ns));
	return end_ns;
}

/* Return: the last tick due at @now_ns or before; @now_ns is not before the start */
static u64 tick_at(const struct spek_sampler *sampler, u64 now_ns)
{
	return div64_u64(now_ns - sampler->started_ns, sampler->interval_ns);
}

/*
 * Missed ticks are not repeated: a thread that wakes too late takes the row of the last tick
 * that is due and counts those before it as missed. After a row that took more than half an
 * interval it skips a tick, so that this real-time thread uses at most about half of its CPU.
 *
 * At the end, every tick that was due has a row or is counted as missed.
 */
static int sample_until_stopped(void *data)
{
	struct spek_sampler *sampler = data;
	u64 interval_ns = sampler->interval_ns;
	u64 tick = 0;	/* the tick to sleep until */
	u64 done = 0;	/* ticks before this one have a row or are missed */
	u64 due_ns = sampler->started_ns;
	u64 end_ns = due_ns;
	u64 start_ns, reached;

	complete(&sampler->entered);
	while (sleep_until(due_ns)) {
		start_ns = time_from(due_ns);
		reached = tick_at(sampler, start_ns);
		end_ns = take_row(sampler, reached, start_ns, false);
		WRITE_ONCE(sampler->missed, sampler->missed + (reached - done));
		done = reached + 1;

		tick = tick_at(sampler, end_ns) + 1;
		if (end_ns - start_ns > interval_ns / 2)
			tick++;
		due_ns = sampler->started_ns + tick * interval_ns;
	}

	start_ns = time_from(end_ns);
	reached = tick_at(sampler, start_ns);
	take_row(sampler, reached, start_ns, true);
	WRITE_ONCE(sampler->missed, sampler->missed + (reached + 1 - done));
	return 0;
}

/**
 * spek_sampler_create() - create the thread
 * @sampler: sampler; @sources, @ring and @interval_ns are set, all other fields are 0
 *
 * The thread doesn't run before spek_sampler_start(). Must be paired with spek_sampler_stop(),
 * even if the thread was never started.
 *
 * Context: process, may sleep.
 * Return: 0, or a negative errno from kthread_create().
 */
int spek_sampler_create(struct spek_sampler *sampler)
{
	struct task_struct *thread;

	init_completion(&sampler->entered);
	thread = kthread_create(sample_until_stopped, sampler, "spek_prober");
	if (IS_ERR(thread))
		return PTR_ERR(thread);

	/* The load being watched must not delay the schedule. */
	sched_set_fifo_low(thread);
	sampler->thread = get_task_struct(thread);
	return 0;
}

/**
 * spek_sampler_start() - let the thread take rows
 * @sampler: created sampler; its sources are ready to be read
 * @started_ns: CLOCK_MONOTONIC of tick 0: the current time
 *
 * Context: any.
 */
void spek_sampler_start(struct spek_sampler *sampler, u64 started_ns)
{
	sampler->started_ns = started_ns;
	sampler->is_started = true;
	wake_up_process(sampler->thread);
}

/**
 * spek_sampler_stop() - make the thread take its last row, and wait for its end
 * @sampler: created sampler; a thread that was never started takes no row
 *
 * Context: process, waits for a started thread to be scheduled once, and for at most one row.
 */
void spek_sampler_stop(struct spek_sampler *sampler)
{
	/* kthread_stop() ends a thread that has not run yet without calling its function. */
	if (sampler->is_started)
		wait_for_completion(&sampler->entered);
	kthread_stop(sampler->thread);
	put_task_struct(sampler->thread);
	sampler->thread = NULL;
}
