/* SPDX-License-Identifier: GPL-2.0 */
/* Faults of a unit's drive. See faults.c. */
#ifndef SPEK_DRIVE_FAULTS_H
#define SPEK_DRIVE_FAULTS_H

#include "unit.h"

bool spek_unit_fault(struct spek_unit *unit, u32 index, struct spek_drive_fault *fault);
int spek_unit_set_faults(struct spek_unit *unit, const struct spek_drive_change *change,
			 struct spek_drive_faults *scratch, struct spek_refusal *refusal);

#endif
