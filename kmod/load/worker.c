// SPDX-License-Identifier: GPL-2.0
/*
 * The worker: pace -> generate -> submit -> reap -> account.
 *
 * The thread owns its generator, its free slots and its active set; it takes no lock.
 * Completions run anywhere: they push the slot on the lock-free list worker->done and
 * wake the thread if it said that it is idle. Everything else happens in the thread, in
 * loop order: account what came back, close what has ended, issue what is due, wait.
 *
 * With stamped data an operation may have to wait for another one on the same blocks
 * (verify.c). It waits where one waits that the driver has no room for: as worker->stalled, nothing
 * of it sent, and those that are due after it wait with it.
 *
 * Order between thread and completion (both sides have a full barrier between):
 *	thread:     idle = true;     look at done;  sleep if it is empty
 *	completion: add to done;     look at idle;  wake if it is true
 *
 * Lifetime: the thread leaves when its run has ended (or its count is reached) and nothing
 * is outstanding. Who may still hold the worker then: the last completion, between its
 * addition to done and its look at idle, inside an RCU read section; therefore the
 * memory goes only after a grace period. The collector and netlink hold run->lock, under
 * which workers are unhooked.
 */
#include <linux/blk-mq.h>
#include <linux/hrtimer.h>
#include <linux/ioprio.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "iolog.h"
#include "poll.h"
#include "submit.h"
#include "verify.h"
#include "worker.h"

#define RETRY_NS	(100 * NSEC_PER_USEC)	/* driver without room, none of ours outstanding */
#define TOTALS_NS	NSEC_PER_SEC		/* between seals when no rows are wanted */
#define PIECE_NS	(10 * NSEC_PER_SEC)	/* between seals within a long row */

/* ---- completion side: any context ---- */

void spek_worker_end_io(struct bio *bio)
{
	struct spek_part *part = container_of(bio, struct spek_part, bio);
	struct spek_slot *slot = part->slot;
	struct spek_worker *w = slot->worker;

	if (unlikely(bio->bi_status)) {
		/* Comes from within its submission: it would have had to wait. */
		if (current == w->task && w->asking == bio && bio->bi_status == BLK_STS_AGAIN) {
			w->asking = NULL;
			return;
		}
		WRITE_ONCE(slot->status, bio->bi_status);
		spek_run_report_failed(w->run, part, bio->bi_status);
	}
	if (slot->nr_parts > 1 && !atomic_dec_and_test(&slot->parts_left))
		return;
	slot->done_ns = ktime_get_ns();
	/* An RCU read section, as cheap as it can be had. */
	preempt_disable();
	llist_add(&slot->done, &w->done);
	if (READ_ONCE(w->idle))
		wake_up_process(w->task);
	preempt_enable();
}

void spek_worker_count_refused(struct spek_part *part)
{
	part->slot->worker->count[part->target_index].refused++;
}

/* ---- seals: the end of a row or a phase ---- */

static bool issue(struct spek_worker *w, u64 now_ns);

static bool has_ended(const struct spek_worker *w)
{
	return atomic_read(&w->run->end_reason) != SPEK_REASON_NONE;
}

static u64 interval_ns(const struct spek_worker *w)
{
	return w->run->config->interval_ns ?: TOTALS_NS;
}

/* A set counts in 32 bits, so a long row is passed in pieces; @now_ns is where one begins. */
static void set_boundary(struct spek_worker *w, u64 now_ns)
{
	/* Somebody may have changed it; bios that have none would ask for it one by one. */
	w->ioprio = get_current_ioprio();
	w->row_end_ns = min(w->row_start_ns + interval_ns(w), w->phase_end_ns);
	w->boundary_ns = w->row_end_ns;
	/* The last piece is not shorter than the others: the collector needs its time. */
	if (w->row_end_ns > now_ns + 2 * PIECE_NS)
		w->boundary_ns = now_ns + PIECE_NS;
}

/* Outstanding operations, without one that the driver had no room for yet. */
static u32 held_by_devices(const struct spek_worker *w)
{
	const struct spek_slot *stalled = READ_ONCE(w->stalled);
	u32 outstanding = READ_ONCE(w->outstanding);

	/* For another thread these are of different moments. */
	return outstanding - (outstanding && stalled && !READ_ONCE(stalled->busy));
}

static void stamp_set(struct spek_worker *w, struct spek_set *set, u64 end_ns)
{
	u64 cpu_ns = READ_ONCE(current->se.sum_exec_runtime);
	u64 switches = current->nvcsw + current->nivcsw;

	set->row = w->row;
	set->phase = w->phase;
	set->start_ns = w->row_start_ns;
	set->end_ns = end_ns;
	set->outstanding = held_by_devices(w);
	/* What is due at the end itself belongs to the time after it. */
	set->backlog = w->phase == SPEK_PHASE_DRAIN ? 0 : spek_gen_backlog(w->gen, end_ns - 1);
	set->cpu_ns = cpu_ns - w->seen_cpu_ns;
	set->switches = switches - w->seen_switches;
	w->seen_cpu_ns = cpu_ns;
	w->seen_switches = switches;
}

/* Pass the active set to the collector, which must have given back the other one. */
static void pass_set(struct spek_worker *w, u64 next_row, u64 end_ns)
{
	struct spek_set *set = w->active;

	stamp_set(w, set, end_ns);
	set->next_row = next_row;
	w->active = w->set[set == w->set[0]];
	/* The collector sees all that was counted: pairs with take_sealed. */
	smp_store_release(&w->sealed, set);
	spek_run_collect(w->run);
}

static bool has_given_back(struct spek_worker *w)
{
	/* The set is empty again: pairs with spek_worker_give_back(). */
	return !smp_load_acquire(&w->sealed);
}

static void wait_for_collector(struct spek_worker *w)
{
	while (!has_given_back(w))
		schedule_timeout_uninterruptible(1);
}

static void set_phase(struct spek_worker *w, u32 phase, u64 now_ns)
{
	const struct spek_run_config *config = w->run->config;
	u64 ramp = w->ramp_count, count = w->measure_count;

	/* A worker without a share of the transactions has nothing to measure. */
	if (phase == SPEK_PHASE_RAMP && !config->ramp_ns && !ramp)
		phase = SPEK_PHASE_MEASURE;
	if (phase == SPEK_PHASE_MEASURE && !config->time_ns && !count)
		phase = SPEK_PHASE_DRAIN;

	w->phase = phase;
	w->row = spek_row_first(phase);
	w->row_start_ns = now_ns;
	w->phase_end_ns = SPEK_NEVER;
	w->phase_left = SPEK_NEVER;
	switch (phase) {
	case SPEK_PHASE_RAMP:
		if (ramp)
			w->phase_left = ramp;
		else
			w->phase_end_ns = now_ns + config->ramp_ns;
		w->issue_left = SPEK_NEVER;
		if (ramp && config->count && check_add_overflow(ramp, count, &w->issue_left))
			w->issue_left = SPEK_NEVER;
		break;
	case SPEK_PHASE_MEASURE:
		if (config->time_ns) {
			w->phase_end_ns = now_ns + config->time_ns;
			w->issue_left = SPEK_NEVER;
		} else {
			w->phase_left = count;
			/* What the ramp left outstanding counts, too. */
			w->issue_left = count - min_t(u64, count, w->outstanding);
		}
		break;
	default:
		w->issue_left = 0;
	}
	set_boundary(w, now_ns);
}

static void enter_phase(struct spek_worker *w, u32 phase, u64 now_ns)
{
	/* A completion of another CPU may be listed, or its clock be, a little behind. */
	now_ns = max(now_ns, w->row_start_ns);
	/*
	 * Arrivals before the end belong to the run even if the worker is late; those that
	 * find no free slot are the backlog.
	 */
	if (phase == SPEK_PHASE_DRAIN && !has_ended(w))
		while (issue(w, ktime_get_ns()))
			;
	wait_for_collector(w);
	pass_set(w, spek_row_first(phase), now_ns);
	set_phase(w, phase, now_ns);
}

/* Time has passed boundary_ns. */
static void pass_boundary(struct spek_worker *w, u64 now_ns)
{
	while (now_ns >= w->boundary_ns) {
		u64 next;

		if (w->boundary_ns == w->phase_end_ns) {
			enter_phase(w, w->phase + 1, w->phase_end_ns);
			continue;
		}
		if (w->boundary_ns < w->row_end_ns) {
			if (has_given_back(w))
				pass_set(w, w->row, w->boundary_ns);
			set_boundary(w, now_ns);
			continue;
		}
		/*
		 * Rows follow a schedule, so that all workers agree on them. What a worker
		 * missed while it was blocked is in the row in which it went on. Where the
		 * collector is late the set simply goes on as well.
		 */
		next = w->row + div64_u64(now_ns - w->row_start_ns, interval_ns(w));
		if (w->phase_end_ns <= now_ns)
			next = w->row + div64_u64(w->phase_end_ns - 1 - w->row_start_ns,
						  interval_ns(w));
		if (has_given_back(w))
			pass_set(w, next, w->row_end_ns);
		w->row_start_ns += (next - w->row) * interval_ns(w);
		w->row = next;
		set_boundary(w, w->row_start_ns);
	}
}

/* ---- accounting ---- */

static void end_phase_by_count(struct spek_worker *w, u64 now_ns)
{
	if (w->phase != SPEK_PHASE_DRAIN)
		enter_phase(w, w->phase + 1, now_ns);
}

static void record(struct spek_worker *w, const struct spek_slot *slot, u64 done_ns)
{
	struct spek_log_record *record = spek_iolog_reserve(w->log);
	const struct spek_op *op = &slot->op;

	if (unlikely(!record))
		return;
	record->at_ns = op->at_ns;
	record->issue_ns = slot->issue_ns;
	record->done_ns = done_ns;
	record->addr = op->addr;
	record->bytes = op->bytes;
	record->replica = op->replica;
	record->stream = op->stream;
	record->worker = w->index;
	record->asu = op->asu;
	record->write = op->write;
	record->phase = w->phase;
	record->error = unlikely(slot->status) ? -blk_status_to_errno(slot->status) : 0;
	spek_iolog_commit(w->log);
}

static void watch(struct spek_worker *w, struct spek_slot *slot, u64 done_ns)
{
	if (w->log)
		record(w, slot, done_ns);
	if (w->verify)
		spek_verify_end(w->verify, slot, &w->lane[slot->op.asu].map);
}

static void account(struct spek_worker *w, struct spek_slot *slot)
{
	const struct spek_op *op = &slot->op;
	/* Where CPUs' clocks differ by a little, an I/O may seem to end before it began. */
	u64 done_ns = max(slot->done_ns, slot->issue_ns);
	struct spek_cell *cell;

	if (unlikely(done_ns >= w->boundary_ns))
		pass_boundary(w, done_ns);
	cell = w->active->cell[op->stream * 2 + op->write];
	cell->requests += slot->nr_parts;
	if (likely(!slot->status)) {
		cell->ios++;
		cell->bytes += op->bytes;
		spek_metric_add(&cell->metric[SPEK_METRIC_RESPONSE], done_ns - op->at_ns);
		spek_metric_add(&cell->metric[SPEK_METRIC_SERVICE], done_ns - slot->issue_ns);
		spek_metric_add(&cell->metric[SPEK_METRIC_SLIP], slot->issue_ns - op->at_ns);
	} else {
		cell->errors++;
		cell->error[min_t(u32, (__force u8)slot->status, SPEK_NR_STATUS - 1)]++;
		spek_run_count_failed(w->run);
	}
	if (w->watched)
		watch(w, slot, done_ns);
	spek_gen_complete(w->gen, op->arrival, done_ns);
	WRITE_ONCE(slot->busy, false);
	slot->next_free = w->free;
	w->free = slot;
	WRITE_ONCE(w->outstanding, w->outstanding - 1);
	if (unlikely(!--w->phase_left))
		end_phase_by_count(w, done_ns);
}

/* Return: true if anything had come back. */
static bool reap(struct spek_worker *w)
{
	struct llist_node *list;
	struct spek_slot *slot, *next;

	if (llist_empty(&w->done))
		return false;
	list = llist_reverse_order(llist_del_all(&w->done));
	llist_for_each_entry_safe(slot, next, list, done)
		account(w, slot);
	return true;
}

/* ---- submission ---- */

/*
 * Cut an operation into parts and arm their bios.
 * Return: false if it has to wait for another operation on its blocks.
 */
static noinline bool arm_parts(struct spek_worker *w, struct spek_slot *slot,
			       const struct spek_lane *lane)
{
	const struct spek_op *op = &slot->op;
	struct spek_part *part = slot->part;
	u32 done = 0;

	while (done < op->bytes) {
		u32 bytes = spek_asu_map(&lane->map, op->addr + done, op->bytes - done,
					 &part->target_index, &part->offset);

		part->target = &w->run->targets[part->target_index];
		part->bytes = spek_target_part(part->target, part->offset, bytes, done);
		spek_part_arm(part, done, w->run->shape.chunk_bytes,
			      spek_target_opf(part->target, op->write));
		part->bio.bi_ioprio = w->ioprio;
		done += part->bytes;
		part++;
	}
	slot->nr_parts = part - slot->part;
	if (slot->nr_parts > 1)
		atomic_set(&slot->parts_left, slot->nr_parts);
	if (!w->verify)
		return true;
	if (spek_verify_begin(w->verify, slot, &lane->map)) {
		/* Stamping took its time. */
		WRITE_ONCE(slot->issue_ns, ktime_get_ns());
		return true;
	}
	spek_verify_count_wait(w->verify);
	return false;
}

/* Return: see arm_parts(). */
static bool arm(struct spek_worker *w, struct spek_slot *slot)
{
	const struct spek_op *op = &slot->op;
	const struct spek_lane *lane = &w->lane[op->asu];
	struct spek_part *part = slot->part;

	slot->status = BLK_STS_OK;
	if (unlikely(op->bytes > lane->whole_bytes))
		return arm_parts(w, slot, lane);
	slot->nr_parts = 1;
	part->target_index = lane->target_index;
	part->target = lane->target;
	part->bytes = op->bytes;
	part->offset = lane->start + op->addr;
	spek_part_arm_whole(part, lane->opf[op->write]);
	part->bio.bi_ioprio = w->ioprio;
	return true;
}

/*
 * Send the parts of a slot from @part on. They may be back on the completion list at once,
 * but the slot stays as it is until this thread accounts it.
 */
static __always_inline bool send(struct spek_worker *w, struct spek_slot *slot,
				 struct spek_part *part)
{
	const u32 write = slot->op.write;

	WRITE_ONCE(slot->busy, true);
	do {
		struct spek_target_count *count = &w->count[part->target_index];

		if (unlikely(part->target->backend->submit(part))) {
			if (part == slot->part)
				WRITE_ONCE(slot->busy, false);
			w->stalled_part = part;
			WRITE_ONCE(w->stalled, slot);
			return false;
		}
		if (part->target->polled)
			w->poller[part->target_index].last = &part->bio;
		WRITE_ONCE(count->ios[write], count->ios[write] + 1);
		WRITE_ONCE(count->bytes[write], count->bytes[write] + part->bytes);
	} while (unlikely(++part < slot->part + slot->nr_parts));
	return true;
}

static noinline bool send_stalled(struct spek_worker *w)
{
	struct spek_slot *slot = w->stalled;

	if (!w->stalled_part) {
		if (!spek_verify_begin(w->verify, slot, &w->lane[slot->op.asu].map))
			return false;
		w->stalled_part = slot->part;
	}
	WRITE_ONCE(w->stalled, NULL);
	if (w->stalled_part == slot->part)
		WRITE_ONCE(slot->issue_ns, ktime_get_ns());
	return send(w, slot, w->stalled_part);
}

/* Could an operation be issued, if one were due? */
static bool can_issue(const struct spek_worker *w)
{
	return w->free && w->issue_left;
}

static bool is_due(const struct spek_worker *w, u64 now_ns)
{
	u64 at_ns = spek_gen_next_ns(w->gen);

	return at_ns <= now_ns && at_ns < w->phase_end_ns;
}

/* Issue the operation that is due. Return: false if the driver has no room for it now. */
static bool issue_one(struct spek_worker *w, u64 now_ns)
{
	struct spek_slot *slot = w->free;
	bool armed;

	w->free = slot->next_free;
	spek_gen_next(w->gen, &slot->op);
	WRITE_ONCE(slot->issue_ns, now_ns);
	armed = arm(w, slot);
	WRITE_ONCE(w->outstanding, w->outstanding + 1);
	w->issue_left--;
	if (unlikely(!armed)) {
		w->stalled_part = NULL;
		WRITE_ONCE(w->stalled, slot);
		return false;
	}
	return send(w, slot, slot->part);
}

/* Return: operations issued, at most a batch. */
static u32 issue_batch(struct spek_worker *w, u64 now_ns)
{
	u32 n = 0, batch = w->run->config->batch;

	if (w->stalled) {
		if (!send_stalled(w))
			return 0;
		n = 1;
		now_ns = ktime_get_ns();
	}
	while (n < batch && can_issue(w) && is_due(w, now_ns)) {
		n++;
		if (!issue_one(w, now_ns) || n == batch)
			break;
		now_ns = ktime_get_ns();
	}
	return n;
}

/* Will all back ends use what a plug holds ready for them? */
static bool plug_serves_all(const struct spek_worker *w)
{
	const struct spek_target *target = w->run->targets;
	const struct spek_target *end = target + w->run->config->nr_targets;

	for (; target < end; target++)
		if (!target->backend->takes_tags_ahead(target))
			return false;
	return true;
}

static noinline u32 issue_plugged(struct spek_worker *w, u64 now_ns)
{
	struct blk_plug plug;
	u32 n;

	blk_start_plug(&plug);
	if (plug_serves_all(w))
		plug.nr_ios = w->batch_hint;
	n = issue_batch(w, now_ns);
	blk_finish_plug(&plug);
	return n;
}

/* Return: true if anything was issued. */
static bool issue(struct spek_worker *w, u64 now_ns)
{
	u32 n;

	if (!w->stalled && !(can_issue(w) && is_due(w, now_ns)))
		return false;
	/* A plug around a single I/O only costs. */
	n = w->batch_hint > 1 ? issue_plugged(w, now_ns) : issue_batch(w, now_ns);
	w->batch_hint = max(n, 1u);
	return n;
}

/* ---- waiting ---- */

/* When the thread has something to do even if nothing comes back. */
static u64 next_event_ns(const struct spek_worker *w, u64 now_ns)
{
	u64 at_ns = w->boundary_ns, next_ns;

	if (w->stalled)
		return min(at_ns, now_ns + RETRY_NS);
	next_ns = spek_gen_next_ns(w->gen);
	if (w->free && w->issue_left && next_ns < w->phase_end_ns)
		at_ns = min(at_ns, next_ns - min(next_ns, w->run->config->spin_ns));
	return at_ns;
}

static void wait(struct spek_worker *w, u64 now_ns)
{
	u64 until_ns = next_event_ns(w, now_ns);
	ktime_t expires;

	if (until_ns <= now_ns || (w->outstanding && now_ns < w->spin_end_ns)) {
		cpu_relax();
		return;
	}
	WRITE_ONCE(w->idle, true);
	set_current_state(TASK_IDLE);
	if (llist_empty(&w->done) && (w->phase == SPEK_PHASE_DRAIN || !has_ended(w))) {
		expires = ns_to_ktime(min_t(u64, until_ns, KTIME_MAX));
		schedule_hrtimeout_range(&expires, 0, HRTIMER_MODE_ABS);
	}
	__set_current_state(TASK_RUNNING);
	WRITE_ONCE(w->idle, false);
}

/* ---- the thread ---- */

static void begin(struct spek_worker *w)
{
	w->seen_cpu_ns = READ_ONCE(current->se.sum_exec_runtime);
	w->seen_switches = current->nvcsw + current->nivcsw;
	w->active = w->set[0];
	w->batch_hint = 1;
	set_phase(w, SPEK_PHASE_RAMP, w->start_ns);
}

/* What no device has had any part of yet will not be tried again. */
static void drop_stalled(struct spek_worker *w)
{
	struct spek_slot *slot = w->stalled;

	if (w->verify)
		spek_verify_drop(w->verify, slot, &w->lane[slot->op.asu].map, w->stalled_part);
	WRITE_ONCE(w->stalled, NULL);
	slot->next_free = w->free;
	w->free = slot;
	WRITE_ONCE(w->outstanding, w->outstanding - 1);
}

/* The run was ended: only what devices hold is waited for. */
static noinline void wind_up(struct spek_worker *w, u64 now_ns)
{
	if (w->phase != SPEK_PHASE_DRAIN)
		enter_phase(w, SPEK_PHASE_DRAIN, now_ns);
	if (w->stalled && !w->stalled->busy)
		drop_stalled(w);
}

static bool has_finished(const struct spek_worker *w)
{
	return !w->outstanding && w->phase == SPEK_PHASE_DRAIN;
}

static void run_loop(struct spek_worker *w)
{
	begin(w);
	for (;;) {
		bool busy = reap(w);
		u64 now_ns = ktime_get_ns();

		if (unlikely(has_ended(w)))
			wind_up(w, now_ns);
		busy |= issue(w, now_ns);
		if (now_ns >= w->boundary_ns)
			pass_boundary(w, now_ns);
		if (has_finished(w))
			break;
		if (w->outstanding && w->run->polls)
			spek_poll_targets(w);
		else if (busy)
			w->spin_end_ns = now_ns + w->run->config->spin_ns;
		else
			wait(w, now_ns);
		/* It may never sleep: who waits until all tasks have, as tracing does, need not. */
		cond_resched_tasks_rcu_qs();
	}
	wait_for_collector(w);
	pass_set(w, SPEK_NEVER, ktime_get_ns());
	if (w->log)
		spek_iolog_wake(w->log);
}

static int worker_thread(void *data)
{
	struct spek_worker *w = data;

	/* The generator and the shares are ready: pairs with spek_worker_start(). */
	wait_event_idle(w->start, smp_load_acquire(&w->start_ns) || kthread_should_stop());
	if (!w->start_ns)
		return 0;
	run_loop(w);
	spek_run_worker_ended(w->run);
	/* Others may stop the thread only once: wait for it, so that task stays ours. */
	wait_event_idle(w->start, kthread_should_stop());
	return 0;
}

bool spek_worker_prepare(struct spek_worker *w, u64 start_ns)
{
	spek_gen_init(w->gen, &w->run->config->workload, w->run->config->seed, w->index,
		      w->run->config->nr_workers, start_ns);
	return spek_worker_has_work(w);
}

bool spek_worker_has_work(const struct spek_worker *w)
{
	return spek_gen_next_ns(w->gen) != SPEK_NEVER;
}

void spek_worker_set_counts(struct spek_worker *w, u64 ramp_count, u64 measure_count)
{
	w->ramp_count = ramp_count;
	w->measure_count = measure_count;
}

void spek_worker_start(struct spek_worker *w, u64 start_ns)
{
	/* After everything that was prepared: pairs with worker_thread(). */
	smp_store_release(&w->start_ns, start_ns);
	wake_up(&w->start);
}

void spek_worker_kick(struct spek_worker *w)
{
	wake_up_process(w->task);
}

void spek_worker_reap(struct spek_worker *w)
{
	kthread_stop(w->task);
}

struct spek_set *spek_worker_take_sealed(struct spek_worker *w)
{
	/* What the worker counted: pairs with pass_set(). */
	return smp_load_acquire(&w->sealed);
}

void spek_worker_give_back(struct spek_worker *w)
{
	/* The set was emptied before: pairs with has_given_back(). */
	smp_store_release(&w->sealed, NULL);
}

void spek_worker_info(const struct spek_worker *w, struct spek_worker_info *info)
{
	info->cpu = w->cpu;
	info->outstanding = held_by_devices(w);
	info->pid = w->task->pid;
	info->cpu_ns = READ_ONCE(w->task->se.sum_exec_runtime);
	info->voluntary = READ_ONCE(w->task->nvcsw);
	info->involuntary = READ_ONCE(w->task->nivcsw);
	info->log_written = w->log ? READ_ONCE(w->log->written) : 0;
	info->log_lost = w->log ? READ_ONCE(w->log->lost) : 0;
}

u64 spek_worker_oldest_ns(const struct spek_worker *w, u64 now_ns)
{
	u64 oldest_ns = now_ns;
	u32 i;

	for (i = 0; i < w->nr_slots; i++)
		if (READ_ONCE(w->slots[i].busy))
			oldest_ns = min(oldest_ns, READ_ONCE(w->slots[i].issue_ns));
	return now_ns - oldest_ns;
}

static void init_lane(struct spek_lane *lane, const struct spek_run *run,
		      const struct spek_asu *asu)
{
	u32 dir;

	spek_asu_map_init(&lane->map, asu);
	lane->target_index = asu->extent[0].target;
	lane->target = &run->targets[lane->target_index];
	lane->start = asu->extent[0].start;
	for (dir = 0; dir < 2; dir++)
		lane->opf[dir] = spek_target_opf(lane->target, dir);
	lane->whole_bytes = 0;
	/* Nor with stamped data: what is stamped goes the longer way. */
	if (asu->nr_extents == 1 && !lane->target->chunk_sectors && !run->verify)
		lane->whole_bytes = min(lane->target->max_part_bytes, run->shape.chunk_bytes);
}

static int create_memory(struct spek_worker *w, const struct spek_slot_shape *shape)
{
	const struct spek_run_config *config = w->run->config;
	int node = cpu_to_node(w->cpu);
	size_t size = spek_gen_size(&config->workload, w->index, config->nr_workers);
	u32 i;

	if (size == SIZE_MAX)
		return -ENOMEM;
	w->gen = __vmalloc(size, GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	w->set[0] = spek_set_create(&config->workload, node);
	w->set[1] = spek_set_create(&config->workload, node);
	w->slots = spek_slots_create(w, w->nr_slots, shape, node);
	w->poller = kcalloc_node(config->nr_targets, sizeof(*w->poller), GFP_KERNEL, node);
	if (!w->gen || !w->set[0] || !w->set[1] || !w->slots || !w->poller)
		return -ENOMEM;
	for (i = 0; i < w->nr_slots; i++) {
		w->slots[i].next_free = w->free;
		w->free = &w->slots[i];
	}
	for (i = 0; i < config->nr_targets; i++)
		w->poller[i].bio.bi_cookie = BLK_QC_T_NONE;
	for (i = 0; i < config->workload.nr_asus; i++)
		init_lane(&w->lane[i], w->run, &config->workload.asu[i]);
	return 0;
}

struct spek_worker *spek_worker_create(struct spek_run *run, u32 index,
				       const struct spek_slot_shape *shape)
{
	const struct spek_run_config *config = run->config;
	u32 cpu = config->cpu[index];
	struct spek_worker *w;
	struct task_struct *task;
	int err;

	w = kzalloc_node(sizeof(*w), GFP_KERNEL, cpu_to_node(cpu));
	if (!w)
		return ERR_PTR(-ENOMEM);
	w->run = run;
	w->index = index;
	w->cpu = cpu;
	w->log = run->log ? run->log[index] : NULL;
	w->verify = run->verify;
	w->watched = w->log || w->verify;
	w->nr_slots = spek_share(config->max_outstanding, index, config->nr_workers);
	init_llist_head(&w->done);
	init_waitqueue_head(&w->start);
	err = create_memory(w, shape);
	if (err)
		goto err_destroy;
	task = kthread_create_on_node(worker_thread, w, cpu_to_node(cpu), "spek/%u/%u", run->id,
				      index);
	if (IS_ERR(task)) {
		err = PTR_ERR(task);
		goto err_destroy;
	}
	w->task = get_task_struct(task);
	kthread_bind(task, cpu);
	wake_up_process(task);
	return w;

err_destroy:
	spek_worker_destroy(w, shape);
	return ERR_PTR(err);
}

void spek_worker_destroy(struct spek_worker *w, const struct spek_slot_shape *shape)
{
	if (w->task)
		put_task_struct(w->task);
	spek_slots_destroy(w->slots, w->nr_slots, shape);
	spek_set_destroy(w->set[0]);
	spek_set_destroy(w->set[1]);
	vfree(w->gen);
	kfree(w->poller);
	kfree(w);
}
