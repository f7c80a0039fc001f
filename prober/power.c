// SPDX-License-Identifier: GPL-2.0
/*
 * Table power of the rows: the rails of the feeds open at the start.
 *
 * Power samples arrive some time after their row, so the sampler has no part in this: each feed
 * takes the totals of its rails up to the start of a row as soon as its samples have passed it, and
 * the reader of a row gets them from there. A reference keeps each feed until the rows are
 * released.
 */
#include <linux/kernel.h>
#include <linux/slab.h>

#include "feed.h"
#include "feed_rows.h"
#include "source.h"

enum { NR_COLUMNS = SPEK_PROBER_POWER_COLUMN_GAP_NS + 1 };

static const struct spek_probe_column columns[NR_COLUMNS] = {
	[SPEK_PROBER_POWER_COLUMN_ENERGY_NJ]	= { "energy-nj" },
	[SPEK_PROBER_POWER_COLUMN_KNOWN_NS]	= { "known-ns" },
	[SPEK_PROBER_POWER_COLUMN_GAP_NS]	= { "gap-ns" },
};

/* First value of energy: far from SPEK_ABSENT, even if energy decreases. */
#define FIRST_NJ (1ULL << 62)

/**
 * struct rows - state of the source
 * @nr_feeds: length of @feeds
 * @feeds: feeds, each with a reference
 * @of_feed: totals of each feed, which has them in its list, or NULL
 */
struct rows {
	u32 nr_feeds;
	struct spek_feed **feeds;
	struct spek_feed_rows *of_feed[SPEK_PROBER_MAX_FEEDS];
};

static int name_entities(struct spek_probe_source *source, const struct rows *rows)
{
	u32 i, k, nr = 0;
	int err;

	for (i = 0; i < rows->nr_feeds; i++)
		nr += rows->feeds[i]->nr_rails;
	err = spek_probe_source_set_named(source, nr);
	if (err)
		return err;

	nr = 0;
	for (i = 0; i < rows->nr_feeds; i++) {
		const struct spek_feed *feed = rows->feeds[i];

		for (k = 0; k < feed->nr_rails; k++, nr++) {
			source->entities[nr] = feed->id * SPEK_POWER_ENTITY_RAILS + k;
			snprintf(spek_probe_source_name(source, nr), SPEK_ENTITY_NAME, "%s/%s",
				 feed->name, feed->rails[k].config.name);
		}
	}
	return 0;
}

static int rows_start(struct spek_probe_source *source, const struct spek_probe_config *config)
{
	struct rows *rows = kzalloc(sizeof(*rows), GFP_KERNEL);

	if (!rows)
		return -ENOMEM;
	source->private = rows;
	rows->feeds = spek_feeds_get_open(&rows->nr_feeds);
	return rows->feeds ? name_entities(source, rows) : -ENOMEM;
}

static int rows_keep(struct spek_probe_source *source, const struct spek_ring *ring)
{
	struct rows *rows = source->private;
	u32 i;

	for (i = 0; i < rows->nr_feeds; i++) {
		struct spek_feed *feed = rows->feeds[i];

		rows->of_feed[i] = spek_feed_rows_create(ring, feed->nr_rails);
		if (!rows->of_feed[i])
			return -ENOMEM;
		spek_feed_add_rows(feed, rows->of_feed[i]);
	}
	return 0;
}

static void rows_stop(struct spek_probe_source *source)
{
}

static void rows_release(struct spek_probe_source *source)
{
	struct rows *rows = source->private;
	u32 i;

	if (!rows)
		return;
	for (i = 0; i < rows->nr_feeds; i++) {
		if (rows->of_feed[i])
			spek_feed_remove_rows(rows->of_feed[i]);
		spek_feed_rows_destroy(rows->of_feed[i]);
		spek_feed_put(rows->feeds[i]);
	}
	kfree(rows->feeds);
	kfree(rows);
	source->private = NULL;
}

static void rows_fill(const struct spek_probe_source *source, u64 seq, u64 at_ns, u64 *cells)
{
	const struct rows *rows = source->private;
	struct spek_tally_row row;
	u32 i, k;

	spek_probe_source_set_absent(source, cells);
	for (i = 0; i < rows->nr_feeds; i++)
		for (k = 0; k < rows->feeds[i]->nr_rails; k++, cells += NR_COLUMNS) {
			if (spek_feed_read_row(rows->feeds[i], rows->of_feed[i], k, seq, at_ns,
					       &row))
				continue;
			cells[SPEK_PROBER_POWER_COLUMN_ENERGY_NJ] = FIRST_NJ + row.energy_nj;
			cells[SPEK_PROBER_POWER_COLUMN_KNOWN_NS] = row.known_ns;
			cells[SPEK_PROBER_POWER_COLUMN_GAP_NS] = row.gap_ns;
		}
}

static u64 rows_ready_ns(const struct spek_probe_source *source)
{
	const struct rows *rows = source->private;
	u64 ready_ns = U64_MAX;
	u32 i;

	for (i = 0; i < rows->nr_feeds; i++)
		ready_ns = min(ready_ns, spek_feed_ready_ns(rows->feeds[i]));
	return ready_ns;
}

static void rows_left_behind(const struct spek_probe_source *source, u64 at_ns)
{
	const struct rows *rows = source->private;
	u32 i;

	for (i = 0; i < rows->nr_feeds; i++)
		spek_feed_leave_behind(rows->feeds[i], at_ns);
}

const struct spek_probe_source_ops spek_probe_source_power = {
	.name		= "power",
	.table		= SPEK_PROBER_TABLE_POWER,
	.nr_columns	= NR_COLUMNS,
	.columns	= columns,
	.start		= rows_start,
	.keep		= rows_keep,
	.stop		= rows_stop,
	.release	= rows_release,
	.fill		= rows_fill,
	.ready_ns	= rows_ready_ns,
	.left_behind	= rows_left_behind,
};
