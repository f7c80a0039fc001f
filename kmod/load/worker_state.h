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
#include "worker_issue.h"
#include "worker_phase.h"

struct spek_replay_ring;
struct spek_zone_gate;

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
 * @tracked: I/Os are verified, or are on zones, or the run replays a trace
 * @watched: I/Os are logged or tracked
 * @hints: a stream has an I/O priority or a write hint
 * @task: its thread, referenced
 * @gen: generator of its operations
 * @slots: its slots
 * @log: where its I/Os are recorded, the run's; NULL without a log
 * @verify: the run's; NULL without stamped data
 * @replay: its records of a trace; NULL without one
 * @contents: of each stream, what its writes carry; NULL if no stream has own data
 * @zone_gate: what its operations on zones wait for; NULL without streams at write pointers
 * @issue: what it issues, and what waits to be issued
 * @ioprio: of the thread, as of the last boundary
 * @spin_end_ns: until then it waits for a completion without sleeping
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
	bool tracked;
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
	struct spek_issue issue;
	u16 ioprio;
	u64 spin_end_ns;
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
 * Return: outstanding operations, except those of which nothing was sent yet.
 */
static inline u32 spek_worker_held(const struct spek_worker *w)
{
	u32 outstanding = READ_ONCE(w->inflight.outstanding);

	/* A reader in another thread may see values of different times. */
	return outstanding - min(outstanding, READ_ONCE(w->inflight.unsent));
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
