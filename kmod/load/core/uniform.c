// SPDX-License-Identifier: GPL-2.0
/*
 * Uniform: any place of the range where the I/O fits. With a sequential share some I/Os
 * continue the one before of the same replica instead.
 */
#include "pattern.h"

static int check(const struct spek_stream *stream, u64 parts, struct spek_refusal *refusal)
{
	if (stream->seq_ppm > 1000000)
		return spek_refuse_part(refusal, -ERANGE,
					"The share of sequential I/Os is larger than 100 %.");
	if (stream->seq_ppm && !spek_stream_is_aligned(stream))
		return spek_refuse_part(refusal, -EINVAL,
					"With a share of sequential I/Os every block size must be a multiple of the alignment.");
	return 0;
}

static void memory(struct spek_source_memory *memory, const struct spek_stream *stream)
{
	memory->replica_bytes = stream->seq_ppm ? sizeof(u64) : 0;
}

static void init(struct spek_source *source, const struct spek_stream *stream,
		 const struct spek_share *share, struct spek_rng *rng, void *states, void *shared)
{
	u64 *next = states;
	u32 i;

	if (!stream->seq_ppm)
		return;
	source->mixed.threshold = spek_ppm_threshold(stream->seq_ppm);
	/* The first I/O has no predecessor: no size fits at this address. */
	for (i = 0; i < share->count; i++) {
		spek_yield_at(i);
		next[i] = ~0ull;
	}
}

static enum spek_kind kind(const struct spek_stream *stream, bool write)
{
	return stream->seq_ppm ? SPEK_KIND_MIXED : SPEK_KIND_UNIFORM;
}

const struct spek_pattern_ops spek_pattern_uniform = {
	.check = check,
	.memory = memory,
	.init = init,
	.kind = kind,
};
