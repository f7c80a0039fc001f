/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A modelled drive: requests in, completion times and energies out. What a driver sits on.
 *
 * The drive has no clock, no memory of its own and no lock. Its owner passes the time, which
 * must not go back, and serialises all calls on one drive. It is a machine of events:
 *
 *	a request arrives	spek_drive_submit()
 *	after any change	spek_drive_start() until it returns false
 *	the next event		spek_drive_next_ns() tells when; one timer is enough
 *	its time is reached	spek_drive_finish() until it returns false: each time one ended
 *
 * Times follow from the model, not from the owner's timer: after an access the owner passes its
 * @end_ns to spek_drive_start(), not the later time at which the timer ran. Lateness then never
 * adds up. Between finish and start the owner may let new requests in, or not: see schedule.h.
 *
 * With a cache (cache.h) some accesses end at bus time without an arm, and arms also destage and
 * read ahead. The owner sees none of that but events whose finish returns false: it then
 * calls start, as after any event.
 *
 * A request in a standby drive starts the spindle and waits. A stopped drive refuses requests
 * with -EIO (the driver's NOT READY); those that it holds wait for a start. A drive whose arms
 * are busy or whose cache holds written data does not change its condition (-EBUSY): the driver
 * stops sending and waits. A flush of an empty cache starts no spindle.
 *
 * Every call that changes the drive at a time brings its accounts up to it. They are exact:
 * residencies of conditions add up to the elapsed time, those of phases to the elapsed time times
 * the number of arms, energies to power times residency. In the middle of an access they hold
 * what has passed of it.
 *
 * A drive of flash (flash.h) has no arms. Its owner gives it memory, and everything else is the
 * same.
 *
 * For a SCSI host: one drive and one absolute hrtimer per LUN, both under the LUN's spinlock.
 * queuecommand submits and starts; the timer finishes, starts, and calls scsi_done() after the
 * unlock. spek_drive_part() answers VPD page b9 of a split drive, the condition REQUEST SENSE,
 * spek_drive_command() does START STOP UNIT; spek_drive_power_uw() is hwmon's power, the account
 * its energy.
 */
#ifndef SPEK_DRIVE_DRIVE_H
#define SPEK_DRIVE_DRIVE_H

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
 * struct spek_drive_account - what a drive has done and used since its start
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
	enum spek_drive_condition condition;
	u64 condition_end_ns;
	u64 accounted_ns;
	struct spek_drive_account account;
};

/**
 * spek_drive_count() - count arms
 * @arms: set of arms, a bit each
 *
 * Return: number of bits set in @arms.
 */
static inline u32 spek_drive_count(u32 arms)
{
	u32 n;

	/* Not the compiler's count of bits: it calls a function that the kernel does not have. */
	for (n = 0; arms; n++)
		arms &= arms - 1;
	return n;
}

/**
 * spek_drive_works() - look at what an arm does
 * @drive: drive
 * @arm: number of the arm
 *
 * Return: the arm's access or its read-ahead, or NULL if it does nothing.
 */
static inline const struct spek_drive_service *spek_drive_works(const struct spek_drive *drive,
								u32 arm)
{
	if (drive->arms.busy >> arm & 1)
		return &drive->service[arm];
	return drive->is_reading_ahead && drive->ahead.arm == arm ? &drive->ahead : NULL;
}

int spek_drive_model_init(struct spek_drive_model *model, struct spek_refusal *refusal);
void spek_drive_init(struct spek_drive *drive, const struct spek_drive_model *model, u64 now_ns);
void spek_drive_init_flash(struct spek_drive *drive, void *memory);
int spek_drive_submit(struct spek_drive *drive, const struct spek_drive_request *request);
bool spek_drive_start(struct spek_drive *drive, u64 now_ns, struct spek_drive_service *started);
bool spek_drive_finish(struct spek_drive *drive, u64 now_ns, struct spek_drive_service *ended);
bool spek_drive_abort(struct spek_drive *drive, u64 now_ns, u64 tag);
u64 spek_drive_next_ns(const struct spek_drive *drive);
int spek_drive_command(struct spek_drive *drive, u64 now_ns, enum spek_drive_event event);
int spek_drive_fault(struct spek_drive *drive, u64 now_ns, const struct spek_drive_fault *fault,
		     struct spek_refusal *refusal);
void spek_drive_clear_faults(struct spek_drive *drive, u64 now_ns);

void spek_drive_enter(struct spek_drive *drive, enum spek_drive_condition condition);
void spek_drive_account(struct spek_drive *drive, u64 now_ns);
u64 spek_drive_power_uw(const struct spek_drive *drive, enum spek_drive_rail rail, u64 now_ns);

#endif
