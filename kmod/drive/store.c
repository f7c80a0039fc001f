// SPDX-License-Identifier: GPL-2.0
/* Data of a drive: pages of memory where something was written, zeroes elsewhere. */
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

/* Pages of all drives, those of tables included. */
static atomic_long_t pages_in_use = ATOMIC_LONG_INIT(0);

static long shared_limit(void)
{
	unsigned int mib = READ_ONCE(store_limit_mib);

	return mib ? (long)mib << (20 - PAGE_SHIFT) : (long)(totalram_pages() / 4);
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
 * Context: any.
 * Return: true if it fits, until spek_store_unreserve(); false if the limit does not allow it.
 */
bool spek_store_reserve(u64 bytes)
{
	long pages = DIV_ROUND_UP_ULL(bytes, PAGE_SIZE);

	if (atomic_long_add_return(pages, &pages_in_use) <= shared_limit())
		return true;
	atomic_long_sub(pages, &pages_in_use);
	return false;
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

/* Count a page; Return: false if a limit is reached. */
static bool charge(struct spek_store *store)
{
	if (atomic_long_inc_return(&pages_in_use) > shared_limit())
		goto err_shared;
	if (atomic_long_inc_return(&store->nr_pages) > store->max_pages)
		goto err_own;
	return true;

err_own:
	atomic_long_dec(&store->nr_pages);
err_shared:
	atomic_long_dec(&pages_in_use);
	return false;
}

static void uncharge(struct spek_store *store)
{
	atomic_long_dec(&store->nr_pages);
	atomic_long_dec(&pages_in_use);
}

/* Return: the page, made if it wasn't there, or an ERR_PTR(). */
static struct page *writable_page(struct spek_store *store, unsigned long index)
{
	struct page *page = xa_load(&store->pages, index), *other;

	if (page)
		return page;
	if (!charge(store))
		return ERR_PTR(-ENOSPC);
	page = alloc_page(GFP_NOWAIT | __GFP_NOWARN | __GFP_ZERO | __GFP_HIGHMEM);
	if (!page) {
		uncharge(store);
		return ERR_PTR(-ENOMEM);
	}
	other = xa_cmpxchg_bh(&store->pages, index, NULL, page, GFP_NOWAIT | __GFP_NOWARN);
	if (!other)
		return page;
	/* Another command made it meanwhile, or the tree has no memory. */
	__free_page(page);
	uncharge(store);
	return xa_is_err(other) ? ERR_PTR(xa_err(other)) : other;
}

/**
 * spek_store_write() - keep what is written
 * @store: initialised
 * @lba: first sector
 * @list: data
 * @entries: number of its entries
 * @bytes: number of bytes
 *
 * Context: any but hard interrupt; does not sleep.
 * Return: 0; -ENOSPC at a limit, -ENOMEM for now; a part may have been written then.
 */
int spek_store_write(struct spek_store *store, u64 lba, struct scatterlist *list, u32 entries,
		     u64 bytes)
{
	u64 at = lba << SECTOR_SHIFT, end = at + bytes;
	struct sg_mapping_iter iter;
	int err = 0;

	if (store->discards)
		return 0;
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
			memcpy_to_page(page, offset, iter.addr + done, n);
			rcu_read_unlock();
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
}

/* Zero a part of a page. */
static void clear_part(struct spek_store *store, u64 at, size_t bytes)
{
	struct page *page;

	rcu_read_lock();
	page = xa_load(&store->pages, at >> PAGE_SHIFT);
	if (page)
		memzero_page(page, offset_in_page(at), bytes);
	rcu_read_unlock();
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
		/* Another unmap may have been first. */
		page = xa_erase_bh(&store->pages, index);
		if (!page)
			continue;
		uncharge(store);
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
