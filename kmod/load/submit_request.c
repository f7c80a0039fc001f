// SPDX-License-Identifier: GPL-2.0
/* Shared by back ends that allocate requests: no request available, or refused by the driver. */
#include <linux/blk-mq.h>
#include "../compat/compat.h"
#include "slot.h"
#include "submit_request.h"

/**
 * spek_request_should_retry() - decide what to do without a request for a part
 * @part: armed
 * @err: negative errno of the allocation, which did not wait
 *
 * Wakes a device that sleeps.
 *
 * Return: true to try again later, false if there will never be one.
 */
bool spek_request_should_retry(struct spek_part *part, int err)
{
	/* A queue that is being removed returns the same errno as a full one, forever. */
	if ((err != -EWOULDBLOCK && err != -EBUSY) || spek_target_is_gone(part->target))
		return false;
	spek_compat_queue_resume(bdev_get_queue(part->bio.bi_bdev));
	return true;
}

/**
 * spek_request_undo() - free a request that the driver did not take
 * @rq: holds the bio of a part, which stays with the slot
 * @status: what the driver returned
 *
 * Return: true if the driver has no room now, false if the part has failed.
 */
bool spek_request_undo(struct request *rq, blk_status_t status)
{
	bool is_busy = spek_compat_status_is_busy(status);

	rq->bio = NULL;
	rq->biotail = NULL;
	/* The driver may have kept preparations for a retry of this request: free them. */
	if (is_busy)
		blk_mq_cleanup_rq(rq);
	blk_mq_free_request(rq);
	return is_busy;
}
