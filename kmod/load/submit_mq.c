// SPDX-License-Identifier: GPL-2.0
/*
 * Back end mq: requests from the device's own tag set, put on the list of the worker's plug.
 * Flushing the plug gives them to the driver like the requests of bios: in order, as a batch with
 * one doorbell, through the elevator if the device has one. If the driver has no room, the block
 * layer keeps them and sends them later. This path has no splitting, merging, write-back
 * throttling or cgroup limits, which only bios get.
 *
 * The back end owns a request until it is on the list. From then on the block layer ends its bio,
 * whatever becomes of the request. This thread does not sleep in between, so nothing flushes the
 * plug there.
 *
 * While a request is allocated, the queue's limits, block size and statistics can't change, since
 * changing them freezes the queue. So they are read with the request at hand.
 */
#include <linux/bio.h>
#include <linux/blk-cgroup.h>
#include <linux/blk-integrity.h>
#include <linux/blk-mq.h>
#include <linux/sizes.h>
#include "../compat/plug.h"
#include "../compat/series.h"
#include "room.h"
#include "slot.h"
#include "submit.h"
#include "submit_request.h"
#include "target.h"

static const char *why_unsupported(const struct spek_target *target)
{
	struct request_queue *q = bdev_get_queue(target->handle.bdev);

	if (!queue_is_mq(q))
		return "The device is bio-based, not request-based (blk-mq).";
	if (!SPEK_COMPAT_KNOWS_ACCOUNTING)
		return SPEK_COMPAT_MQ_CAVEAT;
	if (bdev_is_zoned(target->handle.bdev))
		return "The device is zoned: writes are ordered above the request path.";
	if (blk_get_integrity(target->handle.bdev->bd_disk))
		return "The device carries integrity data, generated above the request path.";
	return NULL;
}

/*
 * Where reads have no queues of their own, blk_mq_alloc_request() gives a read none of the tags
 * that a plug has allocated ahead: it compares the queue type of reads with the type of the queue
 * that they share. So the allocation uses the flags of a write; the request gets its own operation
 * before it is sent. Elevators limit reads and writes differently: with one, the allocation uses
 * the real operation, and tags are allocated one by one.
 */
static inline bool gets_cached_rqs(const struct request_queue *q, const struct spek_target *target)
{
	return likely(!q->elevator) && likely(!target->own_read_queues);
}

static bool uses_cached_rqs(const struct spek_target *target)
{
	return gets_cached_rqs(bdev_get_queue(target->handle.bdev), target);
}

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
 * A quick check for what is nearly always one segment; false: count_segments() knows. Every queue
 * takes up to 4 KiB within a page. Larger pieces lie within a chunk of the slot's buffer, which is
 * aligned to its size: no boundary of SPEK_SLOT_CHUNK_MAX bytes or more is inside.
 */
static inline bool is_one_segment(const struct spek_part *part, const struct queue_limits *lim)
{
	const struct bio_vec *vec = &part->vec;

	if (unlikely(!part->bio.bi_vcnt) || unlikely(lim->chunk_sectors))
		return false;
	if (vec->bv_offset + vec->bv_len <= SZ_4K)
		return true;
	return vec->bv_len <= lim->max_segment_size &&
	       vec->bv_len >> SECTOR_SHIFT <= lim->max_sectors &&
	       lim->seg_boundary_mask >= SPEK_SLOT_CHUNK_MAX - 1;
}

/*
 * All checks of a part on its way to the driver. They need its request: as long as that exists,
 * limits, block size, integrity and the disk don't change, since changing any of them freezes the
 * queue first (for the disk see spek_request_is_late()).
 *
 * submit_bio(), submit_bio_noacct() and blk_mq_submit_bio() of Linux 6.1 to 7.3 also look at the
 * following, in this order:
 * - the task's I/O accounting and priority: kernel threads have none, and the bio has the stream's;
 * - REQ_NOWAIT on a queue that cannot: the allocation does not wait in any queue;
 * - fail_make_request: injects errors into bios only;
 * - a disk that has become read-only: they only warn, the claim was for writing;
 * - the end of the partition, and its start: here;
 * - flushes, FUA, discards, zone commands, atomic writes: only plain reads and writes come here,
 *   see spek_workload_is_plain();
 * - REQ_POLLED on a queue that has lost its poll queues: the allocation then takes one that
 *   interrupts, and spek_poll_targets() does not poll that;
 * - cgroups and rq_qos (throttling, iocost, write-back throttling): deliberately not for spek,
 *   whose load is the test;
 * - a queue that is frozen or suspended: the allocation fails, see spek_request_should_retry();
 * - a dead disk: here;
 * - bounce buffers: buffers have no highmem pages, and nothing is built for 32 bits;
 * - a start or length that is no multiple of the logical block: here, by the block size, which
 *   addresses and sizes were checked against when the target was opened;
 * - limits: here;
 * - integrity: refused when the target is opened; here if it came later, with a format;
 * - merges: REQ_NOMERGE;
 * - inline encryption: bios have no key;
 * - zone write plugging: zoned disks are refused.
 *
 * Return: segments of the data; 0 if they have to be counted, -EAGAIN if the block layer has to
 * complete the part, -EIO if nothing may be sent
 */
static __always_inline int check_request(const struct spek_part *part, const struct request *rq)
{
	const struct bio *bio = &part->bio;
	const struct block_device *bdev = bio->bi_bdev;
	struct request_queue *q = rq->q;

	if (unlikely(spek_request_is_late(bdev)) ||
	    unlikely(bio_end_sector(bio) > bdev->bd_nr_sectors) ||
	    unlikely(q->limits.logical_block_size != part->target->logical_block))
		return -EIO;
	if (unlikely(blk_integrity_queue_supports_integrity(q)))
		return -EAGAIN;
	return likely(is_one_segment(part, &q->limits));
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
	return 0;
}

/* As the block layer does, so that the first of many requests is not delayed. */
static noinline void flush_list(struct blk_plug *plug)
{
	blk_finish_plug(plug);
	blk_start_plug(plug);
}

static __always_inline struct request *alloc_request(const struct spek_part *part)
{
	struct request_queue *q = bdev_get_queue(part->bio.bi_bdev);
	blk_opf_t opf = part->bio.bi_opf;

	if (gets_cached_rqs(q, part->target))
		opf |= REQ_OP_WRITE;
	return blk_mq_alloc_request(q, opf, BLK_MQ_REQ_NOWAIT);
}

static __always_inline void add_to_plug(struct spek_part *part, struct request *rq,
					struct blk_plug *plug, u32 nr_segments)
{
	struct bio *bio = &part->bio;

	rq->__sector = bio->bi_iter.bi_sector + part->target->start_sector;
	rq->cmd_flags = bio->bi_opf;
	rq->__data_len = bio->bi_iter.bi_size;
	rq->nr_phys_segments = nr_segments;
	rq->bio = bio;
	rq->biotail = bio;
	spek_compat_request_init_hints(rq, bio);
	spek_compat_request_count_start(rq, plug, bio->bi_bdev, part->slot->issue_ns);
	spek_compat_plug_add(plug, rq);
}

/* Apart, and called last: what is common then needs few registers. */
static noinline int submit_checked(struct spek_part *part, struct request *rq,
				   struct blk_plug *plug, int verdict)
{
	u32 nr_segments;

	if (!verdict) {
		nr_segments = count_segments(&part->bio, &rq->q->limits,
					     part->bio.bi_iter.bi_sector +
					     part->target->start_sector);
		if (nr_segments) {
			add_to_plug(part, rq, plug, nr_segments);
			return 0;
		}
	}
	blk_mq_free_request(rq);
	return verdict == -EIO ? fail_part(part) : resubmit_part(part);
}

static noinline int submit_nothing(struct spek_part *part, int err)
{
	return spek_request_should_retry(part, err) ? -EAGAIN : fail_part(part);
}

/**
 * spek_mq_submit() - the submit function of back end mq, for calls without a pointer
 * @part: armed
 *
 * Return: see struct spek_backend_ops.
 */
int spek_mq_submit(struct spek_part *part)
{
	struct blk_plug *plug = current->plug;
	struct request *rq;
	int verdict;

	if (unlikely(spek_compat_plug_is_full(plug)))
		flush_list(plug);
	rq = alloc_request(part);
	if (IS_ERR(rq))
		return submit_nothing(part, PTR_ERR(rq));
	verdict = check_request(part, rq);
	if (unlikely(verdict <= 0))
		return submit_checked(part, rq, plug, verdict);
	add_to_plug(part, rq, plug, 1);
	return 0;
}

const struct spek_backend_ops spek_backend_mq = {
	.id = SPEK_BACKEND_MQ,
	.cgroup = false,
	.plugs = true,
	.why_unsupported = why_unsupported,
	.uses_cached_rqs = uses_cached_rqs,
	.submit = spek_mq_submit,
	.end_io = spek_part_end_io,
};
