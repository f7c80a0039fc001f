// SPDX-License-Identifier: GPL-2.0
/*
 * Life of a run.
 *
 * READY -start-> RUNNING -stop|error|deadline|owner gone-> DRAINING -last I/O-> DONE -delete-> gone
 * READY -stop-> DONE. The table is core/state.c.
 *
 * Who holds a reference to a run: the table, from new to delete; finish_work, from start (or
 * stop before it) to its end; reap_work while it is queued; each user of a pointer from
 * spek_run_get(). The last one frees it and lets the module go: while a run exists the
 * module can't be unloaded.
 *
 * Who holds what inside: workers and targets live from new to the end of finish_work (or
 * to delete if it never started). They are released in two steps. Dead: run->workers is
 * unhooked under run->lock, so that netlink and the collector don't see them any more.
 * Then, after the threads have left and a grace period has passed, nobody can: not
 * completions (all I/O came back, and the last one is over), not spek_run_end() (RCU).
 *
 * Lock order: spek_table_lock > run->lock > verify->lock, and run->news_lock > run->lock, and
 * run->release_lock > run->lock, which is held while devices are given back. Who
 * changes the state holds run->news_lock until it has told of it: every change is told, in order.
 * Workers, completions and spek_run_end() take none of these but verify->lock. Work items take
 * spek_table_lock when they hold no other.
 */
#include <linux/blkdev.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "validate.h"
#include "iolog.h"
#include "run.h"
#include "submit.h"
#include "verify.h"
#include "worker.h"

static DEFINE_MUTEX(spek_table_lock);	/* protects next 2 */
static DEFINE_IDR(spek_table);
static u32 table_generation = 1;

static struct workqueue_struct *spek_wq;

static void collect_work(struct work_struct *work);
static void finish_work(struct work_struct *work);
static void reap_work(struct work_struct *work);

/* ---- making a run ---- */

static void close_targets(struct spek_run *run)
{
	u32 i;

	for (i = 0; i < run->config->nr_targets; i++)
		spek_target_close(&run->targets[i]);
}

static int open_targets(struct spek_run *run, struct spek_refusal *refusal)
{
	u32 i;
	int err;

	for (i = 0; i < run->config->nr_targets; i++) {
		refusal->kind = SPEK_REFUSAL_TARGET;
		refusal->index = i;
		err = spek_target_open(&run->targets[i], run, run->config->dev[i],
				       run->shape.chunk_bytes, refusal);
		if (err)
			return err;
		if (run->config->diskseq[i] && run->config->diskseq[i] != run->targets[i].diskseq)
			return spek_refuse_part(refusal, -ENODEV,
						"The disk was replaced after it was checked: look again.");
		run->polls |= run->targets[i].polled;
	}
	return 0;
}

/* Workers that were unhooked: wait for their threads, for their last readers, free them. */
static void destroy_workers(struct spek_run *run, struct spek_worker **workers)
{
	u32 i, nr = run->config->nr_workers;

	if (!workers)
		return;
	for (i = 0; i < nr; i++)
		if (workers[i])
			spek_worker_reap(workers[i]);
	synchronize_rcu();
	cancel_work_sync(&run->collect_work);
	for (i = 0; i < nr; i++)
		if (workers[i])
			spek_worker_destroy(workers[i], &run->shape);
	kfree(workers);
}

static int create_workers(struct spek_run *run)
{
	const struct spek_run_config *config = run->config;
	struct spek_worker **workers;
	u32 i;

	workers = kcalloc(config->nr_workers, sizeof(*workers), GFP_KERNEL);
	if (!workers)
		return -ENOMEM;
	for (i = 0; i < config->nr_workers; i++) {
		struct spek_worker *worker = spek_worker_create(run, i, &run->shape);

		if (IS_ERR(worker)) {
			destroy_workers(run, workers);
			return PTR_ERR(worker);
		}
		workers[i] = worker;
	}
	rcu_assign_pointer(run->workers, workers);
	return 0;
}

/* Their files go first: from then on nobody opens them any more. */
static void destroy_logs(struct spek_run *run)
{
	u32 i;

	spek_iolog_rmdir(run->log_dentry);
	for (i = 0; run->log && i < run->config->nr_workers; i++)
		spek_iolog_close(run->log[i]);
	kfree(run->log);
}

static int create_logs(struct spek_run *run, struct spek_refusal *refusal)
{
	static const char no_files[] = "This kernel has no debugfs, which the per-I/O log needs.";
	const struct spek_run_config *config = run->config;
	u32 i;

	if (!config->log_records)
		return 0;
	run->log = kcalloc(config->nr_workers, sizeof(*run->log), GFP_KERNEL);
	if (!run->log)
		return -ENOMEM;
	run->log_dentry = spek_iolog_mkdir(run->id, run->log_dir, sizeof(run->log_dir));
	if (IS_ERR(run->log_dentry)) {
		int err = PTR_ERR(run->log_dentry);

		run->log_dentry = NULL;
		if (err == -ENOMEM)
			return err;
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EOPNOTSUPP, no_files);
	}
	for (i = 0; i < config->nr_workers; i++) {
		struct spek_iolog *log = spek_iolog_create(run->log_dentry, i, config->log_records);

		if (IS_ERR(log) && PTR_ERR(log) != -ENOMEM)
			return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EOPNOTSUPP, no_files);
		if (IS_ERR(log))
			return -ENOMEM;
		run->log[i] = log;
	}
	return 0;
}

static void free_run(struct spek_run *run)
{
	destroy_logs(run);
	spek_verify_destroy(run->verify);
	spek_stats_destroy(run->stats);
	kfree(run->targets);
	kfree(run->worker_info);
	kfree(run);
}

static bool reads(const struct spek_workload *wl)
{
	u32 i;

	for (i = 0; i < wl->nr_streams; i++)
		if (wl->stream[i].read_ppm)
			return true;
	return false;
}

static struct spek_run *alloc_run(struct spek_run_config *config)
{
	const struct spek_workload *wl = &config->workload;
	struct spek_run *run = kzalloc(sizeof(*run), GFP_KERNEL);

	if (!run)
		return NULL;
	kref_init(&run->ref);
	mutex_init(&run->lock);
	mutex_init(&run->news_lock);
	mutex_init(&run->release_lock);
	INIT_WORK(&run->collect_work, collect_work);
	INIT_WORK(&run->finish_work, finish_work);
	INIT_WORK(&run->reap_work, reap_work);
	run->config = config;
	run->state = SPEK_STATE_READY;
	run->shape.buffer_bytes = spek_workload_max_bytes(wl);
	run->shape.chunk_bytes = spek_slot_chunk_bytes(run->shape.buffer_bytes);
	run->shape.reads = reads(wl);
	run->shape.writes = spek_workload_writes(wl);
	run->shape.random = config->data == SPEK_DATA_RANDOM;
	run->shape.seed = config->seed;
	run->targets = kcalloc(config->nr_targets, sizeof(*run->targets), GFP_KERNEL);
	run->worker_info = kcalloc(config->nr_workers, sizeof(*run->worker_info), GFP_KERNEL);
	run->stats = spek_stats_create(wl, config->nr_workers, config->interval_ns);
	if (!run->targets || !run->worker_info || !run->stats) {
		free_run(run);
		return NULL;
	}
	return run;
}

/* Workers are named after the number, so it comes before them and the run after. */
static int reserve_id(struct spek_run *run)
{
	int id;

	mutex_lock(&spek_table_lock);
	id = idr_alloc_cyclic(&spek_table, NULL, 1, 0, GFP_KERNEL);
	mutex_unlock(&spek_table_lock);
	if (id > 0)
		run->id = id;
	return min(id, 0);
}

static void release_id(struct spek_run *run)
{
	mutex_lock(&spek_table_lock);
	idr_remove(&spek_table, run->id);
	mutex_unlock(&spek_table_lock);
}

static void insert_run(struct spek_run *run)
{
	mutex_lock(&spek_table_lock);
	idr_replace(&spek_table, run, run->id);
	table_generation += 2;	/* odd, so never 0 */
	mutex_unlock(&spek_table_lock);
}

int spek_run_new(struct spek_run_config *config, u32 *id, struct spek_refusal *refusal)
{
	static const char no_memory[] =
		"There is not enough memory: fewer outstanding I/Os, workers or replicas need less.";
	struct spek_run *run;
	int err;

	err = spek_fit_config(config, refusal);
	if (err)
		return err;
	if (!try_module_get(THIS_MODULE))
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENODEV,
				   "The module is being unloaded.");
	run = alloc_run(config);
	if (!run) {
		err = spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENOMEM, no_memory);
		goto err_put_module;
	}
	err = open_targets(run, refusal);
	if (err)
		goto err_close_targets;
	err = spek_fit_devices(run, refusal);
	if (err)
		goto err_close_targets;
	if (config->data == SPEK_DATA_STAMPED) {
		err = spek_verify_create(run, refusal);
		if (err)
			goto err_close_targets;
	}
	run->shape.max_parts = spek_fit_parts(run, run->shape.buffer_bytes);
	err = spek_fit_memory(run) ? reserve_id(run) : -ENOMEM;
	if (err) {
		spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, err, no_memory);
		goto err_close_targets;
	}
	err = create_logs(run, refusal);
	if (err) {
		if (err == -ENOMEM)
			spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, err, no_memory);
		goto err_release_id;
	}
	err = create_workers(run);
	if (err) {
		spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, err, no_memory);
		goto err_release_id;
	}
	*id = run->id;
	insert_run(run);
	return 0;

err_release_id:
	release_id(run);
err_close_targets:
	close_targets(run);
	free_run(run);
err_put_module:
	module_put(THIS_MODULE);
	return err;
}

/* ---- finding one ---- */

static void release_run(struct kref *ref)
{
	struct spek_run *run = container_of(ref, struct spek_run, ref);
	struct spek_run_config *config = run->config;

	/* After all that looks there for its number of workers. */
	free_run(run);
	kvfree(config);
	module_put(THIS_MODULE);
}

void spek_run_put(struct spek_run *run)
{
	kref_put(&run->ref, release_run);
}

struct spek_run *spek_run_get(u32 id)
{
	struct spek_run *run;

	mutex_lock(&spek_table_lock);
	run = idr_find(&spek_table, id);
	if (run)
		kref_get(&run->ref);
	mutex_unlock(&spek_table_lock);
	return run;
}

struct spek_run *spek_run_get_next(u32 id)
{
	struct spek_run *run;
	int next = id;

	mutex_lock(&spek_table_lock);
	run = idr_get_next(&spek_table, &next);
	if (run)
		kref_get(&run->ref);
	mutex_unlock(&spek_table_lock);
	return run;
}

u32 spek_run_generation(void)
{
	return READ_ONCE(table_generation);
}

/* ---- ending ---- */

void spek_run_end(struct spek_run *run, u32 reason)
{
	struct spek_worker **workers;
	u32 i;

	if (atomic_cmpxchg(&run->end_reason, SPEK_REASON_NONE, reason) != SPEK_REASON_NONE)
		return;
	rcu_read_lock();
	workers = rcu_dereference(run->workers);
	for (i = 0; workers && i < run->config->nr_workers; i++)
		spek_worker_kick(workers[i]);
	rcu_read_unlock();
}

void spek_run_report_failed(struct spek_run *run, const struct spek_part *part,
			    blk_status_t status)
{
	if (spek_target_is_gone(part->target))
		spek_run_end(run, SPEK_REASON_DEVICE_GONE);
	if (part->sense.present)
		spek_senses_add(&run->senses, &part->sense);
	if (atomic_cmpxchg(&run->first_error_state, 0, 1))
		return;
	snprintf(run->first_error, sizeof(run->first_error),
		 "%s of %u bytes at byte %llu of %s failed: errno %d",
		 part->slot->op.write ? "write" : "read", part->bytes, part->offset,
		 part->target->name, -blk_status_to_errno(status));
	run->first_sense = part->sense;
	atomic_set_release(&run->first_error_state, 2);
}

void spek_run_count_failed(struct spek_run *run)
{
	u64 errors = atomic64_inc_return(&run->errors);

	if (run->config->max_errors && errors >= run->config->max_errors)
		spek_run_end(run, SPEK_REASON_ERRORS);
}

static void read_clocks(struct spek_clocks *clocks)
{
	clocks->mono_ns = ktime_get_ns();
	clocks->raw_ns = ktime_get_raw_ns();
	clocks->real_ns = ktime_get_real_ns();
}

static void set_state(struct spek_run *run, enum spek_event event)
{
	int next = spek_state_next(run->state, event);

	lockdep_assert_held(&run->news_lock);
	lockdep_assert_held(&run->lock);
	if (WARN_ON_ONCE(next < 0))
		return;
	run->state = next;
}

static void collect(struct spek_run *run)
{
	struct spek_worker **workers = rcu_dereference_protected(run->workers,
								 lockdep_is_held(&run->lock));
	u32 i;

	for (i = 0; workers && i < run->config->nr_workers; i++) {
		struct spek_set *set = spek_worker_take_sealed(workers[i]);

		if (!set)
			continue;
		spek_stats_collect(run->stats, i, set);
		spek_worker_give_back(workers[i]);
	}
}

/* Return: true if the run has begun to drain. */
static bool begins_to_drain(struct spek_run *run)
{
	if (run->state != SPEK_STATE_RUNNING)
		return false;
	if (atomic_read(&run->end_reason) == SPEK_REASON_NONE &&
	    spek_stats_phase(run->stats) != SPEK_PHASE_DRAIN)
		return false;
	set_state(run, SPEK_EVENT_END);
	return true;
}

static void collect_work(struct work_struct *work)
{
	struct spek_run *run = container_of(work, struct spek_run, collect_work);
	bool drains;

	mutex_lock(&run->news_lock);
	mutex_lock(&run->lock);
	collect(run);
	drains = begins_to_drain(run);
	mutex_unlock(&run->lock);
	if (drains)
		spek_notify_state(run);
	mutex_unlock(&run->news_lock);
}

void spek_run_collect(struct spek_run *run)
{
	queue_work(spek_wq, &run->collect_work);
}

/*
 * Take the workers out of everybody's sight and keep what is known of them.
 * Return: the workers, NULL if somebody else has them.
 */
static struct spek_worker **unhook_workers(struct spek_run *run)
{
	struct spek_worker **workers;
	u32 i, k, dir;

	lockdep_assert_held(&run->lock);
	collect(run);
	workers = rcu_replace_pointer(run->workers, NULL, lockdep_is_held(&run->lock));
	for (i = 0; workers && i < run->config->nr_workers; i++) {
		spek_worker_info(workers[i], &run->worker_info[i]);
		for (k = 0; k < run->config->nr_targets; k++) {
			for (dir = 0; dir < 2; dir++) {
				run->count[k].ios[dir] += workers[i]->count[k].ios[dir];
				run->count[k].bytes[dir] += workers[i]->count[k].bytes[dir];
			}
			run->count[k].refused += workers[i]->count[k].refused;
		}
	}
	return workers;
}

/* The workers have ended, or have never begun. After this the devices are free, whoever did it. */
static void release_devices(struct spek_run *run)
{
	struct spek_worker **workers;

	mutex_lock(&run->release_lock);
	mutex_lock(&run->lock);
	workers = unhook_workers(run);
	mutex_unlock(&run->lock);
	if (workers) {
		destroy_workers(run, workers);
		close_targets(run);
	}
	mutex_unlock(&run->release_lock);
}

/* Return: true if the caller took it out of the table and drops that reference. */
static bool remove_run(struct spek_run *run)
{
	bool removed;

	mutex_lock(&spek_table_lock);
	removed = idr_find(&spek_table, run->id) == run;
	if (removed) {
		idr_remove(&spek_table, run->id);
		table_generation += 2;
	}
	mutex_unlock(&spek_table_lock);
	return removed;
}

static void finish_work(struct work_struct *work)
{
	struct spek_run *run = container_of(work, struct spek_run, finish_work);
	struct spek_clocks ended;
	bool orphan;

	read_clocks(&ended);
	release_devices(run);

	mutex_lock(&run->news_lock);
	mutex_lock(&run->lock);
	/* A second stop of a run that has not begun queues this once more. */
	if (spek_states[run->state].has_ended) {
		mutex_unlock(&run->lock);
		mutex_unlock(&run->news_lock);
		spek_run_put(run);
		return;
	}
	spek_stats_flush(run->stats);
	if (run->state == SPEK_STATE_RUNNING)
		set_state(run, SPEK_EVENT_END);
	if (run->state == SPEK_STATE_DRAINING) {
		set_state(run, SPEK_EVENT_DRAINED);
		if (run->verify)
			spek_verify_finished(run->verify);
	} else {
		set_state(run, SPEK_EVENT_END);
	}
	run->ended = ended;
	run->reason = atomic_read(&run->end_reason) ?: SPEK_REASON_COMPLETED;
	orphan = run->orphan;
	mutex_unlock(&run->lock);

	spek_notify_state(run);
	mutex_unlock(&run->news_lock);
	if (orphan && remove_run(run))
		spek_run_put(run);
	spek_run_put(run);
}

void spek_run_worker_ended(struct spek_run *run)
{
	if (atomic_dec_and_test(&run->live_workers))
		queue_work(spek_wq, &run->finish_work);
}

/* ---- what users ask for ---- */

/* Only workers that have work get a share of the counts: the others would never use it up. */
static void share_counts(struct spek_run *run, struct spek_worker **workers)
{
	const struct spek_run_config *config = run->config;
	u32 i, nr = 0, index = 0;

	for (i = 0; i < config->nr_workers; i++)
		nr += spek_worker_prepare(workers[i], run->started.mono_ns);
	for (i = 0; i < config->nr_workers; i++) {
		if (!spek_worker_has_work(workers[i]))
			continue;
		spek_worker_set_counts(workers[i],
				       spek_share(config->ramp_count, index, nr),
				       spek_share(config->count, index, nr));
		index++;
	}
}

int spek_run_start(struct spek_run *run, struct spek_refusal *refusal)
{
	struct spek_worker **workers;
	int err = 0;
	u32 i;

	mutex_lock(&run->news_lock);
	mutex_lock(&run->lock);
	if (atomic_read(&run->end_reason) == SPEK_REASON_DEVICE_GONE &&
	    spek_states[run->state].accepts_start) {
		err = spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENODEV,
				  "A target of the run was removed.");
		goto unlock;
	}
	if (!spek_states[run->state].accepts_start ||
	    atomic_read(&run->end_reason) != SPEK_REASON_NONE) {
		err = spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EBUSY,
				  "The run has been started or has ended: only a run that is READY can be started.");
		goto unlock;
	}
	set_state(run, SPEK_EVENT_START);
	if (run->verify)
		spek_verify_started(run->verify);
	atomic_set(&run->live_workers, run->config->nr_workers);
	kref_get(&run->ref);	/* finish_work */
	read_clocks(&run->started);
	workers = rcu_dereference_protected(run->workers, lockdep_is_held(&run->lock));
	share_counts(run, workers);
	for (i = 0; i < run->config->nr_workers; i++)
		spek_worker_start(workers[i], run->started.mono_ns);
unlock:
	mutex_unlock(&run->lock);
	if (!err)
		spek_notify_state(run);
	mutex_unlock(&run->news_lock);
	return err;
}

int spek_run_stop(struct spek_run *run, struct spek_refusal *refusal)
{
	mutex_lock(&run->lock);
	if (!spek_states[run->state].accepts_stop) {
		mutex_unlock(&run->lock);
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EBUSY,
				   "The run can't be stopped in this state.");
	}
	if (!spek_states[run->state].has_ended) {
		spek_run_end(run, SPEK_REASON_STOPPED);
		/* Nobody else ends what has not begun. */
		if (spek_states[run->state].accepts_start) {
			kref_get(&run->ref);
			if (!queue_work(spek_wq, &run->finish_work))
				kref_put(&run->ref, release_run);
		}
	}
	mutex_unlock(&run->lock);
	return 0;
}

int spek_run_delete(struct spek_run *run, struct spek_refusal *refusal)
{
	mutex_lock(&run->lock);
	if (!spek_states[run->state].accepts_delete) {
		mutex_unlock(&run->lock);
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EBUSY,
				   "The run has I/O in flight: stop it and wait until it is DONE.");
	}
	/* From here on nobody can start it. */
	atomic_cmpxchg(&run->end_reason, SPEK_REASON_NONE, SPEK_REASON_STOPPED);
	mutex_unlock(&run->lock);
	/*
	 * A stop before the start may be about to do the same. The table comes last: a run that
	 * nobody can find any more has given its devices back.
	 */
	flush_work(&run->finish_work);
	release_devices(run);
	if (!remove_run(run))
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENOENT,
				   "There is no run with this number.");
	spek_run_put(run);
	return 0;
}

static void reap_work(struct work_struct *work)
{
	struct spek_run *run = container_of(work, struct spek_run, reap_work);
	struct spek_refusal refusal;

	spek_run_delete(run, &refusal);
	spek_run_put(run);
}

void spek_run_owner_gone(u32 portid)
{
	struct spek_run *run;
	int id;

	mutex_lock(&spek_table_lock);
	idr_for_each_entry(&spek_table, run, id) {
		if (run->config->owner_portid != portid || run->config->detached)
			continue;
		mutex_lock(&run->lock);
		run->orphan = true;
		/* Also where it has not begun: nobody else may start it now. */
		spek_run_end(run, SPEK_REASON_OWNER_GONE);
		if (spek_states[run->state].accepts_delete) {
			kref_get(&run->ref);
			if (!queue_work(spek_wq, &run->reap_work))
				kref_put(&run->ref, release_run);
		}
		mutex_unlock(&run->lock);
	}
	mutex_unlock(&spek_table_lock);
}

/* ---- looking at one ---- */

void spek_run_view(struct spek_run *run, struct spek_run_view *view)
{
	struct spek_worker **workers;
	u32 i;

	memset(view, 0, sizeof(*view));
	mutex_lock(&run->lock);
	view->id = run->id;
	view->state = run->state;
	view->phase = spek_stats_phase(run->stats);
	view->reason = spek_states[run->state].has_ended ? run->reason :
							  atomic_read(&run->end_reason);
	view->started = run->started;
	view->ended = run->ended;
	spek_stats_measured(run->stats, &view->measure_ns, &view->drain_ns);
	if (view->phase != SPEK_PHASE_DRAIN)
		view->drain_ns = 0;
	view->now_ns = ktime_get_ns();
	view->backlog = spek_stats_backlog(run->stats);
	view->intervals = spek_stats_nr_rows(run->stats);
	view->errors = atomic64_read(&run->errors);
	if (atomic_read_acquire(&run->first_error_state) == 2) {
		strscpy(view->first_error, run->first_error, sizeof(view->first_error));
		view->first_sense = run->first_sense;
	}
	workers = rcu_dereference_protected(run->workers, lockdep_is_held(&run->lock));
	for (i = 0; workers && i < run->config->nr_workers; i++) {
		struct spek_worker_info info;

		spek_worker_info(workers[i], &info);
		view->outstanding += info.outstanding;
		view->oldest_ns = max(view->oldest_ns,
				      spek_worker_oldest_ns(workers[i], view->now_ns));
	}
	mutex_unlock(&run->lock);
}

void spek_run_view_worker(struct spek_run *run, u32 index, struct spek_worker_info *info)
{
	struct spek_worker **workers;

	mutex_lock(&run->lock);
	workers = rcu_dereference_protected(run->workers, lockdep_is_held(&run->lock));
	if (workers)
		spek_worker_info(workers[index], info);
	else
		*info = run->worker_info[index];
	mutex_unlock(&run->lock);
}

void spek_run_view_target(struct spek_run *run, u32 index, struct spek_target_view *view)
{
	struct spek_worker **workers;
	u32 i, dir;

	mutex_lock(&run->lock);
	view->target = &run->targets[index];
	view->count = run->count[index];
	workers = rcu_dereference_protected(run->workers, lockdep_is_held(&run->lock));
	for (i = 0; workers && i < run->config->nr_workers; i++) {
		const struct spek_target_count *count = &workers[i]->count[index];

		for (dir = 0; dir < 2; dir++) {
			view->count.ios[dir] += READ_ONCE(count->ios[dir]);
			view->count.bytes[dir] += READ_ONCE(count->bytes[dir]);
		}
		view->count.refused += READ_ONCE(count->refused);
	}
	mutex_unlock(&run->lock);
}

/* ---- module ---- */

int spek_run_init(void)
{
	spek_wq = alloc_workqueue("spek", WQ_UNBOUND, 0);
	return spek_wq ? 0 : -ENOMEM;
}

void spek_run_deinit(void)
{
	/* Each run holds the module: there is none left, only the ends of its work items. */
	destroy_workqueue(spek_wq);
	idr_destroy(&spek_table);
}
