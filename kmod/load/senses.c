// SPDX-License-Identifier: GPL-2.0
#include <linux/minmax.h>
#include "senses.h"

/* Never 0, which marks an empty entry. */
static int pack_sense(const struct spek_sense *sense)
{
	return 1 << 28 | sense->deferred << 24 | sense->key << 16 | sense->asc << 8 | sense->ascq;
}

static void unpack_sense(int packed, struct spek_sense *sense)
{
	sense->present = true;
	sense->deferred = packed >> 24 & 1;
	sense->key = packed >> 16 & 0xff;
	sense->asc = packed >> 8 & 0xff;
	sense->ascq = packed & 0xff;
}

/**
 * spek_senses_add() - count a failed request
 * @senses: table
 * @sense: sense data of the request, present
 *
 * Context: any.
 */
void spek_senses_add(struct spek_senses *senses, const struct spek_sense *sense)
{
	int packed = pack_sense(sense);
	u32 i;

	for (i = 0; i < SPEK_MAX_SENSES; i++) {
		int there = atomic_read(&senses->cause[i].sense);

		if (!there)
			there = atomic_cmpxchg(&senses->cause[i].sense, 0, packed) ?: packed;
		if (there == packed) {
			atomic64_inc(&senses->cause[i].count);
			return;
		}
	}
	atomic64_inc(&senses->others);
}

/**
 * spek_senses_get() - read an entry
 * @senses: table
 * @index: below SPEK_MAX_SENSES
 * @sense: filled in
 *
 * Context: any.
 * Return: number of requests; 0 for the first empty entry and all after it.
 */
u64 spek_senses_get(const struct spek_senses *senses, u32 index, struct spek_sense *sense)
{
	int packed = atomic_read(&senses->cause[index].sense);

	if (!packed)
		return 0;
	unpack_sense(packed, sense);
	/* The entry is set before its first request is counted. */
	return max_t(u64, atomic64_read(&senses->cause[index].count), 1);
}
