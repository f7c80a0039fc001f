/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The probe: rows of all tables, taken by a schedule and kept in a ring.
 *
 * Lifetime, states and locks: see the head of probe.c.
 */
#ifndef SPEK_PROBER_PROBE_H
#define SPEK_PROBER_PROBE_H

#include <linux/kref.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "../kmod/core/refusal.h"
#include "ring.h"
#include "sampler.h"
#include "source.h"
#include "uapi/spek_prober.h"
#include "gen/structs_gen.h"

/**
 * enum spek_probe_part - part of a request that a refusal is about
 * @SPEK_PROBE_PART_REQUEST: the request as a whole
 * @SPEK_PROBE_PART_ID: number of the probe
 * @SPEK_PROBE_PART_RING_ROWS: number of rows to keep
 */
enum spek_probe_part {
	SPEK_PROBE_PART_REQUEST,
	SPEK_PROBE_PART_ID,
	SPEK_PROBE_PART_RING_ROWS,
};

/**
 * struct spek_probe_config - configuration of a probe
 * @request: probe-start, within the contract's limits; no ring_rows: the default
 * @portid: socket that owns the probe
 * @nr_tasks: length of @tasks
 * @tasks: tasks to watch, in the order of the request; the references are the caller's
 */
struct spek_probe_config {
	struct spek_prober_probe_start request;
	u32 portid;
	u32 nr_tasks;
	struct task_struct *tasks[SPEK_PROBER_MAX_TASKS];
};

/**
 * struct spek_probe_clocks - readings of three clocks at one time
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
 * @ref: one for current_probe, one for the stop work while it is queued or running, one for
 *	each dump in progress
 * @id: number of the probe
 * @portid: socket that owns it; const
 * @detached: it outlives that socket; const
 * @owner_pid: process that started it; const
 * @owner_name: name of that process; const
 * @thread_pid: thread id of the sampler; const
 * @sources: sources; const after start except for changes by their ops
 * @ring: rows; written by the sampler, read by dumps
 * @sampler: the sampler; its thread is valid until the stop work has ended it, its counts stay
 * @row_words: size of a row in words; const
 * @ring_words: size of the part of a row that is in @ring; the other cells are filled in for each
 *	reader; const
 * @started: clocks at tick 0; const after start
 * @stop_work: ends the sampler and makes the probe DONE
 * @state: protected by the probe lock, like the next 3 fields
 * @reason: reason of its end
 * @is_orphan: release it once it is DONE
 * @ended: clocks when it became DONE
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
	u32 ring_words;
	struct spek_probe_clocks started;
	struct work_struct stop_work;

	enum spek_prober_probe_state state;
	enum spek_prober_reason reason;
	bool is_orphan;
	struct spek_probe_clocks ended;
};

/**
 * struct spek_probe_listener - callbacks to the netlink side
 * @changed: a probe has changed its state; process context, without the probe lock; the caller
 *	holds a reference
 * @released: a probe is about to be freed; process context
 * @can_describe: check whether a table's description fits into an answer
 */
struct spek_probe_listener {
	void (*changed)(struct spek_probe *probe);
	void (*released)(const struct spek_probe *probe);
	bool (*can_describe)(const struct spek_probe_source *source);
};

/**
 * spek_probe_row_bytes() - get the memory of one row
 * @probe: probe whose sources have started
 *
 * Return: bytes in the ring, with the stamp, and of the cells outside it.
 */
static inline size_t spek_probe_row_bytes(const struct spek_probe *probe)
{
	return (probe->row_words + 1) * sizeof(u64);
}

int spek_probe_init(const struct spek_probe_listener *listener);
void spek_probe_exit(void);

int spek_probe_start(const struct spek_probe_config *config, u32 *id,
		     struct spek_refusal *refusal);
int spek_probe_stop(u32 id, struct spek_refusal *refusal);
int spek_probe_del(u32 id, struct spek_refusal *refusal);
void spek_probe_owner_gone(u32 portid);

struct spek_probe *spek_probe_get_current(void);
void spek_probe_put(struct spek_probe *probe);

/**
 * struct spek_probe_status - the fields that the probe lock protects, read together
 * @state: state
 * @reason: reason of its end
 * @ended: clocks at its end
 */
struct spek_probe_status {
	enum spek_prober_probe_state state;
	enum spek_prober_reason reason;
	struct spek_probe_clocks ended;
};

void spek_probe_read_status(struct spek_probe *probe, struct spek_probe_status *status);

#endif
