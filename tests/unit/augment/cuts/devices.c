// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "devices.h"
#include "draws.h"

/* Garbage in a torn sector. */
#define TORN_BYTES	100

void device_init(struct device *d, u32 max_blocks, bool tears)
{
	memset(d, 0, sizeof(*d));
	d->tears = tears;
	d->max_blocks = max_blocks;
	d->media = calloc(max_blocks, BYTES);
	d->view = calloc(max_blocks, BYTES);
}

/* Write zeroes over everything. The cache is to be empty. */
void device_clear(struct device *d, u32 blocks)
{
	d->blocks = blocks;
	memset(d->media, 0, (size_t)d->max_blocks * BYTES);
	memset(d->view, 0, (size_t)d->max_blocks * BYTES);
}

/* Set up a block of a device that does nothing yet. */
void device_put(struct device *d, u32 block, const u8 *data)
{
	memcpy(d->media[block], data, BYTES);
	memcpy(d->view[block], data, BYTES);
}

const u8 *device_read(const struct device *d, u32 block)
{
	return d->view[block];
}

static u32 append(struct device *d, const struct cached *c)
{
	if (d->nr_cached == d->room) {
		d->room = d->room ? 2 * d->room : 1024;
		d->cached = realloc(d->cached, d->room * sizeof(*d->cached));
	}
	d->cached[d->nr_cached] = *c;
	return d->nr_cached++;
}

static void drop(struct cached *c)
{
	free(c->data);
	c->data = NULL;
}

/* Entry @i reaches the media: what was written to the block before it cannot come after it. */
static void harden(struct device *d, u32 i)
{
	u32 block = d->cached[i].block;
	u32 k;

	memcpy(d->media[block], d->cached[i].data, BYTES);
	for (k = 0; k <= i; k++)
		if (d->cached[k].data && d->cached[k].ended && d->cached[k].block == block)
			drop(&d->cached[k]);
}

/* Return: number of the write, for device_end() and device_fail(). */
u32 device_begin(struct device *d, u32 block, const u8 *data)
{
	struct cached c = { block, 0, malloc(BYTES) };

	memcpy(c.data, data, BYTES);
	return append(d, &c);
}

/* Writes reach the cache in the order in which they end. */
static u32 to_cache(struct device *d, u32 write, u64 step)
{
	struct cached c = d->cached[write];

	c.ended = step;
	d->cached[write].data = NULL;
	memcpy(d->view[c.block], c.data, BYTES);
	return append(d, &c);
}

void device_end(struct device *d, u32 write, u64 step, bool fua)
{
	u32 i = to_cache(d, write, step);

	if (fua)
		harden(d, i);
}

/*
 * A block of a write that failed has changed or not. If so, it is in the cache or on the media as
 * after any write: a flush that ends while reads show it does not bring back what was before it.
 */
void device_fail(struct device *d, u32 write, u64 step)
{
	if (below(2))
		device_end(d, write, step, below(2));
	else
		drop(&d->cached[write]);
}

/* End a flush that @began at that step. */
void device_flush(struct device *d, u64 began)
{
	u32 i;

	for (i = 0; i < d->nr_cached; i++)
		if (d->cached[i].data && d->cached[i].ended && d->cached[i].ended < began)
			harden(d, i);
}

/* Forget what is on the media. Numbers of writes change: none may be in flight. */
void device_compact(struct device *d)
{
	u32 i, kept = 0;

	for (i = 0; i < d->nr_cached; i++)
		if (d->cached[i].data)
			d->cached[kept++] = d->cached[i];
	d->nr_cached = kept;
}

static void cut_write(struct device *d, const struct cached *c, u32 kept)
{
	u8 *media = d->media[c->block];
	u32 k;

	for (k = 0; k < SECTORS; k++)
		if (kept >> k & 1)
			memcpy(media + SECTOR_BYTES * k, c->data + SECTOR_BYTES * k, SECTOR_BYTES);
	/* The power failed in the middle of a sector. */
	if (d->tears && !c->ended && !below(4)) {
		/* Superblocks and headers have all of theirs in the first sector. */
		u32 at = SECTOR_BYTES * (below(2) ? below(SECTORS) : 0) + below(64);

		memset(media + at, below(256), TORN_BYTES);
	}
}

void device_cut(struct device *d)
{
	u32 mood = below(4);
	u32 i;

	for (i = 0; i < d->nr_cached; i++) {
		/* all, none, whole blocks, sectors */
		u32 kept = mood == 0 ? 0xff : mood == 1 ? 0 : below(2) ? 0xff : 0;

		if (!d->cached[i].data)
			continue;
		if (mood == 3 && below(3) == 0)
			kept = below(256);
		cut_write(d, &d->cached[i], kept);
		drop(&d->cached[i]);
	}
	for (i = 0; i < d->nr_cached; i++)
		memcpy(d->view[d->cached[i].block], d->media[d->cached[i].block], BYTES);
	d->nr_cached = 0;
}
