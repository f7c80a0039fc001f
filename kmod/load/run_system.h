/* SPDX-License-Identifier: GPL-2.0 */
/* Ending all runs of the system, as run.c sees it. See run_system.c. */
#ifndef SPEK_RUN_SYSTEM_H
#define SPEK_RUN_SYSTEM_H

#include <linux/types.h>

bool spek_run_starts_are_blocked(void);
void spek_run_count_started(void);
void spek_run_count_ended(void);

#endif
