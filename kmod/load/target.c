// SPDX-License-Identifier: GPL-2.0
/* Claiming devices and reading their limits. */
#include <linux/blk-mq.h>
#include <linux/delay.h>
#include <linux/device_cgroup.h>
#include <linux/log2.h>
#include "config.h"
#include "submit.h"
#include "target.h"

#define HOLD_MS	1000	/* for somebody who changes the queue's limits or its elevator */

/*
 * The largest request that the block layer sends whole, so that what is counted here is
 * what the device gets: sectors, segments, and chunk boundaries if it has any.
 */
static void read_limits(struct spek_target *target, u32 buffer_chunk_bytes)
{
	struct request_queue *q = bdev_get_queue(target->handle.bdev);
	u32 segment = min_t(u32, queue_max_segment_size(q), buffer_chunk_bytes);
	u64 by_segments, bytes;

	/* Buffers are aligned to their chunks, so only a boundary within a chunk cuts them. */
	if (queue_segment_boundary(q) < segment)
		segment = queue_segment_boundary(q) + 1;
	segment = rounddown_pow_of_two(segment);
	/* A piece that starts within a chunk touches one segment more than its length needs. */
	by_segments = (u64)queue_max_segments(q) * segment;
	if (queue_max_segments(q) > 1)
		by_segments -= segment;
	else
		target->only_segment = segment;
	bytes = min_t(u64, (u64)queue_max_sectors(q) << SECTOR_SHIFT, by_segments);
	bytes = min_t(u64, bytes, SPEK_MAX_IO_BYTES);
	target->physical_block = max(queue_physical_block_size(q), target->logical_block);
	if (bytes >= target->physical_block)
		bytes = rounddown(bytes, target->physical_block);
	else
		bytes = rounddown(bytes, target->logical_block);
	target->max_part_bytes = max_t(u64, bytes, target->logical_block);
	target->chunk_sectors = q->limits.chunk_sectors;
}

/*
 * An open device keeps its queue, not what its driver has: drivers wait for the queue's users
 * before they free that. Return: false if it goes away, or somebody keeps the queue frozen.
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
 * spek_target_open() - claim a device and read its limits
 * @target: zeroed
 * @config: of the run
 * @dev: device number
 * @chunk_bytes: size of the contiguous pieces that buffers are made of
 * @holder: the run, for @ops
 * @ops: called when the device is removed
 * @refusal: filled in on failure (kind and index are the caller's)
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int spek_target_open(struct spek_target *target, const struct spek_run_config *config, dev_t dev,
		     u32 chunk_bytes, void *holder, const struct spek_compat_holder_ops *ops,
		     struct spek_refusal *refusal)
{
	bool write = config->may_write;
	struct block_device *bdev;
	struct request_queue *q;
	int err;

	err = spek_compat_bdev_open(&target->handle, dev, write, holder, ops);
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
	bdev = target->handle.bdev;
	q = bdev_get_queue(bdev);
	if (!hold_queue(q)) {
		err = spek_refuse_part(refusal, -EBUSY,
				       "The device is being removed or reconfigured: try again.");
		goto err_close;
	}
	snprintf(target->name, sizeof(target->name), "%pg", bdev);
	target->dev = dev;
	target->diskseq = bdev->bd_disk->diskseq;
	target->start_sector = bdev->bd_start_sect;
	target->bytes = bdev_nr_bytes(bdev);
	target->logical_block = bdev_logical_block_size(bdev);
	target->own_read_queues = has_own_read_queues(q);
	if (write && bdev_read_only(bdev)) {
		err = spek_refuse_part(refusal, -EROFS,
				       "The device is read-only, and the run may write.");
		goto err_put_queue;
	}
	if (!target->bytes) {
		err = spek_refuse_part(refusal, -ENOSPC, "The device has no capacity.");
		goto err_put_queue;
	}
	read_limits(target, chunk_bytes);
	err = spek_backend_choose(target, config->backend, config->polled, refusal);
	if (err)
		goto err_put_queue;
	percpu_ref_put(&q->q_usage_counter);
	return 0;

err_put_queue:
	percpu_ref_put(&q->q_usage_counter);
err_close:
	spek_target_close(target);
	return err;
}

void spek_target_close(struct spek_target *target)
{
	spek_compat_bdev_close(&target->handle);
}

bool spek_target_is_gone(const struct spek_target *target)
{
	return spek_compat_bdev_is_gone(&target->handle);
}
