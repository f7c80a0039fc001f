/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an access takes: an arm moves, waits for the sector, and transfers.
 *
 *	seek		max(seek curve, head switch if the head changes); a write adds the
 *			settle time if the arm moved or the head changed
 *	rotation	until the first sector is under the arm's head
 *	transfer	all sectors; at the end of a track seek and rotation to the next one
 *			by the same rules, which count as transfer, too
 *
 * Sectors pass the head in the order of their LBAs. Only a drive with zero-latency reads begins to
 * read a track in the middle of the request if all of it is read earlier so: at the next sector,
 * and for a whole turn.
 *
 * A drive has up to SPEK_DRIVE_MAX_ARMS assemblies, mounted at angles around the platters, each
 * with a head per surface, or several at angles along the track, of which the nearest one serves.
 * Either every arm reaches every LBA (SA(n) of paper 003), or arm n has the n-th part of the LBAs
 * to itself (dual actuators with split LBA range). Arms of a drive with several stacks of platters
 * belong to one stack each, in order; what is said of the drive then holds for each stack.
 *
 * As many arms move at a time as @moving says, and as many transfer as there are channels: 1 and
 * 1 in the paper. An arm that finds no channel free when its sector comes waits for it to come
 * again.
 *
 * An arm also finishes an access that begins in its part or stack and ends in the next one, as if
 * that one were its own.
 */
#ifndef SPEK_DRIVE_SERVICE_H
#define SPEK_DRIVE_SERVICE_H

#include "geometry.h"
#include "seek.h"
#include "turn.h"

#define SPEK_DRIVE_MAX_ARMS		8
#define SPEK_DRIVE_MAX_HEADS_PER_SURFACE	4
#define SPEK_DRIVE_SCALE		256
/* Of a request: 32 MiB. It bounds the work of a call to as many steps as tracks are crossed. */
#define SPEK_DRIVE_MAX_SECTORS		65536
#define SPEK_DRIVE_MAX_OVERHEAD_NS	1000000000ULL
/* Borders of split parts are multiples of 4 KiB. */
#define SPEK_DRIVE_PART_SECTORS		8

/**
 * struct spek_drive_mechanics - moving parts of a drive; constant once initialised
 * @geometry: surfaces
 * @seek: seek curve
 * @rotation: spindle
 * @head_switch_ns: time to change the head
 * @settle_ns: what a write adds to a seek or head switch
 * @overhead_ns: time from start of an access until the arm moves
 * @seek_scale: seek times, head switch and settle included, in units of 1/256; 256 is real
 * @rotation_scale: waits for rotation in units of 1/256; 256 is real
 * @max_fall_ppm: deepest fall allowed in the seek curve
 * @zero_latency: reads begin at any of their sectors
 * @nr_arms: number of arm assemblies of all stacks
 * @channels: number of arms that may transfer at a time
 * @moving: number of arms that may serve accesses at a time, at least as many as channels;
 *	0: as many as channels
 * @split: each arm has a part of the LBAs to itself
 * @is_parted: no arm reaches every LBA; set by spek_drive_mechanics_init()
 * @heads_per_surface: heads of an arm on a surface; 0: 1
 * @head_angle: angle by which such a head is ahead of the first one
 * @arm_angle: angle by which an arm is mounted ahead of arm 0
 */
struct spek_drive_mechanics {
	struct spek_drive_geometry geometry;
	struct spek_drive_seek seek;
	struct spek_drive_rotation rotation;
	u64 head_switch_ns;
	u64 settle_ns;
	u64 overhead_ns;
	u32 seek_scale;
	u32 rotation_scale;
	u32 max_fall_ppm;
	bool zero_latency;
	u32 nr_arms;
	u32 channels;
	u32 moving;
	bool split;
	bool is_parted;
	u32 heads_per_surface;
	u64 head_angle[SPEK_DRIVE_MAX_HEADS_PER_SURFACE];
	u64 arm_angle[SPEK_DRIVE_MAX_ARMS];
};

/**
 * struct spek_drive_request - what the host asks for
 * @lba: first sector
 * @sectors: number of sectors, 1 to SPEK_DRIVE_MAX_SECTORS; 0 for a flush
 * @write: direction
 * @fua: forced unit access: from or to the media, past the cache
 * @flush: write what the cache has accepted so far
 * @trim: the sectors' contents are of no use any more; for flash
 * @own: the drive's own read-ahead: without overhead, sectors in the order of LBAs
 * @arrival_ns: when the drive got it
 * @tag: the caller's own
 */
struct spek_drive_request {
	u64 lba;
	u32 sectors;
	bool write;
	bool fua;
	bool flush;
	bool trim;
	bool own;
	u64 arrival_ns;
	u64 tag;
};

/**
 * struct spek_drive_position - position of an arm
 * @cylinder: cylinder it is on
 * @head: head in use
 */
struct spek_drive_position {
	u32 cylinder;
	u32 head;
};

/**
 * struct spek_drive_access - time of an access; the parts follow each other
 * @overhead_ns: time before the arm moves
 * @seek_ns: time until arm and head are on the track
 * @rotate_ns: time until the first sector is under the head
 * @transfer_ns: time until the last sector has passed the head
 * @end: where the arm is then
 */
struct spek_drive_access {
	u64 overhead_ns;
	u64 seek_ns;
	u64 rotate_ns;
	u64 transfer_ns;
	struct spek_drive_position end;
};

/**
 * spek_drive_access_ns() - compute the duration of an access
 * @access: access
 *
 * Return: time from its start to its end.
 */
static inline u64 spek_drive_access_ns(const struct spek_drive_access *access)
{
	return access->overhead_ns + access->seek_ns + access->rotate_ns + access->transfer_ns;
}

/**
 * spek_drive_least_ns() - bound an access from below
 * @mechanics: mechanics
 * @distance: cylinders
 *
 * Return: time in which no arm reaches anything that is @distance away.
 */
static inline u64 spek_drive_least_ns(const struct spek_drive_mechanics *mechanics, u32 distance)
{
	u64 ns = mechanics->seek.least_ns[spek_drive_seek_step(distance)];

	return mechanics->overhead_ns + ns * mechanics->seek_scale / SPEK_DRIVE_SCALE;
}

int spek_drive_mechanics_init(struct spek_drive_mechanics *mechanics,
			      struct spek_refusal *refusal);
void spek_drive_part(const struct spek_drive_mechanics *mechanics, u32 arm, u64 *first,
		     u64 *sectors);
bool spek_drive_reaches(const struct spek_drive_mechanics *mechanics, u32 arm, u64 lba);
u64 spek_drive_reach_ns(const struct spek_drive_mechanics *mechanics, u32 arm,
			const struct spek_drive_position *from,
			const struct spek_drive_place *place, bool write, u64 now_ns,
			struct spek_drive_access *access);
u64 spek_drive_transfer(const struct spek_drive_mechanics *mechanics, u32 arm,
			const struct spek_drive_request *request, u64 at_ns,
			struct spek_drive_access *access);
void spek_drive_access(const struct spek_drive_mechanics *mechanics, u32 arm,
		       const struct spek_drive_position *from,
		       const struct spek_drive_request *request, u64 now_ns,
		       struct spek_drive_access *access);

#endif
