// SPDX-License-Identifier: GPL-2.0
/* Seek curves. */
#include "geometry.h"
#include "seek.h"

#define SLOPE_BITS	20

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
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_SEEK_POINTS, 0, -ERANGE,
				   "A seek curve has 1 to 4096 points.");
	for (i = 0; i < seek->nr_points; i++) {
		const struct spek_drive_seek_point *point = &seek->points[i];

		if (!point->ns || point->ns > SPEK_DRIVE_MAX_SEEK_NS)
			return spek_refuse(refusal, SPEK_DRIVE_FIELD_SEEK_POINTS, i, -ERANGE,
					   "A seek takes from 1 ns to 1 s.");
		if (point->distance > SPEK_DRIVE_MAX_CYLINDERS)
			return spek_refuse(refusal, SPEK_DRIVE_FIELD_SEEK_POINTS, i, -ERANGE,
					   "A drive has 1 to 4194304 cylinders.");
		if (point->distance <= (i ? seek->points[i - 1].distance : 0))
			return spek_refuse(refusal, SPEK_DRIVE_FIELD_SEEK_POINTS, i, -EINVAL,
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
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_SEEK_POINTS, 0, -EINVAL,
				   "The seek curve falls deeper than is allowed.");
	for (i = 0; i < last; i++)
		seek->points[i].slope = slope_between(&seek->points[i], &seek->points[i + 1]);
	/* The last line goes on. */
	seek->points[last].slope = last ? seek->points[last - 1].slope : 0;
	if (cylinders > seek->points[last].distance && !ends_well(&seek->points[last], cylinders))
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_SEEK_POINTS, last, -ERANGE,
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
