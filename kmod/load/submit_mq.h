/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Back end mq: the way of a request that nothing is in the way of, inline where the worker submits.
 * submit_mq_rare.c has all others, and submit_mq.c says what the back end does.
 */
#ifndef SPEK_SUBMIT_MQ_H
#define SPEK_SUBMIT_MQ_H

#include <linux/bio.h>
#include <linux/blk-integrity.h>
#include <linux/blk-mq.h>
#include <linux/sizes.h>
#include "../compat/plug.h"
#include "slot.h"
#include "submit_mq_rare.h"
#include "submit_request.h"
#include "target.h"

/*
 * Where reads have no queues of their own, blk_mq_alloc_request() gives a read none of the tags
 * that a plug has allocated ahead: it compares the queue type of reads with the type of the queue
 * that they share. So the allocation uses the flags of a write; the request gets its own operation
 * before it is sent. Elevators limit reads and writes differently: with one, the allocation uses
 * the real operation, and tags are allocated one by one.
 */
static inline bool spek_mq_gets_cached_rqs(const struct request_queue *q,
					   const struct spek_target *target)
{
	return likely(!q->elevator) && likely(!target->own_read_queues);
}

/*
 * A quick check for what is nearly always one segment; false: count_segments() knows. Every queue
 * takes up to 4 KiB within a page. Larger pieces lie within a chunk of the slot's buffer, which is
 * aligned to its size: no boundary of SPEK_SLOT_CHUNK_MAX bytes or more is inside.
 */
static inline bool spek_mq_is_one_segment(const struct spek_part *part,
					  const struct queue_limits *lim)
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
 * All checks of a part on its way to the driver. They need its request, or the usage counter of
 * its queue: as long as that is held, limits, block size, integrity and the disk don't change,
 * since changing any of them freezes the queue first (for the disk see spek_request_is_late()).
 *
 * submit_bio(), submit_bio_noacct() and blk_mq_submit_bio() of Linux 6.1 to 7.3 also look at the
 * following, in this order:
 * - the task's I/O accounting and priority: kernel threads have none, and the bio has the stream's;
 * - REQ_NOWAIT on a queue that cannot: the allocation does not wait in any queue;
 * - fail_make_request: injects errors into bios only;
 * - a disk that has become read-only: they only warn, the claim was for writing;
 * - the end of the partition, and its start: here;
 * - flushes, FUA, discards, zone commands: only plain reads and writes come here, see
 *   spek_workload_is_plain();
 * - an atomic write that the device does not take: here, and the block layer then fails it;
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
 * - protection information: submit_mq_protected.c, where the disk has it when the target is opened;
 *   here if it came later, with a format;
 * - merges: REQ_NOMERGE;
 * - inline encryption: bios have no key;
 * - zone write plugging: zoned disks are refused.
 *
 * @is_protected, a constant, is true where the caller deals with protection information.
 *
 * Return: segments of the data; 0 if they have to be counted, -EAGAIN if the block layer has to
 * complete the part, -EIO if nothing may be sent
 */
static __always_inline int spek_mq_check(const struct spek_part *part,
					 const struct spek_target *target,
					 struct request_queue *q, bool is_protected)
{
	const struct bio *bio = &part->bio;
	const struct block_device *bdev = bio->bi_bdev;

	if (unlikely(spek_request_is_late(bdev)) ||
	    unlikely(bio_end_sector(bio) > bdev->bd_nr_sectors) ||
	    unlikely(q->limits.logical_block_size != target->logical_block))
		return -EIO;
	if (!is_protected && unlikely(blk_integrity_queue_supports_integrity(q)))
		return -EAGAIN;
	if (unlikely(bio->bi_opf & SPEK_COMPAT_REQ_ATOMIC) &&
	    !spek_request_takes_atomic(q, part, target))
		return -EAGAIN;
	return likely(spek_mq_is_one_segment(part, &q->limits));
}

static __always_inline struct request *spek_mq_alloc(const struct spek_part *part,
						     const struct spek_target *target)
{
	struct request_queue *q = bdev_get_queue(part->bio.bi_bdev);
	blk_opf_t opf = part->bio.bi_opf;

	if (spek_mq_gets_cached_rqs(q, target))
		opf |= REQ_OP_WRITE;
	return blk_mq_alloc_request(q, opf, BLK_MQ_REQ_NOWAIT);
}

/**
 * spek_mq_submit() - send a part with back end mq
 * @part: armed
 * @target: of the part, in a register
 *
 * Context: the worker's thread, under its plug.
 * Return: see struct spek_backend_ops.
 */
static __always_inline int spek_mq_submit(struct spek_part *part,
					  const struct spek_target *target)
{
	struct blk_plug *plug = current->plug;
	struct request *rq;
	int verdict;

	if (unlikely(spek_compat_plug_is_full(plug)))
		spek_mq_flush_plug(part, plug);
	rq = spek_mq_alloc(part, target);
	if (IS_ERR(rq))
		return spek_mq_submit_nothing(part, PTR_ERR(rq));
	verdict = spek_mq_check(part, target, rq->q, false);
	if (unlikely(verdict <= 0))
		return spek_mq_submit_checked(part, rq, plug, verdict);
	spek_mq_add_to_plug(part, target, rq, plug, 1);
	return 0;
}

#endif
