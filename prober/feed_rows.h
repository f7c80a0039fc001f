/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Power of the rows of a probe: for each rail of a feed the total up to the start of each row.
 *
 * The rows keep them as long as themselves, however short the history of the feed. All of this
 * is protected by feeds_lock (feed.c), but for the ring, which is read without a lock.
 */
#ifndef SPEK_PROBER_FEED_ROWS_H
#define SPEK_PROBER_FEED_ROWS_H

#include <linux/list.h>
#include <linux/types.h>

#include "core/tally.h"

struct spek_ring;

/**
 * struct spek_feed_rows - the rows of one probe, for one feed
 * @node: in the list of the feed
 * @ring: rows; their starts are read
 * @nr_rails: length of @tallies
 * @tallies: totals of each rail of the feed
 */
struct spek_feed_rows {
	struct list_head node;
	const struct spek_ring *ring;
	u32 nr_rails;
	struct spek_tally tallies[];
};

struct spek_feed_rows *spek_feed_rows_create(const struct spek_ring *ring, u32 nr_rails);
void spek_feed_rows_destroy(struct spek_feed_rows *rows);
void spek_feed_rows_take(struct spek_feed_rows *rows, u32 rail, const struct spek_rail *samples,
			 u32 *budget);

#endif
