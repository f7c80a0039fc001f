/* SPDX-License-Identifier: GPL-2.0 */
/* The events of a unit's drive, and the ends of commands. See events.c. */
#ifndef SPEK_DRIVE_EVENTS_H
#define SPEK_DRIVE_EVENTS_H

#include <linux/list.h>
#include "unit.h"

/* Low bits of the tag of a request: its slot. The rest counts the requests of the drive. */
#define SPEK_UNIT_SLOT_BITS	8

/**
 * struct spek_unit_command - the module's part of a SCSI command, used once it has ended
 * @cmd: the command
 * @entry: place among those that end together
 */
struct spek_unit_command {
	struct scsi_cmnd *cmd;
	struct list_head entry;
};

void spek_unit_events_init(struct spek_unit *unit);
u64 spek_unit_lock_now(struct spek_unit *unit, struct list_head *done, unsigned long *flags);
u64 spek_unit_lock_settled(struct spek_unit *unit, struct list_head *done, unsigned long *flags);
u64 spek_unit_lock_accounted(struct spek_unit *unit, struct list_head *done, unsigned long *flags);
void spek_unit_unlock(struct spek_unit *unit, struct list_head *done, unsigned long flags);
void spek_unit_start_all(struct spek_unit *unit, u64 at_ns);
void spek_unit_drive_power(struct spek_unit *unit, u64 at_ns, struct list_head *done);
void spek_unit_end(struct scsi_cmnd *cmd, int result, struct list_head *done);
void spek_unit_end_with_sense(struct spek_unit *unit, struct scsi_cmnd *cmd,
			      const struct spek_scsi_sense *sense, struct list_head *done);
void spek_unit_end_with_code(struct spek_unit *unit, struct scsi_cmnd *cmd, u8 key, u16 code,
			     struct list_head *done);

#endif
