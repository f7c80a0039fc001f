/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sources: one worker's part of a stream, and the addresses of its I/Os.
 *
 * Stream, size and direction of an I/O are independent of all I/Os before it, so every
 * combination of the three is one choice in one alias table, drawn at once. Only the
 * address depends on history, which is kept per replica:
 *
 *   pattern      bytes per replica          shared by the worker's replicas
 *   uniform      0; 8 with sequential share
 *   sequential   24
 *   strided      24; 40 with zones of several I/Os; if their blocks are touched once, 2 for each
 *                block as well, or 136 if they have more than 1024
 *   backward     24
 *   once         128
 *   runs         16
 *   walk         16                         one byte per leaf
 *   hotband      0
 *   table        0                          56 bytes per part
 *   trace        0
 *   write-pointer 0                         16 bytes per zone, in the generator
 *
 * The eight streams of SPC-1 take 96 bytes per BSU.
 *
 * A pattern is a file: its struct spek_pattern_ops checks streams and sets their sources up, its
 * spek_X_next() finds addresses. A new one also needs its state in struct spek_source, its kinds,
 * a row in the table of pattern.c and a line in next_elsewhere() of gen.c, or in
 * spek_pattern_next() if it is long.
 */
#ifndef SPEK_CORE_PATTERN_H
#define SPEK_CORE_PATTERN_H

#include "gen.h"
#include "once.h"
#include "../../core/rng.h"
#include "share.h"
#include "table.h"
#include "../../core/spek_host.h"
#include "workload.h"

#define SPEK_LEAF_BLOCKS	8	/* blocks of a leaf of a walk */
#define SPEK_WRITE_LEAVES	8	/* distance of the leaves that writes go to */
#define SPEK_CLASSIC_MIN_LEVEL	7	/* log2 of the leaves in the smallest window */
#define SPEK_FIXED_MIN_LEVEL	6

/**
 * struct spek_cursor - a replica of a sequential, strided or backward stream
 * @next: address of the next I/O; backward: of the last one; strided: without its jitter
 * @start: first byte of its part of the range
 * @end: first byte after it
 */
struct spek_cursor {
	u64 next;
	u64 start;
	u64 end;
};

/**
 * struct spek_gap_cursor - a replica of a strided stream with zones of several I/Os
 * @zone: first byte of the zone
 * @next: sequential: address of the next I/O; once: its number among those of the zone's blocks
 * @left: bytes until the next zone; 0: the next I/O is its first one
 * @start: first byte of the first zone of its part of the range
 * @last: first byte of the last one
 */
struct spek_gap_cursor {
	u64 zone;
	u64 next;
	u64 left;
	u64 start;
	u64 last;
};

/**
 * struct spek_gap_deck - a replica of such a stream that touches the few blocks of a zone once
 * @cursor: as above
 * @block: numbers of the blocks, those that have been touched first
 */
struct spek_gap_deck {
	struct spek_gap_cursor cursor;
	u16 block[];
};

/**
 * struct spek_gap_once - a replica of such a stream that touches the many blocks of a zone once
 * @cursor: as above
 * @order: of the zone's blocks
 */
struct spek_gap_once {
	struct spek_gap_cursor cursor;
	struct spek_order order;
};

/**
 * struct spek_seq_run - a replica of a stream of runs
 * @next: address after the last I/O
 * @end: first byte after the run; 0 before the first run
 */
struct spek_seq_run {
	u64 next;
	u64 end;
};

/**
 * struct spek_walk - a replica of a walk; 16 bytes, so that it lies in one cache line
 * @rewrite_block: block of the last write in its leaf
 * @rewrite_pending: 1 if the next write repeats the last one
 * @origin: first block of its tree in the asu, < 2^53
 * @leaf: leaf that the walk stands on, from @origin
 * @rewrite_leaf: leaf of the last write, from @origin
 */
struct spek_walk {
	u64 rewrite_block : 3;
	u64 rewrite_pending : 1;
	u64 origin : 60;
	u32 leaf;
	u32 rewrite_leaf;
};

/**
 * struct spek_source - one worker's part of a stream; constant except for the states
 * @align_bytes: see struct spek_stream
 * @state_bytes: size of the state of a replica, 0 without one
 * @states: states of the replicas; without any the source itself, which is cached
 * @mixed: uniform with a sequential share; a state is the address after the replica's last I/O
 * @mixed.threshold: 32 random bits below it continue the replica's last I/O
 * @cursor: sequential, strided and backward
 * @cursor.stride_bytes: bytes from start to start; 0 for sequential
 * @cursor.jitter_bytes: largest distance of an I/O from its place in the grid of strides
 * @cursor.jitter_slots: number of addresses up to there
 * @gap: strided with zones of several I/Os
 * @gap.stride_bytes: bytes from start to start of zones
 * @gap.size_bytes: bytes of the I/Os of a zone
 * @gap.range_bytes: bytes from the start of a zone in which I/Os start
 * @gap.blocks: once: number of blocks in that range
 * @gap.block_bytes: once, with many blocks: size of a block times 2^k
 * @table: table; its addresses are in units of @align_bytes
 * @once: every block once
 * @once.block_bytes: size of a block times 2^k
 * @once.key: of the stream
 * @runs: sequential runs
 * @runs.first_block: first block of the range, in units of @align_bytes like the next two
 * @runs.restart_blocks: blocks from which the start of a run is drawn
 * @runs.run_blocks: length of a run
 * @runs.mask: rounds blocks down to the alignment of runs
 * @walk: hierarchical reuse random walk
 * @walk.base_block: first block of the hot spot
 * @walk.min_level: log2 of the leaves in the smallest window
 * @walk.levels: log2 of the leaves in the tree
 * @walk.is_fixed: enum spek_walk_style
 * @walk.leaf_state: per leaf, the block to be read next
 * @hotband: hot band
 * @hotband.slots: addresses in the band, in units of @align_bytes
 * @hotband.write_shift: 1 % of @slots
 * @hotband.per_slots: 2^64 - 1 divided by @slots
 * @hotband.per_align: 2^64 - 1 divided by @align_bytes
 * @replay: trace: the next record, if it belongs to this stream
 * @replay.addr: first byte in the asu
 * @replay.bytes: length
 * @replay.kind: bits of enum spek_op_flags
 */
struct spek_source {
	u32 align_bytes;
	u32 state_bytes;
	void *states;
	union {
		struct {
			u64 threshold;
		} mixed;
		struct {
			u64 stride_bytes;
			u64 jitter_bytes;
			u64 jitter_slots;
		} cursor;
		struct {
			u64 stride_bytes;
			u64 size_bytes;
			u64 range_bytes;
			u64 blocks;
			u64 block_bytes;
		} gap;
		struct {
			u64 block_bytes;
			u64 key;
		} once;
		struct spek_table table;
		struct {
			u64 first_block;
			u64 restart_blocks;
			u64 run_blocks;
			u64 mask;
		} runs;
		struct {
			u64 base_block;
			u32 min_level;
			u32 levels;
			bool is_fixed;
			u8 *leaf_state;
		} walk;
		struct {
			u64 slots;
			u64 write_shift;
			u64 per_slots;
			u64 per_align;
		} hotband;
		struct {
			u64 addr;
			u32 bytes;
			u8 kind;
		} replay;
	};
};

/*
 * enum spek_kind - how the address of a choice is found: from SPEK_KIND_POINTER on by
 * spek_pattern_next(), before that without a call
 */
enum spek_kind {
	SPEK_KIND_UNIFORM,
	SPEK_KIND_CURSOR,
	SPEK_KIND_BACKWARD,
	SPEK_KIND_ONCE,
	SPEK_KIND_TABLE,
	SPEK_KIND_SPREAD,
	SPEK_KIND_JITTER,
	SPEK_KIND_WALK_READ,
	SPEK_KIND_WALK_WRITE,
	SPEK_KIND_RUNS,
	SPEK_KIND_HOTBAND,
	SPEK_KIND_MIXED,
	SPEK_KIND_POINTER,
	SPEK_KIND_REPLAY,
	SPEK_KIND_GAP_SEQUENTIAL,
	SPEK_KIND_GAP_RANDOM,
	SPEK_KIND_GAP_DECK,
	SPEK_KIND_GAP_ONCE,
};

/**
 * struct spek_choice - stream, size and direction of an I/O; one cache line
 * @tag: as in struct spek_op
 * @bytes: size
 * @kind: enum spek_kind
 * @first_replica: number of the worker's first replica of the stream
 * @replicas: number of its replicas of the stream
 * @align_bytes: addresses are multiples of this
 * @start: first byte of the range
 * @slots: number of addresses in the range, or in that of a zone, at which the size fits
 * @last: last byte address in the range at which the size fits
 * @source: source of the stream
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
 * struct spek_source_memory - memory of a source
 * @choices: number of choices
 * @replica_bytes: size of the states of all replicas
 * @shared_bytes: size of the memory that the replicas share: leaf states or a table
 */
struct spek_source_memory {
	u32 choices;
	u64 replica_bytes;
	u64 shared_bytes;
};

/**
 * struct spek_pattern_ops - set-up of a pattern
 * @check: check the pattern's parameters of a stream whose asu, range, alignment and sizes are
 *	valid, and whose range sequential patterns divide into @parts parts.
 *	Return: 0, -EINVAL or -ERANGE
 * @memory: set the sizes of one replica's state and of what replicas share, if not 0; NULL: both 0
 * @init: fill in the pattern's part of a source and the states of its replicas
 * @kind: how addresses of reads or of writes are found
 * @blocks: count the I/Os that pass a part of the range, number @part of @parts, once; NULL if no
 *	order of the I/Os says when it is passed. Return: I/Os; 0 if their sizes differ, or more
 *	than 2^64 - 1
 * @is_exclusive: replicas have a history that a copy on a second worker would falsify
 */
struct spek_pattern_ops {
	int (*check)(const struct spek_stream *stream, u64 parts, struct spek_refusal *refusal);
	void (*memory)(struct spek_source_memory *memory, const struct spek_stream *stream);
	void (*init)(struct spek_source *source, const struct spek_stream *stream,
		     const struct spek_share *share, struct spek_rng *rng, void *states,
		     void *shared);
	enum spek_kind (*kind)(const struct spek_stream *stream, bool write);
	u64 (*blocks)(const struct spek_stream *stream, u64 part, u64 parts);
	bool is_exclusive;
};

extern const struct spek_pattern_ops spek_pattern_uniform;
extern const struct spek_pattern_ops spek_pattern_sequential;
extern const struct spek_pattern_ops spek_pattern_strided;
extern const struct spek_pattern_ops spek_pattern_runs;
extern const struct spek_pattern_ops spek_pattern_walk;
extern const struct spek_pattern_ops spek_pattern_hotband;
extern const struct spek_pattern_ops spek_pattern_once;
extern const struct spek_pattern_ops spek_pattern_backward;
extern const struct spek_pattern_ops spek_pattern_table;
extern const struct spek_pattern_ops spek_pattern_replay;
extern const struct spek_pattern_ops spek_pattern_pointer;

const struct spek_pattern_ops *spek_pattern_of(const struct spek_stream *stream);
void spek_source_memory(struct spek_source_memory *memory, const struct spek_stream *stream,
			const struct spek_share *share);
void spek_source_init(struct spek_source *source, const struct spek_stream *stream,
		      const struct spek_share *share, struct spek_rng *rng, void *states,
		      void *shared);
void spek_choices_init(struct spek_choice *choice, u64 *weight, u64 total,
		       struct spek_source *source, const struct spek_workload *wl, u32 stream,
		       const struct spek_share *share);
void spek_pattern_next(const struct spek_choice *choice, u32 replica, struct spek_rng *rng,
		       struct spek_op *op);

void spek_runs_restart(const struct spek_choice *choice, u32 replica, struct spek_rng *rng);

u64 spek_gap_range(const struct spek_stream *stream);
u64 spek_gap_reach(const struct spek_stream *stream);
u64 spek_gap_ios(const struct spek_stream *stream);
int spek_gap_check(const struct spek_stream *stream, struct spek_refusal *refusal);
u64 spek_gap_state_bytes(const struct spek_stream *stream);
void spek_gap_init(struct spek_source *source, const struct spek_stream *stream);
void spek_gap_init_state(const struct spek_source *source, u32 replica,
			 const struct spek_stream *stream, u64 start, u64 end);
enum spek_kind spek_gap_kind(const struct spek_stream *stream);

/* Called by spek_pattern_next(); same parameters. */
void spek_gap_next(const struct spek_choice *choice, u32 replica, struct spek_rng *rng,
		    struct spek_op *op);
void spek_pointer_next(const struct spek_choice *choice, u32 replica, struct spek_rng *rng,
		       struct spek_op *op);
void spek_replay_next(const struct spek_choice *choice, struct spek_op *op);

/**
 * spek_choice_prefetch() - prefetch the state of a replica for the next operation
 * @choice: choice of that operation
 * @replica: index among the source's replicas
 */
static inline void spek_choice_prefetch(const struct spek_choice *choice, u32 replica)
{
	const struct spek_source *source = choice->source;

	spek_prefetch((const u8 *)source->states + (u64)replica * source->state_bytes);
}

/**
 * spek_uniform_next() - draw a random address
 * @choice: stream, size and direction
 * @rng: operations sequence of the arrival process
 *
 * Return: first byte in the asu; the I/O fits in the range from there.
 */
static inline u64 spek_uniform_next(const struct spek_choice *choice, struct spek_rng *rng)
{
	return choice->start + spek_rng_below(rng, choice->slots) * choice->align_bytes;
}

/**
 * spek_mixed_next() - find the next address of a uniform stream with a sequential share
 * @choice: stream, size and direction
 * @replica: index among the source's replicas
 * @rng: operations sequence of the arrival process
 *
 * Return: first byte in the asu.
 */
static inline u64 spek_mixed_next(const struct spek_choice *choice, u32 replica,
				  struct spek_rng *rng)
{
	u64 *next = (u64 *)choice->source->states + replica;
	u64 addr = *next;

	if (spek_rng_next(rng) >> 32 >= choice->source->mixed.threshold || addr > choice->last)
		addr = spek_uniform_next(choice, rng);
	*next = addr + choice->bytes;
	return addr;
}

/**
 * spek_runs_has_room() - check whether the next I/O of a stream of runs continues its run
 * @choice: stream, size and direction
 * @replica: index among the source's replicas
 *
 * Return: false if the I/O would reach the end of the run: spek_runs_restart() comes first, and the
 * I/O keeps its size.
 */
static inline bool spek_runs_has_room(const struct spek_choice *choice, u32 replica)
{
	const struct spek_seq_run *run = (struct spek_seq_run *)choice->source->states + replica;

	return run->next + choice->bytes < run->end;
}

/**
 * spek_runs_next() - find the next address of a run
 * @choice: stream, size and direction
 * @replica: index among the source's replicas
 *
 * Return: first byte in the asu.
 */
static inline u64 spek_runs_next(const struct spek_choice *choice, u32 replica)
{
	struct spek_seq_run *run = (struct spek_seq_run *)choice->source->states + replica;
	u64 addr = run->next;

	run->next = addr + choice->bytes;
	return addr;
}

/**
 * spek_cursor_next() - find the next address of a sequential or strided stream
 * @choice: stream, size and direction
 * @replica: index among the source's replicas
 *
 * Return: first byte in the asu.
 */
static inline u64 spek_cursor_next(const struct spek_choice *choice, u32 replica)
{
	struct spek_cursor *cursor = (struct spek_cursor *)choice->source->states + replica;
	u64 stride = choice->source->cursor.stride_bytes;
	u64 addr = cursor->next;

	if (addr + choice->bytes > cursor->end)
		addr = cursor->start;
	cursor->next = addr + (stride ? stride : choice->bytes);
	return addr;
}

/**
 * spek_jitter_next() - find the next address of a strided stream with jitter
 * @choice: stream, size and direction
 * @replica: index among the source's replicas
 * @rng: operations sequence of the arrival process
 *
 * Return: first byte in the asu.
 */
static inline u64 spek_jitter_next(const struct spek_choice *choice, u32 replica,
				   struct spek_rng *rng)
{
	struct spek_cursor *cursor = (struct spek_cursor *)choice->source->states + replica;
	const struct spek_source *source = choice->source;
	u64 addr = cursor->next;

	if (addr + source->cursor.jitter_bytes + choice->bytes > cursor->end)
		addr = cursor->start;
	cursor->next = addr + source->cursor.stride_bytes;
	return addr + spek_rng_below(rng, source->cursor.jitter_slots) * choice->align_bytes;
}

/**
 * spek_backward_next() - find the next address of a backward stream
 * @choice: stream, size and direction
 * @replica: index among the source's replicas
 *
 * Return: first byte in the asu.
 */
static inline u64 spek_backward_next(const struct spek_choice *choice, u32 replica)
{
	struct spek_cursor *cursor = (struct spek_cursor *)choice->source->states + replica;
	u64 addr = cursor->next;

	if (addr - cursor->start < choice->bytes)
		addr = cursor->end;
	addr -= choice->bytes;
	cursor->next = addr;
	return addr;
}

/**
 * spek_once_next() - find the next block of the pass
 * @choice: stream, size and direction
 * @replica: index among the source's replicas
 *
 * The pass must have one left: if not, spek_once_begin_pass() comes first.
 *
 * Return: first byte in the asu.
 */
static inline u64 spek_once_next(const struct spek_choice *choice, u32 replica)
{
	struct spek_once *once = (struct spek_once *)choice->source->states + replica;
	const struct spek_source *source = choice->source;
	u64 i = once->next;

	once->next = i + once->order.unit;
	once->left--;
	return choice->start + spek_mulhi64(spek_order_at(&once->order, i),
					    source->once.block_bytes);
}

#endif
