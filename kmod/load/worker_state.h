/* SPDX-License-Identifier: GPL-2.0 */
/* State of a worker: its parts belong to the files that are named after them. */
#ifndef SPEK_WORKER_STATE_H
#define SPEK_WORKER_STATE_H

#include <linux/bio.h>
#include <linux/llist.h>
#include <linux/wait.h>
#include "core/contents.h"
#include "core/gen.h"
#include "config.h"
#include "slot.h"
#include "target.h"
#include "worker.h"
#include "worker_phase.h"

struct spek_replay_ring;
struct spek_zone_gate;

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
 * @log: where its I/Os are recorded, the run's; NULL without a log
 * @verify: the run's; NULL without stamped data
 * @replay: its records of a trace; NULL without one
 * @contents: of each stream, what its writes carry; NULL if no stream has own data
 * @zone_gate: what its operations on zones wait for; NULL without streams at write pointers
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
 * @ioprio: of the thread, as of the last boundary
 * @spin_end_ns: until then it waits for a completion without sleeping
 * @batch_hint: operations the next plug is likely to carry
 * @count: requests sent to each target
 * @poller: of each target
 * @unbound: its CPU was hot-unplugged while it polled; the thread may migrate
 * @inflight: its operations in flight, shared with completions
 * @phases: its phases, rows and sets
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
	struct spek_iolog *log;
	struct spek_verify *verify;
	struct spek_replay_ring *replay;
	struct spek_contents *contents;
	struct spek_zone_gate *zone_gate;

	/* worker-owned */
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
	u16 ioprio;
	u64 spin_end_ns;
	u32 batch_hint;
	struct spek_target_count count[SPEK_MAX_TARGETS];
	struct spek_poller *poller;
	bool unbound;

	/* shared with completions */
	struct spek_inflight inflight;

	struct spek_phases phases;

	/* const once the run starts */
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

#endif
