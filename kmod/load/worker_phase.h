/* SPDX-License-Identifier: GPL-2.0 */
/* Phases and rows of a worker, and the sets that it passes to the collector. See worker_phase.c. */
#ifndef SPEK_WORKER_PHASE_H
#define SPEK_WORKER_PHASE_H

#include <linux/types.h>

struct spek_set;
struct spek_worker;

void spek_worker_begin_phases(struct spek_worker *w);
void spek_worker_end_phases(struct spek_worker *w);
void spek_worker_enter_phase(struct spek_worker *w, u32 phase, u64 now_ns);
void spek_worker_pass_boundary(struct spek_worker *w, u64 now_ns);

struct spek_set *spek_worker_take_sealed(struct spek_worker *w);
void spek_worker_give_back(struct spek_worker *w);

#endif
