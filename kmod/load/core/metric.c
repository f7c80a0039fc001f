// SPDX-License-Identifier: GPL-2.0
/* Emptying metrics, and counting times beyond those counted before. */
#include "metric.h"

/**
 * spek_metric_empty() - forget all times
 * @m: metric; buckets outside its minimum and maximum are empty
 *
 * Memory of zeroes is such a metric. Costs what the range between the two does.
 */
void spek_metric_empty(struct spek_metric *m)
{
	if (m->min <= m->max) {
		u32 first = spek_hist_index(m->min);
		u32 last = spek_hist_index(m->max);

		spek_memset(&m->hist[first], 0, (last - first + 1) * sizeof(*m->hist));
	}
	m->sum = (struct spek_sum){ 0 };
	m->low = ~0ull;
	m->high = 0;
	m->min = ~0ull;
	m->max = 0;
}

/**
 * spek_metric_add_outside() - put any time into its bucket, and widen the range of the short way
 * @m: metric; @ns is already in its sum
 * @ns: time
 */
void spek_metric_add_outside(struct spek_metric *m, u64 ns)
{
	/* A load that the device can't serve: nearly every time is the longest yet. */
	if (spek_likely(ns > m->max && m->max >= SPEK_HIST_WITHIN_MIN &&
			ns <= SPEK_HIST_WITHIN_MAX)) {
		m->max = ns;
		m->high = ns;
		m->hist[spek_hist_index_within(ns)]++;
		return;
	}
	if (ns < m->min) {
		m->min = ns;
		m->low = ns > SPEK_HIST_WITHIN_MIN ? ns : SPEK_HIST_WITHIN_MIN;
	}
	if (ns > m->max) {
		m->max = ns;
		m->high = ns < SPEK_HIST_WITHIN_MAX ? ns : SPEK_HIST_WITHIN_MAX;
	}
	m->hist[spek_hist_index(ns)]++;
}
