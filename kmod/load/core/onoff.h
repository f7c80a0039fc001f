/* SPDX-License-Identifier: GPL-2.0 */
/*
 * On and off periods: an arrival process that pauses.
 *
 * The process keeps a time of its own, which stands still in off periods; in this time its arrivals
 * are those of its law. Off periods are inserted between them: they delay all later arrivals.
 *
 * Lengths of periods are independent. They are exponential, below 64 times their mean, or Pareto
 * (pareto.h) with the same shape for both kinds, at most 2^20 times the shortest one. Below a shape
 * of 2, the sum of many such processes is self-similar: bursts at all time scales (Willinger et
 * al., "Self-similarity through high-variability", IEEE/ACM Transactions on Networking 5, 1997).
 *
 * Periods are the same on all workers, whatever they have of the process. It begins with an on
 * period. A cycle, an off period and the on period after it, is drawn from a random sequence that
 * its number seeds, so the state is that number.
 */
#ifndef SPEK_CORE_ONOFF_H
#define SPEK_CORE_ONOFF_H

#include "../../core/spek_host.h"
#include "workload.h"

/**
 * struct spek_onoff - constants of on and off periods
 * @tail_milli: shape of Pareto lengths in thousandths; 0: exponential
 * @key: seed of cycle 0
 * @on_ns: mean of on periods
 * @off_ns: mean of off periods
 * @on_scale_ns: exponential: mean of on periods; Pareto: shortest one
 * @off_scale_ns: the same of off periods
 */
struct spek_onoff {
	u32 tail_milli;
	u64 key;
	u64 on_ns;
	u64 off_ns;
	u64 on_scale_ns;
	u64 off_scale_ns;
};

/**
 * struct spek_onoff_place - an on period
 * @end_ns: its end, not part of it
 * @cycle: number of its cycle; its off period before the first on period is left out
 */
struct spek_onoff_place {
	u64 end_ns;
	u64 cycle;
};

int spek_onoff_check(const struct spek_arrival *process, struct spek_refusal *refusal);
int spek_onoff_check_shares(const struct spek_workload *wl, u32 arrival, u32 nr_workers,
			    struct spek_refusal *refusal);
void spek_onoff_init(struct spek_onoff *onoff, struct spek_onoff_place *place,
		     const struct spek_arrival *process, u64 seed, u32 arrival, u64 start_ns);
u64 spek_onoff_delay(const struct spek_onoff *onoff, struct spek_onoff_place *place, u64 at_ns);
u64 spek_onoff_between(const struct spek_onoff *onoff, const struct spek_onoff_place *place,
		       u64 from_ns, u64 until_ns);

#endif
