/* SPDX-License-Identifier: GPL-2.0 */
/* What back ends that allocate requests share. */
#ifndef SPEK_SUBMIT_REQUEST_H
#define SPEK_SUBMIT_REQUEST_H

#include <linux/blk_types.h>
#include <linux/types.h>
#include "slot.h"
#include "target.h"

struct request;

bool spek_request_should_retry(struct spek_part *part, int err);
bool spek_request_undo(struct request *rq, blk_status_t status);

/**
 * spek_request_is_late() - check, with a request at hand, whether its disk is gone
 * @bdev: disk or partition, of whose queue a request has been allocated
 *
 * The queue of a SCSI disk accepts requests again once the disk is gone, for other drivers of the
 * device. An open partition stays, with its size.
 *
 * Return: true if nothing may be sent. If false, the disk stays until the request has ended:
 * del_gendisk() sets GD_DEAD before it waits for q_usage_counter, which the request holds.
 */
static inline bool spek_request_is_late(const struct block_device *bdev)
{
	return test_bit(GD_DEAD, &bdev->bd_disk->state);
}

/**
 * spek_request_takes_atomic() - check, with a request at hand, whether a part may be atomic
 * @q: queue of the request
 * @part: armed
 * @target: of the part
 *
 * Return: true if it may, until the request has ended: changing limits freezes the queue.
 */
static inline bool spek_request_takes_atomic(const struct request_queue *q,
					     const struct spek_part *part,
					     const struct spek_target *target)
{
	u64 byte = (target->start_sector << SECTOR_SHIFT) + part->offset;

	return spek_compat_queue_takes_atomic(q, byte, part->bytes);
}

#endif
