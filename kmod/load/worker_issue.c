// SPDX-License-Identifier: GPL-2.0
/*
 * Issuing: turns operations that are due into parts and submits these through back ends, one batch
 * per call.
 *
 * Everything here runs in the worker's thread. If the driver has no room for an operation, or with
 * stamped data another operation holds its blocks, or its zone is busy, it becomes issue.stalled,
 * and the operations that are due after it wait behind it.
 *
 * Cutting operations into parts is in worker_arm.c.
 */
#include <linux/blk-mq.h>
#include <linux/ktime.h>
#include "../compat/plug.h"
#include "config.h"
#include "outcome.h"
#include "submit.h"
#include "trace.h"
#include "verify.h"
#include "worker_arm.h"
#include "worker_issue.h"
#include "worker_state.h"
#include "zone.h"

/*
 * Check one target per batch, in turn. Until its turn, back ends notice a lower number of sectors,
 * which sysfs can change at any time. Other limits are changed by drivers only.
 */
static void check_limits(struct spek_worker *w)
{
	if (unlikely(spek_target_limits_changed(&w->issue.targets[w->issue.next_checked])))
		spek_worker_read_limits(w);
	if (++w->issue.next_checked == w->config->nr_targets)
		w->issue.next_checked = 0;
}

/* Return: see spek_worker_arm_placed() */
static inline bool arm(struct spek_worker *w, struct spek_slot *slot)
{
	const struct spek_op *op = &slot->op;
	const struct spek_lane *lane = &w->issue.lane[op->asu];
	struct spek_part *part = slot->part;

	if (unlikely(op->bytes >= lane->whole_end))
		return spek_worker_arm_parts(w, slot, lane);
	slot->status = BLK_STS_OK;
	slot->nr_parts = 1;
	part->target_index = lane->target_index;
	part->target = lane->target;
	part->bytes = op->bytes;
	part->offset = lane->start + op->addr;
	spek_part_arm_whole(part, slot, lane->opf[op->write]);
	part->bio.bi_ioprio = w->ioprio;
	return true;
}

/* ---- sending ---- */

/*
 * Delays before a stalled operation is tried again, doubled each time until one of the worker's
 * own completes. The request of that one is free a little after its bio has ended, which is waited
 * for no longer than it takes; a driver that others keep busy is left alone for as long as the
 * block layer does (BLK_MQ_RESOURCE_DELAY).
 */
#define RETRY_MIN_NS	(2 * NSEC_PER_USEC)
#define RETRY_MAX_NS	(100 * NSEC_PER_USEC)
#define RETRY_BUSY_NS	(3 * NSEC_PER_MSEC)

static void back_off(struct spek_worker *w, u64 most_ns)
{
	w->issue.retry_ns = clamp_t(u64, 2 * w->issue.retry_ns, RETRY_MIN_NS, most_ns);
	w->issue.retry_at_ns = ktime_get_ns() + w->issue.retry_ns;
}

/* An operation could not begin. */
static void hold(struct spek_worker *w)
{
	if (w->zone_gate && spek_zone_is_woken(w->zone_gate))
		w->issue.retry_at_ns = SPEK_NEVER;
	else
		back_off(w, RETRY_MAX_NS);
}

/*
 * A worker takes the requests that it frees before others have looked for one. Where workers share
 * requests, each gives way from time to time, for as long as it takes the others to look: 2.5 % of
 * the time, so that a fast device loses little.
 */
#define GIVE_WAY_NS	(2 * RETRY_MAX_NS)
#define KEEP_NS		(8 * NSEC_PER_MSEC)

/**
 * spek_worker_give_way() - let other workers have the next request, if it is their turn
 * @w: worker with a stalled part
 *
 * Context: the worker's thread.
 */
void spek_worker_give_way(struct spek_worker *w)
{
	u64 now_ns;

	if (w->issue.recuts || w->config->nr_workers <= w->issue.stalled_part->target->pools)
		return;
	now_ns = ktime_get_ns();
	if (now_ns - w->issue.gave_way_ns >= KEEP_NS)
		w->issue.gave_way_ns = now_ns;
	w->issue.retry_at_ns = w->issue.gave_way_ns + GIVE_WAY_NS;
}

/* A part was not accepted: the slot waits with it. */
static noinline void stall(struct spek_worker *w, struct spek_slot *slot, struct spek_part *part,
			   int err)
{
	struct spek_target_count *count = &w->issue.count[part->target_index];

	w->issue.recuts = err == -E2BIG;
	if (err == -EBUSY)
		WRITE_ONCE(count->refused, count->refused + 1);
	else if (err == -EAGAIN && part != w->issue.stalled_part)
		WRITE_ONCE(count->tag_waits, count->tag_waits + 1);
	if (part == slot->part)
		WRITE_ONCE(slot->busy, false);
	w->issue.stalled_part = part;
	WRITE_ONCE(w->issue.stalled, slot);
	if (w->issue.recuts)
		w->issue.retry_at_ns = 0;
	else
		back_off(w, err == -EBUSY ? RETRY_BUSY_NS : RETRY_MAX_NS);
}

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
 * Send the parts of a slot from @part on. They may be back on the completion list at once,
 * but the slot stays as it is until this thread accounts it.
 */
static __always_inline bool send(struct spek_worker *w, struct spek_slot *slot,
				 struct spek_part *part)
{
	const u32 write = slot->op.write;

	WRITE_ONCE(slot->busy, true);
	for (;;) {
		struct spek_target_count *count = &w->issue.count[part->target_index];
		int err = spek_backend_submit(part->target->backend, part);

		if (unlikely(err < 0)) {
			stall(w, slot, part, err);
			return false;
		}
		if (unlikely(err))
			count_cuts(w, slot, count, err);
		if (unlikely(w->polls) && part->target->polled)
			w->issue.poller[part->target_index].last = &part->bio;
		WRITE_ONCE(count->ios[write], count->ios[write] + 1);
		WRITE_ONCE(count->bytes[write], count->bytes[write] + part->bytes);
		if (likely(slot->nr_parts == 1) || ++part == slot->part + slot->nr_parts)
			break;
	}
	if (unlikely(slot->op.kind >= SPEK_OP_FLUSH))
		count_bare(w, slot);
	trace_spek_io_issue(w, slot);
	return true;
}

/* Some parts of the stalled operation were sent and the others can't be: fail these. */
static void fail_unsent(struct spek_worker *w)
{
	struct spek_slot *slot = w->issue.stalled;
	struct spek_part *part = w->issue.stalled_part;
	u32 left = slot->nr_parts - (part - slot->part);

	w->issue.recuts = false;
	w->issue.stalled_part = NULL;
	WRITE_ONCE(w->issue.stalled, NULL);
	for (; left--; part++) {
		/* What is there is of an earlier operation: the device never saw this part. */
		memset(&part->sense, 0, sizeof(part->sense));
		bio_io_error(&part->bio);
	}
}

/*
 * Cut the unsent part of the stalled operation by the current limits.
 * Return: false if that must wait for parts that are with devices, or the run ends
 */
static noinline bool recut(struct spek_worker *w)
{
	struct spek_slot *slot = w->issue.stalled;
	u32 sent = w->issue.stalled_part - slot->part;
	u32 unsent = slot->nr_parts - sent;
	const struct spek_part *part;
	u32 done = 0, nr;

	spek_worker_read_limits(w);
	for (part = slot->part; part < w->issue.stalled_part; part++)
		done += part->bytes;
	nr = spek_worker_cut(w, slot, w->issue.stalled_part, done);
	if (nr > slot->max_parts) {
		if (sent && atomic_read(&slot->parts_left) > unsent)
			return false;
		if (!spek_worker_grow(w, slot, nr)) {
			if (sent)
				fail_unsent(w);
			return false;
		}
		w->issue.stalled_part = slot->part + sent;
		nr = spek_worker_cut(w, slot, w->issue.stalled_part, done);
	}
	if (!sent)
		atomic_set(&slot->parts_left, nr);
	else
		atomic_add(nr - slot->nr_parts, &slot->parts_left);
	/* Completions of other parts may read it: it stays above 1. */
	WRITE_ONCE(slot->nr_parts, nr);
	w->issue.recuts = false;
	return true;
}

/* Return: false if the stalled operation, which was not tried yet, must keep waiting */
static bool begin_stalled(struct spek_worker *w)
{
	struct spek_slot *slot = w->issue.stalled;

	if (slot->nr_parts)
		return spek_worker_begin(w, slot);
	/* There was no memory for its parts, or it has another place. */
	return !spek_outcome_has_ended(w->inflight.outcome) &&
	       spek_worker_arm_placed(w, slot, &w->issue.lane[slot->op.asu]);
}

static noinline bool send_stalled(struct spek_worker *w)
{
	struct spek_slot *slot = w->issue.stalled;
	struct spek_part *part = w->issue.stalled_part;

	if (unlikely(w->issue.recuts)) {
		if (!recut(w)) {
			back_off(w, RETRY_MAX_NS);
			return false;
		}
		part = w->issue.stalled_part;
		/* The next part has not waited yet. */
		w->issue.stalled_part = NULL;
	}
	if (!part) {
		if (!begin_stalled(w)) {
			hold(w);
			return false;
		}
		/* It was not offered to the driver yet, unlike one that waits for a request. */
		WRITE_ONCE(slot->issue_ns, ktime_get_ns());
		part = slot->part;
	}
	WRITE_ONCE(w->issue.stalled, NULL);
	spek_compat_plug_set_time(ktime_get_ns());
	if (!send(w, slot, part))
		return false;
	w->issue.stalled_part = NULL;
	w->issue.retry_ns = 0;
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

/* Issue the operation that is due. Return: false if the driver has no room for it now. */
static bool issue_one(struct spek_worker *w, u64 now_ns)
{
	struct spek_slot *slot = w->issue.free;
	bool armed;

	w->issue.free = slot->next_free;
	spek_gen_next(w->gen, &slot->op);
	WRITE_ONCE(slot->issue_ns, now_ns);
	spek_compat_plug_set_time(now_ns);
	armed = arm(w, slot);
	WRITE_ONCE(w->inflight.outstanding, w->inflight.outstanding + 1);
	w->phases.issue_left--;
	if (unlikely(!armed)) {
		w->issue.stalled_part = NULL;
		WRITE_ONCE(w->issue.stalled, slot);
		hold(w);
		return false;
	}
	return send(w, slot, slot->part);
}

/* Return: operations issued, at most a batch. */
static u32 issue_batch(struct spek_worker *w, u64 now_ns)
{
	/* A plug holds no more; the remainder goes under the next one. */
	u32 n = 0, batch = min(w->config->batch, SPEK_COMPAT_PLUG_MAX);

	if (w->issue.stalled) {
		if (!send_stalled(w))
			return 0;
		n = 1;
		now_ns = ktime_get_ns();
	}
	while (can_issue(w) && is_due(w, now_ns)) {
		if (!issue_one(w, now_ns))
			return n + 1;
		if (++n >= batch)
			break;
		now_ns = ktime_get_ns();
	}
	return n;
}

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

static noinline u32 issue_plugged(struct spek_worker *w, u64 now_ns)
{
	struct blk_plug plug;
	u32 n;

	blk_start_plug(&plug);
	if (plug_serves_all(w))
		plug.nr_ios = w->issue.batch_hint;
	n = issue_batch(w, now_ns);
	blk_finish_plug(&plug);
	return n;
}

/**
 * spek_worker_issue() - issue operations that are due, at most a batch
 * @w: worker
 * @now_ns: current time
 *
 * Context: the worker's thread.
 * Return: true if anything was issued.
 */
bool spek_worker_issue(struct spek_worker *w, u64 now_ns)
{
	u32 n;

	if (unlikely(w->issue.stalled)) {
		if (now_ns < w->issue.retry_at_ns &&
		    !(w->zone_gate && spek_zone_has_news(w->zone_gate)))
			return false;
	} else if (!(can_issue(w) && is_due(w, now_ns))) {
		return false;
	}
	check_limits(w);
	/* A plug around a single I/O is pure overhead. */
	n = w->issue.batch_hint > 1 ? issue_plugged(w, now_ns) : issue_batch(w, now_ns);
	w->issue.batch_hint = max(n, 1u);
	return n;
}

/**
 * spek_worker_leave_zone() - place what waits for a zone elsewhere
 * @w: worker
 * @failed: operation for whose failure the zone was lost
 *
 * Context: the worker's thread.
 */
void spek_worker_leave_zone(struct spek_worker *w, const struct spek_slot *failed)
{
	struct spek_slot *slot = w->issue.stalled;

	/* With a part to send it has its zone, which no other operation can have lost. */
	if (!slot || w->issue.stalled_part ||
	    !spek_zone_is_waited_for(w->zone_gate, slot, failed))
		return;
	if (w->verify && slot->nr_parts)
		spek_verify_drop(w->verify, &slot->op, &w->issue.lane[slot->op.asu].map, false);
	spek_gen_place(w->gen, &slot->op);
	slot->nr_parts = 0;
}

/**
 * spek_worker_drop_stalled() - give up the stalled operation, of which nothing was sent
 * @w: worker with a stalled operation
 *
 * Context: the worker's thread.
 */
void spek_worker_drop_stalled(struct spek_worker *w)
{
	struct spek_slot *slot = w->issue.stalled;
	const struct spek_asu_map *asu = &w->issue.lane[slot->op.asu].map;

	/* Without parts (out of memory) it has not requested its blocks. */
	if (w->zone_gate)
		spek_zone_drop(w->zone_gate, slot, asu);
	if (w->verify && slot->nr_parts)
		spek_verify_drop(w->verify, &slot->op, asu, w->issue.stalled_part);
	WRITE_ONCE(w->issue.stalled, NULL);
	w->issue.stalled_part = NULL;
	w->issue.recuts = false;
	slot->next_free = w->issue.free;
	w->issue.free = slot;
	WRITE_ONCE(w->inflight.outstanding, w->inflight.outstanding - 1);
}
