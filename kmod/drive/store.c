// SPDX-License-Identifier: GPL-2.0
/*
 * Data of a drive: pages of memory where something was written, zeroes elsewhere.
 *
 * A store that tracks what is permanent keeps a copy of each page from before its first write since
 * the last flush. A power cut puts the copies back. A write that is permanent at once goes to the
 * copy as well. So all that was not flushed is lost, which is the worst that a drive may do. A
 * flush takes effect when it comes, that is before it is acknowledged: a drive may always make data
 * permanent earlier than it has to. A cut that tears writes puts only every second copy back: a
 * drive may tear plain writes in this way, but not atomic ones.
 *
 * A flush or the start of tracking in the middle of a write makes the write's first pages
 * permanent. So its other pages become permanent, too, and a cut loses all of a write or nothing.
 *
 * A write that must be whole gets all its pages, and the copies of them, before it changes a byte:
 * if memory for any of them is missing, it changes nothing. Only a concurrent unmap of the same
 * blocks can take a page away again.
 */
#include <linux/blkdev.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/scatterlist.h>
#include "store.h"

static unsigned int store_limit_mib;
module_param(store_limit_mib, uint, 0644);
MODULE_PARM_DESC(store_limit_mib,
		 "Memory for the data of all drives and the tables of their flash in MiB; 0: a quarter of the machine's");

/* Pages of all drives, those of tables included, and those that unmaps have not freed yet. */
static atomic_long_t pages_in_use = ATOMIC_LONG_INIT(0);
/* The latter: memory that is about to be free. */
static atomic_long_t pages_leaving = ATOMIC_LONG_INIT(0);

static long shared_limit(void)
{
	unsigned int mib = READ_ONCE(store_limit_mib);

	return mib ? (long)mib << (20 - PAGE_SHIFT) : (long)(totalram_pages() / 4);
}

/*
 * Charge pages to the limit that all drives share, or charge none: others do not see pages that
 * were charged in vain. Return: 0, or as spek_store_write().
 */
static int charge_shared(long pages)
{
	long leaving = atomic_long_read(&pages_leaving), limit = shared_limit(), in_use;

	/* In this order: a page that counts for the limit is one that leaves, see free_page_rcu(). */
	smp_rmb();
	in_use = atomic_long_read(&pages_in_use);
	do {
		if (in_use + pages > limit)
			return in_use + pages - leaving <= limit ? -ENOMEM : -ENOSPC;
	} while (!atomic_long_try_cmpxchg(&pages_in_use, &in_use, in_use + pages));
	return 0;
}

/**
 * spek_store_init() - make an empty store
 * @store: memory of the caller
 * @discards: keep nothing
 * @max_bytes: limit, rounded down to pages; 0: only the limit that all drives share
 */
void spek_store_init(struct spek_store *store, bool discards, u64 max_bytes)
{
	/* A driver on top may send commands from a softirq. */
	xa_init_flags(&store->pages, XA_FLAGS_LOCK_BH);
	atomic_long_set(&store->nr_pages, 0);
	store->max_pages = max_bytes ? max_bytes >> PAGE_SHIFT : ULONG_MAX;
	store->discards = discards;
	store->tracks = false;
	spin_lock_init(&store->lock);
	store->copies = false;
	xa_init_flags(&store->permanent, XA_FLAGS_LOCK_BH);
	atomic_long_set(&store->epoch, 0);
}

/* Free all copies; nothing may add any meanwhile. */
static void free_permanent(struct spek_store *store)
{
	struct page *page;
	unsigned long index;

	xa_for_each(&store->permanent, index, page) {
		spin_lock_bh(&store->lock);
		xa_erase_bh(&store->permanent, index);
		spin_unlock_bh(&store->lock);
		set_page_private(page, 0);
		__free_page(page);
		atomic_long_dec(&pages_in_use);
		cond_resched();
	}
	xa_destroy(&store->permanent);
}

/**
 * spek_store_deinit() - free all data
 * @store: store that nobody uses any more
 *
 * Context: process, may sleep.
 */
void spek_store_deinit(struct spek_store *store)
{
	struct page *page;
	unsigned long index;

	free_permanent(store);
	xa_for_each(&store->pages, index, page) {
		__free_page(page);
		cond_resched();
	}
	xa_destroy(&store->pages);
	atomic_long_sub(atomic_long_read(&store->nr_pages), &pages_in_use);
}

/**
 * spek_store_reserve() - charge memory that is not data to the limit that all drives share
 * @bytes: size of the memory, rounded up to pages
 *
 * Context: process, may sleep.
 * Return: true if it fits, until spek_store_unreserve(); false if the limit does not allow it.
 */
bool spek_store_reserve(u64 bytes)
{
	long pages = DIV_ROUND_UP_ULL(bytes, PAGE_SIZE);
	int err = charge_shared(pages);

	if (err == -ENOMEM) {
		rcu_barrier();
		err = charge_shared(pages);
	}
	return !err;
}

/**
 * spek_store_unreserve() - undo spek_store_reserve()
 * @bytes: as before
 *
 * Context: any.
 */
void spek_store_unreserve(u64 bytes)
{
	atomic_long_sub(DIV_ROUND_UP_ULL(bytes, PAGE_SIZE), &pages_in_use);
}

/* Count a page. Return: 0, or as spek_store_write(). */
static int charge(struct spek_store *store)
{
	int err;

	if (atomic_long_inc_return(&store->nr_pages) > store->max_pages)
		err = -ENOSPC;
	else
		err = charge_shared(1);
	if (err)
		atomic_long_dec(&store->nr_pages);
	return err;
}

static void uncharge(struct spek_store *store)
{
	atomic_long_dec(&store->nr_pages);
	atomic_long_dec(&pages_in_use);
}

/* With the lock of the tree. Return: the page, made, or an ERR_PTR(). */
static struct page *make_page(struct spek_store *store, unsigned long index)
{
	struct page *page;
	int err = charge(store);

	if (err)
		return ERR_PTR(err);
	page = alloc_page(GFP_NOWAIT | __GFP_NOWARN | __GFP_ZERO | __GFP_HIGHMEM);
	err = page ? xa_err(__xa_store(&store->pages, index, page, GFP_NOWAIT | __GFP_NOWARN)) :
		     -ENOMEM;
	if (!err)
		return page;
	if (page)
		__free_page(page);
	uncharge(store);
	return ERR_PTR(err);
}

/* Return: the page, made if it wasn't there, or an ERR_PTR(). */
static struct page *writable_page(struct spek_store *store, unsigned long index)
{
	struct page *page = xa_load(&store->pages, index);

	if (page)
		return page;
	/* One at a time: two that made the same page would charge it twice, and might not fit. */
	xa_lock_bh(&store->pages);
	page = xa_load(&store->pages, index);
	if (!page)
		page = make_page(store, index);
	xa_unlock_bh(&store->pages);
	return page;
}

/* Return: the copy of a page if it was made in this epoch, else NULL. */
static struct page *permanent_page(struct spek_store *store, unsigned long index,
				   unsigned long epoch)
{
	struct page *copy = xa_load(&store->permanent, index);

	return copy && page_private(copy) == epoch ? copy : NULL;
}

/* Make a void copy, or add one. Return: the copy, or an ERR_PTR(). */
static struct page *take_permanent(struct spek_store *store, unsigned long index)
{
	struct page *copy = xa_load(&store->permanent, index);
	int err;

	if (copy)
		return copy;
	err = charge_shared(1);
	if (err)
		return ERR_PTR(err);
	copy = alloc_page(GFP_NOWAIT | __GFP_NOWARN | __GFP_HIGHMEM);
	err = copy ? xa_err(xa_store_bh(&store->permanent, index, copy,
					GFP_NOWAIT | __GFP_NOWARN)) : -ENOMEM;
	if (!err)
		return copy;
	if (copy)
		__free_page(copy);
	atomic_long_dec(&pages_in_use);
	return ERR_PTR(err);
}

/*
 * Copy a page before a write of this epoch. If the epoch has ended since, the copy is void, and the
 * write is permanent as a whole. Return: 0 or a negative errno.
 */
static int keep_permanent(struct spek_store *store, struct page *page, unsigned long index,
			  unsigned long epoch)
{
	struct page *copy;

	lockdep_assert_held(&store->lock);
	if (permanent_page(store, index, epoch))
		return 0;
	copy = take_permanent(store, index);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	copy_highpage(copy, page);
	set_page_private(copy, epoch);
	return 0;
}

/*
 * Write a part of a page. If @epoch, in which the write began, has ended, the part is permanent at
 * once. Return: 0 or a negative errno.
 */
static int write_tracked(struct spek_store *store, struct page *page, u64 at, const void *from,
			 size_t bytes, bool permanent, unsigned long epoch)
{
	unsigned long index = at >> PAGE_SHIFT, now;
	struct page *copy;
	int err = 0;

	spin_lock_bh(&store->lock);
	now = atomic_long_read(&store->epoch);
	if (now != epoch)
		permanent = true;
	if (store->copies && !permanent)
		err = keep_permanent(store, page, index, now);
	if (!err)
		memcpy_to_page(page, offset_in_page(at), from, bytes);
	copy = permanent ? permanent_page(store, index, now) : NULL;
	if (copy)
		memcpy_to_page(copy, offset_in_page(at), from, bytes);
	spin_unlock_bh(&store->lock);
	return err;
}

/**
 * spek_store_flush() - make all written data permanent
 * @store: initialised
 *
 * Context: any.
 */
void spek_store_flush(struct spek_store *store)
{
	atomic_long_inc(&store->epoch);
}

/**
 * spek_store_track() - start or stop tracking what is permanent
 * @store: initialised
 * @tracks: start; the present data is permanent
 *
 * Context: process, may sleep; one caller at a time.
 */
void spek_store_track(struct spek_store *store, bool tracks)
{
	if (tracks == store->tracks)
		return;
	WRITE_ONCE(store->tracks, tracks);
	/*
	 * A write that found no tracking takes no lock and leaves copies alone. A copy that was made
	 * before its end would lack its data, and a cut would lose them even if they are permanent.
	 */
	if (tracks)
		synchronize_rcu();
	spin_lock_bh(&store->lock);
	store->copies = tracks;
	/* Pairs with spek_store_write(): a write of the new epoch knows that it is tracked. */
	smp_mb__before_atomic();
	atomic_long_inc(&store->epoch);
	spin_unlock_bh(&store->lock);
	if (!tracks)
		free_permanent(store);
}

/**
 * spek_store_cut() - lose what is not permanent
 * @store: initialised
 * @tears: keep pages with even numbers, so that longer writes are torn
 *
 * Context: process, may sleep; as spek_store_track().
 */
void spek_store_cut(struct spek_store *store, bool tears)
{
	unsigned long epoch = atomic_long_read(&store->epoch);
	struct page *page, *copy;
	unsigned long index;

	xa_for_each(&store->permanent, index, copy) {
		if (tears && !(index & 1))
			continue;
		spin_lock_bh(&store->lock);
		rcu_read_lock();
		page = xa_load(&store->pages, index);
		if (page && page_private(copy) == epoch)
			copy_highpage(page, copy);
		rcu_read_unlock();
		spin_unlock_bh(&store->lock);
		cond_resched();
	}
	spek_store_flush(store);
}

/*
 * Create all pages that a write needs, so that it fails, if at all, before anything is written.
 * After a failure the created pages stay, as zeroes. Return: 0 or a negative errno.
 */
static int prepare(struct spek_store *store, u64 at, u64 end, bool permanent, unsigned long epoch)
{
	unsigned long index, last = (end - 1) >> PAGE_SHIFT;
	int err = 0;

	for (index = at >> PAGE_SHIFT; !err && index <= last; index++) {
		struct page *page;

		rcu_read_lock();
		page = writable_page(store, index);
		if (IS_ERR(page)) {
			err = PTR_ERR(page);
		} else if (READ_ONCE(store->tracks) && !permanent) {
			spin_lock_bh(&store->lock);
			/* Else the write has become permanent, see write_tracked(). */
			if (store->copies && atomic_long_read(&store->epoch) == epoch)
				err = keep_permanent(store, page, index, epoch);
			spin_unlock_bh(&store->lock);
		}
		rcu_read_unlock();
	}
	return err;
}

/**
 * spek_store_write() - keep what is written
 * @store: initialised
 * @lba: first sector
 * @list: data
 * @entries: number of its entries
 * @bytes: number of bytes
 * @permanent: a power cut does not lose it
 * @whole: write all or nothing
 *
 * Context: any but hard interrupt; does not sleep.
 * Return: 0; -ENOSPC at a limit; -ENOMEM for now, also if the page will fit below the limit that
 * the drives share once all unmapped pages are free; unless @whole is set, a part may have been
 * written then.
 */
int spek_store_write(struct spek_store *store, u64 lba, struct scatterlist *list, u32 entries,
		     u64 bytes, bool permanent, bool whole)
{
	/* Pairs with spek_store_track(). */
	unsigned long epoch = atomic_long_read_acquire(&store->epoch);
	u64 at = lba << SECTOR_SHIFT, end = at + bytes;
	struct sg_mapping_iter iter;
	int err = 0;

	if (store->discards)
		return 0;
	if (whole)
		err = prepare(store, at, end, permanent, epoch);
	if (err)
		return err;
	sg_miter_start(&iter, list, entries, SG_MITER_ATOMIC | SG_MITER_FROM_SG);
	while (!err && at < end && sg_miter_next(&iter)) {
		size_t done = 0;

		while (done < iter.length && at < end) {
			u32 offset = offset_in_page(at);
			size_t n = min3((size_t)(PAGE_SIZE - offset), iter.length - done,
					(size_t)(end - at));
			struct page *page;

			rcu_read_lock();
			page = writable_page(store, at >> PAGE_SHIFT);
			if (IS_ERR(page)) {
				rcu_read_unlock();
				err = PTR_ERR(page);
				break;
			}
			if (READ_ONCE(store->tracks))
				err = write_tracked(store, page, at, iter.addr + done, n,
						    permanent, epoch);
			else
				memcpy_to_page(page, offset, iter.addr + done, n);
			rcu_read_unlock();
			if (err)
				break;
			done += n;
			at += n;
		}
	}
	sg_miter_stop(&iter);
	return err;
}

static void free_page_rcu(struct rcu_head *head)
{
	__free_page(container_of(head, struct page, rcu_head));
	atomic_long_dec(&pages_in_use);
	/* In this order: pairs with charge_shared(). */
	smp_mb__before_atomic();
	atomic_long_dec(&pages_leaving);
}

/* Zero a part of a page, at once permanently. */
static void clear_part(struct spek_store *store, u64 at, size_t bytes)
{
	unsigned long index = at >> PAGE_SHIFT;
	struct page *page, *copy;

	spin_lock_bh(&store->lock);
	rcu_read_lock();
	page = xa_load(&store->pages, index);
	if (page)
		memzero_page(page, offset_in_page(at), bytes);
	rcu_read_unlock();
	copy = permanent_page(store, index, atomic_long_read(&store->epoch));
	if (copy)
		memzero_page(copy, offset_in_page(at), bytes);
	spin_unlock_bh(&store->lock);
}

/* Zero the copy of a whole page. */
static void clear_permanent(struct spek_store *store, unsigned long index)
{
	struct page *copy;

	spin_lock_bh(&store->lock);
	copy = permanent_page(store, index, atomic_long_read(&store->epoch));
	if (copy)
		clear_highpage(copy);
	spin_unlock_bh(&store->lock);
}

/**
 * spek_store_unmap() - forget what was written: it reads as zeroes, and its memory is free again
 * @store: initialised
 * @lba: first sector
 * @bytes: number of bytes
 *
 * Context: any but hard interrupt; does not sleep.
 */
void spek_store_unmap(struct spek_store *store, u64 lba, u64 bytes)
{
	u64 at = lba << SECTOR_SHIFT, end = at + bytes;
	unsigned long index, last;
	struct page *page;

	if (offset_in_page(at) || end - at < PAGE_SIZE) {
		u64 part_end = min(end, round_down(at, PAGE_SIZE) + PAGE_SIZE);

		clear_part(store, at, part_end - at);
		at = part_end;
	}
	if (at < end && offset_in_page(end)) {
		clear_part(store, round_down(end, PAGE_SIZE), offset_in_page(end));
		end = round_down(end, PAGE_SIZE);
	}
	if (at >= end)
		return;
	last = (end >> PAGE_SHIFT) - 1;
	xa_for_each_range(&store->pages, index, page, at >> PAGE_SHIFT, last) {
		if (READ_ONCE(store->tracks))
			clear_permanent(store, index);
		/* Another unmap may have been first. */
		page = xa_erase_bh(&store->pages, index);
		if (!page)
			continue;
		atomic_long_dec(&store->nr_pages);
		atomic_long_inc(&pages_leaving);
		call_rcu(&page->rcu_head, free_page_rcu);
	}
}

/**
 * spek_store_exit() - wait until pages that were unmapped are freed
 *
 * No store may be left.
 */
void spek_store_exit(void)
{
	rcu_barrier();
}

/**
 * spek_store_read() - give what was written
 * @store: initialised
 * @lba: first sector
 * @list: memory for the data
 * @entries: number of its entries
 * @bytes: number of bytes
 *
 * Context: any but hard interrupt; does not sleep.
 */
void spek_store_read(struct spek_store *store, u64 lba, struct scatterlist *list, u32 entries,
		     u64 bytes)
{
	u64 at = lba << SECTOR_SHIFT, end = at + bytes;
	struct sg_mapping_iter iter;

	sg_miter_start(&iter, list, entries, SG_MITER_ATOMIC | SG_MITER_TO_SG);
	while (at < end && sg_miter_next(&iter)) {
		size_t done = 0;

		while (done < iter.length && at < end) {
			u32 offset = offset_in_page(at);
			size_t n = min3((size_t)(PAGE_SIZE - offset), iter.length - done,
					(size_t)(end - at));
			struct page *page;

			rcu_read_lock();
			page = xa_load(&store->pages, at >> PAGE_SHIFT);
			if (page)
				memcpy_from_page(iter.addr + done, page, offset, n);
			else
				memset(iter.addr + done, 0, n);
			rcu_read_unlock();
			done += n;
			at += n;
		}
	}
	sg_miter_stop(&iter);
}
