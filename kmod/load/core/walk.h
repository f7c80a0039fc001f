/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hierarchical reuse random walk (McNutt), as SPC-1 uses it.
 *
 * A hot spot is cut into leaves of 8 blocks; the largest power of two of them is a
 * binary tree. A step climbs from the leaf at hand to some level of the tree, 7
 * (classic) or 6 (fixed) for sure and each further one with probability 0.44, and
 * falls from there to any leaf below with equal probability. Reads walk through the
 * blocks of the leaf that they hit; writes go to every eighth leaf, half of them to
 * the leaf's current block, and 15 % of them are repeated by the stream's next write.
 *
 * Replicas walk through trees of their own, which lie anywhere in the hot spot, but
 * share the leaf states. Classic counts leaf states from the start of the tree, so
 * replicas share states of different data; fixed counts them from the start of the hot
 * spot.
 */
#ifndef SPEK_CORE_WALK_H
#define SPEK_CORE_WALK_H

#include "pattern.h"
#include "../../core/spek_host.h"

/* 0.44^(i + 1) * 2^32: 32 random bits below it climb more than i levels. */
#define SPEK_WALK_CLIMBS	26
extern const u32 spek_walk_climb[SPEK_WALK_CLIMBS + 1];

/* 15 % * 2^32: 32 random bits below it have the write repeated. */
#define SPEK_WALK_REWRITE	644245094u

/** spek_walk_level() - Return: level that a step climbs to, from 32 random bits. */
static inline u32 spek_walk_level(const struct spek_source *source, u32 climb)
{
	u32 level = source->walk.min_level;
	const u32 *threshold = spek_walk_climb;

	/* The last threshold is 0, so the table is never left. */
	while (climb < *threshold++ && level < source->walk.levels)
		level++;
	return level;
}

/** spek_walk_leaf() - Return: leaf in the window of 2^@level leaves around @leaf, by @place. */
static inline u32 spek_walk_leaf(u32 leaf, u32 level, u32 place, bool write)
{
	u32 within = (u32)((1ull << level) - 1);
	u32 next = (leaf & ~within) | (place & within);

	return write ? next & ~(SPEK_WRITE_LEAVES - 1u) : next;
}

/* Where the state of a leaf is: counted from the tree, or from the hot spot. */
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
 * Half of the writes go to any block, the others to the leaf's next block (classic) or the one
 * that was read last (fixed).
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

/** spek_walk_read() - Return: block in the asu of the next read. */
static inline u64 spek_walk_read(const struct spek_source *source, struct spek_walk *walk,
				 struct spek_rng *rng)
{
	u64 bits = spek_rng_next(rng);
	u32 level = spek_walk_level(source, (u32)(bits >> 32));

	return spek_walk_enter_read(source, walk,
				    spek_walk_leaf(walk->leaf, level, (u32)bits, false));
}

/** spek_walk_write() - Return: block in the asu of the next write. */
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
