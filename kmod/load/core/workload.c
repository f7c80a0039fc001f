// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of a workload. Everything that the generator can't handle is
 * refused here, with a sentence for the user, so that the hot path checks nothing.
 */
#include "curve.h"
#include "onoff.h"
#include "pattern.h"
#include "replay.h"
#include "share.h"
#include "workload.h"
#include "zone_share.h"

#define MAX_ADDRESS	(1ull << 62)
#define MAX_DEPTH	65536
#define MAX_COUNT	100000000000000000ull
#define MAX_PRIORITY_LEVEL	7

static int check_extents(const struct spek_asu *asu, struct spek_refusal *refusal)
{
	u64 each = spek_div64(asu->bytes, asu->nr_extents);
	u32 i, j;

	for (i = 0; i < asu->nr_extents; i++) {
		if (asu->extent[i].target >= SPEK_MAX_TARGETS)
			return spek_refuse_part(refusal, -ERANGE,
						"An address range lies on a target number above 15.");
		if (asu->extent[i].start % SPEK_SECTOR)
			return spek_refuse_part(refusal, -EINVAL,
						"The start of an address range on its target is not a multiple of 512 bytes.");
		if (asu->extent[i].start > MAX_ADDRESS)
			return spek_refuse_part(refusal, -ERANGE,
						"An address range starts beyond 4 EiB on its target.");
		for (j = 0; j < i; j++)
			if (asu->extent[i].target == asu->extent[j].target &&
			    asu->extent[i].start < asu->extent[j].start + each &&
			    asu->extent[j].start < asu->extent[i].start + each)
				return spek_refuse_part(refusal, -EINVAL,
							"Two extents of one address range overlap on their target.");
	}
	return 0;
}

static int check_asu(const struct spek_asu *asu, struct spek_refusal *refusal)
{
	if (!asu->bytes)
		return spek_refuse_part(refusal, -EINVAL, "An address range is empty: its size must be above 0.");
	if (asu->bytes % SPEK_SECTOR)
		return spek_refuse_part(refusal, -EINVAL,
					"The size of an address range is not a multiple of 512 bytes.");
	if (asu->bytes > MAX_ADDRESS)
		return spek_refuse_part(refusal, -ERANGE, "An address range is larger than 4 EiB.");
	if (!asu->nr_extents || asu->nr_extents > SPEK_MAX_TARGETS)
		return spek_refuse_part(refusal, -ERANGE, "An address range needs 1 to 16 extents.");
	if (asu->nr_extents == 1) {
		if (asu->stripe_bytes)
			return spek_refuse_part(refusal, -EINVAL,
						"A stripe unit is given for an address range with one extent: it needs several.");
	} else {
		if (!spek_is_power_of_two(asu->stripe_bytes) || asu->stripe_bytes < SPEK_SECTOR)
			return spek_refuse_part(refusal, -EINVAL,
						"The stripe unit must be a power of two of at least 512 bytes.");
		if (!spek_is_multiple(asu->bytes, (u64)asu->stripe_bytes * asu->nr_extents))
			return spek_refuse_part(refusal, -EINVAL,
						"The size of a striped address range must be a whole number of stripes over all its targets.");
	}
	return check_extents(asu, refusal);
}

static int check_curve(const struct spek_workload *wl, const struct spek_arrival *arrival,
		       struct spek_refusal *refusal)
{
	if (arrival->repeats > 1)
		return spek_refuse_part(refusal, -ERANGE, "Whether a rate curve repeats must be 0 or 1.");
	if (!arrival->nr_points) {
		if (arrival->repeats)
			return spek_refuse_part(refusal, -EINVAL,
						"An arrival process without a rate curve can't repeat one.");
		return 0;
	}
	if (arrival->law != SPEK_LAW_POISSON && arrival->law != SPEK_LAW_CONSTANT)
		return spek_refuse_part(refusal, -EINVAL,
					"A rate curve is given for an arrival process whose law is neither poisson nor constant.");
	if (arrival->rate_milli)
		return spek_refuse_part(refusal, -EINVAL,
					"An arrival process has both a rate and a rate curve: leave one out.");
	if (arrival->first_point > wl->nr_points ||
	    arrival->nr_points > wl->nr_points - arrival->first_point)
		return spek_refuse_part(refusal, -EINVAL,
					"A rate curve has points that the workload does not have.");
	return spek_curve_check(&wl->point[arrival->first_point], arrival->nr_points,
				arrival->repeats, refusal);
}

/* Parameters of other laws would have no effect, so they must be 0. */
static int check_other_laws(const struct spek_arrival *arrival, struct spek_refusal *refusal)
{
	u32 law = arrival->law;

	if (arrival->depth && law != SPEK_LAW_CLOSED)
		return spek_refuse_part(refusal, -EINVAL,
					"A depth is given for an arrival process whose law is not closed.");
	if (arrival->think_ns && law != SPEK_LAW_CLOSED)
		return spek_refuse_part(refusal, -EINVAL,
					"A think time is given for an arrival process whose law is not closed.");
	if ((arrival->pause_ns || arrival->pause_every || arrival->pause_counts_completed ||
	     arrival->pause_after_ns) && law != SPEK_LAW_CLOSED)
		return spek_refuse_part(refusal, -EINVAL,
					"A pause is given for an arrival process whose law is not closed.");
	if (arrival->rate_milli && (law == SPEK_LAW_BURST || law == SPEK_LAW_TRACE))
		return spek_refuse_part(refusal, -EINVAL,
					"A rate is given for an arrival process whose law is burst or trace.");
	if (arrival->burst_length && law != SPEK_LAW_BURST && law != SPEK_LAW_CLOSED)
		return spek_refuse_part(refusal, -EINVAL,
					"A burst is given for an arrival process whose law is neither burst nor closed.");
	if (arrival->burst_interval_ns && law != SPEK_LAW_BURST)
		return spek_refuse_part(refusal, -EINVAL,
					"An interval between bursts is given for an arrival process whose law is not burst.");
	return 0;
}

static int check_pause(const struct spek_arrival *arrival, struct spek_refusal *refusal)
{
	if (arrival->pause_ns > SPEK_MAX_WAIT_NS || arrival->pause_after_ns > SPEK_MAX_WAIT_NS)
		return spek_refuse_part(refusal, -ERANGE,
					"The pauses of a closed loop or the time between them are longer than 10^15 ns (11 days).");
	if (arrival->pause_counts_completed > 1)
		return spek_refuse_part(refusal, -ERANGE,
					"Whether pauses count completed I/Os must be 0 or 1.");
	if (arrival->pause_counts_completed && !arrival->pause_every)
		return spek_refuse_part(refusal, -EINVAL,
					"Pauses count completed I/Os but have no number of I/Os between them.");
	if (!arrival->pause_ns != !(arrival->pause_every || arrival->pause_after_ns))
		return spek_refuse_part(refusal, -EINVAL,
					"Pauses of a closed loop need both their length and the I/Os or the time between them.");
	return 0;
}

static int check_count(const struct spek_workload *wl, u32 index, struct spek_refusal *refusal)
{
	u32 trace = spek_workload_trace(wl);

	if (wl->arrival[index].count > MAX_COUNT)
		return spek_refuse_part(refusal, -ERANGE,
					"The count of an arrival process is above 10^17 I/Os.");
	if (wl->arrival[index].count && trace < wl->nr_streams &&
	    wl->stream[trace].arrival == index)
		return spek_refuse_part(refusal, -EINVAL,
					"An arrival process that replays a trace has a count: it ends with the trace.");
	return 0;
}

static int check_arrival(const struct spek_workload *wl, u32 index, struct spek_refusal *refusal)
{
	const struct spek_arrival *arrival = &wl->arrival[index];
	u32 i;
	int err;

	switch (arrival->law) {
	case SPEK_LAW_CLOSED:
		if (!arrival->depth || arrival->depth > MAX_DEPTH)
			return spek_refuse_part(refusal, -ERANGE,
						"The depth of a closed loop must be 1 to 65536 I/Os.");
		if (arrival->think_ns > SPEK_MAX_WAIT_NS)
			return spek_refuse_part(refusal, -ERANGE,
						"The think time of a closed loop is longer than 10^15 ns (11 days).");
		if (arrival->rate_milli > SPEK_MAX_RATE_MILLI)
			return spek_refuse_part(refusal, -ERANGE,
						"The limit of a closed loop is above 10^9 I/Os per second.");
		if (arrival->burst_length && !arrival->rate_milli)
			return spek_refuse_part(refusal, -EINVAL,
						"A burst is given for a closed loop without a limit of its rate.");
		if (arrival->burst_length > MAX_DEPTH)
			return spek_refuse_part(refusal, -ERANGE,
						"The burst of a closed loop must be at most 65536 I/Os.");
		err = check_pause(arrival, refusal);
		if (err)
			return err;
		break;
	case SPEK_LAW_POISSON:
	case SPEK_LAW_CONSTANT:
		if (arrival->nr_points)
			break;
		if (!arrival->rate_milli || arrival->rate_milli > SPEK_MAX_RATE_MILLI)
			return spek_refuse_part(refusal, -ERANGE,
						"The rate of an open loop must be 0.001 to 10^9 I/Os per second.");
		break;
	case SPEK_LAW_BURST:
		if (!arrival->burst_length)
			return spek_refuse_part(refusal, -ERANGE, "A burst has no I/Os: it needs at least 1.");
		if (!arrival->burst_interval_ns || arrival->burst_interval_ns > SPEK_MAX_WAIT_NS)
			return spek_refuse_part(refusal, -ERANGE,
						"The interval between bursts must be 1 to 10^15 ns; bursts without a pause are a closed loop.");
		break;
	case SPEK_LAW_TRACE:
		break;
	default:
		return spek_refuse_part(refusal, -EINVAL, "An arrival process has an unknown law.");
	}
	err = check_other_laws(arrival, refusal);
	if (!err)
		err = check_count(wl, index, refusal);
	if (!err)
		err = check_curve(wl, arrival, refusal);
	if (!err)
		err = spek_onoff_check(arrival, refusal);
	if (err)
		return err;
	for (i = 0; i < wl->nr_streams; i++)
		if (wl->stream[i].arrival == index)
			return 0;
	return spek_refuse_part(refusal, -EINVAL, "No stream uses an arrival process.");
}

static int check_sizes(const struct spek_stream *stream, struct spek_refusal *refusal)
{
	u32 i;

	if (!stream->nr_sizes || stream->nr_sizes > SPEK_MAX_SIZES)
		return spek_refuse_part(refusal, -ERANGE, "A stream needs 1 to 64 block sizes.");
	for (i = 0; i < stream->nr_sizes; i++) {
		const struct spek_size *size = &stream->size[i];

		if (!size->bytes || size->bytes % SPEK_SECTOR)
			return spek_refuse_part(refusal, -EINVAL,
						"A block size is not a multiple of 512 bytes.");
		if (size->bytes > SPEK_MAX_IO_BYTES)
			return spek_refuse_part(refusal, -ERANGE, "A block size is larger than 16 MiB.");
		if (!size->weight)
			return spek_refuse_part(refusal, -EINVAL,
						"A block size has weight 0: leave it out or give it a weight.");
		if (size->bytes > stream->range_bytes)
			return spek_refuse_part(refusal, -ERANGE,
						"A block size is larger than the range of its stream.");
	}
	return 0;
}

/* Parameters of other patterns would have no effect, so they must be 0. */
static int check_foreign(const struct spek_stream *stream, struct spek_refusal *refusal)
{
	u32 pattern = stream->pattern;

	if (stream->seq_ppm && pattern != SPEK_PATTERN_UNIFORM)
		return spek_refuse_part(refusal, -EINVAL,
					"A share of sequential I/Os is given for a stream whose pattern is not uniform.");
	if (stream->stride_bytes && pattern != SPEK_PATTERN_STRIDED)
		return spek_refuse_part(refusal, -EINVAL,
					"A stride is given for a stream whose pattern is not strided.");
	if (stream->jitter_bytes && pattern != SPEK_PATTERN_STRIDED)
		return spek_refuse_part(refusal, -EINVAL,
					"A jitter is given for a stream whose pattern is not strided.");
	if ((stream->zone_size_bytes || stream->zone_range_bytes || stream->zone_order) &&
	    pattern != SPEK_PATTERN_STRIDED)
		return spek_refuse_part(refusal, -EINVAL,
					"Zones with a stride are given for a stream whose pattern is not strided.");
	if ((stream->run_bytes || stream->restart_bytes || stream->run_align_bytes) &&
	    pattern != SPEK_PATTERN_RUNS)
		return spek_refuse_part(refusal, -EINVAL,
					"Run parameters are given for a stream whose pattern is not runs.");
	if ((stream->nr_parts || stream->spread) && pattern != SPEK_PATTERN_TABLE)
		return spek_refuse_part(refusal, -EINVAL,
					"Parts of a table are given for a stream whose pattern is not a table.");
	if (stream->walk_style && pattern != SPEK_PATTERN_WALK)
		return spek_refuse_part(refusal, -EINVAL,
					"A walk style is given for a stream whose pattern is not a walk.");
	return 0;
}

static int check_operation(const struct spek_stream *stream, struct spek_refusal *refusal)
{
	if (stream->operation > SPEK_OPERATION_ZONE_CLOSE)
		return spek_refuse_part(refusal, -EINVAL, "A stream has an unknown operation.");
	if (stream->fua > 1)
		return spek_refuse_part(refusal, -ERANGE, "Forced unit access of a stream must be 0 or 1.");
	if (stream->operation && stream->read_ppm)
		return spek_refuse_part(refusal, -EINVAL,
					"A stream whose operation is not transfer has a share of reads: it must be 0.");
	if (stream->fua && (stream->operation || stream->read_ppm == 1000000))
		return spek_refuse_part(refusal, -EINVAL,
					"Forced unit access is given for a stream that has no writes of data.");
	if (stream->operation >= SPEK_OPERATION_ZONE_APPEND &&
	    stream->pattern != SPEK_PATTERN_WRITE_POINTER)
		return spek_refuse_part(refusal, -EINVAL,
					"Zone operations are given for a stream whose pattern is not write-pointer.");
	if (stream->pattern == SPEK_PATTERN_WRITE_POINTER && stream->operation &&
	    stream->operation < SPEK_OPERATION_ZONE_APPEND)
		return spek_refuse_part(refusal, -EINVAL,
					"A stream at write pointers has reads, writes or zone operations, and no others.");
	if (stream->operation == SPEK_OPERATION_FLUSH && stream->pattern != SPEK_PATTERN_TRACE &&
	    (stream->pattern != SPEK_PATTERN_UNIFORM || stream->seq_ppm))
		return spek_refuse_part(refusal, -EINVAL,
					"A flush has no address: a stream of flushes needs the pattern uniform, without a share of sequential I/Os.");
	return 0;
}

static int check_hints(const struct spek_stream *stream, struct spek_refusal *refusal)
{
	if (stream->priority > SPEK_PRIORITY_IDLE)
		return spek_refuse_part(refusal, -EINVAL,
					"A stream has an unknown class of I/O priority.");
	if (stream->priority_level > MAX_PRIORITY_LEVEL)
		return spek_refuse_part(refusal, -ERANGE,
					"The level of an I/O priority must be 0 to 7.");
	if (stream->priority_level && stream->priority != SPEK_PRIORITY_RT &&
	    stream->priority != SPEK_PRIORITY_BE)
		return spek_refuse_part(refusal, -EINVAL,
					"A level of I/O priority is given for a stream whose class is neither rt nor be.");
	if (stream->write_hint > SPEK_WRITE_HINT_EXTREME)
		return spek_refuse_part(refusal, -EINVAL, "A stream has an unknown write hint.");
	if (stream->write_hint &&
	    (!spek_stream_has_data(stream) || stream->read_ppm == 1000000))
		return spek_refuse_part(refusal, -EINVAL,
					"A write hint is given for a stream that has no writes of data.");
	return 0;
}

static int check_atomic(const struct spek_stream *stream, struct spek_refusal *refusal)
{
	if (!stream->atomic)
		return 0;
	if (stream->atomic > 1)
		return spek_refuse_part(refusal, -ERANGE, "Atomic writes of a stream must be 0 or 1.");
	if (stream->operation || stream->read_ppm == 1000000)
		return spek_refuse_part(refusal, -EINVAL,
					"Atomic writes are given for a stream that has no writes of data.");
	if (stream->pattern == SPEK_PATTERN_TRACE || stream->pattern == SPEK_PATTERN_WRITE_POINTER)
		return spek_refuse_part(refusal, -EINVAL,
					"Traces and writes at write pointers cannot be atomic: the stream does not choose their addresses.");
	if (!spek_stream_keeps_sizes_aligned(stream))
		return spek_refuse_part(refusal, -EINVAL,
					"Atomic writes need block sizes that are powers of two, and addresses that are multiples of them.");
	return 0;
}

static int check_data(const struct spek_stream *stream, struct spek_refusal *refusal)
{
	if (stream->own_data > 1)
		return spek_refuse_part(refusal, -ERANGE, "Own data of a stream must be 0 or 1.");
	if (stream->compressible_ppm > 1000000 || stream->duplicate_ppm > 1000000)
		return spek_refuse_part(refusal, -ERANGE,
					"A share of compressible or duplicate data is above 1000000 ppm.");
	if (stream->fill_bytes > SPEK_MAX_FILL)
		return spek_refuse_part(refusal, -ERANGE,
					"The fill of compressible data must be at most 64 bytes.");
	if (!stream->own_data) {
		if (stream->compressible_ppm || stream->duplicate_ppm || stream->fill_bytes)
			return spek_refuse_part(refusal, -EINVAL,
						"Compressible or duplicate data or their fill are given for a stream without own data.");
		return 0;
	}
	if (!spek_stream_has_data(stream) || stream->read_ppm == 1000000)
		return spek_refuse_part(refusal, -EINVAL,
					"Own data are given for a stream that has no writes of data.");
	if (stream->duplicate_ppm && stream->compressible_ppm == 1000000)
		return spek_refuse_part(refusal, -EINVAL,
					"A share of duplicate data is given for a stream whose data are all fill: all its blocks are equal.");
	if (stream->fill_bytes && !stream->compressible_ppm)
		return spek_refuse_part(refusal, -EINVAL,
					"A fill is given for a stream without compressible data.");
	return 0;
}

static int check_parts(const struct spek_workload *wl, const struct spek_stream *stream,
		       struct spek_refusal *refusal)
{
	u64 slots = spek_stream_slots(stream), weight = SPEK_TABLE_WEIGHT;
	u32 i;

	if (!stream->nr_parts || stream->nr_parts > SPEK_MAX_PARTS)
		return spek_refuse_part(refusal, -ERANGE, "A table needs 1 to 256 parts.");
	if (stream->spread > 1)
		return spek_refuse_part(refusal, -ERANGE, "The spread of a table must be 0 or 1.");
	if (stream->first_part > wl->nr_parts ||
	    stream->nr_parts > wl->nr_parts - stream->first_part)
		return spek_refuse_part(refusal, -EINVAL,
					"A table has parts that the workload does not have.");
	for (i = 0; i < stream->nr_parts; i++) {
		const struct spek_section *part = &wl->part[stream->first_part + i];

		if (!part->slots)
			return spek_refuse_part(refusal, -EINVAL,
						"A part of a table is empty: it needs at least one address.");
		if (part->slots > slots || part->weight > weight)
			break;
		slots -= part->slots;
		weight -= part->weight;
	}
	if (i < stream->nr_parts || slots || weight)
		return spek_refuse_part(refusal, -EINVAL,
					"The parts of a table must have all addresses of the range together, and weights that sum to 2^40.");
	return 0;
}

static int check_stream(const struct spek_workload *wl, u32 index, u32 nr_workers,
			struct spek_refusal *refusal)
{
	const struct spek_stream *stream = &wl->stream[index];
	const struct spek_pattern_ops *pattern = spek_pattern_of(stream);
	const struct spek_asu *asu;
	struct spek_share share;
	int err;

	if (stream->asu >= wl->nr_asus)
		return spek_refuse_part(refusal, -EINVAL, "A stream names an address range that does not exist.");
	if (stream->arrival >= wl->nr_arrivals)
		return spek_refuse_part(refusal, -EINVAL,
					"A stream names an arrival process that does not exist.");
	if (!stream->weight)
		return spek_refuse_part(refusal, -EINVAL,
					"A stream has weight 0: leave it out or give it a weight.");
	if (!stream->replicas)
		return spek_refuse_part(refusal, -EINVAL, "A stream has no replica: it needs at least 1.");
	if (stream->read_ppm > 1000000)
		return spek_refuse_part(refusal, -ERANGE, "The share of reads is larger than 100 %.");
	if (!stream->align_bytes || stream->align_bytes % SPEK_SECTOR)
		return spek_refuse_part(refusal, -EINVAL,
					"The alignment of a stream is not a multiple of 512 bytes.");
	asu = &wl->asu[stream->asu];
	if (!stream->range_bytes)
		return spek_refuse_part(refusal, -EINVAL, "The range of a stream is empty: its size must be above 0.");
	if (stream->range_start > asu->bytes ||
	    stream->range_bytes > asu->bytes - stream->range_start)
		return spek_refuse_part(refusal, -ERANGE,
					"The range of a stream ends beyond its address range.");
	if (!spek_is_multiple(stream->range_start, stream->align_bytes))
		return spek_refuse_part(refusal, -EINVAL,
					"The start of a stream's range is not a multiple of its alignment.");
	err = check_sizes(stream, refusal);
	if (!err)
		err = check_foreign(stream, refusal);
	if (!err)
		err = check_operation(stream, refusal);
	if (!err)
		err = check_hints(stream, refusal);
	if (!err)
		err = check_atomic(stream, refusal);
	if (!err)
		err = check_data(stream, refusal);
	if (err)
		return err;
	if (!pattern)
		return spek_refuse_part(refusal, -EINVAL, "A stream has an unknown address pattern.");
	if (stream->pattern == SPEK_PATTERN_TABLE) {
		err = check_parts(wl, stream, refusal);
		if (err)
			return err;
	}
	spek_share_stream(&share, wl, index, 0, nr_workers);
	return pattern->check(stream, share.parts, refusal);
}

/**
 * spek_workload_check() - check everything that does not depend on the devices
 * @wl: workload
 * @nr_workers: workers that will share it
 * @refusal: filled in on failure
 *
 * Return: 0, -EINVAL for a value that makes no sense, -ERANGE for one beyond a limit.
 */
int spek_workload_check(const struct spek_workload *wl, u32 nr_workers,
			struct spek_refusal *refusal)
{
	u32 i;
	int err;

	refusal->kind = SPEK_REFUSAL_RUN;
	refusal->index = 0;
	if (!nr_workers || nr_workers > SPEK_MAX_WORKERS)
		return spek_refuse_part(refusal, -ERANGE, "A run needs 1 to 256 workers.");
	if (!wl->nr_asus || wl->nr_asus > SPEK_MAX_ASUS)
		return spek_refuse_part(refusal, -ERANGE, "A workload needs 1 to 16 address ranges.");
	if (!wl->nr_arrivals || wl->nr_arrivals > SPEK_MAX_ARRIVALS)
		return spek_refuse_part(refusal, -ERANGE, "A workload needs 1 to 16 arrival processes.");
	if (!wl->nr_streams || wl->nr_streams > SPEK_MAX_STREAMS)
		return spek_refuse_part(refusal, -ERANGE, "A workload needs 1 to 64 streams.");
	if (wl->nr_parts > SPEK_MAX_PARTS_IN_ALL)
		return spek_refuse_part(refusal, -ERANGE,
					"The tables of a workload have more than 4096 parts together.");

	if (wl->nr_points > SPEK_MAX_POINTS_IN_ALL)
		return spek_refuse_part(refusal, -ERANGE,
					"The rate curves of a workload have more than 1024 points together.");

	for (i = 0; i < wl->nr_asus; i++) {
		refusal->kind = SPEK_REFUSAL_ASU;
		refusal->index = i;
		err = check_asu(&wl->asu[i], refusal);
		if (err)
			return err;
	}
	for (i = 0; i < wl->nr_arrivals; i++) {
		refusal->kind = SPEK_REFUSAL_ARRIVAL;
		refusal->index = i;
		err = check_arrival(wl, i, refusal);
		if (err)
			return err;
	}
	for (i = 0; i < wl->nr_streams; i++) {
		refusal->kind = SPEK_REFUSAL_STREAM;
		refusal->index = i;
		err = check_stream(wl, i, nr_workers, refusal);
		if (err)
			return err;
	}
	for (i = 0; i < wl->nr_asus; i++) {
		refusal->kind = SPEK_REFUSAL_ASU;
		refusal->index = i;
		err = spek_zone_share_check(wl, i, nr_workers, refusal);
		if (err)
			return err;
	}
	for (i = 0; i < wl->nr_arrivals; i++) {
		refusal->kind = SPEK_REFUSAL_ARRIVAL;
		refusal->index = i;
		err = spek_onoff_check_shares(wl, i, nr_workers, refusal);
		if (err)
			return err;
	}
	return spek_replay_check_workload(wl, nr_workers, refusal);
}

/**
 * spek_workload_max_bytes() - largest block size of a workload
 * @wl: workload
 *
 * Return: bytes, a sector if no operation carries data.
 */
u32 spek_workload_max_bytes(const struct spek_workload *wl)
{
	u32 max = SPEK_SECTOR, i;

	for (i = 0; i < wl->nr_streams; i++) {
		u32 bytes = spek_stream_max_bytes(&wl->stream[i]);

		if (spek_stream_has_data(&wl->stream[i]) && bytes > max)
			max = bytes;
	}
	return max;
}

/**
 * spek_workload_writes() - check whether a workload writes
 * @wl: workload
 *
 * Return: true if any stream can write.
 */
bool spek_workload_writes(const struct spek_workload *wl)
{
	u32 i;

	for (i = 0; i < wl->nr_streams; i++)
		if (wl->stream[i].read_ppm < 1000000)
			return true;
	return false;
}
