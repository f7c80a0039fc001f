/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stamped blocks: the content of blocks that a run writes for verification.
 *
 * Every logical block starts with a header, followed by pseudo-random words that depend on run,
 * place and generation, so that a piece of another version is detected wherever it lies. All is
 * in the machine's byte order. The checksum covers the whole block; a change within one 64-bit
 * word always changes it, any other with probability 1 - 2^-64.
 *
 * The generation counts the writes of a block, from 1. The reader of a block knows the last
 * acknowledged one, so an old version is always detected.
 *
 * Other operations leave no stamp. After write-zeroes a block holds zeroes. After a discard or the
 * reset of its zone it may hold anything, its old data included: the block layer promises nothing,
 * and a device may ignore a part of a discard. It is not judged until it is written again.
 */
#ifndef SPEK_CORE_STAMP_H
#define SPEK_CORE_STAMP_H

#include "../../core/spek_host.h"
#include "../uapi/spek_enums.h"

#define SPEK_STAMP_MAGIC	0x3130504d54534b50ull	/* "PKSTMP01" */
/* Pieces of another version shorter than this can't be distinguished from flipped bits. */
#define SPEK_TORN_WORDS		8
/* No generation: a block has the stamp of its place, but the rest of it is not complete. */
#define SPEK_STAMP_DAMAGED	(~0ull)

/**
 * struct spek_stamp - header of a block: 56 bytes, no padding
 * @magic: SPEK_STAMP_MAGIC, with the version of this layout
 * @seed: seed of the run
 * @id: random id of the run, which distinguishes runs with the same seed
 * @generation: number of the write to this block, from 1
 * @sector: place on the target, in units of 512 bytes
 * @target: number of the target
 * @worker: number of the worker that wrote it
 * @stream: number of the stream that wrote it
 * @checksum: checksum of the block, with this word as 0
 */
struct spek_stamp {
	u64 magic;
	u64 seed;
	u64 id;
	u64 generation;
	u64 sector;
	u32 target;
	u16 worker;
	u16 stream;
	u64 checksum;
};

/**
 * enum spek_content - what the last operation has left in a block
 * @SPEK_CONTENT_STAMPED: the stamp of the last generation; of generation 0, what was there before
 * @SPEK_CONTENT_UNCERTAIN: that operation failed: the stamp of any generation up to the last, or
 *	zeroes, or parts of these
 * @SPEK_CONTENT_ZEROES: zeroes
 * @SPEK_CONTENT_DISCARDED: anything
 */
enum spek_content {
	SPEK_CONTENT_STAMPED,
	SPEK_CONTENT_UNCERTAIN,
	SPEK_CONTENT_ZEROES,
	SPEK_CONTENT_DISCARDED,
};

/* Number of kinds of mismatches; a correct block is none of them. */
enum {
	SPEK_NR_MISMATCHES = SPEK_MISMATCH_FOREIGN + 1,
	SPEK_MISMATCH_NONE = SPEK_NR_MISMATCHES,
};

/**
 * struct spek_expect - expected content of a block
 * @seed: seed of the run
 * @id: random id of the run
 * @sector: place on the target, in units of 512 bytes
 * @target: number of the target
 * @content: enum spek_content
 * @generation: generation of the last write; 0: the run has not written the block
 * @newer: a later version is correct as well: unrecorded writes may have followed
 */
struct spek_expect {
	u64 seed;
	u64 id;
	u64 sector;
	u32 target;
	u32 content;
	u64 generation;
	bool newer;
};

/**
 * struct spek_finding - mismatch of a block
 * @verdict: enum spek_mismatch
 * @stamped: the magic number is there, so @found is valid
 * @intact: the checksum is correct
 * @zeroes: all bytes are 0
 * @found: header of the block, or zeroes without one
 * @first: offset of the first unexpected byte; 0 without an expectation
 * @bits: number of unexpected bits, not counting checksum, worker and stream; 0 without an
 *	expectation
 */
struct spek_finding {
	u32 verdict;
	bool stamped;
	bool intact;
	bool zeroes;
	struct spek_stamp found;
	u32 first;
	u32 bits;
};

void spek_stamp_write(void *block, u32 bytes, const struct spek_stamp *stamp);
u64 spek_stamp_version(const void *block, u32 bytes, const struct spek_expect *expect);
u32 spek_stamp_check(const void *block, u32 bytes, const struct spek_expect *expect,
		     struct spek_finding *finding);

#endif
