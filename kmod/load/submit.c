// SPDX-License-Identifier: GPL-2.0
/* Choosing the back end of a target, with the reason. */
#include <linux/blk-integrity.h>
#include <linux/blk-mq.h>
#include <linux/module.h>
#include "../compat/series.h"
#include "../core/refusal.h"
#include "core/workload.h"
#include "submit.h"
#include "target.h"

/* Return: the back end that sends requests, for disks with protection information or for others. */
static const struct spek_backend_ops *mq_of(const struct spek_target *target)
{
	return blk_get_integrity(target->handle.bdev->bd_disk) ? &spek_backend_mq_protected :
								 &spek_backend_mq;
}

static const struct spek_backend_ops *backend_of(const struct spek_target *target, u32 wanted)
{
	switch (wanted) {
	case SPEK_BACKEND_MQ:
		return mq_of(target);
	case SPEK_BACKEND_SCSI:
		return &spek_backend_scsi;
	default:
		return spek_backend_bio_of(target);
	}
}

/* For spekctl doctor, which also looks at modules not loaded; empty: auto may choose mq. */
MODULE_INFO(mq_caveat, SPEK_COMPAT_MQ_CAVEAT);

static const char *why_not_mq(const struct spek_target *target, bool plain)
{
	const char *why;

	if (!plain)
		return "The run has operations that only back end bio has.";
	why = spek_backend_mq.why_unsupported(target);
	if (!why && *SPEK_COMPAT_MQ_CAVEAT)
		why = SPEK_COMPAT_MQ_CAVEAT;
	return why;
}

/*
 * Never scsi: it tries every command once, where others retry what can be cured, and the disk's
 * statistics don't know of it. Who wants to see the bare device asks for it.
 */
static void choose_auto(struct spek_target *target, bool plain)
{
	const char *why = why_not_mq(target, plain);

	if (why) {
		target->backend = spek_backend_bio_of(target);
		target->backend_reason = why;
		return;
	}
	target->backend = mq_of(target);
	target->backend_reason = "The device is request-based (blk-mq).";
}

/**
 * spek_backend_choose() - choose the back end for a target
 * @target: open; its @backend, @backend_reason and @polled are set
 * @wanted: enum spek_backend
 * @polled: completions will be polled for
 * @plain: the run only reads and writes
 * @refusal: filled in on failure (kind and index are the caller's)
 *
 * Return: 0, or -EOPNOTSUPP if @wanted can't drive @target.
 */
int spek_backend_choose(struct spek_target *target, u32 wanted, bool polled, bool plain,
			struct spek_refusal *refusal)
{
	const char *why;

	/* dm passes polling on, but by the bio itself, which nobody here holds on to. */
	if (polled && !queue_is_mq(bdev_get_queue(target->handle.bdev)))
		return spek_refuse_part(refusal, -EOPNOTSUPP,
					"The device is bio-based: polled completion needs a request-based (blk-mq) one.");
	if (polled && !spek_compat_queue_polls(bdev_get_queue(target->handle.bdev)))
		return spek_refuse_part(refusal, -EOPNOTSUPP,
					"The device has no poll queues, which polled completion needs.");
	target->polled = polled;
	if (wanted == SPEK_BACKEND_AUTO) {
		choose_auto(target, plain);
		return 0;
	}
	target->backend = backend_of(target, wanted);
	target->backend_reason = "The configuration selects it.";
	if (wanted == SPEK_BACKEND_MQ && *SPEK_COMPAT_MQ_CAVEAT)
		target->backend_reason = "The configuration selects it. " SPEK_COMPAT_MQ_CAVEAT;
	why = target->backend->why_unsupported(target);
	return why ? spek_refuse_part(refusal, -EOPNOTSUPP, why) : 0;
}

/**
 * spek_backend_is_bio() - check whether all of an address range is driven by back end bio
 * @targets: of the run, open
 * @asu: the address range
 *
 * Return: true if it is.
 */
bool spek_backend_is_bio(const struct spek_target *targets, const struct spek_asu *asu)
{
	u32 i;

	for (i = 0; i < asu->nr_extents; i++)
		if (targets[asu->extent[i].target].backend->id != SPEK_BACKEND_BIO)
			return false;
	return true;
}
