/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Workers: one kernel thread for each, bound to a CPU. What runs them calls these functions; their
 * state is in worker_state.h.
 */
#ifndef SPEK_WORKER_H
#define SPEK_WORKER_H

#include <linux/types.h>

struct spek_iolog;
struct spek_outcome;
struct spek_phase_end;
struct spek_replay;
struct spek_run_config;
struct spek_slot_shape;
struct spek_target;
struct spek_target_count;
struct spek_verify;
struct spek_worker;
struct spek_zone_map;

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
 * @phase_ends: of the run
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
	struct spek_phase_end *phase_ends;
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

struct spek_worker *spek_worker_create(const struct spek_worker_setup *setup, u32 index,
				       u32 nr_slots, struct spek_iolog *log);
void spek_worker_join(struct spek_worker *w);
void spek_worker_destroy(struct spek_worker *w);

bool spek_worker_prepare(struct spek_worker *w, u64 start_ns);
void spek_worker_set_counts(struct spek_worker *w, u64 ramp_count, u64 measure_count);
void spek_worker_set_arrival_count(struct spek_worker *w, u32 arrival, u64 count);
void spek_worker_start(struct spek_worker *w, u64 start_ns);

void spek_worker_info(const struct spek_worker *w, struct spek_worker_info *info);
void spek_worker_add_counts(const struct spek_worker *w, u32 target,
			    struct spek_target_count *count);
u64 spek_worker_arrival_end(const struct spek_worker *w, u32 arrival);
u64 spek_worker_oldest_ns(const struct spek_worker *w, u64 now_ns);

#endif
