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
 * enum spek_drive_part - part of a description that a refusal is about
 * @SPEK_DRIVE_PART_WHOLE: all of it
 * @SPEK_DRIVE_PART_ZONE: the zones; the index is that of the zone, 0 if it is about their number
 * @SPEK_DRIVE_PART_SEEK_POINT: the points of the seek curve; the index likewise
 * @SPEK_DRIVE_PART_ARM: number of arms
 * @SPEK_DRIVE_PART_LAYOUT: layout
 * @SPEK_DRIVE_PART_HEADS: number of heads
 * @SPEK_DRIVE_PART_BAND: cylinders of a band
 * @SPEK_DRIVE_PART_SURFACES: surfaces that transfer at a time
 * @SPEK_DRIVE_PART_STACKS: number of stacks
 * @SPEK_DRIVE_PART_CAPACITY: number of sectors
 * @SPEK_DRIVE_PART_PERIOD: time of a turn
 * @SPEK_DRIVE_PART_HEAD_SWITCH: time of a head switch
 * @SPEK_DRIVE_PART_SETTLE: settle time
 * @SPEK_DRIVE_PART_OVERHEAD: overhead
 * @SPEK_DRIVE_PART_SEEK_SCALE: scale of seek times
 * @SPEK_DRIVE_PART_ROTATION_SCALE: scale of rotational waits
 * @SPEK_DRIVE_PART_CHANNELS: number of channels
 * @SPEK_DRIVE_PART_MOVING: number of arms that may move at a time
 * @SPEK_DRIVE_PART_HEADS_PER_SURFACE: heads of an arm on a surface
 * @SPEK_DRIVE_PART_SPLIT: a part of the LBAs for each arm
 * @SPEK_DRIVE_PART_SEGMENTS: read segments of the cache
 * @SPEK_DRIVE_PART_SEGMENT_SECTORS: sectors of a segment
 * @SPEK_DRIVE_PART_AHEAD: sectors that are read ahead
 * @SPEK_DRIVE_PART_WRITE_CACHE: room for written sectors
 * @SPEK_DRIVE_PART_HIT: time of a hit
 * @SPEK_DRIVE_PART_SECTOR_TIME: time of a sector on the bus
 * @SPEK_DRIVE_PART_HOLD: power of an arm
 * @SPEK_DRIVE_PART_PHASE_POWER: power of a phase; the index is the phase
 * @SPEK_DRIVE_PART_CONDITION_POWER: power of a condition; the index is the condition
 * @SPEK_DRIVE_PART_STARTING: time in which the spindle starts
 * @SPEK_DRIVE_PART_STOPPING: time in which the spindle stops
 * @SPEK_DRIVE_PART_POLICY: order of service
 * @SPEK_DRIVE_PART_WINDOW: window
 * @SPEK_DRIVE_PART_QUEUE_DEPTH: length of the queue
 */
enum spek_drive_part {
	SPEK_DRIVE_PART_WHOLE,
	SPEK_DRIVE_PART_ZONE,
	SPEK_DRIVE_PART_SEEK_POINT,
	SPEK_DRIVE_PART_ARM,
	SPEK_DRIVE_PART_LAYOUT,
	SPEK_DRIVE_PART_HEADS,
	SPEK_DRIVE_PART_BAND,
	SPEK_DRIVE_PART_SURFACES,
	SPEK_DRIVE_PART_STACKS,
	SPEK_DRIVE_PART_CAPACITY,
	SPEK_DRIVE_PART_PERIOD,
	SPEK_DRIVE_PART_HEAD_SWITCH,
	SPEK_DRIVE_PART_SETTLE,
	SPEK_DRIVE_PART_OVERHEAD,
	SPEK_DRIVE_PART_SEEK_SCALE,
	SPEK_DRIVE_PART_ROTATION_SCALE,
	SPEK_DRIVE_PART_CHANNELS,
	SPEK_DRIVE_PART_MOVING,
	SPEK_DRIVE_PART_HEADS_PER_SURFACE,
	SPEK_DRIVE_PART_SPLIT,
	SPEK_DRIVE_PART_SEGMENTS,
	SPEK_DRIVE_PART_SEGMENT_SECTORS,
	SPEK_DRIVE_PART_AHEAD,
	SPEK_DRIVE_PART_WRITE_CACHE,
	SPEK_DRIVE_PART_HIT,
	SPEK_DRIVE_PART_SECTOR_TIME,
	SPEK_DRIVE_PART_HOLD,
	SPEK_DRIVE_PART_PHASE_POWER,
	SPEK_DRIVE_PART_CONDITION_POWER,
	SPEK_DRIVE_PART_STARTING,
	SPEK_DRIVE_PART_STOPPING,
	SPEK_DRIVE_PART_POLICY,
	SPEK_DRIVE_PART_WINDOW,
	SPEK_DRIVE_PART_QUEUE_DEPTH,
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
