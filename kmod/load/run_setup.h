/* SPDX-License-Identifier: GPL-2.0 */
/* Making and releasing what a run is made of. See run_setup.c. */
#ifndef SPEK_RUN_SETUP_H
#define SPEK_RUN_SETUP_H

#include "worker.h"

struct spek_refusal;
struct spek_run;

struct spek_run *spek_run_alloc(struct spek_run_config *config);
void spek_run_remove_files(struct spek_run *run);
void spek_run_free(struct spek_run *run);

int spek_run_setup(struct spek_run *run, struct spek_run *from,
		   const struct spek_worker_ops *ops, struct spek_refusal *refusal);

struct spek_worker **spek_run_unhook_workers(struct spek_run *run);
void spek_run_release_devices(struct spek_run *run, struct spek_worker **workers);

#endif
