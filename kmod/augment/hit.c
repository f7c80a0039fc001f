// SPDX-License-Identifier: GPL-2.0
/*
 * Reads of what the SSD has, in the context of who reads: the bio itself goes on to the SSD.
 *
 *	map --> hold --> SSD --> end of I/O --> over --> machine, by the next map or the worker
 *
 * From map on the machine holds the blocks, so that nothing is written over them. An end of I/O may
 * be in an interrupt, where the machine's lock cannot be had: it puts the hold into a list without
 * locks, and whoever has the lock next tells the machine. Nothing is woken for that, unless a bio
 * waits in the machine. That is @wants_ends, which the worker sets under the lock before it looks
 * at the list once more, while an end adds to the list before it looks at @wants_ends: either the
 * end kicks the worker, or the worker sees the end.
 *
 * A bio that the SSD cannot read goes to the worker after its hold is in the list: the worker puts
 * it back into the state in which it came, and tells the machine of the failure before it submits
 * the bio, so that the bio is not read from there again.
 *
 * Lifetime: a hold is the bio's from map to its end. Device mapper waits for its bios before it
 * suspends, so that no end comes after that.
 */
#include <linux/blkdev.h>
#include "hit.h"
#include "serve.h"

static struct spek_augment_read *read_of(struct bio *bio)
{
	return dm_per_bio_data(bio, sizeof(struct spek_augment_read));
}

/**
 * spek_augment_hits_init() - make all holds free
 * @unit: zeroed
 */
void spek_augment_hits_init(struct spek_augment_unit *unit)
{
	u32 i;

	init_llist_head(&unit->over);
	for (i = 0; i < SPEK_AUGMENT_HOLDS; i++) {
		unit->holds[i].node.next = unit->free_holds;
		unit->free_holds = &unit->holds[i].node;
	}
}

/**
 * spek_augment_hits_tell() - tell the machine which hits are over
 * @unit: unit, its lock held
 *
 * Return: true if the machine has let something go.
 */
bool spek_augment_hits_tell(struct spek_augment_unit *unit)
{
	struct spek_augment_hold *hold, *next;
	struct llist_node *over;

	lockdep_assert_held(&unit->lock);
	if (llist_empty(&unit->over))
		return false;
	over = llist_del_all(&unit->over);
	llist_for_each_entry_safe(hold, next, over, node) {
		spek_augment_end_hit(&unit->machine, &hold->hit, hold->error);
		hold->node.next = unit->free_holds;
		unit->free_holds = &hold->node;
	}
	return true;
}

/**
 * spek_augment_hits_arm() - note whether ends of hits have to kick the worker
 * @unit: unit, its lock held, after the machine's last step
 *
 * Return: true if an end has come meanwhile that the machine waits for: the worker is to run again.
 */
bool spek_augment_hits_arm(struct spek_augment_unit *unit)
{
	bool wants = spek_augment_waits(&unit->machine);

	lockdep_assert_held(&unit->lock);
	WRITE_ONCE(unit->wants_ends, wants);
	if (!wants)
		return false;
	/* Pairs with the barrier of llist_add() in spek_augment_hit_end(). */
	smp_mb();
	return !llist_empty(&unit->over);
}

static struct spek_augment_hold *take_hold(struct spek_augment_unit *unit, const struct bio *bio)
{
	sector_t sector = dm_target_offset(unit->ti, bio->bi_iter.bi_sector);
	struct spek_augment_hold *hold;

	lockdep_assert_held(&unit->lock);
	if (!unit->free_holds || unit->is_stopped ||
	    (unit->gone & spek_augment_bit(SPEK_AUGMENT_SSD)))
		return NULL;
	hold = llist_entry(unit->free_holds, struct spek_augment_hold, node);
	if (!spek_augment_begin_hit(&unit->machine, sector / SPEK_AUGMENT_SECTORS,
				    bio->bi_iter.bi_size / SPEK_AUGMENT_BLOCK_BYTES, &hold->hit))
		return NULL;
	unit->free_holds = hold->node.next;
	return hold;
}

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
	struct spek_augment_read *read = read_of(bio);
	bool is_late;

	read->hold = NULL;
	read->failed = false;
	if (bio_op(bio) != REQ_OP_READ || !bio->bi_iter.bi_size)
		return false;
	mutex_lock(&unit->lock);
	/* If something waits for these, the worker has to take the machine's next step. */
	is_late = spek_augment_hits_tell(unit) && spek_augment_waits(&unit->machine);
	read->hold = take_hold(unit, bio);
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
	struct spek_augment_read *read = read_of(bio);
	struct spek_augment_hold *hold = read->hold;
	int error = blk_status_to_errno(status);

	if (!hold)
		return true;
	if (READ_ONCE(unit->gone) & spek_augment_bit(SPEK_AUGMENT_SSD))
		error = -ENODEV;
	read->hold = NULL;
	hold->error = error;
	llist_add(&hold->node, &unit->over);
	if (error) {
		read->failed = true;
		spek_augment_serve_bio(unit, bio);
		return false;
	}
	if (READ_ONCE(unit->wants_ends))
		spek_augment_serve_kick(unit);
	return true;
}

/**
 * spek_augment_hit_restore() - give a bio the state in which it came, if the SSD could not read it
 * @bio: bio of device mapper, taken by the worker
 */
void spek_augment_hit_restore(struct bio *bio)
{
	struct spek_augment_read *read = read_of(bio);

	if (!read->failed)
		return;
	read->failed = false;
	/* Also forgets that the SSD may be a partition, and who counted the bio there. */
	bio->bi_flags = read->flags;
	bio_set_dev(bio, read->bdev);
	bio->bi_iter = read->iter;
	bio->bi_status = BLK_STS_OK;
}
