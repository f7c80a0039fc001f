// SPDX-License-Identifier: GPL-2.0
/*
 * Verification: blocks are stamped when they are written and checked when they are read.
 *
 * The map (verify_map.c) has a state for each grain. An operation acquires all its grains or none
 * before its first part is sent, and releases them when its last part has completed: writers
 * exclusively, readers shared. So overlapping writes are never outstanding together, and the
 * expected data of each read are known exactly. An operation that has to wait holds no grain, so
 * there is no deadlock; a waiting writer blocks new readers, so it is not starved. What changes the
 * content without data (discard, write-zeroes, the reset of a zone) is a writer, too.
 *
 * The workers of a run share the map without a lock: each change is a compare-and-exchange.
 *
 * Lifetime: struct spek_verify is freed with its run, and refers to the map.
 * verify->lock protects the counters and recorded mismatches. Workers take it, and no lock inside.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include "core/grain.h"
#include "config.h"
#include "slot.h"
#include "target.h"
#include "validate.h"
#include "verify.h"
#include "verify_map.h"

/**
 * spek_verify_create() - allocate what a run with stamped data needs
 * @verify: set, also on failure: spek_verify_destroy() it
 * @config: of the run
 * @targets: of the run, open
 * @chunk_bytes: pieces of the slots' buffers
 * @from: map of the run to continue, whose lock the caller holds; NULL to start with an empty one
 * @refusal: filled in on failure
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int spek_verify_create(struct spek_verify **verify, const struct spek_run_config *config,
		       const struct spek_target *targets, u32 chunk_bytes, struct spek_map *from,
		       struct spek_refusal *refusal)
{
	u32 grain = spek_grain_bytes(&config->workload);
	struct spek_verify *made;
	u32 i, k, j;
	int err;

	if (config->max_outstanding > SPEK_GRAIN_MAX_READERS)
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ERANGE,
				   "The run has too many outstanding I/Os: stamped data allow at most 65534.");
	/* One operation needing a grain twice would deadlock on itself. */
	for (i = 0; i < config->workload.nr_asus; i++) {
		const struct spek_asu *asu = &config->workload.asu[i];

		for (k = 0; k < asu->nr_extents; k++)
			for (j = 0; j < k; j++)
				if (asu->extent[j].target == asu->extent[k].target)
					return spek_refuse(refusal, SPEK_REFUSAL_ASU, i, -EINVAL,
							   "The address range has the same device twice: stamped data can't be striped over it.");
	}
	if (config->grain_bytes && config->grain_bytes < grain)
		grain = config->grain_bytes;
	/* Writes at pointers begin where others left a zone, and end at its capacity. */
	for (i = 0; spek_workload_has_zones(&config->workload) && i < config->nr_targets; i++)
		grain = min(grain, targets[i].logical_block);
	for (i = 0; i < config->nr_targets; i++)
		if (grain < targets[i].logical_block)
			return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -EINVAL,
					   "The grain is smaller than a logical block of a device: it must be at least that.");
	made = kvzalloc(sizeof(*made), GFP_KERNEL);
	if (!made)
		return spek_refuse(refusal, SPEK_REFUSAL_RUN, 0, -ENOMEM,
				   "There is not enough memory.");
	spin_lock_init(&made->lock);
	made->targets = targets;
	made->chunk_bytes = chunk_bytes;
	made->atomic = config->verify_atomic;
	made->newer = config->verify_newer;
	*verify = made;
	if (!from)
		return spek_map_create(&made->map, config, targets, grain, refusal);
	err = spek_map_take_over(from, config, targets, grain, refusal);
	if (!err)
		made->map = from;
	return err;
}

/**
 * spek_verify_destroy() - free a verification and drop its map
 * @verify: verification, or NULL
 *
 * Context: process.
 */
void spek_verify_destroy(struct spek_verify *verify)
{
	if (!verify)
		return;
	spek_map_put(verify->map);
	kvfree(verify);
}

/* ---- operations ---- */

/*
 * struct piece - a contiguous part of an operation on one target
 *
 * @target: number of the target
 * @offset, @bytes: first byte and length on the target
 * @first, @nr: grains that it covers
 * @in_buffer: offset of its data in the slot's buffer
 */
struct piece {
	u32 target;
	u32 bytes;
	u64 offset;
	u64 first;
	u32 nr;
	u32 in_buffer;
};

/* Bytes that an operation reads or changes; commands have no length of their own. */
static u64 covered_bytes(const struct spek_op *op, const struct spek_asu_map *asu)
{
	return op->kind == SPEK_OP_ZONE_RESET ? asu->asu->zone_bytes : op->bytes;
}

/* Find the piece that begins @done bytes into the first @bytes of the operation. */
static void find_piece(struct piece *piece, const struct spek_map *map, const struct spek_op *op,
		       const struct spek_asu_map *asu, u64 done, u64 bytes)
{
	u32 left = min_t(u64, bytes - done, SPEK_MAX_IO_BYTES);

	piece->in_buffer = done;
	piece->bytes = spek_asu_map(asu, op->addr + done, left, &piece->target, &piece->offset);
	piece->first = (piece->offset - map->target[piece->target].start) >> map->shift;
	piece->nr = piece->bytes >> map->shift;
}

static bool hold_grain(atomic64_t *grain, bool write)
{
	s64 old = atomic64_read(grain);
	u64 state;
	bool done;

	do {
		state = old;
		done = spek_grain_acquire(&state, write);
	} while (!atomic64_try_cmpxchg(grain, &old, state));
	return done;
}

static enum spek_content left_by(const struct spek_op *op)
{
	switch (op->kind) {
	case SPEK_OP_WRITE_ZEROES:
		return SPEK_CONTENT_ZEROES;
	case SPEK_OP_DISCARD:
	case SPEK_OP_ZONE_RESET:
		return SPEK_CONTENT_DISCARDED;
	default:
		return SPEK_CONTENT_STAMPED;
	}
}

/*
 * enum leave - how an operation leaves a grain
 *
 * @LEAVE_DONE: it has succeeded
 * @LEAVE_FAILED: it has failed
 * @LEAVE_AGAIN: nothing was sent; it will ask again for the grain, which it holds
 * @LEAVE_HELD: nothing was sent, and it is given up; it holds the grain
 * @LEAVE_WAITED: the same, but it has only waited
 */
enum leave {
	LEAVE_DONE,
	LEAVE_FAILED,
	LEAVE_AGAIN,
	LEAVE_HELD,
	LEAVE_WAITED,
};

static u64 left_state(u64 state, const struct spek_op *op, enum leave how)
{
	switch (how) {
	case LEAVE_AGAIN:
	case LEAVE_HELD:
		return spek_grain_give_up(state, op->write, how == LEAVE_AGAIN);
	case LEAVE_WAITED:
		return op->write ? spek_grain_stop_waiting(state) : state;
	default:
		return op->write ? spek_grain_written(state, left_by(op), how == LEAVE_FAILED) :
				   spek_grain_read(state);
	}
}

/* Leave the grains of the first @bytes of an operation. */
static void leave_grains(const struct spek_map *map, const struct spek_op *op,
			 const struct spek_asu_map *asu, u64 bytes, enum leave how)
{
	struct piece piece;
	u64 done;
	u32 i;

	for (done = 0; done < bytes; done += piece.bytes) {
		find_piece(&piece, map, op, asu, done, bytes);
		for (i = 0; i < piece.nr; i++) {
			atomic64_t *grain = &map->target[piece.target].grain[piece.first + i];
			s64 old = atomic64_read(grain);

			while (!atomic64_try_cmpxchg(grain, &old, left_state(old, op, how)))
				;
		}
		cond_resched();
	}
}

/**
 * spek_verify_acquire() - acquire the grains of an operation
 * @verify: of the run
 * @op: operation
 * @asu: maps it to targets
 *
 * Context: the worker's thread.
 * Return: false if another operation holds one of the grains: try again later.
 */
bool spek_verify_acquire(struct spek_verify *verify, const struct spek_op *op,
			 const struct spek_asu_map *asu)
{
	const struct spek_map *map = verify->map;
	u64 done, bytes = covered_bytes(op, asu);
	struct piece piece;
	u32 i;

	for (done = 0; done < bytes; done += piece.bytes) {
		find_piece(&piece, map, op, asu, done, bytes);
		for (i = 0; i < piece.nr; i++) {
			atomic64_t *grain = &map->target[piece.target].grain[piece.first + i];

			if (hold_grain(grain, op->write))
				continue;
			leave_grains(map, op, asu, done + ((u64)i << map->shift), LEAVE_AGAIN);
			return false;
		}
		cond_resched();
	}
	return true;
}

static void stamp_piece(const struct spek_verify *verify, struct spek_slot *slot,
			const struct piece *piece)
{
	const struct spek_map *map = verify->map;
	const u32 block = verify->targets[piece->target].logical_block;
	const atomic64_t *grain = &map->target[piece->target].grain[piece->first];
	struct spek_stamp stamp = {
		.seed = map->seed,
		.id = map->id,
		.target = piece->target,
		.worker = slot->inflight->worker,
		.stream = slot->op.stream,
	};
	u32 at;

	for (at = 0; at < piece->bytes; at += block) {
		u64 state = atomic64_read(&grain[at >> map->shift]);
		void *to = spek_slot_block(slot, piece->in_buffer + at, verify->chunk_bytes);

		stamp.generation = spek_grain_generation(state) + 1;
		stamp.sector = (piece->offset + at) >> SECTOR_SHIFT;
		spek_stamp_write(to, block, &stamp);
	}
}

/* Data of an earlier read must not pass for the data of this one. */
static void wipe_chunk(struct spek_slot *slot, u32 chunk)
{
	u32 done;

	for (done = 0; done < slot->op.bytes; done += chunk)
		memset(spek_slot_block(slot, done, chunk), 0, min(chunk, slot->op.bytes - done));
}

/**
 * spek_verify_begin() - acquire the grains of an operation, and stamp the data of a write
 * @verify: of the run
 * @slot: its operation is set
 * @asu: maps the operation to targets
 *
 * Context: the worker's thread.
 * Return: false if another operation holds one of the grains: try again later.
 */
bool spek_verify_begin(struct spek_verify *verify, struct spek_slot *slot,
		       const struct spek_asu_map *asu)
{
	const struct spek_map *map = verify->map;
	const struct spek_op *op = &slot->op;
	struct piece piece;
	u32 done;

	if (!spek_verify_acquire(verify, op, asu))
		return false;
	if (!spek_op_has_data(op))
		return true;
	if (!op->write)
		wipe_chunk(slot, verify->chunk_bytes);
	for (done = 0; op->write && done < op->bytes; done += piece.bytes) {
		find_piece(&piece, map, op, asu, done, op->bytes);
		stamp_piece(verify, slot, &piece);
		cond_resched();
	}
	return true;
}

/**
 * spek_verify_count_wait() - count an operation that has to wait for a grain
 * @verify: of the run
 *
 * Context: the worker's thread.
 */
void spek_verify_count_wait(struct spek_verify *verify)
{
	spin_lock(&verify->lock);
	verify->counts.waits++;
	spin_unlock(&verify->lock);
}

static void note_mismatch(struct spek_verify *verify, const struct spek_mismatch_record *record)
{
	spin_lock(&verify->lock);
	verify->counts.kind[record->finding.verdict]++;
	if (verify->nr_kept < ARRAY_SIZE(verify->kept))
		verify->kept[verify->nr_kept++] = *record;
	spin_unlock(&verify->lock);
}

static void count_block(struct spek_verify_counts *counts, const struct spek_expect *expect)
{
	switch (expect->content) {
	case SPEK_CONTENT_UNCERTAIN:
		counts->uncertain++;
		break;
	case SPEK_CONTENT_DISCARDED:
		counts->discarded++;
		break;
	case SPEK_CONTENT_STAMPED:
		if (!expect->generation) {
			counts->never_written++;
			break;
		}
		fallthrough;
	default:
		counts->checked++;
	}
}

static void check_piece(struct spek_verify *verify, struct spek_slot *slot,
			const struct piece *piece, struct spek_verify_counts *counts)
{
	const struct spek_map *map = verify->map;
	const u32 block = verify->targets[piece->target].logical_block;
	const atomic64_t *grain = &map->target[piece->target].grain[piece->first];
	struct spek_mismatch_record record = {
		.at_ns = slot->done_ns,
		.target = piece->target,
		.bytes = block,
	};
	struct spek_expect expect = {
		.seed = map->seed,
		.id = map->id,
		.target = piece->target,
		.newer = verify->newer,
	};
	u32 at;

	for (at = 0; at < piece->bytes; at += block) {
		u64 state = atomic64_read(&grain[at >> map->shift]);

		expect.generation = spek_grain_generation(state);
		expect.content = spek_grain_content(state);
		expect.sector = (piece->offset + at) >> SECTOR_SHIFT;
		count_block(counts, &expect);
		if (spek_stamp_check(spek_slot_block(slot, piece->in_buffer + at,
						     verify->chunk_bytes),
				     block, &expect, &record.finding) == SPEK_MISMATCH_NONE)
			continue;
		record.expected = expect.generation;
		record.zeroed = expect.content == SPEK_CONTENT_ZEROES;
		record.offset = piece->offset + at;
		note_mismatch(verify, &record);
	}
}

/*
 * Find the first block of a grain that holds another write than the blocks before it. A damaged
 * block counts only after a write that failed: without one it has already been reported as damaged.
 */
static u32 find_tear(const struct spek_verify *verify, const struct spek_slot *slot,
		     struct spek_expect *expect, const struct piece *piece, u32 at)
{
	const u32 block = verify->targets[piece->target].logical_block;
	const u32 end = at + (1u << verify->map->shift);
	u64 version, first = SPEK_STAMP_DAMAGED;

	for (; at < end; at += block) {
		expect->sector = (piece->offset + at) >> SECTOR_SHIFT;
		version = spek_stamp_version(spek_slot_block(slot, piece->in_buffer + at,
							     verify->chunk_bytes),
					     block, expect);
		if (version == SPEK_STAMP_DAMAGED) {
			if (expect->content == SPEK_CONTENT_UNCERTAIN)
				break;
			continue;
		}
		if (first == SPEK_STAMP_DAMAGED)
			first = version;
		if (version != first)
			break;
	}
	return at;
}

/* After atomic writes each grain must hold all of one write, whichever that is. */
static void check_grains(struct spek_verify *verify, struct spek_slot *slot,
			 const struct piece *piece)
{
	const struct spek_map *map = verify->map;
	const atomic64_t *grain = &map->target[piece->target].grain[piece->first];
	struct spek_mismatch_record record = {
		.at_ns = slot->done_ns,
		.target = piece->target,
		.bytes = verify->targets[piece->target].logical_block,
		.finding.verdict = SPEK_MISMATCH_TORN,
	};
	struct spek_expect expect = {
		.seed = map->seed,
		.id = map->id,
		.target = piece->target,
	};
	u32 i;

	for (i = 0; i < piece->nr; i++) {
		const struct spek_stamp *found;
		u32 at;

		expect.content = spek_grain_content(atomic64_read(&grain[i]));
		at = find_tear(verify, slot, &expect, piece, i << map->shift);
		if (at == (i + 1) << map->shift)
			continue;
		found = spek_slot_block(slot, piece->in_buffer + at, verify->chunk_bytes);
		record.finding.stamped = found->magic == SPEK_STAMP_MAGIC;
		record.finding.found = *found;
		record.expected = spek_grain_generation(atomic64_read(&grain[i]));
		record.offset = piece->offset + at;
		note_mismatch(verify, &record);
	}
}

/**
 * spek_verify_release() - record what an operation has left, and release its grains
 * @verify: of the run
 * @op: operation that holds its grains
 * @asu: as given to spek_verify_acquire()
 * @failed: it failed
 *
 * Context: the worker's thread.
 */
void spek_verify_release(struct spek_verify *verify, const struct spek_op *op,
			 const struct spek_asu_map *asu, bool failed)
{
	leave_grains(verify->map, op, asu, covered_bytes(op, asu),
		     failed ? LEAVE_FAILED : LEAVE_DONE);
}

/**
 * spek_verify_end() - check the data of a read or record a write, and release the grains
 * @verify: of the run
 * @slot: its operation has completed
 * @asu: as given to spek_verify_begin()
 *
 * Context: the worker's thread.
 */
void spek_verify_end(struct spek_verify *verify, struct spek_slot *slot,
		     const struct spek_asu_map *asu)
{
	const struct spek_op *op = &slot->op;
	struct spek_verify_counts counts = {};
	struct piece piece;
	u32 done;

	if (op->write || slot->status) {
		spek_verify_release(verify, op, asu, slot->status);
		return;
	}
	for (done = 0; done < op->bytes; done += piece.bytes) {
		find_piece(&piece, verify->map, op, asu, done, op->bytes);
		check_piece(verify, slot, &piece, &counts);
		if (verify->atomic)
			check_grains(verify, slot, &piece);
		cond_resched();
	}
	spek_verify_release(verify, op, asu, false);
	spin_lock(&verify->lock);
	verify->counts.checked += counts.checked;
	verify->counts.never_written += counts.never_written;
	verify->counts.uncertain += counts.uncertain;
	verify->counts.discarded += counts.discarded;
	spin_unlock(&verify->lock);
}

/**
 * spek_verify_drop() - give up an operation of which nothing was sent
 * @verify: of the run
 * @op: operation
 * @asu: as given to spek_verify_acquire() or spek_verify_begin()
 * @begun: it holds its grains; if not, it may still keep others out, as a write that waits
 *
 * Context: the worker's thread.
 */
void spek_verify_drop(struct spek_verify *verify, const struct spek_op *op,
		      const struct spek_asu_map *asu, bool begun)
{
	leave_grains(verify->map, op, asu, covered_bytes(op, asu),
		     begun ? LEAVE_HELD : LEAVE_WAITED);
}

/* ---- results ---- */

/**
 * spek_verify_counts() - copy the counters
 * @verify: of the run
 * @counts: filled in
 *
 * Context: process.
 */
void spek_verify_counts(struct spek_verify *verify, struct spek_verify_counts *counts)
{
	spin_lock(&verify->lock);
	*counts = verify->counts;
	spin_unlock(&verify->lock);
}

/**
 * spek_verify_kept() - copy a recorded mismatch
 * @verify: of the run
 * @index: number of the mismatch, from 0
 * @record: filled in
 *
 * Context: process.
 * Return: false if there is no mismatch with this number.
 */
bool spek_verify_kept(struct spek_verify *verify, u32 index, struct spek_mismatch_record *record)
{
	bool found;

	spin_lock(&verify->lock);
	found = index < verify->nr_kept;
	if (found)
		*record = verify->kept[index];
	spin_unlock(&verify->lock);
	return found;
}
