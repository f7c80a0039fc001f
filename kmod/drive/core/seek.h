/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long an arm takes to move: a table of points, straight lines between them, the last line
 * continued. Distance 0 takes no time.
 *
 * Measured curves come as tables. They are never monotone: 5 to 34 of some 100 steps of real drives
 * fall, so a fall is refused only if it is deeper than the caller allows (40 % unless forced:
 * no healthy point of a real drive falls so deep). Formulas are turned into tables by the owner.
 *
 * An index by distance, in steps of at most 1/8 of it, finds the line without a search through
 * the table, and bounds all longer moves from below, so that a scheduler times few of them.
 */
#ifndef SPEK_DRIVE_SEEK_H
#define SPEK_DRIVE_SEEK_H

#include "../../core/refusal.h"
#include "../../core/spek_host.h"

#define SPEK_DRIVE_MAX_SEEK_POINTS	4096
#define SPEK_DRIVE_MAX_SEEK_NS		1000000000ULL
#define SPEK_DRIVE_MAX_FALL_PPM		400000
/* For distances up to SPEK_DRIVE_MAX_CYLINDERS; each group of 8 doubles the width. */
#define SPEK_DRIVE_SEEK_STEPS		168

/**
 * struct spek_drive_seek_point - point of a seek curve
 * @distance: cylinders, > 0
 * @ns: time in ns, 1 ns to 1 s
 * @slope: ns per cylinder from here on in units of 2^-20; set by spek_drive_seek_init()
 */
struct spek_drive_seek_point {
	u32 distance;
	u64 ns;
	s64 slope;
};

/**
 * struct spek_drive_seek - a seek curve
 * @nr_points: number of points, in rising order of distance
 * @points: memory of the caller
 * @line: for each step of distances the last point before or at its begin; set by
 *	spek_drive_seek_init()
 * @least_ns: for each step the shortest time of its distances and all longer ones; set by
 *	spek_drive_seek_init()
 */
struct spek_drive_seek {
	u32 nr_points;
	struct spek_drive_seek_point *points;
	u16 line[SPEK_DRIVE_SEEK_STEPS + 1];
	u32 least_ns[SPEK_DRIVE_SEEK_STEPS + 1];
};

/**
 * spek_drive_seek_step() - find a distance in the index of seek times
 * @distance: cylinders
 *
 * Return: the step of the index that holds @distance.
 */
static inline u32 spek_drive_seek_step(u32 distance)
{
	u32 shift = distance < 16 ? 0 : 28 - (u32)__builtin_clz(distance);

	return (shift << 3) + (distance >> shift);
}

int spek_drive_seek_init(struct spek_drive_seek *seek, u32 cylinders, u32 max_fall_ppm,
			 struct spek_refusal *refusal);
u32 spek_drive_seek_fall_ppm(const struct spek_drive_seek *seek);
u64 spek_drive_seek_ns(const struct spek_drive_seek *seek, u32 distance);

#endif
