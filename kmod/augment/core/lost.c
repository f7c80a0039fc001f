// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks that no device can read any more: they are reported, and given up at the caller's request.
 *
 * In a machine that has failed, these are the dirty blocks: all others were destaged before. Their
 * records stay in the log on the devices until they are given up.
 */
#include "machine.h"

/* Entries that a call looks at: the log may have 2^30. */
#define STEP	65536

static u32 end_of(const struct spek_augment *m, u32 from)
{
	return m->config.log_blocks - from > STEP ? from + STEP : m->config.log_blocks;
}

static bool is_lost(const struct spek_augment *m, u32 entry)
{
	return spek_augment_state(&m->entries[entry]) == SPEK_AUGMENT_DIRTY &&
	       spek_augment_source(m, entry) == SPEK_AUGMENT_NONE;
}

/**
 * spek_augment_lost() - count the blocks that failed devices have taken with them
 * @m: machine
 *
 * Return: number of blocks; 0 if the machine has not failed.
 */
u32 spek_augment_lost(const struct spek_augment *m)
{
	return m->mode == SPEK_AUGMENT_FAILED ? m->dirty : 0;
}

/**
 * spek_augment_next_lost() - tell the blocks that failed devices have taken with them
 * @m: machine that has failed
 * @cursor: 0 at first; the length of the log when all of it was looked at
 * @range: set to blocks of the RAID whose newest data are lost
 *
 * No entry is looked at twice, but for the one that a range ends at, and a range ends with the part of
 * the log that is looked at: 65,536 entries at most.
 *
 * Return: false if this part of the log has no more.
 */
bool spek_augment_next_lost(const struct spek_augment *m, u32 *cursor,
			    struct spek_augment_range *range)
{
	u32 end = end_of(m, *cursor);

	range->blocks = 0;
	for (; *cursor < end; (*cursor)++) {
		u64 block = spek_augment_block_of(&m->entries[*cursor]);

		if (!is_lost(m, *cursor))
			continue;
		if (!range->blocks)
			range->block = block;
		else if (block != range->block + range->blocks)
			break;
		range->blocks++;
	}
	return range->blocks;
}

/**
 * spek_augment_forget() - give up the blocks that are lost
 * @m: machine
 *
 * What the RAID has of them counts again. A generation begins, and writes are accepted.
 * spek_augment_tick() has to follow.
 *
 * Return: 0, or -EINVAL if the machine has not failed or no device is left.
 */
int spek_augment_forget(struct spek_augment *m)
{
	if (m->mode != SPEK_AUGMENT_FAILED || !m->live)
		return -EINVAL;
	m->forgets = true;
	m->forgotten = 0;
	return 0;
}

/**
 * spek_augment_forget_step() - give up what is lost in the next part of the log
 * @m: machine that has failed
 *
 * Out of line, because the caller is in the path of all bios.
 */
spek_noinline void spek_augment_forget_step(struct spek_augment *m)
{
	u32 end = end_of(m, m->forgotten);

	for (; m->forgotten < end; m->forgotten++)
		if (is_lost(m, m->forgotten))
			spek_augment_map_retire(m, m->forgotten);
	if (end < m->config.log_blocks)
		return;
	m->forgets = false;
	if (m->live)
		m->mode = SPEK_AUGMENT_DRAINING;
	m->again = true;
}
