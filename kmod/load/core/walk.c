// SPDX-License-Identifier: GPL-2.0
/* Checks and set-up of walks; walk.h explains them and has their steps. */
#include "walk.h"

const u32 spek_walk_climb[SPEK_WALK_CLIMBS + 1] = {
	1889785610u, 831505669u, 365862494u, 160979497u, 70830979u, 31165631u,
	13712878u, 6033666u, 2654813u, 1168118u, 513972u, 226148u,
	99505u, 43782u, 19264u, 8476u, 3730u, 1641u,
	722u, 318u, 140u, 62u, 27u, 12u,
	5u, 2u,
	0,
};

static u64 count_leaves(const struct spek_stream *stream)
{
	return spek_div64(stream->range_bytes, (u64)stream->align_bytes * SPEK_LEAF_BLOCKS);
}

static int check(const struct spek_stream *stream, u64 parts, struct spek_refusal *refusal)
{
	u64 leaves;

	if (stream->walk_style > SPEK_WALK_STYLE_FIXED)
		return spek_refuse_part(refusal, -EINVAL, "A walk has an unknown style.");
	if (stream->nr_sizes != 1 || stream->size[0].bytes != stream->align_bytes)
		return spek_refuse_part(refusal, -EINVAL,
					"A walk moves by single blocks: it needs one block size, equal to its alignment.");
	leaves = count_leaves(stream);
	if (stream->walk_style == SPEK_WALK_STYLE_CLASSIC && leaves < 1u << SPEK_CLASSIC_MIN_LEVEL)
		return spek_refuse_part(refusal, -ERANGE,
					"The hot spot of a classic walk is too small: its smallest step spans 128 leaves of 8 blocks (4 MiB of 4 KiB blocks; for SPC-1 an ASU of 80 MiB).");
	if (leaves < 1u << SPEK_FIXED_MIN_LEVEL)
		return spek_refuse_part(refusal, -ERANGE,
					"The hot spot of a fixed walk is too small: its smallest step spans 64 leaves of 8 blocks (2 MiB of 4 KiB blocks; for SPC-1 an ASU of 40 MiB).");
	if (leaves >> 32)
		return spek_refuse_part(refusal, -ERANGE,
					"The hot spot of a walk is too large: it has 2^32 leaves of 8 blocks or more.");
	return 0;
}

static void memory(struct spek_source_memory *memory, const struct spek_stream *stream)
{
	memory->replica_bytes = sizeof(struct spek_walk);
	memory->shared_bytes = count_leaves(stream);
}

static void place(struct spek_walk *walk, const struct spek_source *source, u64 room,
		  struct spek_rng *rng)
{
	u64 base = source->walk.base_block;
	u64 shift = spek_rng_below(rng, room + 1);
	u64 origin = base + shift;

	/* Classic rounds in the asu, but a tree never starts before its hot spot. */
	if (source->walk.is_fixed)
		origin -= shift % SPEK_LEAF_BLOCKS;
	else
		origin -= origin % SPEK_LEAF_BLOCKS;
	walk->origin = origin < base ? base : origin;
	/* Drawn over the tree only: a start beyond it could never walk back into it. */
	walk->leaf = (u32)(spek_rng_below(rng, (u64)SPEK_LEAF_BLOCKS << source->walk.levels) /
			   SPEK_LEAF_BLOCKS);
	walk->rewrite_leaf = 0;
	walk->rewrite_block = 0;
	walk->rewrite_pending = 0;
}

static void init(struct spek_source *source, const struct spek_stream *stream,
		 const struct spek_share *share, struct spek_rng *rng, void *states, void *shared)
{
	u64 nr_leaves = count_leaves(stream);
	u32 levels = 63 - (u32)__builtin_clzll(nr_leaves);
	struct spek_walk *walk = states;
	u32 i;

	source->walk.base_block = spek_div64(stream->range_start, stream->align_bytes);
	source->walk.is_fixed = stream->walk_style == SPEK_WALK_STYLE_FIXED;
	source->walk.min_level = source->walk.is_fixed ? SPEK_FIXED_MIN_LEVEL :
							 SPEK_CLASSIC_MIN_LEVEL;
	source->walk.levels = levels;
	source->walk.leaf_state = shared;
	spek_memset(shared, 0, nr_leaves);
	for (i = 0; i < share->count; i++) {
		spek_yield_at(i);
		place(&walk[i], source, SPEK_LEAF_BLOCKS * (nr_leaves - (1ull << levels)), rng);
	}
}

static enum spek_kind kind(const struct spek_stream *stream, bool write)
{
	return write ? SPEK_KIND_WALK_WRITE : SPEK_KIND_WALK_READ;
}

const struct spek_pattern_ops spek_pattern_walk = {
	.check = check,
	.memory = memory,
	.init = init,
	.kind = kind,
	.is_exclusive = true,
};
