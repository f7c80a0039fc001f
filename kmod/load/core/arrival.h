/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arrival times: one worker's time sequence of an arrival process.
 *
 *   closed    ready times come from outside (gen.c keeps them); with a limit, an I/O that is ready
 *             also waits for a token of a bucket, with pauses for the next burst
 *   poisson   exponential gaps; no rounding: fractions of a ns are carried over
 *   constant  I/O number k of all workers is due at k / rate, rounded down; a worker has
 *             every n-th of them and carries the exact remainder
 *             with a rate curve (curve.h), both follow its rate instead; with on and off periods
 *             (onoff.h), both pause
 *   burst     burst_length I/Os at once, every interval; each worker has its part of every burst
 *   trace     from the records of a trace (gen.c keeps them)
 */
#ifndef SPEK_CORE_ARRIVAL_H
#define SPEK_CORE_ARRIVAL_H

#include "../../core/expo.h"
#include "../../core/rng.h"
#include "../../core/spek_host.h"
#include "curve.h"
#include "onoff.h"
#include "workload.h"

/**
 * enum spek_pace - advance of a time sequence
 * @SPEK_PACE_POISSON: exponential gaps
 * @SPEK_PACE_SLOW_POISSON: the same with means that need a scale of their own
 * @SPEK_PACE_CONSTANT: equal gaps
 * @SPEK_PACE_BURST: bursts at equal intervals
 * @SPEK_PACE_CURVE_POISSON: exponential areas under a rate curve
 * @SPEK_PACE_CURVE_CONSTANT: equal areas under a rate curve
 * @SPEK_PACE_ON_OFF: one of the first three in on periods
 * @SPEK_PACE_CLOSED: from outside, by completions
 * @SPEK_PACE_LIMITED: the same, not before there is a token
 * @SPEK_PACE_PAUSING: the same in bursts with pauses between them, with or without a limit
 * @SPEK_PACE_TRACE: from outside, by records of a trace
 * @SPEK_PACE_TRACE_CLOSED: from outside: a record of a trace for each completion
 * @SPEK_PACE_COUNTED: any but these two, up to a count; of a process, never of its clock
 *
 * Times that come from outside can't be drawn ahead: these come last.
 */
enum spek_pace {
	SPEK_PACE_POISSON,
	SPEK_PACE_SLOW_POISSON,
	SPEK_PACE_CONSTANT,
	SPEK_PACE_BURST,
	SPEK_PACE_CURVE_POISSON,
	SPEK_PACE_CURVE_CONSTANT,
	SPEK_PACE_ON_OFF,
	SPEK_PACE_CLOSED,
	SPEK_PACE_LIMITED,
	SPEK_PACE_PAUSING,
	SPEK_PACE_TRACE,
	SPEK_PACE_TRACE_CLOSED,
	SPEK_PACE_COUNTED,
};

/**
 * struct spek_clock - constants of a time sequence
 * @pace: enum spek_pace
 * @slow_bits: slow poisson, poisson on a curve: scale of @mean
 * @mean: poisson: mean gap in units of 2^-32 ns; slow poisson, where that does not fit
 *	in 64 bits: in units of 2^(@slow_bits - 32) ns; on a curve, the mean area from arrival to
 *	arrival: poisson: in units of 2^(32 - @slow_bits), constant: as it is
 * @step_ns: constant: whole ns between I/Os of this worker; burst: interval
 * @step_rest: constant: remainder, in units of 1 / @rest_of ns
 * @rest_of: constant: I/Os per 1000 s
 * @burst_length: burst: I/Os of this worker in a burst
 * @curve: on a curve: its points
 * @on_pace: on and off: enum spek_pace of on periods
 * @onoff: on and off: constants of the periods
 */
struct spek_clock {
	u32 pace;
	u32 slow_bits;
	u64 mean;
	union {
		struct {
			u64 step_ns;
			u64 step_rest;
			u64 rest_of;
			u32 burst_length;
		};
		struct spek_curve curve;
	};
	u32 on_pace;
	struct spek_onoff onoff;
};

/**
 * struct spek_times - a point in a time sequence; a copy continues identically
 * @next_ns: next arrival, SPEK_NEVER if there is none
 * @frac: part of a ns beyond @next_ns; poisson: in units of 2^-64, constant: of 1 / rest_of
 * @rng: poisson: random sequence of the gaps
 * @left: burst: I/Os left in this burst
 * @on: on and off: on period of @next_ns
 * @series: on a curve: arrival at @next_ns
 */
struct spek_times {
	u64 next_ns;
	u64 frac;
	struct spek_rng rng;
	union {
		u32 left;
		struct spek_onoff_place on;
		struct spek_curve_series series;
	};
};

/**
 * struct spek_bucket - tokens of one worker's part of a limited closed loop
 * @full_ns: time at which the bucket is full; whole ns
 * @full_rest: and a part of a ns, in units of 1 / @rest_of
 * @step_ns: time that a token takes, whole ns
 * @step_rest: and a part of a ns
 * @rest_of: limit, I/Os per 1000 s
 * @room_ns: time that all tokens but one take
 *
 * A token is taken for each I/O, and comes back at the limit: the generic cell rate algorithm.
 */
struct spek_bucket {
	u64 full_ns;
	u64 full_rest;
	u64 step_ns;
	u64 step_rest;
	u64 rest_of;
	u64 room_ns;
};

void spek_bucket_init(struct spek_bucket *bucket, const struct spek_workload *wl, u32 arrival,
		      u32 worker, u32 nr_workers, u64 start_ns);

/**
 * spek_bucket_hold() - time of the next token
 * @bucket: bucket
 * @ready_ns: time at which it is wanted
 *
 * Return: @ready_ns, or later if there is none then.
 */
static inline u64 spek_bucket_hold(const struct spek_bucket *bucket, u64 ready_ns)
{
	/* A part of a ns counts as a whole one: never too early. */
	u64 full_ns = bucket->full_ns + !!bucket->full_rest;
	u64 token_ns = full_ns > bucket->room_ns ? full_ns - bucket->room_ns : 0;

	return ready_ns < token_ns ? token_ns : ready_ns;
}

/**
 * spek_bucket_take() - take a token
 * @bucket: bucket
 * @at_ns: time of the I/O that takes it, not before spek_bucket_hold()
 */
static inline void spek_bucket_take(struct spek_bucket *bucket, u64 at_ns)
{
	/* Not if it was only the part of a ns that the I/O waited longer. */
	if (bucket->full_ns + !!bucket->full_rest < at_ns) {
		bucket->full_ns = at_ns;
		bucket->full_rest = 0;
	}
	bucket->full_ns += bucket->step_ns;
	bucket->full_rest += bucket->step_rest;
	if (bucket->full_rest >= bucket->rest_of) {
		bucket->full_rest -= bucket->rest_of;
		bucket->full_ns++;
	}
}

void spek_clock_init(struct spek_clock *clock, struct spek_times *times,
		     const struct spek_workload *wl, u32 arrival, u64 seed, u32 worker,
		     u32 nr_workers, u64 start_ns);

/**
 * spek_times_add_gap() - advance a Poisson process
 * @times: next arrival, moved
 * @clock: constants of the process, SPEK_PACE_POISSON
 * @expo: gap in units of 2^-32 mean gaps
 */
static inline void spek_times_add_gap(struct spek_times *times, const struct spek_clock *clock,
				      u64 expo)
{
	/* Q32 times Q32: the upper half of the product is whole ns, the lower half the fraction. */
	times->next_ns += spek_muladd128(&times->frac, expo, clock->mean);
}

u64 spek_times_estimate(const struct spek_times *times, const struct spek_clock *clock,
			u64 now_ns);
void spek_times_advance(struct spek_times *times, const struct spek_clock *clock);

#endif
