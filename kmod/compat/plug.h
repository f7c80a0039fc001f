/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Adding requests to a plug's own list and accounting them to their disk, as the block layer does
 * in blk_add_rq_to_plug() and blk_account_io_start(), which it does not export.
 *
 * The caller has started the plug, and it is current->plug.
 */
#ifndef SPEK_COMPAT_PLUG_H
#define SPEK_COMPAT_PLUG_H

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/jiffies.h>
#include <linux/part_stat.h>
#include <linux/sched.h>

#include "series.h"
#include "spek_have.h"

/* Limit of requests on a plug, as in block/blk.h, where several queues may have twice as many. */
#define SPEK_COMPAT_PLUG_MAX	32u

/**
 * spek_compat_plug_is_full() - check whether a plug has reached its limit
 * @plug: plug
 *
 * Return: true if @plug must be flushed before the next request is added.
 */
static inline bool spek_compat_plug_is_full(const struct blk_plug *plug)
{
	return plug->rq_count >= SPEK_COMPAT_PLUG_MAX;
}

/**
 * spek_compat_plug_set_time() - set the time that the block layer uses below a plug
 * @now_ns: from ktime_get_ns(), just read
 *
 * Some kernels read the clock once per plug; without this call all requests of a plug would have
 * the time of the first one. Preemption clears the time, like one that the block layer cached.
 */
static inline void spek_compat_plug_set_time(u64 now_ns)
{
#ifdef SPEK_HAVE_PLUG_TIME
	struct blk_plug *plug = current->plug;

	if (!plug)
		return;
	WRITE_ONCE(plug->cur_ktime, now_ns);
	/* After the time, so that preemption in between clears it; see blk_time_get_ns(). */
	barrier();
	current->flags |= PF_BLOCK_TS;
#endif
}

/*
 * The time as blk_time_get_ns() returns it, but without caching it. A completion in this thread
 * may take its time from the plug, so the start of a request must not be later than that.
 */
static inline u64 spek_compat_plug_time(const struct blk_plug *plug)
{
#ifdef SPEK_HAVE_PLUG_TIME
	u64 now_ns = READ_ONCE(plug->cur_ktime);

	if (now_ns)
		return now_ns;
#endif
	return ktime_get_ns();
}

#ifdef SPEK_HAVE_REQUEST_SCHED_TAGS
#define SPEK_COMPAT_RQF_SCHED	RQF_SCHED_TAGS
#else
#define SPEK_COMPAT_RQF_SCHED	RQF_ELV
#endif

#ifdef SPEK_HAVE_RQ_LIST
static inline void spek_compat_plug_link(struct blk_plug *plug, struct request *rq)
{
	const struct request *first = rq_list_peek(&plug->mq_list);

	if (unlikely(first && first->q != rq->q))
		plug->multiple_queues = true;
	if (unlikely(rq->rq_flags & SPEK_COMPAT_RQF_SCHED))
		plug->has_elevator = true;
	rq_list_add_tail(&plug->mq_list, rq);
}
#else
/*
 * Before v6.13, e70c301faece ("block: don't reorder requests in blk_add_rq_to_plug"): requests of
 * one queue without an elevator are sent in the order of the list, all others in the reverse
 * order. blk_add_rq_to_plug() adds at the head and gets the first case wrong; this gets
 * both right.
 */
static inline void spek_compat_plug_reverse(struct blk_plug *plug)
{
	struct request *reversed = NULL, *rq;

	while ((rq = rq_list_pop(&plug->mq_list)))
		rq_list_add(&reversed, rq);
	plug->mq_list = reversed;
}

/*
 * The last request is found by the link of the first one that the list does not use. It names
 * the first request itself, as the allocation leaves it, or some later one: follow rq_next from
 * there.
 */
static inline void spek_compat_plug_append(struct request *first, struct request *rq)
{
	struct request *last = list_entry(first->queuelist.prev, struct request, queuelist);

	BUILD_BUG_ON(offsetof(struct request, rq_next) !=
		     offsetof(struct request, queuelist) + offsetof(struct list_head, next));
	while (unlikely(last->rq_next))
		last = last->rq_next;
	rq->rq_next = NULL;
	last->rq_next = rq;
	first->queuelist.prev = &rq->queuelist;
}

static inline void spek_compat_plug_link(struct blk_plug *plug, struct request *rq)
{
	struct request *first = plug->mq_list;
	bool was_reverse = plug->multiple_queues || plug->has_elevator;

	if (unlikely(first && first->q != rq->q))
		plug->multiple_queues = true;
	if (unlikely(rq->rq_flags & SPEK_COMPAT_RQF_SCHED))
		plug->has_elevator = true;
	if (unlikely(plug->multiple_queues || plug->has_elevator)) {
		if (!was_reverse)
			spek_compat_plug_reverse(plug);
		rq_list_add(&plug->mq_list, rq);
	} else if (first) {
		spek_compat_plug_append(first, rq);
	} else {
		rq_list_add(&plug->mq_list, rq);
	}
}
#endif

/**
 * spek_compat_plug_add() - add a request to a plug, behind those that are on it
 * @plug: not full, see spek_compat_plug_is_full()
 * @rq: ready to be sent
 */
static inline void spek_compat_plug_add(struct blk_plug *plug, struct request *rq)
{
	spek_compat_plug_link(plug, rq);
	plug->rq_count++;
}

#ifdef SPEK_HAVE_START_IO_ACCT_OP
/* blk_account_io_start() without its tracepoint. */
static inline void spek_compat_disk_count_start(struct block_device *bdev, struct request *rq)
{
	bdev_start_io_acct(bdev, req_op(rq), jiffies);
}
#else
/*
 * On these kernels bdev_start_io_acct() would count the I/O a second time: the end of a request
 * counts it.
 */
static inline unsigned long spek_compat_busy_ticks(struct block_device *part, unsigned long ticks)
{
	long in_flight = 0;
	int cpu;

	if (!SPEK_COMPAT_COUNTS_IN_FLIGHT)
		return 1;
	for_each_possible_cpu(cpu)
		in_flight += part_stat_local_read_cpu(part, in_flight[0], cpu) +
			     part_stat_local_read_cpu(part, in_flight[1], cpu);
	return in_flight > 0 ? ticks : 0;
}

/* update_io_ticks() of an I/O that begins. */
static inline void spek_compat_count_ticks(struct block_device *part)
{
	unsigned long now = jiffies;
	unsigned long stamp = READ_ONCE(part->bd_stamp);

	if (unlikely(time_after(now, stamp)) && try_cmpxchg(&part->bd_stamp, &stamp, now))
		__part_stat_add(part, io_ticks, spek_compat_busy_ticks(part, now - stamp));
}

static inline void spek_compat_disk_count_start(struct block_device *bdev, struct request *rq)
{
	part_stat_lock();
	spek_compat_count_ticks(bdev);
	if (bdev_is_partition(bdev))
		spek_compat_count_ticks(bdev_whole(bdev));
	if (SPEK_COMPAT_COUNTS_IN_FLIGHT)
		part_stat_local_inc(bdev, in_flight[op_is_write(req_op(rq))]);
	part_stat_unlock();
}
#endif

/**
 * spek_compat_request_count_start() - account the start of a request to its disk
 * @rq: to be sent
 * @plug: that of the current task
 * @bdev: disk or partition to account it to
 * @issue_ns: time of its issue
 *
 * The block layer counts the request and its time at its end. The tracepoint block_io_done then
 * has no preceding block_io_start.
 */
static inline void spek_compat_request_count_start(struct request *rq, const struct blk_plug *plug,
						   struct block_device *bdev, u64 issue_ns)
{
	if (!(rq->rq_flags & RQF_IO_STAT)) {
		if (!blk_queue_io_stat(rq->q))
			return;
		/* Set here from v6.14 on, before with the allocation. */
		rq->rq_flags |= RQF_IO_STAT;
		rq->start_time_ns = spek_compat_plug_time(plug);
	}
#ifndef SPEK_HAVE_PLUG_TIME
	/* A tag that was fetched ahead may have waited. */
	if (rq->start_time_ns < issue_ns)
		rq->start_time_ns = issue_ns;
#endif
	rq->part = bdev;
	spek_compat_disk_count_start(bdev, rq);
}

/**
 * spek_compat_request_init_hints() - set what a request has only on some kernels
 * @rq: request; an earlier user of its tag may have left something there
 * @bio: its bio
 */
static inline void spek_compat_request_init_hints(struct request *rq, const struct bio *bio)
{
#ifdef SPEK_HAVE_REQUEST_IOPRIO
	rq->ioprio = bio->bi_ioprio;
#endif
#ifdef SPEK_HAVE_REQUEST_WRITE_HINT
#ifdef SPEK_HAVE_BIO_WRITE_HINT
	rq->write_hint = bio->bi_write_hint;
#else
	rq->write_hint = 0;
#endif
#endif
#ifdef SPEK_HAVE_REQUEST_GAP_BIT
	/* Segments end and begin at pages. */
	rq->phys_gap_bit = 0;
#endif
}

#endif
