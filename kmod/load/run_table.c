// SPDX-License-Identifier: GPL-2.0
/*
 * The table of runs: their numbers, and pointers to them.
 *
 * A run is in the table from spek_run_new() until its delete_work has released everything. The
 * table has a reference to it, which delete_work drops.
 *
 * spek_table_lock protects the table and, in run.c, whether runs may start. Its place in the lock
 * order is at the head of run.c.
 */
#include <linux/idr.h>
#include "run.h"
#include "run_table.h"

DEFINE_MUTEX(spek_table_lock);
static DEFINE_IDR(spek_table);
static u32 table_generation = 1;

/**
 * spek_table_next() - find the next run, without a reference
 * @id: lowest number wanted
 *
 * Context: process, with spek_table_lock.
 * Return: the run, valid as long as the lock is held, or NULL if there is none.
 */
struct spek_run *spek_table_next(u32 id)
{
	int next = id;

	lockdep_assert_held(&spek_table_lock);
	return idr_get_next(&spek_table, &next);
}

/**
 * spek_run_get() - find a run
 * @id: its number
 *
 * Context: process.
 * Return: the run, for spek_run_put(), or NULL.
 */
struct spek_run *spek_run_get(u32 id)
{
	struct spek_run *run;

	mutex_lock(&spek_table_lock);
	run = idr_find(&spek_table, id);
	if (run)
		kref_get(&run->ref);
	mutex_unlock(&spek_table_lock);
	return run;
}

/**
 * spek_run_get_next() - find the next run
 * @id: lowest number wanted
 *
 * Context: process.
 * Return: the run, for spek_run_put(), or NULL if there is none with @id or above.
 */
struct spek_run *spek_run_get_next(u32 id)
{
	struct spek_run *run;

	mutex_lock(&spek_table_lock);
	run = spek_table_next(id);
	if (run)
		kref_get(&run->ref);
	mutex_unlock(&spek_table_lock);
	return run;
}

/**
 * spek_run_generation() - read the generation of the set of runs
 *
 * Context: any.
 * Return: number that changes with the set; never 0.
 */
u32 spek_run_generation(void)
{
	return READ_ONCE(table_generation);
}

/**
 * spek_table_add() - give a run its number and make it known
 * @run: run that nobody else knows
 *
 * Context: process, with spek_table_lock, until whose release nobody finds the run.
 * Return: its number, or a negative errno.
 */
int spek_table_add(struct spek_run *run)
{
	int id;

	lockdep_assert_held(&spek_table_lock);
	id = idr_alloc_cyclic(&spek_table, run, 1, 0, GFP_KERNEL);
	if (id > 0) {
		run->id = id;
		spek_stats_set_run_id(run->stats, id);
		table_generation += 2;	/* odd, so never 0 */
	}
	return id;
}

/**
 * spek_table_remove() - take a run out of the table
 * @run: run
 *
 * Context: process.
 */
void spek_table_remove(struct spek_run *run)
{
	mutex_lock(&spek_table_lock);
	idr_remove(&spek_table, run->id);
	table_generation += 2;
	mutex_unlock(&spek_table_lock);
}

/**
 * spek_table_deinit() - free the table, which is empty
 *
 * Context: process.
 */
void spek_table_deinit(void)
{
	idr_destroy(&spek_table);
}
