// SPDX-License-Identifier: GPL-2.0
/*
 * Doors for tests: the inline functions of the core, and loops over them, so
 * that a test does not call across the language border a million times.
 */
#include <stdlib.h>

#include "alias.h"
#include "arrival.h"
#include "explog.h"
#include "expo.h"
#include "backlog.h"
#include "contents.h"
#include "course.h"
#include "curve.h"
#include "gen.h"
#include "grain.h"
#include "hist.h"
#include "hotband.h"
#include "metric.h"
#include "muldiv.h"
#include "onoff.h"
#include "pareto.h"
#include "pattern.h"
#include "replay.h"
#include "rng.h"
#include "rows.h"
#include "sense.h"
#include "share.h"
#include "stamp.h"
#include "state.h"
#include "walk.h"
#include "workload.h"
#include "zone_share.h"
#include "zones.h"

/* Times of arrivals, each @gap after the one before. Return: how many there are before the end. */
size_t shim_curve_times(const struct spek_curve *curve, const struct spek_area *gap, size_t n,
			u64 *at_ns)
{
	struct spek_curve_series series = { .from = { .at_ns = curve->start_ns } };
	size_t i;

	for (i = 0; i < n; i++) {
		spek_curve_follow(curve, &series, gap[i], &at_ns[i]);
		if (at_ns[i] == SPEK_NEVER)
			break;
	}
	return i;
}

bool shim_course_may_seal(const struct spek_course *course, u32 nr_free)
{
	return spek_course_may_seal(course, nr_free);
}

void shim_rng_fill(struct spek_rng *rng, u64 *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = spek_rng_next(rng);
}

u64 shim_rng_below(struct spek_rng *rng, u64 n)
{
	return spek_rng_below(rng, n);
}

u64 shim_gen_next_ns(const struct spek_gen *gen)
{
	return spek_gen_next_ns(gen);
}

u32 shim_asu_map(const struct spek_asu_map *map, u64 addr, u32 bytes, u32 *target, u64 *offset)
{
	return spek_asu_map(map, addr, bytes, target, offset);
}

u64 shim_mulhi64(u64 a, u64 b)
{
	return spek_mulhi64(a, b);
}

u64 shim_ppm_threshold(u32 ppm)
{
	return spek_ppm_threshold(ppm);
}

void shim_neg_log(const u64 *u, u64 *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = spek_neg_log_q32(u[i]);
}

void shim_alias_pick(const struct spek_alias *table, u32 n, const u32 *bits, u32 *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = spek_alias_pick(table, n, bits[i]);
}

void shim_hotband(struct spek_rng *rng, u64 *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = spek_hotband_distance(rng);
}

void shim_expo(struct spek_rng *rng, u64 *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = spek_expo_next(rng);
}

void shim_pareto(struct spek_rng *rng, u64 least, u32 shape_milli, u64 *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = spek_pareto_next(rng, least, shape_milli);
}

/* The first @n periods of an arrival process, each an on and an off one. */
void shim_periods(const struct spek_arrival *process, u64 seed, u32 arrival, u64 *on_ns,
		  u64 *off_ns, size_t n)
{
	struct spek_onoff_place place;
	struct spek_onoff onoff;
	u64 start_ns = 0;

	spek_onoff_init(&onoff, &place, process, seed, arrival, start_ns);
	for (size_t i = 0; i < n; i++) {
		u64 end_ns = place.end_ns;

		on_ns[i] = end_ns - start_ns;
		start_ns = spek_onoff_delay(&onoff, &place, end_ns);
		off_ns[i] = start_ns - end_ns;
	}
}

void shim_hist_index(const u64 *ns, u32 *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = spek_hist_index(ns[i]);
}

void shim_hist_count(const u64 *ns, size_t n, u64 *counts)
{
	for (size_t i = 0; i < n; i++)
		counts[spek_hist_index(ns[i])]++;
}

void shim_hist_index_within(const u64 *ns, u64 *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = spek_hist_index_within(ns[i]);
}

void shim_metric_add(struct spek_metric *m, const u64 *ns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		spek_metric_add(m, ns[i]);
}

void shim_sum_join(struct spek_sum *sum, const struct spek_sum *more)
{
	spek_sum_join(sum, more);
}

u32 shim_walk_leaf(u32 leaf, u32 level, u32 place, bool write)
{
	return spek_walk_leaf(leaf, level, place, write);
}

u32 shim_walk_level(u32 min_level, u32 levels, u32 climb)
{
	struct spek_source source = { .walk = { .min_level = min_level, .levels = levels } };

	return spek_walk_level(&source, climb);
}

/* One entry into a leaf of a walk; *walk and the leaf states are updated. */
u64 shim_walk_enter(u64 base, struct spek_walk *walk, bool is_fixed, u8 *leaf_state, u32 leaf,
		    bool write, u64 bits)
{
	struct spek_source source = {
		.walk = { .base_block = base, .is_fixed = is_fixed, .leaf_state = leaf_state },
	};

	return write ? spek_walk_enter_write(&source, walk, leaf, bits) :
		       spek_walk_enter_read(&source, walk, leaf);
}

/* The levels that a walk of @levels levels climbs to, counted. */
void shim_walk_level_count(struct spek_rng *rng, u32 min_level, u32 levels, u64 *counts, size_t n)
{
	struct spek_source source = { .walk = { .min_level = min_level, .levels = levels } };

	for (size_t i = 0; i < n; i++)
		counts[spek_walk_level(&source, (u32)(spek_rng_next(rng) >> 32))]++;
}

/*
 * Of @n writes of a walk, those that repeat the one before: they are the ones that
 * use no random number. Stream 0 of @wl is the walk; @leaf_state has room for its leaves.
 */
u64 shim_walk_rewrites(const struct spek_workload *wl, u64 seed, u8 *leaf_state, u64 n)
{
	struct spek_share share = { .count = 1 };
	struct spek_source source;
	struct spek_walk walk;
	struct spek_rng rng;
	u64 rewrites = 0;

	spek_rng_seed(&rng, seed);
	spek_pattern_walk.init(&source, &wl->stream[0], &share, &rng, &walk, leaf_state);
	for (u64 i = 0; i < n; i++) {
		u64 before = rng.s[0];

		spek_walk_write(&source, &walk, &rng);
		rewrites += rng.s[0] == before;
	}
	return rewrites;
}

/* Bytes of state that a BSU adds: replica states of all streams of @wl with one replica each. */
u64 shim_replica_bytes(const struct spek_workload *wl)
{
	struct spek_source_memory memory;
	struct spek_share share = { .count = 1 };
	u64 bytes = 0;

	for (u32 i = 0; i < wl->nr_streams; i++) {
		spek_source_memory(&memory, &wl->stream[i], &share);
		bytes += memory.replica_bytes;
	}
	return bytes;
}

/**
 * struct shim_footprint - what a stream did
 * @ios: I/Os
 * @blocks: 4 KiB blocks that this stream was the first to touch
 * @low: first byte
 * @high: byte after the last
 */
struct shim_footprint {
	u64 ios;
	u64 blocks;
	u64 low;
	u64 high;
};

/*
 * Generate @n operations and count who touches a block first. @owner: for each
 * asu a byte per 4 KiB block, zero before. Returns the time of the last operation.
 */
u64 shim_footprints(struct spek_gen *gen, u64 n, u8 **owner, struct shim_footprint *prints)
{
	struct spek_op op = { 0 };

	while (n--) {
		struct shim_footprint *print;

		spek_gen_next(gen, &op);
		spek_gen_place(gen, &op);
		spek_gen_complete(gen, op.arrival, op.at_ns);
		print = &prints[op.stream];
		if (!print->ios++ || op.addr < print->low)
			print->low = op.addr;
		if (op.addr + op.bytes > print->high)
			print->high = op.addr + op.bytes;
		for (u64 block = op.addr / 4096; block < (op.addr + op.bytes) / 4096; block++) {
			print->blocks += !owner[op.asu][block];
			owner[op.asu][block] = 1;
		}
	}
	return op.at_ns;
}

/**
 * struct shim_walk_start - where a replica of a walk begins
 * @origin: first block of its tree in the asu
 * @leaf: its first leaf, counted from there
 */
struct shim_walk_start {
	u64 origin;
	u32 leaf;
};

/*
 * Where the replicas that @worker has of the walk @stream begin, as its generator places them: the
 * first numbers of its operations sequence. @stream's arrival process is that of all streams.
 */
void shim_walk_starts(const struct spek_workload *wl, u64 seed, u32 worker, u32 nr_workers,
		      u32 stream, struct shim_walk_start *starts)
{
	struct spek_source_memory memory;
	struct spek_share share;
	struct spek_rng rng;

	spek_rng_init(&rng, seed, worker, 0, SPEK_RNG_OPERATIONS);
	for (u32 i = 0; i <= stream; i++) {
		struct spek_source source;
		struct spek_walk *walks;
		u8 *leaves;

		spek_share_stream(&share, wl, i, worker, nr_workers);
		spek_source_memory(&memory, &wl->stream[i], &share);
		walks = malloc(memory.replica_bytes + 1);
		leaves = malloc(memory.shared_bytes + 1);
		spek_source_init(&source, &wl->stream[i], &share, &rng, walks, leaves);
		for (u32 j = 0; i == stream && j < share.count; j++)
			starts[j] = (struct shim_walk_start){ walks[j].origin, walks[j].leaf };
		free(walks);
		free(leaves);
	}
}

/**
 * struct shim_walk_law - what a walk is expected to do; from the law, not from the core
 * @is_fixed: leaf states count from the hot spot, and writes take the block read last
 * @base: first block of the hot spot
 * @levels: log2 of the leaves of a tree
 * @group: probability that a write goes to a certain group of 8 leaves, by the smallest window
 *	of 2^n groups that has it and the group where the walk stands
 */
struct shim_walk_law {
	bool is_fixed;
	u64 base;
	u32 levels;
	double group[32];
};

/**
 * struct shim_walk_seen - what it did
 * @reads: I/Os
 * @writes: I/Os
 * @outside: I/Os outside of the replica's tree
 * @wrong_block: reads of another block than the leaf's next one
 * @wrong_leaf: writes into other leaves than every eighth
 * @read_level: reads by the smallest window of 2^n leaves that they did not leave
 * @trials: writes after a write that was certainly no rewrite
 * @repeats: those of them that go to the same block again
 * @write_level: the others, by the smallest window of 2^n groups of 8 leaves
 * @chance: for each such window, how many repeats there would be in it without rewriting
 */
struct shim_walk_seen {
	u64 reads;
	u64 writes;
	u64 outside;
	u64 wrong_block;
	u64 wrong_leaf;
	u64 read_level[32];
	u64 trials;
	u64 repeats;
	u64 write_level[32];
	double chance[32];
};

/* A replica of a walk, as it is seen from outside. */
struct follower {
	u32 leaf;
	u32 written; /* block of the last write, from the origin; ~0 before */
	bool repeated;
};

static u32 bit_length(u32 x)
{
	return x ? 32 - (u32)__builtin_clz(x) : 0;
}

/* @leaf_state: of the first leaf of the tree */
static void follow_write(const struct shim_walk_law *law, struct follower *walk, u32 block,
			 const u8 *leaf_state, struct shim_walk_seen *seen)
{
	u32 group_blocks = SPEK_LEAF_BLOCKS * SPEK_WRITE_LEAVES;
	u32 from = walk->leaf / SPEK_WRITE_LEAVES;
	bool repeats = block == walk->written;

	seen->writes++;
	seen->wrong_leaf += block / SPEK_LEAF_BLOCKS % SPEK_WRITE_LEAVES != 0;
	if (walk->written != ~0u && !walk->repeated) {
		u32 back = bit_length(walk->written / group_blocks ^ from);
		u32 current = leaf_state[walk->written / SPEK_LEAF_BLOCKS];
		double same = 0.5 / SPEK_LEAF_BLOCKS;

		if (law->is_fixed)
			current = (current + SPEK_LEAF_BLOCKS - 1) % SPEK_LEAF_BLOCKS;
		if (walk->written % SPEK_LEAF_BLOCKS == current)
			same += 0.5;
		seen->trials++;
		seen->chance[back] += law->group[back] * same;
		if (repeats)
			seen->repeats++;
		else
			seen->write_level[bit_length(block / group_blocks ^ from)]++;
	}
	walk->repeated = repeats;
	walk->written = block;
}

/*
 * Follow what @worker did to the walk @stream, from its first operation on.
 * @leaf_state: a byte for each leaf of the hot spot, zero before.
 */
void shim_walk_follow(const struct spek_workload *wl, u32 worker, u32 nr_workers, u32 stream,
		      const struct shim_walk_law *law, const struct shim_walk_start *starts,
		      u8 *leaf_state, const struct spek_op *ops, u64 n,
		      struct shim_walk_seen *seen)
{
	struct spek_share share;
	struct follower *walks;

	spek_share_stream(&share, wl, stream, worker, nr_workers);
	walks = calloc(share.count, sizeof(*walks));
	for (u32 i = 0; i < share.count; i++)
		walks[i] = (struct follower){ .leaf = starts[i].leaf, .written = ~0u };
	for (; n--; ops++) {
		u32 replica = ops->replica - share.first, leaf;
		u64 block = ops->addr / 4096 - starts[replica].origin;
		u8 *tree = leaf_state;

		if (ops->stream != stream)
			continue;
		leaf = (u32)(block / SPEK_LEAF_BLOCKS);
		if (block >= (u64)SPEK_LEAF_BLOCKS << law->levels) {
			seen->outside++;
			continue;
		}
		if (law->is_fixed)
			tree += (starts[replica].origin - law->base) / SPEK_LEAF_BLOCKS;
		if (ops->write) {
			follow_write(law, &walks[replica], (u32)block, tree, seen);
		} else {
			seen->reads++;
			seen->wrong_block += block % SPEK_LEAF_BLOCKS != tree[leaf];
			seen->read_level[bit_length(leaf ^ walks[replica].leaf)]++;
			tree[leaf] = (tree[leaf] + 1) % SPEK_LEAF_BLOCKS;
		}
		walks[replica].leaf = leaf;
	}
	free(walks);
}

_Static_assert(sizeof(struct spek_op) == 32, "OP_DTYPE of spekcore.py has no padding");
