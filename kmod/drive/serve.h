/* SPDX-License-Identifier: GPL-2.0 */
/* A unit at work. See serve.c. */
#ifndef SPEK_DRIVE_SERVE_H
#define SPEK_DRIVE_SERVE_H

#include <linux/list.h>
#include "unit.h"

/* Low bits of the tag of a request: its slot. The rest counts the requests of the drive. */
#define SPEK_UNIT_SLOT_BITS	8

/**
 * struct spek_unit_command - the module's part of a SCSI command
 * @cmd: the command
 * @entry: place among those that end together
 */
struct spek_unit_command {
	struct scsi_cmnd *cmd;
	struct list_head entry;
};

void spek_unit_serve_init(struct spek_unit *unit);
int spek_unit_serve(struct spek_unit *unit, struct scsi_cmnd *cmd);
bool spek_unit_abort(struct spek_unit *unit, const struct scsi_cmnd *cmd);
bool spek_unit_fault(struct spek_unit *unit, u32 index, struct spek_drive_fault *fault);
int spek_unit_set_faults(struct spek_unit *unit, bool clear,
			 const struct spek_drive_faults *added,
			 struct spek_drive_faults *scratch, struct spek_refusal *refusal);
void spek_unit_kill(struct spek_unit *unit);
u64 spek_unit_lock_now(struct spek_unit *unit, struct list_head *done, unsigned long *flags);
void spek_unit_unlock(struct spek_unit *unit, struct list_head *done, unsigned long flags);

#endif
