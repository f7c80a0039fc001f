// SPDX-License-Identifier: GPL-2.0
/*
 * Sequential, strided and backward: each replica passes through its own part of the range and
 * starts over when the next I/O no longer fits. Sequential I/Os follow each other without a gap,
 * from the end of the part to its start if they go backward; strided ones start at equal distances,
 * or with jitter up to so many bytes after these places, each equally likely. At these places there
 * may be zones of several I/Os, see gaps.c.
 */
#include "../../core/muldiv.h"
#include "pattern.h"

/*
 * First byte of a part of the range, in the asu; part number @parts is its end. Parts are cut
 * between positions, so that the workers together touch the same positions as one, and are as equal
 * as whole positions can be.
 */
static u64 part_start(const struct spek_stream *stream, u64 part, u64 parts)
{
	u64 unit = stream->align_bytes, positions;

	if (stream->pattern == SPEK_PATTERN_STRIDED)
		unit = stream->stride_bytes;
	else if (stream->nr_sizes == 1)
		unit = stream->size[0].bytes;
	positions = spek_div64(stream->range_bytes, unit);
	/* A backward stream starts at the end of its part, which so must be a position. */
	if (part == parts && stream->pattern == SPEK_PATTERN_BACKWARD)
		return stream->range_start + unit * positions;
	if (part == parts)
		return stream->range_start + stream->range_bytes;
	return stream->range_start + unit * spek_muldiv64(positions, part, parts, NULL);
}

/* Bytes from a place in the grid of strides to the end of the last byte that its I/Os reach. */
static u64 reach_of(const struct spek_stream *stream)
{
	if (stream->zone_size_bytes)
		return spek_gap_reach(stream);
	return spek_stream_max_bytes(stream) + stream->jitter_bytes;
}

static u64 blocks(const struct spek_stream *stream, u64 part, u64 parts)
{
	u64 span = part_start(stream, part + 1, parts) - part_start(stream, part, parts);
	u64 reach = reach_of(stream), places, ios;

	if (stream->nr_sizes > 1 || span < reach)
		return 0;
	if (stream->pattern != SPEK_PATTERN_STRIDED)
		return spek_div64(span, reach);
	places = spek_div64(span - reach, stream->stride_bytes) + 1;
	ios = stream->zone_size_bytes ? spek_gap_ios(stream) : 1;
	return spek_mulhi64(places, ios) ? 0 : places * ios;
}

/* Bytes of the smallest part, which is the first one. */
static u64 part_bytes(const struct spek_stream *stream, u64 parts)
{
	return part_start(stream, 1, parts) - stream->range_start;
}

static int check_sequential(const struct spek_stream *stream, u64 parts,
			    struct spek_refusal *refusal)
{
	if (!spek_stream_is_aligned(stream))
		return spek_refuse_part(refusal, -EINVAL,
					"Every block size of a sequential or backward stream must be a multiple of its alignment.");
	if (part_bytes(stream, parts) < spek_stream_max_bytes(stream))
		return spek_refuse_part(refusal, -ERANGE,
					"The range of a sequential or backward stream is too small: each worker's part of it must hold the largest block.");
	return 0;
}

static int check_strided(const struct spek_stream *stream, u64 parts,
			 struct spek_refusal *refusal)
{
	int err;

	if (!stream->stride_bytes || !spek_is_multiple(stream->stride_bytes, stream->align_bytes))
		return spek_refuse_part(refusal, -EINVAL,
					"The stride must be a multiple of the stream's alignment and not 0.");
	if (stream->stride_bytes > stream->range_bytes)
		return spek_refuse_part(refusal, -ERANGE,
					"The stride is larger than the range of its stream.");
	if (!spek_is_multiple(stream->jitter_bytes, stream->align_bytes))
		return spek_refuse_part(refusal, -EINVAL,
					"The jitter of a strided stream must be a multiple of its alignment.");
	if (stream->jitter_bytes > stream->range_bytes)
		return spek_refuse_part(refusal, -ERANGE,
					"The jitter is larger than the range of its stream.");
	err = spek_gap_check(stream, refusal);
	if (err)
		return err;
	if (part_bytes(stream, parts) < stream->stride_bytes + reach_of(stream))
		return spek_refuse_part(refusal, -ERANGE,
					"The range of a strided stream is too small: each worker's part of it must hold two strides and the jitter, or two zones.");
	return 0;
}

static void memory(struct spek_source_memory *memory, const struct spek_stream *stream)
{
	memory->replica_bytes = stream->zone_size_bytes ? spek_gap_state_bytes(stream) :
							  sizeof(struct spek_cursor);
}

static void init(struct spek_source *source, const struct spek_stream *stream,
		 const struct spek_share *share, struct spek_rng *rng, void *states, void *shared)
{
	struct spek_cursor *cursor = states;
	u32 i;

	source->cursor.stride_bytes = stream->stride_bytes;
	source->cursor.jitter_bytes = stream->jitter_bytes;
	source->cursor.jitter_slots = spek_div64(stream->jitter_bytes, stream->align_bytes) + 1;
	for (i = 0; i < share->count; i++) {
		u64 part = share->first_part + i;

		spek_yield_at(i);
		cursor[i].start = part_start(stream, part, share->parts);
		cursor[i].end = part_start(stream, part + 1, share->parts);
		cursor[i].next = stream->pattern == SPEK_PATTERN_BACKWARD ? cursor[i].end :
									     cursor[i].start;
	}
}

static void init_strided(struct spek_source *source, const struct spek_stream *stream,
			 const struct spek_share *share, struct spek_rng *rng, void *states,
			 void *shared)
{
	u32 i;

	if (!stream->zone_size_bytes) {
		init(source, stream, share, rng, states, shared);
		return;
	}
	spek_gap_init(source, stream);
	for (i = 0; i < share->count; i++) {
		u64 part = share->first_part + i;

		spek_yield_at(i);
		spek_gap_init_state(source, i, stream, part_start(stream, part, share->parts),
				     part_start(stream, part + 1, share->parts));
	}
}

static enum spek_kind kind(const struct spek_stream *stream, bool write)
{
	if (stream->zone_size_bytes)
		return spek_gap_kind(stream);
	if (stream->pattern == SPEK_PATTERN_BACKWARD)
		return SPEK_KIND_BACKWARD;
	return stream->jitter_bytes ? SPEK_KIND_JITTER : SPEK_KIND_CURSOR;
}

const struct spek_pattern_ops spek_pattern_sequential = {
	.check = check_sequential,
	.memory = memory,
	.init = init,
	.kind = kind,
	.blocks = blocks,
};

const struct spek_pattern_ops spek_pattern_backward = {
	.check = check_sequential,
	.memory = memory,
	.init = init,
	.kind = kind,
	.blocks = blocks,
};

const struct spek_pattern_ops spek_pattern_strided = {
	.check = check_strided,
	.memory = memory,
	.init = init_strided,
	.kind = kind,
	.blocks = blocks,
};
