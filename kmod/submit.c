// SPDX-License-Identifier: GPL-2.0
/* Choosing a back end and saying why. */
#include <linux/blk-mq.h>
#include "slot.h"
#include "submit.h"

static const char *choose_auto(struct spek_target *target)
{
	struct request_queue *q = bdev_get_queue(target->handle.bdev);
	const char *why = spek_backend_mq.unfit(target);

	if (why) {
		target->backend = &spek_backend_bio;
		target->backend_reason = why;
		return NULL;
	}
	/*
	 * A request that such a driver refuses and gets again is counted twice in the
	 * disk's statistics, so the tool's numbers and the disk's would differ.
	 */
	if (q->mq_ops->get_budget) {
		target->backend = &spek_backend_bio;
		target->backend_reason = "the driver limits requests beyond its tags (SCSI)";
		return NULL;
	}
	target->backend = &spek_backend_mq;
	target->backend_reason = "the device takes requests";
	return NULL;
}

const char *spek_backend_choose(struct spek_target *target, u32 wanted, bool polled)
{
	const struct spek_backend_ops *backend =
		wanted == SPEK_BACKEND_MQ ? &spek_backend_mq : &spek_backend_bio;
	const char *why;

	/* dm passes polling on, but by the bio itself, which nobody here holds on to. */
	if (polled && !queue_is_mq(bdev_get_queue(target->handle.bdev)))
		return "polled completion needs a device that takes requests; this one takes bios";
	if (polled && !spek_compat_queue_polls(bdev_get_queue(target->handle.bdev)))
		return "polled completion needs a device with poll queues, and this one has none";
	target->polled = polled;
	if (wanted == SPEK_BACKEND_AUTO)
		return choose_auto(target);
	why = backend->unfit(target);
	if (why)
		return why;
	target->backend = backend;
	target->backend_reason = "asked for";
	return NULL;
}
