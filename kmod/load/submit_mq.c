// SPDX-License-Identifier: GPL-2.0
/*
 * Back end mq: requests from the device's own tag set, put on the list of the worker's plug.
 * Flushing the plug gives them to the driver like the requests of bios: in order, as a batch with
 * one doorbell, through the elevator if the device has one. If the driver has no room, the block
 * layer keeps them and sends them later. This path has no splitting, merging, write-back
 * throttling or cgroup limits, which only bios get.
 *
 * Inline where the worker submits is submit_mq.h; submit_mq_rare.c has what happens seldom, and
 * submit_mq_protected.c what disks with protection information need.
 *
 * The back end owns a request until it is on the list. From then on the block layer ends its bio,
 * whatever becomes of the request. This thread does not sleep in between, so nothing flushes the
 * plug there.
 *
 * While a request is allocated, the queue's limits, block size and statistics can't change, since
 * changing them freezes the queue. So they are read with the request at hand.
 */
#include <linux/blk-integrity.h>
#include <linux/blk-mq.h>
#include "../compat/series.h"
#include "submit.h"
#include "submit_mq.h"
#include "target.h"

/**
 * spek_mq_why_unsupported() - find what keeps back end mq from driving a target
 * @target: open
 *
 * Return: a sentence, or NULL if nothing does.
 */
const char *spek_mq_why_unsupported(const struct spek_target *target)
{
	struct request_queue *q = bdev_get_queue(target->handle.bdev);

	if (!queue_is_mq(q))
		return "The device is bio-based, not request-based (blk-mq).";
	if (!SPEK_COMPAT_KNOWS_ACCOUNTING)
		return SPEK_COMPAT_MQ_CAVEAT;
	if (bdev_is_zoned(target->handle.bdev))
		return "The device is zoned: writes are ordered above the request path.";
	return NULL;
}

static bool uses_cached_rqs(const struct spek_target *target)
{
	return spek_mq_gets_cached_rqs(bdev_get_queue(target->handle.bdev), target);
}

static int submit(struct spek_part *part)
{
	return spek_mq_submit(part, part->target);
}

const struct spek_backend_ops spek_backend_mq = {
	.id = SPEK_BACKEND_MQ,
	.cgroup = false,
	.plugs = true,
	.why_unsupported = spek_mq_why_unsupported,
	.uses_cached_rqs = uses_cached_rqs,
	.submit = submit,
	.end_io = spek_part_end_io,
};
