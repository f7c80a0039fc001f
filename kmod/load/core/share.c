// SPDX-License-Identifier: GPL-2.0
/* Distribution of a run over its workers. */
#include "../../core/muldiv.h"
#include "alias.h"
#include "pattern.h"
#include "share.h"

/**
 * spek_share_even() - share things evenly, the remainder going to the first receivers
 * @total: number of things
 * @worker: number of the receiver
 * @workers: number of receivers, > 0
 * @first: set to the number of the receiver's first thing
 *
 * Return: number of things for @worker.
 */
u32 spek_share_even(u32 total, u32 worker, u32 workers, u32 *first)
{
	u32 each = total / workers;
	u32 rest = total % workers;

	*first = each * worker + (worker < rest ? worker : rest);
	return each + (worker < rest);
}

static bool is_exclusive(const struct spek_stream *stream)
{
	const struct spek_pattern_ops *pattern = spek_pattern_of(stream);

	/* Streams that have not been checked yet are counted, too. */
	return pattern && pattern->is_exclusive;
}

/**
 * spek_share_participants() - count the workers that an arrival process uses
 * @wl: workload
 * @arrival: index of the arrival process
 * @nr_workers: workers of the run
 *
 * Return: number of workers, always the first ones; > 0 for a checked workload.
 */
u32 spek_share_participants(const struct spek_workload *wl, u32 arrival, u32 nr_workers)
{
	const struct spek_arrival *process = &wl->arrival[arrival];
	u32 n = nr_workers, i;

	if (process->law == SPEK_LAW_POISSON)
		return n;
	if (process->law == SPEK_LAW_CLOSED && process->depth < n)
		n = process->depth;
	/* Workers know nothing of each other: a loop pauses as a whole on a single one only. */
	if (process->pause_ns)
		n = 1;
	if (process->law == SPEK_LAW_BURST && process->burst_length < n)
		n = process->burst_length;
	for (i = 0; i < wl->nr_streams; i++) {
		const struct spek_stream *stream = &wl->stream[i];

		if (stream->arrival == arrival && is_exclusive(stream) && stream->replicas < n)
			n = stream->replicas;
	}
	return n;
}

/**
 * spek_share_stream() - compute a worker's share of a stream
 * @share: filled in
 * @wl: workload
 * @stream: index of the stream
 * @worker: number of the worker
 * @nr_workers: workers of the run
 */
void spek_share_stream(struct spek_share *share, const struct spek_workload *wl, u32 stream,
		       u32 worker, u32 nr_workers)
{
	const struct spek_stream *s = &wl->stream[stream];
	u32 workers = spek_share_participants(wl, s->arrival, nr_workers);
	bool copied = s->replicas < workers && !is_exclusive(s);

	share->first = 0;
	share->count = 0;
	share->first_part = 0;
	share->key = 0;
	share->part = wl->part + s->first_part;
	share->parts = copied ? (u64)s->replicas * workers : s->replicas;
	share->numerator = 0;
	share->denominator = copied ? workers : s->replicas;
	if (worker >= workers)
		return;
	if (copied) {
		share->count = s->replicas;
		share->first_part = (u64)s->replicas * worker;
		share->numerator = 1;
		return;
	}
	share->count = spek_share_even(s->replicas, worker, workers, &share->first);
	share->first_part = share->first;
	share->numerator = share->count;
}

/**
 * spek_share_weights() - compute a worker's weights of the streams of an arrival process
 * @weight: SPEK_MAX_STREAMS weights, filled in by stream; 0 for streams of other processes and
 *	those without a share for this worker; may be NULL
 * @wl: checked workload
 * @arrival: index of the arrival process
 * @worker: number of this worker
 * @nr_workers: workers of the run
 * @all: set to the sum that a single worker would have, in the same unit
 *
 * Return: sum of the weights, < 2^SPEK_ALIAS_BITS.
 */
u64 spek_share_weights(u64 *weight, const struct spek_workload *wl, u32 arrival, u32 worker,
		       u32 nr_workers, u64 *all)
{
	bool by_replicas = wl->arrival[arrival].law == SPEK_LAW_POISSON;
	u64 total = 0, mine = 0, w;
	struct spek_share share;
	u32 up, i;

	for (i = 0; i < wl->nr_streams; i++)
		if (wl->stream[i].arrival == arrival)
			total += wl->stream[i].weight;
	/* As large as an alias table allows, so that rounding of weights is negligible. */
	up = (u32)__builtin_clzll(total) - (64 - SPEK_ALIAS_BITS);
	*all = total << up;

	for (i = 0; i < wl->nr_streams; i++) {
		w = 0;
		if (wl->stream[i].arrival == arrival) {
			spek_share_stream(&share, wl, i, worker, nr_workers);
			w = (u64)wl->stream[i].weight << up;
			if (by_replicas)
				w = spek_muldiv64(w, share.numerator, share.denominator,
						  NULL);
			else if (!share.count)
				w = 0;
		}
		if (weight)
			weight[i] = w;
		mine += w;
	}
	return mine;
}

/* Relative load: I/Os per 1000 s, in units small enough for a worker's part of the lowest rate. */
#define LOAD_BITS	12

/* Mean rate of a curve over its points, I/Os per 1000 s; of one without length the last rate. */
static u64 mean_of_curve(const struct spek_point *point, u32 nr)
{
	u64 length_ns = point[nr - 1].at_ns, mean = 0;
	u32 i;

	if (!length_ns)
		return point[nr - 1].rate_milli;
	for (i = 0; i + 1 < nr; i++)
		mean += spek_muldiv64(point[i].rate_milli + point[i + 1].rate_milli,
				      point[i + 1].at_ns - point[i].at_ns, 2 * length_ns, NULL);
	return mean;
}

/* Mean rate of an open loop over all workers, I/Os per 1000 s. */
static u64 mean_rate(const struct spek_workload *wl, const struct spek_arrival *process)
{
	u64 rate = process->rate_milli;

	if (process->nr_points)
		rate = mean_of_curve(&wl->point[process->first_point], process->nr_points);
	if (process->law == SPEK_LAW_BURST)
		rate = process->burst_length >= process->burst_interval_ns ? SPEK_MAX_RATE_MILLI :
		       spek_muldiv64(SPEK_MAX_RATE_MILLI, process->burst_length,
				     process->burst_interval_ns, NULL);
	if (process->on_ns)
		rate = spek_muldiv64(rate, process->on_ns, process->on_ns + process->off_ns, NULL);
	return rate;
}

/**
 * spek_share_arrival_load() - estimate how much of an arrival process a worker makes
 * @wl: checked workload, without a trace
 * @arrival: index of the arrival process
 * @worker: number of the worker
 * @nr_workers: workers of the run
 *
 * Return: load, relative to those of other workers; 0 without a share.
 */
u64 spek_share_arrival_load(const struct spek_workload *wl, u32 arrival, u32 worker,
			    u32 nr_workers)
{
	const struct spek_arrival *process = &wl->arrival[arrival];
	u32 workers = spek_share_participants(wl, arrival, nr_workers), first;
	u64 mine = 1, all = workers;

	if (worker >= workers)
		return 0;
	switch (process->law) {
	case SPEK_LAW_CLOSED:
		return spek_share_even(process->depth, worker, workers, &first);
	case SPEK_LAW_POISSON:
		mine = spek_share_weights(NULL, wl, arrival, worker, nr_workers, &all);
		break;
	case SPEK_LAW_BURST:
		mine = spek_share_even(process->burst_length, worker, workers, &first);
		all = process->burst_length;
		break;
	}
	/* Not 0, which would mean that the worker has no work. */
	return spek_muldiv64(mean_rate(wl, process) << LOAD_BITS, mine, all, NULL) + !!mine;
}

/* I/Os in which a worker passes its part of the range of a stream; 0: unknown. */
static u64 blocks_of(const struct spek_workload *wl, u32 stream, u32 worker, u32 nr_workers)
{
	const struct spek_stream *s = &wl->stream[stream];
	const struct spek_pattern_ops *pattern = spek_pattern_of(s);
	struct spek_share share;

	if (!pattern->blocks || s->replicas > 1)
		return 0;
	spek_share_stream(&share, wl, stream, worker, nr_workers);
	return share.count ? pattern->blocks(s, share.first_part, share.parts) : 0;
}

/**
 * spek_share_passed() - find the stream whose range is passed exactly by a number of I/Os
 * @wl: checked workload, without a trace
 * @arrival: index of the arrival process that makes the I/Os
 * @nr_workers: workers of the run
 * @count: number of I/Os
 *
 * Return: index of the stream, if it is the only one of @arrival, in an order, and @count is a
 * whole number of passes; else the number of streams.
 */
u32 spek_share_passed(const struct spek_workload *wl, u32 arrival, u32 nr_workers, u64 count)
{
	u32 only = wl->nr_streams, i;
	u64 all = 0;

	for (i = 0; i < wl->nr_streams; i++) {
		if (wl->stream[i].arrival != arrival || !wl->stream[i].weight)
			continue;
		if (only < wl->nr_streams)
			return wl->nr_streams;
		only = i;
	}
	if (only == wl->nr_streams)
		return only;
	for (i = 0; i < nr_workers; i++)
		all += blocks_of(wl, only, i, nr_workers);
	return all && spek_is_multiple(count, all) ? only : wl->nr_streams;
}

/**
 * spek_share_count_load() - find a worker's part of a number of I/Os
 * @wl: checked workload, without a trace
 * @arrival: index of the arrival process that makes the I/Os
 * @passed: from spek_share_passed()
 * @worker: number of the worker
 * @nr_workers: workers of the run
 *
 * Return: load, relative to those of other workers; 0 without a share.
 */
u64 spek_share_count_load(const struct spek_workload *wl, u32 arrival, u32 passed, u32 worker,
			  u32 nr_workers)
{
	if (passed < wl->nr_streams)
		return blocks_of(wl, passed, worker, nr_workers);
	return spek_share_arrival_load(wl, arrival, worker, nr_workers);
}

/**
 * spek_share_count() - compute a worker's part of the count of an arrival process
 * @wl: checked workload, without a trace
 * @arrival: index of the arrival process
 * @worker: number of the worker
 * @nr_workers: workers of the run
 *
 * Return: operations.
 */
u64 spek_share_count(const struct spek_workload *wl, u32 arrival, u32 worker, u32 nr_workers)
{
	u64 left = wl->arrival[arrival].count, all = 0, part = 0, load;
	u32 passed = spek_share_passed(wl, arrival, nr_workers, left), i;

	for (i = 0; i < nr_workers; i++)
		all += spek_share_count_load(wl, arrival, passed, i, nr_workers);
	for (i = 0; i <= worker; i++) {
		load = spek_share_count_load(wl, arrival, passed, i, nr_workers);
		part = load ? spek_share_part(&left, load, all) : 0;
		all -= load;
	}
	return part;
}

/**
 * spek_share_load() - estimate how much of a run's I/O a worker makes, relative to other workers
 * @wl: checked workload
 * @worker: number of the worker
 * @nr_workers: workers of the run
 *
 * Of open loops that is the rate, of closed loops the depth. Where a run has both, or the feeder of
 * a trace decides, all workers that may have I/O count the same.
 *
 * Return: load; 0 for a worker that never has any I/O.
 */
u64 spek_share_load(const struct spek_workload *wl, u32 worker, u32 nr_workers)
{
	bool has_closed = false, has_open = false;
	u64 load = 0;
	u32 i;

	if (spek_workload_replays(wl))
		return 1;
	for (i = 0; i < wl->nr_arrivals; i++) {
		bool is_closed = wl->arrival[i].law == SPEK_LAW_CLOSED;

		has_closed |= is_closed;
		has_open |= !is_closed;
		load += spek_share_arrival_load(wl, i, worker, nr_workers);
	}
	return has_closed && has_open ? load > 0 : load;
}

/**
 * spek_share_part() - take a worker's part of a number that is shared out by load
 * @left: what earlier workers have left of the number; reduced by the part
 * @load: of the worker
 * @all: loads of this worker and of those after it, together
 *
 * Each worker in turn takes its part, rounded up: the last one leaves nothing.
 *
 * Return: the part.
 */
u64 spek_share_part(u64 *left, u64 load, u64 all)
{
	u64 rest = 0, part = *left;

	if (load < all)
		part = spek_muldiv64(*left, load, all, &rest) + !!rest;
	*left -= part;
	return part;
}
