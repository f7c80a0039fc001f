/* SPDX-License-Identifier: GPL-2.0 */
/*
 * probe.h - the probe: rows of all tables, taken by a schedule and kept in a ring
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
#include "sampler.h"
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
 * struct spek_probe_clocks - the three clocks, read together
 * @mono_ns: CLOCK_MONOTONIC
 * @raw_ns: CLOCK_MONOTONIC_RAW
 * @real_ns: CLOCK_REALTIME
 */
struct spek_probe_clocks {
	u64 mono_ns;
	u64 raw_ns;
	u64 real_ns;
};

/**
 * struct spek_probe - one probe, from probe-start until its last reader is gone
 * @ref: one for being the current probe, one while the stop work is owed, one for
 *	each dump in progress
 * @id: its number
 * @portid: socket that owns it; const
 * @detached: const
 * @owner_pid: process that started it; const
 * @owner_name: its name; const
 * @thread_pid: thread id of the sampler; const
 * @sources: const after start, but for what their ops do
 * @ring: written by the sampler, read by anybody
 * @sampler: the thread; valid until the stop work has ended it, its counts for ever
 * @row_words: size of a row; const
 * @started: tick 0; const after start
 * @stop_work: ends the sampler, makes the probe DONE
 * @state: protected by the probe lock, like the next 3 fields
 * @reason: why it ended
 * @is_orphan: delete it once it is DONE
 * @ended: when it became DONE
 */
struct spek_probe {
	struct kref ref;
	u32 id;
	u32 portid;
	bool detached;
	struct pid *owner_pid;
	char owner_name[TASK_COMM_LEN];
	pid_t thread_pid;
	struct spek_probe_source sources[SPEK_NR_SOURCES];
	struct spek_ring ring;
	struct spek_sampler sampler;
	u32 row_words;
	struct spek_probe_clocks started;
	struct work_struct stop_work;

	enum spek_prober_probe_state state;
	enum spek_prober_reason reason;
	bool is_orphan;
	struct spek_probe_clocks ended;
};

/**
 * struct spek_probe_listener - what the side that talks to clients does for probes
 * @changed: a probe changed its state; process context, without the probe lock, with a
 *	reference
 * @released: the last reference to a probe is gone, its memory follows; process context
 * @can_describe: true if a table's description fits into an answer
 */
struct spek_probe_listener {
	void (*changed)(struct spek_probe *probe);
	void (*released)(const struct spek_probe *probe);
	bool (*can_describe)(const struct spek_probe_source *source);
};

int spek_probe_init(const struct spek_probe_listener *listener);
void spek_probe_exit(void);

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
	struct spek_probe_clocks ended;
};

void spek_probe_read_status(struct spek_probe *probe, struct spek_probe_status *status);

#endif
