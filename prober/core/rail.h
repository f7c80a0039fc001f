/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One measured power line: samples in, energy out.
 *
 * Between two samples power changes linearly, so energy is a sum of trapezoids.
 * A segment between two samples is either known or a gap, which only adds to the
 * length of gaps. Energy is kept exactly, in halves of a femtojoule
 * (microwatt times nanosecond, and the half of the trapezoid), as whole
 * microjoules and a remainder: no sum can overflow within 2^63 uJ, 292 years of 1 kW.
 *
 * Let E(t) be the energy from the first sample up to t. At a sample it is exact;
 * within a segment from a to b, a span of T, it is, with x = t - a,
 *
 *	E(a) + Pa x + (Pb - Pa) x^2 / 2T
 *
 * of which only the last quotient is rounded, by less than half a femtojoule. The
 * energy of an interval is the difference of two of these, so adjacent intervals
 * add up to their union without any error, wherever the boundaries are.
 *
 * The last samples are kept in a ring with running sums: a query about an interval
 * costs two binary searches and, for the extremes of the power, one step per 64
 * samples.
 *
 * Pure C: no kernel headers, floats, allocation, clock, locks. The caller locks.
 */
#ifndef SPEK_PROBER_CORE_RAIL_H
#define SPEK_PROBER_CORE_RAIL_H

#include "../../kmod/core/spek_host.h"

/* Samples that share one pair of extremes; the capacity of a rail is a multiple of it. */
#define SPEK_RAIL_BLOCK 64

/* Limits of the arguments; products stay below 2^127 and quotients below 2^63. */
#define SPEK_RAIL_MAX_UW 1000000000000LL
#define SPEK_RAIL_MAX_STEP_NS 3600000000000ULL

/* Halves of a femtojoule in a microjoule. */
#define SPEK_ENERGY_UNIT 2000000000U

/**
 * struct spek_energy - an amount of energy: @uj microjoules and @remainder halves of a femtojoule
 * @uj: whole microjoules, rounded down; may be negative
 * @remainder: remainder in halves of a femtojoule, below SPEK_ENERGY_UNIT
 */
struct spek_energy {
	s64 uj;
	u32 remainder;
};

/**
 * struct spek_rail_sample - a stored sample
 * @at_ns: CLOCK_MONOTONIC of the sample
 * @power_uw: power, microwatt
 * @energy_uj: energy from the first sample up to this one, microjoule
 * @energy_remainder: remainder of @energy_uj, halves of a femtojoule
 * @is_gap: the segment that ends here is a gap
 * @gap_ns: length of gaps from the first sample up to this one
 */
struct spek_rail_sample {
	u64 at_ns;
	s64 power_uw;
	s64 energy_uj;
	u32 energy_remainder;
	u32 is_gap;
	u64 gap_ns;
};

/**
 * struct spek_rail_extremes - least and greatest power of a block
 * @min_uw: least power, microwatt
 * @max_uw: greatest power, microwatt
 */
struct spek_rail_extremes {
	s64 min_uw;
	s64 max_uw;
};

/**
 * struct spek_rail - a rail
 * @samples: ring of @capacity samples; caller's memory
 * @extremes: extremes of each SPEK_RAIL_BLOCK samples; caller's memory
 * @capacity: number of samples kept, a multiple of SPEK_RAIL_BLOCK
 * @slot: index in @samples of the next sample
 * @max_step_ns: longest segment that is not a gap
 * @stored: samples stored so far, of which the last @capacity are kept
 * @late: samples refused because they came too late
 * @gaps: gaps between samples so far
 * @first_ns: CLOCK_MONOTONIC of the first sample
 * @horizon_ns: CLOCK_MONOTONIC before which samples are refused
 */
struct spek_rail {
	struct spek_rail_sample *samples;
	struct spek_rail_extremes *extremes;
	u32 capacity;
	u32 slot;
	u64 max_step_ns;
	u64 stored;
	u64 late;
	u64 gaps;
	u64 first_ns;
	u64 horizon_ns;
};

/**
 * struct spek_rail_total - integral from the first sample up to a time
 * @energy: energy of the known part
 * @known_ns: length of the known part
 * @gap_ns: length of gaps
 */
struct spek_rail_total {
	struct spek_energy energy;
	u64 known_ns;
	u64 gap_ns;
};

/**
 * struct spek_rail_use - integral over an interval
 * @energy: energy of the known part
 * @known_ns: length of the known part
 * @gap_ns: length of gaps
 * @lost_ns: length of the part whose samples were overwritten
 * @pending_ns: length of the part whose samples may still come
 * @samples: number of samples from the start, inclusive, to the end, exclusive
 * @min_uw: least power of the known part, 0 if there is none
 * @max_uw: greatest power of the known part, 0 if there is none
 */
struct spek_rail_use {
	struct spek_energy energy;
	u64 known_ns;
	u64 gap_ns;
	u64 lost_ns;
	u64 pending_ns;
	u64 samples;
	s64 min_uw;
	s64 max_uw;
};

void spek_rail_init(struct spek_rail *rail, struct spek_rail_sample *samples,
		    struct spek_rail_extremes *extremes, u32 capacity, u64 max_step_ns);
bool spek_rail_push(struct spek_rail *rail, u64 at_ns, s64 power_uw, bool gap);
void spek_rail_mark(struct spek_rail *rail, u64 until_ns);

const struct spek_rail_sample *spek_rail_last(const struct spek_rail *rail);
const struct spek_rail_sample *spek_rail_oldest(const struct spek_rail *rail);
u64 spek_rail_overwritten(const struct spek_rail *rail);

bool spek_rail_outlasts(const struct spek_rail *rail, u64 at_ns);
int spek_rail_total(const struct spek_rail *rail, u64 at_ns, bool ended,
		    struct spek_rail_total *total);
void spek_rail_use(const struct spek_rail *rail, u64 from_ns, u64 to_ns, bool ended,
		   struct spek_rail_use *use);

#endif
