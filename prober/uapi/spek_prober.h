/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* generated from prober/uapi/spek_prober.yaml, run `make gen` */

#ifndef _UAPI_SPEK_PROBER_H
#define _UAPI_SPEK_PROBER_H

#define SPEK_PROBER_FAMILY_NAME "spek_prober"
#define SPEK_PROBER_FAMILY_VERSION 1
#define SPEK_PROBER_MCGRP_PROBES "probes"

/* Number of the entity that is the sum over a whole table, CPUs that are off included. */
#define SPEK_PROBER_TOTAL 4294967295U
/* Shortest interval, 1 ms. */
#define SPEK_PROBER_MIN_INTERVAL_NS 1000000
/* Longest interval, 1 h. */
#define SPEK_PROBER_MAX_INTERVAL_NS 3600000000000ULL
/* Rows kept when ring-rows is not given; fewer where max-ring-bytes is less. */
#define SPEK_PROBER_DEFAULT_RING_ROWS 4096
#define SPEK_PROBER_MIN_RING_ROWS 2
#define SPEK_PROBER_MAX_RING_ROWS 1048576
/* Limit of the ring's memory, rows times row-bytes. */
#define SPEK_PROBER_MAX_RING_BYTES 268435456
/* Tasks that one probe can watch. */
#define SPEK_PROBER_MAX_TASKS 1024

/**
 * enum spek_prober_probe_state - State of the probe.
 * @SPEK_PROBER_PROBE_STATE_IDLE: There is none.
 * @SPEK_PROBER_PROBE_STATE_RUNNING: Rows are taken.
 * @SPEK_PROBER_PROBE_STATE_STOPPING: The last row is being taken.
 * @SPEK_PROBER_PROBE_STATE_DONE: The rows can be read; no more will come.
 */
enum spek_prober_probe_state {
	SPEK_PROBER_PROBE_STATE_IDLE,
	SPEK_PROBER_PROBE_STATE_RUNNING,
	SPEK_PROBER_PROBE_STATE_STOPPING,
	SPEK_PROBER_PROBE_STATE_DONE,
};

/**
 * enum spek_prober_reason - Why a probe ended.
 * @SPEK_PROBER_REASON_NONE: It has not ended.
 * @SPEK_PROBER_REASON_STOPPED: probe-stop asked for it.
 * @SPEK_PROBER_REASON_OWNER_GONE: The socket that owned it was closed.
 * @SPEK_PROBER_REASON_UNLOAD: The module is being unloaded.
 */
enum spek_prober_reason {
	SPEK_PROBER_REASON_NONE,
	SPEK_PROBER_REASON_STOPPED,
	SPEK_PROBER_REASON_OWNER_GONE,
	SPEK_PROBER_REASON_UNLOAD,
};

/**
 * enum spek_prober_table - Tables of a row.
 * @SPEK_PROBER_TABLE_CPU: CPU time, interrupts and softirqs; entities are CPU numbers and
 *   total.
 * @SPEK_PROBER_TABLE_SWITCHES: Context switches; entities are CPU numbers and total.
 * @SPEK_PROBER_TABLE_TASK: Watched tasks; entities are their thread ids.
 */
enum spek_prober_table {
	SPEK_PROBER_TABLE_CPU,
	SPEK_PROBER_TABLE_SWITCHES,
	SPEK_PROBER_TABLE_TASK,
};

/**
 * enum spek_prober_cpu_column - Columns of table cpu, in order. Times are ns and mean
 *   what /proc/stat means by them; without CONFIG_VIRT_CPU_ACCOUNTING on a CPU, all but
 *   idle and iowait grow in steps of the kernel's tick.
 * @SPEK_PROBER_CPU_COLUMN_USER: In userspace, guest included.
 * @SPEK_PROBER_CPU_COLUMN_NICE: In userspace at a positive nice value, guest-nice
 *   included.
 * @SPEK_PROBER_CPU_COLUMN_SYSTEM: In the kernel for tasks.
 * @SPEK_PROBER_CPU_COLUMN_IDLE: Idle; never goes back.
 * @SPEK_PROBER_CPU_COLUMN_IOWAIT: Idle while a task that last ran there waits for I/O;
 *   never goes back.
 * @SPEK_PROBER_CPU_COLUMN_IRQ: In hard interrupt handlers.
 * @SPEK_PROBER_CPU_COLUMN_SOFTIRQ: In softirqs.
 * @SPEK_PROBER_CPU_COLUMN_STEAL: Wanted by this guest, given to somebody else by its
 *   host.
 * @SPEK_PROBER_CPU_COLUMN_GUEST: Running virtual CPUs.
 * @SPEK_PROBER_CPU_COLUMN_GUEST_NICE: Running virtual CPUs at a positive nice value.
 * @SPEK_PROBER_CPU_COLUMN_INTERRUPTS: All interrupts, the processor's own vectors (timer,
 *   inter-processor, NMI) included as far as modules can read them; machine checks
 *   aren't.
 * @SPEK_PROBER_CPU_COLUMN_DEVICE_INTERRUPTS: Those that have a line of their own in
 *   /proc/interrupts, under a number.
 * @SPEK_PROBER_CPU_COLUMN_SOFTIRQS: Softirq handler runs, the sum of the columns that
 *   follow.
 * @SPEK_PROBER_CPU_COLUMN_SOFTIRQ_HI: Softirq hi.
 * @SPEK_PROBER_CPU_COLUMN_SOFTIRQ_TIMER: Softirq timer.
 * @SPEK_PROBER_CPU_COLUMN_SOFTIRQ_NET_TX: Softirq net tx.
 * @SPEK_PROBER_CPU_COLUMN_SOFTIRQ_NET_RX: Softirq net rx.
 * @SPEK_PROBER_CPU_COLUMN_SOFTIRQ_BLOCK: Softirq block.
 * @SPEK_PROBER_CPU_COLUMN_SOFTIRQ_IRQ_POLL: Softirq irq poll.
 * @SPEK_PROBER_CPU_COLUMN_SOFTIRQ_TASKLET: Softirq tasklet.
 * @SPEK_PROBER_CPU_COLUMN_SOFTIRQ_SCHED: Softirq sched.
 * @SPEK_PROBER_CPU_COLUMN_SOFTIRQ_HRTIMER: Softirq hrtimer.
 * @SPEK_PROBER_CPU_COLUMN_SOFTIRQ_RCU: Softirq rcu.
 */
enum spek_prober_cpu_column {
	SPEK_PROBER_CPU_COLUMN_USER,
	SPEK_PROBER_CPU_COLUMN_NICE,
	SPEK_PROBER_CPU_COLUMN_SYSTEM,
	SPEK_PROBER_CPU_COLUMN_IDLE,
	SPEK_PROBER_CPU_COLUMN_IOWAIT,
	SPEK_PROBER_CPU_COLUMN_IRQ,
	SPEK_PROBER_CPU_COLUMN_SOFTIRQ,
	SPEK_PROBER_CPU_COLUMN_STEAL,
	SPEK_PROBER_CPU_COLUMN_GUEST,
	SPEK_PROBER_CPU_COLUMN_GUEST_NICE,
	SPEK_PROBER_CPU_COLUMN_INTERRUPTS,
	SPEK_PROBER_CPU_COLUMN_DEVICE_INTERRUPTS,
	SPEK_PROBER_CPU_COLUMN_SOFTIRQS,
	SPEK_PROBER_CPU_COLUMN_SOFTIRQ_HI,
	SPEK_PROBER_CPU_COLUMN_SOFTIRQ_TIMER,
	SPEK_PROBER_CPU_COLUMN_SOFTIRQ_NET_TX,
	SPEK_PROBER_CPU_COLUMN_SOFTIRQ_NET_RX,
	SPEK_PROBER_CPU_COLUMN_SOFTIRQ_BLOCK,
	SPEK_PROBER_CPU_COLUMN_SOFTIRQ_IRQ_POLL,
	SPEK_PROBER_CPU_COLUMN_SOFTIRQ_TASKLET,
	SPEK_PROBER_CPU_COLUMN_SOFTIRQ_SCHED,
	SPEK_PROBER_CPU_COLUMN_SOFTIRQ_HRTIMER,
	SPEK_PROBER_CPU_COLUMN_SOFTIRQ_RCU,
};

/**
 * enum spek_prober_switch_column - Columns of table switches, in order.
 * @SPEK_PROBER_SWITCH_COLUMN_SWITCHES: Context switches while the probe ran. Those of a
 *   CPU that is just coming up or going down (some tens) are not seen.
 */
enum spek_prober_switch_column {
	SPEK_PROBER_SWITCH_COLUMN_SWITCHES,
};

/**
 * enum spek_prober_task_column - Columns of table task, in order. They keep their last
 *   values when the task has ended. Of a task that is on a CPU, times are as of the last
 *   tick.
 * @SPEK_PROBER_TASK_COLUMN_RUNTIME: CPU time, ns; the sum of user and system.
 * @SPEK_PROBER_TASK_COLUMN_USER: In userspace, ns; the kernel splits runtime by where the
 *   ticks hit.
 * @SPEK_PROBER_TASK_COLUMN_SYSTEM: In the kernel, ns.
 * @SPEK_PROBER_TASK_COLUMN_VOLUNTARY: Voluntary context switches.
 * @SPEK_PROBER_TASK_COLUMN_INVOLUNTARY: Involuntary context switches.
 * @SPEK_PROBER_TASK_COLUMN_ENDED: 1 once the task has ended.
 */
enum spek_prober_task_column {
	SPEK_PROBER_TASK_COLUMN_RUNTIME,
	SPEK_PROBER_TASK_COLUMN_USER,
	SPEK_PROBER_TASK_COLUMN_SYSTEM,
	SPEK_PROBER_TASK_COLUMN_VOLUNTARY,
	SPEK_PROBER_TASK_COLUMN_INVOLUNTARY,
	SPEK_PROBER_TASK_COLUMN_ENDED,
};

/**
 * enum spek_prober_a_probe - attributes of the set probe
 * @SPEK_PROBER_A_PROBE_PAD: alignment of 64-bit attributes
 * @SPEK_PROBER_A_PROBE_ID: (u32) Number of the probe; each start gives the next.
 * @SPEK_PROBER_A_PROBE_STATE: (u32, enum probe-state)
 * @SPEK_PROBER_A_PROBE_REASON: (u32, enum reason)
 * @SPEK_PROBER_A_PROBE_INTERVAL_NS: (u64) From tick to tick; min-interval-ns to
 *   max-interval-ns.
 * @SPEK_PROBER_A_PROBE_RING_ROWS: (u32) Rows kept; then the oldest is overwritten.
 * @SPEK_PROBER_A_PROBE_ROW_BYTES: (u32) Memory of one row.
 * @SPEK_PROBER_A_PROBE_DETACHED: (u32, at most 1) 1 - the probe outlives its socket.
 * @SPEK_PROBER_A_PROBE_TASK: (nest of task, repeated) One for each task to watch.
 * @SPEK_PROBER_A_PROBE_OWNER_PID: (u32) Process that started it; 0 - one of another pid
 *   namespace.
 * @SPEK_PROBER_A_PROBE_OWNER_NAME: (string) Name of that process.
 * @SPEK_PROBER_A_PROBE_THREAD_PID: (u32) Thread that samples while it runs.
 * @SPEK_PROBER_A_PROBE_STARTED_NS: (u64) CLOCK_MONOTONIC of tick 0.
 * @SPEK_PROBER_A_PROBE_START_RAW_NS: (u64) CLOCK_MONOTONIC_RAW read with started-ns.
 * @SPEK_PROBER_A_PROBE_START_REAL_NS: (u64) CLOCK_REALTIME read with started-ns.
 * @SPEK_PROBER_A_PROBE_ENDED_NS: (u64) CLOCK_MONOTONIC of the end.
 * @SPEK_PROBER_A_PROBE_END_RAW_NS: (u64) CLOCK_MONOTONIC_RAW read with ended-ns.
 * @SPEK_PROBER_A_PROBE_END_REAL_NS: (u64) CLOCK_REALTIME read with ended-ns.
 * @SPEK_PROBER_A_PROBE_NOW_NS: (u64) CLOCK_MONOTONIC of this answer.
 * @SPEK_PROBER_A_PROBE_ROWS: (u64) Rows made so far.
 * @SPEK_PROBER_A_PROBE_OLDEST: (u64) Number of the oldest row that can still be read.
 * @SPEK_PROBER_A_PROBE_MISSED: (u64) Ticks without a row because the thread came too late
 *   for them.
 * @SPEK_PROBER_A_PROBE_LATE_SUM_NS: (u64) Time from tick to start of row, summed over
 *   rows.
 * @SPEK_PROBER_A_PROBE_LATE_MAX_NS: (u64) Longest time from tick to start of row; always
 *   less than interval-ns.
 * @SPEK_PROBER_A_PROBE_COST_SUM_NS: (u64) Time from start to end of row, summed over
 *   rows.
 * @SPEK_PROBER_A_PROBE_COST_MAX_NS: (u64) Longest time from start to end of row.
 * @SPEK_PROBER_A_PROBE_TABLE: (nest of table, repeated) One for each table of the rows.
 * @SPEK_PROBER_A_PROBE_MODULE_VERSION: (string)
 * @__SPEK_PROBER_A_PROBE_MAX: private
 * @SPEK_PROBER_A_PROBE_MAX: highest id
 */
enum spek_prober_a_probe {
	SPEK_PROBER_A_PROBE_PAD = 1,
	SPEK_PROBER_A_PROBE_ID,
	SPEK_PROBER_A_PROBE_STATE,
	SPEK_PROBER_A_PROBE_REASON,
	SPEK_PROBER_A_PROBE_INTERVAL_NS,
	SPEK_PROBER_A_PROBE_RING_ROWS,
	SPEK_PROBER_A_PROBE_ROW_BYTES,
	SPEK_PROBER_A_PROBE_DETACHED,
	SPEK_PROBER_A_PROBE_TASK,
	SPEK_PROBER_A_PROBE_OWNER_PID,
	SPEK_PROBER_A_PROBE_OWNER_NAME,
	SPEK_PROBER_A_PROBE_THREAD_PID,
	SPEK_PROBER_A_PROBE_STARTED_NS,
	SPEK_PROBER_A_PROBE_START_RAW_NS,
	SPEK_PROBER_A_PROBE_START_REAL_NS,
	SPEK_PROBER_A_PROBE_ENDED_NS,
	SPEK_PROBER_A_PROBE_END_RAW_NS,
	SPEK_PROBER_A_PROBE_END_REAL_NS,
	SPEK_PROBER_A_PROBE_NOW_NS,
	SPEK_PROBER_A_PROBE_ROWS,
	SPEK_PROBER_A_PROBE_OLDEST,
	SPEK_PROBER_A_PROBE_MISSED,
	SPEK_PROBER_A_PROBE_LATE_SUM_NS,
	SPEK_PROBER_A_PROBE_LATE_MAX_NS,
	SPEK_PROBER_A_PROBE_COST_SUM_NS,
	SPEK_PROBER_A_PROBE_COST_MAX_NS,
	SPEK_PROBER_A_PROBE_TABLE,
	SPEK_PROBER_A_PROBE_MODULE_VERSION,

	__SPEK_PROBER_A_PROBE_MAX,
	SPEK_PROBER_A_PROBE_MAX = (__SPEK_PROBER_A_PROBE_MAX - 1)
};

/**
 * enum spek_prober_a_task - attributes of the set task
 * @SPEK_PROBER_A_TASK_PID: (u32) Thread id in the pid namespace of whoever starts the
 *   probe.
 * @__SPEK_PROBER_A_TASK_MAX: private
 * @SPEK_PROBER_A_TASK_MAX: highest id
 */
enum spek_prober_a_task {
	SPEK_PROBER_A_TASK_PID = 1,

	__SPEK_PROBER_A_TASK_MAX,
	SPEK_PROBER_A_TASK_MAX = (__SPEK_PROBER_A_TASK_MAX - 1)
};

/**
 * enum spek_prober_a_table - attributes of the set table
 * @SPEK_PROBER_A_TABLE_ID: (u32, enum table)
 * @SPEK_PROBER_A_TABLE_NAME: (string)
 * @SPEK_PROBER_A_TABLE_COLUMN: (nest of column, repeated) One for each column, in order.
 * @SPEK_PROBER_A_TABLE_ENTITIES: (binary) u32 numbers of all entities that can appear.
 * @__SPEK_PROBER_A_TABLE_MAX: private
 * @SPEK_PROBER_A_TABLE_MAX: highest id
 */
enum spek_prober_a_table {
	SPEK_PROBER_A_TABLE_ID = 1,
	SPEK_PROBER_A_TABLE_NAME,
	SPEK_PROBER_A_TABLE_COLUMN,
	SPEK_PROBER_A_TABLE_ENTITIES,

	__SPEK_PROBER_A_TABLE_MAX,
	SPEK_PROBER_A_TABLE_MAX = (__SPEK_PROBER_A_TABLE_MAX - 1)
};

/**
 * enum spek_prober_a_column - attributes of the set column
 * @SPEK_PROBER_A_COLUMN_NAME: (string)
 * @SPEK_PROBER_A_COLUMN_UNIT: (string) ns or count.
 * @__SPEK_PROBER_A_COLUMN_MAX: private
 * @SPEK_PROBER_A_COLUMN_MAX: highest id
 */
enum spek_prober_a_column {
	SPEK_PROBER_A_COLUMN_NAME = 1,
	SPEK_PROBER_A_COLUMN_UNIT,

	__SPEK_PROBER_A_COLUMN_MAX,
	SPEK_PROBER_A_COLUMN_MAX = (__SPEK_PROBER_A_COLUMN_MAX - 1)
};

/**
 * enum spek_prober_a_sample - attributes of the set sample
 * @SPEK_PROBER_A_SAMPLE_PAD: alignment of 64-bit attributes
 * @SPEK_PROBER_A_SAMPLE_PROBE: (u32) Number of the probe; in a request, refuse any other.
 * @SPEK_PROBER_A_SAMPLE_SINCE: (u64) Request - first row wanted; 0 when not given.
 * @SPEK_PROBER_A_SAMPLE_SEQ: (u64) Number of the row, from 0, without gaps.
 * @SPEK_PROBER_A_SAMPLE_DROPPED: (u64) Rows since the one asked for that were overwritten
 *   before this dump came to them.
 * @SPEK_PROBER_A_SAMPLE_TICK: (u64) The row's place in the schedule; a gap is a missed
 *   tick.
 * @SPEK_PROBER_A_SAMPLE_DUE_NS: (u64) CLOCK_MONOTONIC of the tick, started-ns + tick *
 *   interval-ns.
 * @SPEK_PROBER_A_SAMPLE_START_NS: (u64) CLOCK_MONOTONIC when reading began.
 * @SPEK_PROBER_A_SAMPLE_END_NS: (u64) CLOCK_MONOTONIC when reading ended.
 * @SPEK_PROBER_A_SAMPLE_FINAL: (u32) 1 - the last row, taken at the stop and not at a
 *   tick; due-ns is start-ns.
 * @SPEK_PROBER_A_SAMPLE_MORE: (u32) 1 - the next message goes on with this row.
 * @SPEK_PROBER_A_SAMPLE_BLOCK: (nest of block, repeated) A table or a part of one.
 * @__SPEK_PROBER_A_SAMPLE_MAX: private
 * @SPEK_PROBER_A_SAMPLE_MAX: highest id
 */
enum spek_prober_a_sample {
	SPEK_PROBER_A_SAMPLE_PAD = 1,
	SPEK_PROBER_A_SAMPLE_PROBE,
	SPEK_PROBER_A_SAMPLE_SINCE,
	SPEK_PROBER_A_SAMPLE_SEQ,
	SPEK_PROBER_A_SAMPLE_DROPPED,
	SPEK_PROBER_A_SAMPLE_TICK,
	SPEK_PROBER_A_SAMPLE_DUE_NS,
	SPEK_PROBER_A_SAMPLE_START_NS,
	SPEK_PROBER_A_SAMPLE_END_NS,
	SPEK_PROBER_A_SAMPLE_FINAL,
	SPEK_PROBER_A_SAMPLE_MORE,
	SPEK_PROBER_A_SAMPLE_BLOCK,

	__SPEK_PROBER_A_SAMPLE_MAX,
	SPEK_PROBER_A_SAMPLE_MAX = (__SPEK_PROBER_A_SAMPLE_MAX - 1)
};

/**
 * enum spek_prober_a_block - attributes of the set block
 * @SPEK_PROBER_A_BLOCK_TABLE: (u32, enum table)
 * @SPEK_PROBER_A_BLOCK_ENTITIES: (binary) u32 numbers of entities.
 * @SPEK_PROBER_A_BLOCK_CELLS: (binary) u64 values, entity by entity, each with all
 *   columns of the table in order.
 * @__SPEK_PROBER_A_BLOCK_MAX: private
 * @SPEK_PROBER_A_BLOCK_MAX: highest id
 */
enum spek_prober_a_block {
	SPEK_PROBER_A_BLOCK_TABLE = 1,
	SPEK_PROBER_A_BLOCK_ENTITIES,
	SPEK_PROBER_A_BLOCK_CELLS,

	__SPEK_PROBER_A_BLOCK_MAX,
	SPEK_PROBER_A_BLOCK_MAX = (__SPEK_PROBER_A_BLOCK_MAX - 1)
};

/**
 * enum spek_prober_cmd - commands
 * @SPEK_PROBER_CMD_PROBE_START: Start sampling. A probe that is DONE makes room, with its
 *   rows.
 * @SPEK_PROBER_CMD_PROBE_STOP: Ask the probe to end; the answer means accepted, probe-ntf
 *   means done.
 * @SPEK_PROBER_CMD_PROBE_DEL: Release a DONE probe and its rows.
 * @SPEK_PROBER_CMD_PROBE_GET: State of the probe; IDLE, and nothing but the module's
 *   version, where there is none.
 * @SPEK_PROBER_CMD_SAMPLE_GET: Rows from number since on, oldest first, as many as there
 *   were when the dump began. A row that doesn't fit into one message goes on in the
 *   next.
 * @SPEK_PROBER_CMD_PROBE_NTF: The probe changed its state; content of probe-get.
 * @__SPEK_PROBER_CMD_MAX: private
 * @SPEK_PROBER_CMD_MAX: highest id
 */
enum spek_prober_cmd {
	SPEK_PROBER_CMD_PROBE_START = 1,
	SPEK_PROBER_CMD_PROBE_STOP,
	SPEK_PROBER_CMD_PROBE_DEL,
	SPEK_PROBER_CMD_PROBE_GET,
	SPEK_PROBER_CMD_SAMPLE_GET,
	SPEK_PROBER_CMD_PROBE_NTF,

	__SPEK_PROBER_CMD_MAX,
	SPEK_PROBER_CMD_MAX = (__SPEK_PROBER_CMD_MAX - 1)
};

#endif /* _UAPI_SPEK_PROBER_H */
