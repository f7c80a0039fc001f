// SPDX-License-Identifier: GPL-2.0
/*
 * What the machine holds for reads that go to the SSD without the worker (hit.c), and telling it
 * when they are over.
 *
 * An end of I/O may be in an interrupt, where the machine's lock cannot be had: it puts the hold
 * into a list without locks, and whoever has the lock next tells the machine. Nothing is woken for
 * that, unless a bio waits in the machine. That is @wants_ends, which the worker sets under the
 * lock before it looks at the list once more, while an end adds to the list before it looks at
 * @wants_ends: either the end kicks the worker, or the worker sees the end.
 */
#include <linux/blkdev.h>
#include "hold.h"

/**
 * spek_augment_read_of() - get what the unit keeps with a bio
 * @bio: bio of device mapper
 *
 * Return: pointer.
 */
struct spek_augment_read *spek_augment_read_of(struct bio *bio)
{
	return dm_per_bio_data(bio, sizeof(struct spek_augment_read));
}

/**
 * spek_augment_holds_init() - make all holds free
 * @unit: zeroed
 */
void spek_augment_holds_init(struct spek_augment_unit *unit)
{
	u32 i;

	init_llist_head(&unit->over);
	for (i = 0; i < SPEK_AUGMENT_HOLDS; i++) {
		unit->holds[i].node.next = unit->free_holds;
		unit->free_holds = &unit->holds[i].node;
	}
}

/**
 * spek_augment_holds_tell() - tell the machine which hits are over
 * @unit: unit, its lock held
 *
 * Return: true if the machine has let something go.
 */
bool spek_augment_holds_tell(struct spek_augment_unit *unit)
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
 * spek_augment_holds_arm() - note whether ends of hits have to kick the worker
 * @unit: unit, its lock held, after the machine's last step
 *
 * Return: true if an end has come meanwhile that the machine waits for: the worker is to run again.
 */
bool spek_augment_holds_arm(struct spek_augment_unit *unit)
{
	bool wants = spek_augment_waits(&unit->machine);

	lockdep_assert_held(&unit->lock);
	WRITE_ONCE(unit->wants_ends, wants);
	if (!wants)
		return false;
	/* Pairs with the barrier of llist_add() in spek_augment_hold_end(). */
	smp_mb();
	return !llist_empty(&unit->over);
}

/**
 * spek_augment_hold_take() - have the machine hold what a bio reads
 * @unit: unit, its lock held
 * @bio: read of whole blocks
 *
 * Return: hold; NULL: the bio is for the worker.
 */
struct spek_augment_hold *spek_augment_hold_take(struct spek_augment_unit *unit,
						 const struct bio *bio)
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
 * spek_augment_hold_end() - note that a read is over
 * @unit: unit
 * @hold: its hold
 * @error: 0 or a negative errno
 *
 * Context: any.
 * Return: true if the worker is to be kicked.
 */
bool spek_augment_hold_end(struct spek_augment_unit *unit, struct spek_augment_hold *hold,
			   int error)
{
	hold->error = error;
	llist_add(&hold->node, &unit->over);
	return READ_ONCE(unit->wants_ends);
}

/**
 * spek_augment_hold_restore() - give a bio the state in which it came, if the SSD could not read it
 * @bio: bio of device mapper, taken by the worker
 */
void spek_augment_hold_restore(struct bio *bio)
{
	struct spek_augment_read *read = spek_augment_read_of(bio);

	if (!read->failed)
		return;
	read->failed = false;
	/* Also forgets that the SSD may be a partition, and who counted the bio there. */
	bio->bi_flags = read->flags;
	bio_set_dev(bio, read->bdev);
	bio->bi_iter = read->iter;
	bio->bi_status = BLK_STS_OK;
}
