// SPDX-License-Identifier: GPL-2.0
/* LBA to cylinder, head and angle. */
#include "geometry.h"

static int check_zone(const struct spek_drive_geometry *geometry, u32 index,
		      struct spek_refusal *refusal)
{
	const struct spek_drive_zone *zone = &geometry->zones[index];

	if (!zone->spt || zone->spt > SPEK_DRIVE_MAX_SPT)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_ZONES, index, -ERANGE,
				   "A track has 1 to 65536 sectors.");
	if (!zone->cylinders || zone->cylinders > SPEK_DRIVE_MAX_CYLINDERS ||
	    zone->first_cylinder > SPEK_DRIVE_MAX_CYLINDERS - zone->cylinders)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_ZONES, index, -ERANGE,
				   "A drive has 1 to 4194304 cylinders.");
	if (zone->first_cylinder < geometry->cylinders)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_ZONES, index, -EINVAL,
				   "Zones must not overlap and go from outermost to innermost.");
	return 0;
}

/**
 * spek_drive_geometry_init() - check a geometry and compute what locating needs
 * @geometry: filled in but for what this function sets
 * @refusal: says what was wrong
 *
 * Return: 0 or a negative errno.
 */
int spek_drive_geometry_init(struct spek_drive_geometry *geometry, struct spek_refusal *refusal)
{
	u64 sectors = 0;
	u32 i;

	if (geometry->layout >= SPEK_DRIVE_LAYOUT_NR)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_LAYOUT, 0, -EINVAL,
				   "The layout must be cylinder, serpentine or banded.");
	if (!geometry->heads || geometry->heads > SPEK_DRIVE_MAX_HEADS)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_HEADS, 0, -ERANGE,
				   "An arm has 1 to 64 heads.");
	if (geometry->layout == SPEK_DRIVE_BANDED &&
	    (!geometry->band_cylinders || geometry->band_cylinders > SPEK_DRIVE_MAX_CYLINDERS))
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_BAND_CYLINDERS, 0, -ERANGE,
				   "A band has 1 to 4194304 cylinders.");
	if (!geometry->nr_zones || geometry->nr_zones > SPEK_DRIVE_MAX_ZONES)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_ZONES, 0, -ERANGE,
				   "A drive has 1 to 256 zones.");
	if (!geometry->surfaces)
		geometry->surfaces = 1;
	if (!geometry->stacks)
		geometry->stacks = 1;
	if (geometry->surfaces > geometry->heads ||
	    !spek_is_multiple(geometry->heads, geometry->surfaces))
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_SURFACES, 0, -EINVAL,
				   "The heads must be a multiple of the surfaces that transfer at a time.");
	if (geometry->stacks > SPEK_DRIVE_MAX_STACKS)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_STACKS, 0, -ERANGE,
				   "A drive has 1 to 8 stacks.");
	geometry->tracks = geometry->heads / geometry->surfaces;
	geometry->cylinders = 0;
	for (i = 0; i < geometry->nr_zones; i++) {
		struct spek_drive_zone *zone = &geometry->zones[i];
		int err = check_zone(geometry, i, refusal);

		if (err)
			return err;
		zone->first_lba = sectors;
		zone->track_sectors = zone->spt * geometry->surfaces;
		/* 2^64 / sectors; for 1 the whole turn, never multiplied by more than 0. */
		zone->sector_turn = spek_div64(~0ULL, zone->track_sectors);
		sectors += (u64)zone->cylinders * geometry->heads * zone->spt;
		geometry->cylinders = zone->first_cylinder + zone->cylinders;
	}
	geometry->stack_sectors = sectors;
	sectors *= geometry->stacks;
	if (geometry->sectors > sectors)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_SECTORS, 0, -ERANGE,
				   "The capacity exceeds what the zones hold.");
	if (!geometry->sectors)
		geometry->sectors = sectors;
	return 0;
}

/* Fill in cylinder, head and angle of a sector from its zone, track and sector number. */
static void place_track(const struct spek_drive_geometry *geometry, struct spek_drive_place *place)
{
	const struct spek_drive_zone *zone = &geometry->zones[place->zone];
	u32 heads = geometry->tracks, cylinder, head;
	u64 head_steps, cylinder_steps;

	if (geometry->layout == SPEK_DRIVE_BANDED) {
		u32 width = geometry->band_cylinders, band, first, step;

		if (width > zone->cylinders)
			width = zone->cylinders;
		band = place->track / (width * heads);
		first = band * width;
		head_steps = (u64)band * (heads - 1);
		cylinder_steps = (u64)band * (heads * (u64)(width - 1) + 1);
		step = place->track - first * heads;
		/* The last band may be narrower. */
		if (width > zone->cylinders - first)
			width = zone->cylinders - first;
		head = step / width;
		step -= head * width;
		head_steps += head;
		cylinder_steps += (u64)head * (width - 1) + step;
		cylinder = first + (head & 1 ? width - 1 - step : step);
	} else {
		cylinder = place->track / heads;
		head = place->track - cylinder * heads;
		head_steps = (u64)cylinder * (heads - 1) + head;
		cylinder_steps = cylinder;
		if (geometry->layout == SPEK_DRIVE_SERPENTINE && (cylinder & 1))
			head = heads - 1 - head;
	}
	place->cylinder = zone->first_cylinder + cylinder;
	place->head = head * geometry->surfaces;
	place->angle = head_steps * zone->track_skew + cylinder_steps * zone->cylinder_skew +
		       place->sector * zone->sector_turn;
}

/**
 * spek_drive_locate() - find a sector
 * @geometry: initialised
 * @lba: below the capacity
 * @place: filled in
 */
void spek_drive_locate(const struct spek_drive_geometry *geometry, u64 lba,
		       struct spek_drive_place *place)
{
	u32 low = 0, high = geometry->nr_zones;
	const struct spek_drive_zone *zone;
	u64 offset, track;

	if (geometry->stacks > 1)
		lba -= spek_div64(lba, geometry->stack_sectors) * geometry->stack_sectors;
	while (high - low > 1) {
		u32 middle = (low + high) / 2;

		if (geometry->zones[middle].first_lba <= lba)
			low = middle;
		else
			high = middle;
	}
	zone = &geometry->zones[low];
	offset = lba - zone->first_lba;
	track = spek_div64(offset, zone->track_sectors);
	place->zone = low;
	place->track = (u32)track;
	place->sector = (u32)(offset - track * zone->track_sectors);
	place_track(geometry, place);
}

/**
 * spek_drive_next_track() - go to the first sector of the track that follows in the order of LBAs
 * @geometry: initialised
 * @place: updated
 *
 * After the last track of a stack comes the first one of the next stack.
 *
 * Return: true if there is such a track.
 */
bool spek_drive_next_track(const struct spek_drive_geometry *geometry,
			   struct spek_drive_place *place)
{
	if (++place->track == geometry->zones[place->zone].cylinders * geometry->tracks) {
		if (place->zone + 1 < geometry->nr_zones) {
			place->zone++;
		} else if (geometry->stacks > 1) {
			place->zone = 0;
		} else {
			place->track--;
			return false;
		}
		place->track = 0;
	}
	place->sector = 0;
	place_track(geometry, place);
	return true;
}
