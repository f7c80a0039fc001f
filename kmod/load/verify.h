/* SPDX-License-Identifier: GPL-2.0 */
/* Verification: whether what was written is read back. See verify.c. */
#ifndef SPEK_VERIFY_H
#define SPEK_VERIFY_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include "core/stamp.h"
#include "uapi/spek.h"

struct spek_asu_map;
struct spek_map;
struct spek_op;
struct spek_refusal;
struct spek_run_config;
struct spek_slot;
struct spek_target;

/**
 * struct spek_mismatch_record - a block that is not what it should be
 * @finding: what is wrong
 * @at_ns: completion of the read
 * @expected: generation that should be there, or the last one before zeroes
 * @zeroed: zeroes should be there
 * @offset: first byte of the block on its target
 * @target: number of the target
 * @bytes: of the block
 */
struct spek_mismatch_record {
	struct spek_finding finding;
	u64 at_ns;
	u64 expected;
	u64 offset;
	u32 target;
	u32 bytes;
	bool zeroed;
};

/**
 * struct spek_verify_counts - counters of a verification
 * @checked: blocks that were read and compared with what was written, zeroes included
 * @never_written: blocks that were read before they were written
 * @uncertain: blocks that were read after their last write had failed
 * @discarded: blocks that were read after a discard or the reset of their zone
 * @waits: operations that waited for another one on the same block
 * @kind: mismatches, by enum spek_mismatch
 */
struct spek_verify_counts {
	u64 checked;
	u64 never_written;
	u64 uncertain;
	u64 discarded;
	u64 waits;
	u64 kind[SPEK_NR_MISMATCHES];
};

/**
 * struct spek_verify - verification of a run; counters are written by its workers
 * @map: referenced, const
 * @targets: of the run, const
 * @chunk_bytes: pieces of the slots' buffers, const
 * @atomic: blocks of one grain hold the same write, const
 * @newer: a block may hold a later version than that of the map, const
 * @lock: protects the fields below; taken by workers, never with another lock inside
 * @counts: so far
 * @nr_kept: entries of @kept
 * @kept: the first mismatches
 */
struct spek_verify {
	struct spek_map *map;
	const struct spek_target *targets;
	u32 chunk_bytes;
	bool atomic;
	bool newer;
	spinlock_t lock;	/* protects the fields below */
	struct spek_verify_counts counts;
	u32 nr_kept;
	struct spek_mismatch_record kept[SPEK_MAX_MISMATCHES];
};

int spek_verify_create(struct spek_verify **verify, const struct spek_run_config *config,
		       const struct spek_target *targets, u32 chunk_bytes, struct spek_map *from,
		       struct spek_refusal *refusal);
void spek_verify_destroy(struct spek_verify *verify);

bool spek_verify_acquire(struct spek_verify *verify, const struct spek_op *op,
			 const struct spek_asu_map *asu);
void spek_verify_release(struct spek_verify *verify, const struct spek_op *op,
			 const struct spek_asu_map *asu, bool failed);
void spek_verify_drop(struct spek_verify *verify, const struct spek_op *op,
		      const struct spek_asu_map *asu, bool begun);
bool spek_verify_begin(struct spek_verify *verify, struct spek_slot *slot,
		       const struct spek_asu_map *asu);
void spek_verify_end(struct spek_verify *verify, struct spek_slot *slot,
		     const struct spek_asu_map *asu);
void spek_verify_count_wait(struct spek_verify *verify);

void spek_verify_counts(struct spek_verify *verify, struct spek_verify_counts *counts);
bool spek_verify_kept(struct spek_verify *verify, u32 index, struct spek_mismatch_record *record);

#endif
