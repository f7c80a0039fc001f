// SPDX-License-Identifier: GPL-2.0
/*
 * Runs: each replica is sequential for the length of a run, then starts another one at a random
 * place in the restart zone. Starts and ends of runs are rounded down in the asu.
 */
#include "pattern.h"

static int check(const struct spek_stream *stream, u64 parts, struct spek_refusal *refusal)
{
	u32 align = stream->align_bytes;
	u64 run = stream->run_bytes;

	if (!spek_stream_is_aligned(stream))
		return spek_refuse_part(refusal, -EINVAL,
					"Every block size of a stream of runs must be a multiple of its alignment.");
	if (!spek_is_multiple(stream->run_align_bytes, align) ||
	    !spek_is_power_of_two(stream->run_align_bytes / align))
		return spek_refuse_part(refusal, -EINVAL,
					"The alignment of runs must be the stream's alignment times a power of two.");
	if (run > stream->range_bytes || stream->restart_bytes > stream->range_bytes - run)
		return spek_refuse_part(refusal, -ERANGE,
					"The restart zone of a stream of runs and one run together are larger than its range.");
	if (stream->restart_bytes < align)
		return spek_refuse_part(refusal, -ERANGE,
					"The restart zone of a stream of runs is smaller than its alignment.");
	/* Rounding may take up to one alignment of runs from a run. */
	if (run < (u64)spek_stream_max_bytes(stream) + stream->run_align_bytes)
		return spek_refuse_part(refusal, -ERANGE,
					"A run is too short: it must hold the largest block and the alignment of runs.");
	return 0;
}

static void memory(struct spek_source_memory *memory, const struct spek_stream *stream)
{
	memory->replica_bytes = sizeof(struct spek_seq_run);
}

static void init(struct spek_source *source, const struct spek_stream *stream,
		 const struct spek_share *share, struct spek_rng *rng, void *states, void *shared)
{
	struct spek_seq_run *run = states;
	u32 align = stream->align_bytes;
	u32 i;

	source->runs.first_block = spek_div64(stream->range_start, align);
	source->runs.restart_blocks = spek_div64(stream->restart_bytes, align);
	source->runs.run_blocks = spek_div64(stream->run_bytes, align);
	source->runs.mask = ~((u64)(stream->run_align_bytes / align) - 1);
	for (i = 0; i < share->count; i++) {
		spek_yield_at(i);
		spek_memset(&run[i], 0, sizeof(run[i]));
	}
}

static enum spek_kind kind(const struct spek_stream *stream, bool write)
{
	return SPEK_KIND_RUNS;
}

const struct spek_pattern_ops spek_pattern_runs = {
	.check = check,
	.memory = memory,
	.init = init,
	.kind = kind,
	.is_exclusive = true,
};

/**
 * spek_runs_restart() - begin a run
 * @choice: stream, size and direction of its first I/O
 * @replica: index among the source's replicas
 * @rng: operations sequence of the arrival process
 */
void spek_runs_restart(const struct spek_choice *choice, u32 replica, struct spek_rng *rng)
{
	const struct spek_source *source = choice->source;
	struct spek_seq_run *run = (struct spek_seq_run *)source->states + replica;
	u64 block = source->runs.first_block + spek_rng_below(rng, source->runs.restart_blocks);
	u64 end = (block + source->runs.run_blocks) & source->runs.mask;

	run->end = end * source->align_bytes;
	block &= source->runs.mask;
	/* Rounding in the asu must not take the run out of a range that starts elsewhere. */
	if (block < source->runs.first_block)
		block = source->runs.first_block;
	run->next = block * source->align_bytes;
}
