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
 * what has passed of it. While a drive has no power, nothing is accounted.
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

#include "account.h"
#include "drive_state.h"

int spek_drive_model_init(struct spek_drive_model *model, struct spek_refusal *refusal);
void spek_drive_init(struct spek_drive *drive, const struct spek_drive_model *model, u64 now_ns);
void spek_drive_init_flash(struct spek_drive *drive, void *memory);
int spek_drive_submit(struct spek_drive *drive, const struct spek_drive_request *request);
bool spek_drive_start(struct spek_drive *drive, u64 now_ns, struct spek_drive_service *started);
bool spek_drive_finish(struct spek_drive *drive, u64 now_ns, struct spek_drive_service *ended);
bool spek_drive_abort(struct spek_drive *drive, u64 now_ns, u64 tag);
void spek_drive_allow(struct spek_drive *drive, u64 steps);
bool spek_drive_is_short(const struct spek_drive *drive);
u64 spek_drive_next_ns(const struct spek_drive *drive);
int spek_drive_command(struct spek_drive *drive, u64 now_ns, enum spek_drive_event event);
int spek_drive_fault(struct spek_drive *drive, u64 now_ns, const struct spek_drive_fault *fault,
		     struct spek_refusal *refusal);
void spek_drive_clear_faults(struct spek_drive *drive, u64 now_ns);
void spek_drive_restore_arms(struct spek_drive *drive, u64 now_ns);
u64 spek_drive_sole_sectors(const struct spek_drive *drive, u32 arm);

#endif
