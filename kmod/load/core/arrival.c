// SPDX-License-Identifier: GPL-2.0
/* Time sequences of open loops. */
#include "../../core/muldiv.h"
#include "arrival.h"
#include "gen.h"
#include "share.h"

#define NS_MILLI	1000000000000ull	/* ns in 1000 s */
#define EXPO_BITS	38		/* exponential numbers have no more */

/* A positive number, mantissa * 2^-shift with the mantissa in [2^62, 2^63). */
struct scaled {
	u64 mantissa;
	s32 shift;
};

/* @num / @den, both in [1, 2^63), to 63 digits. */
static struct scaled scaled_ratio(u64 num, u64 den)
{
	s32 num_up = __builtin_clzll(num) - 1;
	s32 den_up = __builtin_clzll(den) - 1;
	struct scaled ratio = { .mantissa = 0, .shift = 62 + num_up - den_up };
	u32 i;

	num <<= num_up;
	den <<= den_up;
	if (num < den) {
		num <<= 1;
		ratio.shift++;
	}
	for (i = 0; i < 63; i++) {
		ratio.mantissa <<= 1;
		if (num >= den) {
			num -= den;
			ratio.mantissa |= 1;
		}
		num <<= 1;
	}
	return ratio;
}

static struct scaled scaled_product(struct scaled a, struct scaled b)
{
	struct scaled product = {
		.mantissa = spek_mulhi64(a.mantissa << 1, b.mantissa << 1),
		.shift = a.shift + b.shift - 62,
	};

	if (product.mantissa >> 63) {
		product.mantissa >>= 1;
		product.shift--;
	}
	return product;
}

/*
 * The rate of a worker is the sum over the streams of what it has of each, so
 * that each replica gets its own rate whoever runs it.
 */
static bool poisson_mean(struct spek_clock *clock, const struct spek_workload *wl, u32 arrival,
			 u32 worker, u32 nr_workers)
{
	u64 all, mine = spek_share_weights(NULL, wl, arrival, worker, nr_workers, &all);
	struct scaled mean;

	if (!mine)
		return false;
	mean = scaled_product(scaled_ratio(NS_MILLI, wl->arrival[arrival].rate_milli),
			      scaled_ratio(all, mine));
	if (mean.shift >= 32) {
		clock->pace = SPEK_PACE_POISSON;
		clock->mean = mean.mantissa >> (mean.shift - 32);
		/* Round to nearest: the mean rate is meant to be exact. */
		if (mean.shift > 32)
			clock->mean += mean.mantissa >> (mean.shift - 33) & 1;
		return true;
	}
	/* A mean gap of 2^57 ns is four years, and a gap can be 44 means: call that never. */
	if (mean.shift < 6)
		return false;
	clock->pace = SPEK_PACE_SLOW_POISSON;
	clock->slow_bits = 32 - (u32)mean.shift;
	clock->mean = mean.mantissa;
	return true;
}

/* As poisson_mean(), of areas. */
static bool curve_mean(struct spek_clock *clock, const struct spek_workload *wl, u32 arrival,
		       u32 worker, u32 nr_workers)
{
	u64 all, mine = spek_share_weights(NULL, wl, arrival, worker, nr_workers, &all);
	struct scaled mean;

	if (!mine)
		return false;
	mean = scaled_product(scaled_ratio(SPEK_CURVE_IO, 1), scaled_ratio(all, mine));
	/* An exponential number has 32 binary places; shares are above 2^-51. */
	clock->slow_bits = (u32)(32 + mean.shift);
	clock->mean = mean.mantissa;
	return true;
}

static void start_on_curve(struct spek_clock *clock, struct spek_times *times,
			   const struct spek_workload *wl, const struct spek_arrival *process,
			   u64 start_ns)
{
	clock->curve.point = &wl->point[process->first_point];
	clock->curve.nr = process->nr_points;
	clock->curve.repeats = process->repeats;
	clock->curve.start_ns = start_ns;
	times->series.from.at_ns = start_ns;
}

static void constant_step(struct spek_clock *clock, struct spek_times *times, u64 rate_milli,
			  u32 worker, u32 workers, u64 start_ns)
{
	u64 step = NS_MILLI * workers;
	u64 offset = NS_MILLI * worker;
	u64 offset_ns = spek_div64(offset, rate_milli);

	clock->pace = SPEK_PACE_CONSTANT;
	clock->step_ns = spek_div64(step, rate_milli);
	clock->step_rest = step - clock->step_ns * rate_milli;
	clock->rest_of = rate_milli;
	times->next_ns = start_ns + offset_ns;
	times->frac = offset - offset_ns * rate_milli;
}

/**
 * spek_bucket_init() - fill the bucket of one worker's part of a limited closed loop
 * @bucket: filled in
 * @wl: checked workload
 * @arrival: index of the arrival process
 * @worker: number of this worker, which has a part of the process
 * @nr_workers: workers of the run
 * @start_ns: time 0 of the process
 *
 * Limit and burst are shared evenly; each worker has at least one token. The tokens of workers
 * come back in turn.
 */
void spek_bucket_init(struct spek_bucket *bucket, const struct spek_workload *wl, u32 arrival,
		      u32 worker, u32 nr_workers, u64 start_ns)
{
	const struct spek_arrival *process = &wl->arrival[arrival];
	u32 workers = spek_share_participants(wl, arrival, nr_workers), first;
	u32 tokens = spek_share_even(process->burst_length, worker, workers, &first);
	u64 step = NS_MILLI * workers, offset = NS_MILLI * worker, offset_ns;

	bucket->rest_of = process->rate_milli;
	bucket->step_ns = spek_div64(step, bucket->rest_of);
	bucket->step_rest = step - bucket->step_ns * bucket->rest_of;
	bucket->room_ns = tokens > 1 ? spek_muldiv64(step, tokens - 1, bucket->rest_of, NULL) : 0;
	offset_ns = spek_div64(offset, bucket->rest_of);
	bucket->full_ns = start_ns + offset_ns;
	bucket->full_rest = offset - offset_ns * bucket->rest_of;
}

static bool replays(const struct spek_workload *wl, u32 arrival)
{
	u32 trace = spek_workload_trace(wl);

	return trace < wl->nr_streams && wl->stream[trace].arrival == arrival;
}

/**
 * spek_clock_init() - prepare one worker's times of an arrival process
 * @clock: filled in
 * @times: set to the first arrival; SPEK_NEVER for a closed loop or a worker without a share
 * @wl: checked workload
 * @arrival: index of the arrival process
 * @seed: seed of the run
 * @worker: number of this worker
 * @nr_workers: workers of the run
 * @start_ns: time 0 of the process
 */
void spek_clock_init(struct spek_clock *clock, struct spek_times *times,
		     const struct spek_workload *wl, u32 arrival, u64 seed, u32 worker,
		     u32 nr_workers, u64 start_ns)
{
	const struct spek_arrival *process = &wl->arrival[arrival];
	u32 workers = spek_share_participants(wl, arrival, nr_workers);
	u32 first;

	spek_memset(clock, 0, sizeof(*clock));
	spek_memset(times, 0, sizeof(*times));
	times->next_ns = SPEK_NEVER;
	if (process->law == SPEK_LAW_CLOSED)
		clock->pace = replays(wl, arrival) ? SPEK_PACE_TRACE_CLOSED :
			      process->pause_ns ? SPEK_PACE_PAUSING :
			      process->rate_milli ? SPEK_PACE_LIMITED : SPEK_PACE_CLOSED;
	if (process->law == SPEK_LAW_TRACE)
		clock->pace = SPEK_PACE_TRACE;
	if (worker >= workers)
		return;

	switch (process->law) {
	case SPEK_LAW_POISSON:
		if (process->nr_points) {
			if (!curve_mean(clock, wl, arrival, worker, nr_workers))
				return;
			clock->pace = SPEK_PACE_CURVE_POISSON;
			spek_rng_init(&times->rng, seed, worker, arrival, SPEK_RNG_TIMES);
			start_on_curve(clock, times, wl, process, start_ns);
			spek_times_advance(times, clock);
			break;
		}
		if (!poisson_mean(clock, wl, arrival, worker, nr_workers))
			return;
		spek_rng_init(&times->rng, seed, worker, arrival, SPEK_RNG_TIMES);
		times->next_ns = start_ns;
		spek_times_advance(times, clock);
		break;
	case SPEK_LAW_CONSTANT:
		if (process->nr_points) {
			struct spek_area first = { .low = SPEK_CURVE_IO * (worker + 1) };

			clock->pace = SPEK_PACE_CURVE_CONSTANT;
			clock->mean = SPEK_CURVE_IO * workers;
			start_on_curve(clock, times, wl, process, start_ns);
			spek_curve_restart(&clock->curve, &times->series, first, &times->next_ns);
			break;
		}
		constant_step(clock, times, process->rate_milli, worker, workers, start_ns);
		break;
	case SPEK_LAW_BURST:
		clock->pace = SPEK_PACE_BURST;
		clock->burst_length = spek_share_even(process->burst_length, worker, workers,
						      &first);
		clock->step_ns = process->burst_interval_ns;
		times->left = clock->burst_length;
		times->next_ns = start_ns;
		break;
	}
	if (process->on_ns) {
		clock->on_pace = clock->pace;
		clock->pace = SPEK_PACE_ON_OFF;
		spek_onoff_init(&clock->onoff, &times->on, process, seed, arrival, start_ns);
		times->next_ns = spek_onoff_delay(&clock->onoff, &times->on, times->next_ns);
	}
}

static spek_noinline void advance_slow_poisson(struct spek_times *times,
					       const struct spek_clock *clock)
{
	u64 low = 0;
	u64 high = spek_muladd128(&low, spek_expo_next(&times->rng), clock->mean);
	u32 up = clock->slow_bits;

	times->frac += low << up;
	times->next_ns += (high << up | low >> (64 - up)) + (times->frac < low << up);
}

static spek_cold spek_noinline void advance_rare_gap(struct spek_times *times,
						     const struct spek_clock *clock, u64 bits)
{
	spek_times_add_gap(times, clock, spek_expo_rare(&times->rng, bits));
}

static inline void advance_poisson(struct spek_times *times, const struct spek_clock *clock)
{
	u64 bits = spek_rng_next(&times->rng);

	if (spek_expo_is_rare(bits))
		advance_rare_gap(times, clock, bits);
	else
		spek_times_add_gap(times, clock, spek_expo_common(bits));
}

static void advance_constant(struct spek_times *times, const struct spek_clock *clock)
{
	times->next_ns += clock->step_ns;
	times->frac += clock->step_rest;
	if (times->frac >= clock->rest_of) {
		times->frac -= clock->rest_of;
		times->next_ns++;
	}
}

static void advance_on_curve(struct spek_times *times, const struct spek_clock *clock,
			     struct spek_area gap)
{
	spek_curve_follow(&clock->curve, &times->series, gap, &times->next_ns);
}

static spek_noinline void advance_constant_on_curve(struct spek_times *times,
						    const struct spek_clock *clock)
{
	const struct spek_area gap = { .low = clock->mean };

	advance_on_curve(times, clock, gap);
}

static spek_cold spek_noinline void advance_expo_on_curve(struct spek_times *times,
							  const struct spek_clock *clock, u64 expo)
{
	struct spek_area gap;

	gap.high = spek_mul128(expo, clock->mean, &gap.low);
	advance_on_curve(times, clock, spek_area_shifted(gap, clock->slow_bits));
}

static spek_cold spek_noinline void advance_rare_on_curve(struct spek_times *times,
							  const struct spek_clock *clock, u64 bits)
{
	advance_expo_on_curve(times, clock, spek_expo_rare(&times->rng, bits));
}

static spek_noinline void advance_poisson_on_curve(struct spek_times *times,
						   const struct spek_clock *clock)
{
	u64 bits = spek_rng_next(&times->rng), expo;
	struct spek_area gap = {};

	if (spek_expo_is_rare(bits)) {
		advance_rare_on_curve(times, clock, bits);
		return;
	}
	expo = spek_expo_common(bits);
	/* The whole process has 54. A worker with less than 2^-16 of it must not lose any bits. */
	if (spek_unlikely(clock->slow_bits < EXPO_BITS)) {
		advance_expo_on_curve(times, clock, expo);
		return;
	}
	gap.low = spek_mulhi64(expo << (64 - clock->slow_bits), clock->mean);
	advance_on_curve(times, clock, gap);
}

static u64 estimate_on_curve(const struct spek_times *times, const struct spek_clock *clock,
			     u64 now_ns)
{
	struct spek_area area = spek_curve_between(&clock->curve, &times->series, now_ns);

	if (clock->pace == SPEK_PACE_CURVE_CONSTANT)
		return spek_area_quotient(area, clock->mean);
	if (clock->slow_bits < 32)
		return spek_area_quotient(spek_area_shifted(area, 32 - clock->slow_bits),
					  clock->mean);
	return spek_area_quotient(area, clock->mean >> (clock->slow_bits - 32));
}

/* Arrivals from the next one on within @span_ns at an even pace. */
static u64 estimate_evenly(const struct spek_times *times, const struct spek_clock *clock, u32 pace,
			   u64 span_ns)
{
	u64 step, steps, rest;

	switch (pace) {
	case SPEK_PACE_POISSON:
		/* A mean of at least 1 ns, so the quotient fits. */
		return 1 + spek_muldiv64(span_ns, 1ull << 32, clock->mean, NULL);
	case SPEK_PACE_CONSTANT:
		/* Arrival k is due at next_ns + (frac + k * step) / rest_of, rounded down. */
		step = clock->step_ns * clock->rest_of + clock->step_rest;
		steps = spek_muldiv64(span_ns, clock->rest_of, step, &rest);
		return 1 + steps + spek_div64(rest + clock->rest_of - times->frac - 1, step);
	}
	/* Slow Poisson: seconds between arrivals, so never that many draws. */
	return 1;
}

/**
 * spek_times_estimate() - compute the arrivals of an open loop that are due from its rate
 * @times: first arrival to count; @times->next_ns <= @now_ns
 * @clock: constants of @times
 * @now_ns: arrivals at or before this time are due
 *
 * Return: arrivals from @times->next_ns, which is one of them, to @now_ns; for Poisson, and after
 * many on and off periods, the expected number.
 */
u64 spek_times_estimate(const struct spek_times *times, const struct spek_clock *clock,
			u64 now_ns)
{
	u64 span_ns = now_ns - times->next_ns;

	switch (clock->pace) {
	case SPEK_PACE_CURVE_POISSON:
	case SPEK_PACE_CURVE_CONSTANT:
		return 1 + estimate_on_curve(times, clock, now_ns);
	case SPEK_PACE_BURST:
		return times->left + spek_div64(span_ns, clock->step_ns) * clock->burst_length;
	case SPEK_PACE_ON_OFF:
		span_ns = spek_onoff_between(&clock->onoff, &times->on, times->next_ns, now_ns);
		return estimate_evenly(times, clock, clock->on_pace, span_ns);
	}
	return estimate_evenly(times, clock, clock->pace, span_ns);
}

static spek_noinline void delay_by_off(struct spek_times *times, const struct spek_clock *clock)
{
	times->next_ns = spek_onoff_delay(&clock->onoff, &times->on, times->next_ns);
}

/* Most arrivals are in the on period of the one before. */
static inline void delay_beyond_on(struct spek_times *times, const struct spek_clock *clock)
{
	if (spek_unlikely(times->next_ns >= times->on.end_ns))
		delay_by_off(times, clock);
}

static spek_cold spek_noinline void advance_rare_on_off(struct spek_times *times,
							const struct spek_clock *clock, u64 bits)
{
	advance_rare_gap(times, clock, bits);
	delay_beyond_on(times, clock);
}

static spek_cold spek_noinline void advance_slow_on_off(struct spek_times *times,
							const struct spek_clock *clock)
{
	advance_slow_poisson(times, clock);
	delay_beyond_on(times, clock);
}

static spek_noinline void advance_on_off(struct spek_times *times, const struct spek_clock *clock)
{
	u64 bits;

	switch (clock->on_pace) {
	case SPEK_PACE_POISSON:
		bits = spek_rng_next(&times->rng);
		if (spek_expo_is_rare(bits)) {
			advance_rare_on_off(times, clock, bits);
			return;
		}
		spek_times_add_gap(times, clock, spek_expo_common(bits));
		break;
	case SPEK_PACE_SLOW_POISSON:
		advance_slow_on_off(times, clock);
		return;
	case SPEK_PACE_CONSTANT:
		advance_constant(times, clock);
		break;
	}
	delay_beyond_on(times, clock);
}

/**
 * spek_times_advance() - advance an open loop to its next arrival
 * @times: next arrival, moved
 * @clock: constants of @times
 *
 * All calls are tail calls, so that no law pays for the registers of another one.
 */
void spek_times_advance(struct spek_times *times, const struct spek_clock *clock)
{
	switch (clock->pace) {
	case SPEK_PACE_POISSON:
		advance_poisson(times, clock);
		break;
	case SPEK_PACE_SLOW_POISSON:
		advance_slow_poisson(times, clock);
		break;
	case SPEK_PACE_CONSTANT:
		advance_constant(times, clock);
		break;
	case SPEK_PACE_CURVE_POISSON:
		advance_poisson_on_curve(times, clock);
		break;
	case SPEK_PACE_CURVE_CONSTANT:
		advance_constant_on_curve(times, clock);
		break;
	case SPEK_PACE_BURST:
		if (--times->left)
			break;
		times->left = clock->burst_length;
		times->next_ns += clock->step_ns;
		break;
	default:
		advance_on_off(times, clock);
		break;
	}
}
