/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Description of a drive as its owner has it: numbers and texts side by side, in the words of the
 * netlink spec, from which the structures follow. spek_drive_describe() makes the core's model of
 * it. Refusals name the member that they are about by its number in the spec.
 */
#ifndef SPEK_DRIVE_DESCRIPTION_H
#define SPEK_DRIVE_DESCRIPTION_H

#include "../../core/refusal.h"
#include "../../core/spek_host.h"

#define SPEK_DRIVE_MAX_FAULTS		64

#include "description_gen.h"

struct spek_drive_model;

int spek_drive_describe(struct spek_drive_model *model, struct spek_drive_description *description,
			struct spek_refusal *refusal);

#endif
