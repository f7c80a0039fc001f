/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of numbered objects. See table.c. */
#ifndef SPEK_GENL_TABLE_H
#define SPEK_GENL_TABLE_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <linux/xarray.h>

/**
 * struct spek_genl_table - objects of a kind, by number
 * @lock: the owner's; protects the next 4 fields, and of the owner's what it likes
 * @objects: the objects
 * @next_id: number to try next
 * @nr: objects in the table
 * @generation: changes with the set; odd, so never 0. Written under @lock, read without it
 * @ref: offset of the objects' struct kref; const
 */
struct spek_genl_table {
	struct mutex *lock;
	struct xarray objects;
	u32 next_id;
	u32 nr;
	u32 generation;
	size_t ref;
};

/**
 * SPEK_GENL_TABLE() - initialize a table at file scope
 * @table: the variable
 * @mutex: pointer to the lock
 * @type: type of the objects
 * @member: their struct kref
 */
#define SPEK_GENL_TABLE(table, mutex, type, member) {			\
	.lock = mutex,							\
	.objects = XARRAY_INIT((table).objects, XA_FLAGS_ALLOC1),	\
	.generation = 1,						\
	.ref = offsetof(type, member),					\
}

int spek_genl_table_add(struct spek_genl_table *table, void *object, u32 *id);
void spek_genl_table_remove(struct spek_genl_table *table, u32 id);
void spek_genl_table_changed(struct spek_genl_table *table);
void *spek_genl_table_find(struct spek_genl_table *table, u32 id);
void *spek_genl_table_next(struct spek_genl_table *table, u32 *id);
void *spek_genl_table_get(struct spek_genl_table *table, u32 id);
void *spek_genl_table_get_next(struct spek_genl_table *table, u32 *id);
u32 spek_genl_table_generation(const struct spek_genl_table *table);
void spek_genl_table_deinit(struct spek_genl_table *table);

#endif
