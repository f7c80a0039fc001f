// SPDX-License-Identifier: GPL-2.0
/* Power of the rows of a probe; see feed_rows.h. */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stddef.h>

#include "feed_rows.h"
#include "ring.h"
#include "sampler.h"

/* Word of a row that holds its start. */
#define START_WORD (offsetof(struct spek_probe_row, start_ns) / sizeof(u64))

/**
 * spek_feed_rows_create() - get memory for the totals of all rows of a ring
 * @ring: ring; must outlive the result
 * @nr_rails: number of rails
 *
 * Context: process, may sleep. Fails rather than invoke the OOM killer.
 * Return: rows for spek_feed_rows_destroy(), or NULL if out of memory.
 */
struct spek_feed_rows *spek_feed_rows_create(const struct spek_ring *ring, u32 nr_rails)
{
	gfp_t gfp = GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN;
	struct spek_feed_rows *rows;
	u32 i;

	rows = kzalloc(struct_size(rows, tallies, nr_rails), GFP_KERNEL);
	if (!rows)
		return NULL;
	INIT_LIST_HEAD(&rows->node);
	rows->ring = ring;
	rows->nr_rails = nr_rails;
	for (i = 0; i < nr_rails; i++) {
		struct spek_tally_row *totals = kvcalloc(ring->rows, sizeof(*totals), gfp);

		if (!totals) {
			spek_feed_rows_destroy(rows);
			return NULL;
		}
		spek_tally_init(&rows->tallies[i], totals, ring->rows);
	}
	return rows;
}

/**
 * spek_feed_rows_destroy() - free the totals
 * @rows: rows in no list, or NULL
 *
 * Context: process.
 */
void spek_feed_rows_destroy(struct spek_feed_rows *rows)
{
	u32 i;

	if (!rows)
		return;
	for (i = 0; i < rows->nr_rails; i++)
		kvfree(rows->tallies[i].totals);
	kfree(rows);
}

/**
 * spek_feed_rows_take() - take the totals of a rail that are fixed by now
 * @rows: rows
 * @rail: number of the rail
 * @samples: its samples
 * @budget: number of rows to take, reduced by those that are taken; beyond it, only those are taken
 *	whose total the next sample overwrites
 *
 * Context: process, under feeds_lock, may sleep.
 */
void spek_feed_rows_take(struct spek_feed_rows *rows, u32 rail, const struct spek_rail *samples,
			 u32 *budget)
{
	struct spek_tally *tally = &rows->tallies[rail];
	u64 start_ns;
	int err;

	for (;;) {
		err = spek_ring_read_word(rows->ring, tally->next, START_WORD, &start_ns);
		if (err == -EAGAIN)
			return;
		if (err)
			spek_tally_skip(tally, max(spek_ring_oldest(rows->ring), tally->next + 1));
		else if (spek_tally_take(tally, samples, start_ns, budget))
			return;
		cond_resched();
	}
}
