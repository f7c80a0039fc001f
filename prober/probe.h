/* SPDX-License-Identifier: GPL-2.0 */
/*
 * probe.h - the probe: a thread that takes rows by a schedule
 *
 * Lifetime, states and locks: see the head of probe.c.
 */
#ifndef SPEK_PROBER_PROBE_H
#define SPEK_PROBER_PROBE_H

#include <linux/kref.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "ring.h"
#include "source.h"
#include "uapi/spek_prober.h"

struct netlink_ext_ack;

/**
 * struct spek_watched - a task to watch
 * @pid: the number that the asker gave
 * @task: the task; the asker's reference
 */
struct spek_watched {
	u32 pid;
	struct task_struct *task;
};

/**
 * struct spek_probe_config - what a probe is asked to do
 * @interval_ns: from tick to tick, within the contract's limits
 * @ring_rows: rows to keep, within the contract's limits; 0 for the default
 * @portid: socket that owns the probe
 * @detached: the probe outlives that socket
 * @nr_tasks: length of @tasks
 * @tasks: what to watch; needed during start only
 */
struct spek_probe_config {
	u64 interval_ns;
	u32 ring_rows;
	u32 portid;
	bool detached;
	u32 nr_tasks;
	struct spek_watched *tasks;
};

/**
 * struct spek_row - one row of the ring
 * @tick: place in the schedule
 * @due_ns: when the tick was
 * @start_ns: when reading began
 * @end_ns: when reading ended
 * @final: 1 for the row taken at the stop
 * @cells: the cells of all sources
 *
 * Times are CLOCK_MONOTONIC. All fields are u64: the ring knows nothing else.
 */
struct spek_row {
	u64 tick;
	u64 due_ns;
	u64 start_ns;
	u64 end_ns;
	u64 final;
	u64 cells[];
};

/**
 * struct spek_clocks - the three clocks, read together
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
 * struct spek_probe - one probe, from probe-start until its last reader is gone
 * @ref: one for being the current probe, one while the stop work is owed, one for
 *	each dump in progress
 * @id: its number
 * @interval_ns: const
 * @portid: socket that owns it; const
 * @detached: const
 * @owner_pid: process that started it; const
 * @owner_name: its name; const
 * @thread: the sampler; valid until the stop work has ended it
 * @thread_pid: const
 * @sources: const after start, but for what their ops do
 * @ring: written by the sampler, read by anybody
 * @row_words: size of a row; const
 * @started: tick 0; const after start
 * @stop_work: ends the sampler, makes the probe DONE
 * @state: protected by the probe lock, like the next 3 fields
 * @reason: why it ended
 * @is_orphan: delete it once it is DONE
 * @ended: when it became DONE
 * @missed: sampler-owned, read elsewhere with READ_ONCE(), like all that follow
 * @late_sum_ns: from tick to start of row
 * @late_max_ns: from tick to start of row
 * @cost_sum_ns: from start to end of row
 * @cost_max_ns: from start to end of row
 */
struct spek_probe {
	struct kref ref;
	u32 id;
	u64 interval_ns;
	u32 portid;
	bool detached;
	struct pid *owner_pid;
	char owner_name[TASK_COMM_LEN];
	struct task_struct *thread;
	pid_t thread_pid;
	struct spek_source sources[SPEK_NR_SOURCES];
	struct spek_ring ring;
	u32 row_words;
	struct spek_clocks started;
	struct work_struct stop_work;

	enum spek_prober_probe_state state;
	enum spek_prober_reason reason;
	bool is_orphan;
	struct spek_clocks ended;

	u64 missed;
	u64 late_sum_ns;
	u64 late_max_ns;
	u64 cost_sum_ns;
	u64 cost_max_ns;
};

int spek_sampler_init(void);
void spek_sampler_exit(void);

int spek_probe_start(const struct spek_probe_config *config, u32 *id,
		     struct netlink_ext_ack *extack);
int spek_probe_stop(u32 id, struct netlink_ext_ack *extack);
int spek_probe_del(u32 id, struct netlink_ext_ack *extack);
void spek_probe_owner_gone(u32 portid);

struct spek_probe *spek_probe_get_current(void);
void spek_probe_put(struct spek_probe *probe);

/**
 * struct spek_probe_status - the fields that the probe lock protects, read together
 * @state: state
 * @reason: why it ended
 * @ended: when
 */
struct spek_probe_status {
	enum spek_prober_probe_state state;
	enum spek_prober_reason reason;
	struct spek_clocks ended;
};

void spek_probe_read_status(struct spek_probe *probe, struct spek_probe_status *status);

#endif
