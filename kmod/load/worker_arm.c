// SPDX-License-Identifier: GPL-2.0
/*
 * Arming: how an operation becomes parts, by the limits of its targets, and whether it may begin.
 *
 * Limits may shrink during a run. The worker compares them once per batch, and back ends refuse
 * parts that exceed them: the operation stalls and is cut again, if need be into more parts than
 * its slot has room for. That is the only allocation of slots during a run.
 *
 * Everything here runs in the worker's thread.
 */
#include <linux/blk-mq.h>
#include <linux/build_bug.h>
#include <linux/fcntl.h>
#include <linux/ioprio.h>
#include <linux/ktime.h>
#include "../compat/compat.h"
#include "config.h"
#include "outcome.h"
#include "room.h"
#include "submit.h"
#include "verify.h"
#include "worker_arm.h"
#include "worker_issue.h"
#include "worker_state.h"
#include "zone.h"

/* ---- limits ---- */

/* Return: true if the driver of a target may sleep when it is given a request */
static bool driver_may_sleep(const struct spek_target *target)
{
	struct request_queue *q = bdev_get_queue(target->handle.bdev);

	return queue_is_mq(q) && q->tag_set->flags & BLK_MQ_F_BLOCKING;
}

/*
 * Return: true if the submission of reads and writes may sleep, see submit_bio.c and
 * submit_mq_protected.c. Back end mq gives nothing to a driver before the plug is flushed.
 */
static bool may_sleep(const struct spek_target *target)
{
	return target->backend == &spek_backend_mq_protected ||
	       (target->backend->id == SPEK_BACKEND_BIO && !target->nowait) ||
	       (!target->backend->plugs && driver_may_sleep(target));
}

static void init_lane(struct spek_lane *lane, struct spek_worker *w,
		      const struct spek_asu *asu)
{
	u32 dir, i;

	spek_asu_map_init(&lane->map, asu);
	lane->target_index = asu->extent[0].target;
	lane->target = &w->issue.targets[lane->target_index];
	lane->count = &w->issue.count[lane->target_index];
	lane->start = asu->extent[0].start;
	for (dir = 0; dir < 2; dir++)
		lane->opf[dir] = spek_target_opf(lane->target, dir);
	lane->may_sleep = false;
	for (i = 0; i < asu->nr_extents; i++)
		lane->may_sleep |= may_sleep(&w->issue.targets[asu->extent[i].target]);
	lane->plain_end = 0;
	/* What is stamped, waits for zones, or has hints or own data takes more than its parts. */
	if (!w->verify && !w->zone_gate && !w->hints && !w->contents && asu->nr_extents == 1 &&
	    !lane->target->chunk_sectors)
		lane->plain_end = 1 + min(spek_target_whole_bytes(lane->target),
					  w->inflight.shape->chunk_bytes);
	lane->whole_end = !w->replay && spek_workload_is_plain(&w->config->workload) ?
			  lane->plain_end : 0;
}

/**
 * spek_worker_flush_may_sleep() - check whether drivers may sleep in the flush of a worker's plugs
 * @w: worker; targets are set
 *
 * A plug has the requests of bio-based targets for their members, of which nothing is known.
 *
 * Return: true if they may.
 */
bool spek_worker_flush_may_sleep(const struct spek_worker *w)
{
	const struct spek_target *target = w->issue.targets;
	const struct spek_target *end = target + w->config->nr_targets;

	for (; target < end; target++)
		if (driver_may_sleep(target) || !queue_is_mq(bdev_get_queue(target->handle.bdev)))
			return true;
	return false;
}

/**
 * spek_worker_init_lanes() - prepare how operations become parts, by the targets' limits
 * @w: worker; targets are set
 *
 * Context: before the start, or the worker's thread.
 */
void spek_worker_init_lanes(struct spek_worker *w)
{
	u32 i;

	w->hints = spek_workload_has_hints(&w->config->workload);
	for (i = 0; i < w->config->workload.nr_asus; i++)
		init_lane(&w->issue.lane[i], w, &w->config->workload.asu[i]);
}

/**
 * spek_worker_read_limits() - adapt to the limits of the targets as they are now
 * @w: worker
 *
 * Context: the worker's thread.
 */
void spek_worker_read_limits(struct spek_worker *w)
{
	u32 i;

	for (i = 0; i < w->config->nr_targets; i++)
		spek_target_read_limits(&w->issue.targets[i], w->inflight.shape->chunk_bytes);
	spek_worker_init_lanes(w);
}

/* ---- parts ---- */

/* Both go to the block layer as they are. */
static_assert((int)SPEK_PRIORITY_RT == IOPRIO_CLASS_RT &&
	      (int)SPEK_PRIORITY_IDLE == IOPRIO_CLASS_IDLE);
static_assert(SPEK_WRITE_HINT_NONE == RWH_WRITE_LIFE_NONE &&
	      SPEK_WRITE_HINT_EXTREME == RWH_WRITE_LIFE_EXTREME);

/* Give a part the hints of its stream. Reads too: an earlier write may have left its hint. */
static noinline void set_hints(const struct spek_worker *w, const struct spek_op *op,
			       struct spek_part *part)
{
	const struct spek_stream *stream = &w->config->workload.stream[op->stream];

	if (stream->priority)
		part->bio.bi_ioprio = IOPRIO_PRIO_VALUE(stream->priority, stream->priority_level);
	spek_compat_bio_set_write_hint(&part->bio, op->write ? stream->write_hint : 0);
	if (stream->atomic && op->write)
		part->bio.bi_opf |= SPEK_COMPAT_REQ_ATOMIC;
}

/**
 * spek_worker_must_not_cut() - check for an atomic write that the device's limits would split
 * @w: worker
 * @op: operation
 * @nr: parts of it by the limits as they are now
 *
 * At the start of the run it was one request. Split into several it would not be atomic, so the run
 * ends.
 *
 * Context: the worker's thread.
 * Return: true if the run ends.
 */
bool spek_worker_must_not_cut(struct spek_worker *w, const struct spek_op *op, u32 nr)
{
	if (likely(nr == 1) || !op->write || !w->config->workload.stream[op->stream].atomic)
		return false;
	spek_outcome_end(w->inflight.outcome, SPEK_REASON_LIMITS);
	return true;
}

/**
 * spek_worker_cut() - cut an operation into parts and arm their bios
 * @w: worker
 * @slot: of the operation
 * @part: first part to be made
 * @done: byte of the operation where it begins
 *
 * Context: the worker's thread.
 * Return: parts of the operation; if they exceed those of the slot, it isn't fully armed.
 */
u32 spek_worker_cut(struct spek_worker *w, struct spek_slot *slot, struct spek_part *part,
		    u32 done)
{
	const struct spek_op *op = &slot->op;
	const struct spek_lane *lane = &w->issue.lane[op->asu];
	blk_opf_t more = (op->kind & SPEK_OP_FUA ? REQ_FUA : 0) |
			 (op->kind & SPEK_OP_PREFLUSH ? REQ_PREFLUSH : 0);
	u32 nr = part - slot->part;

	for (; done < op->bytes; nr++) {
		u32 target_index, bytes;
		u64 offset;

		bytes = spek_asu_map(&lane->map, op->addr + done, op->bytes - done, &target_index,
				     &offset);
		bytes = spek_target_part(&w->issue.targets[target_index], offset, bytes, done);
		if (likely(nr < slot->max_parts)) {
			part->target_index = target_index;
			part->target = &w->issue.targets[target_index];
			part->offset = offset;
			part->bytes = bytes;
			spek_part_arm(part, done, w->inflight.shape->chunk_bytes,
				      spek_target_opf(part->target, op->write) | more);
			part->bio.bi_ioprio = w->ioprio;
			if (op->kind == SPEK_OP_ZONE_APPEND)
				spek_zone_arm_append(part);
			if (unlikely(w->hints))
				set_hints(w, op, part);
			part++;
		}
		done += bytes;
	}
	return nr;
}

/**
 * spek_worker_grow() - give a slot room for more parts
 * @w: worker
 * @slot: none of its parts is with a device
 * @nr_parts: parts wanted
 *
 * Context: the worker's thread.
 * Return: false if out of memory, which ends the run.
 */
bool spek_worker_grow(struct spek_worker *w, struct spek_slot *slot, u32 nr_parts)
{
	const struct spek_part *end = slot->part + slot->max_parts;
	u32 i;

	/* Allocations may sleep. */
	spek_rooms_release(&w->inflight);
	/* Save the cookie of a poller whose bio is about to be freed. */
	for (i = 0; i < w->config->nr_targets; i++) {
		struct spek_poller *poller = &w->issue.poller[i];
		const struct bio *last = poller->last;

		if (!last || (void *)last < (void *)slot->part || (void *)last >= (void *)end)
			continue;
		/* As in poll_for(): the slot may have been used for another target since. */
		if (READ_ONCE(last->bi_cookie) != BLK_QC_T_NONE &&
		    last->bi_bdev == w->issue.targets[i].handle.bdev)
			poller->bio.bi_cookie = last->bi_cookie;
		poller->last = &poller->bio;
	}
	if (!spek_slot_grow(slot, nr_parts))
		return true;
	spek_outcome_end(w->inflight.outcome, SPEK_REASON_LIMITS);
	return false;
}

static blk_opf_t bare_opf(u8 kind)
{
	if (kind == SPEK_OP_FLUSH)
		return REQ_OP_WRITE | REQ_PREFLUSH | REQ_SYNC;
	/* Without the block layer's leave to deallocate, as for ioctl BLKZEROOUT. */
	if (kind == SPEK_OP_WRITE_ZEROES)
		return REQ_OP_WRITE_ZEROES | REQ_NOUNMAP | REQ_SYNC | REQ_NOMERGE;
	switch (kind) {
	case SPEK_OP_ZONE_RESET:
		return REQ_OP_ZONE_RESET | REQ_SYNC;
	case SPEK_OP_ZONE_FINISH:
		return REQ_OP_ZONE_FINISH | REQ_SYNC;
	case SPEK_OP_ZONE_OPEN:
		return REQ_OP_ZONE_OPEN | REQ_SYNC;
	case SPEK_OP_ZONE_CLOSE:
		return REQ_OP_ZONE_CLOSE | REQ_SYNC;
	default:
		return REQ_OP_DISCARD | REQ_NOMERGE;
	}
}

/* Arm what carries no data: one bio, which the block layer splits if it has to. */
static void arm_bare(struct spek_worker *w, struct spek_slot *slot, const struct spek_lane *lane)
{
	const struct spek_op *op = &slot->op;
	struct spek_part *part = slot->part;

	slot->nr_parts = 1;
	part->target_index = lane->target_index;
	part->target = lane->target;
	part->bytes = op->bytes;
	part->offset = op->kind == SPEK_OP_FLUSH ? 0 : lane->start + op->addr;
	spek_part_reset(part, bare_opf(op->kind));
	part->bio.bi_vcnt = 0;
	part->bio.bi_ioprio = w->ioprio;
	if (unlikely(w->hints))
		set_hints(w, op, part);
}

/* Write the data of an operation: once, however often it is cut. */
static noinline void write_data(struct spek_worker *w, struct spek_slot *slot)
{
	const u32 chunk_bytes = w->inflight.shape->chunk_bytes;
	const struct spek_op *op = &slot->op;
	u32 done, bytes;

	for (done = 0; done < op->bytes; done += bytes) {
		bytes = min_t(u32, op->bytes - done, SPEK_CONTENTS_BLOCK);
		spek_contents_write(&w->contents[op->stream],
				    spek_slot_block(slot, done, chunk_bytes), bytes);
	}
	/* That took time. */
	WRITE_ONCE(slot->issue_ns, ktime_get_ns());
}

/**
 * spek_worker_begin() - ask for the zone and the blocks of an armed operation
 * @w: worker
 * @slot: of the operation
 *
 * It gets both or none: an operation that has to wait must not keep others out.
 *
 * Context: the worker's thread.
 * Return: true if it may be sent now; else ask again.
 */
bool spek_worker_begin(struct spek_worker *w, struct spek_slot *slot)
{
	const struct spek_asu_map *asu = &w->issue.lane[slot->op.asu].map;

	if (w->zone_gate && !spek_zone_prepare(w->zone_gate, slot, asu))
		return false;
	if (w->verify && !spek_verify_begin(w->verify, slot, asu)) {
		if (!slot->stalled)
			spek_verify_count_wait(w->verify);
		return false;
	}
	if (w->zone_gate)
		spek_zone_begin(w->zone_gate, slot);
	/* Acquiring and stamping blocks took time. */
	if (w->verify)
		WRITE_ONCE(slot->issue_ns, ktime_get_ns());
	return true;
}

/**
 * spek_worker_arm_placed() - cut an operation that has its place into parts, and arm their bios
 * @w: worker
 * @slot: of the operation
 * @lane: of its asu
 *
 * Context: the worker's thread.
 * Return: false if it has to wait for another operation on its zone or its blocks, or the run ends.
 */
bool spek_worker_arm_placed(struct spek_worker *w, struct spek_slot *slot,
			    const struct spek_lane *lane)
{
	u32 nr;

	slot->status = BLK_STS_OK;
	if (!spek_op_has_data(&slot->op)) {
		arm_bare(w, slot, lane);
		return spek_worker_begin(w, slot);
	}
	nr = spek_worker_cut(w, slot, slot->part, 0);
	slot->nr_parts = 0;
	if (unlikely(w->hints) && spek_worker_must_not_cut(w, &slot->op, nr))
		return false;
	if (unlikely(nr > slot->max_parts)) {
		if (!spek_worker_grow(w, slot, nr))
			return false;
		nr = spek_worker_cut(w, slot, slot->part, 0);
	}
	slot->nr_parts = nr;
	if (nr > 1)
		atomic_set(&slot->parts_left, nr);
	if (unlikely(w->contents) && slot->op.write)
		write_data(w, slot);
	return spek_worker_begin(w, slot);
}

/**
 * spek_worker_arm_parts() - find the place of an operation that was just made, and arm it
 * @w: worker
 * @slot: of the operation
 * @lane: of its asu
 *
 * Context: the worker's thread.
 * Return: see spek_worker_arm_placed().
 */
bool spek_worker_arm_parts(struct spek_worker *w, struct spek_slot *slot,
			   const struct spek_lane *lane)
{
	if (w->zone_gate)
		spek_gen_place(w->gen, &slot->op);
	return spek_worker_arm_placed(w, slot, lane);
}
