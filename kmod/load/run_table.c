// SPDX-License-Identifier: GPL-2.0
/*
 * The table of runs: their numbers, and pointers to them.
 *
 * A run is in the table from spek_run_new() until its delete_work has released everything. The
 * table has a reference to it, which delete_work drops.
 *
 * spek_table_lock protects the table and, in run_system.c, whether runs may start. Its place in the
 * lock order is at the head of run.c.
 */
#include "../genl/table.h"
#include "run.h"
#include "run_table.h"

DEFINE_MUTEX(spek_table_lock);
struct spek_genl_table spek_runs = SPEK_GENL_TABLE(spek_runs, &spek_table_lock, struct spek_run,
						   ref);

/**
 * spek_run_get() - find a run
 * @id: its number
 *
 * Context: process.
 * Return: the run, for spek_run_put(), or NULL.
 */
struct spek_run *spek_run_get(u32 id)
{
	return spek_genl_table_get(&spek_runs, id);
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
	return spek_genl_table_get_next(&spek_runs, &id);
}

/**
 * spek_table_next() - find the next run, without a reference
 * @id: lowest number wanted
 *
 * Context: process, with spek_table_lock.
 * Return: the run, valid as long as the lock is held, or NULL if there is none.
 */
struct spek_run *spek_table_next(u32 id)
{
	return spek_genl_table_next(&spek_runs, &id);
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
	int err = spek_genl_table_add(&spek_runs, run, &run->id);

	if (err)
		return err;
	spek_stats_set_run_id(run->stats, run->id);
	return run->id;
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
	spek_genl_table_remove(&spek_runs, run->id);
	mutex_unlock(&spek_table_lock);
}

/**
 * spek_table_deinit() - free the table, which is empty
 *
 * Context: process.
 */
void spek_table_deinit(void)
{
	spek_genl_table_deinit(&spek_runs);
}
