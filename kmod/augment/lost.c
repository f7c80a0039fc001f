// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks that no device can read any more: named in the kernel's log, listed by a message, and given
 * up by another.
 *
 * A log may have 2^30 entries, so that each call looks at a part of it while it has the lock.
 */
#include <linux/blkdev.h>
#include "lost.h"

#define DM_MSG_PREFIX "spek-augment"

/* Entries that a call looks at, and as many more at most. */
#define PART		65536
/* Longest range and place in the answer to a message. */
#define RANGE_CHARS	64
/* Ranges in the kernel's log. */
#define TOLD_RANGES	16

/**
 * spek_augment_lost_tell() - name what is lost in the kernel's log
 * @unit: unit, its lock held
 *
 * Return: true if it has to be called again for the next part.
 */
bool spek_augment_lost_tell(struct spek_augment_unit *unit)
{
	const char *name = dm_table_device_name(unit->ti->table);
	u32 log_blocks = unit->config.log_blocks;
	struct spek_augment_range range;
	u32 from = unit->told_place;

	lockdep_assert_held(&unit->lock);
	if (unit->machine.mode != SPEK_AUGMENT_FAILED || unit->told_place >= log_blocks)
		return false;
	if (!unit->machine.live && !spek_augment_lost(&unit->machine)) {
		DMERR("%s: no device of the cache is left; the RAID has all that was written", name);
		unit->told_place = log_blocks;
		return false;
	}
	if (!unit->told_place)
		DMERR("%s: %u blocks of 4 KiB have no readable copy left", name,
		      spek_augment_lost(&unit->machine));
	while (unit->told_place - from < PART &&
	       spek_augment_next_lost(&unit->machine, &unit->told_place, &range)) {
		if (unit->told_ranges++ == TOLD_RANGES) {
			DMERR("%s: and more, which the message lost lists", name);
			unit->told_place = log_blocks;
			return false;
		}
		DMERR("%s: blocks %llu to %llu are lost", name, range.block,
		      range.block + range.blocks - 1);
	}
	return unit->told_place < log_blocks;
}

/**
 * spek_augment_lost_list() - list ranges of blocks that are lost
 * @unit: unit, its lock held
 * @place: place in the log to begin at, as text
 * @result: filled in with each range as "BLOCK+BLOCKS ", and where the next message begins; "-" at
 *	the end of the log
 * @maxlen: room in it
 *
 * Return: 1, or a negative errno.
 */
int spek_augment_lost_list(struct spek_augment_unit *unit, const char *place, char *result,
			   unsigned int maxlen)
{
	u32 log_blocks = unit->config.log_blocks;
	struct spek_augment_range range;
	unsigned int sz = 0;
	u32 from, cursor;

	lockdep_assert_held(&unit->lock);
	if (kstrtou32(place, 10, &from) || from > log_blocks) {
		DMERR("The message lost takes a place in the log, from 0.");
		return -EINVAL;
	}
	cursor = from;
	while (unit->machine.mode == SPEK_AUGMENT_FAILED && sz + RANGE_CHARS < maxlen &&
	       cursor - from < PART && spek_augment_next_lost(&unit->machine, &cursor, &range))
		DMEMIT("%llu+%u ", range.block, range.blocks);
	if (unit->machine.mode == SPEK_AUGMENT_FAILED && cursor < log_blocks)
		DMEMIT("%u", cursor);
	else
		DMEMIT("-");
	return 1;
}

/**
 * spek_augment_lost_forget() - give up the blocks that are lost
 * @unit: unit, its lock held
 * @blocks: their number, as text: no more are given up than the sender knows of
 *
 * The worker has to run afterwards.
 *
 * Return: 0 or a negative errno.
 */
int spek_augment_lost_forget(struct spek_augment_unit *unit, const char *blocks)
{
	u32 number;

	lockdep_assert_held(&unit->lock);
	if (kstrtou32(blocks, 10, &number) || !number ||
	    number != spek_augment_lost(&unit->machine)) {
		DMERR("The message forget takes the number of blocks that are lost: %u.",
		      spek_augment_lost(&unit->machine));
		return -EINVAL;
	}
	if (spek_augment_forget(&unit->machine)) {
		DMERR("No device of the cache is left that could tell the next start.");
		return -EINVAL;
	}
	return 0;
}
