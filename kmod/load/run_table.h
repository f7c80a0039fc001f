/* SPDX-License-Identifier: GPL-2.0 */
/* The table of runs. See run_table.c. */
#ifndef SPEK_RUN_TABLE_H
#define SPEK_RUN_TABLE_H

#include <linux/mutex.h>
#include <linux/types.h>

struct spek_genl_table;
struct spek_run;

extern struct mutex spek_table_lock;
extern struct spek_genl_table spek_runs;

struct spek_run *spek_table_next(u32 id);
int spek_table_add(struct spek_run *run);
void spek_table_remove(struct spek_run *run);
void spek_table_deinit(void);

#endif
