// SPDX-License-Identifier: GPL-2.0
/*
 * The worker: a thread that generates, issues and accounts the I/Os of one CPU.
 *
 * The thread owns its generator, its free slots and its active set, and takes no lock of this
 * module but verify->lock, with stamped data. Completions run anywhere: they add the slot to the
 * lock-free list inflight.done and wake the thread if it has declared itself idle. The thread does
 * everything else, in the order of its loop: account completions (reap), issue what is due
 * (worker_issue.c), seal the set at the end of a row or phase (worker_phase.c), wait.
 *
 * An operation may have to wait for another one: with stamped data on its blocks (verify.c), or on
 * its zone (zone.c); or the driver has no room for it. It waits in the line of its target
 * (worker_line.c), as do later ones for this target; the worker serves the others.
 *
 * Lost wakeups are excluded by a full barrier on both sides:
 *   thread:     idle = true;       read done;  sleep if it is empty
 *   completion: add slot to done;  read idle;  wake the thread if it is true
 * The same holds for whatever else wakes it: it is noted before idle is read (zone.c, room.c).
 *
 * Lifetime: the thread ends once its run has ended (or its count is reached) and no I/O is
 * outstanding. Others may then still use the worker:
 *  - the last completion, from adding its slot to done until it has read idle, in an RCU read
 *    section: memory is freed after a grace period;
 *  - the collector and netlink, which find the worker under run->lock: run.c unhooks it first.
 *
 * Cache lines: workers share none that any of them writes for an I/O. Each has its own copy of the
 * targets, its generator, sets, slots with their parts, pollers and log, in allocations that begin
 * a line; of what the run owns it reads the configuration, which is const, and the reason
 * for the end, which is written once. The lines of a worker that other CPUs write are the
 * completion list with spek_inflight.idle, if its device interrupts another CPU, and the one of
 * phases.sealed, which the worker looks at when an interval ends. A worker whose share of a count
 * is complete also reads the common end of the phase, which is written once.
 */
#include <linux/blk-mq.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include "config.h"
#include "core/gen_simple.h"
#include "iolog.h"
#include "memory.h"
#include "outcome.h"
#include "poll.h"
#include "replay.h"
#include "trace.h"
#include "verify.h"
#include "worker.h"
#include "worker_arm.h"
#include "worker_issue.h"
#include "worker_line.h"
#include "worker_phase.h"
#include "worker_state.h"
#include "zone.h"

#define RETRY_SPIN_NS	(16 * NSEC_PER_USEC)	/* not worth going to sleep for */

/* What others write begins a cache line, and what is the worker's does not share one with it. */
static_assert(offsetof(struct spek_worker, inflight) % SMP_CACHE_BYTES == 0);
static_assert(offsetof(struct spek_inflight, done) % SMP_CACHE_BYTES == 0);
static_assert(offsetof(struct spek_inflight, done) >=
	      offsetofend(struct spek_inflight, nowait_bio));
static_assert(offsetof(struct spek_worker, phases) % SMP_CACHE_BYTES == 0);
static_assert(offsetof(struct spek_phases, sealed) % SMP_CACHE_BYTES == 0);
static_assert(offsetof(struct spek_phases, sealed) >=
	      offsetofend(struct spek_phases, measure_count));
/* kmalloc() aligns objects of more than 96 bytes to cache lines. */
static_assert(sizeof(struct spek_slot) > 96);
static_assert(sizeof(struct spek_part) > 96);
static_assert(sizeof(struct spek_set) + 2 * sizeof(struct spek_cell *) > 96);
static_assert(sizeof(struct spek_poller) > 96);
static_assert(sizeof(struct spek_target) > 96);

static bool has_ended(const struct spek_worker *w)
{
	return spek_outcome_has_ended(w->inflight.outcome);
}

/* ---- accounting ---- */

static noinline void complete_share(struct spek_worker *w, u64 now_ns)
{
	spek_worker_complete_share(w, now_ns);
	/* It was the last share: the phase ends here. */
	if (now_ns >= w->phases.course.common_end_ns)
		spek_worker_pass_boundary(w, w->phases.course.phase_end_ns);
}

static void log_slot(const struct spek_worker *w, struct spek_iolog *log,
		     const struct spek_slot *slot, u64 done_ns, u8 error)
{
	const struct spek_op op = slot->op;	/* a copy: stores to the record can't change it */
	struct spek_log_record *record;

	if (unlikely(!spek_iolog_has_room(log)))
		return;
	record = spek_iolog_next(log);
	record->at_ns = op.at_ns;
	record->issue_ns = slot->issue_ns;
	record->done_ns = done_ns;
	record->addr = op.addr;
	record->bytes = op.bytes;
	record->replica = op.replica;
	record->stream = op.stream;
	record->worker = w->index;
	record->asu = op.asu;
	record->write = op.write;
	record->phase = w->phases.course.phase;
	record->error = error;
	spek_iolog_commit(log, record);
}

static void report_end(struct spek_worker *w, struct spek_slot *slot, u64 done_ns, u8 error)
{
	if (w->log)
		log_slot(w, w->log, slot, done_ns, error);
	if (likely(!w->tracked))
		return;
	if (w->replay)
		spek_replay_complete(w->replay, &slot->op);
	if (w->verify)
		spek_verify_end(w->verify, slot, &w->issue.lane[slot->op.asu].map);
	if (!w->zone_gate)
		return;
	if (spek_zone_end(w->zone_gate, slot))
		spek_worker_leave_zone(w, slot);
	spek_worker_note_zone(w, slot);
}

static void account_slot(struct spek_worker *w, struct spek_slot *slot)
{
	const struct spek_op *op = &slot->op;
	/* Clocks of CPUs may differ slightly: an I/O must not end before it began. */
	u64 done_ns = max(slot->done_ns, slot->issue_ns);
	struct spek_cell *cell;
	u8 error = 0;

	if (unlikely(done_ns >= w->phases.course.boundary_ns))
		spek_worker_pass_boundary(w, done_ns);
	cell = w->phases.active->cell[2u * op->stream + op->write];
	cell->requests += slot->nr_parts;
	if (likely(!slot->status)) {
		cell->ios++;
		cell->bytes += op->bytes;
		spek_metric_add(&cell->metric[SPEK_METRIC_RESPONSE], done_ns - op->at_ns);
		spek_metric_add(&cell->metric[SPEK_METRIC_SERVICE], done_ns - slot->issue_ns);
		spek_metric_add(&cell->metric[SPEK_METRIC_SLIP], slot->issue_ns - op->at_ns);
	} else {
		error = -blk_status_to_errno(slot->status);
		cell->requests -= slot->nr_failed;
		slot->nr_failed = 0;
		cell->errors++;
		cell->error[min_t(u32, (__force u8)slot->status, SPEK_NR_STATUS - 1)]++;
		spek_outcome_count_failed(w->inflight.outcome);
		if (has_ended(w))
			w->phases.issue_left = 0;
	}
	trace_spek_io_complete(w, slot, done_ns);
	if (w->watched)
		report_end(w, slot, done_ns, error);
	if (spek_gen_has_closed(w->gen) &&
	    !spek_gen_complete_simple(w->gen, op->arrival, done_ns))
		spek_gen_complete(w->gen, op->arrival, done_ns);
	WRITE_ONCE(slot->busy, false);
	slot->next_free = w->issue.free;
	w->issue.free = slot;
	WRITE_ONCE(w->inflight.outstanding, w->inflight.outstanding - 1);
	if (unlikely(!--w->phases.phase_left))
		complete_share(w, done_ns);
}

/* Account completions. Return: true if there were any */
static bool reap_completions(struct spek_worker *w)
{
	struct llist_node *list;
	struct spek_slot *slot, *next;

	if (llist_empty(&w->inflight.done))
		return false;
	list = llist_del_all(&w->inflight.done);
	if (list->next)
		list = llist_reverse_order(list);
	if (unlikely(w->issue.lines))
		spek_worker_note_room(w, list);
	llist_for_each_entry_safe(slot, next, list, done)
		account_slot(w, slot);
	return true;
}

/* ---- waiting ---- */

/* Next time at which the thread has to act even without a completion. */
static u64 next_event_ns(struct spek_worker *w)
{
	return min(w->phases.course.boundary_ns, spek_worker_next_issue_ns(w));
}

/* Return: true if something that wakes the thread, other than a completion, happened already */
static bool has_news(const struct spek_worker *w)
{
	if (w->zone_gate && spek_zone_has_news(w->zone_gate))
		return true;
	if (w->issue.lines && spek_worker_has_room(w))
		return true;
	/* Once the run has ended there is only what waits to be sent, to be dropped. */
	if (w->phases.course.phase == SPEK_PHASE_DRAIN)
		return w->inflight.unsent && has_ended(w);
	return has_ended(w) || spek_worker_may_learn_end(&w->phases) ||
	       (w->replay && spek_replay_has_news(w->replay, w->gen));
}

static void wait_for_event(struct spek_worker *w, u64 now_ns)
{
	u64 until_ns = next_event_ns(w);
	ktime_t expires;

	if (until_ns <= now_ns || (w->inflight.outstanding && now_ns < w->spin_end_ns) ||
	    (w->issue.lines && until_ns <= now_ns + RETRY_SPIN_NS)) {
		cpu_relax();
		return;
	}
	WRITE_ONCE(w->inflight.idle, true);
	set_current_state(TASK_IDLE);
	if (llist_empty(&w->inflight.done) && !has_news(w)) {
		expires = ns_to_ktime(min_t(u64, until_ns, KTIME_MAX));
		schedule_hrtimeout_range(&expires, 0, HRTIMER_MODE_ABS);
	}
	__set_current_state(TASK_RUNNING);
	WRITE_ONCE(w->inflight.idle, false);
}

/* ---- the thread ---- */

/* The run has ended: issue nothing more, and count what completed until then in its phase. */
static noinline void wind_up(struct spek_worker *w, u64 counted_ns)
{
	/* First: the ages that the phase ends with are of what the drain completes. */
	if (w->inflight.unsent)
		spek_worker_drop_unsent(w);
	if (w->phases.course.phase != SPEK_PHASE_DRAIN)
		spek_worker_end_early(w, counted_ns);
}

/* Take in records that came while the ring was empty; end the run once all were replayed. */
static noinline void refill_replay(struct spek_worker *w)
{
	if (!spek_gen_has_record(w->gen) && w->phases.course.phase != SPEK_PHASE_DRAIN &&
	    !has_ended(w))
		spek_replay_refill(w->replay, w->gen);
}

/*
 * Return: true if a phase that ends by count never would: all rate curves have ended with rate 0.
 * Closed loops have an I/O that is ready if none is outstanding. A trace may get more records.
 */
static bool has_run_dry(const struct spek_worker *w)
{
	return w->phases.course.phase != SPEK_PHASE_DRAIN && !w->phases.waits &&
	       w->phases.course.phase_end_ns == SPEK_NEVER && !w->replay &&
	       !w->inflight.outstanding && !w->issue.op_room.waiting &&
	       spek_gen_next_ns(w->gen) == SPEK_NEVER;
}

static bool has_finished(const struct spek_worker *w)
{
	return !w->inflight.outstanding && w->phases.course.phase == SPEK_PHASE_DRAIN;
}

static void run_loop(struct spek_worker *w)
{
	u64 now_ns = w->start_ns;	/* completions before that are accounted */

	w->issue.batch_hint = 1;
	spek_worker_begin_phases(w);
	for (;;) {
		bool busy;

		/* Before completions are accounted: an end that has passed decides their phase. */
		if (unlikely(has_ended(w)))
			wind_up(w, now_ns);
		else if (unlikely(w->phases.waits))
			spek_worker_learn_end(w, now_ns);
		busy = reap_completions(w);
		now_ns = ktime_get_ns();
		if (unlikely(w->replay))
			refill_replay(w);
		busy |= spek_worker_issue(w, now_ns);
		if (now_ns >= w->phases.course.boundary_ns)
			spek_worker_pass_boundary(w, now_ns);
		if (has_finished(w))
			break;
		if (w->inflight.outstanding && w->polls)
			spek_poll_targets(w);
		else if (busy)
			w->spin_end_ns = now_ns + w->config->spin_ns;
		else if (unlikely(has_run_dry(w)))
			complete_share(w, now_ns);
		else
			wait_for_event(w, now_ns);
		/* Report an RCU-tasks quiescent state: this loop may never schedule voluntarily. */
		cond_resched_tasks_rcu_qs();
	}
	spek_worker_end_phases(w);
	if (w->log)
		spek_iolog_wake(w->log);
}

static int worker_thread(void *data)
{
	struct spek_worker *w = data;

	/* Generator and counts are set up: pairs with spek_worker_start(). */
	wait_event_idle(w->start, smp_load_acquire(&w->start_ns) || kthread_should_stop());
	if (!w->start_ns)
		return 0;
	run_loop(w);
	w->ops->ended(w->owner);
	/* Wait for kthread_stop(), so that the task struct stays valid until then. */
	wait_event_idle(w->start, kthread_should_stop());
	return 0;
}

/**
 * spek_worker_prepare() - first step of a start: set the generator's time 0
 * @w: worker
 * @start_ns: time 0 of the run
 *
 * No step of a start takes longer with more replicas or zones: what is due at time 0 waits for it.
 *
 * Return: true if the worker will ever have work.
 */
bool spek_worker_prepare(struct spek_worker *w, u64 start_ns)
{
	spek_gen_start(w->gen, start_ns);
	if (w->replay)
		spek_replay_attach(w->replay, w->gen, start_ns);
	spek_backlog_init(&w->phases.backlog, &w->config->workload, w->gen);
	return spek_worker_has_work(w);
}

/**
 * spek_worker_set_counts() - set the worker's share of phases that end by count
 * @w: prepared worker
 * @ramp_count: completions that end its ramp-up, or 0
 * @measure_count: completions that end its measure phase, or 0
 */
void spek_worker_set_counts(struct spek_worker *w, u64 ramp_count, u64 measure_count)
{
	w->phases.ramp_count = ramp_count;
	w->phases.measure_count = measure_count;
}

/**
 * spek_worker_set_arrival_count() - set the worker's share of the count of an arrival process
 * @w: prepared worker
 * @arrival: index of the arrival process
 * @count: completions that end it in the measure phase
 */
void spek_worker_set_arrival_count(struct spek_worker *w, u32 arrival, u64 count)
{
	spek_gen_set_count(w->gen, arrival, count);
}

/**
 * spek_worker_start() - release the thread
 * @w: prepared worker
 * @start_ns: time 0 of the run
 */
void spek_worker_start(struct spek_worker *w, u64 start_ns)
{
	/* Publish what was prepared: pairs with worker_thread(). */
	smp_store_release(&w->start_ns, start_ns);
	wake_up(&w->start);
}

/**
 * spek_worker_join() - wait until the thread has left the module
 * @w: worker
 *
 * Before the start it makes the thread leave; after it, the thread leaves by itself when its run
 * has ended and all its I/O came back.
 *
 * Context: process, may sleep.
 */
void spek_worker_join(struct spek_worker *w)
{
	kthread_stop(w->task);
}

/**
 * spek_worker_info() - read what netlink reports of a worker
 * @w: worker
 * @info: filled in
 *
 * Context: any, while the worker exists.
 */
void spek_worker_info(const struct spek_worker *w, struct spek_worker_info *info)
{
	info->cpu = w->cpu;
	info->outstanding = spek_worker_held(w);
	info->pid = w->task->pid;
	info->cpu_ns = READ_ONCE(w->task->se.sum_exec_runtime);
	info->voluntary = READ_ONCE(w->task->nvcsw);
	info->involuntary = READ_ONCE(w->task->nivcsw);
	info->log_written = w->log ? READ_ONCE(w->log->written) : 0;
	info->log_lost = w->log ? READ_ONCE(w->log->lost) : 0;
}

/**
 * spek_worker_arrival_end() - ask when an arrival process with a count ended on a worker
 * @w: worker
 * @arrival: index of the arrival process
 *
 * Context: any, while the worker exists.
 * Return: CLOCK_MONOTONIC; 0 if it has not ended, or has no count.
 */
u64 spek_worker_arrival_end(const struct spek_worker *w, u32 arrival)
{
	return spek_gen_ended_ns(w->gen, arrival);
}

/**
 * spek_worker_add_counts() - add the requests that a worker sent to a target
 * @w: worker
 * @target: number of the target
 * @count: sum
 */
void spek_worker_add_counts(const struct spek_worker *w, u32 target,
			    struct spek_target_count *count)
{
	u32 i;

	for (i = 0; i < SPEK_COUNT_NR; i++) {
		count->ios[i] += READ_ONCE(w->issue.count[target].ios[i]);
		count->bytes[i] += READ_ONCE(w->issue.count[target].bytes[i]);
	}
	count->refused += READ_ONCE(w->issue.count[target].refused);
	count->tag_waits += READ_ONCE(w->issue.count[target].tag_waits);
}

/**
 * spek_worker_oldest_ns() - age of a worker's oldest outstanding I/O
 * @w: worker
 * @now_ns: current time
 *
 * Context: any, while the worker exists.
 * Return: ns since it was issued; 0 if none is outstanding.
 */
u64 spek_worker_oldest_ns(const struct spek_worker *w, u64 now_ns)
{
	u64 oldest_ns = now_ns;
	u32 i;

	for (i = 0; i < w->nr_slots; i++)
		if (READ_ONCE(w->slots[i].busy))
			oldest_ns = min(oldest_ns, READ_ONCE(w->slots[i].issue_ns));
	return now_ns - oldest_ns;
}

/* All streams have a source then: slots and their buffers are those of all. */
static bool create_contents(struct spek_worker *w, int node)
{
	const struct spek_run_config *config = w->config;
	const struct spek_workload *wl = &config->workload;
	u32 i;

	w->contents = kcalloc_node(wl->nr_streams, sizeof(*w->contents), GFP_KERNEL, node);
	if (!w->contents)
		return false;
	for (i = 0; i < wl->nr_streams; i++)
		spek_contents_init(&w->contents[i], &wl->stream[i], i, config->seed, w->index,
				   config->data == SPEK_DATA_RANDOM);
	return true;
}

static bool create_sets(struct spek_worker *w, int node)
{
	const struct spek_run_config *config = w->config;
	struct spek_phases *phases = &w->phases;
	u32 i;

	phases->nr_sets = spek_worker_nr_sets(config);
	for (i = 0; i < phases->nr_sets; i++) {
		phases->set[i] = spek_set_create(&config->workload, node);
		if (!phases->set[i])
			return false;
	}
	return true;
}

static int create_memory(struct spek_worker *w, const struct spek_worker_setup *setup)
{
	const struct spek_zone_map *zones = setup->zones;
	const struct spek_run_config *config = w->config;
	size_t targets_bytes = array_size(config->nr_targets, sizeof(*w->issue.targets));
	int node = cpu_to_node(w->cpu);
	size_t size = spek_gen_size(&config->workload, w->index, config->nr_workers);
	u32 i;

	w->issue.targets = kmalloc_node(targets_bytes, GFP_KERNEL, node);
	if (w->issue.targets)
		memcpy(w->issue.targets, setup->targets, targets_bytes);
	w->gen = spek_zalloc_node(size, node);
	w->phases.age = spek_zalloc_node(array_size(w->nr_slots, sizeof(*w->phases.age)), node);
	w->slots = spek_slots_create(&w->inflight, w->nr_slots, node);
	w->issue.poller = kcalloc_node(config->nr_targets, sizeof(*w->issue.poller), GFP_KERNEL,
				       node);
	if (zones)
		w->zone_gate = spek_zone_gate_create(zones, w->issue.count, w->verify,
						     &w->inflight, node);
	if (spek_workload_has_own_data(&config->workload) && !create_contents(w, node))
		return -ENOMEM;
	if (!w->issue.targets || !w->gen || !create_sets(w, node) || !w->phases.age || !w->slots ||
	    !w->issue.poller || (zones && !w->zone_gate))
		return -ENOMEM;
	for (i = 0; i < w->nr_slots; i++) {
		w->slots[i].next_free = w->issue.free;
		w->issue.free = &w->slots[i];
	}
	for (i = 0; i < config->nr_targets; i++) {
		w->issue.poller[i].bio.bi_cookie = BLK_QC_T_NONE;
		w->issue.always_plugs |= w->issue.targets[i].backend->plugs;
	}
	w->issue.flush_sleeps = spek_worker_flush_may_sleep(w);
	spek_worker_init_lanes(w);
	spek_worker_init_lines(w);
	spek_gen_init(w->gen, &config->workload, config->seed, w->index, config->nr_workers);
	if (w->zone_gate)
		spek_zone_gate_load(w->zone_gate, w->gen);
	return 0;
}

/**
 * spek_worker_create() - make a worker and its thread, which waits for the start
 * @setup: what it works on
 * @index: number of the worker within the run
 * @nr_slots: I/Os that it may have outstanding; 0 only for one that never has any
 * @log: where it records its I/Os, or NULL
 *
 * Context: process, may sleep.
 * Return: the worker or an ERR_PTR.
 */
struct spek_worker *spek_worker_create(const struct spek_worker_setup *setup, u32 index,
				       u32 nr_slots, struct spek_iolog *log)
{
	const struct spek_run_config *config = setup->config;
	u32 cpu = config->worker[index].cpu;
	struct spek_worker *w;
	struct task_struct *task;
	int err;

	w = kzalloc_node(sizeof(*w), GFP_KERNEL, cpu_to_node(cpu));
	if (!w)
		return ERR_PTR(-ENOMEM);
	w->config = config;
	w->ops = setup->ops;
	w->owner = setup->owner;
	w->polls = setup->polls;
	w->run_id = setup->run_id;
	w->index = index;
	w->cpu = cpu;
	w->log = log;
	w->verify = setup->verify;
	w->replay = setup->replay ? setup->replay->ring[index] : NULL;
	w->tracked = w->verify || w->replay || setup->zones;
	w->watched = w->log || w->tracked;
	w->nr_slots = nr_slots;
	w->phases.ends = setup->phase_ends;
	w->inflight.outcome = setup->outcome;
	w->inflight.shape = setup->shape;
	w->inflight.worker = index;
	init_llist_head(&w->inflight.done);
	init_waitqueue_head(&w->start);
	err = create_memory(w, setup);
	if (err)
		goto err_destroy;
	task = kthread_create_on_node(worker_thread, w, cpu_to_node(cpu), "spek/%u/%u",
				      setup->run_id, index);
	if (IS_ERR(task)) {
		err = PTR_ERR(task);
		goto err_destroy;
	}
	w->task = get_task_struct(task);
	w->inflight.task = task;
	kthread_bind(task, cpu);
	wake_up_process(task);
	return w;

err_destroy:
	spek_worker_destroy(w);
	return ERR_PTR(err);
}

/**
 * spek_worker_destroy() - free a worker whose thread has left the module
 * @w: worker
 *
 * The caller has waited for a grace period after spek_worker_join(): the completion that ended
 * the thread, or spek_outcome_end(), may still be looking at it.
 */
void spek_worker_destroy(struct spek_worker *w)
{
	u32 i;

	if (w->task)
		put_task_struct(w->task);
	spek_slots_destroy(w->slots, w->nr_slots, w->inflight.shape);
	for (i = 0; i < SPEK_NR_SETS; i++)
		spek_set_destroy(w->phases.set[i]);
	kvfree(w->phases.age);
	kvfree(w->gen);
	spek_zone_gate_destroy(w->zone_gate);
	kfree(w->contents);
	spek_worker_free_lines(w);
	kfree(w->issue.poller);
	kfree(w->issue.targets);
	kfree(w);
}
