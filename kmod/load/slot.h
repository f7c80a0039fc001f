/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots: the memory of one outstanding operation each. They are allocated before the run starts
 * and reused; the only allocation during a run is spek_slot_grow().
 *
 * A slot belongs to its worker, except from the submission of its first part until it is on the
 * worker's completion list: then it belongs to the device.
 */
#ifndef SPEK_SLOT_H
#define SPEK_SLOT_H

#include <linux/atomic.h>
#include <linux/bio.h>
#include <linux/blk-cgroup.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include "core/gen.h"
#include "core/sense.h"
#include "submit.h"
#include "target.h"

/* Largest chunk of a buffer; chunks are physically contiguous and aligned to their size. */
#define SPEK_SLOT_CHUNK_MAX	(64u << 10)

struct spek_outcome;
struct spek_room;
struct spek_slot;
struct task_struct;

/**
 * struct spek_inflight - the operations of one worker that are in flight
 * @outcome: of the run, const
 * @task: the worker's thread, const once the run starts
 * @worker: number of the worker, const
 * @shape: of the slots, const
 * @outstanding: operations issued and not accounted; worker-owned, read elsewhere with READ_ONCE
 * @unsent: those of them of which nothing was sent yet; likewise
 * @rooms: those whose queues the worker holds, linked by next_held; worker-owned
 * @nowait_bio: in submit_bio() with REQ_NOWAIT; cleared on BLK_STS_AGAIN; worker-owned
 * @done: slots that completed; completions add, the worker takes
 * @idle: the worker sleeps or is about to: an addition to @done wakes it
 */
struct spek_inflight {
	struct spek_outcome *outcome;
	struct task_struct *task;
	u32 worker;
	u32 outstanding;
	u32 unsent;
	const struct spek_slot_shape *shape;
	struct spek_room *rooms;
	const struct bio *nowait_bio;

	struct llist_head done ____cacheline_aligned;
	bool idle;
};

/**
 * struct spek_part - a piece of an operation that goes to one target as one request
 * @bio: what the block layer sees; reset before every use
 * @vec: the only segment of a piece that lies in one chunk of the buffer
 * @slot: the operation
 * @target: where to
 * @target_index: number of @target
 * @bytes: length
 * @offset: first byte on the target
 * @was_submitted: @bio went to submit_bio() since it was reset
 * @sense: with back end scsi, what the device said when it failed; else zero
 */
struct spek_part {
	struct bio bio;
	struct bio_vec vec;
	struct spek_slot *slot;
	const struct spek_target *target;
	u32 target_index;
	u32 bytes;
	u64 offset;
	bool was_submitted;
	struct spek_sense sense;
};

/**
 * struct spek_slot - one operation that can be outstanding
 * @done: link in the worker's completion list
 * @done_ns: completion of the last part
 * @status: BLK_STS_OK, or that of a failed part
 * @parts_left: parts the device still holds; only used with several parts
 * @nr_parts: parts of the operation
 * @nr_failed: those of them that failed before a driver could get them: 0 unless @status is set;
 *	worker-owned
 * @issue_ns: hand-over of the first part to the block layer; read elsewhere with READ_ONCE
 * @busy: outstanding; worker-owned, read elsewhere with READ_ONCE
 * @op: the operation
 * @inflight: its worker's, const
 * @next_free: link in the worker's list of free slots, or in a line (worker_line.h)
 * @next_part: in a line: first part to send; NULL if all of it waits for blocks (verify.c), for its
 *	zone (zone.c) or for memory
 * @stalled: in a line, or taken out of one to be sent; worker-owned, as are the two around it
 * @recuts: in a line: the part is too large for the limits as they are now
 * @vec: buffers for reads and for writes, one entry for each chunk, const; NULL if the run has
 *	none. What was read must not become what is written: the run says what that is.
 * @max_parts: entries of @part
 * @part: as many as the largest operation needs; more once limits shrink
 */
struct spek_slot {
	struct llist_node done;
	u64 done_ns;
	blk_status_t status;
	atomic_t parts_left;
	u32 nr_parts;
	u32 nr_failed;
	bool busy;
	u64 issue_ns;
	struct spek_op op;
	struct spek_inflight *inflight;
	struct spek_slot *next_free;
	struct spek_part *next_part;
	bool stalled;
	bool recuts;
	struct bio_vec *vec[2];
	u32 max_parts;
	struct spek_part *part;
};

/**
 * struct spek_slot_shape - how the slots of a run are made; const
 * @buffer_bytes: of the largest operation
 * @chunk_bytes: physically contiguous pieces of a buffer, a power of two
 * @max_parts: of the largest operation on the targets of the run, as their limits are at first
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

struct spek_slot *spek_slots_create(struct spek_inflight *inflight, u32 nr, int node);
void spek_slots_destroy(struct spek_slot *slots, u32 nr, const struct spek_slot_shape *shape);

u64 spek_slots_bytes(u32 nr, const struct spek_slot_shape *shape);

u32 spek_slot_chunk_bytes(u32 buffer_bytes);

int spek_slot_grow(struct spek_slot *slot, u32 max_parts);

void spek_part_end_io(struct bio *bio);

/**
 * spek_slot_block() - find a block of an operation's data
 * @slot: slot of the operation
 * @in_buffer: offset of the block, a multiple of its size
 * @chunk_bytes: spek_slot_shape.chunk_bytes
 *
 * A block never crosses chunks: both are powers of two, and a chunk is at least as large.
 *
 * Return: its memory.
 */
static inline void *spek_slot_block(const struct spek_slot *slot, u32 in_buffer, u32 chunk_bytes)
{
	struct bio_vec *chunk = &slot->vec[slot->op.write][in_buffer / chunk_bytes];

	return page_address(chunk->bv_page) + (in_buffer & (chunk_bytes - 1));
}

/*
 * Undo what the submission of a part's bio has changed, and associate it with a cgroup if it will
 * be submitted. A bound kernel thread is in the root cgroup, and stays: nobody has to look for it.
 */
static inline void spek_part_renew(struct spek_part *part, bool cgroup)
{
	struct bio *bio = &part->bio;

	bio_reset(bio, NULL, 0);
	part->was_submitted = cgroup;
	if (!cgroup)
		return;
	bio->bi_bdev = part->target->handle.bdev;
	bio_associate_blkg_from_css(bio, blkcg_root_css);
}

/**
 * spek_part_reset() - make a part's bio ready but for bi_io_vec and bi_vcnt
 * @part: target, offset and bytes are set
 * @opf: operation and flags
 */
static inline void spek_part_reset(struct spek_part *part, blk_opf_t opf)
{
	const struct spek_backend_ops *backend = part->target->backend;
	struct block_device *bdev = part->target->handle.bdev;
	struct bio *bio = &part->bio;

	/*
	 * Submitting a bio changes more: the block layer drops its cgroup reference at completion,
	 * and md may leave another device in it. A bio that was only part of a request of its own
	 * needs no more than the fields below.
	 */
	if (backend->cgroup || unlikely(part->was_submitted))
		spek_part_renew(part, backend->cgroup);
	bio->bi_bdev = bdev;
	bio->bi_opf = opf;
	bio->bi_flags = 0;
	bio->bi_status = BLK_STS_OK;
	bio->bi_cookie = BLK_QC_T_NONE;
	bio->bi_iter = (struct bvec_iter) {
		.bi_sector = part->offset >> SECTOR_SHIFT,
		.bi_size = part->bytes,
	};
	bio->bi_end_io = backend->end_io;
}

/**
 * spek_part_set_data() - set the data of a part that lies within one chunk
 * @part: part; its size is set
 * @chunk: chunk of the slot's buffer
 * @in_chunk: offset of the data in @chunk
 */
static inline void spek_part_set_data(struct spek_part *part, const struct bio_vec *chunk,
				      u32 in_chunk)
{
	part->vec.bv_page = chunk->bv_page;
	part->vec.bv_offset = in_chunk;
	part->vec.bv_len = part->bytes;
	part->bio.bi_io_vec = &part->vec;
	part->bio.bi_vcnt = 1;
}

/**
 * spek_part_arm_whole() - prepare the bio of a part that is a whole operation within one chunk
 * @part: target, offset and bytes are set
 * @chunk: the chunk
 * @opf: operation and flags
 */
static inline void spek_part_arm_whole(struct spek_part *part, const struct bio_vec *chunk,
				       blk_opf_t opf)
{
	spek_part_reset(part, opf);
	spek_part_set_data(part, chunk, 0);
}

void spek_part_arm(struct spek_part *part, u32 buffer_offset, u32 chunk_bytes, blk_opf_t opf);

#endif
