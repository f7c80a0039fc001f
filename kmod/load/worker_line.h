/* SPDX-License-Identifier: GPL-2.0 */
/* Operations of a worker that wait for their target. See worker_line.c. */
#ifndef SPEK_WORKER_LINE_H
#define SPEK_WORKER_LINE_H

#include <linux/types.h>
#include "op_fifo.h"
#include "room.h"

struct llist_node;
struct spek_part;
struct spek_slot;
struct spek_worker;

/**
 * struct spek_line - operations of a worker that wait for a target, in the order of their turns
 * @first: operations with a part to send, linked by next_free: the one that was refused, and those
 *	that are striped over several targets and were sent to others, but not yet to this one
 * @end: link after the last one of these
 * @held: operation that may not begin yet, or NULL; its turn comes once @first is empty, as what
 *	has begun may keep it, or one in another line, from beginning
 * @fifo: those that follow, without a slot
 * @retry_ns: delay before the next try to send the first operation; 0 if there was room since the
 *	last one
 * @retry_at_ns: time of that try
 * @room: wakes the worker if @first waits for a request
 * @gave_way_ns: when the worker last left requests of the target to other workers
 * @pool: first target with the same requests
 */
struct spek_line {
	struct spek_slot *first;
	struct spek_slot **end;
	struct spek_slot *held;
	struct spek_op_fifo fifo;
	u64 retry_ns;
	u64 retry_at_ns;
	struct spek_room room;
	u64 gave_way_ns;
	u32 pool;
};

void spek_worker_init_lines(struct spek_worker *w);
void spek_worker_free_lines(struct spek_worker *w);

void spek_line_stall(struct spek_worker *w, struct spek_slot *slot, struct spek_part *part,
		     int err);
void spek_line_hold(struct spek_worker *w, struct spek_slot *slot);
void spek_line_wait_again(struct spek_worker *w, struct spek_slot *slot);
struct spek_slot *spek_line_take(struct spek_worker *w, struct spek_line *line);
bool spek_line_may_have_room(const struct spek_worker *w, const struct spek_line *line, u64 now_ns);
void spek_line_leave_if_empty(struct spek_worker *w, struct spek_line *line);

bool spek_worker_may_sleep(const struct spek_worker *w, const struct spek_op *op);
bool spek_worker_has_room(const struct spek_worker *w);
void spek_worker_note_room(struct spek_worker *w, struct llist_node *completed);
u64 spek_worker_waiting(const struct spek_worker *w, u64 end_ns);

void spek_worker_leave_zone(struct spek_worker *w, const struct spek_slot *failed);
void spek_worker_note_zone(struct spek_worker *w, const struct spek_slot *ended);
void spek_worker_drop_unsent(struct spek_worker *w);
void spek_worker_drop_waiting(struct spek_worker *w);

/**
 * spek_line_has_turn() - check whether operations with a slot wait in a line
 * @line: of a target
 *
 * Return: true if spek_line_take() may be called.
 */
static inline bool spek_line_has_turn(const struct spek_line *line)
{
	return line->first || line->held;
}

#endif
