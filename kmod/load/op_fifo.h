/* SPDX-License-Identifier: GPL-2.0 */
/* Operations that were made and wait for their target, in order. See op_fifo.c. */
#ifndef SPEK_OP_FIFO_H
#define SPEK_OP_FIFO_H

#include <linux/list.h>
#include <linux/types.h>
#include "core/gen.h"
#include "core/workload.h"

struct spek_op_page;

/**
 * struct spek_op_room - pages for the FIFOs of a worker
 * @spare: a free page, or NULL
 * @waiting: operations in all FIFOs
 */
struct spek_op_room {
	struct spek_op_page *spare;
	u32 waiting;
};

/**
 * struct spek_op_fifo - operations that wait for one target
 * @pages: the pages, oldest operation first
 * @arrival: all arrival processes of the workload
 * @nr: number of operations
 * @nr_open: those of them that are not of closed loops
 */
struct spek_op_fifo {
	struct list_head pages;
	const struct spek_arrival *arrival;
	u32 nr;
	u32 nr_open;
};

/**
 * spek_op_is_arrival() - check whether an operation is backlog as long as it waits for its issue
 * @arrival: all arrival processes of the workload
 * @op: operation
 *
 * Return: true for open loops and timed traces.
 */
static inline bool spek_op_is_arrival(const struct spek_arrival *arrival, const struct spek_op *op)
{
	return arrival[op->arrival].law != SPEK_LAW_CLOSED;
}

void spek_op_fifo_init(struct spek_op_fifo *fifo, const struct spek_arrival *arrival);
bool spek_op_room_find(struct spek_op_room *room);
void spek_op_room_destroy(struct spek_op_room *room);

void spek_op_fifo_push(struct spek_op_fifo *fifo, struct spek_op_room *room,
		       const struct spek_op *op);
void spek_op_fifo_pop(struct spek_op_fifo *fifo, struct spek_op_room *room, struct spek_op *op);
u32 spek_op_fifo_backlog(const struct spek_op_fifo *fifo, u64 end_ns);

#endif
