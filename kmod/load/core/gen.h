/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generator: one per worker. It turns a workload, a seed and the worker's
 * number into a sequence of operations. Not thread-safe; owned by its worker.
 *
 * Each arrival process has two random sequences of its own (times, operations),
 * seeded from (seed, worker, arrival process), so the operations of a process
 * do not depend on what other processes or the device do.
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
 * @tag: the last four as one number, to be copied at once
 *
 * Shared with userspace (op-get): 32 bytes, no padding.
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
 * struct spek_gen - a generator; the caller sees only its size and spek_gen_next_ns()
 * @next_ns: when the next operation is due
 * @next: the process it comes from
 * @process: all of them
 * @nr_processes: their number
 */
struct spek_gen {
	u64 next_ns;
	struct spek_process *next;
	struct spek_process *process;
	u32 nr_processes;
};

/**
 * spek_gen_size() - memory a generator needs, all state included
 * @wl: checked workload
 * @worker: number of the worker
 * @nr_workers: workers of the run
 *
 * Return: bytes; SIZE_MAX if it needs more than there are addresses.
 */
size_t spek_gen_size(const struct spek_workload *wl, u32 worker, u32 nr_workers);

/**
 * spek_gen_init() - prepare a generator in the caller's memory
 * @gen: spek_gen_size() bytes, 64-byte aligned
 * @wl: checked workload; must stay while @gen is used
 * @seed: seed of the run
 * @worker: number of this worker
 * @nr_workers: workers of the run
 * @start_ns: time 0 of the arrival processes
 *
 * Closed loop depths and bursts are shared out evenly among the workers, the
 * remainder to the first ones; replicas likewise. A constant rate is interleaved,
 * so that all workers together keep equal gaps. A Poisson rate follows the replicas:
 * each replica has the same rate on whichever worker it is. A sequential
 * or strided stream gives each worker its own contiguous part of the range.
 * With fewer replicas than workers, walks and runs leave the last workers without
 * work; other patterns give each worker a copy (see share.h).
 */
void spek_gen_init(struct spek_gen *gen, const struct spek_workload *wl, u64 seed, u32 worker,
		   u32 nr_workers, u64 start_ns);

/**
 * spek_gen_next_ns() - when the next operation is due
 * @gen: generator
 *
 * Return: its intended arrival (may lie in the past), or SPEK_NEVER while all
 * arrival processes wait for completions.
 */
static inline u64 spek_gen_next_ns(const struct spek_gen *gen)
{
	return gen->next_ns;
}

/**
 * spek_gen_next() - make the operation that spek_gen_next_ns() announced
 * @gen: generator; spek_gen_next_ns() must not be SPEK_NEVER
 * @op: filled in
 */
void spek_gen_next(struct spek_gen *gen, struct spek_op *op);

/**
 * spek_gen_complete() - tell a closed loop that one of its I/Os came back
 * @gen: generator
 * @arrival: spek_op.arrival of that I/O
 * @done_ns: completion time; does nothing for open loops
 */
void spek_gen_complete(struct spek_gen *gen, u32 arrival, u64 done_ns);

/**
 * struct spek_gen_mark - where a generator is in the time sequence of an arrival process
 * @times: next arrival, and what follows it; closed: only its time
 * @made: open: arrivals made so far
 */
struct spek_gen_mark {
	struct spek_times times;
	u64 made;
};

/**
 * spek_gen_mark() - note where a generator is
 * @gen: generator
 * @mark: filled in, one for each arrival process of the workload
 *
 * Cheap; what can be computed from it is left to others (backlog.h).
 */
void spek_gen_mark(const struct spek_gen *gen, struct spek_gen_mark *mark);

/** spek_gen_clock() - Return: constants of the times of an arrival process, while @gen is used. */
const struct spek_clock *spek_gen_clock(const struct spek_gen *gen, u32 arrival);

/**
 * spek_gen_preview() - make operations without a device
 * @gen: generator
 * @ops: filled in
 * @count: operations wanted
 *
 * In a closed loop each operation completes at its arrival. This is what op-get
 * answers with, in the kernel and in tests.
 *
 * Return: operations made; fewer than @count, then 0, only if this worker has no work.
 */
u32 spek_gen_preview(struct spek_gen *gen, struct spek_op *ops, u32 count);

#endif
