/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generator: one per worker. It turns a workload, a seed and the worker's
 * number into a sequence of operations. Not thread-safe; owned by its worker.
 *
 * Each arrival process has two random sequences of its own (times, operations),
 * seeded from (seed, worker, arrival process), so the operations of a process
 * do not depend on other processes or on the device.
 */
#ifndef SPEK_CORE_GEN_H
#define SPEK_CORE_GEN_H

#include "../../core/spek_host.h"
#include "arrival.h"
#include "workload.h"

#define SPEK_NEVER	(~(u64)0)

/**
 * struct spek_op - one operation
 * @at_ns: intended arrival, same clock as start_ns of spek_gen_init()
 * @addr: first byte in the asu
 * @bytes: length
 * @replica: replica of the stream (SPC-1: BSU), counted over all workers
 * @stream: index of the stream
 * @asu: index of the asu
 * @arrival: index of the arrival process
 * @write: 1 for a write
 * @tag: the four fields above as one number, to copy them at once
 */
struct spek_op {
	u64 at_ns;
	u64 addr;
	u32 bytes;
	u32 replica;
	union {
		struct {
			u16 stream;
			u16 asu;
			u16 arrival;
			u16 write;
		};
		u64 tag;
	};
};

struct spek_process;

/**
 * struct spek_gen - a generator; callers use only its size and spek_gen_next_ns()
 * @next_ns: time at which the next operation is due
 * @next: arrival process of the next operation
 * @process: all arrival processes
 * @nr_processes: number of arrival processes
 * @has_closed: one of them is a closed loop
 */
struct spek_gen {
	u64 next_ns;
	struct spek_process *next;
	struct spek_process *process;
	u32 nr_processes;
	bool has_closed;
};

size_t spek_gen_size(const struct spek_workload *wl, u32 worker, u32 nr_workers);
void spek_gen_init(struct spek_gen *gen, const struct spek_workload *wl, u64 seed, u32 worker,
		   u32 nr_workers, u64 start_ns);

/**
 * spek_gen_next_ns() - time of the next operation
 * @gen: generator
 *
 * Return: its intended arrival, which may be in the past, or SPEK_NEVER while all arrival processes
 * wait for completions.
 */
static inline u64 spek_gen_next_ns(const struct spek_gen *gen)
{
	return gen->next_ns;
}

/**
 * spek_gen_has_closed() - ask whether completions matter
 * @gen: generator
 *
 * Return: true if spek_gen_complete() has to be called.
 */
static inline bool spek_gen_has_closed(const struct spek_gen *gen)
{
	return gen->has_closed;
}

void spek_gen_next(struct spek_gen *gen, struct spek_op *op);
void spek_gen_complete(struct spek_gen *gen, u32 arrival, u64 done_ns);

/**
 * struct spek_gen_mark - place of a generator in the time sequence of an arrival process
 * @times: next arrival, and the state that all later ones follow from; closed: only its time
 * @made: open: arrivals made so far
 */
struct spek_gen_mark {
	struct spek_times times;
	u64 made;
};

void spek_gen_mark(const struct spek_gen *gen, struct spek_gen_mark *mark);
const struct spek_clock *spek_gen_clock(const struct spek_gen *gen, u32 arrival);
u32 spek_gen_preview(struct spek_gen *gen, struct spek_op *ops, u32 count);

#endif
