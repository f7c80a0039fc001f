/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Angles: a turn is 2^64, so that an angle is a u64, its overflow is the modulo that rotation
 * needs, and the platter's angle at a time is one product without a division.
 *
 * A whole turn has no representation as a u64 (256 sectors of 1/256 turn are 0): lengths along
 * a track are counted in sectors or in nanoseconds, never in turns.
 *
 * Error: the rate is rounded to 2^-64 turn per ns. At 7200 rpm the platter's angle is then that of
 * a drive that is faster or slower by less than 10^-12 of its speed: 40 ns after a day.
 */
#ifndef SPEK_DRIVE_TURN_H
#define SPEK_DRIVE_TURN_H

#include "../../core/muldiv.h"
#include "../../core/spek_host.h"

/* A sector that began to pass the head less than this long ago is still read in this turn. */
#define SPEK_DRIVE_CATCH_NS	4

/**
 * struct spek_drive_rotation - a spindle at constant speed
 * @period_ps: time of one turn in ps, 1 ms to 1 s
 * @turn_per_ns: angle per ns; set by spek_drive_rotation_init()
 * @phase: angle at time 0
 */
struct spek_drive_rotation {
	u64 period_ps;
	u64 turn_per_ns;
	u64 phase;
};

/**
 * spek_drive_rotation_init() - set the speed of a platter and its angle at time 0
 * @rotation: platter
 * @period_ps: time of a turn, > 0
 * @phase: angle at time 0
 */
static inline void spek_drive_rotation_init(struct spek_drive_rotation *rotation, u64 period_ps,
					    u64 phase)
{
	rotation->period_ps = period_ps;
	rotation->turn_per_ns = spek_muldiv64(~0ULL, 1000, period_ps, NULL);
	rotation->phase = phase;
}

/**
 * spek_drive_angle() - compute the angle of a platter
 * @rotation: platter
 * @at_ns: time
 *
 * Return: angle at @at_ns.
 */
static inline u64 spek_drive_angle(const struct spek_drive_rotation *rotation, u64 at_ns)
{
	return rotation->phase + at_ns * rotation->turn_per_ns;
}

/**
 * spek_drive_turn_ns() - compute how long a platter turns
 * @rotation: platter
 * @angle: angle to turn by
 *
 * Return: time, rounded down to ns.
 */
static inline u64 spek_drive_turn_ns(const struct spek_drive_rotation *rotation, u64 angle)
{
	return spek_mulhi64(angle, rotation->period_ps) / 1000;
}

/**
 * spek_drive_wait_ns() - time until an angle passes the head
 * @rotation: spindle
 * @from: angle that is under the head
 * @to: angle that is waited for
 *
 * Return: time in ns, rounded up, less than a turn; 0 if @to passed the head less than
 * SPEK_DRIVE_CATCH_NS ago.
 */
static inline u64 spek_drive_wait_ns(const struct spek_drive_rotation *rotation, u64 from, u64 to)
{
	if (from - to < SPEK_DRIVE_CATCH_NS * rotation->turn_per_ns)
		return 0;
	return (spek_mulhi64(to - from, rotation->period_ps) + 1000) / 1000;
}

#endif
