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
 * An arrival takes two or three evaluations of the area, about 560 instructions more than one at a
 * constant rate.
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
void spek_curve_advance(const struct spek_curve *curve, struct spek_curve_place *place,
			struct spek_area gap);
u64 spek_area_quotient(struct spek_area area, u64 divisor);
struct spek_area spek_curve_between(const struct spek_curve *curve,
				    const struct spek_curve_place *place, u64 until_ns);

#endif
