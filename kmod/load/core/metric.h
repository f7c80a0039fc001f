/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Metrics: the distribution of one kind of time, as one worker counts it.
 *
 * Almost every time lies between two that were counted before. Such a time changes neither the
 * minimum nor the maximum, and where both ends are inside the logarithmic part of the histogram
 * its bucket needs no check either. spek_metric.low and .high are the ends of the range for which
 * both hold; only times outside it take the longer way.
 */
#ifndef SPEK_CORE_METRIC_H
#define SPEK_CORE_METRIC_H

#include "../../core/hist.h"
#include "../../core/spek_host.h"
#include "sum.h"

/**
 * struct spek_metric - distribution of one kind of time, ns
 * @sum: sum of the times
 * @low: least time that is counted the short way; not less than @min
 * @high: largest time that is counted the short way; not more than @max
 * @min: least time, all bits set if there is none
 * @max: largest time
 * @hist: number of times in each bucket
 */
struct spek_metric {
	struct spek_sum sum;
	u64 low;
	u64 high;
	u64 min;
	u64 max;
	u32 hist[SPEK_HIST_BUCKETS];
};

void spek_metric_empty(struct spek_metric *m);
spek_cold spek_noinline void spek_metric_add_outside(struct spek_metric *m, u64 ns);

/**
 * spek_metric_add() - count a time
 * @m: metric of the caller's own set
 * @ns: time
 */
static inline void spek_metric_add(struct spek_metric *m, u64 ns)
{
	spek_sum_add(&m->sum, ns);
	if (spek_unlikely(ns < m->low) || spek_unlikely(ns > m->high))
		spek_metric_add_outside(m, ns);
	else
		m->hist[spek_hist_index_within(ns)]++;
}

#endif
