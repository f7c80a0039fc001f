// SPDX-License-Identifier: GPL-2.0
/* Write-pointer: at the write pointers of the zones of the asu, see zones.h. */
#include "pattern.h"
#include "zones.h"

static int check(const struct spek_stream *stream, u64 parts, struct spek_refusal *refusal)
{
	if (stream->replicas > 1)
		return spek_refuse_part(refusal, -EINVAL,
					"A stream at write pointers has replicas: it must have one.");
	if (stream->range_start)
		return spek_refuse_part(refusal, -EINVAL,
					"A stream at write pointers has all of its address range: its range must start at 0.");
	if (!spek_is_power_of_two(stream->align_bytes) || !spek_stream_is_aligned(stream))
		return spek_refuse_part(refusal, -EINVAL,
					"The alignment of a stream at write pointers must be a power of two, and its block sizes multiples of it.");
	return 0;
}

/* The zones are laid out with the generator. */
static void init(struct spek_source *source, const struct spek_stream *stream,
		 const struct spek_share *share, struct spek_rng *rng, void *states, void *shared)
{
}

static enum spek_kind kind(const struct spek_stream *stream, bool write)
{
	return SPEK_KIND_POINTER;
}

const struct spek_pattern_ops spek_pattern_pointer = {
	.check = check,
	.init = init,
	.kind = kind,
};

/**
 * spek_pointer_next() - draw what the next operation of a stream at write pointers depends on
 * @choice: stream, size and direction
 * @replica: index among the source's replicas, 0
 * @rng: operations sequence of the arrival process
 * @op: tag and bytes are set; spek_gen_place() has to follow
 */
void spek_pointer_next(const struct spek_choice *choice, u32 replica, struct spek_rng *rng,
		       struct spek_op *op)
{
	spek_zones_draw(rng, op);
}

/**
 * spek_gen_place() - give an operation of a stream at write pointers its place
 * @gen: generator that has made it
 * @op: the next one of its asu, see spek_zones_place(); unchanged if it is of another stream
 */
void spek_gen_place(struct spek_gen *gen, struct spek_op *op)
{
	const struct spek_stream *stream = &gen->wl->stream[op->stream];

	if (stream->pattern == SPEK_PATTERN_WRITE_POINTER)
		spek_zones_place(gen->zones[op->asu], (u32)__builtin_ctz(stream->align_bytes), op);
}
