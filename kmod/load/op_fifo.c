// SPDX-License-Identifier: GPL-2.0
/*
 * Operations that were made and wait for their target.
 *
 * The arrivals of all targets are one sequence. So that those of a target that is served are made
 * in time, those of one that is stalled have to be kept. They take no slot: a FIFO has pages, which
 * are allocated when it grows, because nobody knows before how far a device falls behind.
 *
 * There is a limit, and memory may be short. Then no more operations are made, and all targets wait
 * for the stalled ones, as they wait for a free slot.
 *
 * All of this belongs to the worker's thread, except for creating and destroying.
 */
#include <linux/build_bug.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include "core/workload.h"
#include "op_fifo.h"

/* Limit for a worker: little more than 32 MiB, which spek.yaml states as a number of arrivals. */
#define MAX_WAITING	(1u << 20)
static_assert(sizeof(struct spek_op) <= 32);

/**
 * struct spek_op_page - a page of operations
 * @list: link in its FIFO
 * @first: index of the oldest operation
 * @end: index after that of the newest one
 * @op: the operations
 */
struct spek_op_page {
	struct list_head list;
	u32 first;
	u32 end;
	struct spek_op op[];
};

#define OPS_PER_PAGE	((PAGE_SIZE - sizeof(struct spek_op_page)) / sizeof(struct spek_op))

/**
 * spek_op_fifo_init() - prepare an empty FIFO
 * @fifo: FIFO
 * @arrival: all arrival processes of the workload
 */
void spek_op_fifo_init(struct spek_op_fifo *fifo, const struct spek_arrival *arrival)
{
	INIT_LIST_HEAD(&fifo->pages);
	fifo->arrival = arrival;
	fifo->nr = 0;
	fifo->nr_open = 0;
}

static bool is_open(const struct spek_op_fifo *fifo, const struct spek_op *op)
{
	return spek_op_is_arrival(fifo->arrival, op);
}

/**
 * spek_op_room_find() - make sure that there is room for an operation
 * @room: of the worker
 *
 * Context: the worker's thread; does not sleep.
 * Return: false if there is none: make no operation now.
 */
bool spek_op_room_find(struct spek_op_room *room)
{
	if (room->waiting >= MAX_WAITING)
		return false;
	if (!room->spare)
		room->spare = (void *)__get_free_page(GFP_NOWAIT | __GFP_NOWARN);
	return room->spare;
}

/**
 * spek_op_room_destroy() - free what is left of the memory
 * @room: of a worker whose FIFOs are empty
 */
void spek_op_room_destroy(struct spek_op_room *room)
{
	free_page((unsigned long)room->spare);
}

/**
 * spek_op_fifo_push() - add an operation
 * @fifo: FIFO
 * @room: of the worker; spek_op_room_find() has found some
 * @op: operation
 */
void spek_op_fifo_push(struct spek_op_fifo *fifo, struct spek_op_room *room,
		       const struct spek_op *op)
{
	struct spek_op_page *page = list_empty(&fifo->pages) ? NULL :
				    list_last_entry(&fifo->pages, struct spek_op_page, list);

	if (!page || page->end == OPS_PER_PAGE) {
		page = room->spare;
		room->spare = NULL;
		page->first = 0;
		page->end = 0;
		list_add_tail(&page->list, &fifo->pages);
	}
	page->op[page->end++] = *op;
	fifo->nr++;
	fifo->nr_open += is_open(fifo, op);
	room->waiting++;
}

static void free_first(struct spek_op_fifo *fifo, struct spek_op_room *room)
{
	struct spek_op_page *page = list_first_entry(&fifo->pages, struct spek_op_page, list);

	list_del(&page->list);
	if (room->spare)
		free_page((unsigned long)page);
	else
		room->spare = page;
}

/**
 * spek_op_fifo_pop() - take the oldest operation
 * @fifo: FIFO that is not empty
 * @room: of the worker
 * @op: filled in
 */
void spek_op_fifo_pop(struct spek_op_fifo *fifo, struct spek_op_room *room, struct spek_op *op)
{
	struct spek_op_page *page = list_first_entry(&fifo->pages, struct spek_op_page, list);

	*op = page->op[page->first++];
	fifo->nr--;
	fifo->nr_open -= is_open(fifo, op);
	room->waiting--;
	if (page->first == page->end)
		free_first(fifo, room);
}

/**
 * spek_op_fifo_backlog() - count the arrivals of open loops
 * @fifo: FIFO
 * @end_ns: those before this time; only the newest ones may be later
 *
 * Return: number of them.
 */
u32 spek_op_fifo_backlog(const struct spek_op_fifo *fifo, u64 end_ns)
{
	const struct spek_op_page *page;
	u32 later = 0, i;

	list_for_each_entry_reverse(page, &fifo->pages, list) {
		for (i = page->end; i > page->first; i--) {
			const struct spek_op *op = &page->op[i - 1];

			if (op->at_ns < end_ns)
				return fifo->nr_open - later;
			later += is_open(fifo, op);
		}
	}
	return fifo->nr_open - later;
}
