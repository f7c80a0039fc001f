/* SPDX-License-Identifier: GPL-2.0 */
/* Accesses of the arms. */
#ifndef SPEK_DRIVE_ARM_H
#define SPEK_DRIVE_ARM_H

#include "drive_state.h"

struct spek_drive_service *spek_drive_start_arm(struct spek_drive *drive,
						struct spek_drive_queue *queue,
						const struct spek_drive_rule *rule, u64 now_ns,
						bool *moved);

#endif
