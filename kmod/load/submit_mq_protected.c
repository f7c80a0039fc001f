// SPDX-License-Identifier: GPL-2.0
/*
 * Back end mq on disks with protection information: T10 DIF or DIX, NVMe with metadata.
 *
 * Above the request path, submit_bio() generates protection information for writes and checks it
 * for reads. This back end does so at the same point, before it allocates a request, because the
 * information needs memory and may sleep for it. A thread that slept while it held a request could
 * block other threads whose bios hold the memory and need a request.
 *
 * The usage counter of the queue is held from the checks to the request: the information has to fit
 * the format that the disk then has. It is not held when the part goes to the block layer instead,
 * which may wait for a freeze. For the same reason the worker holds no other counter here
 * (spek_worker_may_sleep(), room.c).
 *
 * The information belongs to the bio, which frees it at its end. If there is no request for a bio,
 * the information is freed at once, and generated again at the next try. To avoid that, bios are
 * not sent to a full queue; and plugs fetch no requests ahead, which would make a queue look full.
 *
 * A read that the device has completed ends later, in the block layer's kintegrityd, once its
 * information is checked; its request is free by then. A mismatch is BLK_STS_PROTECTION (EILSEQ),
 * whether the device or the block layer finds it.
 */
#include <linux/bio.h>
#include <linux/blk-mq.h>
#include "../compat/integrity.h"
#include "submit.h"
#include "submit_mq.h"

/* Without memory a part fails, as with back end bio. Return: see struct spek_backend_ops. */
static int send(struct spek_part *part, struct request_queue *q, struct blk_plug *plug,
		u32 nr_segments)
{
	const struct spek_target *target = part->target;
	struct bio *bio = &part->bio;
	struct request *rq;

	if (!spek_compat_queue_has_tag(q, bio->bi_opf))
		return spek_mq_submit_nothing(part, -EWOULDBLOCK);
	if (!spek_compat_bio_protect(bio))
		return -EIO;
	rq = spek_mq_alloc(part, target);
	if (IS_ERR(rq)) {
		spek_compat_bio_unprotect(bio);
		return spek_mq_submit_nothing(part, PTR_ERR(rq));
	}
	if (unlikely(!spek_compat_request_protect(rq, bio))) {
		blk_mq_free_request(rq);
		bio_io_error(bio);
		return -EIO;
	}
	spek_mq_add_to_plug(part, target, rq, plug, nr_segments);
	return 0;
}

static int submit(struct spek_part *part)
{
	struct request_queue *q = bdev_get_queue(part->bio.bi_bdev);
	struct blk_plug *plug = current->plug;
	int verdict;

	if (unlikely(spek_compat_plug_is_full(plug)))
		spek_mq_flush_plug(part, plug);
	/* What an allocation in a frozen queue returns. */
	if (unlikely(!percpu_ref_tryget_live(&q->q_usage_counter)))
		return spek_mq_submit_nothing(part, -EBUSY);
	verdict = spek_mq_check(part, part->target, q, true);
	if (!verdict)
		verdict = spek_mq_count_segments(part, &q->limits);
	if (unlikely(verdict < 0)) {
		percpu_ref_put(&q->q_usage_counter);
		return spek_mq_turn_away(part, verdict);
	}
	verdict = send(part, q, plug, verdict);
	percpu_ref_put(&q->q_usage_counter);
	return verdict;
}

static bool uses_cached_rqs(const struct spek_target *target)
{
	return false;
}

const struct spek_backend_ops spek_backend_mq_protected = {
	.id = SPEK_BACKEND_MQ,
	.cgroup = false,
	.plugs = true,
	.why_unsupported = spek_mq_why_unsupported,
	.uses_cached_rqs = uses_cached_rqs,
	.submit = submit,
	.end_io = spek_part_end_io,
};
