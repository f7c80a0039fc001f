/* SPDX-License-Identifier: GPL-2.0 */
/* Reads that go to the SSD without the worker. */
#ifndef SPEK_AUGMENT_HIT_H
#define SPEK_AUGMENT_HIT_H

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

void spek_augment_hits_init(struct spek_augment_unit *unit);
bool spek_augment_hit_begin(struct spek_augment_unit *unit, struct bio *bio);
bool spek_augment_hit_end(struct spek_augment_unit *unit, struct bio *bio, blk_status_t status);
void spek_augment_hit_restore(struct bio *bio);
bool spek_augment_hits_tell(struct spek_augment_unit *unit);
bool spek_augment_hits_arm(struct spek_augment_unit *unit);

#endif
