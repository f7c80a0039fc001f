/* SPDX-License-Identifier: GPL-2.0 */
/* Data of a drive: pages of memory where something was written, zeroes elsewhere. */
#ifndef SPEK_DRIVE_STORE_H
#define SPEK_DRIVE_STORE_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

struct scatterlist;

/**
 * struct spek_store - data of a drive
 * @pages: by page number
 * @nr_pages: number of these
 * @max_pages: limit for this drive
 * @discards: nothing is kept: writes go nowhere
 * @tracks: writes take @lock, as what is permanent is, or is about to be, kept apart; read with
 *	READ_ONCE
 * @lock: protects @copies, @permanent, and the bytes of pages while @tracks is set
 * @copies: @tracks is set and every write knows of it: pages are copied before they are written
 * @permanent: by page number, what a power cut leaves of pages that were written since a flush
 * @epoch: number of flushes and changes of @tracks; an entry of @permanent that has an earlier
 *	one in page_private() is void. Flushes take no lock: what holds it reads this once
 *
 * Reads take no lock; writes take @lock while @tracks is set, and unmaps take it for parts of pages.
 * Pages are added, and removed by an unmap; a removed page is freed after a grace period of RCU,
 * and readers and writers use pages in read-side critical sections. So they race only for the bytes
 * of a page, as on a disk whose commands overlap.
 *
 * Lock order: lock, then those of the two trees.
 */
struct spek_store {
	struct xarray pages;
	atomic_long_t nr_pages;
	unsigned long max_pages;
	bool discards;
	bool tracks;
	spinlock_t lock;	/* protects the fields below */
	bool copies;
	struct xarray permanent;
	atomic_long_t epoch;
};

void spek_store_init(struct spek_store *store, bool discards, u64 max_bytes);
void spek_store_deinit(struct spek_store *store);
void spek_store_exit(void);
bool spek_store_reserve(u64 bytes);
void spek_store_unreserve(u64 bytes);
int spek_store_write(struct spek_store *store, u64 lba, struct scatterlist *list, u32 entries,
		     u64 bytes, bool permanent, bool whole);
void spek_store_flush(struct spek_store *store);
void spek_store_track(struct spek_store *store, bool tracks);
void spek_store_cut(struct spek_store *store, bool tears);
void spek_store_unmap(struct spek_store *store, u64 lba, u64 bytes);
void spek_store_read(struct spek_store *store, u64 lba, struct scatterlist *list, u32 entries,
		     u64 bytes);

#endif
