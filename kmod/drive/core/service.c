// SPDX-License-Identifier: GPL-2.0
/* Seek, rotation and transfer of an access. */
#include "service.h"

static int check_time(enum spek_drive_field field, u64 ns, struct spek_refusal *refusal)
{
	if (ns <= SPEK_DRIVE_MAX_OVERHEAD_NS)
		return 0;
	return spek_refuse(refusal, field, 0, -ERANGE,
			   "Head switch, settle and overhead take up to 1 s each.");
}

static int check_scale(enum spek_drive_field field, u32 scale, struct spek_refusal *refusal)
{
	if (scale <= SPEK_DRIVE_SCALE)
		return 0;
	return spek_refuse(refusal, field, 0, -ERANGE,
			   "A scale is from 0 to 256, which is real time.");
}

/* The disk publishes the parts, and a range without sectors makes the kernel ignore all of them. */
static int check_parts(const struct spek_drive_mechanics *mechanics, struct spek_refusal *refusal)
{
	u64 first, sectors;
	u32 arm;

	for (arm = 0; mechanics->split && arm < mechanics->nr_arms; arm++) {
		spek_drive_part(mechanics, arm, &first, &sectors);
		if (sectors < SPEK_DRIVE_PART_SECTORS)
			return spek_refuse(refusal, SPEK_DRIVE_FIELD_SPLIT, 0, -ERANGE,
					   "Each arm of a split drive needs at least 8 sectors.");
	}
	return 0;
}

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
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_PERIOD_PS, 0, -ERANGE,
				   "A turn takes from 1 ms to 1 s.");
	err = check_time(SPEK_DRIVE_FIELD_HEAD_SWITCH_NS, mechanics->head_switch_ns, refusal);
	if (!err)
		err = check_time(SPEK_DRIVE_FIELD_SETTLE_NS, mechanics->settle_ns, refusal);
	if (!err)
		err = check_time(SPEK_DRIVE_FIELD_OVERHEAD_NS, mechanics->overhead_ns, refusal);
	if (!err)
		err = check_scale(SPEK_DRIVE_FIELD_SEEK_SCALE, mechanics->seek_scale, refusal);
	if (!err)
		err = check_scale(SPEK_DRIVE_FIELD_ROTATION_SCALE, mechanics->rotation_scale,
				  refusal);
	if (err)
		return err;
	if (!mechanics->nr_arms || mechanics->nr_arms > SPEK_DRIVE_MAX_ARMS)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_ARMS, 0, -ERANGE,
				   "A drive has 1 to 8 arms.");
	if (!mechanics->channels || mechanics->channels > mechanics->nr_arms)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_CHANNELS, 0, -ERANGE,
				   "A drive has from one channel to as many as arms.");
	if (!mechanics->moving)
		mechanics->moving = mechanics->channels;
	if (mechanics->moving < mechanics->channels || mechanics->moving > mechanics->nr_arms)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_MOVING, 0, -ERANGE,
				   "At least as many arms move at a time as there are channels.");
	if (!mechanics->heads_per_surface)
		mechanics->heads_per_surface = 1;
	if (mechanics->heads_per_surface > SPEK_DRIVE_MAX_HEADS_PER_SURFACE)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_HEADS_PER_SURFACE, 0, -ERANGE,
				   "An arm has 1 to 4 heads per surface.");
	if (!spek_is_multiple(mechanics->nr_arms, mechanics->geometry.stacks))
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_STACKS, 0, -EINVAL,
				   "Every stack has the same number of arms, at least one.");
	err = check_parts(mechanics, refusal);
	if (err)
		return err;
	mechanics->is_parted = mechanics->split || mechanics->geometry.stacks > 1;
	spek_drive_rotation_init(rotation, rotation->period_ps, rotation->phase);
	return 0;
}

/* Border below part @index of a stack whose arms have @sectors in all. */
static u64 part_border(u64 sectors, u32 index, u32 parts)
{
	if (index == parts)
		return sectors;
	sectors = spek_div64(sectors * index, parts);
	return sectors - sectors % SPEK_DRIVE_PART_SECTORS;
}

/**
 * spek_drive_part() - the LBAs that an arm reaches: its concurrent positioning range
 * @mechanics: initialised
 * @arm: index of the arm
 * @first: set to the first LBA
 * @sectors: set to the number of sectors; all of the drive's if it has one stack and is not split
 */
void spek_drive_part(const struct spek_drive_mechanics *mechanics, u32 arm, u64 *first,
		     u64 *sectors)
{
	const struct spek_drive_geometry *geometry = &mechanics->geometry;
	u32 parts = mechanics->nr_arms, index = arm;

	*first = 0;
	*sectors = geometry->sectors;
	if (geometry->stacks > 1) {
		parts = mechanics->nr_arms / geometry->stacks;
		index = arm % parts;
		*first = arm / parts * geometry->stack_sectors;
		/* The last stack, or even more of them, may be unused in part. */
		if (*first > geometry->sectors)
			*first = geometry->sectors;
		*sectors -= *first;
		if (*sectors > geometry->stack_sectors)
			*sectors = geometry->stack_sectors;
	}
	if (mechanics->split) {
		u64 border = part_border(*sectors, index, parts);

		*sectors = part_border(*sectors, index + 1, parts) - border;
		*first += border;
	}
}

/**
 * spek_drive_reaches() - ask whether an arm may serve an access
 * @mechanics: mechanics
 * @arm: number of the arm
 * @lba: first block of the access
 *
 * Return: true if it may.
 */
bool spek_drive_reaches(const struct spek_drive_mechanics *mechanics, u32 arm, u64 lba)
{
	u64 first, sectors;

	if (!mechanics->is_parted)
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

/* Angle of the platter under the first head of an arm. */
static u64 angle_under(const struct spek_drive_mechanics *mechanics, u32 arm, u64 at_ns)
{
	return spek_drive_angle(&mechanics->rotation, at_ns) + mechanics->arm_angle[arm];
}

/* Time until an angle is under a head of the arm, the one of several that it reaches first. */
static u64 wait_ns(const struct spek_drive_mechanics *mechanics, u32 arm, u64 angle, u64 at_ns,
		   u64 *head_angle)
{
	u64 under = angle_under(mechanics, arm, at_ns) + mechanics->head_angle[0];
	u64 ns = spek_drive_wait_ns(&mechanics->rotation, under, angle);
	u32 i;

	*head_angle = mechanics->head_angle[0];
	under -= mechanics->head_angle[0];
	for (i = 1; i < mechanics->heads_per_surface; i++) {
		u64 one = spek_drive_wait_ns(&mechanics->rotation,
					     under + mechanics->head_angle[i], angle);

		if (one < ns) {
			ns = one;
			*head_angle = mechanics->head_angle[i];
		}
	}
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
	u64 ns, head_angle;

	access->overhead_ns = mechanics->overhead_ns;
	access->seek_ns = move_ns(mechanics, from, place, write);
	ns = access->overhead_ns + access->seek_ns;
	access->rotate_ns = wait_ns(mechanics, arm, place->angle, now_ns + ns, &head_angle);
	return ns + access->rotate_ns;
}

/*
 * Time in which @sectors pass the head from @at_ns on, when @place is or was just under the head.
 * Measured from the angle of the sector, not from @at_ns, so that the rounding of the wait does
 * not add up over accesses that follow each other: the end is never after the sector's real end.
 */
static u64 pass_ns(const struct spek_drive_mechanics *mechanics, u32 arm,
		   const struct spek_drive_place *place, u32 sectors, u64 at_ns, u64 head_angle)
{
	const struct spek_drive_rotation *rotation = &mechanics->rotation;
	u64 late = angle_under(mechanics, arm, at_ns) + head_angle - place->angle;
	u64 ps = spek_div64(rotation->period_ps * sectors,
			    mechanics->geometry.zones[place->zone].track_sectors);
	u64 late_ps = 0;

	if (late < SPEK_DRIVE_CATCH_NS * rotation->turn_per_ns)
		late_ps = spek_mulhi64(late, rotation->period_ps) + 1;
	return ps > late_ps ? (ps - late_ps) / 1000 : 0;
}

/*
 * Begin and end of reading a part of a track that begins at any of its sectors: one turn from the
 * next sector on. Unlike the ordinary way only if a head is within the part.
 */
static bool read_on_arrival(const struct spek_drive_mechanics *mechanics, u32 arm,
			    const struct spek_drive_place *place, u32 sectors, u64 at_ns,
			    u64 *begin_ns, u64 *end_ns)
{
	const struct spek_drive_rotation *rotation = &mechanics->rotation;
	u64 sector_turn = mechanics->geometry.zones[place->zone].sector_turn;
	u64 within = angle_under(mechanics, arm, at_ns) + mechanics->head_angle[0] - place->angle;
	u64 next = spek_div64(within, sector_turn) + 1, head_angle;

	if (next >= sectors)
		return false;
	*begin_ns = at_ns + wait_ns(mechanics, arm, place->angle + next * sector_turn, at_ns,
				    &head_angle);
	*end_ns = *begin_ns + rotation->period_ps / 1000;
	return true;
}

/*
 * Wait for a part of a track and transfer it.
 *
 * Return: time of its end; @begin_ns is set to that of its begin.
 */
static u64 pass_track(const struct spek_drive_mechanics *mechanics, u32 arm,
		      const struct spek_drive_place *place, u32 sectors, bool in_order, u64 at_ns,
		      u64 *begin_ns)
{
	u64 head_angle, end_ns, sooner_begin_ns, sooner_end_ns;

	*begin_ns = at_ns + wait_ns(mechanics, arm, place->angle, at_ns, &head_angle);
	end_ns = *begin_ns + pass_ns(mechanics, arm, place, sectors, *begin_ns, head_angle);
	if (!in_order &&
	    read_on_arrival(mechanics, arm, place, sectors, at_ns, &sooner_begin_ns,
			    &sooner_end_ns) &&
	    sooner_end_ns < end_ns) {
		*begin_ns = sooner_begin_ns;
		end_ns = sooner_end_ns;
	}
	return end_ns;
}

static u64 transfer(const struct spek_drive_mechanics *mechanics, u32 arm,
		    struct spek_drive_place *place,
		    const struct spek_drive_request *request, u64 at_ns,
		    struct spek_drive_access *access)
{
	const struct spek_drive_geometry *geometry = &mechanics->geometry;
	bool in_order = request->write || request->own || !mechanics->zero_latency;
	u64 arrival_ns = at_ns, start_ns = 0;
	u32 left = request->sectors;

	for (;;) {
		u32 rest = geometry->zones[place->zone].track_sectors - place->sector;
		u64 begin_ns;

		if (rest > left)
			rest = left;
		at_ns = pass_track(mechanics, arm, place, rest, in_order, at_ns, &begin_ns);
		if (left == request->sectors)
			start_ns = begin_ns;
		left -= rest;
		access->end.cylinder = place->cylinder;
		access->end.head = place->head;
		if (!left || !spek_drive_next_track(geometry, place))
			break;
		at_ns += move_ns(mechanics, &access->end, place, request->write);
	}
	access->rotate_ns = start_ns - arrival_ns;
	access->transfer_ns = at_ns - start_ns;
	return at_ns;
}

/**
 * spek_drive_transfer() - times of an access from an arm that is on the track already
 * @mechanics: initialised
 * @arm: index of the arm that serves it
 * @request: within the capacity
 * @at_ns: time from which the arm waits for the first sector
 * @access: rotation, transfer and end are filled in
 *
 * Return: time of the end.
 */
u64 spek_drive_transfer(const struct spek_drive_mechanics *mechanics, u32 arm,
			const struct spek_drive_request *request, u64 at_ns,
			struct spek_drive_access *access)
{
	struct spek_drive_place place;

	spek_drive_locate(&mechanics->geometry, request->lba, &place);
	return transfer(mechanics, arm, &place, request, at_ns, access);
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
	struct spek_drive_place place;

	spek_drive_locate(&mechanics->geometry, request->lba, &place);
	access->overhead_ns = request->own ? 0 : mechanics->overhead_ns;
	access->seek_ns = move_ns(mechanics, from, &place, request->write);
	transfer(mechanics, arm, &place, request,
		 now_ns + access->overhead_ns + access->seek_ns, access);
}
