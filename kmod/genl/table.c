// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of numbered objects: what a family makes, names by number and dumps.
 *
 * Numbers start at 1 and are used again only after all others were. The table has a reference to
 * each of its objects, which its owner drops after spek_genl_table_remove(). Whoever finds an
 * object under the lock may take another one: the table's keeps the object alive.
 */
#include <linux/lockdep.h>
#include "table.h"

static void *hold(const struct spek_genl_table *table, void *object)
{
	if (object)
		kref_get(object + table->ref);
	return object;
}

/**
 * spek_genl_table_add() - give an object its number and make it known
 * @table: table
 * @object: object that nobody else knows
 * @id: set to its number, before anybody can find it
 *
 * Context: process, with the table's lock, until whose release nobody finds the object.
 * Return: 0 or a negative errno.
 */
int spek_genl_table_add(struct spek_genl_table *table, void *object, u32 *id)
{
	int err;

	lockdep_assert_held(table->lock);
	/* 1 says that numbers start again. */
	err = xa_alloc_cyclic(&table->objects, id, object, xa_limit_31b, &table->next_id,
			      GFP_KERNEL);
	if (err < 0)
		return err;
	table->nr++;
	spek_genl_table_changed(table);
	return 0;
}

/**
 * spek_genl_table_remove() - take an object out of the table
 * @table: table
 * @id: its number
 *
 * Context: process, with the table's lock. The caller drops the table's reference.
 */
void spek_genl_table_remove(struct spek_genl_table *table, u32 id)
{
	lockdep_assert_held(table->lock);
	if (!xa_erase(&table->objects, id))
		return;
	table->nr--;
	spek_genl_table_changed(table);
}

/**
 * spek_genl_table_changed() - let dumps in progress see that they are interrupted
 * @table: table, of which an object has changed
 *
 * Context: process, with the table's lock.
 */
void spek_genl_table_changed(struct spek_genl_table *table)
{
	lockdep_assert_held(table->lock);
	WRITE_ONCE(table->generation, table->generation + 2);
}

/**
 * spek_genl_table_find() - find an object, without a reference
 * @table: table
 * @id: its number
 *
 * Context: process, with the table's lock.
 * Return: the object, valid as long as the lock is held, or NULL.
 */
void *spek_genl_table_find(struct spek_genl_table *table, u32 id)
{
	lockdep_assert_held(table->lock);
	return xa_load(&table->objects, id);
}

/**
 * spek_genl_table_next() - find the next object, without a reference
 * @table: table
 * @id: lowest number wanted; set to the number found
 *
 * Context: process, with the table's lock.
 * Return: the object, valid as long as the lock is held, or NULL if there is none.
 */
void *spek_genl_table_next(struct spek_genl_table *table, u32 *id)
{
	unsigned long index = *id;
	void *object;

	lockdep_assert_held(table->lock);
	object = xa_find(&table->objects, &index, U32_MAX, XA_PRESENT);
	if (object)
		*id = index;
	return object;
}

/**
 * spek_genl_table_get() - find an object
 * @table: table
 * @id: its number
 *
 * Context: process, without the table's lock.
 * Return: the object, with a reference, or NULL.
 */
void *spek_genl_table_get(struct spek_genl_table *table, u32 id)
{
	void *object;

	mutex_lock(table->lock);
	object = hold(table, spek_genl_table_find(table, id));
	mutex_unlock(table->lock);
	return object;
}

/**
 * spek_genl_table_get_next() - find the next object
 * @table: table
 * @id: lowest number wanted; set to the number found
 *
 * Context: process, without the table's lock.
 * Return: the object, with a reference, or NULL if there is none with @id or above.
 */
void *spek_genl_table_get_next(struct spek_genl_table *table, u32 *id)
{
	void *object;

	mutex_lock(table->lock);
	object = hold(table, spek_genl_table_next(table, id));
	mutex_unlock(table->lock);
	return object;
}

/**
 * spek_genl_table_generation() - read the generation of a table
 * @table: table
 *
 * Context: any.
 * Return: number that changes with the set; never 0.
 */
u32 spek_genl_table_generation(const struct spek_genl_table *table)
{
	return READ_ONCE(table->generation);
}

/**
 * spek_genl_table_deinit() - free a table, which is empty
 * @table: table
 *
 * Context: process.
 */
void spek_genl_table_deinit(struct spek_genl_table *table)
{
	xa_destroy(&table->objects);
}
