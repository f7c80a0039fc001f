/* SPDX-License-Identifier: GPL-2.0 */
/* Superblocks and recovery. */
#ifndef SPEK_AUGMENT_ATTACH_H
#define SPEK_AUGMENT_ATTACH_H

#include "unit.h"

#define SPEK_AUGMENT_UNNAMED	SPEK_AUGMENT_NONE

int spek_augment_attach_identify(struct spek_augment_unit *unit, struct spek_refusal *refusal);
int spek_augment_attach_check(struct spek_augment_unit *unit, struct spek_refusal *refusal);
int spek_augment_attach_start(struct spek_augment_unit *unit, struct spek_refusal *refusal);

#endif
