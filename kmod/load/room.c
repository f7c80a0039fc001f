// SPDX-License-Identifier: GPL-2.0
/*
 * Waking a worker when a queue may have a request again.
 *
 * A worker for which a queue has no request could sleep in the allocation. Nothing would wake it
 * there but a request: neither the end of the run, though others may keep all requests for as long
 * as their device hangs, nor an arrival for another target. So its allocations never wait. Instead
 * it waits where the block layer itself waits in the allocation, on the wait queues of the tags and
 * on that of the queue, and sleeps in its own loop, which everything wakes.
 *
 * To lose no wake-up, it begins to watch, tries to allocate once more, and sleeps if that fails.
 *
 * Lifetime: tags stay as long as the usage counter of their queue is held; an elevator switch, for
 * one, frees tags. That keeps a freeze from completing, as a sleeper in the allocation would. A
 * freeze begins without a wake-up, but requests that are in flight then complete, as the freeze
 * waits for them, and the worker that is woken by their tags releases the counter. It may try for
 * another reason before, such as completions of another disk with the same tags, and again and
 * again: each try that finds no request looks for a freeze (spek_room_let_freeze()). The removal of
 * a disk wakes all waiters. The queue itself stays as long as the target is open. Both entries are
 * the worker's: it takes them out of the wait queues, under their locks, before it ends.
 *
 * A thread that holds the counter of one queue must not sleep for another one, or for the same one:
 * a driver may freeze all queues of a device before it thaws any. So all counters are released
 * before the worker calls what may sleep (spek_rooms_release()), as the block layer frees the
 * requests of a plug before its task sleeps. That includes drivers which sleep when they are given
 * a request (BLK_MQ_F_BLOCKING): at the submission, or with back end mq when the plug is flushed.
 *
 * Locks: those of the wait queues, by wait queue functions also within interrupts.
 */
#include <linux/bio.h>
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/sched.h>
#include "../compat/compat.h"
#include "room.h"
#include "slot.h"

static void wake_worker(struct spek_room *room)
{
	WRITE_ONCE(room->has_news, 1);
	smp_mb();	/* pairs with wait_for_event() in worker.c: see there for lost wakeups */
	if (READ_ONCE(room->inflight->idle))
		wake_up_process(room->inflight->task);
}

static int wake_for_tag(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key)
{
	struct spek_room *room = container_of(entry, struct spek_room, tag.wait);

	sbitmap_del_wait_queue(&room->tag);
	wake_worker(room);
	return 1;
}

static int wake_for_thaw(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key)
{
	wake_worker(container_of(entry, struct spek_room, thaw));
	return 1;
}

/**
 * spek_room_init() - prepare to watch the queue of a target
 * @room: filled in
 * @inflight: of the worker
 */
void spek_room_init(struct spek_room *room, struct spek_inflight *inflight)
{
	*room = (struct spek_room){ .inflight = inflight };
	init_waitqueue_func_entry(&room->tag.wait, wake_for_tag);
	INIT_LIST_HEAD(&room->tag.wait.entry);
	init_waitqueue_func_entry(&room->thaw, wake_for_thaw);
	INIT_LIST_HEAD(&room->thaw.entry);
}

/* Once the lock was held, wake_for_tag() is not running, and won't. */
static void leave_tags(struct spek_room *room)
{
	if (!room->ws)
		return;
	spin_lock_irq(&room->ws->wait.lock);
	if (room->tag.sbq)
		sbitmap_del_wait_queue(&room->tag);
	spin_unlock_irq(&room->ws->wait.lock);
	room->ws = NULL;
}

/* Let the queue be frozen, and wait for its tags no longer. */
static void release_queue(struct spek_room *room)
{
	struct spek_room **link = &room->inflight->rooms;

	if (!room->is_held)
		return;
	leave_tags(room);
	while (*link != room)
		link = &(*link)->next_held;
	*link = room->next_held;
	room->is_held = false;
	percpu_ref_put(&room->q->q_usage_counter);
}

static bool hold_queue(struct spek_room *room)
{
	if (room->is_held || !percpu_ref_tryget_live(&room->q->q_usage_counter))
		return false;
	room->is_held = true;
	room->next_held = room->inflight->rooms;
	room->inflight->rooms = room;
	return true;
}

static bool watch_tags(struct spek_room *room, blk_opf_t opf)
{
	struct sbitmap_queue *tags;

	if (READ_ONCE(room->tag.sbq))
		return false;
	leave_tags(room);
	tags = spek_compat_queue_tags(room->q, opf);
	if (!tags)
		return false;
	room->ws = sbq_wait_ptr(tags, &room->next_ws);
	sbitmap_add_wait_queue(tags, room->ws, &room->tag);
	/*
	 * Order the entry before the next look for a tag, which may find none without a barrier:
	 * pairs with the one between the bit and waitqueue_active() in sbitmap_queue_clear().
	 */
	smp_mb();
	return true;
}

/**
 * spek_room_let_freeze() - release a queue that is being frozen
 * @room: of the target
 *
 * To be called each time that its queue had no request, whether it is watched then or not: nothing
 * wakes the worker when a freeze begins.
 *
 * Context: the worker's thread.
 */
void spek_room_let_freeze(struct spek_room *room)
{
	if (room->is_held && percpu_ref_is_dying(&room->q->q_usage_counter))
		release_queue(room);
}

/**
 * spek_room_watch() - watch a queue that had no request for a bio
 * @room: of the target
 * @bio: armed
 *
 * Context: the worker's thread, after spek_room_let_freeze().
 * Return: true if it was not watched like that before, or was woken meanwhile: try again now; false
 * if nothing has changed: wait for spek_room_has_news().
 */
bool spek_room_watch(struct spek_room *room, const struct bio *bio)
{
	struct request_queue *q = bdev_get_queue(bio->bi_bdev);
	bool is_new = xchg(&room->has_news, 0);

	if (!room->q) {
		room->q = q;
		add_wait_queue(&q->mq_freeze_wq, &room->thaw);
		is_new = true;
	}
	if (hold_queue(room))
		is_new = true;
	if (room->is_held && watch_tags(room, bio->bi_opf))
		is_new = true;
	return is_new;
}

/**
 * spek_room_leave() - stop watching
 * @room: watched or not
 *
 * Context: the worker's thread.
 */
void spek_room_leave(struct spek_room *room)
{
	if (!room->q)
		return;
	release_queue(room);
	remove_wait_queue(&room->q->mq_freeze_wq, &room->thaw);
	room->q = NULL;
	WRITE_ONCE(room->has_news, 0);
}

/**
 * spek_rooms_release() - release all queues that a worker watches, before it calls what may sleep
 * @inflight: of the worker
 *
 * It has to try the allocations again before it sleeps in its own loop.
 *
 * Context: the worker's thread.
 */
void spek_rooms_release(struct spek_inflight *inflight)
{
	while (inflight->rooms) {
		struct spek_room *room = inflight->rooms;

		release_queue(room);
		WRITE_ONCE(room->has_news, 1);
	}
}
