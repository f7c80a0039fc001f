/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rate curves: arrivals whose rate changes with time, by inversion of the cumulative rate.
 *
 * A curve is a list of points, a time and a rate each; between two points the rate changes
 * linearly, and two points at one time are a jump. After the last point the curve either repeats
 * from its first one, or keeps the last rate.
 *
 * The cumulative rate L(t) is the number of I/Os that are due from the start to time t, an area
 * under the curve. Arrival number k is due at the first whole ns t at which L(t) >= S(k):
 *
 *   constant  S(k) = k, from 1, so exactly floor(L(t)) I/Os have arrived by any time t
 *   poisson   S(k) is the sum of k exponential numbers of mean 1: a Poisson process of this rate
 *
 * Areas are whole numbers of SPEK_CURVE_IO-ths of an I/O, of 128 bits, so nothing is rounded but
 * the time. What the time lies beyond the exact one is carried over to the next arrival.
 *
 * Inverting the cumulative rate takes two or three evaluations of the area, 560 instructions.
 * Few arrivals need that: from an exact one on, the time of the next ones is a power series of the
 * area, of four terms. It is off by less than SPEK_SERIES_ERROR wherever it is used. An error that
 * small only matters close to a whole ns; there, and where the series ends, the exact inverse
 * decides. While the rate does not change, time is the area times an exact reciprocal. So all times
 * are those of the exact inverse.
 */
#ifndef SPEK_CORE_CURVE_H
#define SPEK_CORE_CURVE_H

#include "../../core/spek_host.h"
#include "workload.h"

#define SPEK_CURVE_IO	2000000000000ull	/* area of an I/O: 2 * 1000 s in ns */

/**
 * struct spek_area - a number of 128 bits
 * @high: upper half
 * @low: lower half
 */
struct spek_area {
	u64 high;
	u64 low;
};

/**
 * struct spek_curve - a rate curve
 * @point: its points
 * @nr: number of points
 * @repeats: it repeats after the last point
 * @start_ns: time of the first point
 */
struct spek_curve {
	const struct spek_point *point;
	u32 nr;
	u32 repeats;
	u64 start_ns;
};

/**
 * struct spek_curve_place - an arrival on a curve
 * @at_ns: its time; SPEK_NEVER once there is none
 * @beyond: area from the exact time of the arrival to @at_ns
 * @segment: number of the point before it
 * @pass: how often the curve has repeated
 */
struct spek_curve_place {
	u64 at_ns;
	u64 beyond;
	u32 segment;
	u32 pass;
};

#define SPEK_SERIES_TERMS	4
#define SPEK_SERIES_BITS	16	/* of a ns, after the binary point */
#define SPEK_SERIES_ERROR	32u	/* twice the bound of a series, in units of 2^-16 ns */

/**
 * struct spek_curve_series - arrivals within a part of a segment
 * @from: an exact arrival, or the start of the curve
 * @lead: area from @base_ns to the exact time of @from
 * @area: area from @base_ns to the exact time of the last arrival
 * @limit: the series holds for areas below it; 0: for none
 * @base_ns: last ns before @from
 * @term: coefficients of the powers of @area / 2^(64 - @up), in units of 2^-16 ns; without their
 *	signs
 * @slope: at a constant rate: area per ns
 * @per_slope: at a constant rate: (2^64 - 1) / @slope
 * @up: 1 to 63; 0: at a constant rate
 * @rises: the rate rises, so that the signs alternate
 * @pause: arrivals left before another series is tried
 */
struct spek_curve_series {
	struct spek_curve_place from;
	u64 lead;
	u64 area;
	u64 limit;
	u64 base_ns;
	union {
		u64 term[SPEK_SERIES_TERMS];
		struct {
			u64 slope;
			u64 per_slope;
		};
	};
	u32 up;
	bool rises;
	u8 pause;
};

/**
 * spek_area_shifted() - divide an area by a power of two
 * @area: area
 * @bits: 1 to 127
 *
 * Return: @area / 2^@bits, rounded down.
 */
static inline struct spek_area spek_area_shifted(struct spek_area area, u32 bits)
{
	struct spek_area shifted = { .low = area.high >> (bits & 63) };

	if (bits >= 64)
		return shifted;
	shifted.high = shifted.low;
	shifted.low = area.low >> bits | area.high << (64 - bits);
	return shifted;
}

int spek_curve_check(const struct spek_point *point, u32 nr, bool repeats,
		     struct spek_refusal *refusal);
u64 spek_area_quotient(struct spek_area area, u64 divisor);
struct spek_area spek_curve_between(const struct spek_curve *curve,
				    const struct spek_curve_series *series, u64 until_ns);
void spek_curve_restart(const struct spek_curve *curve, struct spek_curve_series *series,
			struct spek_area gap, u64 *at_ns);

/**
 * spek_curve_follow() - go to the next arrival
 * @curve: a checked curve
 * @series: the last arrival, moved; zeroed but for the time of @from at the start of the curve
 * @gap: area from its exact time to that of the next arrival
 * @at_ns: set to the time of the arrival; SPEK_NEVER if there is none
 *
 * Calls are tail calls: no register has to be saved.
 */
static inline void spek_curve_follow(const struct spek_curve *curve,
				     struct spek_curve_series *series, struct spek_area gap,
				     u64 *at_ns)
{
	const u64 *term = series->term;
	u64 area, x, time;

	if (spek_unlikely(gap.high || gap.low >= series->limit - series->area)) {
		spek_curve_restart(curve, series, gap, at_ns);
		return;
	}
	area = series->area + gap.low;
	if (!series->up) {
		/* Rounded up, as one more than what is below; the reciprocal can make it 1 less. */
		time = spek_mulhi64(area - 1, series->per_slope);
		time += area - 1 - time * series->slope >= series->slope;
		series->area = area;
		*at_ns = series->base_ns + time + 1;
		return;
	}
	x = area << series->up;
	if (series->rises) {
		time = term[2] - spek_mulhi64(term[3], x);
		time = term[1] - spek_mulhi64(time, x);
		time = term[0] - spek_mulhi64(time, x);
	} else {
		time = term[2] + spek_mulhi64(term[3], x);
		time = term[1] + spek_mulhi64(time, x);
		time = term[0] + spek_mulhi64(time, x);
	}
	time = spek_mulhi64(time, x) + SPEK_SERIES_ERROR;
	if (spek_unlikely((u16)time <= 2 * SPEK_SERIES_ERROR)) {
		spek_curve_restart(curve, series, gap, at_ns);
		return;
	}
	series->area = area;
	*at_ns = series->base_ns + (time >> SPEK_SERIES_BITS) + 1;
}

#endif
