/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stamped blocks: what a run writes when its data are to be verified.
 *
 * Every logical block that is written carries a header, and behind it pseudo-random
 * words that follow from run, place and generation, so that a piece of another version is seen
 * wherever it lies. All is in the machine's byte order. The checksum covers the whole block;
 * a change within one word of 64 bits always changes it, any other with 1 - 2^-64.
 *
 * The generation counts the writes of a block, from 1. Whoever reads a block knows the last one
 * that was acknowledged, so a version that is too old is seen exactly.
 */
#ifndef SPEK_CORE_STAMP_H
#define SPEK_CORE_STAMP_H

#include "../../core/spek_host.h"
#include "../uapi/spek_enums.h"

#define SPEK_STAMP_MAGIC	0x3130504d54534b50ull	/* "PKSTMP01" */
/* Pieces of another version shorter than this can't be told from flipped bits. */
#define SPEK_TORN_WORDS		8

/**
 * struct spek_stamp - header of a block: 56 bytes, no padding
 * @magic: SPEK_STAMP_MAGIC, with the version of this layout
 * @seed: of the run
 * @id: of the run; drawn anew for each, so that another run with the same seed is told from it
 * @generation: number of the write to this block, from 1
 * @sector: place on the target, in units of 512 bytes
 * @target: number of the target
 * @worker: who wrote it
 * @stream: for whom
 * @checksum: of the block, with this word as 0
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

/* Kinds of mismatches, and what is none of them. */
enum {
	SPEK_NR_MISMATCHES = SPEK_MISMATCH_FOREIGN + 1,
	SPEK_MISMATCH_NONE = SPEK_NR_MISMATCHES,
};

/**
 * struct spek_expect - what a block should hold
 * @seed: of the run
 * @id: of the run
 * @sector: place on the target, in units of 512 bytes
 * @target: number of the target
 * @uncertain: that generation is the last one that was tried, its write has failed: the block
 *	may hold it, an older one, or both in part
 * @generation: of the last write; 0: the run has not written it, so it may hold whatever
 *	other programs have left
 */
struct spek_expect {
	u64 seed;
	u64 id;
	u64 sector;
	u32 target;
	bool uncertain;
	u64 generation;
};

/**
 * struct spek_finding - what is wrong with a block
 * @verdict: enum spek_mismatch
 * @stamped: there is a magic number: @found means something
 * @intact: the checksum is right
 * @zeroes: all bytes are 0
 * @found: header as it was found, or zeroes without one
 * @first: first byte that differs from what was expected; 0 if nothing was expected
 * @bits: bits that differ from what was expected, without checksum, worker and stream; likewise
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

/**
 * spek_stamp_write() - fill a block
 * @block: aligned to 8
 * @bytes: of the block: a multiple of 512
 * @stamp: all but magic and checksum is given
 */
void spek_stamp_write(void *block, u32 bytes, const struct spek_stamp *stamp);

/**
 * spek_stamp_check() - compare a block with what is expected
 * @block: aligned to 8
 * @bytes: of the block: a multiple of 512
 * @expect: what it should hold
 * @finding: filled in unless all is well
 *
 * Return: SPEK_MISMATCH_NONE or what is wrong.
 */
u32 spek_stamp_check(const void *block, u32 bytes, const struct spek_expect *expect,
		     struct spek_finding *finding);

#endif
