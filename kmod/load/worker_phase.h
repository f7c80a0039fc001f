/* SPDX-License-Identifier: GPL-2.0 */
/* Phases and rows of a worker, and the sets that it passes to the collector. See worker_phase.c. */
#ifndef SPEK_WORKER_PHASE_H
#define SPEK_WORKER_PHASE_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/time64.h>
#include <linux/types.h>
#include "config.h"
#include "core/backlog.h"
#include "core/course.h"

struct spek_age;
struct spek_set;
struct spek_worker;

/* Sets of a worker, powers of two: with rows shorter than a second, and else */
#define SPEK_NR_SETS	8
#define SPEK_NR_SETS_LONG	4

/**
 * struct spek_phase_end - end of a phase that ends by count, common to the workers of a run
 * @left: workers that have not completed their shares
 * @latest_ns: when the latest of the shares was completed
 * @end_ns: end of the phase; 0 until the last share is completed
 */
struct spek_phase_end {
	atomic_t left;
	atomic64_t latest_ns;
	u64 end_ns;
};

/**
 * struct spek_phases - phases and rows of a worker, and its sets
 * @active: set it counts into
 * @course: place in phases and rows
 * @phase_left: completions until its share of a phase by count is complete
 * @issue_left: operations that may still be issued
 * @next_phase: phase that follows
 * @waits: its share of a phase by count is complete, and the end of the phase is not known
 * @counted_ns: while it waits with nothing in flight and nothing to issue: time of its last event
 * @dropped: arrivals that had a slot and were given up when the run ended: backlog again
 * @seen_cpu_ns: CPU time at the last seal
 * @seen_switches: context switches at the last seal
 * @set: the sets it counts into, in turn; NULL from @nr_sets on
 * @nr_sets: number of sets, a power of two
 * @age: I/Os in flight at the end of the measure phase, room for @nr_slots
 * @ends: ends of the ramp-up and of the measure phase by count, the run's
 * @ramp_count: its share of the ramp-up by count, const after start
 * @measure_count: its share of the measurement by count, const after start
 * @sealed: sets that it has sealed; written by the worker
 * @taken: sets that the collector has emptied; written by the collector
 * @backlog: counts the backlog at the seals; the collector's once the run starts
 *
 * Fields of the first group are the thread's own; others read them with READ_ONCE.
 */
struct spek_phases {
	/* worker-owned; the first line is read or written for each I/O */
	struct spek_set *active;
	struct spek_course course;
	u64 phase_left;
	u64 issue_left;
	u32 next_phase;
	bool waits;
	u32 dropped;
	u64 counted_ns;
	u64 seen_cpu_ns;
	u64 seen_switches;

	/* const after start */
	struct spek_set *set[SPEK_NR_SETS];
	u32 nr_sets;
	struct spek_age *age;
	struct spek_phase_end *ends;
	u64 ramp_count;
	u64 measure_count;

	/* shared with the collector */
	u32 sealed ____cacheline_aligned;
	u32 taken;
	struct spek_backlog backlog;
};

void spek_phase_ends_init(struct spek_phase_end *ends, u32 nr_workers);

void spek_worker_begin_phases(struct spek_worker *w);
void spek_worker_end_phases(struct spek_worker *w);
void spek_worker_pass_boundary(struct spek_worker *w, u64 now_ns);
void spek_worker_complete_share(struct spek_worker *w, u64 now_ns);
void spek_worker_learn_end(struct spek_worker *w, u64 counted_ns);
void spek_worker_end_early(struct spek_worker *w, u64 counted_ns);

/**
 * spek_worker_may_learn_end() - check whether the end of a phase by count became known
 * @phases: of a worker
 *
 * Return: true if the worker waits for it and can learn it.
 */
static inline bool spek_worker_may_learn_end(const struct spek_phases *phases)
{
	return phases->waits && READ_ONCE(phases->ends[phases->course.phase].end_ns);
}

/**
 * spek_worker_nr_sets() - number of sets of each worker
 * @config: of the run
 *
 * Return: sets, a power of two.
 */
static inline u32 spek_worker_nr_sets(const struct spek_run_config *config)
{
	return config->interval_ns && config->interval_ns < NSEC_PER_SEC ? SPEK_NR_SETS :
									   SPEK_NR_SETS_LONG;
}

struct spek_set *spek_worker_next_sealed(struct spek_worker *w);
void spek_worker_count_backlog(struct spek_worker *w, struct spek_set *set);
void spek_worker_give_back(struct spek_worker *w);

#endif
