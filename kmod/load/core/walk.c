// SPDX-License-Identifier: GPL-2.0
/* Setting up of walks; the steps are in walk.h. */
#include "walk.h"

const u32 spek_walk_climb[SPEK_WALK_CLIMBS + 1] = {
	1889785610u, 831505669u, 365862494u, 160979497u, 70830979u, 31165631u,
	13712878u, 6033666u, 2654813u, 1168118u, 513972u, 226148u,
	99505u, 43782u, 19264u, 8476u, 3730u, 1641u,
	722u, 318u, 140u, 62u, 27u, 12u,
	5u, 2u,
	0,
};

u64 spek_walk_leaves(const struct spek_stream *stream)
{
	return spek_div64(stream->range_bytes, (u64)stream->align_bytes * SPEK_LEAF_BLOCKS);
}

void spek_walk_init(struct spek_source *source, const struct spek_stream *stream,
		    struct spek_rng *rng, struct spek_walk *states, u8 *leaves)
{
	u64 nr_leaves = spek_walk_leaves(stream);
	u32 levels = 63 - (u32)__builtin_clzll(nr_leaves);
	u64 base = spek_div64(stream->range_start, stream->align_bytes);
	u64 room = SPEK_LEAF_BLOCKS * (nr_leaves - (1ull << levels));
	u32 i;

	source->walk.base_block = base;
	source->walk.is_fixed = stream->walk_style == SPEK_WALK_FIXED;
	source->walk.min_level = source->walk.is_fixed ? SPEK_FIXED_MIN_LEVEL :
							 SPEK_CLASSIC_MIN_LEVEL;
	source->walk.levels = levels;
	source->walk.leaf_state = leaves;
	source->walk.replica = states;
	spek_memset(leaves, 0, nr_leaves);

	for (i = 0; i < source->replicas; i++) {
		struct spek_walk *walk = &states[i];
		u64 shift = spek_rng_below(rng, room + 1);

		/* Classic rounds in the asu, but a tree never starts before its hot spot. */
		if (source->walk.is_fixed)
			walk->origin = base + shift - shift % SPEK_LEAF_BLOCKS;
		else
			walk->origin = (base + shift) & ~(SPEK_LEAF_BLOCKS - 1ull);
		if (walk->origin < base)
			walk->origin = base;
		/* Drawn over the tree only: a start beyond it could never walk back into it. */
		walk->leaf = (u32)(spek_rng_below(rng, (u64)SPEK_LEAF_BLOCKS << levels) /
				   SPEK_LEAF_BLOCKS);
		walk->rewrite = 0;
		walk->rewrite_pending = 0;
	}
}
