/* SPDX-License-Identifier: GPL-2.0 */
/* Phases and rows of a worker, and the sets that it passes to the collector. See worker_phase.c. */
#ifndef SPEK_WORKER_PHASE_H
#define SPEK_WORKER_PHASE_H

#include <linux/cache.h>
#include <linux/types.h>
#include "core/backlog.h"

struct spek_age;
struct spek_set;
struct spek_worker;

/**
 * struct spek_phases - phases and rows of a worker, and its sets
 * @active: set it counts into
 * @boundary_ns: end of the piece of a row, of the row or of the phase
 * @phase_end_ns: end of the phase; SPEK_NEVER while it ends by count or is not known
 * @phase_left: completions until the phase ends by count
 * @issue_left: operations that may still be issued
 * @phase: enum spek_phase
 * @row: number of the row
 * @row_start_ns: start of the row
 * @row_end_ns: end of the row
 * @seen_cpu_ns: CPU time at the last seal
 * @seen_switches: context switches at the last seal
 * @set: the two sets it counts into
 * @age: I/Os in flight at the end of the measure phase, room for @nr_slots
 * @ramp_count: its share of the ramp-up by count, const after start
 * @measure_count: its share of the measurement by count, const after start
 * @sealed: a set while it is the collector's, else NULL
 * @backlog: counts the backlog at the seals; the collector's once the run starts
 *
 * Fields of the first group are the thread's own; others read them with READ_ONCE.
 */
struct spek_phases {
	/* worker-owned; the first line is read or written for each I/O */
	struct spek_set *active;
	u64 boundary_ns;
	u64 phase_end_ns;
	u64 phase_left;
	u64 issue_left;
	u32 phase;
	u64 row;
	u64 row_start_ns;
	u64 row_end_ns;
	u64 seen_cpu_ns;
	u64 seen_switches;

	/* const after start */
	struct spek_set *set[2];
	struct spek_age *age;
	u64 ramp_count;
	u64 measure_count;

	/* shared with the collector */
	struct spek_set *sealed ____cacheline_aligned;
	struct spek_backlog backlog;
};

void spek_worker_begin_phases(struct spek_worker *w);
void spek_worker_end_phases(struct spek_worker *w);
void spek_worker_enter_phase(struct spek_worker *w, u32 phase, u64 now_ns);
void spek_worker_pass_boundary(struct spek_worker *w, u64 now_ns);

struct spek_set *spek_worker_take_sealed(struct spek_worker *w);
void spek_worker_give_back(struct spek_worker *w);

#endif
