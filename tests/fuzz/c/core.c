// SPDX-License-Identifier: GPL-2.0
/*
 * The core of the worker: whatever passes spek_workload_check() must generate I/Os that lie where
 * the workload says, on every worker.
 */
#include <stdlib.h>

#include "backlog.h"
#include "explog.h"
#include "expo.h"
#include "gen.h"
#include "hist.h"
#include "muldiv.h"
#include "sense.h"
#include "share.h"
#include "state.h"
#include "target.h"
#include "workload.h"

#define MAX_GEN_BYTES (4u << 20)
#define OPS 64
#define BACKLOG_DRAWS	1000	/* in one step of a count */

/* ---- workloads ---- */

/*
 * Every field is what makes a workload of one stream per asu that is fine, unless the input says
 * otherwise: random ones would never get past the check.
 */
#define USUAL_BYTES (64ull << 20)

static void take_asu(struct fuzz_input *in, struct spek_asu *asu)
{
	u32 i;

	asu->bytes = fuzz_or(in, USUAL_BYTES);
	asu->nr_extents = (u32)fuzz_or(in, 1) % (SPEK_MAX_TARGETS + 1);
	asu->stripe_bytes = (u32)fuzz_or(in, asu->nr_extents > 1 ? 65536 : 0);
	for (i = 0; i < asu->nr_extents; i++) {
		asu->extent[i].target = (u32)fuzz_or(in, i);
		asu->extent[i].start = fuzz_or(in, 0);
	}
}

/* A short curve that rises, now and then with anything. */
static void take_points(struct fuzz_input *in, struct spek_arrival *arrival,
			struct spek_workload *wl)
{
	u32 room = SPEK_MAX_POINTS_IN_ALL - wl->nr_points, i;

	arrival->first_point = (u32)fuzz_or(in, wl->nr_points);
	arrival->nr_points = (u32)fuzz_or(in, 3);
	arrival->repeats = (u32)fuzz_or(in, 1);
	arrival->rate_milli = fuzz_or(in, 0);
	for (i = 0; i < arrival->nr_points && i < room && i < SPEK_MAX_POINTS; i++) {
		struct spek_point *point = &wl->point[wl->nr_points++];

		point->at_ns = fuzz_or(in, i * 1000000000ull);
		point->rate_milli = fuzz_or(in, i * 1000000ull);
	}
}

static void take_arrival(struct fuzz_input *in, struct spek_arrival *arrival,
			 struct spek_workload *wl)
{
	u32 law = fuzz_upto(in, SPEK_LAW_BURST);
	bool has_rate = law == SPEK_LAW_POISSON || law == SPEK_LAW_CONSTANT;

	arrival->law = law;
	arrival->depth = (u32)fuzz_or(in, law == SPEK_LAW_CLOSED ? 4 : 0);
	arrival->think_ns = fuzz_or(in, 0);
	arrival->rate_milli = fuzz_or(in, has_rate ? 1000000 : 0);
	arrival->burst_length = (u32)fuzz_or(in, law == SPEK_LAW_BURST ? 8 : 0);
	arrival->burst_interval_ns = fuzz_or(in, law == SPEK_LAW_BURST ? 1000000 : 0);
	arrival->on_ns = fuzz_or(in, has_rate ? 10000000 : 0);
	arrival->off_ns = fuzz_or(in, arrival->on_ns);
	arrival->tail_milli = (u32)fuzz_or(in, has_rate ? 1500 : 0);
	if (fuzz_or(in, 0))
		take_points(in, arrival, wl);
	arrival->pause_ns = fuzz_or(in, 0);
	arrival->pause_every = (u32)fuzz_or(in, arrival->pause_ns ? 3 : 0);
	arrival->pause_counts_completed = (u32)fuzz_or(in, 0);
	arrival->pause_after_ns = fuzz_or(in, 0);
	arrival->count = fuzz_or(in, 0);
}

/* All addresses but those of the last part in parts of one, and equal weights. */
static void take_parts(struct fuzz_input *in, struct spek_stream *stream,
		       struct spek_workload *wl)
{
	u32 room = SPEK_MAX_PARTS_IN_ALL - wl->nr_parts, i;
	u64 slots, weight = SPEK_TABLE_WEIGHT;

	stream->first_part = (u32)fuzz_or(in, wl->nr_parts);
	stream->nr_parts = (u32)fuzz_or(in, 2);
	if (!stream->align_bytes || stream->range_bytes < spek_stream_max_bytes(stream))
		return;
	slots = spek_stream_slots(stream);
	for (i = 0; i < stream->nr_parts && i < room && i < SPEK_MAX_PARTS; i++) {
		bool last = i + 1 == stream->nr_parts;
		struct spek_section *part = &wl->part[wl->nr_parts++];

		part->slots = fuzz_or(in, last ? slots : 1);
		part->weight = fuzz_or(in, last ? weight : weight / 2);
		slots -= part->slots;
		weight -= part->weight;
	}
}

static void take_stream(struct fuzz_input *in, struct spek_stream *stream, u32 number,
			struct spek_workload *wl)
{
	u32 pattern = fuzz_upto(in, SPEK_PATTERN_TABLE), i;
	bool is_runs = pattern == SPEK_PATTERN_RUNS, has_zones;

	stream->pattern = pattern;
	stream->asu = (u32)fuzz_or(in, number % (wl->nr_asus ? wl->nr_asus : 1));
	stream->arrival = (u32)fuzz_or(in, number % (wl->nr_arrivals ? wl->nr_arrivals : 1));
	stream->weight = (u32)fuzz_or(in, 1);
	stream->replicas = (u32)fuzz_or(in, 1);
	stream->read_ppm = (u32)fuzz_or(in, 700000);
	stream->range_start = fuzz_or(in, 0);
	stream->range_bytes = fuzz_or(in, USUAL_BYTES);
	stream->align_bytes = (u32)fuzz_or(in, 4096);
	stream->stride_bytes = fuzz_or(in, pattern == SPEK_PATTERN_STRIDED ? 65536 : 0);
	stream->jitter_bytes = fuzz_or(in, 0);
	stream->run_bytes = fuzz_or(in, is_runs ? 65536 : 0);
	stream->restart_bytes = fuzz_or(in, is_runs ? USUAL_BYTES / 2 : 0);
	stream->run_align_bytes = (u32)fuzz_or(in, is_runs ? 4096 : 0);
	stream->seq_ppm = (u32)fuzz_or(in, 0);
	stream->walk_style = fuzz_upto(in, SPEK_WALK_STYLE_FIXED);
	stream->nr_sizes = (u32)fuzz_or(in, 1) % (SPEK_MAX_SIZES + 1);
	for (i = 0; i < stream->nr_sizes; i++) {
		stream->size[i].bytes = (u32)fuzz_or(in, 4096 * (i + 1));
		stream->size[i].weight = (u32)fuzz_or(in, 1);
	}
	stream->spread = (u32)fuzz_or(in, 0);
	has_zones = pattern == SPEK_PATTERN_STRIDED && fuzz_upto(in, 1);
	stream->zone_size_bytes = fuzz_or(in, has_zones ? 16384 : 0);
	stream->zone_range_bytes = fuzz_or(in, 0);
	stream->zone_order = has_zones ? fuzz_upto(in, SPEK_ZONE_ORDER_ONCE) : (u32)fuzz_or(in, 0);
	if (pattern == SPEK_PATTERN_TABLE)
		take_parts(in, stream, wl);
}

static void take_workload(struct fuzz_input *in, struct spek_workload *wl)
{
	u32 i;

	wl->nr_asus = (u32)fuzz_or(in, 1) % (SPEK_MAX_ASUS + 1);
	wl->nr_arrivals = (u32)fuzz_or(in, 1) % (SPEK_MAX_ARRIVALS + 1);
	wl->nr_streams = (u32)fuzz_or(in, 1) % (SPEK_MAX_STREAMS + 1);
	for (i = 0; i < wl->nr_asus; i++)
		take_asu(in, &wl->asu[i]);
	for (i = 0; i < wl->nr_arrivals; i++)
		take_arrival(in, &wl->arrival[i], wl);
	for (i = 0; i < wl->nr_streams; i++)
		take_stream(in, &wl->stream[i], i, wl);
}

static void check_mapping(const struct spek_asu *asu, const struct spek_op *op)
{
	struct spek_asu_map map;
	u64 at = op->addr, offset;
	u32 left = op->bytes, target, i;

	spek_asu_map_init(&map, asu);
	for (i = 0; left && i < 64; i++) {
		u32 piece = spek_asu_map(&map, at, left, &target, &offset);

		FUZZ_REQUIRE(piece && piece <= left, "pieces of an I/O add up to it");
		at += piece;
		left -= piece;
	}
}

static void check_op(const struct spek_workload *wl, const struct spek_op *op, u64 before_ns)
{
	const struct spek_stream *stream;

	FUZZ_REQUIRE(op->stream < wl->nr_streams, "an I/O is of a stream");
	stream = &wl->stream[op->stream];
	FUZZ_REQUIRE(op->asu == stream->asu && op->arrival == stream->arrival,
		     "an I/O has its stream's asu and arrival process");
	FUZZ_REQUIRE(op->replica < stream->replicas, "an I/O is of a replica");
	FUZZ_REQUIRE(op->addr >= stream->range_start &&
		     op->addr - stream->range_start <= stream->range_bytes &&
		     op->bytes <= stream->range_bytes - (op->addr - stream->range_start),
		     "an I/O lies in its stream's range");
	FUZZ_REQUIRE(!(op->addr % SPEK_SECTOR) && !(op->bytes % SPEK_SECTOR) && op->bytes,
		     "an I/O has whole sectors");
	FUZZ_REQUIRE(op->at_ns >= before_ns, "time goes forward");
	FUZZ_REQUIRE(op->write ? stream->read_ppm < 1000000 : stream->read_ppm > 0,
		     "only what writes writes");
	check_mapping(&wl->asu[op->asu], op);
}

static void drive(const struct spek_workload *wl, struct spek_gen *gen)
{
	struct spek_gen_mark mark[SPEK_MAX_ARRIVALS];
	struct spek_backlog_count count = {};
	struct spek_backlog backlog;
	struct spek_op op;
	u64 before_ns = 0;
	u32 i;

	spek_backlog_init(&backlog, wl, gen);
	for (i = 0; i < OPS && spek_gen_next_ns(gen) != SPEK_NEVER; i++) {
		spek_gen_next(gen, &op);
		spek_gen_place(gen, &op);
		check_op(wl, &op, before_ns);
		before_ns = op.at_ns;
		spek_gen_complete(gen, op.arrival, op.at_ns);
	}
	/* what is due next, and no more: so many draws would take their time */
	if (i == OPS) {
		spek_gen_mark(gen, mark);
		while (spek_backlog_step(&backlog, &count, mark, before_ns, BACKLOG_DRAWS))
			;
	}
}

void fuzz_core_workload(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct spek_workload *wl = calloc(1, sizeof(*wl));
	u64 seed = fuzz_bytes(&in, 4);
	u32 nr_workers = 1 + fuzz_upto(&in, SPEK_MAX_WORKERS - 1);
	u32 worker = fuzz_upto(&in, nr_workers - 1);
	struct spek_refusal refusal = { 0 };
	struct spek_gen *gen;
	size_t bytes;

	take_workload(&in, wl);
	if (spek_workload_check(wl, nr_workers, &refusal)) {
		FUZZ_REQUIRE((refusal.err == -EINVAL || refusal.err == -ERANGE) && refusal.text,
			     "a refusal has an errno and a sentence");
		free(wl);
		return;
	}
	FUZZ_REQUIRE(spek_workload_max_bytes(wl) <= SPEK_MAX_IO_BYTES, "no I/O is too large");
	bytes = spek_gen_size(wl, worker, nr_workers);
	if (bytes <= MAX_GEN_BYTES && !posix_memalign((void **)&gen, 64, bytes)) {
		spek_gen_init(gen, wl, seed, worker, nr_workers);
		spek_gen_start(gen, 1000000000);
		drive(wl, gen);
		free(gen);
	}
	free(wl);
}

/* ---- numbers ---- */

static void check_hist(struct fuzz_input *in)
{
	static u64 counts[SPEK_HIST_BUCKETS];
	u64 total = 0, max_ns = 0, last = 0;
	u32 ppm;

	spek_memset(counts, 0, sizeof(counts));
	while (in->size) {
		u64 ns = fuzz_any64(in);
		u32 index = spek_hist_index(ns);

		FUZZ_REQUIRE(index < SPEK_HIST_BUCKETS, "a bucket is there");
		FUZZ_REQUIRE(spek_hist_low(index) <= ns, "a bucket begins below what is in it");
		FUZZ_REQUIRE(index + 1 == SPEK_HIST_BUCKETS || spek_hist_low(index + 1) > ns,
			     "a bucket ends above what is in it");
		counts[index]++;
		total++;
		if (ns > max_ns)
			max_ns = ns;
	}
	for (ppm = 0; ppm <= 1000000; ppm += 125000) {
		u64 value = spek_hist_percentile(counts, total, ppm, max_ns);

		FUZZ_REQUIRE(value <= max_ns && value >= last, "percentiles grow up to the maximum");
		last = value;
	}
}

void fuzz_core_numbers(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	u64 a = fuzz_any64(&in), b = fuzz_any64(&in), c = fuzz_any64(&in);
	u32 state = (u32)fuzz_bytes(&in, 1), event = (u32)fuzz_bytes(&in, 1);
	struct spek_rng rng;
	int next = spek_state_next(state, event);

	FUZZ_REQUIRE(next == -EINVAL || next == -EBUSY || (next >= 0 && next < SPEK_STATE_NR),
		     "states are closed");
	FUZZ_REQUIRE(spek_neg_log_q32(a) <= 190530846196ull, "a logarithm is within its range");
	spek_rng_init(&rng, a, (u32)b, (u32)c, SPEK_RNG_OPERATIONS);
	FUZZ_REQUIRE(spek_expo_next(&rng) < 1ull << 38, "an exponential number is within its range");
	if (b)
		FUZZ_REQUIRE(spek_rng_below(&rng, b) < b, "a number below is below");
	if (spek_mulhi64(a, b) < c)
		FUZZ_REQUIRE(spek_muldiv64(a, b, c, NULL) == (u64)((unsigned __int128)a * b / c),
			     "a product is divided exactly");
	check_hist(&in);
}

void fuzz_core_sense(const uint8_t *data, size_t size)
{
	/* exactly as long as it is, so that a look past its end is seen */
	uint8_t *copy = malloc(size ? size : 1);
	struct spek_sense sense;
	size_t i;

	for (i = 0; i < size; i++)
		copy[i] = data[i];
	spek_sense_parse(&sense, copy, (u32)size);
	FUZZ_REQUIRE(sense.key < 16, "a sense key has 4 bits");
	FUZZ_REQUIRE(sense.present || !(sense.key | sense.asc | sense.ascq | sense.deferred),
		     "no sense, no cause");
	free(copy);
}
