// SPDX-License-Identifier: GPL-2.0
/* Back end mq: parts that are not plainly one request, and those for which there is none. */
#include <linux/bio.h>
#include <linux/blk-cgroup.h>
#include <linux/blk-mq.h>
#include "../compat/plug.h"
#include "room.h"
#include "slot.h"
#include "submit.h"
#include "submit_mq_rare.h"
#include "submit_request.h"
#include "target.h"

/*
 * Count the segments of a contiguous piece as the block layer does, see bvec_split_segs().
 * Return: segments; more than any queue allows if one would have to end where none may
 */
static u32 segments_of(const struct bio_vec *piece, const struct queue_limits *lim, bool is_last)
{
	u64 at = page_to_phys(piece->bv_page) + piece->bv_offset;
	u32 left = piece->bv_len, n = 0;

	while (left) {
		u64 to_boundary = lim->seg_boundary_mask - (at & lim->seg_boundary_mask);
		u32 bytes = min_t(u64, left, to_boundary + 1);

		bytes = min(bytes, lim->max_segment_size);
		at += bytes;
		left -= bytes;
		n++;
		if ((at & lim->virt_boundary_mask) && (left || !is_last))
			return U32_MAX;
	}
	return n;
}

/*
 * Return: segments of a bio that is one request by the queue's current limits; 0 if it isn't one.
 * Limits may have shrunk since the target was opened, and parts are cut by those.
 */
static noinline u32 count_segments(const struct bio *bio, const struct queue_limits *lim,
				   sector_t sector)
{
	const u32 sectors = bio_sectors(bio);
	u32 sum = 0, bytes = 0;
	struct bvec_iter iter;
	struct bio_vec piece;

	if (sectors > lim->max_sectors)
		return 0;
	if (lim->chunk_sectors) {
		u32 into = sector_div(sector, lim->chunk_sectors);

		if (into + sectors > lim->chunk_sectors)
			return 0;
	}
	bio_for_each_bvec(piece, bio, iter) {
		u32 n;

		bytes += piece.bv_len;
		n = segments_of(&piece, lim, bytes == bio->bi_iter.bi_size);
		if (sum && (piece.bv_offset & lim->virt_boundary_mask))
			return 0;
		if (n > lim->max_segments - sum)
			return 0;
		sum += n;
	}
	return sum;
}

/*
 * The part is no longer one request by the current limits: the worker cuts it again, or, where its
 * limits are those already, the block layer does.
 */
static noinline int resubmit_part(struct spek_part *part)
{
	const struct spek_backend_ops *ops = spek_backend_bio_of(part->target);

	if (spek_target_limits_changed(part->target))
		return -E2BIG;
	/* Its bio may wait. */
	spek_rooms_release(part->slot->inflight);
	bio_associate_blkg(&part->bio);
	part->bio.bi_end_io = ops->end_io;
	part->was_submitted = true;
	return ops->submit(part);
}

static noinline int fail_part(struct spek_part *part)
{
	bio_io_error(&part->bio);
	return -EIO;
}

/**
 * spek_mq_flush_plug() - send what is on a plug
 * @part: next part, which is not on it
 * @plug: the thread's, full
 *
 * As the block layer does, so that the first of many requests is not delayed. Drivers may sleep in
 * it, and an operation may fill the plug itself that was empty when its first part was sent.
 */
void spek_mq_flush_plug(const struct spek_part *part, struct blk_plug *plug)
{
	spek_rooms_release(part->slot->inflight);
	blk_finish_plug(plug);
	blk_start_plug(plug);
}

/**
 * spek_mq_count_segments() - count the segments of a part that may have several
 * @part: armed
 * @lim: limits of its queue, which can't change now
 *
 * Return: segments; -EAGAIN if it is not one request.
 */
int spek_mq_count_segments(const struct spek_part *part, const struct queue_limits *lim)
{
	sector_t sector = part->bio.bi_iter.bi_sector + part->target->start_sector;

	return count_segments(&part->bio, lim, sector) ?: -EAGAIN;
}

/**
 * spek_mq_turn_away() - complete a part that can't be sent as a request
 * @part: armed; nothing of its queue is held
 * @verdict: of spek_mq_check() or spek_mq_count_segments(), negative
 *
 * Return: see struct spek_backend_ops.
 */
int spek_mq_turn_away(struct spek_part *part, int verdict)
{
	return verdict == -EIO ? fail_part(part) : resubmit_part(part);
}

/**
 * spek_mq_submit_checked() - send a part that is not plainly one request, if it can be sent
 * @part: armed
 * @rq: its request
 * @plug: the thread's
 * @verdict: of spek_mq_check()
 *
 * Return: see struct spek_backend_ops.
 */
int spek_mq_submit_checked(struct spek_part *part, struct request *rq, struct blk_plug *plug,
			   int verdict)
{
	if (!verdict)
		verdict = spek_mq_count_segments(part, &rq->q->limits);
	if (verdict > 0) {
		spek_mq_add_to_plug(part, part->target, rq, plug, verdict);
		return 0;
	}
	blk_mq_free_request(rq);
	return spek_mq_turn_away(part, verdict);
}

/**
 * spek_mq_submit_nothing() - decide what to do with a part for which there is no request
 * @part: armed
 * @err: of the allocation
 *
 * Return: see struct spek_backend_ops.
 */
int spek_mq_submit_nothing(struct spek_part *part, int err)
{
	return spek_request_should_retry(part, err) ? -EAGAIN : fail_part(part);
}
