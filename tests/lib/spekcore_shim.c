// SPDX-License-Identifier: GPL-2.0
/*
 * Doors for tests: the inline functions of the core, and loops over them, so
 * that a test does not call across the language border a million times.
 */
#include "alias.h"
#include "arrival.h"
#include "explog.h"
#include "expo.h"
#include "gen.h"
#include "hist.h"
#include "pattern.h"
#include "rng.h"
#include "share.h"
#include "state.h"
#include "walk.h"
#include "workload.h"

void shim_rng_fill(struct spek_rng *rng, u64 *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = spek_rng_next(rng);
}

u64 shim_rng_below(struct spek_rng *rng, u64 n)
{
	return spek_rng_below(rng, n);
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

void shim_expo(struct spek_rng *rng, u64 *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = spek_expo_next(rng);
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
	struct spek_source source = { .replicas = 1 };
	struct spek_walk walk;
	struct spek_rng rng;
	u64 rewrites = 0;

	spek_rng_seed(&rng, seed);
	spek_walk_init(&source, &wl->stream[0], &rng, &walk, leaf_state);
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

/* What gen.h says about sizes that userspace reads. */
_Static_assert(sizeof(struct spek_op) == 32, "spek_op is 32 bytes on the wire");
