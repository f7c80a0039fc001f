// SPDX-License-Identifier: GPL-2.0
/* The table of address patterns, their common set-up, and the dispatcher to their addresses. */
#include "../../core/muldiv.h"
#include "pattern.h"

#define MILLION	1000000

static const struct spek_pattern_ops *const patterns[] = {
	[SPEK_PATTERN_UNIFORM] = &spek_pattern_uniform,
	[SPEK_PATTERN_SEQUENTIAL] = &spek_pattern_sequential,
	[SPEK_PATTERN_STRIDED] = &spek_pattern_strided,
	[SPEK_PATTERN_RUNS] = &spek_pattern_runs,
	[SPEK_PATTERN_WALK] = &spek_pattern_walk,
	[SPEK_PATTERN_HOTBAND] = &spek_pattern_hotband,
	[SPEK_PATTERN_ONCE] = &spek_pattern_once,
	[SPEK_PATTERN_BACKWARD] = &spek_pattern_backward,
	[SPEK_PATTERN_TABLE] = &spek_pattern_table,
	[SPEK_PATTERN_TRACE] = &spek_pattern_replay,
	[SPEK_PATTERN_WRITE_POINTER] = &spek_pattern_pointer,
};

/**
 * spek_pattern_of() - find the operations of a stream's pattern
 * @stream: stream
 *
 * Return: operations, or NULL if the number of the pattern is unknown.
 */
const struct spek_pattern_ops *spek_pattern_of(const struct spek_stream *stream)
{
	if (stream->pattern >= sizeof(patterns) / sizeof(*patterns))
		return NULL;
	return patterns[stream->pattern];
}

/* Of a stream that spek_workload_check() has accepted. */
static const struct spek_pattern_ops *ops_of(const struct spek_stream *stream)
{
	return patterns[stream->pattern];
}

static bool reads(const struct spek_stream *stream)
{
	return stream->read_ppm > 0;
}

static bool writes(const struct spek_stream *stream)
{
	return stream->read_ppm < MILLION;
}

/**
 * spek_source_memory() - memory that a worker needs for its share of a stream
 * @memory: filled in
 * @stream: checked stream
 * @share: the worker's share of @stream
 */
void spek_source_memory(struct spek_source_memory *memory, const struct spek_stream *stream,
			const struct spek_share *share)
{
	const struct spek_pattern_ops *pattern = ops_of(stream);

	memory->choices = stream->nr_sizes * (reads(stream) + writes(stream));
	memory->replica_bytes = 0;
	memory->shared_bytes = 0;
	if (pattern->memory)
		pattern->memory(memory, stream);
	memory->replica_bytes *= share->count;
}

/**
 * spek_source_init() - prepare a source
 * @source: filled in
 * @stream: checked stream
 * @share: this worker's share of @stream; count > 0
 * @rng: operations sequence of the arrival process; starting points are drawn from it
 * @states: memory for the states of the replicas
 * @shared: memory that the replicas share
 */
void spek_source_init(struct spek_source *source, const struct spek_stream *stream,
		      const struct spek_share *share, struct spek_rng *rng, void *states,
		      void *shared)
{
	const struct spek_share one = { .count = 1 };
	struct spek_source_memory memory;

	spek_source_memory(&memory, stream, &one);
	source->align_bytes = stream->align_bytes;
	source->state_bytes = (u32)memory.replica_bytes;
	source->states = memory.replica_bytes ? states : source;
	ops_of(stream)->init(source, stream, share, rng, states, shared);
}

static u8 kind_of_op(const struct spek_stream *stream, bool write)
{
	switch (stream->operation) {
	case SPEK_OPERATION_FLUSH:
		return SPEK_OP_FLUSH;
	case SPEK_OPERATION_DISCARD:
		return SPEK_OP_DISCARD;
	case SPEK_OPERATION_WRITE_ZEROES:
		return SPEK_OP_WRITE_ZEROES;
	case SPEK_OPERATION_ZONE_APPEND:
		return SPEK_OP_ZONE_APPEND;
	case SPEK_OPERATION_ZONE_RESET:
		return SPEK_OP_ZONE_RESET;
	case SPEK_OPERATION_ZONE_FINISH:
		return SPEK_OP_ZONE_FINISH;
	case SPEK_OPERATION_ZONE_OPEN:
		return SPEK_OP_ZONE_OPEN;
	case SPEK_OPERATION_ZONE_CLOSE:
		return SPEK_OP_ZONE_CLOSE;
	default:
		return stream->fua && write ? SPEK_OP_FUA : SPEK_OP_PLAIN;
	}
}

static void init_choice(struct spek_choice *choice, struct spek_source *source,
			const struct spek_workload *wl, u32 index, const struct spek_share *share,
			u32 bytes, bool write)
{
	const struct spek_stream *stream = &wl->stream[index];
	struct spek_op op = {
		.stream = (u16)index,
		.asu = (u16)stream->asu,
		.arrival = (u8)stream->arrival,
		.kind = kind_of_op(stream, write),
		.write = write,
	};

	choice->tag = op.tag;
	choice->bytes = bytes;
	choice->kind = ops_of(stream)->kind(stream, write);
	choice->first_replica = share->first;
	choice->replicas = share->count;
	choice->align_bytes = stream->align_bytes;
	choice->start = stream->range_start;
	choice->slots = spek_div64(stream->range_bytes - bytes, stream->align_bytes) + 1;
	choice->last = stream->range_start + stream->range_bytes - bytes;
	choice->source = source;
	if (stream->zone_size_bytes && stream->zone_order != SPEK_ZONE_ORDER_SEQUENTIAL)
		choice->slots = spek_div64(spek_gap_range(stream) - bytes,
					   stream->align_bytes) + 1;
	/* One place, of no length. */
	if (op.kind == SPEK_OP_FLUSH) {
		choice->bytes = 0;
		choice->start = 0;
		choice->slots = 1;
	}
	/* On a zone as a whole. */
	if (op.kind >= SPEK_OP_ZONE_RESET)
		choice->bytes = 0;
}

/**
 * spek_choices_init() - list the choices of a source
 * @choice: spek_source_memory.choices entries, filled in
 * @weight: as many weights, filled in; they add up to @total
 * @total: weight of the stream
 * @source: prepared source
 * @wl: checked workload
 * @stream: index of the stream
 * @share: this worker's share of @stream
 */
void spek_choices_init(struct spek_choice *choice, u64 *weight, u64 total,
		       struct spek_source *source, const struct spek_workload *wl, u32 stream,
		       const struct spek_share *share)
{
	const struct spek_stream *s = &wl->stream[stream];
	u64 sizes = 0, mine, read;
	u32 n = 0, i;

	for (i = 0; i < s->nr_sizes; i++)
		sizes += s->size[i].weight;
	for (i = 0; i < s->nr_sizes; i++) {
		u32 bytes = s->size[i].bytes;

		/* The last size gets what rounding takes from the others. */
		mine = spek_muldiv64(total, s->size[i].weight, sizes, NULL);
		total -= mine;
		sizes -= s->size[i].weight;
		read = spek_muldiv64(mine, s->read_ppm, MILLION, NULL);
		if (reads(s)) {
			weight[n] = read;
			init_choice(&choice[n++], source, wl, stream, share, bytes, false);
		}
		if (writes(s)) {
			weight[n] = mine - read;
			init_choice(&choice[n++], source, wl, stream, share, bytes, true);
		}
	}
}

/**
 * spek_pattern_next() - find the address of the next I/O, for kinds from SPEK_KIND_POINTER on
 * @choice: stream, size and direction
 * @replica: index among the source's replicas
 * @rng: operations sequence of the arrival process
 * @op: tag is set, addr is filled in
 *
 * All calls are tail calls, so that each callee saves only the registers it needs itself.
 */
void spek_pattern_next(const struct spek_choice *choice, u32 replica, struct spek_rng *rng,
		       struct spek_op *op)
{
	if (choice->kind == SPEK_KIND_POINTER)
		spek_pointer_next(choice, replica, rng, op);
	else if (choice->kind == SPEK_KIND_REPLAY)
		spek_replay_next(choice, op);
	else
		spek_gap_next(choice, replica, rng, op);
}
