/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a store needs of the kernel, for a process of which one thread runs at a time: trees are
 * arrays, and a grace period ends at rcu_barrier() or synchronize_rcu().
 */
#ifndef STORE_KERNEL_H
#define STORE_KERNEL_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../kmod/core/spek_host.h"

#define REQUIRE(holds) do {							\
		if (!(holds)) {							\
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #holds);	\
			abort();						\
		}								\
	} while (0)

#define PAGE_SHIFT		12
#define PAGE_SIZE		(1UL << PAGE_SHIFT)
#define SECTOR_SHIFT		9
#define MACHINE_PAGES		4096
#define TREE_PAGES		256

#define module_param(name, type, mode)	unsigned int *const param_##name = &name
#define MODULE_PARM_DESC(...)	struct unused
#define READ_ONCE(variable)	(variable)
#define WRITE_ONCE(x, value)	((void)((x) = (value)))
#define smp_load_acquire(at)	(*(at))
#define smp_store_release(at, value)	((void)(*(at) = (value)))
#define smp_mb__before_atomic()	((void)0)
#define smp_rmb()		((void)0)
#define min(a, b)		((a) < (b) ? (a) : (b))
#define min3(a, b, c)		min(a, min(b, c))
#define round_down(n, to)	((n) & ~((u64)(to) - 1))
#define offset_in_page(n)	((n) & (PAGE_SIZE - 1))
#define DIV_ROUND_UP_ULL(n, by)	(((n) + (by) - 1) / (by))
#define container_of(member_of, type, member) \
	((type *)((char *)(member_of) - offsetof(type, member)))
#define totalram_pages()	MACHINE_PAGES
#define cond_resched()		((void)0)
#define lockdep_assert_held(lock)	REQUIRE((lock)->is_held)

#define ERR_PTR(err)		((void *)(long)(err))
#define PTR_ERR(pointer)	((int)(long)(pointer))
#define IS_ERR(pointer)		((unsigned long)(pointer) >= -4095UL)

typedef struct {
	long value;
} atomic_long_t;

#define ATOMIC_LONG_INIT(number)	{ number }
#define atomic_long_read(at)		((at)->value)
#define atomic_long_read_acquire(at)	((at)->value)
#define atomic_long_set(at, number)	((void)((at)->value = (number)))
#define atomic_long_inc(at)		((void)(at)->value++)
#define atomic_long_dec(at)		((void)(at)->value--)
#define atomic_long_sub(number, at)	((void)((at)->value -= (long)(number)))
#define atomic_long_inc_return(at)	(++(at)->value)
#define atomic_long_try_cmpxchg(at, old, new) \
	((at)->value == *(old) ? ((at)->value = (new), true) : (*(old) = (at)->value, false))

typedef struct {
	bool is_held;
} spinlock_t;

#define spin_lock_init(lock)	((void)((lock)->is_held = false))
#define spin_lock_bh(lock)	do { REQUIRE(!(lock)->is_held); (lock)->is_held = true; } while (0)
#define spin_unlock_bh(lock)	do { REQUIRE((lock)->is_held); (lock)->is_held = false; } while (0)

/* ---- RCU ---- */

struct rcu_head {
	struct rcu_head *next;
	void (*function)(struct rcu_head *head);
};

void call_rcu(struct rcu_head *head, void (*function)(struct rcu_head *head));
void rcu_barrier(void);
void synchronize_rcu(void);

#define rcu_read_lock()		((void)0)
#define rcu_read_unlock()	((void)0)

/* ---- pages: @nr_pages of them have not been freed ---- */

struct page {
	struct rcu_head rcu_head;
	unsigned long private;
	u8 bytes[PAGE_SIZE];
};

extern long nr_pages;

/* Another thread may run; the second one has to before a lock is free. */
void before_copy(void);
void before_alloc(void);
void wait_for_lock(void);

#define GFP_NOWAIT	0
#define __GFP_NOWARN	0
#define __GFP_ZERO	0
#define __GFP_HIGHMEM	0

static inline struct page *alloc_page(int flags)
{
	before_alloc();
	nr_pages++;
	return calloc(1, sizeof(struct page));
}

static inline void __free_page(struct page *page)
{
	nr_pages--;
	free(page);
}

#define page_private(page)		((page)->private)
#define set_page_private(page, number)	((void)((page)->private = (number)))
#define copy_highpage(to, from)		memcpy((to)->bytes, (from)->bytes, PAGE_SIZE)
#define clear_highpage(page)		memset((page)->bytes, 0, PAGE_SIZE)
#define memzero_page(page, at, length)	memset((page)->bytes + (at), 0, length)
#define memcpy_to_page(page, at, from, length) \
	(before_copy(), memcpy((page)->bytes + (at), from, length))
#define memcpy_from_page(to, page, at, length)	memcpy(to, (page)->bytes + (at), length)

/* ---- trees ---- */

struct xarray {
	bool is_held;
	void *entries[TREE_PAGES];
};

static inline void xa_lock_bh(struct xarray *tree)
{
	if (tree->is_held)
		wait_for_lock();
	REQUIRE(!tree->is_held);
	tree->is_held = true;
}

static inline void xa_unlock_bh(struct xarray *tree)
{
	REQUIRE(tree->is_held);
	tree->is_held = false;
}

#define XA_FLAGS_LOCK_BH		0
#define xa_init_flags(tree, flags)	memset(tree, 0, sizeof(struct xarray))
#define xa_destroy(tree)		((void)(tree))
#define xa_load(tree, index)		((tree)->entries[index])
#define xa_is_err(entry)		IS_ERR(entry)
#define xa_err(entry)			(IS_ERR(entry) ? PTR_ERR(entry) : 0)

static inline void *xa_store_bh(struct xarray *tree, unsigned long index, void *entry, int flags)
{
	void *old = tree->entries[index];

	tree->entries[index] = entry;
	return old;
}

/* With the lock. */
static inline void *__xa_store(struct xarray *tree, unsigned long index, void *entry, int flags)
{
	REQUIRE(tree->is_held);
	return xa_store_bh(tree, index, entry, flags);
}

#define xa_erase_bh(tree, index)	xa_store_bh(tree, index, NULL, 0)
#define xa_for_each_range(tree, index, entry, from, last)			\
	for ((index) = (from); (index) <= (last) && (index) < TREE_PAGES; (index)++)	\
		if (((entry) = (tree)->entries[index]))
#define xa_for_each(tree, index, entry)	xa_for_each_range(tree, index, entry, 0, TREE_PAGES - 1)

/* ---- the host's memory, in one piece ---- */

struct scatterlist {
	u8 *bytes;
	size_t length;
};

struct sg_mapping_iter {
	u8 *addr;
	size_t length;
	bool is_done;
};

#define SG_MITER_ATOMIC		0
#define SG_MITER_FROM_SG	0
#define SG_MITER_TO_SG		0
#define sg_miter_start(iter, list, entries, flags) \
	(*(iter) = (struct sg_mapping_iter) { (list)->bytes, (list)->length, !(entries) })
#define sg_miter_next(iter)	(!(iter)->is_done && ((iter)->is_done = true))
#define sg_miter_stop(iter)	((void)(iter))

#endif
