// SPDX-License-Identifier: GPL-2.0
/*
 * Lines: operations of a worker that wait for their target, in order.
 *
 * An operation waits if the driver has no room for it (stall), or if it may not begin because
 * another one has its blocks or its zone (hold). The first one of a line keeps its slot, and the
 * time at which it was first tried; those that follow wait in a FIFO, without a slot.
 *
 * What ends the wait depends on what the operation waits for:
 * - a request: a completion of the worker's own for the same requests, or room.c;
 * - a zone: a completion of the worker's own, or of a command of its gate (zone.c);
 * - blocks: a completion of the worker's own; those of other workers are looked for from time to
 *   time, as is room in a driver that has requests and yet refuses them.
 *
 * No two operations wait for each other: one that has begun, and so holds its blocks or its zone,
 * waits in a line for requests only, behind others that have begun; one that has not holds nothing.
 *
 * Everything here belongs to the worker's thread and is off the path of an I/O that does not wait.
 */
#include <linux/bitops.h>
#include <linux/blk-mq.h>
#include <linux/ktime.h>
#include <linux/llist.h>
#include "config.h"
#include "outcome.h"
#include "replay.h"
#include "verify.h"
#include "worker_issue.h"
#include "worker_line.h"
#include "worker_state.h"
#include "zone.h"

/*
 * Delays before a stalled operation is tried again, if nothing wakes the worker for it. They are
 * doubled each time until one of the worker's own completes: for blocks that another worker may
 * hold, and for a driver that others keep busy, which is left alone for as long as the block layer
 * does (BLK_MQ_RESOURCE_DELAY).
 */
#define RETRY_MIN_NS	(2 * NSEC_PER_USEC)
#define RETRY_MAX_NS	(100 * NSEC_PER_USEC)
#define RETRY_BUSY_NS	(3 * NSEC_PER_MSEC)
#define LOOK_NS		(100 * NSEC_PER_MSEC)

static void back_off(struct spek_line *line, u64 most_ns)
{
	line->retry_ns = clamp_t(u64, 2 * line->retry_ns, RETRY_MIN_NS, most_ns);
	line->retry_at_ns = ktime_get_ns() + line->retry_ns;
}

/**
 * spek_line_leave_if_empty() - note that nothing may wait in a line any more
 * @w: worker
 * @line: of a target
 */
void spek_line_leave_if_empty(struct spek_worker *w, struct spek_line *line)
{
	if (spek_line_has_turn(line) || line->fifo.nr)
		return;
	spek_room_leave(&line->room);
	w->issue.lines &= ~(1u << (line - w->issue.line));
}

static void note_waiting(struct spek_worker *w, struct spek_line *line, struct spek_slot *slot)
{
	slot->stalled = true;
	w->issue.lines |= 1u << (line - w->issue.line);
	if (!slot->busy)
		WRITE_ONCE(w->inflight.unsent, w->inflight.unsent + 1);
}

/*
 * An operation with a part to send waits in the line of its target: as the first one, if that line
 * is being served, else behind those that come from other lines as well. A new one finds no others.
 */
static struct spek_line *wait_to_send(struct spek_worker *w, struct spek_slot *slot)
{
	struct spek_line *line = &w->issue.line[slot->next_part->target_index];

	slot->next_free = NULL;
	if (line == w->issue.served) {
		slot->next_free = line->first;
		if (!line->first)
			line->end = &slot->next_free;
		line->first = slot;
	} else {
		*line->end = slot;
		line->end = &slot->next_free;
	}
	note_waiting(w, line, slot);
	return line;
}

/**
 * spek_line_take() - take the operation out of a line whose turn it is
 * @w: worker
 * @line: of a target; operations with a slot wait in it
 *
 * Return: its slot.
 */
struct spek_slot *spek_line_take(struct spek_worker *w, struct spek_line *line)
{
	struct spek_slot *slot = line->first;

	if (slot) {
		line->first = slot->next_free;
		if (!line->first)
			line->end = &line->first;
	} else {
		slot = line->held;
		line->held = NULL;
	}
	if (!slot->busy)
		WRITE_ONCE(w->inflight.unsent, w->inflight.unsent - 1);
	return slot;
}

/**
 * spek_line_wait_again() - let an operation of a line wait for parts of its own
 * @w: worker
 * @slot: of the operation
 */
void spek_line_wait_again(struct spek_worker *w, struct spek_slot *slot)
{
	back_off(wait_to_send(w, slot), RETRY_MAX_NS);
}

/**
 * spek_line_hold() - let an operation wait that may not begin
 * @w: worker
 * @slot: armed, or without memory for its parts
 *
 * It stays in the line that is being served, where it is the first one. If none is, it was just
 * made and finds no other in those of its targets.
 */
void spek_line_hold(struct spek_worker *w, struct spek_slot *slot)
{
	struct spek_line *line = w->issue.served ?: &w->issue.line[slot->part->target_index];

	slot->next_part = NULL;
	line->held = slot;
	note_waiting(w, line, slot);
	if (w->zone_gate && spek_zone_is_woken(w->zone_gate))
		line->retry_at_ns = SPEK_NEVER;
	else
		back_off(line, RETRY_MAX_NS);
}

/*
 * A worker takes the requests that it frees before others have looked for one. Where workers share
 * requests, each gives way from time to time, for as long as it takes the others to look: 2.5 % of
 * the time, so that a fast device loses little.
 */
#define GIVE_WAY_NS	(2 * RETRY_MAX_NS)
#define KEEP_NS		(8 * NSEC_PER_MSEC)

static void give_way(const struct spek_worker *w, struct spek_line *line)
{
	const struct spek_slot *slot = line->first;
	u64 now_ns;

	if (!slot || slot->recuts ||
	    w->config->nr_workers <= slot->next_part->target->pools)
		return;
	now_ns = ktime_get_ns();
	if (now_ns - line->gave_way_ns >= KEEP_NS)
		line->gave_way_ns = now_ns;
	line->retry_at_ns = line->gave_way_ns + GIVE_WAY_NS;
	/* The request that it leaves must not wake it. */
	if (now_ns < line->retry_at_ns)
		spek_room_leave(&line->room);
}

/* A part has completed: its request is free, or will be soon. */
static void note_part(struct spek_worker *w, const struct spek_part *part)
{
	u32 pool = w->issue.line[part->target_index].pool;
	unsigned long lines = w->issue.lines;
	u32 i;

	for_each_set_bit(i, &lines, SPEK_MAX_TARGETS) {
		struct spek_line *line = &w->issue.line[i];

		/* Blocks may have been those of an operation on another target, too. */
		if (line->pool != pool && (line->first || !line->held))
			continue;
		line->retry_ns = 0;
		line->retry_at_ns = 0;
		give_way(w, line);
	}
}

/**
 * spek_worker_note_room() - note that completions may have made room for operations that wait
 * @w: worker with lines
 * @completed: operations that are about to be accounted
 *
 * Context: the worker's thread.
 */
void spek_worker_note_room(struct spek_worker *w, struct llist_node *completed)
{
	const struct spek_slot *slot;
	u32 i;

	llist_for_each_entry(slot, completed, done)
		for (i = 0; i < slot->nr_parts; i++)
			note_part(w, &slot->part[i]);
}

/*
 * Usually a completion of the worker's own makes room, and for a fast device it comes before there
 * is more to do for it: with I/Os in flight the worker begins to watch for requests that others
 * free only after a while. The request of a completed bio is free a little later: the worker waits
 * for that by trying. Once it watches, it tries once more and is then woken. No wake-up says that a
 * freeze has begun, and a wake-up of the block layer may stand for several requests, so it also
 * tries from time to time. An operation whose next try may sleep can't be tried while a queue is
 * watched (room.c): it is only tried from time to time.
 */
static void wait_for_request(struct spek_worker *w, struct spek_line *line,
			     const struct spek_part *part)
{
	spek_room_let_freeze(&line->room);
	if (spek_worker_may_sleep(w, &part->slot->op))
		back_off(line, RETRY_MAX_NS);
	else if (line->retry_ns < RETRY_MAX_NS && spek_worker_held(w))
		back_off(line, RETRY_MAX_NS);
	else if (spek_room_watch(&line->room, &part->bio))
		line->retry_at_ns = 0;
	else
		line->retry_at_ns = ktime_get_ns() + LOOK_NS;
}

/**
 * spek_line_stall() - let an operation wait of which a part was not accepted
 * @w: worker
 * @slot: of the operation
 * @part: first part that was not sent
 * @err: why not, see struct spek_backend_ops
 */
void spek_line_stall(struct spek_worker *w, struct spek_slot *slot, struct spek_part *part,
		     int err)
{
	struct spek_target_count *count = &w->issue.count[part->target_index];
	struct spek_line *line;
	bool is_new;

	slot->recuts = err == -E2BIG;
	if (err == -EBUSY)
		WRITE_ONCE(count->refused, count->refused + 1);
	else if (err == -EAGAIN && part != slot->next_part)
		WRITE_ONCE(count->tag_waits, count->tag_waits + 1);
	if (part == slot->part)
		WRITE_ONCE(slot->busy, false);
	slot->next_part = part;
	is_new = !slot->stalled;
	line = wait_to_send(w, slot);
	/* Behind others, which are waited for already. */
	if (line->first != slot)
		return;
	if (err == -EAGAIN && part->target->pools != U32_MAX) {
		if (is_new)
			line->retry_ns = RETRY_MAX_NS / 2;
		wait_for_request(w, line, part);
		return;
	}
	spek_room_leave(&line->room);
	if (slot->recuts)
		line->retry_at_ns = 0;
	else
		back_off(line, err == -EBUSY ? RETRY_BUSY_NS : RETRY_MAX_NS);
}

/**
 * spek_line_may_have_room() - check whether to try to issue operations of a line
 * @w: worker
 * @line: of a target; operations wait in it
 * @now_ns: current time
 *
 * Return: true if it is time, or something that they wait for has come.
 */
bool spek_line_may_have_room(const struct spek_worker *w, const struct spek_line *line, u64 now_ns)
{
	if (!spek_line_has_turn(line))
		return w->issue.free;
	return now_ns >= line->retry_at_ns || spek_room_has_news(&line->room) ||
	       (w->zone_gate && spek_zone_has_news(w->zone_gate));
}

/**
 * spek_worker_may_sleep() - check whether sending an operation may sleep in the block layer
 * @w: worker
 * @op: operation
 *
 * Return: true if the worker must not hold a queue while it sends it (room.c).
 */
bool spek_worker_may_sleep(const struct spek_worker *w, const struct spek_op *op)
{
	const struct spek_lane *lane = &w->issue.lane[op->asu];

	return lane->may_sleep ||
	       (!spek_op_has_data(op) && lane->target->backend->id == SPEK_BACKEND_BIO);
}

/**
 * spek_worker_has_room() - check whether a target may have a request for what waits for one
 * @w: worker
 *
 * Context: the worker's thread.
 * Return: true if it may.
 */
bool spek_worker_has_room(const struct spek_worker *w)
{
	unsigned long lines = w->issue.lines;
	u32 i;

	for_each_set_bit(i, &lines, SPEK_MAX_TARGETS)
		if (spek_room_has_news(&w->issue.line[i].room))
			return true;
	return false;
}

static void drop_fifo(struct spek_worker *w, struct spek_op_fifo *fifo)
{
	struct spek_op op;

	while (fifo->nr) {
		spek_op_fifo_pop(fifo, &w->issue.op_room, &op);
		if (w->replay)
			spek_replay_drop(w->replay, &op);
		cond_resched();
	}
}

/**
 * spek_worker_drop_waiting() - give up operations that wait without a slot
 * @w: worker that drains: they are the backlog of the phase before
 *
 * Context: the worker's thread, may sleep.
 */
void spek_worker_drop_waiting(struct spek_worker *w)
{
	u32 i;

	for (i = 0; i < w->config->nr_targets; i++) {
		drop_fifo(w, &w->issue.line[i].fifo);
		spek_line_leave_if_empty(w, &w->issue.line[i]);
	}
}

/**
 * spek_worker_waiting() - count the arrivals that wait for their target without a slot
 * @w: worker
 * @end_ns: those before this time
 *
 * Context: the worker's thread.
 * Return: arrivals of open loops and of timed traces.
 */
u64 spek_worker_waiting(const struct spek_worker *w, u64 end_ns)
{
	u64 sum = 0;
	u32 i;

	if (!w->issue.op_room.waiting)
		return 0;
	for (i = 0; i < w->config->nr_targets; i++)
		sum += spek_op_fifo_backlog(&w->issue.line[i].fifo, end_ns);
	return sum;
}

/**
 * spek_worker_leave_zone() - place what waits for a zone elsewhere
 * @w: worker
 * @failed: operation for whose failure the zone was lost
 *
 * Context: the worker's thread.
 */
void spek_worker_leave_zone(struct spek_worker *w, const struct spek_slot *failed)
{
	struct spek_line *line = &w->issue.line[failed->part->target_index];
	struct spek_slot *slot = line->held;

	/* One that has begun has its zone, which no other operation can have lost. */
	if (!slot || !spek_zone_is_waited_for(w->zone_gate, slot, failed))
		return;
	if (w->verify && slot->nr_parts)
		spek_verify_drop(w->verify, &slot->op, &w->issue.lane[slot->op.asu].map, false);
	spek_gen_place(w->gen, &slot->op);
	slot->nr_parts = 0;
	line->retry_at_ns = 0;
}

/**
 * spek_worker_note_zone() - note that what waits for a zone may begin
 * @w: worker
 * @ended: operation on a zone, after spek_zone_end()
 *
 * Completions are noted (spek_worker_note_room()) before they are accounted. The end of a phase, in
 * between, tries once more what waits, when the zone is not free yet.
 *
 * Context: the worker's thread.
 */
void spek_worker_note_zone(struct spek_worker *w, const struct spek_slot *ended)
{
	struct spek_line *line = &w->issue.line[ended->part->target_index];

	if (line->held && !line->first)
		line->retry_at_ns = 0;
}

static void drop_op(struct spek_worker *w, struct spek_slot *slot)
{
	const struct spek_asu_map *asu = &w->issue.lane[slot->op.asu].map;

	/* Without parts (out of memory) it has not requested its blocks. */
	if (w->zone_gate)
		spek_zone_drop(w->zone_gate, slot, asu);
	if (w->verify && slot->nr_parts)
		spek_verify_drop(w->verify, &slot->op, asu, slot->next_part);
	if (w->replay)
		spek_replay_drop(w->replay, &slot->op);
	if (spek_op_is_arrival(w->config->workload.arrival, &slot->op) &&
	    slot->op.at_ns < spek_outcome_ended_ns(w->inflight.outcome))
		w->phases.dropped++;
	slot->next_part = NULL;
	slot->recuts = false;
	slot->stalled = false;
	slot->next_free = w->issue.free;
	w->issue.free = slot;
	WRITE_ONCE(w->inflight.outstanding, w->inflight.outstanding - 1);
	WRITE_ONCE(w->inflight.unsent, w->inflight.unsent - 1);
}

static void drop_unsent(struct spek_worker *w, struct spek_line *line)
{
	struct spek_slot *first = line->first, *slot;

	line->first = NULL;
	line->end = &line->first;
	while ((slot = first)) {
		first = slot->next_free;
		if (slot->busy) {
			*line->end = slot;
			line->end = &slot->next_free;
			slot->next_free = NULL;
		} else {
			drop_op(w, slot);
		}
	}
	if (line->held)
		drop_op(w, line->held);
	line->held = NULL;
	line->retry_at_ns = 0;
	spek_line_leave_if_empty(w, line);
}

/**
 * spek_worker_drop_unsent() - give up operations that have a slot and of which nothing was sent
 * @w: worker whose run has ended
 *
 * Context: the worker's thread, may sleep.
 */
void spek_worker_drop_unsent(struct spek_worker *w)
{
	u32 i;

	/* The drop of an operation may wait for a command on its zone: watch no queue meanwhile. */
	for (i = 0; i < w->config->nr_targets; i++)
		spek_room_leave(&w->issue.line[i].room);
	for (i = 0; i < w->config->nr_targets; i++)
		drop_unsent(w, &w->issue.line[i]);
}

static u32 pool_of(const struct spek_worker *w, u32 target)
{
	struct request_queue *q = bdev_get_queue(w->issue.targets[target].handle.bdev);
	u32 i;

	for (i = 0; i < target && queue_is_mq(q); i++)
		if (bdev_get_queue(w->issue.targets[i].handle.bdev)->tag_set == q->tag_set)
			return i;
	return target;
}

/**
 * spek_worker_init_lines() - prepare the lines of a worker
 * @w: worker; targets are set
 *
 * Context: before the start.
 */
void spek_worker_init_lines(struct spek_worker *w)
{
	u32 i;

	for (i = 0; i < w->config->nr_targets; i++) {
		struct spek_line *line = &w->issue.line[i];

		line->end = &line->first;
		line->pool = pool_of(w, i);
		spek_op_fifo_init(&line->fifo, w->config->workload.arrival);
		spek_room_init(&line->room, &w->inflight);
	}
}

/**
 * spek_worker_free_lines() - free the memory of the lines of a worker
 * @w: worker whose thread has ended, with empty lines, or never ran
 */
void spek_worker_free_lines(struct spek_worker *w)
{
	spek_op_room_destroy(&w->issue.op_room);
}
