/* SPDX-License-Identifier: GPL-2.0 */
/* Life of a run: who may do what, and when. See run.c for states and locks. */
#ifndef SPEK_RUN_H
#define SPEK_RUN_H

#include <linux/kref.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include "../core/refusal.h"
#include "core/state.h"
#include "core/workload.h"
#include "senses.h"
#include "slot.h"
#include "stats.h"
#include "target.h"
#include "uapi/spek.h"

struct dentry;
struct spek_iolog;
struct spek_verify;
struct spek_worker;

#define SPEK_RUN_NAME_LEN	64
#define SPEK_RUN_ERROR_LEN	128
#define SPEK_RUN_LOG_DIR_LEN	24

/**
 * struct spek_run_config - everything a run is made of; const after spek_run_new()
 * @name: name of the workload, for people
 * @seed: seed of every random decision
 * @owner_portid: netlink port of the socket that owns the run
 * @detached: the run outlives its socket
 * @may_write: targets are opened for writing and streams may write
 * @polled: poll for completions
 * @backend: enum spek_backend asked for
 * @data: enum spek_data
 * @max_outstanding: I/Os outstanding over all workers
 * @batch: I/Os issued under one plug
 * @spin_ns: spin for the last so many ns before an arrival
 * @interval_ns: report interval; 0: totals only
 * @ramp_ns: ramp-up by time, or 0
 * @ramp_count: ramp-up by I/Os completed, or 0
 * @time_ns: measure for so long, or 0
 * @count: measure so many I/Os, or 0
 * @max_errors: end after so many failed I/Os; 0: never
 * @log_records: room for records in the log of each worker; 0: no log
 * @stamp_id: stamped: of the run, 0: draw one
 * @verify_from: stamped: number of the run to go on from, or 0
 * @grain_bytes: stamped: largest grain, a power of two, or 0
 * @nr_workers: workers
 * @cpu: CPU of each worker
 * @nr_targets: targets
 * @dev: device number of each target
 * @diskseq: sequence number that its disk must have; 0: any
 * @stream_name: name of each stream
 * @workload: asus, arrival processes, streams
 */
struct spek_run_config {
	char name[SPEK_RUN_NAME_LEN];
	u64 seed;
	u32 owner_portid;
	bool detached;
	bool may_write;
	bool polled;
	u32 backend;
	u32 data;
	u32 max_outstanding;
	u32 batch;
	u64 spin_ns;
	u64 interval_ns;
	u64 ramp_ns;
	u64 ramp_count;
	u64 time_ns;
	u64 count;
	u64 max_errors;
	u32 log_records;
	u64 stamp_id;
	u32 verify_from;
	u32 grain_bytes;
	u32 nr_workers;
	u32 cpu[SPEK_MAX_WORKERS];
	u32 nr_targets;
	dev_t dev[SPEK_MAX_TARGETS];
	u64 diskseq[SPEK_MAX_TARGETS];
	char stream_name[SPEK_MAX_STREAMS][SPEK_NAME_LEN];
	struct spek_workload workload;
};

/**
 * struct spek_clocks - the three clocks, read together
 */
struct spek_clocks {
	u64 mono_ns;
	u64 raw_ns;
	u64 real_ns;
};

/**
 * struct spek_worker_info - what netlink shows of a worker
 */
struct spek_worker_info {
	u32 cpu;
	u32 pid;
	u32 outstanding;
	u64 cpu_ns;
	u64 voluntary;
	u64 involuntary;
	u64 log_written;
	u64 log_lost;
};

/**
 * struct spek_run - a run
 * @ref: one for the table while the run is in it, one for each user of a pointer
 * @id: number, const
 * @config: const
 * @news_lock: held from a change of @state until it is told, outside of @lock
 * @release_lock: held while workers are ended and devices given back, outside of @lock
 * @lock: protects @state to @stats' totals; never taken by workers
 * @state: enum spek_state
 * @reason: enum spek_reason
 * @started: clocks at the start of the ramp
 * @ended: clocks when the last I/O had come back
 * @orphan: the owner is gone: delete when done
 * @stats: totals and intervals
 * @targets: config.nr_targets; opened until DONE
 * @workers: config.nr_workers; NULL after DONE; also read under RCU
 * @shape: how slots are made, const
 * @polls: a target is polled, const
 * @worker_info: what is known of the workers when they are gone
 * @count: requests sent to each target by workers that are gone
 * @verify: with stamped data, kept for reading until the run goes; else NULL
 * @log: log of each worker, kept for reading until the run goes; NULL without one
 * @log_dentry: directory of their files
 * @log_dir: its name, as from the mount point of debugfs on
 * @collect_work: add sealed sets to the totals
 * @finish_work: the workers have ended: release everything but the results; has a reference
 * @reap_work: delete a run whose owner is gone; has a reference
 * @live_workers: workers that have not ended; the last one queues @finish_work
 * @end_reason: enum spek_reason; set once by whoever ends the run early, read by workers
 * @errors: failed I/Os, all workers
 * @first_error_state: 0 none, 1 being written, 2 readable
 * @first_error: the first failure in words
 * @first_sense: what its device said, readable with it
 * @senses: what devices have said of all failures
 */
struct spek_run {
	struct kref ref;
	u32 id;
	struct spek_run_config *config;

	struct mutex news_lock;	/* see above */
	struct mutex release_lock;	/* see above */
	struct mutex lock;	/* see above */
	enum spek_state state;
	u32 reason;
	struct spek_clocks started;
	struct spek_clocks ended;
	bool orphan;
	struct spek_stats *stats;
	struct spek_target *targets;
	struct spek_worker * __rcu *workers;
	struct spek_slot_shape shape;
	bool polls;
	struct spek_worker_info *worker_info;
	struct spek_target_count count[SPEK_MAX_TARGETS];
	struct spek_verify *verify;
	struct spek_iolog **log;
	struct dentry *log_dentry;
	char log_dir[SPEK_RUN_LOG_DIR_LEN];

	struct work_struct collect_work;
	struct work_struct finish_work;
	struct work_struct reap_work;
	atomic_t live_workers;
	atomic_t end_reason;
	atomic64_t errors;
	atomic_t first_error_state;
	char first_error[SPEK_RUN_ERROR_LEN];
	struct spek_sense first_sense;
	struct spek_senses senses;
};

int spek_run_init(void);
void spek_run_deinit(void);

/**
 * spek_run_new() - check a configuration, claim its targets, prepare its workers
 * @config: kvmalloc'ed; belongs to the run on success, stays the caller's on failure
 * @id: number of the new run
 * @refusal: filled in on failure
 *
 * Context: process, may sleep; no lock held.
 * Return: 0, or a negative errno with nothing changed.
 */
int spek_run_new(struct spek_run_config *config, u32 *id, struct spek_refusal *refusal);

/** spek_run_get() - Return: the run with a reference, or NULL. */
struct spek_run *spek_run_get(u32 id);
/** spek_run_get_next() - Return: the first run from @id on, with a reference, or NULL. */
struct spek_run *spek_run_get_next(u32 id);
void spek_run_put(struct spek_run *run);

/** spek_run_generation() - Return: number that changes whenever the set of runs does; never 0. */
u32 spek_run_generation(void);

/** spek_run_start() - Return: 0, or -EBUSY with @refusal if the run is not READY. */
int spek_run_start(struct spek_run *run, struct spek_refusal *refusal);
/** spek_run_stop() - ask it to end, READY or not; returns at once. Return: 0. */
int spek_run_stop(struct spek_run *run, struct spek_refusal *refusal);
/** spek_run_delete() - Return: 0, -EBUSY with I/O in flight, -ENOENT if it is gone. */
int spek_run_delete(struct spek_run *run, struct spek_refusal *refusal);
/** spek_run_owner_gone() - a netlink socket was closed: end and delete what it owned. */
void spek_run_owner_gone(u32 portid);

/**
 * spek_run_end() - no new I/O from now on; the first reason stays
 * @run: the run
 * @reason: enum spek_reason
 *
 * Context: any, also interrupt; takes no lock.
 */
void spek_run_end(struct spek_run *run, u32 reason);

/**
 * spek_run_report_failed() - a request failed: keep the first one in words
 *
 * Ends the run if @target is gone. Context: any.
 */
void spek_run_report_failed(struct spek_run *run, const struct spek_part *part,
			    blk_status_t status);
/** spek_run_count_failed() - an I/O failed; ends the run at max_errors. Context: worker. */
void spek_run_count_failed(struct spek_run *run);

/**
 * spek_share() - share out a number among workers, the remainder to the first ones
 *
 * Return: share of worker @index of @nr.
 */
static inline u64 spek_share(u64 total, u32 index, u32 nr)
{
	u32 rest;
	u64 each = div_u64_rem(total, nr, &rest);

	return each + (index < rest);
}

/** spek_run_collect() - a worker has sealed a set. Any context. */
void spek_run_collect(struct spek_run *run);

/** spek_run_worker_ended() - the last call of a worker's thread. */
void spek_run_worker_ended(struct spek_run *run);

/**
 * struct spek_run_view - what netlink shows of a run, taken under its lock
 */
struct spek_run_view {
	u32 id;
	u32 state;
	u32 phase;
	u32 reason;
	struct spek_clocks started;
	struct spek_clocks ended;
	u64 measure_ns;
	u64 drain_ns;
	u64 now_ns;
	u32 outstanding;
	u64 backlog;
	u64 oldest_ns;
	u64 intervals;
	u64 errors;
	char first_error[SPEK_RUN_ERROR_LEN];
	struct spek_sense first_sense;
};

/** spek_run_view() - Context: process; takes run->lock. */
void spek_run_view(struct spek_run *run, struct spek_run_view *view);
/** spek_run_view_worker() - Context: process; takes run->lock. */
void spek_run_view_worker(struct spek_run *run, u32 index, struct spek_worker_info *info);
/** spek_run_view_target() - Context: process; takes run->lock. */
void spek_run_view_target(struct spek_run *run, u32 index, struct spek_target_view *view);

/**
 * spek_notify_state() - implemented in netlink.c: multicast run-ntf
 *
 * Context: process; run->news_lock is held, run->lock not.
 */
void spek_notify_state(struct spek_run *run);

#endif
