/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots: the memory of one outstanding operation. Made before the run starts and
 * used again and again; nothing is allocated while it runs.
 *
 * A slot is its worker's, except from the submission of its first part to its
 * arrival on the worker's completion list: then it is the device's.
 */
#ifndef SPEK_SLOT_H
#define SPEK_SLOT_H

#include <linux/atomic.h>
#include <linux/bio.h>
#include <linux/llist.h>
#include "core/gen.h"
#include "target.h"

struct spek_worker;
struct spek_slot;

/**
 * struct spek_part - a piece of an operation that goes to one target as one request
 * @bio: what the block layer sees; reset before every use
 * @vec: the only segment of a piece that lies in one chunk of the buffer
 * @slot: the operation
 * @target: where to
 * @target_index: number of @target
 * @bytes: length
 * @offset: first byte on the target
 */
struct spek_part {
	struct bio bio;
	struct bio_vec vec;
	struct spek_slot *slot;
	const struct spek_target *target;
	u32 target_index;
	u32 bytes;
	u64 offset;
};

/**
 * struct spek_slot - one operation that can be outstanding
 * @done: link in the worker's completion list
 * @done_ns: completion of the last part
 * @status: BLK_STS_OK, or that of a failed part
 * @parts_left: parts the device still holds; only used with several parts
 * @nr_parts: parts of the operation
 * @issue_ns: hand-over of the first part to the block layer; read elsewhere with READ_ONCE
 * @busy: outstanding; worker-owned, read elsewhere with READ_ONCE
 * @op: the operation
 * @worker: owner, const
 * @next_free: link in the worker's list of free slots
 * @vec: buffers for reads and for writes, one entry for each chunk, const; NULL if the run has
 *	none. What was read must not become what is written: the run says what that is.
 * @part: as many as the largest operation needs
 */
struct spek_slot {
	struct llist_node done;
	u64 done_ns;
	blk_status_t status;
	atomic_t parts_left;
	u32 nr_parts;
	bool busy;
	u64 issue_ns;
	struct spek_op op;
	struct spek_worker *worker;
	struct spek_slot *next_free;
	struct bio_vec *vec[2];
	struct spek_part *part;
};

/**
 * struct spek_slot_shape - how the slots of a run are made; const
 * @buffer_bytes: of the largest operation
 * @chunk_bytes: physically contiguous pieces of a buffer, a power of two
 * @max_parts: of the largest operation on the targets of the run
 * @reads: the run reads
 * @writes: the run writes
 * @random: write incompressible data, else zeroes
 * @seed: of that data
 */
struct spek_slot_shape {
	u32 buffer_bytes;
	u32 chunk_bytes;
	u32 max_parts;
	bool reads;
	bool writes;
	bool random;
	u64 seed;
};

/**
 * spek_slots_create() - make the slots of a worker
 * @worker: owner
 * @nr: how many
 * @shape: how
 * @node: NUMA node of the worker
 *
 * Context: process, may sleep.
 * Return: array of @nr slots, or NULL without memory.
 */
struct spek_slot *spek_slots_create(struct spek_worker *worker, u32 nr,
				    const struct spek_slot_shape *shape, int node);
/** spek_slots_destroy() - @slots may be NULL; no I/O may be outstanding. */
void spek_slots_destroy(struct spek_slot *slots, u32 nr, const struct spek_slot_shape *shape);

/** spek_slots_bytes() - Return: memory that @nr slots take. */
u64 spek_slots_bytes(u32 nr, const struct spek_slot_shape *shape);

/** spek_slot_chunk_bytes() - Return: chunk size for buffers of @buffer_bytes. */
u32 spek_slot_chunk_bytes(u32 buffer_bytes);

/**
 * spek_part_arm() - make the bio of a part ready to be sent
 * @part: target, offset and bytes are set
 * @buffer_offset: where in the slot's buffer it lies
 * @chunk_bytes: spek_slot_shape.chunk_bytes
 * @opf: operation and flags
 * @cgroup: account to the worker's cgroup (needed by submit_bio(), not by requests)
 */
void spek_part_arm(struct spek_part *part, u32 buffer_offset, u32 chunk_bytes, blk_opf_t opf,
		   bool cgroup);

#endif
