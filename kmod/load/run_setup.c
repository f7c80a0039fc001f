// SPDX-License-Identifier: GPL-2.0
/*
 * Setting up what a run consists of, and releasing it: claims, verification, logs, workers.
 *
 * Workers and targets exist from spek_run_setup() to spek_run_release_devices(). They are released
 * in two phases, under run->release_lock. Make dead: run->workers is unpublished under run->lock,
 * so that netlink and the collector no longer find them, then outcome.tasks. Then wait for the
 * threads to end and for a grace period, after which nothing uses them: not completions (all I/O
 * has completed, and the last end_io has returned), not spek_outcome_end() or spek_outcome_wake()
 * (RCU readers). Then release.
 *
 * A run that continues another one takes the lock of that run only, with no other lock held.
 */
#include <linux/slab.h>
#include "claim.h"
#include "config.h"
#include "core/share.h"
#include "iolog.h"
#include "replay.h"
#include "run.h"
#include "run_setup.h"
#include "submit.h"
#include "validate.h"
#include "verify.h"
#include "worker_state.h"
#include "zone.h"

static const char no_memory[] =
	"There is not enough memory: fewer outstanding I/Os, workers or replicas need less.";

/* ---- targets ---- */

static void device_gone(void *holder)
{
	struct spek_run *run = holder;

	spek_outcome_end(&run->outcome, SPEK_REASON_DEVICE_GONE);
}

static const struct spek_compat_holder_ops holder_ops = {
	.gone = device_gone,
};

static void close_targets(struct spek_run *run)
{
	u32 i;

	for (i = 0; i < run->config->nr_targets; i++)
		spek_target_close(&run->targets[i]);
	if (run->claim)
		spek_claim_give_back(run->claim, run->config);
	run->claim = NULL;
}

static int open_targets(struct spek_run *run, struct spek_refusal *refusal)
{
	const struct spek_run_config *config = run->config;
	struct spek_target_request request = {
		.chunk_bytes = run->shape.chunk_bytes,
		.holder = run,
		.ops = &holder_ops,
		.backend = config->backend,
		.polled = config->polled,
		.shared = config->nr_targets > 1,
		.plain = spek_workload_is_plain(&config->workload),
		.choose = spek_backend_choose,
	};
	u32 i;
	int err;

	for (i = 0; i < config->nr_targets; i++) {
		struct spek_target *target = &run->targets[i];

		refusal->kind = SPEK_REFUSAL_TARGET;
		refusal->index = i;
		request.dev = spek_config_dev(config, i);
		request.write = spek_config_may_write(config, i);
		if (run->claim)
			request.lent = spek_claim_lend(run->claim, request.dev, &run->outcome,
						       refusal);
		if (IS_ERR(request.lent))
			return PTR_ERR(request.lent);
		err = spek_target_open(target, &request, refusal);
		if (err)
			return err;
		if (config->target[i].diskseq && config->target[i].diskseq != target->diskseq)
			return spek_refuse_part(refusal, -ENODEV,
						"The disk was replaced after it was checked: check it again.");
		run->polls |= target->polled;
	}
	return 0;
}

/* ---- verification ---- */

/* @from: run to continue, or NULL */
static int create_verify(struct spek_run *run, struct spek_run *from,
			 struct spek_refusal *refusal)
{
	int err;

	if (!from)
		return spek_verify_create(&run->verify, run->config, run->targets,
					  run->shape.chunk_bytes, NULL, refusal);
	mutex_lock(&from->lock);
	if (!spek_states[from->state].has_ended)
		err = spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EBUSY,
				  "The run to continue has not ended.");
	/* A run that failed, or was deleted while it opened its devices, is incomplete. */
	else if (!spek_run_verify(from))
		err = spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EINVAL,
				  "The run to continue has no stamped data.");
	else
		err = spek_verify_create(&run->verify, run->config, run->targets,
					 run->shape.chunk_bytes, from->verify->map, refusal);
	mutex_unlock(&from->lock);
	return err;
}

/* ---- logs ---- */

/**
 * spek_run_remove_files() - remove the files of a run's logs
 * @run: its open_work has ended
 *
 * No further reader opens a log; those that have one open may read it to its end. May be called
 * again.
 *
 * Context: process.
 */
void spek_run_remove_files(struct spek_run *run)
{
	spek_iolog_rmdir(run->log_dentry);
	run->log_dentry = NULL;
}

static void destroy_logs(struct spek_run *run)
{
	u32 i;

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
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENOMEM, no_memory);
	run->log_dentry = spek_iolog_mkdir(run->id, run->log_dir, sizeof(run->log_dir));
	if (IS_ERR(run->log_dentry)) {
		int err = PTR_ERR(run->log_dentry);

		run->log_dentry = NULL;
		if (err == -ENOMEM)
			return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, err, no_memory);
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EOPNOTSUPP, no_files);
	}
	for (i = 0; i < config->nr_workers; i++) {
		struct spek_iolog *log = spek_iolog_create(run->log_dentry, i, config->log_records,
							   cpu_to_node(config->worker[i].cpu));

		if (IS_ERR(log) && PTR_ERR(log) != -ENOMEM)
			return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EOPNOTSUPP, no_files);
		if (IS_ERR(log))
			return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENOMEM, no_memory);
		run->log[i] = log;
	}
	return 0;
}

/* ---- workers ---- */

/* Free workers that are unpublished: wait for their threads and for RCU readers. */
static void destroy_workers(struct spek_run *run, struct spek_worker **workers)
{
	u32 i, nr = run->config->nr_workers;

	for (i = 0; i < nr; i++)
		if (workers[i])
			spek_worker_join(workers[i]);
	synchronize_rcu();
	cancel_work_sync(&run->collect_work);
	for (i = 0; i < nr; i++)
		if (workers[i])
			spek_worker_destroy(workers[i]);
	kfree(workers);
}

static int create_workers(struct spek_run *run, const struct spek_worker_ops *ops)
{
	const struct spek_run_config *config = run->config;
	const struct spek_worker_setup setup = {
		.run_id = run->id,
		.config = config,
		.targets = run->targets,
		.shape = &run->shape,
		.polls = run->polls,
		.verify = run->verify,
		.replay = run->replay,
		.zones = run->zones,
		.outcome = &run->outcome,
		.phase_ends = run->phase_end,
		.ops = ops,
		.owner = run,
	};
	u64 left = config->max_outstanding, all = 0;
	struct spek_worker **workers;
	struct spek_tasks *tasks;
	u32 i;

	workers = kcalloc(config->nr_workers, sizeof(*workers), GFP_KERNEL);
	tasks = kzalloc(struct_size(tasks, task, config->nr_workers), GFP_KERNEL);
	if (!workers || !tasks) {
		kfree(workers);
		kfree(tasks);
		return -ENOMEM;
	}
	/* A slot for each worker that may have I/O, and its part of the others by its load. */
	for (i = 0; i < config->nr_workers; i++) {
		u64 load = spek_share_load(&config->workload, i, config->nr_workers);

		all += load;
		left -= !!load;
	}
	for (i = 0; i < config->nr_workers; i++) {
		u64 load = spek_share_load(&config->workload, i, config->nr_workers);
		u32 nr_slots = !!load + spek_share_part(&left, load, all);
		struct spek_worker *worker;

		all -= load;
		worker = spek_worker_create(&setup, i, nr_slots, run->log ? run->log[i] : NULL);
		if (IS_ERR(worker)) {
			destroy_workers(run, workers);
			kfree(tasks);
			return PTR_ERR(worker);
		}
		workers[i] = worker;
		tasks->task[i] = worker->task;
	}
	tasks->nr = config->nr_workers;
	mutex_lock(&run->lock);
	run->workers = workers;
	rcu_assign_pointer(run->outcome.tasks, tasks);
	mutex_unlock(&run->lock);
	return 0;
}

/**
 * spek_run_unhook_workers() - unpublish the workers and keep what is known of them
 * @run: the caller holds run->lock and has collected what workers have sealed
 *
 * Return: the workers for spek_run_release_devices(), or NULL if there are none.
 */
struct spek_worker **spek_run_unhook_workers(struct spek_run *run)
{
	struct spek_worker **workers = run->workers;
	u32 i, k;

	lockdep_assert_held(&run->lock);
	for (i = 0; workers && i < run->config->workload.nr_arrivals; i++)
		run->arrival_end_ns[i] = spek_run_arrival_end(run, i);
	run->workers = NULL;
	for (i = 0; workers && i < run->config->nr_workers; i++) {
		spek_worker_info(workers[i], &run->worker_info[i]);
		for (k = 0; k < run->config->nr_targets; k++)
			spek_worker_add_counts(workers[i], k, &run->count[k]);
	}
	return workers;
}

/**
 * spek_run_release_devices() - destroy workers and give devices back
 * @run: the caller holds run->release_lock and no other lock
 * @workers: from spek_run_unhook_workers(); NULL: there is nothing to do
 *
 * Waits for the workers' threads, which have ended or never begun. The devices are free on
 * return.
 *
 * Context: process, may sleep.
 */
void spek_run_release_devices(struct spek_run *run, struct spek_worker **workers)
{
	struct spek_tasks *tasks;

	lockdep_assert_held(&run->release_lock);
	if (!workers)
		return;
	tasks = rcu_replace_pointer(run->outcome.tasks, NULL,
				    lockdep_is_held(&run->release_lock));
	destroy_workers(run, workers);
	/* destroy_workers() waited for a grace period. */
	kfree(tasks);
	close_targets(run);
}

/* ---- the whole ---- */

static bool needs_read_buffers(const struct spek_workload *wl)
{
	u32 i;

	for (i = 0; i < wl->nr_streams; i++)
		if (wl->stream[i].read_ppm)
			return true;
	return false;
}

/**
 * spek_run_alloc() - allocate a run in state OPENING
 * @config: const from now on; stays the caller's
 *
 * The work items are the caller's to initialise.
 *
 * Context: process, may sleep.
 * Return: the run with one reference, or NULL.
 */
struct spek_run *spek_run_alloc(struct spek_run_config *config)
{
	const struct spek_workload *wl = &config->workload;
	struct spek_run *run = kzalloc(sizeof(*run), GFP_KERNEL);

	if (!run)
		return NULL;
	kref_init(&run->ref);
	mutex_init(&run->lock);
	mutex_init(&run->notify_lock);
	mutex_init(&run->release_lock);
	mutex_init(&run->collect_lock);
	run->config = config;
	run->state = SPEK_STATE_OPENING;
	run->outcome.max_errors = config->max_errors;
	run->shape.buffer_bytes = spek_workload_max_bytes(wl);
	run->shape.chunk_bytes = spek_slot_chunk_bytes(run->shape.buffer_bytes);
	run->shape.reads = needs_read_buffers(wl);
	run->shape.writes = spek_workload_writes(wl);
	run->shape.random = config->data == SPEK_DATA_RANDOM;
	run->shape.seed = config->seed;
	run->targets = kcalloc(config->nr_targets, sizeof(*run->targets), GFP_KERNEL);
	run->worker_info = kcalloc(config->nr_workers, sizeof(*run->worker_info), GFP_KERNEL);
	run->stats = spek_stats_create(wl, config->nr_workers, config->interval_ns);
	if (!run->targets || !run->worker_info || !run->stats) {
		spek_run_free(run);
		return NULL;
	}
	return run;
}

/**
 * spek_run_free() - free a run without workers and open targets
 * @run: run
 *
 * Its config stays the caller's, who frees it afterwards.
 */
void spek_run_free(struct spek_run *run)
{
	spek_run_remove_files(run);
	destroy_logs(run);
	spek_verify_destroy(run->verify);
	spek_replay_destroy(run->replay);
	spek_zone_map_destroy(run->zones);
	spek_stats_destroy(run->stats);
	kfree(run->targets);
	kfree(run->worker_info);
	kfree(run);
}

/**
 * spek_run_setup() - claim the devices of a run and prepare its workers
 * @run: OPENING; netlink may look at it meanwhile
 * @from: run whose stamped data it continues, or NULL
 * @ops: what workers call, with @run as their owner
 * @refusal: filled in on failure
 *
 * May wait for a device for arbitrarily long.
 *
 * Context: process; no lock held.
 * Return: 0, or a negative errno with no device claimed.
 */
int spek_run_setup(struct spek_run *run, struct spek_run *from,
		   const struct spek_worker_ops *ops, struct spek_refusal *refusal)
{
	const struct spek_run_config *config = run->config;
	int err;

	err = open_targets(run, refusal);
	if (err)
		goto err_close_targets;
	err = spek_validate_devices(&config->workload, run->targets, refusal);
	if (err)
		goto err_close_targets;
	err = spek_zone_map_create(&run->zones, config, run->targets, refusal);
	if (err)
		goto err_close_targets;
	if (config->data == SPEK_DATA_STAMPED) {
		err = create_verify(run, from, refusal);
		if (err)
			goto err_close_targets;
	}
	run->shape.max_parts = spek_validate_max_parts(&config->workload, run->targets,
						       run->shape.buffer_bytes);
	if (!spek_validate_memory(config, &run->shape)) {
		err = spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENOMEM, no_memory);
		goto err_close_targets;
	}
	if (spek_workload_replays(&config->workload)) {
		run->replay = spek_replay_create(config, run->targets, &run->outcome);
		if (!run->replay) {
			err = spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENOMEM, no_memory);
			goto err_close_targets;
		}
	}
	err = create_logs(run, refusal);
	if (err)
		goto err_close_targets;
	err = create_workers(run, ops);
	if (err) {
		spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, err, no_memory);
		goto err_close_targets;
	}
	return 0;

err_close_targets:
	close_targets(run);
	return err;
}
