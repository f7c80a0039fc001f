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
 * enum spek_op_flags - flags of an operation beyond read or write
 * @SPEK_OP_PLAIN: no more than that
 * @SPEK_OP_FUA: a write with forced unit access
 * @SPEK_OP_PREFLUSH: a write before which the device's cache is flushed
 * @SPEK_OP_FLUSH: a flush, which counts as a write of no bytes
 * @SPEK_OP_DISCARD: a discard, which counts as a write
 * @SPEK_OP_WRITE_ZEROES: a write of zeroes that carries no data
 * @SPEK_OP_ZONE_APPEND: a write whose place in its zone the device chooses
 * @SPEK_OP_ZONE_RESET: a reset of a zone, which counts as a write of no bytes, as do the next three
 * @SPEK_OP_ZONE_FINISH: a zone is declared full
 * @SPEK_OP_ZONE_OPEN: a zone is opened
 * @SPEK_OP_ZONE_CLOSE: a zone is closed
 *
 * The last five exclude each other and all others: the last four are numbers.
 */
enum spek_op_flags {
	SPEK_OP_PLAIN = 0,
	SPEK_OP_FUA = 1 << 0,
	SPEK_OP_PREFLUSH = 1 << 1,
	SPEK_OP_FLUSH = 1 << 2,
	SPEK_OP_DISCARD = 1 << 3,
	SPEK_OP_WRITE_ZEROES = 1 << 4,
	SPEK_OP_ZONE_APPEND = 1 << 5,
	SPEK_OP_ZONE_RESET = 1 << 6,
	SPEK_OP_ZONE_FINISH,
	SPEK_OP_ZONE_OPEN,
	SPEK_OP_ZONE_CLOSE,
};

/**
 * struct spek_op - one operation
 * @at_ns: intended arrival, same clock as start_ns of spek_gen_start()
 * @addr: first byte in the asu
 * @bytes: length
 * @replica: replica of the stream (SPC-1: BSU), counted over all workers
 * @stream: index of the stream
 * @asu: index of the asu
 * @arrival: index of the arrival process
 * @kind: bits of enum spek_op_flags
 * @write: 1 for a write
 * @tag: the five fields above as one number, to copy them at once
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
			u8 arrival;
			u8 kind;
			u16 write;
		};
		u64 tag;
	};
};

/**
 * spek_op_has_data() - ask whether an operation transfers data
 * @op: operation
 *
 * Return: false for those that are no more than a command.
 */
static inline bool spek_op_has_data(const struct spek_op *op)
{
	return op->kind < SPEK_OP_FLUSH || op->kind == SPEK_OP_ZONE_APPEND;
}

struct spek_process;
struct spek_supply;
struct spek_zones;

/**
 * struct spek_gen - a generator; callers use only its size and spek_gen_next_ns()
 * @next_ns: time at which the next operation is due
 * @next: arrival process of the next operation
 * @process: all arrival processes
 * @nr_processes: number of arrival processes
 * @trace: the one that replays a trace, or NULL
 * @has_closed: one of them is a closed loop or has a count
 * @zones: this worker's zones of each asu, or NULL
 * @wl: workload
 * @seed: seed of the run
 * @worker: number of the worker
 * @nr_workers: workers of the run
 */
struct spek_gen {
	u64 next_ns;
	struct spek_process *next;
	struct spek_process *process;
	struct spek_process *trace;
	u32 nr_processes;
	bool has_closed;
	struct spek_zones *zones[SPEK_MAX_ASUS];
	const struct spek_workload *wl;
	u64 seed;
	u32 worker;
	u32 nr_workers;
};

size_t spek_gen_size(const struct spek_workload *wl, u32 worker, u32 nr_workers);
void spek_gen_init(struct spek_gen *gen, const struct spek_workload *wl, u64 seed, u32 worker,
		   u32 nr_workers);
void spek_gen_start(struct spek_gen *gen, u64 start_ns);

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
void spek_gen_place(struct spek_gen *gen, struct spek_op *op);
void spek_gen_complete(struct spek_gen *gen, u32 arrival, u64 done_ns);

void spek_gen_set_count(struct spek_gen *gen, u32 arrival, u64 count);
u64 spek_gen_begin_counts(struct spek_gen *gen, u64 now_ns);
u64 spek_gen_ended_ns(const struct spek_gen *gen, u32 arrival);

void spek_gen_set_supply(struct spek_gen *gen, struct spek_supply *supply);
bool spek_gen_has_record(const struct spek_gen *gen);
u64 spek_gen_record_ns(const struct spek_gen *gen);
bool spek_gen_refill(struct spek_gen *gen);

/**
 * struct spek_gen_mark - place of a generator in the time sequence of an arrival process
 * @times: next arrival, and the state that all later ones follow from; closed: only its time
 * @made: open: arrivals made so far
 * @left: arrivals that may still be made, SPEK_NEVER without a count
 */
struct spek_gen_mark {
	struct spek_times times;
	u64 made;
	u64 left;
};

void spek_gen_mark(const struct spek_gen *gen, struct spek_gen_mark *mark);
const struct spek_clock *spek_gen_clock(const struct spek_gen *gen, u32 arrival);
u32 spek_gen_preview(struct spek_gen *gen, struct spek_op *ops, u32 count);

#endif
