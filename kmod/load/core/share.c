// SPDX-License-Identifier: GPL-2.0
/* Sharing a run out among its workers. */
#include "../../core/muldiv.h"
#include "alias.h"
#include "pattern.h"
#include "share.h"

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

u32 spek_share_participants(const struct spek_workload *wl, u32 arrival, u32 nr_workers)
{
	const struct spek_arrival *process = &wl->arrival[arrival];
	u32 n = nr_workers, i;

	if (process->law == SPEK_LAW_POISSON)
		return n;
	if (process->law == SPEK_LAW_CLOSED && process->depth < n)
		n = process->depth;
	if (process->law == SPEK_LAW_BURST && process->burst_length < n)
		n = process->burst_length;
	for (i = 0; i < wl->nr_streams; i++) {
		const struct spek_stream *stream = &wl->stream[i];

		if (stream->arrival == arrival && is_exclusive(stream) && stream->replicas < n)
			n = stream->replicas;
	}
	return n;
}

void spek_share_stream(struct spek_share *share, const struct spek_workload *wl, u32 stream,
		       u32 worker, u32 nr_workers)
{
	const struct spek_stream *s = &wl->stream[stream];
	u32 workers = spek_share_participants(wl, s->arrival, nr_workers);
	bool copied = s->replicas < workers && !is_exclusive(s);

	share->first = 0;
	share->count = 0;
	share->first_part = 0;
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
	/* As large as an alias table takes: fractions of a weight then lose nothing that counts. */
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
