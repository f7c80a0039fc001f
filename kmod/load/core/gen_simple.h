/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commonest generator, inline: a single closed loop without limits that reads or writes at
 * uniformly random addresses, with nothing to choose. gen.c has all others, and these as well.
 */
#ifndef SPEK_CORE_GEN_SIMPLE_H
#define SPEK_CORE_GEN_SIMPLE_H

#include "gen_internal.h"
#include "pattern.h"

/* Take the oldest ready time. */
static inline void spek_gen_advance_closed(struct spek_process *process)
{
	u32 head = ++process->head;

	process->times.next_ns = head == process->tail ? SPEK_NEVER :
			process->ready[head & process->mask];
}

/**
 * spek_gen_next_simple() - make the next operation, if it is of the simple kind
 * @gen: generator; spek_gen_next_ns() is not SPEK_NEVER
 * @op: filled in as by spek_gen_next()
 *
 * Return: false if spek_gen_next() has to make it; nothing has changed then.
 */
static inline bool spek_gen_next_simple(struct spek_gen *gen, struct spek_op *op)
{
	struct spek_process *process = gen->next;
	const struct spek_choice *choice = process->next_choice;

	if (spek_unlikely(!process->is_simple))
		return false;
	op->at_ns = gen->next_ns;
	op->tag = choice->tag;
	op->bytes = choice->bytes;
	op->replica = choice->first_replica + process->next_replica;
	op->addr = spek_uniform_next(choice, &process->rng);
	spek_gen_advance_closed(process);
	gen->next_ns = process->times.next_ns;
	return true;
}

#endif
