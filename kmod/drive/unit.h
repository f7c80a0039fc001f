/* SPDX-License-Identifier: GPL-2.0 */
/* Drives of the module and their lives. See unit.c. */
#ifndef SPEK_DRIVE_UNIT_H
#define SPEK_DRIVE_UNIT_H

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "../core/hist.h"
#include "../core/refusal.h"
#include "core/drive.h"
#include "scsi/scsi.h"
#include "store.h"
#include "uapi/spek_drive.h"

struct Scsi_Host;
struct device;
struct platform_device;
struct scsi_cmnd;
struct spek_genl_table;

/**
 * struct spek_unit_config - what drive-new asked for; constant once the unit exists
 * @model: checked; zones and seek points point to memory of their own
 * @description: of which @model was made; what was left out is filled in
 */
struct spek_unit_config {
	struct spek_drive_model model;
	struct spek_drive_description description;
};

/**
 * struct spek_unit_slot - a command that the drive holds
 * @cmd: the command; NULL: the slot is free, or the command was aborted
 * @tag: of the drive's request; differs from those that had the slot before
 */
struct spek_unit_slot {
	struct scsi_cmnd *cmd;
	u64 tag;
};

/**
 * struct spek_unit_power - a power command that waits for the drive
 * @pending: there is one
 * @issued: the drive has got it; it ends with the transition
 * @event: what it asks of the drive
 * @sleeps: then nothing is answered until a reset
 * @flushes: what was written is then permanent
 * @cmd: its SCSI command; NULL if that did not wait, or was aborted
 */
struct spek_unit_power {
	bool pending;
	bool issued;
	enum spek_drive_event event;
	bool sleeps;
	bool flushes;
	struct scsi_cmnd *cmd;
};

/**
 * struct spek_unit_count - statistics; what the model counts is in its account
 * @reads: reads that completed
 * @read_sectors: sectors of these
 * @writes: writes that completed
 * @written_sectors: sectors of these
 * @unmaps: UNMAP commands that completed
 * @unmapped_sectors: sectors of these
 * @errors: commands that ended with CHECK CONDITION
 * @aborted: commands that the SCSI layer took back
 * @late_count: completions in @late
 * @late_sum_ns: sum of their lateness
 * @late_max_ns: largest lateness
 * @late: histogram of time from the model's end of an access to its completion
 */
struct spek_unit_count {
	u64 reads;
	u64 read_sectors;
	u64 writes;
	u64 written_sectors;
	u64 unmaps;
	u64 unmapped_sectors;
	u64 errors;
	u64 aborted;
	u64 late_count;
	u64 late_sum_ns;
	u64 late_max_ns;
	u64 late[SPEK_HIST_BUCKETS];
};

/**
 * struct spek_unit - a drive: logical unit 0 of a SCSI host of its own
 * @id: number
 * @ref: references: the table, a queued work, a request or dump over netlink
 * @config: see there
 * @work: creates and removes
 * @state: enum spek_drive_state; protected by the table's mutex, as the next 4 fields
 * @failure: why it failed
 * @failure_err: negative errno of it
 * @hwmon: its hwmon device, or NULL
 * @host: its SCSI host, or NULL
 * @device: parent of both; the work's own
 * @created_ns: time of its making
 * @store: data
 * @faults_lock: serialises changes of the faults; taken before @lock and the lock of @store
 * @ignores_flush: flushes and FUA succeed without effect; changed under @faults_lock
 * @flash: memory for the drive's flash; NULL for a disk
 * @flash_bytes: size of @flash, charged to the limit that all drives share
 * @lock: protects what follows; taken from interrupts, innermost
 * @drive: the model
 * @scsi: what commands read and MODE SELECT changes
 * @attention: unit attention that the next command reports; 0: none
 * @slots: commands by the tags of their requests
 * @next_tag: upper half of the next drive tag
 * @held: requests in @drive
 * @settling: number of callers that wait until the drive is not behind; it gets no requests then
 * @power: see there
 * @last_use_ns: since then the drive has had nothing to do
 * @armed_ns: event for which @timer is armed, or that its interrupt awaits; SPEK_DRIVE_NEVER:
 *	none. The timer also reads it without the lock
 * @awaits_ns: the timer's interrupt awaits events up to this time itself; 0: it does not
 * @power_ons: times that the power came back; also read without the lock
 * @is_idle: the host asked for the idle condition
 * @is_asleep: the host put the drive to sleep, and has not reset it since
 * @by_timer: standby came by the timer
 * @was_stopped: the host stopped the spindle, and it has not been active since
 * @is_dead: it answers nothing any more
 * @count: statistics
 * @timer: fires at the drive's next event, or @config->spin_ns before
 */
struct spek_unit {
	u32 id;
	struct kref ref;
	struct spek_unit_config *config;
	struct work_struct work;
	u32 state;
	const char *failure;
	int failure_err;
	struct device *hwmon;
	struct Scsi_Host *host;
	struct platform_device *device;
	u64 created_ns;
	struct spek_store store;
	struct mutex faults_lock;	/* one change of the faults at a time */
	bool ignores_flush;
	void *flash;
	u64 flash_bytes;
	spinlock_t lock;
	struct spek_drive drive;
	struct spek_scsi_unit scsi;
	u16 attention;
	struct spek_unit_slot slots[SPEK_DRIVE_MAX_QUEUE];
	u64 next_tag;
	u32 held;
	u32 settling;
	struct spek_unit_power power;
	u64 last_use_ns;
	u64 armed_ns;
	u64 awaits_ns;
	u32 power_ons;
	bool is_idle;
	bool is_asleep;
	bool by_timer;
	bool was_stopped;
	bool is_dead;
	struct spek_unit_count count;
	struct hrtimer timer;
};

/* unit.c */
extern struct spek_genl_table spek_units;

int spek_unit_init(void (*notify)(struct spek_unit *unit));
void spek_unit_deinit(void);
int spek_unit_new(struct spek_unit_config *config, u32 *id, struct spek_refusal *refusal);
int spek_unit_delete(struct spek_unit *unit, struct spek_refusal *refusal);
struct spek_unit *spek_unit_get(u32 id);
void spek_unit_put(struct spek_unit *unit);
void spek_unit_config_free(struct spek_unit_config *config);

/**
 * struct spek_unit_view - state of a unit at a time
 * @state: enum spek_drive_state
 * @failure: why it failed, or NULL
 * @failure_err: negative errno of it
 * @host: number of its SCSI host, or -1
 * @hwmon: name of its hwmon device, or ""
 * @condition: enum spek_drive_condition
 * @held: requests in the drive
 * @now_ns: the time
 */
struct spek_unit_view {
	u32 state;
	const char *failure;
	int failure_err;
	int host;
	char hwmon[32];
	u32 condition;
	u32 held;
	u64 now_ns;
};

void spek_unit_view(struct spek_unit *unit, struct spek_unit_view *view);

#endif
