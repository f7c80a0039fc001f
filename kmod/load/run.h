/* SPDX-License-Identifier: GPL-2.0 */
/* Life of a run: who may do what, and when. See run.c for states, references and locks. */
#ifndef SPEK_RUN_H
#define SPEK_RUN_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include "../core/refusal.h"
#include "config.h"
#include "core/state.h"
#include "outcome.h"
#include "slot.h"
#include "stats.h"
#include "target.h"
#include "worker.h"
#include "worker_phase.h"

struct dentry;
struct spek_claim;
struct spek_iolog;
struct spek_replay;
struct spek_run;
struct spek_verify;
struct spek_zone_map;

#define SPEK_RUN_LOG_DIR_LEN	24

/**
 * struct spek_clocks - three clocks, read together
 * @mono_ns: CLOCK_MONOTONIC
 * @raw_ns: CLOCK_MONOTONIC_RAW
 * @real_ns: CLOCK_REALTIME
 */
struct spek_clocks {
	u64 mono_ns;
	u64 raw_ns;
	u64 real_ns;
};

/**
 * struct spek_run_listener - what runs report upwards
 * @state_changed: the state of a run has changed; its notify_lock is held, its lock is not
 * @removed: a run has left the table; no lock is held
 *
 * Context: process.
 */
struct spek_run_listener {
	void (*state_changed)(struct spek_run *run);
	void (*removed)(struct spek_run *run);
};

/**
 * struct spek_run - a run
 * @ref: one for the table while the run is in it, one for each user of a pointer
 * @id: number, const
 * @config: const
 * @notify_lock: serializes state changes with their notifications, outside of @lock
 * @release_lock: held while workers are ended and devices given back, outside of @lock
 * @collect_lock: held by the collector, outside of @lock; @workers stay while it is held
 * @lock: protects the fields from @state to @workers; never taken by workers
 * @state: enum spek_state
 * @reason: enum spek_reason
 * @started: clocks at the start of the ramp-up; of an armed run: when it will be
 * @ended: clocks when the last I/O had come back
 * @orphan: the owner is gone: delete when done
 * @stops: run-stop was accepted
 * @is_set_up: devices were claimed and workers made; set once, with release
 * @failure: why it is FAILED
 * @stats: totals and intervals
 * @workers: config.nr_workers entries; NULL before they exist and once they are unhooked
 * @claim: taken, until the targets are closed; NULL: the run opens them itself. Changed by
 *	open_work, and with release_lock
 * @targets: config.nr_targets entries; const once @is_set_up, open until DONE
 * @shape: how slots are made; const once @is_set_up
 * @polls: a target is polled; const once @is_set_up
 * @worker_info: what is known of the workers when they are gone
 * @count: requests sent to each target by workers that are gone
 * @arrival_end_ns: ends of arrival processes with counts, when the workers are gone
 * @verify: with stamped data, kept for reading until the run is freed; else NULL; const once
 *	@is_set_up
 * @replay: with a trace, its rings, kept until the run is freed; else NULL; const once @is_set_up
 * @zones: with streams at write pointers, their zones, kept until the run is freed; else NULL;
 *	const once @is_set_up
 * @log: log of each worker, kept for reading until the run is freed; NULL without one; const once
 *	@is_set_up
 * @log_dentry: directory of the logs' files
 * @log_dir: its name, from the mount point of debugfs
 * @open_work: claim devices, make workers; has a reference
 * @start_work: the time of an armed run has come; has a reference
 * @collect_work: add sealed sets to the totals
 * @finish_work: the workers have ended: release everything but the results; has a reference
 * @delete_work: release everything and leave the table; has a reference
 * @live_workers: workers that have not ended; the last one queues @finish_work
 * @outcome: how it ends
 * @phase_end: ends of the ramp-up and of the measure phase by count
 */
struct spek_run {
	struct kref ref;
	u32 id;
	struct spek_run_config *config;

	struct mutex notify_lock;	/* see above */
	struct mutex release_lock;	/* see above */
	struct mutex collect_lock;	/* see above */
	struct mutex lock;	/* see above */
	enum spek_state state;
	u32 reason;
	struct spek_clocks started;
	struct spek_clocks ended;
	bool orphan;
	bool stops;
	bool is_set_up;
	struct spek_refusal failure;
	struct spek_stats *stats;
	struct spek_worker **workers;

	struct spek_claim *claim;
	struct spek_target *targets;
	struct spek_slot_shape shape;
	bool polls;
	struct spek_worker_info *worker_info;
	struct spek_target_count count[SPEK_MAX_TARGETS];
	u64 arrival_end_ns[SPEK_MAX_ARRIVALS];
	struct spek_verify *verify;
	struct spek_replay *replay;
	struct spek_zone_map *zones;
	struct spek_iolog **log;
	struct dentry *log_dentry;
	char log_dir[SPEK_RUN_LOG_DIR_LEN];

	struct work_struct open_work;
	struct delayed_work start_work;
	struct work_struct collect_work;
	struct work_struct finish_work;
	struct work_struct delete_work;
	atomic_t live_workers;
	struct spek_outcome outcome;
	struct spek_phase_end phase_end[SPEK_PHASE_DRAIN];
};

/**
 * struct spek_run_view - what netlink reports of a run, read under its lock
 * @id: number
 * @state: enum spek_state
 * @phase: enum spek_phase
 * @reason: enum spek_reason
 * @is_set_up: targets, logs and workers exist
 * @failure: why it is FAILED; err is 0 otherwise
 * @started: see struct spek_run
 * @ended: see struct spek_run
 * @measure_ns: start of the measure phase, or 0
 * @drain_ns: end of the measure phase, or 0
 * @now_ns: time of the view
 * @outstanding: I/Os that devices hold
 * @backlog: arrivals that were due and not issued, at the last boundary
 * @oldest_ns: age of the oldest outstanding I/O; 0 before the run begins to end
 * @intervals: closed intervals
 * @errors: failed I/Os
 * @first_error: the first failure in words; empty without one
 * @first_sense: its sense data
 * @arrival_end_ns: ends of arrival processes with counts
 */
struct spek_run_view {
	u32 id;
	u32 state;
	u32 phase;
	u32 reason;
	bool is_set_up;
	struct spek_refusal failure;
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
	u64 arrival_end_ns[SPEK_MAX_ARRIVALS];
};

int spek_run_init(const struct spek_run_listener *listener);
void spek_run_deinit(void);

int spek_run_new(struct spek_run_config *config, u32 *id, struct spek_refusal *refusal);
struct spek_run *spek_run_get(u32 id);
struct spek_run *spek_run_get_next(u32 id);
void spek_run_put(struct spek_run *run);

int spek_run_start(struct spek_run *run, u64 start_ns, struct spek_refusal *refusal);
int spek_run_stop(struct spek_run *run, struct spek_refusal *refusal);
int spek_run_delete(struct spek_run *run, struct spek_refusal *refusal);
void spek_run_owner_gone(u32 portid);

int spek_run_suspend_all(void);
void spek_run_resume_all(void);
void spek_run_shutdown_all(void);
void spek_run_cpu_offline(u32 cpu);

bool spek_run_is_set_up(const struct spek_run *run);
struct spek_verify *spek_run_verify(const struct spek_run *run);
struct spek_replay *spek_run_replay(const struct spek_run *run);
void spek_run_view(struct spek_run *run, struct spek_run_view *view);
u64 spek_run_arrival_end(const struct spek_run *run, u32 arrival);
void spek_run_view_worker(struct spek_run *run, u32 index, struct spek_worker_info *info);
void spek_run_view_target(struct spek_run *run, u32 index, struct spek_target_view *view);
struct spek_snapshot *spek_run_snapshot(struct spek_run *run);
size_t spek_run_row_bytes(const struct spek_run *run);
u64 spek_run_nr_rows(struct spek_run *run);
bool spek_run_copy_row(struct spek_run *run, u64 *seq, u64 end, struct spek_row *copy,
		       u64 *dropped);
int spek_run_restore_map(struct spek_run *run, u32 target, u64 first, const u64 *states, u32 nr,
			 struct spek_refusal *refusal);

#endif
