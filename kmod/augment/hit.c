// SPDX-License-Identifier: GPL-2.0
/*
 * Reads of blocks that the SSD has, in the reader's context: the bio itself is sent to the SSD.
 *
 *	map --> hold --> SSD --> end of I/O --> over --> machine, by the next map or the worker
 *
 * From map on the machine holds the blocks (hold.c), so that nothing is written over them.
 *
 * A bio that the SSD cannot read goes to the worker after its hold is in the list: the worker puts
 * it back into the state in which it came, and tells the machine of the failure before it submits
 * the bio, so that a clean block is not read from there again.
 *
 * Lifetime: a hold is the bio's from map to its end. Device mapper waits for its bios before it
 * suspends, so that no end comes after that.
 */
#include <linux/blkdev.h>
#include "hit.h"
#include "hold.h"
#include "serve.h"

/**
 * spek_augment_hit_begin() - send a bio on to the SSD if all of it is there
 * @unit: started
 * @bio: bio of whole blocks, from device mapper
 *
 * Context: may sleep.
 * Return: true if device mapper is to submit the bio; false: it is for the worker.
 */
bool spek_augment_hit_begin(struct spek_augment_unit *unit, struct bio *bio)
{
	struct spek_augment_read *read = spek_augment_read_of(bio);
	bool is_late;

	read->hold = NULL;
	read->failed = false;
	if (bio_op(bio) != REQ_OP_READ || !bio->bi_iter.bi_size)
		return false;
	mutex_lock(&unit->lock);
	/* If something waits for these, the worker has to take the machine's next step. */
	is_late = spek_augment_holds_tell(unit) && spek_augment_waits(&unit->machine);
	read->hold = spek_augment_hold_take(unit, bio);
	mutex_unlock(&unit->lock);
	if (is_late)
		spek_augment_serve_kick(unit);
	if (!read->hold)
		return false;
	read->bdev = bio->bi_bdev;
	read->iter = bio->bi_iter;
	read->flags = bio->bi_flags;
	bio_set_dev(bio, spek_augment_unit_bdev(unit, SPEK_AUGMENT_SSD));
	bio->bi_iter.bi_sector = (sector_t)read->hold->hit.place * SPEK_AUGMENT_SECTORS;
	return true;
}

/**
 * spek_augment_hit_end() - end a bio, if it was sent on to the SSD
 * @unit: unit
 * @bio: bio of device mapper
 * @status: of its end
 *
 * Context: any.
 * Return: false if the bio has not ended: the worker has it again.
 */
bool spek_augment_hit_end(struct spek_augment_unit *unit, struct bio *bio, blk_status_t status)
{
	struct spek_augment_read *read = spek_augment_read_of(bio);
	struct spek_augment_hold *hold = read->hold;
	int error = blk_status_to_errno(status);
	bool is_wanted;

	if (!hold)
		return true;
	if (READ_ONCE(unit->gone) & spek_augment_bit(SPEK_AUGMENT_SSD))
		error = -ENODEV;
	read->hold = NULL;
	is_wanted = spek_augment_hold_end(unit, hold, error);
	if (error) {
		read->failed = true;
		spek_augment_serve_bio(unit, bio);
		return false;
	}
	if (is_wanted)
		spek_augment_serve_kick(unit);
	return true;
}
