/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commonest operations of a generator, inline: those of a single closed loop without limits
 * that reads or writes at uniformly random addresses, with nothing to choose; and completions of
 * any closed loop without limits or pauses. gen.c has all others, and these as well.
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

static inline void spek_gen_advance_simple(struct spek_gen *gen, struct spek_process *process)
{
	spek_gen_advance_closed(process);
	gen->next_ns = process->times.next_ns;
}

/* All of an operation but its address. */
static inline void spek_gen_begin_op(const struct spek_gen *gen, const struct spek_choice *choice,
				     u32 replica, struct spek_op *op)
{
	op->at_ns = gen->next_ns;
	op->tag = choice->tag;
	op->bytes = choice->bytes;
	op->replica = choice->first_replica + replica;
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
	spek_gen_begin_op(gen, choice, process->next_replica, op);
	op->addr = spek_uniform_next(choice, &process->rng);
	spek_gen_advance_simple(gen, process);
	return true;
}

/* A closed loop without an I/O that is ready has one, at @ready_ns. */
static inline void spek_gen_make_due(struct spek_gen *gen, struct spek_process *process,
				     u64 ready_ns)
{
	process->times.next_ns = ready_ns;
	if (ready_ns < gen->next_ns) {
		gen->next = process;
		gen->next_ns = ready_ns;
	}
}

/**
 * spek_gen_complete_simple() - report a completion to its closed loop, if that is of a simple kind
 * @gen: generator
 * @arrival: spek_op.arrival of the completed I/O
 * @done_ns: completion time
 *
 * Return: false if spek_gen_complete() has to do it; nothing has changed then.
 */
static inline bool spek_gen_complete_simple(struct spek_gen *gen, u32 arrival, u64 done_ns)
{
	struct spek_process *process = &gen->process[arrival];
	u32 tail = process->tail, ready = tail - process->head;
	u64 ready_ns;

	if ((s32)ready >= process->room || (!ready && process->is_held))
		return false;
	ready_ns = done_ns + process->think_ns;
	process->ready[tail & process->mask] = ready_ns;
	process->tail = tail + 1;
	if (!ready)
		spek_gen_make_due(gen, process, ready_ns);
	return true;
}

#endif
