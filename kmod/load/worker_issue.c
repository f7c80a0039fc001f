// SPDX-License-Identifier: GPL-2.0
/*
 * Issuing: turns operations that are due into parts and submits these through back ends, one batch
 * per call.
 *
 * Everything here runs in the worker's thread. An operation that can't be sent now waits in the
 * line of its target (worker_line.c), and so do operations for this target that are due after it.
 * Those for other targets are issued meanwhile. Operations that wait behind the first one take no
 * slot, so they can't keep other targets from getting one. With a single target they are not even
 * made.
 *
 * An operation that is striped over several targets waits where a part of it is refused, or where
 * others wait already.
 *
 * Cutting operations into parts is in worker_arm.c.
 */
#include <linux/blk-mq.h>
#include <linux/ktime.h>
#include "../compat/plug.h"
#include "core/gen_simple.h"
#include "config.h"
#include "outcome.h"
#include "submit.h"
#include "submit_mq.h"
#include "trace.h"
#include "worker_arm.h"
#include "worker_issue.h"
#include "worker_line.h"
#include "worker_state.h"

/*
 * Check one target per batch, in turn. Until its turn, back ends notice a lower number of sectors,
 * which sysfs can change at any time. Other limits are changed by drivers only.
 * Inline, as is what follows: with two callers the compiler would call it for each I/O.
 */
static __always_inline void check_limits(struct spek_worker *w)
{
	if (unlikely(spek_target_limits_changed(&w->issue.targets[w->issue.next_checked])))
		spek_worker_read_limits(w);
	if (++w->issue.next_checked == w->config->nr_targets)
		w->issue.next_checked = 0;
}

/* ---- sending ---- */

/* The block layer has cut a part, counted as one request, into several. */
static noinline void count_cuts(struct spek_worker *w, const struct spek_slot *slot,
				struct spek_target_count *count, u32 cuts)
{
	const u32 write = slot->op.write;

	WRITE_ONCE(count->ios[write], count->ios[write] + cuts);
	w->phases.active->cell[slot->op.stream * 2 + write]->requests += cuts;
	spek_worker_read_limits(w);
}

static u32 count_of_zone_op(u8 kind)
{
	switch (kind) {
	case SPEK_OP_ZONE_APPEND:
		return SPEK_COUNT_ZONE_APPEND;
	case SPEK_OP_ZONE_RESET:
		return SPEK_COUNT_ZONE_RESET;
	case SPEK_OP_ZONE_FINISH:
		return SPEK_COUNT_ZONE_FINISH;
	case SPEK_OP_ZONE_OPEN:
		return SPEK_COUNT_ZONE_OPEN;
	default:
		return SPEK_COUNT_ZONE_CLOSE;
	}
}

/* What was sent and counted as a write is none in the disk's own statistics. */
static noinline void count_bare(struct spek_worker *w, const struct spek_slot *slot)
{
	struct spek_target_count *count = &w->issue.count[slot->part->target_index];
	u32 bytes = slot->part->bytes, kind;

	switch (slot->op.kind) {
	case SPEK_OP_WRITE_ZEROES:
		return;
	case SPEK_OP_FLUSH:
		kind = SPEK_COUNT_FLUSH;
		break;
	case SPEK_OP_DISCARD:
		kind = SPEK_COUNT_DISCARD;
		break;
	default:
		kind = count_of_zone_op(slot->op.kind);
		WRITE_ONCE(count->ios[kind], count->ios[kind] + 1);
		return;
	}
	WRITE_ONCE(count->ios[SPEK_COUNT_WRITE], count->ios[SPEK_COUNT_WRITE] - 1);
	WRITE_ONCE(count->bytes[SPEK_COUNT_WRITE], count->bytes[SPEK_COUNT_WRITE] - bytes);
	WRITE_ONCE(count->ios[kind], count->ios[kind] + 1);
	WRITE_ONCE(count->bytes[kind], count->bytes[kind] + bytes);
}

/*
 * A call through a pointer goes through a thunk where the CPU needs retpolines.
 * Return: see struct spek_backend_ops
 */
static __always_inline int submit_part(const struct spek_target *target, struct spek_part *part)
{
	const struct spek_backend_ops *backend = target->backend;

	if (likely(backend == &spek_backend_mq))
		return spek_mq_submit(part, target);
	if (likely(backend == &spek_backend_bio))
		return spek_bio_submit(part);
	return backend->submit(part);
}

/*
 * A part was not sent, which counts as a request only if a driver gets it later.
 * Return: false if it waits in a line now
 */
static noinline bool keep_part(struct spek_worker *w, struct spek_slot *slot,
			       struct spek_part *part, int err)
{
	if (err == -EIO) {
		slot->nr_failed++;
		return true;
	}
	spek_line_stall(w, slot, part, err);
	return false;
}

/* Return: false if the part waits in a line now */
static __always_inline bool send_part(struct spek_worker *w, struct spek_slot *slot,
				      struct spek_part *part, const struct spek_target *target,
				      struct spek_target_count *count, u32 write)
{
	int err = submit_part(target, part);

	if (unlikely(err)) {
		if (err < 0)
			return keep_part(w, slot, part, err);
		count_cuts(w, slot, count, err);
	}
	if (unlikely(w->polls) && target->polled)
		w->issue.poller[part->target_index].last = &part->bio;
	WRITE_ONCE(count->ios[write], count->ios[write] + 1);
	WRITE_ONCE(count->bytes[write], count->bytes[write] + part->bytes);
	return true;
}

/*
 * Send the parts of a slot from @part on. They may be back on the completion list at once,
 * but the slot stays as it is until this thread accounts it.
 */
static noinline bool send_parts(struct spek_worker *w, struct spek_slot *slot,
				struct spek_part *part)
{
	WRITE_ONCE(slot->busy, true);
	for (; part < slot->part + slot->nr_parts; part++)
		if (!send_part(w, slot, part, part->target, &w->issue.count[part->target_index],
			       slot->op.write))
			return false;
	if (unlikely(slot->op.kind >= SPEK_OP_FLUSH) && !slot->nr_failed)
		count_bare(w, slot);
	trace_spek_io_issue(w, slot);
	return true;
}

/* Some parts of an operation were sent and the others can't be: fail these. */
static void fail_unsent(struct spek_slot *slot)
{
	struct spek_part *part = slot->next_part;
	u32 left = slot->nr_parts - (part - slot->part);

	slot->next_part = NULL;
	slot->recuts = false;
	slot->stalled = false;
	slot->nr_failed += left;
	for (; left--; part++) {
		/* What is there is of an earlier operation: the device never saw this part. */
		memset(&part->sense, 0, sizeof(part->sense));
		bio_io_error(&part->bio);
	}
}

/*
 * Cut the unsent part of an operation by the current limits.
 * Return: 1; 0 if that must wait for parts that are with devices, or the run ends; negative if the
 * run ends and the operation has failed
 */
static noinline int cut_unsent(struct spek_worker *w, struct spek_slot *slot)
{
	u32 sent = slot->next_part - slot->part;
	u32 unsent = slot->nr_parts - sent;
	const struct spek_part *part;
	u32 done = 0, nr;

	spek_worker_read_limits(w);
	for (part = slot->part; part < slot->next_part; part++)
		done += part->bytes;
	nr = spek_worker_cut(w, slot, slot->next_part, done);
	if (w->hints && spek_worker_must_not_cut(w, &slot->op, nr))
		return 0;
	if (nr > slot->max_parts) {
		if (sent && atomic_read(&slot->parts_left) > unsent)
			return 0;
		if (!spek_worker_grow(w, slot, nr)) {
			if (!sent)
				return 0;
			fail_unsent(slot);
			return -ENOMEM;
		}
		slot->next_part = slot->part + sent;
		nr = spek_worker_cut(w, slot, slot->next_part, done);
	}
	if (!sent)
		atomic_set(&slot->parts_left, nr);
	else
		atomic_add(nr - slot->nr_parts, &slot->parts_left);
	/* Completions of other parts may read it: it stays above 1. */
	WRITE_ONCE(slot->nr_parts, nr);
	slot->recuts = false;
	return 1;
}

/* Return: false if an operation, which was not tried yet, must keep waiting */
static bool begin_again(struct spek_worker *w, struct spek_slot *slot)
{
	if (slot->nr_parts)
		return spek_worker_begin(w, slot);
	/* There was no memory for its parts, or it has another place. */
	return !spek_outcome_has_ended(w->inflight.outcome) &&
	       spek_worker_arm_placed(w, slot, &w->issue.lane[slot->op.asu]);
}

/*
 * A flush calls drivers, of which some sleep, and the bio-based ones that have kept bios back: they
 * may then wait for requests.
 * Return: true if there is a plug and its flush may sleep
 */
static noinline bool flush_may_sleep(const struct spek_worker *w)
{
	const struct blk_plug *plug = current->plug;

	return plug && ((w->issue.flush_sleeps && plug->rq_count) || !list_empty(&plug->cb_list));
}

/*
 * Before an operation is sent beside others that wait: room.c. The block layer flushes a full plug
 * for a bio; back end mq does so itself, and then releases them (spek_mq_flush_plug()).
 */
static void release_rooms(struct spek_worker *w, const struct spek_op *op)
{
	if (w->inflight.rooms && (spek_worker_may_sleep(w, op) || flush_may_sleep(w)))
		spek_rooms_release(&w->inflight);
}

/* Send an operation that was taken from its line. Return: false if it is in a line again. */
static bool send_again(struct spek_worker *w, struct spek_slot *slot)
{
	struct spek_part *part = slot->next_part;

	release_rooms(w, &slot->op);
	if (unlikely(slot->recuts)) {
		int done = cut_unsent(w, slot);

		if (done < 0)
			return true;
		if (!done) {
			spek_line_wait_again(w, slot);
			return false;
		}
		part = slot->next_part;
		/* The next part has not waited yet. */
		slot->next_part = NULL;
	}
	if (!part) {
		if (!begin_again(w, slot)) {
			spek_line_hold(w, slot);
			return false;
		}
		/* It was not offered to the driver yet, unlike one that waits for a request. */
		WRITE_ONCE(slot->issue_ns, ktime_get_ns());
		part = slot->part;
	}
	spek_compat_plug_set_time(ktime_get_ns());
	if (!send_parts(w, slot, part))
		return false;
	slot->stalled = false;
	slot->next_part = NULL;
	return true;
}

/* Return: true if an operation could be issued, were one due */
static bool can_issue(const struct spek_worker *w)
{
	return w->issue.free && w->phases.issue_left;
}

static bool is_due(const struct spek_worker *w, u64 now_ns)
{
	u64 at_ns = spek_gen_next_ns(w->gen);

	return at_ns <= now_ns && at_ns < w->phases.course.phase_end_ns;
}

/* A plug holds no more; the remainder goes under the next one. */
static u32 max_batch(const struct spek_worker *w)
{
	return min(w->config->batch, SPEK_COMPAT_PLUG_MAX);
}

static void count_outstanding(struct spek_worker *w)
{
	WRITE_ONCE(w->inflight.outstanding, w->inflight.outstanding + 1);
}

/* Issue a read or a write that is one part in one chunk of the buffer: see struct spek_lane. */
static __always_inline bool issue_whole(struct spek_worker *w, struct spek_slot *slot,
					const struct spek_lane *lane)
{
	const struct spek_target *target = lane->target;
	const struct spek_op *op = &slot->op;
	struct spek_part *part = slot->part;
	const u32 write = op->write;

	slot->status = BLK_STS_OK;
	slot->nr_parts = 1;
	part->target_index = lane->target_index;
	part->target = target;
	part->bytes = op->bytes;
	part->offset = lane->start + op->addr;
	spek_part_arm_whole(part, slot->vec[write], lane->opf[write]);
	part->bio.bi_ioprio = w->ioprio;
	count_outstanding(w);
	WRITE_ONCE(slot->busy, true);
	if (!send_part(w, slot, part, target, lane->count, write))
		return false;
	trace_spek_io_issue(w, slot);
	return true;
}

/* Issue any operation: in traces and mixes with flushes and the like most are plain. */
static noinline bool issue_parts(struct spek_worker *w, struct spek_slot *slot,
				 const struct spek_lane *lane)
{
	bool armed;

	if (slot->op.kind == SPEK_OP_PLAIN && slot->op.bytes < lane->plain_end)
		return issue_whole(w, slot, lane);
	armed = spek_worker_arm_parts(w, slot, lane);
	count_outstanding(w);
	if (!armed) {
		spek_line_hold(w, slot);
		return false;
	}
	return send_parts(w, slot, slot->part);
}

/* Issue the operation that is in a slot just taken. Return: false if it is in a line now. */
static __always_inline bool issue_made(struct spek_worker *w, struct spek_slot *slot, u64 now_ns)
{
	const struct spek_lane *lane = &w->issue.lane[slot->op.asu];

	WRITE_ONCE(slot->issue_ns, now_ns);
	spek_compat_plug_set_time(now_ns);
	if (likely(slot->op.bytes < lane->whole_end))
		return issue_whole(w, slot, lane);
	return issue_parts(w, slot, lane);
}

static noinline bool issue_beside(struct spek_worker *w, struct spek_slot *slot)
{
	release_rooms(w, &slot->op);
	return issue_made(w, slot, ktime_get_ns());
}

/* Issue the operation that is due. Return: false if it is in a line now. */
static bool issue_one(struct spek_worker *w, u64 now_ns)
{
	struct spek_slot *slot = w->issue.free;

	w->issue.free = slot->next_free;
	if (!spek_gen_next_simple(w->gen, &slot->op))
		spek_gen_next(w->gen, &slot->op);
	w->phases.issue_left--;
	return issue_made(w, slot, now_ns);
}

/* ---- lines ---- */

/* Return: true if an operation may be made although others wait. */
static bool can_make(struct spek_worker *w)
{
	return w->config->nr_targets > 1 && can_issue(w) && spek_op_room_find(&w->issue.op_room);
}

/*
 * Return: the line that an operation has to wait in: that of the first of its targets that has one;
 * NULL if there is none
 */
static struct spek_line *line_before(struct spek_worker *w, const struct spek_op *op)
{
	const struct spek_asu_map *map = &w->issue.lane[op->asu].map;
	u32 done, bytes, target = w->issue.lane[op->asu].target_index;
	u64 offset;

	if (map->nr == 1 || !spek_op_has_data(op))
		return w->issue.lines & 1u << target ? &w->issue.line[target] : NULL;
	for (done = 0; done < op->bytes; done += bytes) {
		bytes = spek_asu_map(map, op->addr + done, op->bytes - done, &target, &offset);
		if (w->issue.lines & 1u << target)
			return &w->issue.line[target];
	}
	return NULL;
}

/* Make the operation that is due: issue it, or let it wait. Return: true if it was issued. */
static bool issue_or_wait(struct spek_worker *w)
{
	struct spek_slot *slot = w->issue.free;
	struct spek_line *line;
	struct spek_op op;

	spek_gen_next(w->gen, &op);
	w->phases.issue_left--;
	w->issue.has_made = true;
	line = line_before(w, &op);
	if (line) {
		spek_op_fifo_push(&line->fifo, &w->issue.op_room, &op);
		return false;
	}
	w->issue.free = slot->next_free;
	slot->op = op;
	return issue_beside(w, slot);
}

/* Return: a slot with the operation of a line whose turn it is, or NULL */
static struct spek_slot *take_turn(struct spek_worker *w, struct spek_line *line, bool *is_new)
{
	struct spek_slot *slot = w->issue.free;

	*is_new = !spek_line_has_turn(line);
	if (!*is_new)
		return spek_line_take(w, line);
	if (!line->fifo.nr || !slot || spek_outcome_has_ended(w->inflight.outcome))
		return NULL;
	w->issue.free = slot->next_free;
	spek_op_fifo_pop(&line->fifo, &w->issue.op_room, &slot->op);
	return slot;
}

/* Issue the operations of a line, at most @max. Return: those that were issued */
static u32 serve_line(struct spek_worker *w, struct spek_line *line, u32 max)
{
	struct spek_slot *slot;
	bool is_new;
	u32 n = 0;

	w->issue.served = line;
	while (n < max && (slot = take_turn(w, line, &is_new))) {
		bool sent = is_new ? issue_beside(w, slot) : send_again(w, slot);

		if (!sent && (line->first == slot || line->held == slot))
			break;
		/* It has left the line, if only for that of another target. */
		spek_room_leave(&line->room);
		line->retry_ns = 0;
		n++;
	}
	w->issue.served = NULL;
	spek_line_leave_if_empty(w, line);
	return n;
}

/* Return: operations issued, at most @max of each line */
static u32 serve_lines(struct spek_worker *w, u64 now_ns, u32 max)
{
	unsigned long lines = w->issue.lines;
	u32 n = 0, i;

	for_each_set_bit(i, &lines, SPEK_MAX_TARGETS)
		if (spek_line_may_have_room(w, &w->issue.line[i], now_ns))
			n += serve_line(w, &w->issue.line[i], max);
	return n;
}

/*
 * While operations wait: none may take the turn of the others, which a target would that makes room
 * as fast as it is filled.
 * Return: operations issued, about a batch at most
 */
static u32 issue_batch_beside_lines(struct spek_worker *w, u64 now_ns)
{
	u32 batch = max_batch(w), n, made;
	u32 share = max(batch / (hweight32(w->issue.lines) + 1), 1u);

	n = serve_lines(w, now_ns, share);
	for (made = n < batch ? batch - n : 1; made; made--) {
		if (!is_due(w, ktime_get_ns()) || !(w->issue.lines ? can_make(w) : can_issue(w)))
			break;
		n += issue_or_wait(w);
	}
	return n;
}

/*
 * While no operation waits, and one can be issued and is due.
 * Return: operations issued, at most a batch
 */
static __always_inline u32 issue_batch(struct spek_worker *w, u64 now_ns)
{
	u32 n = 0, batch = max_batch(w);

	do {
		if (!issue_one(w, now_ns))
			return n + 1;
		if (++n >= batch || !can_issue(w))
			break;
		now_ns = ktime_get_ns();
	} while (is_due(w, now_ns));
	return n;
}

/* ---- plugs ---- */

/* Return: true if all back ends use the requests that a plug allocates ahead */
static bool plug_serves_all(const struct spek_worker *w)
{
	const struct spek_target *target = w->issue.targets;
	const struct spek_target *end = target + w->config->nr_targets;

	for (; target < end; target++)
		if (!target->backend->uses_cached_rqs(target))
			return false;
	return true;
}

/* Around a single I/O a plug is pure overhead, unless its back end puts requests on it. */
static bool needs_plug(const struct spek_worker *w)
{
	return w->issue.batch_hint > 1 || w->issue.always_plugs;
}

static __always_inline void start_plug(struct spek_worker *w)
{
	struct blk_plug *plug = &w->issue.plug;

	blk_start_plug(plug);
	if (w->issue.batch_hint > 1 && plug_serves_all(w))
		plug->nr_ios = w->issue.batch_hint;
}

static __always_inline void finish_plug(struct spek_worker *w)
{
	if (unlikely(w->inflight.rooms) && flush_may_sleep(w))
		spek_rooms_release(&w->inflight);
	blk_finish_plug(&w->issue.plug);
}

/* While operations wait. Return: true if one of them, or another one, may be issued now */
static bool may_issue_beside_lines(struct spek_worker *w, u64 now_ns)
{
	unsigned long lines = w->issue.lines;
	u32 i;

	w->issue.has_made = false;
	for_each_set_bit(i, &lines, SPEK_MAX_TARGETS)
		if (spek_line_may_have_room(w, &w->issue.line[i], now_ns))
			return true;
	return is_due(w, now_ns) && can_make(w);
}

/* While operations wait: see spek_worker_issue(). */
static noinline bool issue_beside_lines(struct spek_worker *w, u64 now_ns)
{
	const bool plugged = needs_plug(w);
	u32 n;

	if (!may_issue_beside_lines(w, now_ns))
		return false;
	check_limits(w);
	if (plugged)
		start_plug(w);
	n = issue_batch_beside_lines(w, now_ns);
	if (plugged)
		finish_plug(w);
	w->issue.batch_hint = max(n, 1u);
	return n || w->issue.has_made;
}

/**
 * spek_worker_issue() - issue operations that are due, at most a batch
 * @w: worker
 * @now_ns: current time
 *
 * Context: the worker's thread.
 * Return: true if anything was issued, or made and waits.
 */
bool spek_worker_issue(struct spek_worker *w, u64 now_ns)
{
	bool plugged;
	u32 n;

	if (unlikely(w->issue.lines))
		return issue_beside_lines(w, now_ns);
	if (!(can_issue(w) && is_due(w, now_ns)))
		return false;
	check_limits(w);
	plugged = needs_plug(w);
	if (plugged)
		start_plug(w);
	n = issue_batch(w, now_ns);
	if (plugged)
		finish_plug(w);
	w->issue.batch_hint = max(n, 1u);
	return n;
}

/**
 * spek_worker_next_issue_ns() - find when there may be something to issue, without a completion
 * @w: worker
 *
 * Context: the worker's thread.
 * Return: time; SPEK_NEVER if only a completion, or the end of the run, matters.
 */
u64 spek_worker_next_issue_ns(struct spek_worker *w)
{
	u64 at_ns = SPEK_NEVER, next_ns = spek_gen_next_ns(w->gen);
	unsigned long lines = w->issue.lines;
	u32 i;

	for_each_set_bit(i, &lines, SPEK_MAX_TARGETS)
		if (spek_line_has_turn(&w->issue.line[i]))
			at_ns = min(at_ns, w->issue.line[i].retry_at_ns);
	if (next_ns < w->phases.course.phase_end_ns && (lines ? can_make(w) : can_issue(w)))
		at_ns = min(at_ns, next_ns - min(next_ns, w->config->spin_ns));
	return at_ns;
}
