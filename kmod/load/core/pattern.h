/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Streams at work: what one worker has of a stream, and where its next I/O goes.
 *
 * Stream, size and direction of an I/O are independent of all that went before, so every
 * combination of the three is one choice in one alias table, drawn at once. Only the
 * address depends on history, which is kept per replica:
 *
 *   pattern      bytes per replica          shared by the worker's replicas
 *   uniform      0; 8 with sequential share
 *   sequential   24
 *   strided      24
 *   runs         16
 *   walk         24                         one byte per leaf
 *   hotband      0
 *
 * The eight streams of SPC-1 take 120 bytes per BSU.
 */
#ifndef SPEK_CORE_PATTERN_H
#define SPEK_CORE_PATTERN_H

#include "gen.h"
#include "../../core/rng.h"
#include "share.h"
#include "../../core/spek_host.h"
#include "workload.h"

#define SPEK_LEAF_BLOCKS	8	/* blocks of a leaf of a walk */
#define SPEK_WRITE_LEAVES	8	/* a write goes to every so many leaves only */
#define SPEK_CLASSIC_MIN_LEVEL	7	/* log2 of the leaves in the smallest window */
#define SPEK_FIXED_MIN_LEVEL	6

/**
 * struct spek_cursor - a replica of a sequential or strided stream
 * @next: address of the next I/O
 * @start: first byte of its part of the range
 * @end: first byte after it
 */
struct spek_cursor {
	u64 next;
	u64 start;
	u64 end;
};

/**
 * struct spek_run - a replica of a stream of runs
 * @next: address after the last I/O
 * @end: first byte after the run; 0 before the first run
 */
struct spek_run {
	u64 next;
	u64 end;
};

/**
 * struct spek_walk - a replica of a walk
 * @origin: first block of its tree in the asu
 * @rewrite: block of the last write, from @origin
 * @leaf: where the walk stands, from @origin
 * @rewrite_pending: the next write repeats the last one
 */
struct spek_walk {
	u64 origin;
	u64 rewrite;
	u32 leaf;
	u32 rewrite_pending;
};

/**
 * struct spek_source - what one worker has of a stream; constant but for states
 * @replicas: replicas of this worker; > 0
 * @align_bytes: see struct spek_stream
 * @mixed: uniform with sequential share: @threshold: 32 random bits below it continue the
 *	I/O before; @next: per replica, the address after its last I/O
 * @cursor: @stride_bytes: from start to start, 0 for sequential; @replica: states
 * @runs: @first_block, @restart_blocks, @run_blocks: in units of @align_bytes;
 *	@mask: rounds blocks down to the alignment of runs; @replica: states
 * @walk: @base_block: first block of the hot spot; @min_level, @levels: log2 of the leaves
 *	in the smallest window and in the tree; @is_fixed: enum spek_walk_style;
 *	@leaf_state: per leaf, the block to be read next; @replica: states
 * @hotband: @slots: addresses in the band, in units of @align_bytes; @write_shift: 1 % of
 *	them; @per_slots, @per_align: 2^64 - 1 divided by them
 */
struct spek_source {
	u32 replicas;
	u32 align_bytes;
	union {
		struct {
			u64 threshold;
			u64 *next;
		} mixed;
		struct {
			u64 stride_bytes;
			struct spek_cursor *replica;
		} cursor;
		struct {
			u64 first_block;
			u64 restart_blocks;
			u64 run_blocks;
			u64 mask;
			struct spek_run *replica;
		} runs;
		struct {
			u64 base_block;
			u32 min_level;
			u32 levels;
			bool is_fixed;
			u8 *leaf_state;
			struct spek_walk *replica;
		} walk;
		struct {
			u64 slots;
			u64 write_shift;
			u64 per_slots;
			u64 per_align;
		} hotband;
	};
};

/** enum spek_kind - how the address of a choice is found */
enum spek_kind {
	SPEK_KIND_UNIFORM,
	SPEK_KIND_MIXED,
	SPEK_KIND_CURSOR,
	SPEK_KIND_RUNS,
	SPEK_KIND_WALK_READ,
	SPEK_KIND_WALK_WRITE,
	SPEK_KIND_HOTBAND,
};

/**
 * struct spek_choice - stream, size and direction of an I/O; one cache line
 * @tag: as in struct spek_op
 * @bytes: size
 * @kind: see enum spek_kind
 * @first_replica: number of the worker's first replica of the stream
 * @replicas: how many it has
 * @align_bytes: addresses are multiples of this
 * @start: first byte of the range
 * @slots: addresses in the range where the size fits
 * @last: last byte address in the range where the size fits
 * @source: history
 */
struct spek_choice {
	u64 tag;
	u32 bytes;
	u32 kind;
	u32 first_replica;
	u32 replicas;
	u64 align_bytes;
	u64 start;
	u64 slots;
	u64 last;
	struct spek_source *source;
};

/**
 * struct spek_source_memory - what a source needs
 * @choices: number of choices
 * @replica_bytes: states of the replicas
 * @leaf_bytes: leaf states
 */
struct spek_source_memory {
	u32 choices;
	u64 replica_bytes;
	u64 leaf_bytes;
};

/** spek_source_memory() - memory that a worker with @share of @stream needs. */
void spek_source_memory(struct spek_source_memory *memory, const struct spek_stream *stream,
			const struct spek_share *share);

/**
 * spek_source_init() - prepare a source
 * @source: filled in
 * @stream: checked stream
 * @share: what this worker has of it; count > 0
 * @rng: operations sequence of the arrival process; starting points are drawn from it
 * @states: memory for the states of the replicas
 * @leaves: memory for the leaf states
 */
void spek_source_init(struct spek_source *source, const struct spek_stream *stream,
		      const struct spek_share *share, struct spek_rng *rng, void *states,
		      u8 *leaves);

/**
 * spek_choices_init() - list the choices of a source
 * @choice: spek_source_memory.choices entries, filled in
 * @weight: as many weights, filled in; they add up to @total
 * @total: weight of the stream
 * @source: prepared source
 * @wl: checked workload
 * @stream: index of the stream
 * @share: what this worker has of it
 */
void spek_choices_init(struct spek_choice *choice, u64 *weight, u64 total,
		       struct spek_source *source, const struct spek_workload *wl, u32 stream,
		       const struct spek_share *share);

/**
 * spek_pattern_next() - address of the next I/O, for all kinds but uniform
 * @choice: what was chosen
 * @replica: which of the source's replicas, from 0
 * @rng: operations sequence of the arrival process
 * @op: tag is there, addr is filled in
 */
void spek_pattern_next(const struct spek_choice *choice, u32 replica, struct spek_rng *rng,
		       struct spek_op *op);

/** spek_uniform_next() - Return: a random address where the choice fits. */
static inline u64 spek_uniform_next(const struct spek_choice *choice, struct spek_rng *rng)
{
	return choice->start + spek_rng_below(rng, choice->slots) * choice->align_bytes;
}

#endif
