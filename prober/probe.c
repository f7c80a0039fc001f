// SPDX-License-Identifier: GPL-2.0
/*
 * Life of a probe: start, stop, end, release.
 *
 * States and transitions: core/state.c. There is at most one probe, the current one.
 * It is released when it is deleted, replaced by the next start, when its owner's
 * socket closes (unless detached) or when the module is unloaded. A probe whose owner's
 * socket closes while it runs is an orphan: it still goes through STOPPING and is
 * released as soon as it is DONE.
 *
 * References to a probe, and why each one ends:
 *  - current_probe: until it is released, as above;
 *  - the stop work, queued once by whatever makes the probe STOPPING: it waits for the
 *    sampler, which waits for nothing but its timer;
 *  - a dump in progress: until it is read to its end or its socket closes. It reads only the
 *    ring and the descriptions of the sources;
 *  - the sampler thread and the CPU callbacks hold no reference: both have ended before
 *    the stop work makes the probe DONE, and a RUNNING or STOPPING probe is current.
 * A dump in progress also holds a reference to the module (taken by genetlink), so at unload
 * current_probe and the stop work hold the only references, and the queue of the stop
 * work is drained.
 *
 * Lock order: start_lock > probe_lock; start_lock > CPU hotplug lock, rtnl_lock, feeds_lock
 * (feed.c), the block class's lock > locks of the sources; genl->rwsem (kmod/genl/family.c) >
 * probe_lock.
 *  - start_lock serializes starts. A start registers CPU callbacks and may wait for CPU
 *    hotplug operations; requests about the current probe must not wait for that.
 *  - probe_lock protects current_probe, last_probe_id and the fields of struct spek_probe
 *    that say so. Its holder waits for nothing.
 * hotplug_probe belongs to the probe that is being started, is RUNNING or is STOPPING; there
 * is at most one.
 */
#include <linux/cpuhotplug.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "core/state.h"
#include "probe.h"

/* Sources whose cells are filled in for readers come last: the ring has only the cells before. */
static const struct spek_probe_source_ops *const source_ops[SPEK_NR_SOURCES] = {
	&spek_probe_source_cpu,
	&spek_probe_source_switches,
	&spek_probe_source_tasks,
	&spek_probe_source_memory,
	&spek_probe_source_net,
	&spek_probe_source_disk,
	&spek_probe_source_power,
};

static struct workqueue_struct *stop_queue;
static const struct spek_probe_listener *listener;	/* const after init */

static DEFINE_MUTEX(start_lock);	/* serializes starts */
static DEFINE_MUTEX(probe_lock);	/* protects the next 2 */
static struct spek_probe *current_probe;
static u32 last_probe_id;

/*
 * The probe that the CPU callbacks serve, and their registration. Set before they are
 * registered and cleared after they are unregistered, so they need no lock.
 */
static struct spek_probe *hotplug_probe;
static int hotplug_state;

static void read_clocks(struct spek_probe_clocks *clocks)
{
	clocks->mono_ns = ktime_get_ns();
	clocks->raw_ns = ktime_get_raw_ns();
	clocks->real_ns = ktime_get_real_ns();
}

/* ---- CPU hotplug ---- */

static int online_cpu(unsigned int cpu)
{
	struct spek_probe_source *source;

	for (source = hotplug_probe->sources; source < hotplug_probe->sources + SPEK_NR_SOURCES;
	     source++)
		if (source->ops->cpu_up && !source->left_out)
			source->ops->cpu_up(source, cpu);

	/* A CPU that can't be sampled is absent from the rows, but must not be kept offline. */
	return 0;
}

static int offline_cpu(unsigned int cpu)
{
	struct spek_probe_source *source;

	for (source = hotplug_probe->sources; source < hotplug_probe->sources + SPEK_NR_SOURCES;
	     source++)
		if (source->ops->cpu_down && !source->left_out)
			source->ops->cpu_down(source, cpu);
	return 0;
}

/* Calls online_cpu() for every CPU that is online before it returns. */
static int watch_cpus(struct spek_probe *probe)
{
	int state;

	hotplug_probe = probe;
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "spek_prober:online",
				  online_cpu, offline_cpu);
	if (state < 0) {
		hotplug_probe = NULL;
		return state;
	}
	hotplug_state = state;
	return 0;
}

static void unwatch_cpus(void)
{
	/* Without calls to offline_cpu(): the CPUs stay online, and the sources are stopped. */
	cpuhp_remove_state_nocalls(hotplug_state);
	hotplug_probe = NULL;
}

/* ---- life of a probe ---- */

static void release_probe(struct kref *ref)
{
	struct spek_probe *probe = container_of(ref, struct spek_probe, ref);
	unsigned int i;

	for (i = 0; i < SPEK_NR_SOURCES; i++) {
		struct spek_probe_source *source = &probe->sources[i];

		if (source->ops && source->ops->release && !source->left_out)
			source->ops->release(source);
		kvfree(source->entities);
		kvfree(source->names);
	}
	spek_ring_deinit(&probe->ring);
	put_pid(probe->owner_pid);
	if (probe->id)
		listener->released(probe);
	kfree(probe);
}

/**
 * spek_probe_put() - drop a reference
 * @probe: probe, or NULL
 *
 * Context: process.
 */
void spek_probe_put(struct spek_probe *probe)
{
	if (probe)
		kref_put(&probe->ref, release_probe);
}

/**
 * spek_probe_get_current() - take a reference to the current probe
 *
 * Context: process.
 * Return: the probe, for spek_probe_put(), or NULL if there is none.
 */
struct spek_probe *spek_probe_get_current(void)
{
	struct spek_probe *probe;

	mutex_lock(&probe_lock);
	probe = current_probe;
	if (probe)
		kref_get(&probe->ref);
	mutex_unlock(&probe_lock);
	return probe;
}

/**
 * spek_probe_read_status() - read the fields that the probe lock protects
 * @probe: probe; the caller holds a reference
 * @status: filled in
 *
 * Context: process.
 */
void spek_probe_read_status(struct spek_probe *probe, struct spek_probe_status *status)
{
	mutex_lock(&probe_lock);
	status->state = probe->state;
	status->reason = probe->reason;
	status->ended = probe->ended;
	mutex_unlock(&probe_lock);
}

static int change_state(struct spek_probe *probe, enum spek_probe_event event)
{
	int next = spek_probe_next_state(probe->state, event);

	lockdep_assert_held(&probe_lock);

	if (next < 0)
		return next;
	probe->state = next;
	return 0;
}

/* Unset the current probe. Return: the probe, with the reference of current_probe, or NULL */
static struct spek_probe *take_current(void)
{
	struct spek_probe *probe = current_probe;

	lockdep_assert_held(&probe_lock);
	current_probe = NULL;
	return probe;
}

static void stop_sources(struct spek_probe *probe)
{
	int i;

	for (i = SPEK_NR_SOURCES - 1; i >= 0; i--)
		if (probe->sources[i].ops && !probe->sources[i].left_out)
			probe->sources[i].ops->stop(&probe->sources[i]);
}

/* Thousands of disks or interfaces take only their own table out of the rows. */
static void leave_out_if_too_long(struct spek_probe_source *source)
{
	if (listener->can_describe(source))
		return;
	source->ops->stop(source);
	if (source->ops->release)
		source->ops->release(source);
	source->left_out = source->nr_entities;
	source->nr_entities = 0;
}

static int start_sources(struct spek_probe *probe, const struct spek_probe_config *config)
{
	u32 cells = 0, filled = 0;
	unsigned int i;
	int err;

	for (i = 0; i < SPEK_NR_SOURCES; i++) {
		struct spek_probe_source *source = &probe->sources[i];

		source->ops = source_ops[i];
		err = source->ops->start(source, config);
		if (err) {
			stop_sources(probe);
			return err;
		}
		leave_out_if_too_long(source);
		source->first_cell = cells;
		cells += source->nr_entities * source->ops->nr_columns;
		if (source->ops->fill)
			filled += source->nr_entities * source->ops->nr_columns;
	}
	probe->row_words = sizeof(struct spek_probe_row) / sizeof(u64) + cells;
	probe->ring_words = probe->row_words - filled;
	return 0;
}

static void finish_stop(struct work_struct *work)
{
	struct spek_probe *probe = container_of(work, struct spek_probe, stop_work);
	struct spek_probe *gone = NULL;

	spek_sampler_stop(&probe->sampler);
	unwatch_cpus();
	stop_sources(probe);

	mutex_lock(&probe_lock);
	read_clocks(&probe->ended);
	WARN_ON_ONCE(change_state(probe, SPEK_PROBE_EVENT_ENDED));
	if (probe->is_orphan && !change_state(probe, SPEK_PROBE_EVENT_RELEASE))
		gone = take_current();
	mutex_unlock(&probe_lock);

	listener->changed(probe);
	spek_probe_put(gone);
	spek_probe_put(probe);
}

static void request_stop(struct spek_probe *probe, enum spek_prober_reason reason)
{
	enum spek_prober_probe_state before = probe->state;

	lockdep_assert_held(&probe_lock);

	if (change_state(probe, SPEK_PROBE_EVENT_STOP) || probe->state == before)
		return;
	probe->reason = reason;
	kref_get(&probe->ref);
	queue_work(stop_queue, &probe->stop_work);
}

/* Get memory for the cells of rows that the ring does not have. */
static int keep_cells(struct spek_probe *probe)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < SPEK_NR_SOURCES && !err; i++) {
		struct spek_probe_source *source = &probe->sources[i];

		if (source->ops->keep && !source->left_out)
			err = source->ops->keep(source, &probe->ring);
	}
	return err;
}

static int make_ring(struct spek_probe *probe, u32 rows, struct spek_refusal *refusal)
{
	size_t row_bytes = spek_probe_row_bytes(probe);
	u32 max_rows = SPEK_PROBER_MAX_RING_BYTES / row_bytes;
	int err;

	if (!rows)
		rows = min_t(u32, max_rows, SPEK_PROBER_DEFAULT_RING_ROWS);
	if (rows > max_rows || max_rows < SPEK_PROBER_MIN_RING_ROWS)
		return spek_refuse(refusal, SPEK_PROBE_PART_RING_ROWS, 0, -ERANGE,
				   "The rows need more than the 256 MiB allowed: keep fewer.");
	err = spek_ring_init(&probe->ring, rows, probe->ring_words);
	if (!err)
		err = keep_cells(probe);
	if (err)
		return spek_refuse(refusal, SPEK_PROBE_PART_RING_ROWS, 0, err,
				   "There is not enough memory for the rows: keep fewer.");
	return 0;
}

static struct spek_probe *create_probe(const struct spek_probe_config *config,
				       struct spek_refusal *refusal)
{
	struct spek_probe *probe;
	int err;

	probe = kzalloc(sizeof(*probe), GFP_KERNEL);
	if (!probe)
		return ERR_PTR(spek_refuse(refusal, SPEK_PROBE_PART_REQUEST, 0, -ENOMEM,
					   "There is not enough memory for a probe."));
	kref_init(&probe->ref);
	INIT_WORK(&probe->stop_work, finish_stop);
	probe->sampler.sources = probe->sources;
	probe->sampler.ring = &probe->ring;
	probe->sampler.interval_ns = config->request.interval_ns;
	probe->portid = config->portid;
	probe->detached = config->request.detached;
	probe->owner_pid = get_pid(task_tgid(current));
	get_task_comm(probe->owner_name, current->group_leader);

	err = start_sources(probe, config);
	if (err) {
		spek_refuse(refusal, SPEK_PROBE_PART_REQUEST, 0, err,
			    "There is not enough memory for the tables.");
		goto err_put;
	}
	err = make_ring(probe, config->request.ring_rows, refusal);
	if (err)
		goto err_stop_sources;
	return probe;

err_stop_sources:
	stop_sources(probe);
err_put:
	spek_probe_put(probe);
	return ERR_PTR(err);
}

static int run_probe(struct spek_probe *probe, struct spek_refusal *refusal)
{
	unsigned int i;
	int err;

	err = spek_sampler_create(&probe->sampler);
	if (err)
		return spek_refuse(refusal, SPEK_PROBE_PART_REQUEST, 0, err,
				   "The kernel could not create the sampling thread.");
	err = watch_cpus(probe);
	if (err) {
		spek_sampler_stop(&probe->sampler);
		return spek_refuse(refusal, SPEK_PROBE_PART_REQUEST, 0, err,
				   "The kernel could not register the CPU hotplug callbacks.");
	}
	for (i = 0; i < SPEK_NR_SOURCES; i++)
		if (probe->sources[i].ops->ready && !probe->sources[i].left_out)
			probe->sources[i].ops->ready(&probe->sources[i]);

	probe->thread_pid = task_pid_nr(probe->sampler.thread);
	read_clocks(&probe->started);
	spek_sampler_start(&probe->sampler, probe->started.mono_ns);
	return 0;
}

/* Return: 0 if a probe may start, which holds until start_lock is released, or -EBUSY */
static int check_room(struct spek_refusal *refusal)
{
	int err = 0;

	lockdep_assert_held(&start_lock);

	mutex_lock(&probe_lock);
	if (current_probe && !spek_probe_states[current_probe->state].makes_room)
		err = spek_refuse(refusal, SPEK_PROBE_PART_REQUEST, 0, -EBUSY,
				  "The prober is already sampling: stop its probe and wait for the end.");
	mutex_unlock(&probe_lock);
	return err;
}

/* Make @probe current; takes a reference. Return: the previous probe with its reference, or NULL */
static struct spek_probe *publish_probe(struct spek_probe *probe)
{
	struct spek_probe *old;

	lockdep_assert_held(&start_lock);

	mutex_lock(&probe_lock);
	old = take_current();
	if (old)
		WARN_ON_ONCE(change_state(old, SPEK_PROBE_EVENT_RELEASE));
	WARN_ON_ONCE(change_state(probe, SPEK_PROBE_EVENT_START));
	probe->id = ++last_probe_id;
	current_probe = probe;
	kref_get(&probe->ref);
	mutex_unlock(&probe_lock);
	return old;
}

/**
 * spek_probe_start() - create a probe and start it
 * @config: configuration, within the contract's limits
 * @id: filled with its number
 * @refusal: filled in on failure
 *
 * Context: process, may sleep; current becomes the owner.
 * Return: 0, -EBUSY if a probe runs or stops, -ERANGE if its ring would be too large,
 *	-ENOMEM, or a negative errno from creating the thread or the CPU callbacks.
 */
int spek_probe_start(const struct spek_probe_config *config, u32 *id,
		     struct spek_refusal *refusal)
{
	struct spek_probe *probe, *old;
	int err;

	mutex_lock(&start_lock);
	err = check_room(refusal);
	if (err)
		goto out_unlock;
	probe = create_probe(config, refusal);
	if (IS_ERR(probe)) {
		err = PTR_ERR(probe);
		goto out_unlock;
	}
	err = run_probe(probe, refusal);
	if (err) {
		stop_sources(probe);
		spek_probe_put(probe);
		goto out_unlock;
	}
	old = publish_probe(probe);
	*id = probe->id;
	mutex_unlock(&start_lock);

	listener->changed(probe);
	spek_probe_put(probe);
	spek_probe_put(old);
	return 0;

out_unlock:
	mutex_unlock(&start_lock);
	return err;
}

/* Return: 0 if the current probe has number @id, or -ENOENT */
static int check_id(u32 id, struct spek_refusal *refusal)
{
	lockdep_assert_held(&probe_lock);

	if (!current_probe)
		return spek_refuse(refusal, SPEK_PROBE_PART_ID, 0, -ENOENT,
				   "There is no probe: start one first.");
	if (current_probe->id != id)
		return spek_refuse(refusal, SPEK_PROBE_PART_ID, 0, -ENOENT,
				   "There is no probe with this number.");
	return 0;
}

/**
 * spek_probe_stop() - ask a probe to end
 * @id: its number
 * @refusal: filled in on failure
 *
 * Context: process. Doesn't wait for the end.
 * Return: 0, also if it is ending or has ended already, or -ENOENT.
 */
int spek_probe_stop(u32 id, struct spek_refusal *refusal)
{
	int err;

	mutex_lock(&probe_lock);
	err = check_id(id, refusal);
	if (!err)
		request_stop(current_probe, SPEK_PROBER_REASON_STOPPED);
	mutex_unlock(&probe_lock);
	return err;
}

/**
 * spek_probe_del() - release a probe that is DONE
 * @id: its number
 * @refusal: filled in on failure
 *
 * Context: process.
 * Return: 0, -ENOENT or, before its end, -EBUSY.
 */
int spek_probe_del(u32 id, struct spek_refusal *refusal)
{
	struct spek_probe *gone = NULL;
	int err;

	mutex_lock(&probe_lock);
	err = check_id(id, refusal);
	if (err)
		goto out_unlock;
	err = change_state(current_probe, SPEK_PROBE_EVENT_RELEASE);
	if (err)
		spek_refuse(refusal, SPEK_PROBE_PART_ID, 0, err,
			    "The probe has not ended: stop it first.");
	else
		gone = take_current();

out_unlock:
	mutex_unlock(&probe_lock);
	spek_probe_put(gone);
	return err;
}

/**
 * spek_probe_owner_gone() - a generic netlink socket was closed
 * @portid: its number
 *
 * Context: process.
 */
void spek_probe_owner_gone(u32 portid)
{
	struct spek_probe *probe, *gone = NULL;

	mutex_lock(&probe_lock);
	probe = current_probe;
	if (probe && !probe->detached && probe->portid == portid) {
		if (!change_state(probe, SPEK_PROBE_EVENT_RELEASE)) {
			gone = take_current();
		} else {
			probe->is_orphan = true;
			request_stop(probe, SPEK_PROBER_REASON_OWNER_GONE);
		}
	}
	mutex_unlock(&probe_lock);

	spek_probe_put(gone);
}

/**
 * spek_probe_init() - initialize this file
 * @probe_listener: callbacks, called from now until spek_probe_exit() returns
 *
 * Return: 0 or -ENOMEM.
 */
int spek_probe_init(const struct spek_probe_listener *probe_listener)
{
	listener = probe_listener;
	/* A queue of its own can be drained at unload; it has no thread while idle. */
	stop_queue = alloc_workqueue("spek_prober", WQ_UNBOUND, 1);
	return stop_queue ? 0 : -ENOMEM;
}

/**
 * spek_probe_exit() - stop and release the probe
 *
 * Context: process, waits for the sampler. No further probe can be started.
 */
void spek_probe_exit(void)
{
	struct spek_probe *probe;

	mutex_lock(&probe_lock);
	if (current_probe)
		request_stop(current_probe, SPEK_PROBER_REASON_UNLOAD);
	mutex_unlock(&probe_lock);

	destroy_workqueue(stop_queue);

	mutex_lock(&probe_lock);
	probe = take_current();
	mutex_unlock(&probe_lock);
	spek_probe_put(probe);
}
