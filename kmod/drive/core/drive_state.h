/* SPDX-License-Identifier: GPL-2.0 */
/* Description and state of a drive, on which its parts work. For what they do see drive.h. */
#ifndef SPEK_DRIVE_DRIVE_STATE_H
#define SPEK_DRIVE_DRIVE_STATE_H

#include "cache.h"
#include "fault.h"
#include "flash.h"
#include "power.h"
#include "schedule.h"
#include "service.h"

#define SPEK_DRIVE_NEVER	(~0ULL)
/* In place of an arm: accesses that the cache serves, or that fail without an arm. */
#define SPEK_DRIVE_BUS		SPEK_DRIVE_MAX_ARMS

/**
 * struct spek_drive_model - description of a drive; constant once checked
 * @mechanics: geometry, seek, rotation, arms; of flash only the capacity, which is set
 * @flash: channels and pages; without channels the drive is a disk
 * @rule: order of service
 * @cache: sizes and speed of the cache
 * @watts: power of the parts
 * @queue_depth: requests it holds besides those in service, 1 to SPEK_DRIVE_MAX_QUEUE
 */
struct spek_drive_model {
	struct spek_drive_mechanics mechanics;
	struct spek_drive_flash_rule flash;
	struct spek_drive_rule rule;
	struct spek_drive_cache_rule cache;
	struct spek_drive_watts watts;
	u32 queue_depth;
};

/**
 * struct spek_drive_service - an access in service, or one that ended
 * @request: what it is for
 * @arm: index of the arm; SPEK_DRIVE_BUS: none
 * @error: how it ends, enum spek_drive_error
 * @error_lba: of a medium or write error: the bad sector
 * @start_ns: when it started
 * @end_ns: when its last sector has passed the head
 * @access: its parts
 */
struct spek_drive_service {
	struct spek_drive_request request;
	u32 arm;
	u32 error;
	u64 error_lba;
	u64 start_ns;
	u64 end_ns;
	struct spek_drive_access access;
};

/**
 * struct spek_drive_account - what a drive has done and used since its start, while it had power
 * @energy: by rail
 * @condition_ns: time in each power condition
 * @phase_ns: time in each phase, summed over the arms or channels
 * @starts: number of times that the spindle was started
 * @served: accesses of the host that arms started
 * @moved: of these, accesses whose arm had to change its cylinder
 * @hits: reads served by the cache
 * @accepted: writes accepted by the cache
 * @destages: accesses that wrote from the cache to the media
 * @lost: of these, those that failed, and extents that no arm reached
 * @ahead_sectors: sectors read ahead
 */
struct spek_drive_account {
	struct spek_drive_energy energy[SPEK_DRIVE_RAIL_NR];
	u64 condition_ns[SPEK_DRIVE_CONDITION_NR];
	u64 phase_ns[SPEK_DRIVE_PHASE_NR];
	u64 starts;
	u64 served;
	u64 moved;
	u64 hits;
	u64 accepted;
	u64 destages;
	u64 lost;
	u64 ahead_sectors;
};

/**
 * struct spek_drive - a drive
 * @model: description, checked by spek_drive_model_init(); outlives the drive
 * @queue: requests that wait
 * @arms: positions
 * @service: access of each busy arm, and of the bus
 * @is_bus_busy: the bus serves an access
 * @flushes: number of flushes that wait
 * @cache: contents of the cache
 * @destaging: bit n is set while arm n destages
 * @is_room_wanted: a write waits for room in the cache
 * @destaged_last: what started last for the arms was a destage
 * @is_reading_ahead: an arm reads ahead; it is not busy
 * @ahead: that access
 * @ahead_segment: segment that it extends
 * @ahead_arm: arm that served the last read and still is there; SPEK_DRIVE_NONE if it is not
 * @flash: its state in memory of the owner; NULL for a disk
 * @faults: see fault.h
 * @has_lost: a destage failed since the last flush
 * @is_gone: the drive does not answer
 * @has_power: it draws power, and keeps its condition and its cache; a drive without is gone
 * @condition: power condition
 * @condition_end_ns: end of a transition
 * @accounted_ns: time up to which @account counts
 * @account: see there
 */
struct spek_drive {
	const struct spek_drive_model *model;
	struct spek_drive_queue queue;
	struct spek_drive_arms arms;
	struct spek_drive_service service[SPEK_DRIVE_MAX_ARMS + 1];
	bool is_bus_busy;
	u32 flushes;
	struct spek_drive_cache cache;
	u32 destaging;
	bool is_room_wanted;
	bool destaged_last;
	bool is_reading_ahead;
	struct spek_drive_service ahead;
	u32 ahead_segment;
	u32 ahead_arm;
	struct spek_drive_flash *flash;
	struct spek_drive_faults faults;
	bool has_lost;
	bool is_gone;
	bool has_power;
	enum spek_drive_condition condition;
	u64 condition_end_ns;
	u64 accounted_ns;
	struct spek_drive_account account;
};

/**
 * spek_drive_arm_access() - read what an arm does
 * @drive: drive
 * @arm: number of the arm
 *
 * Return: the arm's access or its read-ahead, or NULL if it does nothing.
 */
static inline const struct spek_drive_service *spek_drive_arm_access(const struct spek_drive *drive,
								     u32 arm)
{
	if (drive->arms.busy >> arm & 1)
		return &drive->service[arm];
	return drive->is_reading_ahead && drive->ahead.arm == arm ? &drive->ahead : NULL;
}

#endif
