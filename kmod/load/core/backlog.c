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

static bool is_open_loop(const struct spek_ahead *ahead, const struct spek_gen_mark *mark)
{
	return ahead->clock.pace < SPEK_PACE_CLOSED && mark->times.next_ns != SPEK_NEVER;
}

/* The first mark, or the copy was overtaken: continue from where the generator was. */
static void catch_up(struct spek_ahead *ahead, const struct spek_gen_mark *mark)
{
	if (ahead->has_begun && ahead->seen >= mark->made)
		return;
	ahead->times = mark->times;
	ahead->seen = mark->made;
	ahead->has_begun = true;
}

/**
 * spek_backlog_step() - a step of counting the arrivals that were due but not made
 * @backlog: counter, updated
 * @count: progress of this count; all zeroes before the first step
 * @mark: mark of the generator, not older than that of the previous count
 * @now_ns: arrivals at or before this time are due; must not decrease from count to count
 * @draws: limit of the draws of this step
 *
 * Exact: the times are drawn ahead. Amortised cost: one draw for each arrival that was ever in
 * the backlog. A rate far beyond any device must not keep the caller here forever, though: the
 * remainder after SPEK_BACKLOG_DRAWS draws of a process is computed from its rate. This is exact,
 * too, except for Poisson, where its standard deviation is less than a thousandth of the backlog,
 * and if it spans more than 4096 on and off periods (spek_onoff_between()).
 *
 * Return: true if another step is needed; false once @count->sum is the number of arrivals that
 * spek_gen_next() had not made at @mark, over all open loops.
 */
bool spek_backlog_step(struct spek_backlog *backlog, struct spek_backlog_count *count,
		       const struct spek_gen_mark *mark, u64 now_ns, u32 draws)
{
	u64 due;

	for (; count->process < backlog->nr; count->process++, count->draws = 0) {
		struct spek_ahead *ahead = &backlog->process[count->process];
		const struct spek_gen_mark *at = &mark[count->process];

		if (!is_open_loop(ahead, at))
			continue;
		catch_up(ahead, at);
		due = 0;
		for (; ahead->times.next_ns <= now_ns; count->draws++, ahead->seen++) {
			if (count->draws == SPEK_BACKLOG_DRAWS) {
				due = spek_times_estimate(&ahead->times, &ahead->clock, now_ns);
				break;
			}
			if (!draws--)
				return true;
			spek_times_advance(&ahead->times, &ahead->clock);
		}
		due += ahead->seen - at->made;
		count->sum += due < at->left ? due : at->left;
	}
	return false;
}
