// SPDX-License-Identifier: GPL-2.0
/* Seek curves. */
#include "../../core/muldiv.h"
#include "geometry.h"
#include "seek.h"

#define SLOPE_BITS	20
/* Formula tables hold every distance up to this one. */
#define DENSE		64

/**
 * spek_drive_sqrt64() - compute a square root
 * @x: number
 *
 * Return: the square root of @x, rounded down.
 */
u32 spek_drive_sqrt64(u64 x)
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
 * spek_drive_seek_fall_ppm() - find how far seek times fall with distance
 * @seek: table of seek times
 *
 * Return: the deepest fall from a point to the next one, in ppm.
 */
u32 spek_drive_seek_fall_ppm(const struct spek_drive_seek *seek)
{
	u64 deepest = 0;
	u32 i;

	for (i = 1; i < seek->nr_points; i++) {
		u64 before = seek->points[i - 1].ns, after = seek->points[i].ns;
		u64 fall = after < before ? spek_div64((before - after) * 1000000, before) : 0;

		if (fall > deepest)
			deepest = fall;
	}
	return (u32)deepest;
}

static int check_points(const struct spek_drive_seek *seek, struct spek_refusal *refusal)
{
	u32 i;

	if (!seek->nr_points || seek->nr_points > SPEK_DRIVE_MAX_SEEK_POINTS)
		return spek_refuse(refusal, SPEK_DRIVE_PART_SEEK_POINT, 0, -ERANGE,
				   "A seek curve has 1 to 4096 points.");
	for (i = 0; i < seek->nr_points; i++) {
		const struct spek_drive_seek_point *point = &seek->points[i];

		if (!point->ns || point->ns > SPEK_DRIVE_MAX_SEEK_NS)
			return spek_refuse(refusal, SPEK_DRIVE_PART_SEEK_POINT, i, -ERANGE,
					   "A seek takes from 1 ns to 1 s.");
		if (point->distance > SPEK_DRIVE_MAX_CYLINDERS)
			return spek_refuse(refusal, SPEK_DRIVE_PART_SEEK_POINT, i, -ERANGE,
					   "A drive has 1 to 4194304 cylinders.");
		if (point->distance <= (i ? seek->points[i - 1].distance : 0))
			return spek_refuse(refusal, SPEK_DRIVE_PART_SEEK_POINT, i, -EINVAL,
					   "Seek distances must rise, and the first one exceed 0.");
	}
	return 0;
}

static s64 slope_between(const struct spek_drive_seek_point *a,
			 const struct spek_drive_seek_point *b)
{
	u32 distance = b->distance - a->distance;

	if (b->ns >= a->ns)
		return (s64)spek_div64((b->ns - a->ns) << SLOPE_BITS, distance);
	return -(s64)spek_div64((a->ns - b->ns) << SLOPE_BITS, distance);
}

/* Whether the line after the last point stays within 1 ns to 1 s up to @cylinders. */
static bool ends_well(const struct spek_drive_seek_point *last, u32 cylinders)
{
	u32 distance = cylinders - last->distance;
	s64 steepest = (s64)spek_div64(SPEK_DRIVE_MAX_SEEK_NS << SLOPE_BITS, distance);
	s64 longest;

	if (last->slope > steepest || last->slope < -steepest)
		return false;
	longest = (s64)last->ns + ((last->slope * (s64)distance) >> SLOPE_BITS);
	return longest > 0 && longest <= (s64)SPEK_DRIVE_MAX_SEEK_NS;
}

/* Time of a move on the line that begins at a point, or of one that ends before the first point. */
static u64 on_line(const struct spek_drive_seek_point *point, u32 distance)
{
	if (distance <= point->distance)
		return point->ns;
	return point->ns + (u64)((point->slope * (s64)(distance - point->distance) +
				  (1 << (SLOPE_BITS - 1))) >> SLOPE_BITS);
}

/* First distance of a step of the index. */
static u32 step_begin(u32 step)
{
	return step < 16 ? step : (step % 8 + 8) << (step / 8 - 1);
}

static void make_index(struct spek_drive_seek *seek, u32 cylinders)
{
	u32 step = SPEK_DRIVE_SEEK_STEPS + 1, i = seek->nr_points - 1;
	u64 least = on_line(&seek->points[i], cylinders);

	/* Lines are lowest at their ends: at points, or where a step begins. */
	while (step--) {
		u32 begin = step_begin(step);

		for (; i && seek->points[i].distance > begin; i--)
			if (seek->points[i].ns < least)
				least = seek->points[i].ns;
		/* No arm moves farther, and the last line may not go so far. */
		if (begin < cylinders && on_line(&seek->points[i], begin) < least)
			least = on_line(&seek->points[i], begin);
		if (!begin)
			least = 0;
		seek->line[step] = (u16)i;
		seek->least_ns[step] = (u32)least;
	}
}

/**
 * spek_drive_seek_init() - check a seek curve and compute its slopes
 * @seek: points are filled in but for their slopes
 * @cylinders: cylinders of the drive, > 0
 * @max_fall_ppm: deepest fall allowed from a point to the next one
 * @refusal: says what was wrong
 *
 * Return: 0 or a negative errno.
 */
int spek_drive_seek_init(struct spek_drive_seek *seek, u32 cylinders, u32 max_fall_ppm,
			 struct spek_refusal *refusal)
{
	u32 last = seek->nr_points - 1, i;
	int err;

	err = check_points(seek, refusal);
	if (err)
		return err;
	if (spek_drive_seek_fall_ppm(seek) > max_fall_ppm)
		return spek_refuse(refusal, SPEK_DRIVE_PART_SEEK_POINT, 0, -EINVAL,
				   "The seek curve falls deeper than is allowed.");
	for (i = 0; i < last; i++)
		seek->points[i].slope = slope_between(&seek->points[i], &seek->points[i + 1]);
	/* The last line goes on. */
	seek->points[last].slope = last ? seek->points[last - 1].slope : 0;
	if (cylinders > seek->points[last].distance && !ends_well(&seek->points[last], cylinders))
		return spek_refuse(refusal, SPEK_DRIVE_PART_SEEK_POINT, last, -ERANGE,
				   "The last line of the seek curve leaves 1 ns to 1 s.");
	make_index(seek, cylinders);
	return 0;
}

/**
 * spek_drive_seek_ns() - time of a move
 * @seek: initialised curve
 * @distance: cylinders, less than the drive has
 *
 * Return: time in ns; 0 for distance 0.
 */
u64 spek_drive_seek_ns(const struct spek_drive_seek *seek, u32 distance)
{
	u32 step = spek_drive_seek_step(distance), low = seek->line[step];
	u32 high = seek->line[step + 1] + 1;

	if (!distance)
		return 0;
	while (high - low > 1) {
		u32 middle = (low + high) / 2;

		if (seek->points[middle].distance <= distance)
			low = middle;
		else
			high = middle;
	}
	return on_line(&seek->points[low], distance);
}

/**
 * spek_drive_lee_init() - compute the coefficients of the three-parameter curve
 * @lee: filled in
 * @min_ns: time for one cylinder
 * @avg_ns: mean over uniformly random pairs of cylinders
 * @max_ns: time for all cylinders; at most 100 ms
 * @cylinders: cylinders of the drive, > 0
 * @refusal: says what was wrong
 *
 * Return: 0 or a negative errno.
 */
int spek_drive_lee_init(struct spek_drive_lee *lee, u64 min_ns, u64 avg_ns, u64 max_ns,
			u32 cylinders, struct spek_refusal *refusal)
{
	s64 root, line;

	if (!min_ns || max_ns > 100000000 || min_ns > avg_ns || avg_ns > max_ns)
		return spek_refuse(refusal, SPEK_DRIVE_PART_WHOLE, 0, -ERANGE,
				   "Seek times must rise from min to avg to max, up to 100 ms.");
	if (!cylinders || cylinders > SPEK_DRIVE_MAX_CYLINDERS)
		return spek_refuse(refusal, SPEK_DRIVE_PART_WHOLE, 0, -ERANGE,
				   "A drive has 1 to 4194304 cylinders.");
	root = 15 * (s64)avg_ns - 10 * (s64)min_ns - 5 * (s64)max_ns;
	line = 7 * (s64)min_ns + 8 * (s64)max_ns - 15 * (s64)avg_ns;
	if (root < 0 || line < 0)
		return spek_refuse(refusal, SPEK_DRIVE_PART_WHOLE, 0, -EINVAL,
				   "The longest seek must take from (15 avg - 7 min)/8 to 3 avg - 2 min.");
	lee->min_ns = min_ns;
	lee->max_ns = max_ns;
	lee->root = spek_div64((u64)root << 32, 3 * (u64)spek_drive_sqrt64((u64)cylinders << 32));
	lee->line = spek_div64((u64)line << 16, 3 * (u64)cylinders);
	return 0;
}

/* A coefficient in units of 2^-16 times the square root of a number of cylinders. */
static u64 times_root(u64 coefficient, u32 distance)
{
	u64 root = spek_drive_sqrt64((u64)distance << 32);
	u64 low = coefficient * root;

	return spek_mulhi64(coefficient, root) << 32 | low >> 32;
}

/**
 * spek_drive_lee_ns() - compute a seek time by the exact formula
 * @lee: parameters
 * @distance: cylinders
 *
 * Return: time of the move.
 */
u64 spek_drive_lee_ns(const struct spek_drive_lee *lee, u32 distance)
{
	if (!distance)
		return 0;
	return lee->min_ns + times_root(lee->root, distance - 1) +
	       ((lee->line * (distance - 1)) >> 16);
}

/**
 * spek_drive_hpl_ns() - compute a seek time by the exact formula
 * @hpl: parameters
 * @distance: cylinders
 *
 * Return: time of the move.
 */
u64 spek_drive_hpl_ns(const struct spek_drive_hpl *hpl, u32 distance)
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
 * spek_drive_lee_points() - turn the three-parameter curve into a table
 * @lee: initialised
 * @cylinders: cylinders of the drive
 * @points: SPEK_DRIVE_FORMULA_POINTS points; filled in but for their slopes
 *
 * Return: number of points.
 */
u32 spek_drive_lee_points(const struct spek_drive_lee *lee, u32 cylinders,
			  struct spek_drive_seek_point *points)
{
	u32 last = cylinders > 1 ? cylinders - 1 : 1, distance = 0, n = 0;

	while (distance < last) {
		distance = next_distance(distance, last);
		points[n].distance = distance;
		points[n++].ns = spek_drive_lee_ns(lee, distance);
	}
	return n;
}

/**
 * spek_drive_hpl_points() - turn the six-parameter curve into a table
 * @hpl: filled in
 * @cylinders: cylinders of the drive
 * @points: SPEK_DRIVE_FORMULA_POINTS points; filled in but for their slopes
 *
 * Return: number of points.
 */
u32 spek_drive_hpl_points(const struct spek_drive_hpl *hpl, u32 cylinders,
			  struct spek_drive_seek_point *points)
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
		points[n++].ns = spek_drive_hpl_ns(hpl, distance);
	}
	return n;
}
