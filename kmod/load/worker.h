/* SPDX-License-Identifier: GPL-2.0 */
/* Workers: one kernel thread for each, bound to a CPU. See worker.c. */
#ifndef SPEK_WORKER_H
#define SPEK_WORKER_H

#include <linux/bio.h>
#include <linux/cache.h>
#include <linux/llist.h>
#include <linux/wait.h>
#include "core/backlog.h"
#include "core/contents.h"
#include "core/gen.h"
#include "config.h"
#include "slot.h"
#include "stats.h"
#include "target.h"

struct spek_iolog;
struct spek_outcome;
struct spek_replay;
struct spek_replay_ring;
struct spek_verify;
struct spek_zone_gate;
struct spek_zone_map;

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
 * struct spek_lane - how operations on an asu become parts; changes with the limits of targets
 * @map: where its bytes lie
 * @target: of an asu that is not striped
 * @target_index: number of @target
 * @whole_end: reads and writes of fewer bytes are one part in one chunk of the buffer; 0: it
 *	depends, for any operation
 * @start: first byte of the asu on @target
 * @opf: operation and flags of a read and of a write
 */
struct spek_lane {
	struct spek_asu_map map;
	const struct spek_target *target;
	u32 target_index;
	u32 whole_end;
	u64 start;
	blk_opf_t opf[2];
};

/**
 * struct spek_worker_ops - what a worker calls upwards
 * @collect: the worker has sealed a set; any context
 * @ended: the last call of the worker's thread
 *
 * Both get spek_worker_setup.owner.
 */
struct spek_worker_ops {
	void (*collect)(void *owner);
	void (*ended)(void *owner);
};

/**
 * struct spek_worker_setup - what the workers of a run have in common; const while they exist
 * @run_id: number of the run, for the names of threads and for tracepoints
 * @config: of the run
 * @targets: config->nr_targets, open
 * @shape: of the slots
 * @polls: a target is polled
 * @verify: with stamped data, else NULL
 * @replay: with a trace, else NULL
 * @zones: with streams at write pointers, else NULL
 * @outcome: of the run
 * @ops: calls upwards
 * @owner: argument of @ops
 */
struct spek_worker_setup {
	u32 run_id;
	const struct spek_run_config *config;
	const struct spek_target *targets;
	const struct spek_slot_shape *shape;
	bool polls;
	struct spek_verify *verify;
	struct spek_replay *replay;
	const struct spek_zone_map *zones;
	struct spek_outcome *outcome;
	const struct spek_worker_ops *ops;
	void *owner;
};

/**
 * struct spek_worker_info - what netlink reports of a worker
 * @cpu: CPU it is bound to
 * @pid: its thread
 * @outstanding: I/Os that devices hold for it
 * @cpu_ns: CPU time of the thread
 * @voluntary: voluntary context switches of the thread
 * @involuntary: involuntary context switches of the thread
 * @log_written: records in its log
 * @log_lost: I/Os without a record for lack of room
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
 * struct spek_worker - a worker
 * @config: of the run
 * @ops: calls upwards
 * @owner: argument of @ops
 * @run_id: number of the run
 * @index: number within the run
 * @cpu: CPU it is bound to
 * @nr_slots: entries of @slots
 * @polls: a target is polled
 * @watched: I/Os are logged or verified, or are on zones, or the run replays a trace
 * @hints: a stream has an I/O priority or a write hint
 * @task: its thread, referenced
 * @gen: generator of its operations
 * @slots: its slots
 * @set: the two sets it counts into
 * @age: I/Os in flight at the end of the measure phase, room for @nr_slots
 * @log: where its I/Os are recorded, the run's; NULL without a log
 * @verify: the run's; NULL without stamped data
 * @replay: its records of a trace; NULL without one
 * @contents: of each stream, what its writes carry; NULL if no stream has own data
 * @zone_gate: what its operations on zones wait for; NULL without streams at write pointers
 * @ramp_count: its share of the ramp-up by count, const after start
 * @measure_count: its share of the measurement by count, const after start
 * @active: set it counts into
 * @free: free slots
 * @stalled: operation that waits for room, or NULL
 * @stalled_part: first part of @stalled to send; NULL if all of it waits for blocks (verify.c), for
 *	its zone (zone.c) or for memory
 * @recuts: @stalled is too large for the limits as they are now
 * @retry_ns: delay before the next try to send @stalled; 0 if a completion came since the last one
 * @retry_at_ns: time of that try
 * @gave_way_ns: when it last left requests to other workers
 * @targets: copies of the run's, with the limits as last seen
 * @next_checked: target whose limits are looked at next
 * @lane: how operations on each asu become parts
 * @phase: enum spek_phase
 * @boundary_ns: end of the piece of a row, of the row or of the phase
 * @row: number of the row
 * @row_start_ns: start of the row
 * @row_end_ns: end of the row
 * @phase_end_ns: end of the phase; SPEK_NEVER while it ends by count or is not known
 * @phase_left: completions until the phase ends by count
 * @issue_left: operations that may still be issued
 * @ioprio: of the thread, as of the last boundary
 * @seen_cpu_ns: CPU time at the last seal
 * @seen_switches: context switches at the last seal
 * @spin_end_ns: until then it waits for a completion without sleeping
 * @batch_hint: operations the next plug is likely to carry
 * @count: requests sent to each target
 * @poller: of each target
 * @unbound: its CPU was hot-unplugged while it polled; the thread may migrate
 * @inflight: its operations in flight, shared with completions
 * @sealed: a set while it is the collector's, else NULL
 * @backlog: counts the backlog at the seals; the collector's once the run starts
 * @start: woken when the run starts
 * @start_ns: time 0 of the run; 0 before the run starts
 *
 * Fields of the second group are the thread's own; others read them with READ_ONCE.
 */
struct spek_worker {
	/* const after spek_worker_create() */
	const struct spek_run_config *config;
	const struct spek_worker_ops *ops;
	void *owner;
	u32 run_id;
	u32 index;
	u32 cpu;
	u32 nr_slots;
	bool polls;
	bool watched;
	bool hints;
	struct task_struct *task;
	struct spek_gen *gen;
	struct spek_slot *slots;
	struct spek_set *set[2];
	struct spek_age *age;
	struct spek_iolog *log;
	struct spek_verify *verify;
	struct spek_replay_ring *replay;
	struct spek_contents *contents;
	struct spek_zone_gate *zone_gate;
	u64 ramp_count;
	u64 measure_count;

	/* worker-owned */
	struct spek_set *active;
	struct spek_slot *free;
	struct spek_slot *stalled;
	struct spek_part *stalled_part;
	bool recuts;
	u64 retry_ns;
	u64 retry_at_ns;
	u64 gave_way_ns;
	u32 next_checked;
	struct spek_target *targets;
	struct spek_lane lane[SPEK_MAX_ASUS];
	u32 phase;
	u64 boundary_ns;
	u64 row;
	u64 row_start_ns;
	u64 row_end_ns;
	u64 phase_end_ns;
	u64 phase_left;
	u64 issue_left;
	u16 ioprio;
	u64 seen_cpu_ns;
	u64 seen_switches;
	u64 spin_end_ns;
	u32 batch_hint;
	struct spek_target_count count[SPEK_MAX_TARGETS];
	struct spek_poller *poller;
	bool unbound;

	/* shared with completions */
	struct spek_inflight inflight;

	/* shared with the collector */
	struct spek_set *sealed ____cacheline_aligned;
	struct spek_backlog backlog;
	wait_queue_head_t start;
	u64 start_ns;
};

/**
 * spek_worker_held() - number of operations that devices hold for a worker
 * @w: worker
 *
 * Context: any, while the worker exists.
 * Return: outstanding operations, except one for which the driver has no room yet.
 */
static inline u32 spek_worker_held(const struct spek_worker *w)
{
	const struct spek_slot *stalled = READ_ONCE(w->stalled);
	u32 outstanding = READ_ONCE(w->inflight.outstanding);

	/* A reader in another thread may see values of different times. */
	return outstanding - (outstanding && stalled && !READ_ONCE(stalled->busy));
}

/**
 * spek_worker_has_work() - check whether a worker has anything to generate
 * @w: prepared worker that has made nothing yet
 *
 * Return: as spek_worker_prepare().
 */
static inline bool spek_worker_has_work(const struct spek_worker *w)
{
	return spek_gen_next_ns(w->gen) != SPEK_NEVER;
}

struct spek_worker *spek_worker_create(const struct spek_worker_setup *setup, u32 index,
				       u32 nr_slots, struct spek_iolog *log);
void spek_worker_join(struct spek_worker *w);
void spek_worker_destroy(struct spek_worker *w);

bool spek_worker_prepare(struct spek_worker *w, u64 start_ns);
void spek_worker_set_counts(struct spek_worker *w, u64 ramp_count, u64 measure_count);
void spek_worker_start(struct spek_worker *w, u64 start_ns);

void spek_worker_info(const struct spek_worker *w, struct spek_worker_info *info);
void spek_worker_add_counts(const struct spek_worker *w, u32 target,
			    struct spek_target_count *count);
u64 spek_worker_oldest_ns(const struct spek_worker *w, u64 now_ns);

#endif
