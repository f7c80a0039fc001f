/* SPDX-License-Identifier: GPL-2.0 */
/* Accounts of a drive: residencies, energies, and the power of the moment. */
#ifndef SPEK_DRIVE_ACCOUNT_H
#define SPEK_DRIVE_ACCOUNT_H

#include "drive_state.h"

void spek_drive_account(struct spek_drive *drive, u64 now_ns);
void spek_drive_set_condition(struct spek_drive *drive, enum spek_drive_condition condition);
u64 spek_drive_power_uw(const struct spek_drive *drive, enum spek_drive_rail rail, u64 now_ns);

#endif
