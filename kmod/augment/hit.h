/* SPDX-License-Identifier: GPL-2.0 */
/* Reads that go to the SSD without the worker. */
#ifndef SPEK_AUGMENT_HIT_H
#define SPEK_AUGMENT_HIT_H

#include "unit.h"

bool spek_augment_hit_begin(struct spek_augment_unit *unit, struct bio *bio);
bool spek_augment_hit_end(struct spek_augment_unit *unit, struct bio *bio, blk_status_t status);

#endif
