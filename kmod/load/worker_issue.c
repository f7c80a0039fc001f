// SPDX-License-Identifier: GPL-2.0
/*
 * Issuing: from operations that are due to parts that back ends submit, a batch per call.
 *
 * Everything here runs in the worker's thread. An operation that the driver or, with stamped
 * data, another operation has no room for waits as worker->stalled, and those that are due after
 * it wait behind it.
 */
#include <linux/blk-mq.h>
#include <linux/ktime.h>
#include "../compat/plug.h"
#include "config.h"
#include "submit.h"
#include "verify.h"
#include "worker.h"
#include "worker_issue.h"

/*
 * Delays before a stalled operation is tried again, doubled each time until one of the worker's own
 * completes. The request of that one is free a little after its bio has ended, which is waited for
 * no longer than it takes; a driver that others keep busy is left alone for as long as the block
 * layer does (BLK_MQ_RESOURCE_DELAY).
 */
#define RETRY_MIN_NS	(2 * NSEC_PER_USEC)
#define RETRY_MAX_NS	(100 * NSEC_PER_USEC)
#define RETRY_BUSY_NS	(3 * NSEC_PER_MSEC)

static void back_off(struct spek_worker *w, u64 most_ns)
{
	w->retry_ns = clamp_t(u64, 2 * w->retry_ns, RETRY_MIN_NS, most_ns);
	w->retry_at_ns = ktime_get_ns() + w->retry_ns;
}

/* A part was not taken: the slot waits with it. */
static noinline void stall(struct spek_worker *w, struct spek_slot *slot, struct spek_part *part,
			   int err)
{
	struct spek_target_count *count = &w->count[part->target_index];

	if (err == -EBUSY)
		WRITE_ONCE(count->refused, count->refused + 1);
	else if (part != w->stalled_part)
		WRITE_ONCE(count->tag_waits, count->tag_waits + 1);
	if (part == slot->part)
		WRITE_ONCE(slot->busy, false);
	w->stalled_part = part;
	WRITE_ONCE(w->stalled, slot);
	back_off(w, err == -EBUSY ? RETRY_BUSY_NS : RETRY_MAX_NS);
}

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

		part->target = &w->targets[part->target_index];
		part->bytes = spek_target_part(part->target, part->offset, bytes, done);
		spek_part_arm(part, done, w->inflight.shape->chunk_bytes,
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
		int err = part->target->backend->submit(part);

		if (unlikely(err)) {
			stall(w, slot, part, err);
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
	struct spek_part *part = w->stalled_part;

	if (!part) {
		if (!spek_verify_begin(w->verify, slot, &w->lane[slot->op.asu].map)) {
			back_off(w, RETRY_MAX_NS);
			return false;
		}
		/* It was not given to anybody yet, unlike one that waits for a request. */
		WRITE_ONCE(slot->issue_ns, ktime_get_ns());
		part = slot->part;
	}
	WRITE_ONCE(w->stalled, NULL);
	spek_compat_plug_set_time(ktime_get_ns());
	if (!send(w, slot, part))
		return false;
	w->stalled_part = NULL;
	w->retry_ns = 0;
	return true;
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
	spek_compat_plug_set_time(now_ns);
	armed = arm(w, slot);
	WRITE_ONCE(w->inflight.outstanding, w->inflight.outstanding + 1);
	w->issue_left--;
	if (unlikely(!armed)) {
		w->stalled_part = NULL;
		WRITE_ONCE(w->stalled, slot);
		back_off(w, RETRY_MAX_NS);
		return false;
	}
	return send(w, slot, slot->part);
}

/* Return: operations issued, at most a batch. */
static u32 issue_batch(struct spek_worker *w, u64 now_ns)
{
	/* What is more than a plug holds goes under the next one. */
	u32 n = 0, batch = min(w->config->batch, SPEK_COMPAT_PLUG_MAX);

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
	const struct spek_target *target = w->targets;
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
		plug.nr_ios = w->batch_hint;
	n = issue_batch(w, now_ns);
	blk_finish_plug(&plug);
	return n;
}

/**
 * spek_worker_issue() - issue operations that are due, at most a batch
 * @w: worker
 * @now_ns: current time
 *
 * Context: the worker's thread. Return: true if anything was issued.
 */
bool spek_worker_issue(struct spek_worker *w, u64 now_ns)
{
	u32 n;

	if (unlikely(w->stalled)) {
		if (now_ns < w->retry_at_ns)
			return false;
	} else if (!(can_issue(w) && is_due(w, now_ns))) {
		return false;
	}
	/* A plug around a single I/O only costs. */
	n = w->batch_hint > 1 ? issue_plugged(w, now_ns) : issue_batch(w, now_ns);
	w->batch_hint = max(n, 1u);
	return n;
}

/**
 * spek_worker_drop_stalled() - give up the stalled operation, of which nothing was sent
 * @w: worker with a stalled operation
 *
 * Context: the worker's thread.
 */
void spek_worker_drop_stalled(struct spek_worker *w)
{
	struct spek_slot *slot = w->stalled;

	if (w->verify)
		spek_verify_drop(w->verify, slot, &w->lane[slot->op.asu].map, w->stalled_part);
	WRITE_ONCE(w->stalled, NULL);
	w->stalled_part = NULL;
	slot->next_free = w->free;
	w->free = slot;
	WRITE_ONCE(w->inflight.outstanding, w->inflight.outstanding - 1);
}
