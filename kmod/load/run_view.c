// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a run: what netlink reports of it, copied under its lock.
 *
 * A run that is OPENING has its configuration and empty statistics; the remainder exists once
 * spek_run_is_set_up() returns true. Workers can be released at any time: their counts are first
 * copied into the run (spek_run_unhook_workers()).
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "run.h"
#include "verify.h"
#include "verify_map.h"

/**
 * spek_run_is_set_up() - check whether a run has its targets, logs and workers
 * @run: run
 *
 * Context: any.
 * Return: true from READY on.
 */
bool spek_run_is_set_up(const struct spek_run *run)
{
	/* Pairs with the release in open_work(). */
	return smp_load_acquire(&run->is_set_up);
}

/**
 * spek_run_verify() - verification of a run
 * @run: run
 *
 * Context: any.
 * Return: its verification, or NULL without stamped data or before the run is set up.
 */
struct spek_verify *spek_run_verify(const struct spek_run *run)
{
	return spek_run_is_set_up(run) ? run->verify : NULL;
}

/**
 * spek_run_replay() - replay of a run
 * @run: run
 *
 * Context: any.
 * Return: its replay, or NULL without a trace or before the run is set up.
 */
struct spek_replay *spek_run_replay(const struct spek_run *run)
{
	return spek_run_is_set_up(run) ? run->replay : NULL;
}

static u32 phase_of(const struct spek_run *run)
{
	const struct spek_run_config *config = run->config;
	u32 phase = spek_stats_phase(run->stats);

	lockdep_assert_held(&run->lock);
	/* Without a ramp-up, no worker seals anything until its first interval ends. */
	if (phase == SPEK_PHASE_RAMP && run->started.real_ns && !config->ramp_ns &&
	    !config->ramp_count)
		return SPEK_PHASE_MEASURE;
	return phase;
}

/**
 * spek_run_view() - read what netlink reports of a run
 * @run: run
 * @view: filled in
 *
 * Context: process.
 */
void spek_run_view(struct spek_run *run, struct spek_run_view *view)
{
	u32 i;

	memset(view, 0, sizeof(*view));
	mutex_lock(&run->lock);
	view->id = run->id;
	view->state = run->state;
	view->is_set_up = run->is_set_up;
	view->failure = run->failure;
	view->phase = phase_of(run);
	view->reason = spek_states[run->state].has_ended ? run->reason :
							  atomic_read(&run->outcome.reason);
	view->started = run->started;
	view->ended = run->ended;
	spek_stats_measured(run->stats, &view->measure_ns, &view->drain_ns);
	if (view->phase != SPEK_PHASE_DRAIN)
		view->drain_ns = 0;
	view->now_ns = ktime_get_ns();
	view->backlog = spek_stats_backlog(run->stats);
	view->intervals = spek_stats_nr_rows(run->stats);
	view->errors = atomic64_read(&run->outcome.errors);
	spek_outcome_first_error(&run->outcome, view->first_error, &view->first_sense);
	for (i = 0; run->workers && i < run->config->nr_workers; i++) {
		struct spek_worker_info info;

		spek_worker_info(run->workers[i], &info);
		view->outstanding += info.outstanding;
		/* It reads every slot, and so takes cache lines from a worker at full speed. */
		if (view->reason != SPEK_REASON_NONE)
			view->oldest_ns = max(view->oldest_ns,
					      spek_worker_oldest_ns(run->workers[i], view->now_ns));
	}
	for (i = 0; i < run->config->workload.nr_arrivals; i++)
		view->arrival_end_ns[i] = spek_run_arrival_end(run, i);
	mutex_unlock(&run->lock);
}

/**
 * spek_run_view_worker() - read what netlink reports of a worker
 * @run: set up
 * @index: number of the worker
 * @info: filled in
 *
 * Context: process.
 */
void spek_run_view_worker(struct spek_run *run, u32 index, struct spek_worker_info *info)
{
	mutex_lock(&run->lock);
	if (run->workers)
		spek_worker_info(run->workers[index], info);
	else
		*info = run->worker_info[index];
	mutex_unlock(&run->lock);
}

/**
 * spek_run_arrival_end() - ask when an arrival process with a count ended
 * @run: the caller holds run->lock
 * @arrival: index of the arrival process
 *
 * Return: CLOCK_MONOTONIC of its end on the last of the workers; 0 before, or without a count.
 */
u64 spek_run_arrival_end(const struct spek_run *run, u32 arrival)
{
	u64 latest_ns = 0;
	u32 i;

	lockdep_assert_held(&run->lock);
	if (!run->config->workload.arrival[arrival].count)
		return 0;
	if (!run->workers)
		return run->arrival_end_ns[arrival];
	for (i = 0; i < run->config->nr_workers; i++) {
		u64 end_ns = spek_worker_arrival_end(run->workers[i], arrival);

		if (!end_ns)
			return 0;
		latest_ns = max(latest_ns, end_ns);
	}
	return latest_ns;
}

/**
 * spek_run_view_target() - read what netlink reports of a target
 * @run: set up
 * @index: number of the target
 * @view: filled in
 *
 * Context: process.
 */
void spek_run_view_target(struct spek_run *run, u32 index, struct spek_target_view *view)
{
	u32 i;

	mutex_lock(&run->lock);
	view->target = &run->targets[index];
	view->count = run->count[index];
	/* Targets are open as long as the workers can be seen under the lock. */
	if (run->workers && !spek_compat_bdev_opens(&view->target->handle, &view->opens))
		view->opens = 0;
	for (i = 0; run->workers && i < run->config->nr_workers; i++)
		spek_worker_add_counts(run->workers[i], index, &view->count);
	mutex_unlock(&run->lock);
}

/**
 * spek_run_snapshot() - copy the totals of a run
 * @run: run
 *
 * Context: process.
 * Return: the snapshot, for kvfree(), or NULL without memory.
 */
struct spek_snapshot *spek_run_snapshot(struct spek_run *run)
{
	struct spek_snapshot *snapshot = spek_snapshot_alloc(run->config->workload.nr_streams);

	if (!snapshot)
		return NULL;
	mutex_lock(&run->lock);
	spek_snapshot_take(snapshot, run->stats);
	mutex_unlock(&run->lock);
	return snapshot;
}

/**
 * spek_run_row_bytes() - size of an interval row of a run
 * @run: run
 *
 * Return: bytes.
 */
size_t spek_run_row_bytes(const struct spek_run *run)
{
	return spek_stats_row_bytes(run->stats);
}

/**
 * spek_run_nr_rows() - count the closed interval rows of a run
 * @run: run
 *
 * Context: process.
 * Return: rows closed so far, overwritten ones included.
 */
u64 spek_run_nr_rows(struct spek_run *run)
{
	u64 nr;

	mutex_lock(&run->lock);
	nr = spek_stats_nr_rows(run->stats);
	mutex_unlock(&run->lock);
	return nr;
}

/**
 * spek_run_copy_row() - copy the next closed interval row that is still there
 * @run: run
 * @seq: number of the first row wanted; set to that of the row found
 * @end: number of the first row not wanted
 * @copy: spek_run_row_bytes() bytes
 * @dropped: rows overwritten so far
 *
 * Context: process.
 * Return: false if there is none below @end.
 */
bool spek_run_copy_row(struct spek_run *run, u64 *seq, u64 end, struct spek_row *copy,
		       u64 *dropped)
{
	const struct spek_row *row = NULL;

	mutex_lock(&run->lock);
	*dropped = spek_stats_dropped(run->stats);
	*seq = max(*seq, *dropped);
	while (*seq < end && !row) {
		row = spek_stats_row(run->stats, *seq);
		*seq += !row;
	}
	if (row)
		memcpy(copy, row, spek_stats_row_bytes(run->stats));
	mutex_unlock(&run->lock);
	return row;
}

/**
 * spek_run_restore_map() - record what was written before a READY run with stamped data
 * @run: run
 * @target: number of the target
 * @first: number of the first grain
 * @states: as spek_map_save() returned them
 * @nr: entries of @states
 * @refusal: filled in on failure
 *
 * Context: process.
 * Return: 0 or a negative errno with nothing changed.
 */
int spek_run_restore_map(struct spek_run *run, u32 target, u64 first, const u64 *states, u32 nr,
			 struct spek_refusal *refusal)
{
	int err;

	mutex_lock(&run->lock);
	if (!spek_states[run->state].accepts_start)
		err = spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EBUSY,
				  "Only a READY run accepts a record of what was written.");
	else if (run->config->verify_from)
		err = spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EBUSY,
				  "The run continues another one, which has the record of what was written.");
	else
		err = spek_map_restore(run->verify->map, target, first, states, nr, refusal);
	mutex_unlock(&run->lock);
	return err;
}
