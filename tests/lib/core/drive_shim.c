// SPDX-License-Identifier: GPL-2.0
/*
 * Of a modelled drive: long loops, which Python would take seconds for, inline functions, and seek
 * curves by formula.
 */
#include "muldiv.h"
#include "drive_shim.h"

/* Formula tables hold every distance up to this one. */
#define DENSE	64

/* Inline in the core. */
u32 shim_seek_step(u32 distance)
{
	return spek_drive_seek_step(distance);
}

/* SplitMix64, the generator of the golden tables. */
static u64 draw(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static void submit(struct spek_drive *drive, struct shim_loop *loop, u64 now_ns)
{
	struct spek_drive_request request = {
		.sectors = loop->sectors,
		.write = loop->write,
		.arrival_ns = now_ns,
	};

	do {
		request.lba = draw(&loop->seed) % loop->blocks * 8;
	} while (request.lba + request.sectors > drive->model->mechanics.geometry.sectors);
	loop->refused += spek_drive_submit(drive, &request) != 0;
}

/* Keep @depth requests outstanding; the next one arrives before the drive chooses. */
void shim_closed_loop(struct spek_drive *drive, struct shim_loop *loop)
{
	u64 now_ns = 0, wait_ns;
	u32 i, done = 0;

	for (i = 0; i < loop->depth; i++)
		submit(drive, loop, 0);
	while (done < loop->unmeasured + loop->measured) {
		struct spek_drive_service service;

		while (spek_drive_start(drive, now_ns, &service)) {
			wait_ns = service.start_ns - service.request.arrival_ns;
			if (wait_ns > loop->longest_wait_ns)
				loop->longest_wait_ns = wait_ns;
		}
		now_ns = spek_drive_next_ns(drive);
		if (now_ns == SPEK_DRIVE_NEVER)
			return;
		while (spek_drive_finish(drive, now_ns, &service)) {
			submit(drive, loop, now_ns);
			if (++done > loop->unmeasured) {
				loop->seek_ns += service.access.seek_ns;
				loop->rotate_ns += service.access.rotate_ns;
				loop->transfer_ns += service.access.transfer_ns;
			} else {
				loop->begin_ns = now_ns;
			}
		}
	}
	loop->end_ns = now_ns;
}

/**
 * shim_sqrt64() - compute a square root
 * @x: number
 *
 * Return: the square root of @x, rounded down.
 */
u32 shim_sqrt64(u64 x)
{
	u64 root = 0, bit = 1ULL << 62;

	while (bit > x)
		bit >>= 2;
	while (bit) {
		if (x >= root + bit) {
			x -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
		bit >>= 2;
	}
	return (u32)root;
}

/**
 * shim_lee_init() - compute the coefficients of the three-parameter curve
 * @lee: filled in
 * @min_ns: time for one cylinder
 * @avg_ns: mean over uniformly random pairs of cylinders
 * @max_ns: time for all cylinders; at most 100 ms
 * @cylinders: cylinders of the drive, > 0
 * @refusal: says what was wrong
 *
 * Return: 0 or a negative errno.
 */
int shim_lee_init(struct shim_lee *lee, u64 min_ns, u64 avg_ns, u64 max_ns, u32 cylinders,
		  struct spek_refusal *refusal)
{
	s64 root, line;

	if (!min_ns || max_ns > 100000000 || min_ns > avg_ns || avg_ns > max_ns)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -ERANGE,
				   "Seek times must rise from min to avg to max, up to 100 ms.");
	if (!cylinders || cylinders > SPEK_DRIVE_MAX_CYLINDERS)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -ERANGE,
				   "A drive has 1 to 4194304 cylinders.");
	root = 15 * (s64)avg_ns - 10 * (s64)min_ns - 5 * (s64)max_ns;
	line = 7 * (s64)min_ns + 8 * (s64)max_ns - 15 * (s64)avg_ns;
	if (root < 0 || line < 0)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_WHOLE, 0, -EINVAL,
				   "The longest seek must take from (15 avg - 7 min)/8 to 3 avg - 2 min.");
	lee->min_ns = min_ns;
	lee->max_ns = max_ns;
	lee->root = spek_div64((u64)root << 32, 3 * (u64)shim_sqrt64((u64)cylinders << 32));
	lee->line = spek_div64((u64)line << 16, 3 * (u64)cylinders);
	return 0;
}

/* A coefficient in units of 2^-16 times the square root of a number of cylinders. */
static u64 times_root(u64 coefficient, u32 distance)
{
	u64 root = shim_sqrt64((u64)distance << 32);
	u64 low = coefficient * root;

	return spek_mulhi64(coefficient, root) << 32 | low >> 32;
}

/**
 * shim_lee_ns() - compute a seek time by the exact formula
 * @lee: parameters
 * @distance: cylinders
 *
 * Return: time of the move.
 */
u64 shim_lee_ns(const struct shim_lee *lee, u32 distance)
{
	if (!distance)
		return 0;
	return lee->min_ns + times_root(lee->root, distance - 1) +
	       ((lee->line * (distance - 1)) >> 16);
}

/**
 * shim_hpl_ns() - compute a seek time by the exact formula
 * @hpl: parameters
 * @distance: cylinders
 *
 * Return: time of the move.
 */
u64 shim_hpl_ns(const struct shim_hpl *hpl, u32 distance)
{
	if (!distance)
		return 0;
	if (distance == 1)
		return hpl->single_ns;
	if (distance < hpl->border)
		return hpl->base_ns + times_root(hpl->root, distance);
	return hpl->far_ns + ((hpl->line * distance) >> 16);
}

/* The distance of a formula's table after @distance: every one, then steps of 1/32. */
static u32 next_distance(u32 distance, u32 last)
{
	u32 next = distance + (distance < DENSE ? 1 : distance / 32);

	return next < last ? next : last;
}

/**
 * shim_lee_points() - turn the three-parameter curve into a table
 * @lee: initialised
 * @cylinders: cylinders of the drive
 * @points: SHIM_FORMULA_POINTS points; filled in but for their slopes
 *
 * Return: number of points.
 */
u32 shim_lee_points(const struct shim_lee *lee, u32 cylinders, struct spek_drive_seek_point *points)
{
	u32 last = cylinders > 1 ? cylinders - 1 : 1, distance = 0, n = 0;

	while (distance < last) {
		distance = next_distance(distance, last);
		points[n].distance = distance;
		points[n++].ns = shim_lee_ns(lee, distance);
	}
	return n;
}

/**
 * shim_hpl_points() - turn the six-parameter curve into a table
 * @hpl: filled in
 * @cylinders: cylinders of the drive
 * @points: SHIM_FORMULA_POINTS points; filled in but for their slopes
 *
 * Return: number of points.
 */
u32 shim_hpl_points(const struct shim_hpl *hpl, u32 cylinders, struct spek_drive_seek_point *points)
{
	u32 last = cylinders > 1 ? cylinders - 1 : 1, distance = 0, n = 0;

	while (distance < last) {
		u32 next = next_distance(distance, last);

		/* Both sides of the border, where the formula may jump. */
		if (distance + 1 < hpl->border && next >= hpl->border)
			next = hpl->border - 1;
		else if (distance + 1 == hpl->border)
			next = hpl->border;
		distance = next < last ? next : last;
		points[n].distance = distance;
		points[n++].ns = shim_hpl_ns(hpl, distance);
	}
	return n;
}
