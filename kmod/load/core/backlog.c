// SPDX-License-Identifier: GPL-2.0
/* Counting the backlog from marks of a generator. */
#include "backlog.h"

/**
 * spek_backlog_init() - prepare a counter for the marks of a generator
 * @backlog: filled in
 * @wl: workload of @gen
 * @gen: generator; not used after the call
 */
void spek_backlog_init(struct spek_backlog *backlog, const struct spek_workload *wl,
		       const struct spek_gen *gen)
{
	u32 i;

	backlog->nr = wl->nr_arrivals;
	for (i = 0; i < backlog->nr; i++) {
		backlog->process[i].clock = *spek_gen_clock(gen, i);
		backlog->process[i].has_begun = false;
	}
}

static u64 count_process(struct spek_ahead *ahead, const struct spek_gen_mark *mark, u64 now_ns)
{
	u32 draws = SPEK_BACKLOG_DRAWS;

	/* The first mark, or the copy was overtaken: continue from where the generator was. */
	if (!ahead->has_begun || ahead->seen < mark->made) {
		ahead->times = mark->times;
		ahead->seen = mark->made;
		ahead->has_begun = true;
	}
	while (ahead->times.next_ns <= now_ns) {
		if (!draws--)
			return ahead->seen - mark->made +
			       spek_times_estimate(&ahead->times, &ahead->clock, now_ns);
		spek_times_advance(&ahead->times, &ahead->clock);
		ahead->seen++;
	}
	return ahead->seen - mark->made;
}

/**
 * spek_backlog_count() - count the arrivals that were due but not made
 * @backlog: counter, updated
 * @mark: mark of the generator, not older than that of the previous call
 * @now_ns: arrivals at or before this time are due; must not decrease from call to call
 *
 * Exact: the times are drawn ahead. Amortised cost: one draw for each arrival that was ever in
 * the backlog. A rate far beyond any device must not keep the caller here forever, though: the
 * remainder after SPEK_BACKLOG_DRAWS draws of a process is computed from its rate. This is exact,
 * too, except for Poisson, where its standard deviation is less than a thousandth of the backlog,
 * and if it spans more than 4096 on and off periods (spek_onoff_between()).
 *
 * Return: arrivals that spek_gen_next() had not made at @mark, over all open loops.
 */
u64 spek_backlog_count(struct spek_backlog *backlog, const struct spek_gen_mark *mark, u64 now_ns)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < backlog->nr; i++) {
		struct spek_ahead *ahead = &backlog->process[i];

		if (ahead->clock.pace < SPEK_PACE_CLOSED && mark[i].times.next_ns != SPEK_NEVER)
			sum += count_process(ahead, &mark[i], now_ns);
	}
	return sum;
}
