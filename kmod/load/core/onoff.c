// SPDX-License-Identifier: GPL-2.0
/* On and off periods of an arrival process. */
#include "../../core/expo.h"
#include "../../core/muldiv.h"
#include "../../core/pareto.h"
#include "gen.h"
#include "onoff.h"
#include "share.h"

#define MIN_MEAN_NS	10000
#define MIN_TAIL_MILLI	1001
#define MAX_TAIL_MILLI	16000
#define NS_MILLI	1000000000000ull	/* ns in 1000 s */
#define MAX_CYCLES	4096	/* that are drawn to measure a span of time */

/**
 * spek_onoff_check() - check the on and off periods of an arrival process
 * @process: arrival process, its law and rate checked
 * @refusal: filled in if they are refused
 *
 * Return: 0, or a negative errno.
 */
int spek_onoff_check(const struct spek_arrival *process, struct spek_refusal *refusal)
{
	if (!process->on_ns && !process->off_ns) {
		if (process->tail_milli)
			return spek_refuse_part(refusal, -EINVAL,
						"A tail is given for an arrival process without on and off periods.");
		return 0;
	}
	if ((process->law != SPEK_LAW_POISSON && process->law != SPEK_LAW_CONSTANT) ||
	    process->nr_points)
		return spek_refuse_part(refusal, -EINVAL,
					"On and off periods need law poisson or constant, without a rate curve.");
	if (!process->on_ns || !process->off_ns)
		return spek_refuse_part(refusal, -EINVAL,
					"An arrival process has on periods or off periods only: it needs both.");
	if (process->on_ns < MIN_MEAN_NS || process->on_ns > SPEK_MAX_WAIT_NS ||
	    process->off_ns < MIN_MEAN_NS || process->off_ns > SPEK_MAX_WAIT_NS)
		return spek_refuse_part(refusal, -ERANGE,
					"On and off periods must last 10000 to 10^15 ns (11 days) on average.");
	if (process->tail_milli &&
	    (process->tail_milli < MIN_TAIL_MILLI || process->tail_milli > MAX_TAIL_MILLI))
		return spek_refuse_part(refusal, -ERANGE,
					"The tail of on and off periods must have a shape of 1.001 to 16.");
	if (process->on_ns < spek_div64(NS_MILLI + process->rate_milli - 1, process->rate_milli))
		return spek_refuse_part(refusal, -ERANGE,
					"An on period must have at least one I/O on average.");
	return 0;
}

/**
 * spek_onoff_check_shares() - check what workers have of on periods
 * @wl: workload, checked but for this
 * @arrival: index of the arrival process
 * @nr_workers: workers of the run
 * @refusal: filled in if a worker has too little
 *
 * Finding the next arrival takes as many cycles as there are until then: it has to be bounded.
 *
 * Return: 0, or -ERANGE.
 */
int spek_onoff_check_shares(const struct spek_workload *wl, u32 arrival, u32 nr_workers,
			    struct spek_refusal *refusal)
{
	const struct spek_arrival *process = &wl->arrival[arrival];
	u64 thousandths, all, mine;
	u32 worker;

	if (!process->on_ns)
		return 0;
	/* Of I/Os in an on period, over all workers. */
	thousandths = spek_muldiv64(process->on_ns, process->rate_milli, NS_MILLI / 1000, NULL);
	for (worker = 0; worker < spek_share_participants(wl, arrival, nr_workers); worker++) {
		mine = spek_share_weights(NULL, wl, arrival, worker, nr_workers, &all);
		if (mine && !spek_muldiv64(thousandths, mine, all, NULL))
			return spek_refuse_part(refusal, -ERANGE,
						"A worker has less than 0.001 I/Os of an on period on average: streams with few replicas leave it too small a share.");
	}
	return 0;
}

static u64 sum_or_never(u64 a, u64 b)
{
	return a + b < a ? SPEK_NEVER : a + b;
}

static u64 draw_length(const struct spek_onoff *onoff, struct spek_rng *rng, u64 scale_ns)
{
	u64 low, high;

	if (onoff->tail_milli)
		return spek_pareto_next(rng, scale_ns, onoff->tail_milli);
	high = spek_mul128(spek_expo_next(rng), scale_ns, &low);
	return high << 32 | low >> 32;
}

/* Move to the next on period. Return: its start. */
static u64 next_on(const struct spek_onoff *onoff, struct spek_onoff_place *place)
{
	struct spek_rng rng;
	u64 start_ns;

	spek_rng_seed(&rng, onoff->key + ++place->cycle);
	start_ns = sum_or_never(place->end_ns, draw_length(onoff, &rng, onoff->off_scale_ns));
	place->end_ns = sum_or_never(start_ns, draw_length(onoff, &rng, onoff->on_scale_ns));
	return start_ns;
}

/**
 * spek_onoff_init() - prepare the periods of an arrival process
 * @onoff: filled in
 * @place: set to the first on period
 * @process: checked arrival process that has periods
 * @seed: seed of the run
 * @arrival: index of the arrival process
 * @start_ns: start of the first on period
 */
void spek_onoff_init(struct spek_onoff *onoff, struct spek_onoff_place *place,
		     const struct spek_arrival *process, u64 seed, u32 arrival, u64 start_ns)
{
	u32 tail = process->tail_milli;
	struct spek_rng rng;

	onoff->tail_milli = tail;
	onoff->on_ns = process->on_ns;
	onoff->off_ns = process->off_ns;
	onoff->on_scale_ns = tail ? spek_pareto_least(process->on_ns, tail) : process->on_ns;
	onoff->off_scale_ns = tail ? spek_pareto_least(process->off_ns, tail) : process->off_ns;
	spek_rng_init(&rng, seed, 0, arrival, SPEK_RNG_PERIODS);
	onoff->key = spek_rng_next(&rng);
	spek_rng_seed(&rng, onoff->key);
	place->cycle = 0;
	place->end_ns = sum_or_never(start_ns, draw_length(onoff, &rng, onoff->on_scale_ns));
}

/**
 * spek_onoff_delay() - delay an arrival by the off periods before it
 * @onoff: constants
 * @place: on period of the arrival before, moved to that of this one
 * @at_ns: time of the arrival if there were no more off periods
 *
 * Return: time of the arrival; SPEK_NEVER if that is beyond 64 bits.
 */
u64 spek_onoff_delay(const struct spek_onoff *onoff, struct spek_onoff_place *place, u64 at_ns)
{
	while (at_ns >= place->end_ns && at_ns != SPEK_NEVER) {
		u64 off_start_ns = place->end_ns;

		at_ns = sum_or_never(at_ns, next_on(onoff, place) - off_start_ns);
	}
	return at_ns;
}

/**
 * spek_onoff_between() - measure the time for which a process is on
 * @onoff: constants
 * @place: on period that @from_ns is in
 * @from_ns: start
 * @until_ns: end, at or after the start
 *
 * Return: ns from @from_ns to the last ns at or before @until_ns that is in an on period; after
 * 4096 cycles, the expected number.
 */
u64 spek_onoff_between(const struct spek_onoff *onoff, const struct spek_onoff_place *place,
		       u64 from_ns, u64 until_ns)
{
	struct spek_onoff_place at = *place;
	u64 start_ns = from_ns, on_ns = 0;
	u32 i;

	for (i = 0; i < MAX_CYCLES; i++) {
		if (until_ns < at.end_ns)
			return on_ns + until_ns - start_ns;
		on_ns += at.end_ns - start_ns;
		start_ns = next_on(onoff, &at);
		/* The last ns of the on period before. */
		if (until_ns < start_ns)
			return on_ns - 1;
	}
	return on_ns + spek_muldiv64(until_ns - start_ns, onoff->on_ns,
				     onoff->on_ns + onoff->off_ns, NULL);
}
