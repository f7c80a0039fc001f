/* SPDX-License-Identifier: GPL-2.0 */
/* Replay: rings of trace records between the feeder and the workers. See replay.c. */
#ifndef SPEK_REPLAY_H
#define SPEK_REPLAY_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include "core/replay.h"

struct spek_outcome;
struct spek_refusal;
struct spek_replay;
struct spek_run_config;
struct spek_target;

/**
 * struct spek_replay_ring - records of one worker
 * @supply: gives them to the worker's generator
 * @replay: the run's
 * @record: ring
 * @mask: records in the ring, a power of two, minus 1
 * @start_ns: time 0 of the run; const once it runs
 * @arrival: index of the trace's arrival process; const
 * @is_timed: records are due at their times; else they have think times, law closed; const
 * @taken: records that the generator has taken; released when they may be overwritten
 * @seen_written: @written as the worker saw it last
 * @issued: records that were issued
 * @dry_since_ns: the ring has been empty since then; 0: it is not, or all records were taken
 * @completed: records that have completed or failed
 * @is_exhausted: all records of the trace were taken
 * @is_done: all of them have completed, too
 * @underruns: times that the ring was empty when a record was due
 * @underrun_ns: time by which records came too late, summed
 * @underrun_first_ns: start of the first underrun
 * @underrun_last_ns: end of the last underrun
 * @written: records that were accepted; published with release
 * @filled_ns: when the first ones after the ring was empty were; published with @written
 * @last_at_ns: due time of the last one; 0 unless @is_timed
 *
 * Fields of the second group are the worker's own, those of the third are written under
 * replay->lock. Others read both with READ_ONCE.
 */
struct spek_replay_ring {
	/* const after spek_replay_create() */
	struct spek_supply supply;
	struct spek_replay *replay;
	struct spek_recorded *record;
	u64 mask;
	u32 arrival;
	bool is_timed;

	/* worker-owned */
	u64 taken ____cacheline_aligned;
	u64 start_ns;
	u64 seen_written;
	u64 issued;
	u64 dry_since_ns;
	u64 completed;
	bool is_exhausted;
	bool is_done;
	u64 underruns;
	u64 underrun_ns;
	u64 underrun_first_ns;
	u64 underrun_last_ns;

	/* under replay->lock */
	u64 written ____cacheline_aligned;
	u64 filled_ns;
	u64 last_at_ns;
};

/**
 * struct spek_replay - the trace of a run
 * @outcome: of the run
 * @rules: what records may be
 * @allows_flags: by asu: writes may have FUA and flush the cache first
 * @shares_left: workers whose share of the trace is not done
 * @lock: protects the next four and the feeder's part of the rings; nothing is locked inside
 * @has_feeder: @portid is valid; read elsewhere with acquire
 * @portid: socket of the feeder
 * @is_retired: the run is being removed; no socket becomes the feeder any more
 * @has_ended: all records were fed; set once, with release
 * @nr: number of rings
 * @ring: one for each worker
 */
struct spek_replay {
	struct spek_outcome *outcome;
	struct spek_replay_rules rules;
	bool allows_flags[SPEK_MAX_ASUS];
	atomic_t shares_left;
	struct mutex lock;	/* see above */
	bool has_feeder;
	u32 portid;
	bool is_retired;
	bool has_ended;
	u32 nr;
	struct spek_replay_ring *ring[];
};

/**
 * struct spek_replay_view - what netlink reports of a replay, over all workers
 * @fed: records accepted
 * @issued: records issued
 * @has_ended: all records were fed
 * @underruns: see struct spek_replay_ring
 * @underrun_ns: see struct spek_replay_ring
 * @underrun_first_ns: start of the first underrun; 0 without one
 * @underrun_last_ns: end of the last underrun; 0 without one
 * @dry_ns: longest time for which a ring has been empty
 */
struct spek_replay_view {
	u64 fed;
	u64 issued;
	bool has_ended;
	u64 underruns;
	u64 underrun_ns;
	u64 underrun_first_ns;
	u64 underrun_last_ns;
	u64 dry_ns;
};

u32 spek_replay_records(u32 records);
struct spek_replay *spek_replay_create(const struct spek_run_config *config,
				       const struct spek_target *targets,
				       struct spek_outcome *outcome);
void spek_replay_destroy(struct spek_replay *replay);

int spek_replay_claim(struct spek_replay *replay, u32 portid, struct spek_refusal *refusal);
int spek_replay_feed(struct spek_replay *replay, u32 worker, const void *records, u32 nr,
		     u32 *accepted, u32 *room, struct spek_refusal *refusal);
int spek_replay_end(struct spek_replay *replay, u64 count, struct spek_refusal *refusal);
bool spek_replay_retire(struct spek_replay *replay, u32 *portid);
bool spek_replay_is_fed_by(const struct spek_replay *replay, u32 portid);
bool spek_replay_may_start(struct spek_replay *replay);
void spek_replay_view(const struct spek_replay *replay, u64 now_ns,
		      struct spek_replay_view *view);

void spek_replay_attach(struct spek_replay_ring *ring, struct spek_gen *gen, u64 start_ns);
void spek_replay_refill(struct spek_replay_ring *ring, struct spek_gen *gen);
void spek_replay_complete(struct spek_replay_ring *ring, const struct spek_op *op);
void spek_replay_drop(struct spek_replay_ring *ring, const struct spek_op *op);
bool spek_replay_has_news(const struct spek_replay_ring *ring, const struct spek_gen *gen);
u64 spek_replay_backlog(const struct spek_replay_ring *ring, const struct spek_gen *gen,
			u64 end_ns);

#endif
