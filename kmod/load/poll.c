// SPDX-License-Identifier: GPL-2.0
/*
 * Polling for completions: which hardware queues a worker polls. All of this runs in the worker's
 * thread, between submissions. Completions found arrive through end_io like any others.
 */
#include <linux/bio.h>
#include <linux/blk-mq.h>
#include "poll.h"
#include "worker_state.h"

/* Poll the hardware queue that @bio went to. */
static void poll_for(struct spek_worker *w, u32 target, const struct bio *bio)
{
	struct block_device *bdev = w->issue.targets[target].handle.bdev;
	struct request_queue *q = bdev_get_queue(bdev);
	struct spek_poller *poller = &w->issue.poller[target];
	DEFINE_IO_COMP_BATCH(iob);
	blk_qc_t cookie;

	/* Frozen: no I/O is in flight, and hardware queues may change. */
	if (!percpu_ref_tryget(&q->q_usage_counter))
		return;
	/*
	 * A bio that waits to be resent has no cookie, and one whose slot was used again may have
	 * that of another target; the cookie of the previous bio will do.
	 */
	cookie = READ_ONCE(bio->bi_cookie);
	if (cookie != BLK_QC_T_NONE && bio->bi_bdev == bdev)
		poller->bio.bi_cookie = cookie;
	poller->bio.bi_bdev = bdev;
	/* The cookie may name a queue that no longer exists. */
	if (spek_compat_cookie_polls(q, poller->bio.bi_cookie))
		bio_poll(&poller->bio, &iob, BLK_POLL_ONESHOT);
	percpu_ref_put(&q->q_usage_counter);
	if (iob.complete)
		iob.complete(&iob);
}

/*
 * The thread of a worker whose CPU was unplugged migrates, and the hardware queue of each I/O
 * depends on the CPU it was issued on: poll for every I/O.
 */
static noinline void poll_slots(struct spek_worker *w)
{
	const struct spek_part *part;
	u32 i;

	for (i = 0; i < w->nr_slots; i++) {
		const struct spek_slot *slot = &w->slots[i];

		for (part = slot->part; slot->busy && part < slot->part + slot->nr_parts; part++)
			if (part->target->polled)
				poll_for(w, part->target_index, &part->bio);
	}
}

/**
 * spek_poll_targets() - poll once for the outstanding I/Os of a worker
 * @w: worker of a run that polls
 *
 * Context: the worker's thread.
 */
void spek_poll_targets(struct spek_worker *w)
{
	u32 i, nr = w->config->nr_targets;

	/* The CPU of this worker was hot-unplugged. */
	if (unlikely(raw_smp_processor_id() != w->cpu))
		w->unbound = true;
	if (unlikely(w->unbound)) {
		poll_slots(w);
		return;
	}
	for (i = 0; i < nr; i++)
		if (w->issue.poller[i].last)
			poll_for(w, i, w->issue.poller[i].last);
}
