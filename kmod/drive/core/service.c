// SPDX-License-Identifier: GPL-2.0
/* Seek, rotation and transfer of an access. */
#include "service.h"

/**
 * spek_drive_mechanics_init() - check a description and compute what serving needs
 * @mechanics: filled in; of the rotation period and phase
 * @refusal: says what was wrong
 *
 * Return: 0 or a negative errno.
 */
int spek_drive_mechanics_init(struct spek_drive_mechanics *mechanics,
			      struct spek_refusal *refusal)
{
	struct spek_drive_rotation *rotation = &mechanics->rotation;
	int err;

	err = spek_drive_geometry_init(&mechanics->geometry, refusal);
	if (!err)
		err = spek_drive_seek_init(&mechanics->seek, mechanics->geometry.cylinders,
					   mechanics->max_fall_ppm, refusal);
	if (err)
		return err;
	if (rotation->period_ps < 1000000000 || rotation->period_ps > 1000000000000)
		return spek_refuse(refusal, SPEK_DRIVE_PART_WHOLE, 0, -ERANGE,
				   "A turn takes from 1 ms to 1 s.");
	if (mechanics->head_switch_ns > SPEK_DRIVE_MAX_OVERHEAD_NS ||
	    mechanics->settle_ns > SPEK_DRIVE_MAX_OVERHEAD_NS ||
	    mechanics->overhead_ns > SPEK_DRIVE_MAX_OVERHEAD_NS)
		return spek_refuse(refusal, SPEK_DRIVE_PART_WHOLE, 0, -ERANGE,
				   "Head switch, settle and overhead take up to 1 s each.");
	if (mechanics->seek_scale > SPEK_DRIVE_SCALE ||
	    mechanics->rotation_scale > SPEK_DRIVE_SCALE)
		return spek_refuse(refusal, SPEK_DRIVE_PART_WHOLE, 0, -ERANGE,
				   "A scale is from 0 to 256, which is real time.");
	if (!mechanics->nr_arms || mechanics->nr_arms > SPEK_DRIVE_MAX_ARMS)
		return spek_refuse(refusal, SPEK_DRIVE_PART_WHOLE, 0, -ERANGE,
				   "A drive has 1 to 8 arms.");
	if (!mechanics->channels || mechanics->channels > mechanics->nr_arms)
		return spek_refuse(refusal, SPEK_DRIVE_PART_WHOLE, 0, -ERANGE,
				   "A drive has from one channel to as many as arms.");
	if (mechanics->split && mechanics->geometry.sectors <
				(u64)SPEK_DRIVE_PART_SECTORS * mechanics->nr_arms)
		return spek_refuse(refusal, SPEK_DRIVE_PART_WHOLE, 0, -ERANGE,
				   "Each arm of a split drive needs at least 8 sectors.");
	spek_drive_rotation_init(rotation, rotation->period_ps, rotation->phase);
	return 0;
}

static u64 part_border(const struct spek_drive_mechanics *mechanics, u32 arm)
{
	u64 sectors = mechanics->geometry.sectors;

	if (arm == mechanics->nr_arms)
		return sectors;
	sectors = spek_div64(sectors * arm, mechanics->nr_arms);
	return sectors - sectors % SPEK_DRIVE_PART_SECTORS;
}

/**
 * spek_drive_part() - what an arm has to itself: its concurrent positioning range
 * @mechanics: initialised
 * @arm: index of the arm
 * @first: set to the first LBA
 * @sectors: set to the number of sectors; all of the drive's if it is not split
 */
void spek_drive_part(const struct spek_drive_mechanics *mechanics, u32 arm, u64 *first,
		     u64 *sectors)
{
	*first = 0;
	*sectors = mechanics->geometry.sectors;
	if (!mechanics->split)
		return;
	*first = part_border(mechanics, arm);
	*sectors = part_border(mechanics, arm + 1) - *first;
}

/** spek_drive_reaches() - Return: true if @arm may serve an access that begins at @lba. */
bool spek_drive_reaches(const struct spek_drive_mechanics *mechanics, u32 arm, u64 lba)
{
	u64 first, sectors;

	if (!mechanics->split)
		return true;
	spek_drive_part(mechanics, arm, &first, &sectors);
	return lba - first < sectors;
}

static u64 scaled(u64 ns, u32 scale)
{
	return ns * scale / SPEK_DRIVE_SCALE;
}

/* Time to bring a head over a track. */
static u64 move_ns(const struct spek_drive_mechanics *mechanics,
		   const struct spek_drive_position *from, const struct spek_drive_place *to,
		   bool write)
{
	u32 distance = from->cylinder < to->cylinder ? to->cylinder - from->cylinder :
						       from->cylinder - to->cylinder;
	u64 ns = spek_drive_seek_ns(&mechanics->seek, distance);

	if (from->head != to->head && ns < mechanics->head_switch_ns)
		ns = mechanics->head_switch_ns;
	if (write && (distance || from->head != to->head))
		ns += mechanics->settle_ns;
	return scaled(ns, mechanics->seek_scale);
}

/* Angle of the platter under the heads of an arm. */
static u64 angle_under(const struct spek_drive_mechanics *mechanics, u32 arm, u64 at_ns)
{
	return spek_drive_angle(&mechanics->rotation, at_ns) + mechanics->arm_angle[arm];
}

static u64 wait_ns(const struct spek_drive_mechanics *mechanics, u32 arm, u64 angle, u64 at_ns)
{
	u64 ns = spek_drive_wait_ns(&mechanics->rotation, angle_under(mechanics, arm, at_ns),
				    angle);

	return scaled(ns, mechanics->rotation_scale);
}

/**
 * spek_drive_reach_ns() - time until the first sector is under the head: what SPTF compares
 * @mechanics: initialised
 * @arm: index of the arm
 * @from: position of the arm
 * @place: first sector
 * @write: direction
 * @now_ns: start of the access
 * @access: overhead, seek and rotation are filled in
 *
 * Return: overhead, seek and rotation together in ns.
 */
u64 spek_drive_reach_ns(const struct spek_drive_mechanics *mechanics, u32 arm,
			const struct spek_drive_position *from,
			const struct spek_drive_place *place, bool write, u64 now_ns,
			struct spek_drive_access *access)
{
	u64 ns;

	access->overhead_ns = mechanics->overhead_ns;
	access->seek_ns = move_ns(mechanics, from, place, write);
	ns = access->overhead_ns + access->seek_ns;
	access->rotate_ns = wait_ns(mechanics, arm, place->angle, now_ns + ns);
	return ns + access->rotate_ns;
}

/*
 * Time in which @sectors pass the head from @at_ns on, when @place is or was just under the head.
 * Measured from the angle of the sector, not from @at_ns, so that the rounding of the wait does
 * not add up over accesses that follow each other: the end is never after the sector's real end.
 */
static u64 pass_ns(const struct spek_drive_mechanics *mechanics, u32 arm,
		   const struct spek_drive_place *place, u32 sectors, u64 at_ns)
{
	const struct spek_drive_rotation *rotation = &mechanics->rotation;
	u32 spt = mechanics->geometry.zones[place->zone].spt;
	u64 late = angle_under(mechanics, arm, at_ns) - place->angle;
	u64 ps = spek_div64(rotation->period_ps * sectors, spt);
	u64 late_ps = 0;

	if (late < SPEK_DRIVE_CATCH_NS * rotation->turn_per_ns)
		late_ps = spek_mulhi64(late, rotation->period_ps) + 1;
	return ps > late_ps ? (ps - late_ps) / 1000 : 0;
}

/**
 * spek_drive_access() - times of an access
 * @mechanics: initialised
 * @arm: index of the arm that serves it
 * @from: position of the arm
 * @request: within the capacity
 * @now_ns: start of the access
 * @access: filled in
 */
void spek_drive_access(const struct spek_drive_mechanics *mechanics, u32 arm,
		       const struct spek_drive_position *from,
		       const struct spek_drive_request *request, u64 now_ns,
		       struct spek_drive_access *access)
{
	const struct spek_drive_geometry *geometry = &mechanics->geometry;
	u32 left = request->sectors, rest;
	struct spek_drive_place place;
	u64 start_ns, at_ns;

	spek_drive_locate(geometry, request->lba, &place);
	start_ns = now_ns + spek_drive_reach_ns(mechanics, arm, from, &place, request->write,
						now_ns, access);
	at_ns = start_ns;
	for (;;) {
		rest = geometry->zones[place.zone].spt - place.sector;
		if (rest > left)
			rest = left;
		at_ns += pass_ns(mechanics, arm, &place, rest, at_ns);
		left -= rest;
		access->end.cylinder = place.cylinder;
		access->end.head = place.head;
		if (!left || !spek_drive_next_track(geometry, &place))
			break;
		at_ns += move_ns(mechanics, &access->end, &place, request->write);
		at_ns += wait_ns(mechanics, arm, place.angle, at_ns);
	}
	access->transfer_ns = at_ns - start_ns;
}
