// SPDX-License-Identifier: GPL-2.0
/*
 * Life of a run: states, references, locks, and the requests that change them.
 *
 * The states and their transitions are a table in core/state.c:
 *
 *   OPENING -> READY [-> ARMED] -> RUNNING -> DRAINING -> DONE -> CLOSING -> GONE
 *         \-> FAILED                                      (any idle state) -^
 *
 * No request waits for a device: run-new, run-del and the end of an owner queue work items, which
 * open and close devices.
 *
 * References to a run: one for the table, from run-new until delete_work ends; one for each of
 * open_work, start_work, finish_work and delete_work, from being queued to its end, and for
 * finish_work of a started run from the start; one for each pointer returned by spek_run_get() or
 * spek_run_get_next(). The last one frees the run. collect_work needs none: it is cancelled once
 * the threads that queue it have ended. The run pins the module until delete_work has released the
 * devices. The remainder of a work item is waited for in spek_run_deinit(), and netlink callers pin
 * the module themselves.
 *
 * claim.c holds devices between runs. run_table.c finds runs by their numbers; run_system.c ends
 * all of them when the system suspends, goes down or loses a CPU; run_setup.c allocates and
 * releases the contents of a run; run_view.c reads it for netlink.
 *
 * Lock order: run->notify_lock > spek_table_lock > run->lock > verify->lock or replay->lock,
 * run->release_lock > run->collect_lock > run->lock, and
 * run->notify_lock > genl->rwsem (genl/family.c) > run->lock.
 *  - notify_lock is held from a change of the state until the change is reported, so that every
 *    change is reported, in order;
 *  - release_lock is held while devices are released;
 *  - collect_lock makes its holder the only collector and keeps the workers: counting a backlog may
 *    take seconds, for which no request waits;
 *  - claims_lock (claim.c) is taken inside release_lock, or with no lock of a run held;
 *  - the CPU hotplug lock is taken outside of spek_table_lock, here and by hotplug.c;
 *  - the lock of a run that another run continues is taken with no other run's lock held.
 * Workers, completions and spek_outcome_end() take none of these except verify->lock.
 */
#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "claim.h"
#include "core/share.h"
#include "replay.h"
#include "run.h"
#include "run_setup.h"
#include "run_system.h"
#include "run_table.h"
#include "validate.h"
#include "verify.h"
#include "verify_map.h"
#include "worker_phase.h"
#include "worker_state.h"

/* Limit of start-ns: sums of it and the lengths of phases don't overflow. */
#define MAX_WAIT_NS	(366ull * 86400 * NSEC_PER_SEC)

/*
 * Work on device_wq may wait for a device for arbitrarily long. It has a queue of its own, so that
 * hung devices don't delay the collectors and the ends of other runs.
 */
static struct workqueue_struct *spek_wq;
static struct workqueue_struct *device_wq;	/* open_work and delete_work */
static const struct spek_run_listener *listener;

/* ---- references ---- */

static void release_run(struct kref *ref)
{
	struct spek_run *run = container_of(ref, struct spek_run, ref);
	struct spek_run_config *config = run->config;

	/* spek_run_free() needs the number of workers in it. */
	spek_run_free(run);
	kvfree(config);
}

/**
 * spek_run_put() - drop a reference
 * @run: run
 *
 * Context: process.
 */
void spek_run_put(struct spek_run *run)
{
	kref_put(&run->ref, release_run);
}

static int refuse_for_memory(struct spek_refusal *refusal, int err)
{
	return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, err,
			   "There is not enough memory: fewer outstanding I/Os, workers or replicas need less.");
}

/* Publish a run whose CPUs are online. Return: its number, or a negative errno */
static int add_to_table(struct spek_run *run, struct spek_refusal *refusal)
{
	int id;

	mutex_lock(&spek_table_lock);
	id = spek_table_add(run);
	/* Queued before the run can be found and deleted: delete_work flushes open_work. */
	if (id > 0)
		queue_work(device_wq, &run->open_work);
	mutex_unlock(&spek_table_lock);
	return id > 0 ? id : refuse_for_memory(refusal, id);
}

/*
 * Publish a run. A CPU that goes offline after it was looked at finds the run in the table
 * (hotplug.c), and ends it.
 * Return: its number, or a negative errno
 */
static int insert_run(struct spek_run *run, struct spek_refusal *refusal)
{
	int id;

	cpus_read_lock();
	id = spek_validate_cpus(run->config, refusal) ?: add_to_table(run, refusal);
	cpus_read_unlock();
	return id;
}

/* ---- states ---- */

static void read_clocks(struct spek_clocks *clocks)
{
	clocks->mono_ns = ktime_get_ns();
	clocks->raw_ns = ktime_get_raw_ns();
	clocks->real_ns = ktime_get_real_ns();
}

static void set_state(struct spek_run *run, enum spek_event event)
{
	int next = spek_state_next(run->state, event);

	lockdep_assert_held(&run->notify_lock);
	lockdep_assert_held(&run->lock);
	if (WARN_ON_ONCE(next < 0))
		return;
	run->state = next;
}

/* Queue a work item, which holds a reference while it is queued or runs. */
static void queue_run_work(struct spek_run *run, struct workqueue_struct *wq,
			   struct work_struct *work)
{
	kref_get(&run->ref);
	/* Already queued, with its own reference. This reference is never the last one. */
	if (!queue_work(wq, work))
		kref_put(&run->ref, release_run);
}

/*
 * Make an armed run RUNNING if its time has come. Several work items check for it, but once the
 * workers have ended only finish_work(), with the time of their end: that may be before the start.
 *
 * Return: true if the run has just become RUNNING.
 */
static bool start_if_due(struct spek_run *run, const struct spek_clocks *now)
{
	u64 late_ns = now->mono_ns - run->started.mono_ns;

	if (run->state != SPEK_STATE_ARMED || now->mono_ns < run->started.mono_ns)
		return false;
	run->started.raw_ns = now->raw_ns - late_ns;
	run->started.real_ns = now->real_ns - late_ns;
	set_state(run, SPEK_EVENT_START);
	return true;
}

/* Return: false if it is being cancelled */
static bool queue_start_work(struct spek_run *run)
{
	u64 now_ns = ktime_get_ns();

	return queue_delayed_work(spek_wq, &run->start_work,
				  nsecs_to_jiffies(run->started.mono_ns -
						   min(now_ns, run->started.mono_ns)) + 1);
}

static void start_work(struct work_struct *work)
{
	struct spek_run *run = container_of(to_delayed_work(work), struct spek_run, start_work);
	struct spek_clocks now;
	bool begins, again;

	mutex_lock(&run->notify_lock);
	mutex_lock(&run->lock);
	read_clocks(&now);
	begins = atomic_read(&run->live_workers) && start_if_due(run, &now);
	/* Jiffies may run ahead of the clock. finish_work() may be cancelling this work. */
	again = run->state == SPEK_STATE_ARMED && queue_start_work(run);
	mutex_unlock(&run->lock);
	if (begins)
		listener->state_changed(run);
	mutex_unlock(&run->notify_lock);
	if (!again)
		spek_run_put(run);
}

/* Take the oldest sealed set of a worker. Return: false if there is none. */
static bool collect_set(struct spek_run *run, struct spek_worker *worker, u32 index)
{
	struct spek_set *set = spek_worker_next_sealed(worker);

	if (!set)
		return false;
	spek_worker_count_backlog(worker, set);
	mutex_lock(&run->lock);
	spek_stats_collect(run->stats, index, set);
	mutex_unlock(&run->lock);
	spek_worker_give_back(worker);
	return true;
}

/*
 * Take sets of all workers in turn, so that rows are complete early. Return: true if there may be
 * more. Workers seal while others are waited for, so that the number of turns is limited.
 */
static bool collect_sets(struct spek_run *run)
{
	u32 i, turn;

	lockdep_assert_held(&run->collect_lock);
	for (turn = 0; turn < SPEK_NR_SETS; turn++) {
		bool any = false;

		for (i = 0; run->workers && i < run->config->nr_workers; i++) {
			any |= collect_set(run, run->workers[i], i);
			cond_resched();
		}
		if (!any)
			return false;
	}
	return true;
}

/* Make a run DRAINING at the end of its measurement. Return: true if it has just become so */
static bool drain_if_due(struct spek_run *run)
{
	if (run->state != SPEK_STATE_RUNNING)
		return false;
	if (!spek_outcome_has_ended(&run->outcome) &&
	    spek_stats_phase(run->stats) != SPEK_PHASE_DRAIN)
		return false;
	set_state(run, SPEK_EVENT_END);
	return true;
}

static void collect_work(struct work_struct *work)
{
	struct spek_run *run = container_of(work, struct spek_run, collect_work);
	struct spek_clocks now;
	bool changes, again;

	mutex_lock(&run->collect_lock);
	again = collect_sets(run);
	mutex_unlock(&run->collect_lock);
	if (again)
		queue_work(spek_wq, work);
	mutex_lock(&run->notify_lock);
	mutex_lock(&run->lock);
	read_clocks(&now);
	changes = atomic_read(&run->live_workers) && start_if_due(run, &now);
	changes |= drain_if_due(run);
	mutex_unlock(&run->lock);
	if (changes)
		listener->state_changed(run);
	mutex_unlock(&run->notify_lock);
}

/* Release the devices. The workers have ended or were never started. */
static void release_devices(struct spek_run *run)
{
	struct spek_worker **workers;

	mutex_lock(&run->release_lock);
	mutex_lock(&run->collect_lock);
	while (collect_sets(run))
		;
	mutex_lock(&run->lock);
	workers = spek_run_unhook_workers(run);
	mutex_unlock(&run->lock);
	mutex_unlock(&run->collect_lock);
	spek_run_release_devices(run, workers);
	mutex_unlock(&run->release_lock);
}

/* Make the run CLOSING: it can no longer be started. */
static void begin_delete(struct spek_run *run)
{
	spek_outcome_end(&run->outcome, SPEK_REASON_STOPPED);
	set_state(run, SPEK_EVENT_DELETE);
	queue_run_work(run, device_wq, &run->delete_work);
}

static void finish_work(struct work_struct *work)
{
	struct spek_run *run = container_of(work, struct spek_run, finish_work);
	struct spek_clocks ended;
	bool was_started = false, deletes = false;

	read_clocks(&ended);
	if (cancel_delayed_work_sync(&run->start_work))
		spek_run_put(run);
	release_devices(run);

	mutex_lock(&run->notify_lock);
	mutex_lock(&run->lock);
	/* A second stop of a run that was never started, or its deletion, came first. */
	if (spek_states[run->state].has_ended)
		goto unlock;
	spek_stats_flush(run->stats);
	start_if_due(run, &ended);
	was_started = run->state != SPEK_STATE_READY;
	if (run->state == SPEK_STATE_RUNNING)
		set_state(run, SPEK_EVENT_END);
	if (run->state == SPEK_STATE_DRAINING)
		set_state(run, SPEK_EVENT_DRAINED);
	else
		set_state(run, SPEK_EVENT_END);
	if (!run->started.real_ns)
		run->started.mono_ns = 0;	/* it was ARMED and never RUNNING */
	if (was_started && run->verify)
		spek_map_finished(run->verify->map);
	run->ended = ended;
	/* A trace takes no more records, also if time has ended the run. */
	spek_outcome_end(&run->outcome, SPEK_REASON_COMPLETED);
	run->reason = atomic_read(&run->outcome.reason);
	mutex_unlock(&run->lock);
	listener->state_changed(run);
	mutex_lock(&run->lock);
	deletes = run->orphan;
	if (deletes)
		begin_delete(run);
unlock:
	mutex_unlock(&run->lock);
	if (deletes)
		listener->state_changed(run);
	mutex_unlock(&run->notify_lock);
	if (was_started)
		spek_run_count_ended();
	spek_run_put(run);
}

static void delete_work(struct work_struct *work)
{
	struct spek_run *run = container_of(work, struct spek_run, delete_work);

	flush_work(&run->open_work);
	flush_work(&run->finish_work);
	release_devices(run);
	/* Before the run leaves the table: its files, devices and module are released by then. */
	spek_run_remove_files(run);
	module_put(THIS_MODULE);
	mutex_lock(&run->notify_lock);
	mutex_lock(&run->lock);
	set_state(run, SPEK_EVENT_GONE);
	mutex_unlock(&run->lock);
	spek_table_remove(run);
	listener->state_changed(run);
	mutex_unlock(&run->notify_lock);
	listener->removed(run);
	spek_run_put(run);	/* the table's */
	spek_run_put(run);
}

static const struct spek_worker_ops worker_ops;

static int open_run(struct spek_run *run, struct spek_refusal *refusal)
{
	struct spek_run *from = NULL;
	int err;

	if (run->config->verify_from) {
		from = spek_run_get(run->config->verify_from);
		if (!from)
			return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENOENT,
					   "The run to continue doesn't exist.");
	}
	err = spek_run_setup(run, from, &worker_ops, refusal);
	if (from)
		spek_run_put(from);
	return err;
}

static void open_work(struct work_struct *work)
{
	struct spek_run *run = container_of(work, struct spek_run, open_work);
	struct spek_refusal refusal = {};
	int err = open_run(run, &refusal);

	mutex_lock(&run->notify_lock);
	mutex_lock(&run->lock);
	if (err) {
		/* Lower layers may leave the errno to their caller. */
		run->failure = refusal;
		run->failure.err = err;
		read_clocks(&run->ended);
	} else {
		/* Publish what was set up: pairs with spek_run_is_set_up(). */
		smp_store_release(&run->is_set_up, true);
	}
	set_state(run, err ? SPEK_EVENT_FAILED : SPEK_EVENT_OPENED);
	if (!err && run->stops)
		queue_run_work(run, spek_wq, &run->finish_work);
	mutex_unlock(&run->lock);
	listener->state_changed(run);
	mutex_unlock(&run->notify_lock);
	spek_run_put(run);
}

/* ---- called by workers ---- */

static void worker_collect(void *owner)
{
	struct spek_run *run = owner;

	queue_work(spek_wq, &run->collect_work);
}

static void worker_ended(void *owner)
{
	struct spek_run *run = owner;

	/* The reference was taken at the start. */
	if (atomic_dec_and_test(&run->live_workers))
		queue_work(spek_wq, &run->finish_work);
}

static const struct spek_worker_ops worker_ops = {
	.collect = worker_collect,
	.ended = worker_ended,
};

/* ---- requests ---- */

/**
 * spek_run_new() - make a run and have its devices opened
 * @config: from kvmalloc(); belongs to the run on success, stays the caller's on failure
 * @id: number of the new run
 * @refusal: filled in on failure
 *
 * The run is OPENING; it becomes READY, or FAILED with the refusal in its view, and both are
 * reported to the listener.
 *
 * Context: process, may sleep, doesn't wait for devices; no lock held.
 * Return: 0, or a negative errno with nothing changed.
 */
int spek_run_new(struct spek_run_config *config, u32 *id, struct spek_refusal *refusal)
{
	struct spek_claim *claim = NULL;
	struct spek_run *run;
	int err, new_id;
	u32 i;

	err = spek_validate_config(config, refusal);
	if (err)
		return err;
	for (i = 0; i < config->nr_targets; i++) {
		/* A work item would not be in the device cgroup of the requester. */
		err = spek_target_may_open(spek_config_dev(config, i),
					   spek_config_may_write(config, i));
		if (err)
			return spek_refuse(refusal, SPEK_REFUSAL_TARGET, i, err,
					   "The device cgroup of this process doesn't allow the device.");
	}
	if (config->claim) {
		err = spek_claim_take(config, &claim, refusal);
		if (err)
			return err;
	}
	if (!try_module_get(THIS_MODULE)) {
		err = spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENODEV,
				  "The module is being unloaded.");
		goto err_give_back;
	}
	run = spek_run_alloc(config);
	err = run ? 0 : refuse_for_memory(refusal, -ENOMEM);
	if (!err) {
		run->claim = claim;
		INIT_WORK(&run->open_work, open_work);
		INIT_DELAYED_WORK(&run->start_work, start_work);
		INIT_WORK(&run->collect_work, collect_work);
		INIT_WORK(&run->finish_work, finish_work);
		INIT_WORK(&run->delete_work, delete_work);
		kref_get(&run->ref);	/* open_work */
		new_id = insert_run(run, refusal);
		err = min(new_id, 0);
	}
	if (err) {
		if (run)
			spek_run_free(run);
		module_put(THIS_MODULE);
		goto err_give_back;
	}
	/* Not run->id: the run may be deleted already, by another socket. */
	*id = new_id;
	return 0;

err_give_back:
	if (claim)
		spek_claim_give_back(claim, config);
	return err;
}

/* Share the count of an arrival process out by the load or the range that workers have of it. */
static void share_arrival_count(struct spek_run *run, u32 arrival)
{
	const struct spek_workload *wl = &run->config->workload;
	u64 count = wl->arrival[arrival].count, all = 0, load;
	u32 i, nr = run->config->nr_workers;
	u32 passed = spek_share_passed(wl, arrival, nr, count);

	for (i = 0; i < nr; i++)
		all += spek_share_count_load(wl, arrival, passed, i, nr);
	for (i = 0; i < nr; i++) {
		load = spek_share_count_load(wl, arrival, passed, i, nr);
		if (load)
			spek_worker_set_arrival_count(run->workers[i], arrival,
						      spek_share_part(&count, load, all));
		all -= load;
	}
}

/* Load of a worker by which the count of a run is shared out; @passed: stream that it passes. */
static u64 load_of_count(const struct spek_workload *wl, u32 passed, u32 worker, u32 nr)
{
	if (passed < wl->nr_streams)
		return spek_share_count_load(wl, 0, passed, worker, nr);
	return spek_share_load(wl, worker, nr);
}

/*
 * Share the counts out by load, so that workers reach their parts at about the same time: one that
 * has reached its part issues no more. Workers without work get none: they would never use it up.
 * The count of passes of a range is shared out by the parts of the range.
 */
static void share_counts(struct spek_run *run)
{
	const struct spek_run_config *config = run->config;
	const struct spek_workload *wl = &config->workload;
	u64 ramp_count = config->ramp_count, count = config->count;
	u64 ramp_all = 0, all = 0, ramp_load, load;
	u32 i, nr = config->nr_workers, passed = wl->nr_streams;

	if (wl->nr_arrivals == 1 && !spek_workload_replays(wl))
		passed = spek_share_passed(wl, 0, nr, count);
	for (i = 0; i < nr; i++)
		if (spek_worker_prepare(run->workers[i], run->started.mono_ns)) {
			ramp_all += spek_share_load(wl, i, nr);
			all += load_of_count(wl, passed, i, nr);
		}
	for (i = 0; i < nr; i++) {
		if (!spek_worker_has_work(run->workers[i]))
			continue;
		ramp_load = spek_share_load(wl, i, nr);
		load = load_of_count(wl, passed, i, nr);
		spek_worker_set_counts(run->workers[i],
				       spek_share_part(&ramp_count, ramp_load, ramp_all),
				       spek_share_part(&count, load, all));
		ramp_all -= ramp_load;
		all -= load;
	}
	for (i = 0; i < config->workload.nr_arrivals; i++)
		if (config->workload.arrival[i].count)
			share_arrival_count(run, i);
}

static int check_start(struct spek_run *run, u64 start_ns, struct spek_refusal *refusal)
{
	u64 now_ns = ktime_get_ns();

	lockdep_assert_held(&spek_table_lock);
	if (atomic_read(&run->outcome.reason) == SPEK_REASON_DEVICE_GONE &&
	    spek_states[run->state].accepts_start)
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENODEV,
				   "A target of the run was removed.");
	if (atomic_read(&run->outcome.reason) == SPEK_REASON_FEEDER_GONE &&
	    spek_states[run->state].accepts_start)
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EBUSY,
				   "The socket that fed the trace of the run was closed.");
	if (atomic_read(&run->outcome.reason) == SPEK_REASON_CPU_OFFLINE &&
	    spek_states[run->state].accepts_start)
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENODEV,
				   "The CPU of a worker was taken offline: make the run again.");
	if (!spek_states[run->state].accepts_start || spek_outcome_has_ended(&run->outcome))
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EBUSY,
				   "Only a run that is READY can be started.");
	if (spek_run_starts_are_blocked())
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EBUSY,
				   "The system is about to suspend or to go down: start the run after it has resumed.");
	if (run->replay && !spek_replay_may_start(run->replay))
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EBUSY,
				   "No ring of the trace is half full: feed more records, or end the trace.");
	if (start_ns && start_ns <= now_ns)
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ETIME,
				   "The start time has passed: it must lie in the future of CLOCK_MONOTONIC.");
	if (start_ns && start_ns - now_ns > MAX_WAIT_NS)
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ERANGE,
				   "The start time is too far away: at most 366 days from now are allowed.");
	return 0;
}

/**
 * spek_run_start() - start a READY run now or at a given time
 * @run: run
 * @start_ns: CLOCK_MONOTONIC of time 0; 0: now
 * @refusal: filled in on failure
 *
 * Until @start_ns the run is ARMED. Its workers sleep on absolute timers of their own.
 * Context: process.
 * Return: 0 or a negative errno.
 */
int spek_run_start(struct spek_run *run, u64 start_ns, struct spek_refusal *refusal)
{
	int err;
	u32 i;

	mutex_lock(&run->notify_lock);
	mutex_lock(&spek_table_lock);
	mutex_lock(&run->lock);
	err = check_start(run, start_ns, refusal);
	if (err)
		goto unlock;
	read_clocks(&run->started);
	if (start_ns) {
		kref_get(&run->ref);	/* start_work */
		run->started = (struct spek_clocks){ .mono_ns = start_ns };
		queue_start_work(run);
	}
	set_state(run, start_ns ? SPEK_EVENT_ARM : SPEK_EVENT_START);
	spek_run_count_started();
	if (run->verify)
		spek_map_started(run->verify->map);
	atomic_set(&run->live_workers, run->config->nr_workers);
	kref_get(&run->ref);	/* finish_work */
	spek_phase_ends_init(run->phase_end, run->config->nr_workers);
	share_counts(run);
	for (i = 0; i < run->config->nr_workers; i++)
		spek_worker_start(run->workers[i], run->started.mono_ns);
unlock:
	mutex_unlock(&run->lock);
	mutex_unlock(&spek_table_lock);
	if (!err)
		listener->state_changed(run);
	mutex_unlock(&run->notify_lock);
	return err;
}

/**
 * spek_run_stop() - ask a run to end
 * @run: run, in any state but GONE
 * @refusal: filled in on failure
 *
 * Returns at once.
 *
 * Context: process.
 * Return: 0 or -EBUSY.
 */
int spek_run_stop(struct spek_run *run, struct spek_refusal *refusal)
{
	int err = 0;

	mutex_lock(&run->lock);
	if (!spek_states[run->state].accepts_stop) {
		err = spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EBUSY, "The run is being deleted.");
	} else if (!spek_states[run->state].has_ended) {
		spek_outcome_end(&run->outcome, SPEK_REASON_STOPPED);
		/* finish_work ends a run that was never started, an OPENING one once it is open. */
		run->stops = true;
		if (spek_states[run->state].accepts_start)
			queue_run_work(run, spek_wq, &run->finish_work);
	}
	mutex_unlock(&run->lock);
	return err;
}

/**
 * spek_run_delete() - release a run without I/O in flight, its results and its claims
 * @run: run
 * @refusal: filled in on failure
 *
 * Returns at once: the run is CLOSING until its devices are free, then it leaves the table and
 * GONE is reported.
 *
 * Context: process.
 * Return: 0 or -EBUSY.
 */
int spek_run_delete(struct spek_run *run, struct spek_refusal *refusal)
{
	int err = 0;

	mutex_lock(&run->notify_lock);
	mutex_lock(&run->lock);
	if (!spek_states[run->state].accepts_delete)
		err = spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EBUSY,
				  spek_states[run->state].has_ended ?
				  "The run is being deleted already." :
				  "I/O is in flight: stop the run and wait until it is DONE.");
	else
		begin_delete(run);
	mutex_unlock(&run->lock);
	if (!err)
		listener->state_changed(run);
	mutex_unlock(&run->notify_lock);
	return err;
}

static void end_orphan(struct spek_run *run)
{
	bool changes = false;

	mutex_lock(&run->notify_lock);
	mutex_lock(&run->lock);
	run->orphan = true;
	spek_outcome_end(&run->outcome, SPEK_REASON_OWNER_GONE);
	if (spek_states[run->state].accepts_delete) {
		begin_delete(run);
		changes = true;
	}
	mutex_unlock(&run->lock);
	if (changes)
		listener->state_changed(run);
	mutex_unlock(&run->notify_lock);
}

/* A trace that is complete doesn't need its feeder any more. */
static void end_unfed(struct spek_run *run, u32 portid)
{
	const struct spek_replay *replay = spek_run_replay(run);

	if (replay && spek_replay_is_fed_by(replay, portid) && !READ_ONCE(replay->has_ended))
		spek_outcome_end(&run->outcome, SPEK_REASON_FEEDER_GONE);
}

/**
 * spek_run_owner_gone() - a netlink socket was closed: end what it fed, delete what it owned
 * @portid: port of the socket
 *
 * Context: process.
 */
void spek_run_owner_gone(u32 portid)
{
	struct spek_run *run;
	u32 id = 0;

	while ((run = spek_run_get_next(id))) {
		id = run->id + 1;
		if (run->config->owner_portid == portid && !run->config->detached)
			end_orphan(run);
		else
			end_unfed(run, portid);
		spek_run_put(run);
	}
}

/* ---- module ---- */

/**
 * spek_run_init() - prepare for runs
 * @report: what runs report to, const
 *
 * Return: 0 or a negative errno.
 */
int spek_run_init(const struct spek_run_listener *report)
{
	listener = report;
	spek_wq = alloc_workqueue("spek", WQ_UNBOUND, 0);
	if (!spek_wq)
		return -ENOMEM;
	device_wq = alloc_workqueue("spek_device", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!device_wq) {
		destroy_workqueue(spek_wq);
		return -ENOMEM;
	}
	return 0;
}

/**
 * spek_run_deinit() - wait for the ends of work items
 *
 * Context: process. No run exists: each one pinned the module.
 */
void spek_run_deinit(void)
{
	/* In this order: work on device_wq queues work on spek_wq, not vice versa. */
	destroy_workqueue(device_wq);
	destroy_workqueue(spek_wq);
	spek_table_deinit();
}
