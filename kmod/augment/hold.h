/* SPDX-License-Identifier: GPL-2.0 */
/* What the machine holds for reads that go to the SSD without the worker. */
#ifndef SPEK_AUGMENT_HOLD_H
#define SPEK_AUGMENT_HOLD_H

#include "unit.h"

/**
 * struct spek_augment_read - what a unit keeps with each bio of device mapper
 * @hold: what the machine holds for it; NULL: the bio is the worker's
 * @failed: the SSD could not read it: what follows is to be put back
 * @flags: of the bio
 * @bdev: the device that it came for
 * @iter: its blocks there
 */
struct spek_augment_read {
	struct spek_augment_hold *hold;
	bool failed;
	unsigned short flags;
	struct block_device *bdev;
	struct bvec_iter iter;
};

void spek_augment_holds_init(struct spek_augment_unit *unit);
bool spek_augment_holds_tell(struct spek_augment_unit *unit);
bool spek_augment_holds_arm(struct spek_augment_unit *unit);
struct spek_augment_read *spek_augment_read_of(struct bio *bio);
struct spek_augment_hold *spek_augment_hold_take(struct spek_augment_unit *unit,
						 const struct bio *bio);
bool spek_augment_hold_end(struct spek_augment_unit *unit, struct spek_augment_hold *hold,
			   int error);
void spek_augment_hold_restore(struct bio *bio);

#endif
