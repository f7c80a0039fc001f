/* SPDX-License-Identifier: GPL-2.0 */
/* Workers: one kernel thread for each, bound to a CPU. See worker.c. */
#ifndef SPEK_WORKER_H
#define SPEK_WORKER_H

#include <linux/bio.h>
#include <linux/cache.h>
#include <linux/llist.h>
#include <linux/wait.h>
#include "core/gen.h"
#include "run.h"
#include "slot.h"
#include "stats.h"
#include "target.h"

/**
 * struct spek_poller - how completions of a target are polled for
 * @last: the bio that was sent last; its cookie names the queue
 * @bio: what is given to bio_poll(); none of the slots', which may wait to be sent again
 */
struct spek_poller {
	const struct bio *last;
	struct bio bio;
};

/**
 * struct spek_lane - how operations on an asu become parts; const
 * @map: where its bytes lie
 * @target: of an asu that is not striped
 * @target_index: number of @target
 * @whole_bytes: operations up to this size are one part in one chunk of the buffer; 0: it depends
 * @start: first byte of the asu on @target
 * @opf: operation and flags of a read and of a write
 */
struct spek_lane {
	struct spek_asu_map map;
	const struct spek_target *target;
	u32 target_index;
	u32 whole_bytes;
	u64 start;
	blk_opf_t opf[2];
};

/**
 * struct spek_worker - a worker
 * @run: its run
 * @index: number within the run
 * @cpu: CPU it is bound to
 * @task: its thread, referenced
 * @gen: generator of its operations
 * @slots: its slots
 * @nr_slots: how many
 * @set: the two sets it counts into
 * @lane: of each asu
 * @log: where its I/Os are recorded, the run's; NULL without a log
 * @verify: the run's; NULL without stamped data
 * @watched: there is one of these
 * @ramp_count: its share of the ramp-up by count, const after start
 * @measure_count: its share of the measurement by count, const after start
 * @count: requests sent to each target
 * @start: woken when the run starts
 *
 * Fields of the second group are the thread's own; what others read of them they
 * read with READ_ONCE. The third group is shared with completions and the collector.
 */
struct spek_worker {
	/* const after spek_worker_create() */
	struct spek_run *run;
	u32 index;
	u32 cpu;
	u32 nr_slots;
	struct task_struct *task;
	struct spek_gen *gen;
	struct spek_slot *slots;
	struct spek_set *set[2];
	struct spek_lane lane[SPEK_MAX_ASUS];
	struct spek_iolog *log;
	struct spek_verify *verify;
	bool watched;
	u64 ramp_count;
	u64 measure_count;

	/* worker-owned */
	struct spek_set *active;
	struct spek_slot *free;
	/* Its parts from stalled_part on wait for room; if that is NULL, all of it, for blocks. */
	struct spek_slot *stalled;
	struct spek_part *stalled_part;
	u32 outstanding;
	const struct bio *asking;	/* being submitted, not to wait; see submit_bio.c */
	u32 phase;
	u64 boundary_ns;		/* end of the piece of a row, of the row or of the phase */
	u64 row;
	u64 row_start_ns;
	u64 row_end_ns;
	u64 phase_end_ns;		/* SPEK_NEVER while it ends by count or is not known */
	u64 phase_left;			/* completions until the phase ends by count */
	u64 issue_left;			/* operations that may still be issued */
	u16 ioprio;			/* of the thread, as of the last boundary */
	u64 seen_cpu_ns;
	u64 seen_switches;
	u64 spin_end_ns;		/* until then it waits for a completion without sleeping */
	u32 batch_hint;			/* operations the next plug is likely to carry */
	struct spek_target_count count[SPEK_MAX_TARGETS];
	struct spek_poller *poller;	/* of each target */
	bool roams;			/* its CPU went away while it polled */

	/* shared with completions: who adds to done wakes the thread if it is idle */
	struct llist_head done ____cacheline_aligned;
	bool idle;

	/* shared with the collector: a set while it is the collector's, else NULL */
	struct spek_set *sealed ____cacheline_aligned;
	wait_queue_head_t start;
	u64 start_ns;			/* 0 before the run starts */
};

/**
 * spek_worker_create() - make a worker and its thread; the thread waits for the start
 * @run: configured, targets open
 * @index: number of the worker
 * @shape: how its slots are made; const while the worker exists
 *
 * Context: process, may sleep.
 * Return: the worker or an ERR_PTR.
 */
struct spek_worker *spek_worker_create(struct spek_run *run, u32 index,
				       const struct spek_slot_shape *shape);
/**
 * spek_worker_reap() - wait until the thread has left the module
 *
 * Before the start it makes the thread leave; after it, the thread leaves by itself
 * when its run has ended and all its I/O came back. Context: process, may sleep.
 */
void spek_worker_reap(struct spek_worker *worker);
/**
 * spek_worker_destroy() - free a reaped worker
 *
 * The caller has waited for a grace period after spek_worker_reap(): the completion
 * that ended the thread, or spek_run_end(), may still be looking at @worker.
 */
void spek_worker_destroy(struct spek_worker *worker, const struct spek_slot_shape *shape);

/** spek_worker_prepare() - first step of a start. Return: true if it will ever have work. */
bool spek_worker_prepare(struct spek_worker *worker, u64 start_ns);
/** spek_worker_has_work() - Return: what spek_worker_prepare() said; before the start. */
bool spek_worker_has_work(const struct spek_worker *worker);
/** spek_worker_set_counts() - its share of what is counted out; before the start. */
void spek_worker_set_counts(struct spek_worker *worker, u64 ramp_count, u64 measure_count);
/** spek_worker_start() - let the thread go. @start_ns: time 0 of the run. */
void spek_worker_start(struct spek_worker *worker, u64 start_ns);
/** spek_worker_kick() - wake the thread so that it looks at the run's end_reason. Any context. */
void spek_worker_kick(struct spek_worker *worker);

/** spek_worker_info() - what netlink shows; while the worker exists. */
void spek_worker_info(const struct spek_worker *worker, struct spek_worker_info *info);
/** spek_worker_oldest_ns() - Return: age of the oldest outstanding I/O at @now_ns, 0 if none. */
u64 spek_worker_oldest_ns(const struct spek_worker *worker, u64 now_ns);

/** spek_worker_take_sealed() - Return: the sealed set, or NULL; the caller's until given back. */
struct spek_set *spek_worker_take_sealed(struct spek_worker *worker);
void spek_worker_give_back(struct spek_worker *worker);

/* Called by back ends. */
void spek_worker_count_refused(struct spek_part *part);

#endif
