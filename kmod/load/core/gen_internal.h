/* SPDX-License-Identifier: GPL-2.0 */
/* The inside of a generator, for gen.c, gen_setup.c and gen_simple.h alone. */
#ifndef SPEK_CORE_GEN_INTERNAL_H
#define SPEK_CORE_GEN_INTERNAL_H

#include "arrival.h"
#include "gen.h"
#include "replay.h"
#include "../../core/rng.h"

struct spek_alias;
struct spek_choice;

/**
 * struct spek_process - this worker's part of an arrival process
 * @times: open: time sequence; closed: only next_ns, the oldest ready time
 * @clock: constants of @times
 * @made: open: arrivals made so far
 * @draws_choice: more than one choice or replica
 * @is_simple: the only process, a closed loop without limits, whose operations take no choice and
 *	are at uniformly random addresses
 * @nr_choices: number of choices
 * @next_replica: replica of the next operation, already drawn
 * @pace: that of @clock, or SPEK_PACE_COUNTED
 * @next_choice: choice of the next operation, already drawn
 * @choice: choices of stream, size and direction
 * @alias: alias table of the choices
 * @rng: random sequence of the operations
 * @ready: closed: ring of ready times
 * @head: closed: sequence number of the oldest ready time
 * @tail: closed: sequence number of the next ready time to be added
 * @mask: closed: size of the ring, a power of two, minus 1
 * @room: most that spek_gen_complete() finds ready: @depth; -1 if the process has pauses or a count
 * @depth: closed: this worker's part of the depth; 0 if open
 * @think_ns: closed: see struct spek_arrival
 * @is_held: it replays a trace or has a limit or pauses, so that a completion alone does not make
 *	an I/O due
 * @bucket: closed with a limit: its tokens
 * @has_limit: closed with pauses: it has a limit as well
 * @counts_completed: closed with pauses: @counted counts completions, else I/Os issued
 * @is_draining: closed with pauses: its burst has ended and I/Os of it are outstanding
 * @pause_every: closed with pauses: I/Os of a burst; 0: no number ends it
 * @counted: closed with pauses: I/Os towards @pause_every
 * @pause_ns: closed with pauses: see struct spek_arrival
 * @pause_after_ns: closed with pauses: see struct spek_arrival; 0: no time ends a burst
 * @resume_ns: closed with pauses: start of this burst
 * @done_ns: with pauses or a count: latest completion
 * @replays: it replays a trace
 * @has_record: trace: there is a next record; its choice is @next_choice
 * @start_ns: trace: time 0
 * @count: with a count: this worker's part of it
 * @left: with a count: operations that may still be made
 * @pending: with a count: operations that were made and have not completed
 * @ended_ns: with a count: when all of them had completed, 0 before; read by other threads
 * @due_ns: trace: time of the next record; in a closed loop: its think time
 * @supply: trace: where records come from, or NULL
 * @choice_of: trace: index of the choice by asu and enum spek_trace_op
 */
struct spek_process {
	struct spek_times times;
	struct spek_clock clock;
	u64 made;

	bool draws_choice;
	bool is_simple;
	u32 nr_choices;
	u32 next_replica;
	u32 pace;
	const struct spek_choice *next_choice;
	struct spek_choice *choice;
	struct spek_alias *alias;
	struct spek_rng rng;

	u64 *ready;
	u32 head;
	u32 tail;
	u32 mask;
	s32 room;
	u64 think_ns;

	u32 depth;
	bool is_held;
	struct spek_bucket bucket;

	bool has_limit;
	bool counts_completed;
	bool is_draining;
	u32 pause_every;
	u32 counted;
	u64 pause_ns;
	u64 pause_after_ns;
	u64 resume_ns;
	u64 done_ns;

	bool replays;
	bool has_record;
	u64 start_ns;
	union {
		struct {
			u64 count;
			u64 left;
			u64 pending;
			u64 ended_ns;
		};
		struct {
			u64 due_ns;
			struct spek_supply *supply;
			u8 choice_of[SPEK_MAX_ASUS][SPEK_NR_TRACE_OPS];
		};
	};
};

void spek_gen_begin(struct spek_gen *gen);

#endif
