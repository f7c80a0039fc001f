/* SPDX-License-Identifier: GPL-2.0 */
/* Data of commands. See data.c. */
#ifndef SPEK_DRIVE_DATA_H
#define SPEK_DRIVE_DATA_H

#include "unit.h"

bool spek_data_flushes(const struct spek_scsi_request *request);
int spek_data_move(struct spek_unit *unit, struct scsi_cmnd *cmd,
		   struct spek_scsi_request *request, bool refused);

#endif
