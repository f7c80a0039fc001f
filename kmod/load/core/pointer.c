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

static void init(struct spek_source *source, const struct spek_stream *stream,
		 const struct spek_share *share, struct spek_rng *rng, void *states, void *shared)
{
	source->pointer.zones = share->zones;
	source->pointer.align_shift = (u32)__builtin_ctz(stream->align_bytes);
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
 * spek_pointer_next() - place of the next operation of a stream at write pointers
 * @choice: stream, size and direction
 * @replica: index among the source's replicas, 0
 * @rng: operations sequence of the arrival process
 * @op: tag and bytes are set; addr is set, bytes may shrink
 */
void spek_pointer_next(const struct spek_choice *choice, u32 replica, struct spek_rng *rng,
		       struct spek_op *op)
{
	const struct spek_source *source = choice->source;

	spek_zones_next(source->pointer.zones, source->pointer.align_shift, rng, op);
}
