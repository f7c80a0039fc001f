/* SPDX-License-Identifier: GPL-2.0 */
/* Blocks that no device can read any more. */
#ifndef SPEK_AUGMENT_LOST_H
#define SPEK_AUGMENT_LOST_H

#include "unit.h"

bool spek_augment_lost_tell(struct spek_augment_unit *unit);
int spek_augment_lost_list(struct spek_augment_unit *unit, const char *place, char *result,
			   unsigned int maxlen);
int spek_augment_lost_forget(struct spek_augment_unit *unit, const char *blocks);

#endif
