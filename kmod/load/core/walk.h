/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hierarchical reuse random walk (McNutt), as SPC-1 uses it.
 *
 * A hot spot is divided into leaves of 8 blocks; the largest power of two of them forms a
 * binary tree. A step climbs from the current leaf to a level of the tree, at least 7
 * (classic) or 6 (fixed) and each further one with probability 0.44, and falls from there
 * to any leaf below with equal probability. Reads take the blocks of a leaf in turn;
 * writes go to every eighth leaf, half of them to the leaf's current block, and 15 % of
 * them are repeated by the stream's next write.
 *
 * Each replica walks through its own tree, placed at random in the hot spot, but all share
 * the leaf states. Classic indexes leaf states from the start of the tree, so replicas
 * share states of different data; fixed indexes them from the start of the hot spot.
 */
#ifndef SPEK_CORE_WALK_H
#define SPEK_CORE_WALK_H

#include "pattern.h"
#include "../../core/spek_host.h"

/* 0.44^(i + 1) * 2^32: 32 random bits below it climb more than i levels beyond the minimum. */
#define SPEK_WALK_CLIMBS	26
extern const u32 spek_walk_climb[SPEK_WALK_CLIMBS + 1];

/* 15 % * 2^32: the write is repeated if 32 random bits are below it. */
#define SPEK_WALK_REWRITE	644245094u

/**
 * spek_walk_level() - level of the tree that a step climbs to
 * @source: a walk
 * @climb: 32 random bits
 *
 * Return: level, from min_level to levels.
 */
static inline u32 spek_walk_level(const struct spek_source *source, u32 climb)
{
	u32 level = source->walk.min_level;
	const u32 *threshold = spek_walk_climb;

	/* The last threshold is 0, so the table is never left. */
	while (climb < *threshold++ && level < source->walk.levels)
		level++;
	return level;
}

/**
 * spek_walk_leaf() - choose a leaf in the window around another one
 * @leaf: current leaf
 * @level: log2 of the leaves in the window
 * @place: random bits, at least @level of them
 * @write: writes take every SPEK_WRITE_LEAVES-th leaf only
 *
 * Return: leaf, from the origin of the tree.
 */
static inline u32 spek_walk_leaf(u32 leaf, u32 level, u32 place, bool write)
{
	u32 within = (u32)((1ull << level) - 1);
	u32 next = (leaf & ~within) | (place & within);

	return write ? next & ~(SPEK_WRITE_LEAVES - 1u) : next;
}

/* State of a leaf, indexed from the start of the tree or of the hot spot. */
static inline u8 *spek_walk_state(const struct spek_source *source, const struct spek_walk *walk,
				  u32 leaf)
{
	u64 index = leaf;

	if (source->walk.is_fixed)
		index += (walk->origin - source->walk.base_block) / SPEK_LEAF_BLOCKS;
	return &source->walk.leaf_state[index];
}

/**
 * spek_walk_enter_read() - walk to a leaf and read its next block
 * @source: a walk
 * @walk: state of the replica
 * @leaf: leaf to enter
 *
 * Return: block in the asu.
 */
static inline u64 spek_walk_enter_read(const struct spek_source *source, struct spek_walk *walk,
				       u32 leaf)
{
	u8 *state = spek_walk_state(source, walk, leaf);
	u32 block = *state;

	*state = (u8)((block + 1) % SPEK_LEAF_BLOCKS);
	walk->leaf = leaf;
	return walk->origin + (u64)leaf * SPEK_LEAF_BLOCKS + block;
}

/**
 * spek_walk_enter_write() - walk to a leaf and write one of its blocks
 * @source: a walk
 * @walk: state of the replica
 * @leaf: leaf to enter
 * @bits: random bits: the upper 32 for repeating, bit 0 and bits 1-3 for the block
 *
 * Half of the writes go to any block, the others to the leaf's next block (classic) or to the
 * last one read (fixed).
 *
 * Return: block in the asu.
 */
static inline u64 spek_walk_enter_write(const struct spek_source *source, struct spek_walk *walk,
					u32 leaf, u64 bits)
{
	u32 block = *spek_walk_state(source, walk, leaf);

	if (source->walk.is_fixed)
		block += SPEK_LEAF_BLOCKS - 1;
	if (bits & 1)
		block = (u32)bits >> 1;
	block %= SPEK_LEAF_BLOCKS;
	walk->leaf = leaf;
	walk->rewrite_leaf = leaf;
	walk->rewrite_block = block;
	walk->rewrite_pending = (u32)(bits >> 32) < SPEK_WALK_REWRITE;
	return walk->origin + (u64)leaf * SPEK_LEAF_BLOCKS + block;
}

/**
 * spek_walk_read() - walk to the next read
 * @source: a walk
 * @walk: state of the replica
 * @rng: operations sequence of the arrival process
 *
 * Return: block in the asu.
 */
static inline u64 spek_walk_read(const struct spek_source *source, struct spek_walk *walk,
				 struct spek_rng *rng)
{
	u64 bits = spek_rng_next(rng);
	u32 level = spek_walk_level(source, (u32)(bits >> 32));

	return spek_walk_enter_read(source, walk,
				    spek_walk_leaf(walk->leaf, level, (u32)bits, false));
}

/**
 * spek_walk_write() - walk to the next write
 * @source: a walk
 * @walk: state of the replica
 * @rng: operations sequence of the arrival process
 *
 * Return: block in the asu.
 */
static inline u64 spek_walk_write(const struct spek_source *source, struct spek_walk *walk,
				  struct spek_rng *rng)
{
	u64 bits;
	u32 level;

	if (walk->rewrite_pending) {
		walk->rewrite_pending = 0;
		walk->leaf = walk->rewrite_leaf;
		return walk->origin + (u64)walk->leaf * SPEK_LEAF_BLOCKS + walk->rewrite_block;
	}
	bits = spek_rng_next(rng);
	level = spek_walk_level(source, (u32)(bits >> 32));
	return spek_walk_enter_write(source, walk,
				     spek_walk_leaf(walk->leaf, level, (u32)bits, true),
				     spek_rng_next(rng));
}

#endif
