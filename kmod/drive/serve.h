/* SPDX-License-Identifier: GPL-2.0 */
/* Commands of a unit. See serve.c. */
#ifndef SPEK_DRIVE_SERVE_H
#define SPEK_DRIVE_SERVE_H

#include "unit.h"

int spek_unit_serve(struct spek_unit *unit, struct scsi_cmnd *cmd);
void spek_unit_power_on(struct spek_unit *unit, u64 now_ns, struct list_head *done);
bool spek_unit_abort(struct spek_unit *unit, const struct scsi_cmnd *cmd);
void spek_unit_kill(struct spek_unit *unit);

#endif
