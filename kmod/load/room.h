/* SPDX-License-Identifier: GPL-2.0 */
/* Waking a worker when a queue may have a request again. See room.c. */
#ifndef SPEK_ROOM_H
#define SPEK_ROOM_H

#include <linux/sbitmap.h>
#include <linux/types.h>
#include <linux/wait.h>

struct bio;
struct request_queue;
struct spek_inflight;

/**
 * struct spek_room - what wakes a worker for which a queue has no request; the worker's own
 * @inflight: of the worker
 * @q: queue that is watched, or NULL
 * @is_held: the usage counter of @q is held: @tag may be waiting
 * @next_held: next room of the worker whose queue is held
 * @ws: where @tag has waited last, or NULL
 * @next_ws: which of the wait queues of the tags is next
 * @tag: waits for a tag; its sbq is NULL once it was woken
 * @thaw: waits for the end of a freeze, or for the resume of the device
 * @has_news: 1 if one of the two was woken, or @q was released meanwhile
 */
struct spek_room {
	struct spek_inflight *inflight;
	struct request_queue *q;
	bool is_held;
	struct spek_room *next_held;
	struct sbq_wait_state *ws;
	atomic_t next_ws;
	struct sbq_wait tag;
	struct wait_queue_entry thaw;
	u32 has_news;
};

void spek_room_init(struct spek_room *room, struct spek_inflight *inflight);
void spek_room_let_freeze(struct spek_room *room);
bool spek_room_watch(struct spek_room *room, const struct bio *bio);
void spek_room_leave(struct spek_room *room);
void spek_rooms_release(struct spek_inflight *inflight);

/**
 * spek_room_has_news() - check whether there may be a request now
 * @room: watched or not
 *
 * Return: true if the allocation is to be tried again.
 */
static inline bool spek_room_has_news(const struct spek_room *room)
{
	return READ_ONCE(room->has_news);
}

#endif
