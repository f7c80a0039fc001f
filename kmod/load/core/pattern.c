// SPDX-License-Identifier: GPL-2.0
/* Setting up of sources, and the patterns that need few lines; walks are in walk.[ch]. */
#include "../../core/muldiv.h"
#include "hotband.h"
#include "pattern.h"
#include "walk.h"

#define MILLION	1000000

static bool reads(const struct spek_stream *stream)
{
	return stream->read_ppm > 0;
}

static bool writes(const struct spek_stream *stream)
{
	return stream->read_ppm < MILLION;
}

void spek_source_memory(struct spek_source_memory *memory, const struct spek_stream *stream,
			const struct spek_share *share)
{
	u64 each = 0;

	memory->choices = stream->nr_sizes * (reads(stream) + writes(stream));
	memory->leaf_bytes = 0;
	switch (stream->pattern) {
	case SPEK_PATTERN_UNIFORM:
		each = stream->seq_ppm ? sizeof(u64) : 0;
		break;
	case SPEK_PATTERN_SEQUENTIAL:
	case SPEK_PATTERN_STRIDED:
		each = sizeof(struct spek_cursor);
		break;
	case SPEK_PATTERN_RUNS:
		each = sizeof(struct spek_run);
		break;
	case SPEK_PATTERN_WALK:
		each = sizeof(struct spek_walk);
		memory->leaf_bytes = spek_walk_leaves(stream);
		break;
	case SPEK_PATTERN_HOTBAND:
		break;
	}
	memory->replica_bytes = each * share->count;
}

static void init_mixed(struct spek_source *source, const struct spek_stream *stream, u64 *states)
{
	u32 i;

	source->mixed.threshold = spek_ppm_threshold(stream->seq_ppm);
	source->mixed.next = states;
	/* No I/O before the first one: an address where nothing fits. */
	for (i = 0; i < source->replicas; i++)
		states[i] = ~0ull;
}

static void init_cursors(struct spek_source *source, const struct spek_stream *stream,
			 const struct spek_share *share, struct spek_cursor *states)
{
	u32 i;

	source->cursor.stride_bytes = stream->stride_bytes;
	source->cursor.replica = states;
	for (i = 0; i < share->count; i++) {
		u64 part = share->first_part + i;

		states[i].start = spek_share_part(stream, part, share->parts);
		states[i].end = spek_share_part(stream, part + 1, share->parts);
		states[i].next = states[i].start;
	}
}

static void init_runs(struct spek_source *source, const struct spek_stream *stream,
		      struct spek_run *states)
{
	u32 align = stream->align_bytes;

	source->runs.first_block = spek_div64(stream->range_start, align);
	source->runs.restart_blocks = spek_div64(stream->restart_bytes, align);
	source->runs.run_blocks = spek_div64(stream->run_bytes, align);
	source->runs.mask = ~((u64)(stream->run_align_bytes / align) - 1);
	source->runs.replica = states;
	spek_memset(states, 0, sizeof(*states) * source->replicas);
}

void spek_source_init(struct spek_source *source, const struct spek_stream *stream,
		      const struct spek_share *share, struct spek_rng *rng, void *states,
		      u8 *leaves)
{
	source->replicas = share->count;
	source->align_bytes = stream->align_bytes;
	switch (stream->pattern) {
	case SPEK_PATTERN_UNIFORM:
		if (stream->seq_ppm)
			init_mixed(source, stream, states);
		break;
	case SPEK_PATTERN_SEQUENTIAL:
	case SPEK_PATTERN_STRIDED:
		init_cursors(source, stream, share, states);
		break;
	case SPEK_PATTERN_RUNS:
		init_runs(source, stream, states);
		break;
	case SPEK_PATTERN_WALK:
		spek_walk_init(source, stream, rng, states, leaves);
		break;
	case SPEK_PATTERN_HOTBAND:
		spek_hotband_init(source, stream);
		break;
	}
}

static u32 kind_of(const struct spek_stream *stream, bool write)
{
	switch (stream->pattern) {
	case SPEK_PATTERN_UNIFORM:
		return stream->seq_ppm ? SPEK_KIND_MIXED : SPEK_KIND_UNIFORM;
	case SPEK_PATTERN_WALK:
		return write ? SPEK_KIND_WALK_WRITE : SPEK_KIND_WALK_READ;
	case SPEK_PATTERN_RUNS:
		return SPEK_KIND_RUNS;
	case SPEK_PATTERN_HOTBAND:
		return SPEK_KIND_HOTBAND;
	default:
		return SPEK_KIND_CURSOR;
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
		.arrival = (u16)stream->arrival,
		.write = write,
	};

	choice->tag = op.tag;
	choice->bytes = bytes;
	choice->kind = kind_of(stream, write);
	choice->first_replica = share->first;
	choice->replicas = share->count;
	choice->align_bytes = stream->align_bytes;
	choice->start = stream->range_start;
	choice->slots = spek_div64(stream->range_bytes - bytes, stream->align_bytes) + 1;
	choice->last = stream->range_start + stream->range_bytes - bytes;
	choice->source = source;
}

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

		/* What rounding loses on the way is not lost but left to the last size. */
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

/*
 * The functions below are kept apart, and end the dispatcher: each saves only the
 * registers that it needs itself.
 */
static spek_noinline void next_mixed(const struct spek_choice *choice, u32 replica,
				     struct spek_rng *rng, struct spek_op *op)
{
	u64 *next = &choice->source->mixed.next[replica];
	u64 addr = *next;

	if (spek_rng_next(rng) >> 32 >= choice->source->mixed.threshold || addr > choice->last)
		addr = spek_uniform_next(choice, rng);
	*next = addr + choice->bytes;
	op->addr = addr;
}

static spek_noinline void next_cursor(const struct spek_choice *choice, u32 replica,
				      struct spek_op *op)
{
	struct spek_cursor *cursor = &choice->source->cursor.replica[replica];
	u64 stride = choice->source->cursor.stride_bytes;
	u64 addr = cursor->next;

	if (addr + choice->bytes > cursor->end)
		addr = cursor->start;
	cursor->next = addr + (stride ? stride : choice->bytes);
	op->addr = addr;
}

static spek_cold spek_noinline u64 restart_run(const struct spek_source *source,
					       struct spek_run *run, struct spek_rng *rng)
{
	u64 block = source->runs.first_block + spek_rng_below(rng, source->runs.restart_blocks);
	u64 end = (block + source->runs.run_blocks) & source->runs.mask;

	run->end = end * source->align_bytes;
	block &= source->runs.mask;
	/* Rounding in the asu must not take the run out of a range that starts elsewhere. */
	if (block < source->runs.first_block)
		block = source->runs.first_block;
	return block * source->align_bytes;
}

/* A run that the I/O would reach the end of is left for a new one; the I/O keeps its size. */
static spek_noinline void next_run(const struct spek_choice *choice, u32 replica,
				   struct spek_rng *rng, struct spek_op *op)
{
	const struct spek_source *source = choice->source;
	struct spek_run *run = &source->runs.replica[replica];
	u64 addr = run->next;

	if (spek_unlikely(addr + choice->bytes >= run->end))
		addr = restart_run(source, run, rng);
	run->next = addr + choice->bytes;
	op->addr = addr;
}

static spek_noinline void next_walk_read(const struct spek_choice *choice, u32 replica,
					 struct spek_rng *rng, struct spek_op *op)
{
	const struct spek_source *source = choice->source;

	op->addr = spek_walk_read(source, &source->walk.replica[replica], rng) *
		   choice->align_bytes;
}

static spek_noinline void next_walk_write(const struct spek_choice *choice, u32 replica,
					  struct spek_rng *rng, struct spek_op *op)
{
	const struct spek_source *source = choice->source;

	op->addr = spek_walk_write(source, &source->walk.replica[replica], rng) *
		   choice->align_bytes;
}

static spek_noinline void next_in_hotband(const struct spek_choice *choice,
					  struct spek_rng *rng, struct spek_op *op)
{
	op->addr = spek_hotband_next(choice, rng, op->write);
}

void spek_pattern_next(const struct spek_choice *choice, u32 replica, struct spek_rng *rng,
		       struct spek_op *op)
{
	u32 kind = choice->kind;

	if (kind == SPEK_KIND_WALK_READ)
		next_walk_read(choice, replica, rng, op);
	else if (kind == SPEK_KIND_WALK_WRITE)
		next_walk_write(choice, replica, rng, op);
	else if (kind == SPEK_KIND_RUNS)
		next_run(choice, replica, rng, op);
	else if (kind == SPEK_KIND_CURSOR)
		next_cursor(choice, replica, op);
	else if (kind == SPEK_KIND_HOTBAND)
		next_in_hotband(choice, rng, op);
	else
		next_mixed(choice, replica, rng, op);
}
