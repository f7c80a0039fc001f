/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a sector is: logical block address (LBA) to cylinder, head and angle.
 *
 * A zone is a run of cylinders with the same number of sectors per track. Its tracks follow
 * each other in the order of the layout; every step to another head adds the zone's track skew to
 * the angle at which a track begins, every step to another cylinder its cylinder skew. Skews
 * begin at 0 in each zone. Cylinders between zones may stay unused.
 *
 * With S surfaces that transfer at a time (DASH S_m), S physical tracks of a cylinder are one
 * track of S times the sectors, and there are 1/S as many of them.
 *
 * With several stacks of platters (DASH D_k) the zones describe one stack. The LBAs of a stack
 * follow those of the one before it.
 *
 * LBAs are those of 512-byte sectors.
 */
#ifndef SPEK_DRIVE_GEOMETRY_H
#define SPEK_DRIVE_GEOMETRY_H

#include "../../core/refusal.h"
#include "../../core/spek_host.h"
#include "description.h"

#define SPEK_DRIVE_MAX_ZONES		256
#define SPEK_DRIVE_MAX_HEADS		64
#define SPEK_DRIVE_MAX_CYLINDERS	(1U << 22)
#define SPEK_DRIVE_MAX_SPT		65536
#define SPEK_DRIVE_MAX_STACKS		8

/**
 * enum spek_drive_layout - order of the tracks of a zone
 * @SPEK_DRIVE_CYLINDER: all heads of a cylinder, then the next cylinder
 * @SPEK_DRIVE_SERPENTINE: as before, but odd cylinders of the zone use the heads in reverse order
 * @SPEK_DRIVE_BANDED: a band of cylinders with the first head, back over the same band with the
 *	next one, and so on; then the next band
 * @SPEK_DRIVE_LAYOUT_NR: number of layouts
 */
enum spek_drive_layout {
	SPEK_DRIVE_CYLINDER,
	SPEK_DRIVE_SERPENTINE,
	SPEK_DRIVE_BANDED,
	SPEK_DRIVE_LAYOUT_NR,
};

/**
 * struct spek_drive_zone - cylinders with the same number of sectors per track
 * @first_cylinder: outermost cylinder
 * @cylinders: number of cylinders
 * @spt: sectors per track of one surface
 * @track_skew: angle added by a step to another track of the cylinder
 * @cylinder_skew: angle added by a step to another cylinder
 * @first_lba: first LBA in the stack; set by spek_drive_geometry_init()
 * @track_sectors: sectors per track of all surfaces that transfer at a time; set by
 *	spek_drive_geometry_init()
 * @sector_turn: angle of one sector; set by spek_drive_geometry_init()
 */
struct spek_drive_zone {
	u32 first_cylinder;
	u32 cylinders;
	u32 spt;
	u64 track_skew;
	u64 cylinder_skew;
	u64 first_lba;
	u32 track_sectors;
	u64 sector_turn;
};

/**
 * struct spek_drive_geometry - surfaces of a drive
 * @layout: order of tracks, enum spek_drive_layout
 * @heads: heads per arm, one per surface
 * @band_cylinders: cylinders of a band; for SPEK_DRIVE_BANDED only
 * @surfaces: surfaces that transfer at a time, a divisor of @heads; 0: 1
 * @stacks: stacks of platters; 0: 1
 * @nr_zones: zones, from the outermost one
 * @zones: memory of the caller
 * @cylinders: number of cylinders; set by spek_drive_geometry_init()
 * @tracks: tracks per cylinder; set by spek_drive_geometry_init()
 * @stack_sectors: what the zones hold; set by spek_drive_geometry_init()
 * @sectors: capacity, no more than the zones of all stacks hold; set by
 *	spek_drive_geometry_init() if 0
 */
struct spek_drive_geometry {
	u32 layout;
	u32 heads;
	u32 band_cylinders;
	u32 surfaces;
	u32 stacks;
	u32 nr_zones;
	struct spek_drive_zone *zones;
	u32 cylinders;
	u32 tracks;
	u64 stack_sectors;
	u64 sectors;
};

/**
 * struct spek_drive_place - a sector on its track
 * @zone: index of the zone
 * @track: number of the track in the zone, in the order of LBAs
 * @cylinder: number of the cylinder, 0 outermost
 * @head: number of the head, or of the first of the heads that transfer at a time
 * @sector: number of the sector on the track
 * @angle: angle at which the sector begins
 */
struct spek_drive_place {
	u32 zone;
	u32 track;
	u32 cylinder;
	u32 head;
	u32 sector;
	u64 angle;
};

int spek_drive_geometry_init(struct spek_drive_geometry *geometry, struct spek_refusal *refusal);
void spek_drive_locate(const struct spek_drive_geometry *geometry, u64 lba,
		       struct spek_drive_place *place);
bool spek_drive_next_track(const struct spek_drive_geometry *geometry,
			   struct spek_drive_place *place);

#endif
