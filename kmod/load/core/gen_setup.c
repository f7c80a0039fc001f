// SPDX-License-Identifier: GPL-2.0
/*
 * Setting up a generator, in two steps: spek_gen_init() lays out the worker's shares of streams and
 * arrival processes, in a time that grows with replicas and zones; spek_gen_start() sets time 0, in
 * a time that does not. Then gen.c draws the first choices (spek_gen_begin()).
 *
 * Memory, one block of the caller's:
 *
 *   spek_gen | zones | processes | per process: ready times, sources, choices, their alias table
 *            | per source: replica states, what replicas share
 */
#include "alias.h"
#include "arrival.h"
#include "gen_internal.h"
#include "pattern.h"
#include "../../core/rng.h"
#include "replay.h"
#include "share.h"
#include "zone_share.h"

#define GEN_ALIGN	64

/* A block of memory handed out from its start; without a base it only counts. */
struct arena {
	u8 *base;
	u64 used;
};

static void *take(struct arena *arena, u64 bytes, u32 align)
{
	void *p = NULL;

	arena->used = (arena->used + align - 1) & ~((u64)align - 1);
	if (arena->base)
		p = arena->base + arena->used;
	arena->used += bytes;
	return p;
}

/* Depth of a closed loop on this worker. */
static u32 closed_depth(const struct spek_workload *wl, u32 arrival, u32 worker, u32 nr_workers)
{
	u32 workers = spek_share_participants(wl, arrival, nr_workers);
	u32 first;

	if (wl->arrival[arrival].law != SPEK_LAW_CLOSED || worker >= workers)
		return 0;
	return spek_share_even(wl->arrival[arrival].depth, worker, workers, &first);
}

/* The key of a stream, the same on all workers. */
static u64 stream_key(u64 seed, u32 stream)
{
	struct spek_rng rng;

	spek_rng_init(&rng, seed, 0, stream, SPEK_RNG_ORDER);
	return spek_rng_next(&rng);
}

/* Note which operations of a trace the choices of a stream are for. */
static void note_choices(struct spek_process *process, const struct spek_stream *stream,
			 u32 first, u32 nr)
{
	u32 i;

	process->replays = true;
	process->is_held = true;
	for (i = first; i < first + nr; i++) {
		u32 op = spek_replay_op(stream->operation, process->choice[i].tag);

		process->choice_of[stream->asu][op] = (u8)i;
	}
}

/*
 * Lay out a process, and fill it in if there is memory (@process is not NULL). One function
 * for size and set-up, so that they cannot disagree.
 */
static void lay_out_process(struct arena *arena, struct spek_process *process,
			    const struct spek_workload *wl, u32 arrival, u64 seed, u32 worker,
			    u32 nr_workers)
{
	u32 depth = closed_depth(wl, arrival, worker, nr_workers);
	struct spek_source_memory memory;
	u64 weight[SPEK_MAX_STREAMS];
	struct spek_source *source;
	struct spek_choice *choice;
	struct spek_alias *alias;
	struct spek_share share;
	u32 nr_choices = 0, nr_sources = 0, i;
	u64 *ready, *choice_weight;
	u32 slots = 1;
	u64 all;

	while (slots < depth)
		slots *= 2;
	spek_share_weights(weight, wl, arrival, worker, nr_workers, &all);
	for (i = 0; i < wl->nr_streams; i++) {
		if (!weight[i])
			continue;
		spek_share_stream(&share, wl, i, worker, nr_workers);
		spek_source_memory(&memory, &wl->stream[i], &share);
		nr_sources++;
		nr_choices += memory.choices;
	}
	ready = take(arena, sizeof(*ready) * slots, GEN_ALIGN);
	source = take(arena, sizeof(*source) * nr_sources, GEN_ALIGN);
	choice = take(arena, sizeof(*choice) * nr_choices, GEN_ALIGN);
	alias = take(arena, sizeof(*alias) * nr_choices, sizeof(u64));
	choice_weight = take(arena, sizeof(*choice_weight) * nr_choices, sizeof(u64));

	if (process) {
		process->draws_choice = nr_choices > 1;
		process->nr_choices = nr_choices;
		process->choice = choice;
		process->alias = alias;
		process->ready = ready;
		process->mask = slots - 1;
		process->depth = depth;
		process->room = (s32)depth;
		if (wl->arrival[arrival].pause_ns || wl->arrival[arrival].count)
			process->room = -1;
		process->think_ns = wl->arrival[arrival].think_ns;
		process->has_limit = wl->arrival[arrival].rate_milli;
		process->pause_ns = wl->arrival[arrival].pause_ns;
		process->pause_every = wl->arrival[arrival].pause_every;
		process->pause_after_ns = wl->arrival[arrival].pause_after_ns;
		process->counts_completed = wl->arrival[arrival].pause_counts_completed;
		spek_rng_init(&process->rng, seed, worker, arrival, SPEK_RNG_OPERATIONS);
	}
	nr_choices = 0;
	for (i = 0; i < wl->nr_streams; i++) {
		void *states;
		void *shared;

		if (!weight[i])
			continue;
		spek_share_stream(&share, wl, i, worker, nr_workers);
		spek_source_memory(&memory, &wl->stream[i], &share);
		states = take(arena, memory.replica_bytes, GEN_ALIGN);
		shared = take(arena, memory.shared_bytes, GEN_ALIGN);
		if (!process)
			continue;
		share.key = stream_key(seed, i);
		spek_source_init(source, &wl->stream[i], &share, &process->rng, states, shared);
		spek_choices_init(&choice[nr_choices], &choice_weight[nr_choices], weight[i],
				  source, wl, i, &share);
		if (wl->stream[i].pattern == SPEK_PATTERN_TRACE)
			note_choices(process, &wl->stream[i], nr_choices, memory.choices);
		nr_choices += memory.choices;
		source++;
		if (share.count > 1)
			process->draws_choice = true;
	}
	if (!nr_choices)
		return;
	process->draws_choice &= !process->replays;
	spek_alias_init(alias, choice_weight, nr_choices);
	process->next_choice = choice;
}

/* Lay out the worker's zones, and prepare them if there is memory. */
static void lay_out_zones(struct arena *arena, struct spek_zones **zones,
			  const struct spek_workload *wl, u32 worker, u32 nr_workers)
{
	u32 i;

	for (i = 0; i < wl->nr_asus; i++) {
		struct spek_zone_part part = spek_zone_share(wl, i, worker, nr_workers);
		u64 bytes = spek_zones_bytes(&part);
		struct spek_zones *mine = take(arena, bytes, sizeof(u64));

		if (!zones)
			continue;
		zones[i] = bytes ? mine : NULL;
		if (bytes)
			spek_zones_init(mine, &part, wl->asu[i].zone_bytes);
	}
}

/**
 * spek_gen_size() - compute the memory of a generator, all state included
 * @wl: checked workload
 * @worker: number of the worker
 * @nr_workers: workers of the run
 *
 * Return: bytes; SIZE_MAX if they exceed the address space.
 */
size_t spek_gen_size(const struct spek_workload *wl, u32 worker, u32 nr_workers)
{
	struct arena arena = { .base = NULL, .used = 0 };
	u32 i;

	take(&arena, sizeof(struct spek_gen), GEN_ALIGN);
	lay_out_zones(&arena, NULL, wl, worker, nr_workers);
	take(&arena, sizeof(struct spek_process) * wl->nr_arrivals, GEN_ALIGN);
	for (i = 0; i < wl->nr_arrivals; i++)
		lay_out_process(&arena, NULL, wl, i, 0, worker, nr_workers);
	return arena.used > SIZE_MAX ? SIZE_MAX : (size_t)arena.used;
}

/**
 * spek_gen_init() - lay out a generator in the caller's memory
 * @gen: spek_gen_size() bytes, 64-byte aligned
 * @wl: checked workload; must outlive @gen
 * @seed: seed of the run
 * @worker: number of this worker
 * @nr_workers: workers of the run
 *
 * Closed loop depths, bursts and replicas are shared evenly among the workers, the remainder going
 * to the first ones. A constant rate is interleaved, so that all workers together keep equal gaps.
 * A Poisson rate follows the replicas: each has the same rate on whichever worker it is. A
 * sequential, strided or backward stream gives each worker its own contiguous part of the range,
 * one that touches every block once its own part of the order. With fewer
 * replicas than workers, walks and runs leave the last workers without work; other patterns give
 * each worker a copy (see share.h).
 */
void spek_gen_init(struct spek_gen *gen, const struct spek_workload *wl, u64 seed, u32 worker,
		   u32 nr_workers)
{
	struct arena arena = { .base = (u8 *)gen, .used = 0 };
	u32 i;

	gen->wl = wl;
	gen->seed = seed;
	gen->worker = worker;
	gen->nr_workers = nr_workers;
	gen->nr_processes = wl->nr_arrivals;
	gen->has_closed = false;
	gen->trace = NULL;
	take(&arena, sizeof(*gen), GEN_ALIGN);
	lay_out_zones(&arena, gen->zones, wl, worker, nr_workers);
	gen->process = take(&arena, sizeof(*gen->process) * wl->nr_arrivals, GEN_ALIGN);

	for (i = 0; i < wl->nr_arrivals; i++) {
		struct spek_process *process = &gen->process[i];

		spek_memset(process, 0, sizeof(*process));
		lay_out_process(&arena, process, wl, i, seed, worker, nr_workers);
		if (process->replays)
			gen->trace = process;
		if (process->depth || wl->arrival[i].count)
			gen->has_closed = true;
	}
}

/**
 * spek_gen_start() - set time 0 of a generator, and draw its first operation; once
 * @gen: laid out by spek_gen_init()
 * @start_ns: time 0 of the arrival processes
 */
void spek_gen_start(struct spek_gen *gen, u64 start_ns)
{
	u32 i, j;

	for (i = 0; i < gen->nr_processes; i++) {
		struct spek_process *process = &gen->process[i];

		spek_clock_init(&process->clock, &process->times, gen->wl, i, gen->seed,
				gen->worker, gen->nr_workers, start_ns);
		process->pace = process->clock.pace;
		if (gen->wl->arrival[i].count) {
			process->pace = SPEK_PACE_COUNTED;
			process->left = SPEK_NEVER;
			process->is_held = true;
		}
		for (j = 0; j < process->depth; j++)
			process->ready[j] = start_ns;
		process->tail = process->depth;
		process->start_ns = start_ns;
		if (!process->depth)
			continue;
		process->times.next_ns = start_ns;
		process->resume_ns = start_ns;
		if (process->clock.pace == SPEK_PACE_PAUSING)
			process->is_held = true;
		if (process->has_limit) {
			spek_bucket_init(&process->bucket, gen->wl, i, gen->worker,
					 gen->nr_workers, start_ns);
			process->is_held = true;
		}
	}
	spek_gen_begin(gen);
}
