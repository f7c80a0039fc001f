// SPDX-License-Identifier: GPL-2.0
/* Claiming devices and reading their limits. */
#include <linux/blk-mq.h>
#include <linux/delay.h>
#include <linux/device_cgroup.h>
#include <linux/log2.h>
#include "../core/refusal.h"
#include "core/workload.h"
#include "target.h"

#define HOLD_MS	1000	/* wait for a change of the queue's limits or elevator */

/**
 * spek_target_read_limits() - derive from the queue's limits how I/Os are cut
 * @target: open
 * @buffer_chunk_bytes: size of the contiguous pieces that buffers are made of
 *
 * The largest request that the block layer sends whole, so that what is counted here is
 * what the device gets: sectors, segments, and chunk boundaries if it has any.
 *
 * Context: any.
 */
void spek_target_read_limits(struct spek_target *target, u32 buffer_chunk_bytes)
{
	const struct queue_limits *now = &bdev_get_queue(target->handle.bdev)->limits;
	struct spek_seen_limits *seen = &target->seen;
	u64 by_segments, bytes;
	u32 segment;

	/* Read each only once: they may change at any time. */
	seen->max_sectors = READ_ONCE(now->max_sectors);
	seen->max_segments = READ_ONCE(now->max_segments);
	seen->max_segment_size = READ_ONCE(now->max_segment_size);
	seen->chunk_sectors = READ_ONCE(now->chunk_sectors);
	seen->boundary = READ_ONCE(now->seg_boundary_mask);

	/* Buffers are aligned to their chunks, so only a boundary within a chunk cuts them. */
	segment = min_t(u32, seen->max_segment_size, buffer_chunk_bytes);
	if (seen->boundary < segment)
		segment = seen->boundary + 1;
	segment = rounddown_pow_of_two(segment);
	/* A piece that starts within a chunk touches one segment more than its length needs. */
	by_segments = (u64)seen->max_segments * segment;
	if (seen->max_segments > 1) {
		by_segments -= segment;
		target->only_segment = 0;
	} else {
		target->only_segment = segment;
	}
	bytes = min_t(u64, (u64)seen->max_sectors << SECTOR_SHIFT, by_segments);
	bytes = min_t(u64, bytes, SPEK_MAX_IO_BYTES);
	target->physical_block = max_t(u32, READ_ONCE(now->physical_block_size),
				       target->logical_block);
	if (bytes >= target->physical_block)
		bytes = rounddown(bytes, target->physical_block);
	else
		bytes = rounddown(bytes, target->logical_block);
	target->max_part_bytes = max_t(u64, bytes, target->logical_block);
	target->chunk_sectors = seen->chunk_sectors;
}

/**
 * spek_target_requests() - count the requests that the block layer makes of a piece now
 * @target: open; its own limits may be out of date
 * @offset: first byte on the target
 * @bytes: length
 * @in_buffer: where in the buffer its data begin
 * @buffer_chunk_bytes: size of the contiguous pieces that buffers are made of
 *
 * Context: any.
 * Return: requests; at least 1.
 */
u32 spek_target_requests(const struct spek_target *target, u64 offset, u32 bytes, u32 in_buffer,
			 u32 buffer_chunk_bytes)
{
	struct spek_target now = *target;
	u32 done, n = 0;

	spek_target_read_limits(&now, buffer_chunk_bytes);
	for (done = 0; done < bytes; n++)
		done += spek_target_part(&now, offset + done, bytes - done, in_buffer + done);
	return n;
}

/*
 * An open block device pins its queue, but not the data of its driver: drivers free these once the
 * queue has no users. Return: false if the device goes away or its queue stays frozen
 */
static bool hold_queue(struct request_queue *q)
{
	u32 ms;

	for (ms = 0; ms < HOLD_MS && !blk_queue_dying(q); ms += 20) {
		if (percpu_ref_tryget_live(&q->q_usage_counter))
			return true;
		msleep(20);
	}
	return false;
}

static bool has_own_read_queues(struct request_queue *q)
{
	const struct blk_mq_tag_set *set = q->tag_set;

	return queue_is_mq(q) && set->nr_maps > HCTX_TYPE_READ &&
	       set->map[HCTX_TYPE_READ].nr_queues;
}

static u32 count_pools(struct request_queue *q, bool polled)
{
	const struct blk_mq_tag_set *set = q->tag_set;

	if (!queue_is_mq(q))
		return U32_MAX;
	if (set->flags & BLK_MQ_F_TAG_HCTX_SHARED)
		return 1;
	return set->map[polled ? HCTX_TYPE_POLL : HCTX_TYPE_DEFAULT].nr_queues;
}

/**
 * spek_target_may_open() - check that the device cgroup of the current process allows a device
 * @dev: device number
 * @write: to be opened for writing
 *
 * Return: 0 or -EPERM.
 */
int spek_target_may_open(dev_t dev, bool write)
{
	short access = DEVCG_ACC_READ | (write ? DEVCG_ACC_WRITE : 0);

	return devcgroup_check_permission(DEVCG_DEV_BLOCK, MAJOR(dev), MINOR(dev), access);
}

/**
 * spek_target_claim() - open a device exclusively
 * @handle: filled in
 * @dev: device number
 * @write: for writing
 * @holder: given to @ops
 * @ops: called when the device is removed
 * @refusal: filled in on failure (kind and index are the caller's)
 *
 * Context: process, may sleep.
 * Return: 0, or a negative errno with the device closed.
 */
int spek_target_claim(struct spek_compat_bdev *handle, dev_t dev, bool write, void *holder,
		      const struct spek_compat_holder_ops *ops, struct spek_refusal *refusal)
{
	int err = spek_compat_bdev_open(handle, dev, write, holder, ops);

	switch (err) {
	case 0:
		break;
	case -EBUSY:
		return spek_refuse_part(refusal, err,
					"The device, one of its partitions or the disk it is on is in use: it must be free.");
	case -EROFS:
	case -EACCES:
		return spek_refuse_part(refusal, err,
					"The device is read-only, and the run may write.");
	case -ENXIO:
	case -ENODEV:
		return spek_refuse_part(refusal, err, "There is no block device with this number.");
	case -ENOMEDIUM:
		return spek_refuse_part(refusal, err, "There is no medium in the device.");
	default:
		return spek_refuse_part(refusal, err, "The device can't be opened.");
	}
	if (!write || !bdev_read_only(handle->bdev))
		return 0;
	spek_compat_bdev_close(handle);
	return spek_refuse_part(refusal, -EROFS, "The device is read-only, and the run may write.");
}

/* Open a target, or take the handle that is lent. */
static int get_handle(struct spek_target *target, const struct spek_target_request *request,
		      struct spek_refusal *refusal)
{
	if (!request->lent)
		return spek_target_claim(&target->handle, request->dev, request->write,
					 request->holder, request->ops, refusal);
	/* It may have become so under the claim. */
	if (request->write && bdev_read_only(request->lent->bdev))
		return spek_refuse_part(refusal, -EROFS,
					"The device is read-only, and the run may write.");
	target->handle = *request->lent;
	target->is_lent = true;
	/* Since the claim began others may have written by another path. */
	spek_compat_bdev_drop_cache(&target->handle);
	return 0;
}

/**
 * spek_target_open() - claim a device, read its limits and choose its back end
 * @target: zeroed
 * @request: how to open it
 * @refusal: filled in on failure (kind and index are the caller's)
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int spek_target_open(struct spek_target *target, const struct spek_target_request *request,
		     struct spek_refusal *refusal)
{
	struct block_device *bdev;
	struct request_queue *q;
	int err;

	err = get_handle(target, request, refusal);
	if (err)
		return err;
	bdev = target->handle.bdev;
	q = bdev_get_queue(bdev);
	if (!hold_queue(q)) {
		err = spek_refuse_part(refusal, -EBUSY,
				       "The device is being removed or reconfigured: try again.");
		goto err_close;
	}
	snprintf(target->name, sizeof(target->name), "%pg", bdev);
	target->dev = request->dev;
	target->diskseq = bdev->bd_disk->diskseq;
	target->start_sector = bdev->bd_start_sect;
	target->bytes = bdev_nr_bytes(bdev);
	target->logical_block = bdev_logical_block_size(bdev);
	target->own_read_queues = has_own_read_queues(q);
	if (!target->bytes) {
		err = spek_refuse_part(refusal, -ENOSPC, "The device has no capacity.");
		goto err_put_queue;
	}
	spek_target_read_limits(target, request->chunk_bytes);
	target->nowait = request->shared && queue_is_mq(q) && bdev_nowait(bdev) &&
			 !bdev_is_zoned(bdev);
	err = request->choose(target, request->backend, request->polled, request->plain,
			      refusal);
	if (err)
		goto err_put_queue;
	target->pools = count_pools(q, target->polled);
	percpu_ref_put(&q->q_usage_counter);
	return 0;

err_put_queue:
	percpu_ref_put(&q->q_usage_counter);
err_close:
	spek_target_close(target);
	return err;
}

/**
 * spek_target_close() - give up the claim on a device; one that is lent stays with its owner
 * @target: open, or zeroed
 *
 * Context: process, may sleep.
 */
void spek_target_close(struct spek_target *target)
{
	if (target->is_lent) {
		spek_compat_bdev_drop_cache(&target->handle);
		target->handle.bdev = NULL;
		target->is_lent = false;
	} else {
		spek_compat_bdev_close(&target->handle);
	}
}

/**
 * spek_target_is_gone() - check whether the device was removed
 * @target: open
 *
 * Context: any.
 * Return: true if it was.
 */
bool spek_target_is_gone(const struct spek_target *target)
{
	return spek_compat_bdev_is_gone(&target->handle);
}
