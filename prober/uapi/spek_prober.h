/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* generated from prober/uapi/spek_prober.yaml, run `make gen` */

#ifndef _UAPI_SPEK_PROBER_H
#define _UAPI_SPEK_PROBER_H

#include <linux/types.h>

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
/* Feeds that can be open at once, and that are kept, ended ones included. */
#define SPEK_PROBER_MAX_FEEDS 16
/* Rails of one feed. */
#define SPEK_PROBER_MAX_RAILS 64
/* Bytes of the name of a feed, a source or a rail. */
#define SPEK_PROBER_MAX_NAME 31
/* Samples in one feed-push. */
#define SPEK_PROBER_MAX_BATCH 2048
/* Bytes of max-batch samples. */
#define SPEK_PROBER_MAX_BATCH_BYTES 49152
/* Intervals in one energy-get. */
#define SPEK_PROBER_MAX_INTERVALS 2048
/* Bytes of max-intervals intervals. */
#define SPEK_PROBER_MAX_INTERVALS_BYTES 32768
/* Largest plausible power of a rail, 1 MW, either way. */
#define SPEK_PROBER_MAX_POWER_UW 1000000000000ULL
/* How far a sample or a mark may lie in the future, 1 s. */
#define SPEK_PROBER_MAX_AHEAD_NS 1000000000
/* max-step-ns when it is not given, 10 s. */
#define SPEK_PROBER_DEFAULT_STEP_NS 10000000000ULL
/* Largest max-step-ns, 1 h. */
#define SPEK_PROBER_MAX_STEP_LIMIT_NS 3600000000000ULL
/* Samples kept for each rail when history is not given. */
#define SPEK_PROBER_DEFAULT_HISTORY 65536
#define SPEK_PROBER_MIN_HISTORY 64
#define SPEK_PROBER_MAX_HISTORY 4194304
/* Limit of the memory of one feed's history. */
#define SPEK_PROBER_MAX_HISTORY_BYTES 268435456
/* How long sample-get keeps a row back for the feeds, 2 s. */
#define SPEK_PROBER_MAX_LAG_NS 2000000000
/* Flag of a sample - what lies between the rail's last sample and this one is unknown. */
#define SPEK_PROBER_POWER_GAP 1

/**
 * enum spek_prober_feed_state - State of a feed.
 * @SPEK_PROBER_FEED_STATE_OPEN: Samples can be pushed.
 * @SPEK_PROBER_FEED_STATE_CLOSED: feed-close ended it.
 * @SPEK_PROBER_FEED_STATE_BROKEN: The socket that owned it was closed without feed-close.
 */
enum spek_prober_feed_state {
	SPEK_PROBER_FEED_STATE_OPEN,
	SPEK_PROBER_FEED_STATE_CLOSED,
	SPEK_PROBER_FEED_STATE_BROKEN,
};

/**
 * enum spek_prober_probe_state - State of the probe.
 * @SPEK_PROBER_PROBE_STATE_IDLE: There is no probe.
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
 * @SPEK_PROBER_TABLE_MEMORY: Memory of the machine; the one entity is total.
 * @SPEK_PROBER_TABLE_NET: Network interfaces of the initial namespace; entities are their
 *   ifindex.
 * @SPEK_PROBER_TABLE_DISK: Disks that have a capacity, not their partitions; entities are
 *   device numbers, major << 20 | minor.
 * @SPEK_PROBER_TABLE_POWER: Rails of the feeds open at the start; entities are feed * 256
 *   + rail.
 */
enum spek_prober_table {
	SPEK_PROBER_TABLE_CPU,
	SPEK_PROBER_TABLE_SWITCHES,
	SPEK_PROBER_TABLE_TASK,
	SPEK_PROBER_TABLE_MEMORY,
	SPEK_PROBER_TABLE_NET,
	SPEK_PROBER_TABLE_DISK,
	SPEK_PROBER_TABLE_POWER,
};

/**
 * enum spek_prober_cpu_column - Columns of table cpu, in order. Times are ns and mean
 *   what /proc/stat means by them. The kernel charges a whole tick to what the tick
 *   interrupts, except where it accounts at every switch (a CPU in full dynticks mode): a
 *   row is stale by up to one tick, and in rows shorter than a tick a time is 0 or a
 *   whole tick. idle-ns and iowait-ns are exact, unless the kernel runs its tick always
 *   (nohz=off). How busy a CPU was in a short row is therefore best told by its idle
 *   time. step-ns of each column says which it is on this machine.
 * @SPEK_PROBER_CPU_COLUMN_USER_NS: In userspace, guest included.
 * @SPEK_PROBER_CPU_COLUMN_NICE_NS: In userspace at a positive nice value, guest-nice
 *   included.
 * @SPEK_PROBER_CPU_COLUMN_SYSTEM_NS: In the kernel for tasks.
 * @SPEK_PROBER_CPU_COLUMN_IDLE_NS: Idle; never goes back.
 * @SPEK_PROBER_CPU_COLUMN_IOWAIT_NS: Idle while a task that last ran there waits for I/O;
 *   never goes back.
 * @SPEK_PROBER_CPU_COLUMN_IRQ_NS: In hard interrupt handlers.
 * @SPEK_PROBER_CPU_COLUMN_SOFTIRQ_NS: In softirqs.
 * @SPEK_PROBER_CPU_COLUMN_STEAL_NS: Wanted by this guest, but given to others by its
 *   host.
 * @SPEK_PROBER_CPU_COLUMN_GUEST_NS: Running virtual CPUs.
 * @SPEK_PROBER_CPU_COLUMN_GUEST_NICE_NS: Running virtual CPUs at a positive nice value.
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
	SPEK_PROBER_CPU_COLUMN_USER_NS,
	SPEK_PROBER_CPU_COLUMN_NICE_NS,
	SPEK_PROBER_CPU_COLUMN_SYSTEM_NS,
	SPEK_PROBER_CPU_COLUMN_IDLE_NS,
	SPEK_PROBER_CPU_COLUMN_IOWAIT_NS,
	SPEK_PROBER_CPU_COLUMN_IRQ_NS,
	SPEK_PROBER_CPU_COLUMN_SOFTIRQ_NS,
	SPEK_PROBER_CPU_COLUMN_STEAL_NS,
	SPEK_PROBER_CPU_COLUMN_GUEST_NS,
	SPEK_PROBER_CPU_COLUMN_GUEST_NICE_NS,
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
 * @SPEK_PROBER_SWITCH_COLUMN_SWITCHES: Context switches while the probe ran.
 */
enum spek_prober_switch_column {
	SPEK_PROBER_SWITCH_COLUMN_SWITCHES,
};

/**
 * enum spek_prober_task_column - Columns of table task, in order. They keep their last
 *   values when the task has ended. Of a task that is on a CPU, times are as of its last
 *   switch or tick, which is up to one tick ago, as step-ns of the column says.
 * @SPEK_PROBER_TASK_COLUMN_RUNTIME_NS: CPU time; the sum of user-ns and system-ns.
 * @SPEK_PROBER_TASK_COLUMN_USER_NS: In userspace; the kernel splits runtime-ns by where
 *   the ticks hit.
 * @SPEK_PROBER_TASK_COLUMN_SYSTEM_NS: In the kernel.
 * @SPEK_PROBER_TASK_COLUMN_VOLUNTARY: Voluntary context switches.
 * @SPEK_PROBER_TASK_COLUMN_INVOLUNTARY: Involuntary context switches.
 * @SPEK_PROBER_TASK_COLUMN_ENDED: 1 once the task has ended.
 */
enum spek_prober_task_column {
	SPEK_PROBER_TASK_COLUMN_RUNTIME_NS,
	SPEK_PROBER_TASK_COLUMN_USER_NS,
	SPEK_PROBER_TASK_COLUMN_SYSTEM_NS,
	SPEK_PROBER_TASK_COLUMN_VOLUNTARY,
	SPEK_PROBER_TASK_COLUMN_INVOLUNTARY,
	SPEK_PROBER_TASK_COLUMN_ENDED,
};

/**
 * enum spek_prober_memory_column - Columns of table memory, in order. Those up to
 *   swap-free-bytes are levels, the others counters, which keep their values while a CPU
 *   is brought online or taken offline.
 * @SPEK_PROBER_MEMORY_COLUMN_TOTAL_BYTES: All memory that the kernel manages.
 * @SPEK_PROBER_MEMORY_COLUMN_FREE_BYTES: Not used for anything.
 * @SPEK_PROBER_MEMORY_COLUMN_AVAILABLE_BYTES: Available without swapping, as in
 *   /proc/meminfo.
 * @SPEK_PROBER_MEMORY_COLUMN_SHARED_BYTES: Shared memory and tmpfs.
 * @SPEK_PROBER_MEMORY_COLUMN_BUFFERS_BYTES: Page cache of block devices.
 * @SPEK_PROBER_MEMORY_COLUMN_CACHED_BYTES: Page cache of files.
 * @SPEK_PROBER_MEMORY_COLUMN_DIRTY_BYTES: Page cache to be written.
 * @SPEK_PROBER_MEMORY_COLUMN_WRITEBACK_BYTES: Page cache being written.
 * @SPEK_PROBER_MEMORY_COLUMN_SLAB_BYTES: Kernel objects.
 * @SPEK_PROBER_MEMORY_COLUMN_SWAP_FREE_BYTES: Swap not used.
 * @SPEK_PROBER_MEMORY_COLUMN_PAGED_IN_BYTES: Read from block devices by bios of any
 *   origin.
 * @SPEK_PROBER_MEMORY_COLUMN_PAGED_OUT_BYTES: Written to block devices by bios of any
 *   origin.
 * @SPEK_PROBER_MEMORY_COLUMN_SWAPPED_IN_BYTES: Read from swap.
 * @SPEK_PROBER_MEMORY_COLUMN_SWAPPED_OUT_BYTES: Written to swap.
 */
enum spek_prober_memory_column {
	SPEK_PROBER_MEMORY_COLUMN_TOTAL_BYTES,
	SPEK_PROBER_MEMORY_COLUMN_FREE_BYTES,
	SPEK_PROBER_MEMORY_COLUMN_AVAILABLE_BYTES,
	SPEK_PROBER_MEMORY_COLUMN_SHARED_BYTES,
	SPEK_PROBER_MEMORY_COLUMN_BUFFERS_BYTES,
	SPEK_PROBER_MEMORY_COLUMN_CACHED_BYTES,
	SPEK_PROBER_MEMORY_COLUMN_DIRTY_BYTES,
	SPEK_PROBER_MEMORY_COLUMN_WRITEBACK_BYTES,
	SPEK_PROBER_MEMORY_COLUMN_SLAB_BYTES,
	SPEK_PROBER_MEMORY_COLUMN_SWAP_FREE_BYTES,
	SPEK_PROBER_MEMORY_COLUMN_PAGED_IN_BYTES,
	SPEK_PROBER_MEMORY_COLUMN_PAGED_OUT_BYTES,
	SPEK_PROBER_MEMORY_COLUMN_SWAPPED_IN_BYTES,
	SPEK_PROBER_MEMORY_COLUMN_SWAPPED_OUT_BYTES,
};

/**
 * enum spek_prober_net_column - Columns of table net, in order. Where a driver has
 *   cleared a counter since the last row, the counter has no value in this row and
 *   continues from its last one.
 * @SPEK_PROBER_NET_COLUMN_RX_PACKETS: Rx packets.
 * @SPEK_PROBER_NET_COLUMN_TX_PACKETS: Tx packets.
 * @SPEK_PROBER_NET_COLUMN_RX_BYTES: Rx bytes.
 * @SPEK_PROBER_NET_COLUMN_TX_BYTES: Tx bytes.
 * @SPEK_PROBER_NET_COLUMN_RX_ERRORS: Rx errors.
 * @SPEK_PROBER_NET_COLUMN_TX_ERRORS: Tx errors.
 * @SPEK_PROBER_NET_COLUMN_RX_DROPPED: Rx dropped.
 * @SPEK_PROBER_NET_COLUMN_TX_DROPPED: Tx dropped.
 */
enum spek_prober_net_column {
	SPEK_PROBER_NET_COLUMN_RX_PACKETS,
	SPEK_PROBER_NET_COLUMN_TX_PACKETS,
	SPEK_PROBER_NET_COLUMN_RX_BYTES,
	SPEK_PROBER_NET_COLUMN_TX_BYTES,
	SPEK_PROBER_NET_COLUMN_RX_ERRORS,
	SPEK_PROBER_NET_COLUMN_TX_ERRORS,
	SPEK_PROBER_NET_COLUMN_RX_DROPPED,
	SPEK_PROBER_NET_COLUMN_TX_DROPPED,
};

/**
 * enum spek_prober_disk_column - Columns of table disk, in order; they stand still where
 *   the queue's iostats are off. Times of reads and writes are summed over I/Os that have
 *   completed. busy-time-ns advances in steps of the tick; while an I/O hangs as well,
 *   except on kernels before 6.10 (6.1.93), where requests don't count as in flight.
 * @SPEK_PROBER_DISK_COLUMN_READS: Reads.
 * @SPEK_PROBER_DISK_COLUMN_READ_BYTES: Read bytes.
 * @SPEK_PROBER_DISK_COLUMN_READ_TIME_NS: Read time ns.
 * @SPEK_PROBER_DISK_COLUMN_WRITES: Writes.
 * @SPEK_PROBER_DISK_COLUMN_WRITE_BYTES: Write bytes.
 * @SPEK_PROBER_DISK_COLUMN_WRITE_TIME_NS: Write time ns.
 * @SPEK_PROBER_DISK_COLUMN_DISCARDS: Discards.
 * @SPEK_PROBER_DISK_COLUMN_DISCARD_BYTES: Discard bytes.
 * @SPEK_PROBER_DISK_COLUMN_FLUSHES: Flushes.
 * @SPEK_PROBER_DISK_COLUMN_BUSY_TIME_NS: Time with an I/O in the device.
 */
enum spek_prober_disk_column {
	SPEK_PROBER_DISK_COLUMN_READS,
	SPEK_PROBER_DISK_COLUMN_READ_BYTES,
	SPEK_PROBER_DISK_COLUMN_READ_TIME_NS,
	SPEK_PROBER_DISK_COLUMN_WRITES,
	SPEK_PROBER_DISK_COLUMN_WRITE_BYTES,
	SPEK_PROBER_DISK_COLUMN_WRITE_TIME_NS,
	SPEK_PROBER_DISK_COLUMN_DISCARDS,
	SPEK_PROBER_DISK_COLUMN_DISCARD_BYTES,
	SPEK_PROBER_DISK_COLUMN_FLUSHES,
	SPEK_PROBER_DISK_COLUMN_BUSY_TIME_NS,
};

/**
 * enum spek_prober_power_column - Columns of table power, in order, up to the start of
 *   the row.
 * @SPEK_PROBER_POWER_COLUMN_ENERGY_NJ: Energy of the time that is known, modulo 2^64 and
 *   from 2^62; goes back where power is negative.
 * @SPEK_PROBER_POWER_COLUMN_KNOWN_NS: Time of which power is known.
 * @SPEK_PROBER_POWER_COLUMN_GAP_NS: Time of which it is not.
 */
enum spek_prober_power_column {
	SPEK_PROBER_POWER_COLUMN_ENERGY_NJ,
	SPEK_PROBER_POWER_COLUMN_KNOWN_NS,
	SPEK_PROBER_POWER_COLUMN_GAP_NS,
};

/**
 * struct spek_prober_power_sample - One sample of a rail, in the machine's byte order. 24
 *   bytes, no padding.
 * @at_ns: CLOCK_MONOTONIC.
 * @power_uw: Power, microwatt; may be negative.
 * @rail: Number of the rail.
 * @flags: power-gap or 0.
 */
struct spek_prober_power_sample {
	__u64 at_ns;
	__s64 power_uw;
	__u32 rail;
	__u32 flags;
};

/**
 * struct spek_prober_power_interval - An interval to integrate over, in the machine's
 *   byte order; it must not be empty. 16 bytes, no padding.
 * @from_ns: CLOCK_MONOTONIC of its start.
 * @to_ns: CLOCK_MONOTONIC of its end.
 */
struct spek_prober_power_interval {
	__u64 from_ns;
	__u64 to_ns;
};

/**
 * struct spek_prober_power_energy - What one rail used in one interval, in the machine's
 *   byte order. known-ns, gap-ns, lost-ns and pending-ns add up to the interval. The
 *   energies of adjacent intervals add up to that of both together. 72 bytes, no padding.
 * @energy_uj: Energy of the time that is known, microjoule, rounded down.
 * @remainder_fj: Remainder of energy-uj, femtojoule, below 10^9, rounded down.
 * @known_ns: Time that samples cover.
 * @gap_ns: Time without known power.
 * @lost_ns: Time whose samples were overwritten.
 * @pending_ns: Time that the feed has not reached yet.
 * @samples: Samples from the start of the interval up to its end.
 * @min_uw: Least power, known part only; 0 if known-ns is 0.
 * @max_uw: Greatest power, known part only; 0 if known-ns is 0.
 */
struct spek_prober_power_energy {
	__s64 energy_uj;
	__u64 remainder_fj;
	__u64 known_ns;
	__u64 gap_ns;
	__u64 lost_ns;
	__u64 pending_ns;
	__u64 samples;
	__s64 min_uw;
	__s64 max_uw;
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
 * @SPEK_PROBER_A_TASK_PID: (u32) Thread id in the initial pid namespace, as spek gives
 *   those of its workers.
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
 * @SPEK_PROBER_A_TABLE_ID: (u32) Number of the table, see enum table; a newer module may
 *   have others.
 * @SPEK_PROBER_A_TABLE_NAME: (string)
 * @SPEK_PROBER_A_TABLE_COLUMN: (nest of column, repeated) One for each column, in order.
 * @SPEK_PROBER_A_TABLE_ENTITIES: (binary) u32 numbers of all entities that can appear.
 * @SPEK_PROBER_A_TABLE_ENTITY_NAME: (nest of None, repeated) Names of the entities, in
 *   order, in tables whose entities have names.
 * @SPEK_PROBER_A_TABLE_LEFT_OUT: (u32) Entities without rows, because their description
 *   would take more than 65535 bytes; only sent for such a table, which then has no
 *   entities.
 * @__SPEK_PROBER_A_TABLE_MAX: private
 * @SPEK_PROBER_A_TABLE_MAX: highest id
 */
enum spek_prober_a_table {
	SPEK_PROBER_A_TABLE_ID = 1,
	SPEK_PROBER_A_TABLE_NAME,
	SPEK_PROBER_A_TABLE_COLUMN,
	SPEK_PROBER_A_TABLE_ENTITIES,
	SPEK_PROBER_A_TABLE_ENTITY_NAME,
	SPEK_PROBER_A_TABLE_LEFT_OUT,

	__SPEK_PROBER_A_TABLE_MAX,
	SPEK_PROBER_A_TABLE_MAX = (__SPEK_PROBER_A_TABLE_MAX - 1)
};

/**
 * enum spek_prober_a_column - attributes of the set column
 * @SPEK_PROBER_A_COLUMN_NAME: (string) Name, which ends in the unit: -ns, -bytes or -nj;
 *   anything else is a count.
 * @SPEK_PROBER_A_COLUMN_LEVEL: (u32) 1 - the values are levels and no counters.
 * @SPEK_PROBER_A_COLUMN_STEP_NS: (u32) Step in which the kernel counts this time, the
 *   period of its tick; a difference of two rows is off by up to one step at either end.
 *   0 - as exact as its unit.
 * @__SPEK_PROBER_A_COLUMN_MAX: private
 * @SPEK_PROBER_A_COLUMN_MAX: highest id
 */
enum spek_prober_a_column {
	SPEK_PROBER_A_COLUMN_NAME = 1,
	SPEK_PROBER_A_COLUMN_LEVEL,
	SPEK_PROBER_A_COLUMN_STEP_NS,

	__SPEK_PROBER_A_COLUMN_MAX,
	SPEK_PROBER_A_COLUMN_MAX = (__SPEK_PROBER_A_COLUMN_MAX - 1)
};

/**
 * enum spek_prober_a_sample - attributes of the set sample
 * @SPEK_PROBER_A_SAMPLE_PAD: alignment of 64-bit attributes
 * @SPEK_PROBER_A_SAMPLE_PROBE: (u32) Number of the probe; in a request, refuse any other.
 * @SPEK_PROBER_A_SAMPLE_SINCE: (u64) Request - first row wanted; 0 when not given.
 * @SPEK_PROBER_A_SAMPLE_HOLD: (u32, at most 1) Request - 1 - keep rows back until power
 *   has come.
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
 * @SPEK_PROBER_A_SAMPLE_MORE: (u32) 1 - the next message continues this row.
 * @SPEK_PROBER_A_SAMPLE_BLOCK: (nest of block, repeated) A table or a part of one.
 * @__SPEK_PROBER_A_SAMPLE_MAX: private
 * @SPEK_PROBER_A_SAMPLE_MAX: highest id
 */
enum spek_prober_a_sample {
	SPEK_PROBER_A_SAMPLE_PAD = 1,
	SPEK_PROBER_A_SAMPLE_PROBE,
	SPEK_PROBER_A_SAMPLE_SINCE,
	SPEK_PROBER_A_SAMPLE_HOLD,
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
 * @SPEK_PROBER_A_BLOCK_TABLE: (u32) Number of the table, see enum table; a newer module
 *   may have others.
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
 * enum spek_prober_a_feed - attributes of the set feed
 * @SPEK_PROBER_A_FEED_PAD: alignment of 64-bit attributes
 * @SPEK_PROBER_A_FEED_ID: (u32) Number of the feed; each feed-open gives the next.
 * @SPEK_PROBER_A_FEED_NAME: (string, at most 31 bytes) Name, printable, without spaces.
 * @SPEK_PROBER_A_FEED_SOURCE: (string, at most 31 bytes) What measures (u6, hwmon...).
 * @SPEK_PROBER_A_FEED_STATE: (u32, enum feed-state)
 * @SPEK_PROBER_A_FEED_OWNER_PID: (u32) Process that opened it; 0 - one of another pid
 *   namespace.
 * @SPEK_PROBER_A_FEED_OWNER_NAME: (string) Name of that process.
 * @SPEK_PROBER_A_FEED_HISTORY: (u32) Samples kept for each rail, rounded up to a multiple
 *   of 64.
 * @SPEK_PROBER_A_FEED_MAX_STEP_NS: (u64) Samples further apart than this have a gap
 *   between them.
 * @SPEK_PROBER_A_FEED_UNCERTAINTY_NS: (u64) How far the time stamps may be off; feed-mark
 *   updates it.
 * @SPEK_PROBER_A_FEED_DRIFT_PPB: (s64) Rate of the source's clock against
 *   CLOCK_MONOTONIC.
 * @SPEK_PROBER_A_FEED_RESIDUAL_NS: (u64) Largest deviation from the line that maps the
 *   clocks.
 * @SPEK_PROBER_A_FEED_OVERFLOWS: (u64) Overflows that the source has reported so far.
 * @SPEK_PROBER_A_FEED_LOST: (u64) Samples that the source knows to have lost so far.
 * @SPEK_PROBER_A_FEED_UNTIL_NS: (u64) No sample before this will come; what lies between
 *   a rail's last sample and this is a gap.
 * @SPEK_PROBER_A_FEED_OPENED_NS: (u64) CLOCK_MONOTONIC of feed-open.
 * @SPEK_PROBER_A_FEED_ENDED_NS: (u64) CLOCK_MONOTONIC of the end; only when ended.
 * @SPEK_PROBER_A_FEED_NOW_NS: (u64) CLOCK_MONOTONIC of this answer.
 * @SPEK_PROBER_A_FEED_WATERMARK_NS: (u64) Time up to which all its rails have come; 0 -
 *   nothing yet.
 * @SPEK_PROBER_A_FEED_BATCHES: (u64) Batches taken.
 * @SPEK_PROBER_A_FEED_REFUSED: (u64) Batches refused.
 * @SPEK_PROBER_A_FEED_LEFT_BEHIND: (u64) Rows handed out without it because it lagged.
 * @SPEK_PROBER_A_FEED_RAIL: (nest of rail, repeated) One for each rail at feed-open, one
 *   in each message of feed-get.
 * @SPEK_PROBER_A_FEED_SAMPLES: (array of struct spek_prober_power_sample, at most 49152
 *   bytes) At most max-batch.
 * @SPEK_PROBER_A_FEED_ACCEPTED: (u64) Samples of the batch that were stored.
 * @SPEK_PROBER_A_FEED_LATE: (u64) Samples of the batch that came too late.
 * @__SPEK_PROBER_A_FEED_MAX: private
 * @SPEK_PROBER_A_FEED_MAX: highest id
 */
enum spek_prober_a_feed {
	SPEK_PROBER_A_FEED_PAD = 1,
	SPEK_PROBER_A_FEED_ID,
	SPEK_PROBER_A_FEED_NAME,
	SPEK_PROBER_A_FEED_SOURCE,
	SPEK_PROBER_A_FEED_STATE,
	SPEK_PROBER_A_FEED_OWNER_PID,
	SPEK_PROBER_A_FEED_OWNER_NAME,
	SPEK_PROBER_A_FEED_HISTORY,
	SPEK_PROBER_A_FEED_MAX_STEP_NS,
	SPEK_PROBER_A_FEED_UNCERTAINTY_NS,
	SPEK_PROBER_A_FEED_DRIFT_PPB,
	SPEK_PROBER_A_FEED_RESIDUAL_NS,
	SPEK_PROBER_A_FEED_OVERFLOWS,
	SPEK_PROBER_A_FEED_LOST,
	SPEK_PROBER_A_FEED_UNTIL_NS,
	SPEK_PROBER_A_FEED_OPENED_NS,
	SPEK_PROBER_A_FEED_ENDED_NS,
	SPEK_PROBER_A_FEED_NOW_NS,
	SPEK_PROBER_A_FEED_WATERMARK_NS,
	SPEK_PROBER_A_FEED_BATCHES,
	SPEK_PROBER_A_FEED_REFUSED,
	SPEK_PROBER_A_FEED_LEFT_BEHIND,
	SPEK_PROBER_A_FEED_RAIL,
	SPEK_PROBER_A_FEED_SAMPLES,
	SPEK_PROBER_A_FEED_ACCEPTED,
	SPEK_PROBER_A_FEED_LATE,

	__SPEK_PROBER_A_FEED_MAX,
	SPEK_PROBER_A_FEED_MAX = (__SPEK_PROBER_A_FEED_MAX - 1)
};

/**
 * enum spek_prober_a_rail - attributes of the set rail
 * @SPEK_PROBER_A_RAIL_PAD: alignment of 64-bit attributes
 * @SPEK_PROBER_A_RAIL_NUMBER: (u32) Number in the feed, from 0, in the order of
 *   feed-open.
 * @SPEK_PROBER_A_RAIL_NAME: (string, at most 31 bytes) Name, printable, without spaces,
 *   unique in the feed.
 * @SPEK_PROBER_A_RAIL_LSB_NW: (u64) Least step of the measured power, nanowatt; 0 - not
 *   known.
 * @SPEK_PROBER_A_RAIL_SAMPLES: (u64) Samples stored.
 * @SPEK_PROBER_A_RAIL_LATE: (u64) Samples that came too late.
 * @SPEK_PROBER_A_RAIL_OVERWRITTEN: (u64) Samples that are not kept any more.
 * @SPEK_PROBER_A_RAIL_GAPS: (u64) Gaps between samples.
 * @SPEK_PROBER_A_RAIL_GAP_NS: (u64) Their length.
 * @SPEK_PROBER_A_RAIL_KNOWN_NS: (u64) Time between samples, without gaps.
 * @SPEK_PROBER_A_RAIL_ENERGY_UJ: (s64) Energy of that time, microjoule, rounded down.
 * @SPEK_PROBER_A_RAIL_FIRST_NS: (u64) Time of the first sample.
 * @SPEK_PROBER_A_RAIL_OLDEST_NS: (u64) Time of the oldest sample that is kept.
 * @SPEK_PROBER_A_RAIL_LAST_NS: (u64) Time of the last sample; there are no times before
 *   there is a sample.
 * @SPEK_PROBER_A_RAIL_POWER_UW: (s64) Power of the last sample, microwatt.
 * @__SPEK_PROBER_A_RAIL_MAX: private
 * @SPEK_PROBER_A_RAIL_MAX: highest id
 */
enum spek_prober_a_rail {
	SPEK_PROBER_A_RAIL_PAD = 1,
	SPEK_PROBER_A_RAIL_NUMBER,
	SPEK_PROBER_A_RAIL_NAME,
	SPEK_PROBER_A_RAIL_LSB_NW,
	SPEK_PROBER_A_RAIL_SAMPLES,
	SPEK_PROBER_A_RAIL_LATE,
	SPEK_PROBER_A_RAIL_OVERWRITTEN,
	SPEK_PROBER_A_RAIL_GAPS,
	SPEK_PROBER_A_RAIL_GAP_NS,
	SPEK_PROBER_A_RAIL_KNOWN_NS,
	SPEK_PROBER_A_RAIL_ENERGY_UJ,
	SPEK_PROBER_A_RAIL_FIRST_NS,
	SPEK_PROBER_A_RAIL_OLDEST_NS,
	SPEK_PROBER_A_RAIL_LAST_NS,
	SPEK_PROBER_A_RAIL_POWER_UW,

	__SPEK_PROBER_A_RAIL_MAX,
	SPEK_PROBER_A_RAIL_MAX = (__SPEK_PROBER_A_RAIL_MAX - 1)
};

/**
 * enum spek_prober_a_energy - attributes of the set energy
 * @SPEK_PROBER_A_ENERGY_PAD: alignment of 64-bit attributes
 * @SPEK_PROBER_A_ENERGY_FEED: (u32) Number of the feed; in a request, of no other.
 * @SPEK_PROBER_A_ENERGY_INTERVALS: (array of struct spek_prober_power_interval, at most
 *   32768 bytes) At most max-intervals.
 * @SPEK_PROBER_A_ENERGY_FEED_NAME: (string)
 * @SPEK_PROBER_A_ENERGY_RAIL: (u32) Number of the rail.
 * @SPEK_PROBER_A_ENERGY_RAIL_NAME: (string)
 * @SPEK_PROBER_A_ENERGY_STATE: (u32, enum feed-state)
 * @SPEK_PROBER_A_ENERGY_UNCERTAINTY_NS: (u64) How far the time stamps may be off.
 * @SPEK_PROBER_A_ENERGY_LSB_NW: (u64) Least step of the measured power, nanowatt; 0 - not
 *   known.
 * @SPEK_PROBER_A_ENERGY_FIRST: (u32) Index of the interval that the first result of this
 *   message is about.
 * @SPEK_PROBER_A_ENERGY_RESULTS: (array of struct spek_prober_power_energy) One for each
 *   interval, in their order.
 * @__SPEK_PROBER_A_ENERGY_MAX: private
 * @SPEK_PROBER_A_ENERGY_MAX: highest id
 */
enum spek_prober_a_energy {
	SPEK_PROBER_A_ENERGY_PAD = 1,
	SPEK_PROBER_A_ENERGY_FEED,
	SPEK_PROBER_A_ENERGY_INTERVALS,
	SPEK_PROBER_A_ENERGY_FEED_NAME,
	SPEK_PROBER_A_ENERGY_RAIL,
	SPEK_PROBER_A_ENERGY_RAIL_NAME,
	SPEK_PROBER_A_ENERGY_STATE,
	SPEK_PROBER_A_ENERGY_UNCERTAINTY_NS,
	SPEK_PROBER_A_ENERGY_LSB_NW,
	SPEK_PROBER_A_ENERGY_FIRST,
	SPEK_PROBER_A_ENERGY_RESULTS,

	__SPEK_PROBER_A_ENERGY_MAX,
	SPEK_PROBER_A_ENERGY_MAX = (__SPEK_PROBER_A_ENERGY_MAX - 1)
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
 *   were when the dump began. A row that doesn't fit into one message continues in the
 *   next.
 * @SPEK_PROBER_CMD_PROBE_NTF: The probe changed its state; content of probe-get.
 * @SPEK_PROBER_CMD_FEED_OPEN: Open a feed; an ended one of the same name makes room.
 *   Rails are numbered in the order in which they are given; each needs a name.
 * @SPEK_PROBER_CMD_FEED_PUSH: Bring samples. The batch is checked as a whole first: with
 *   an unknown rail, an unknown flag, an implausible power or a time more than
 *   max-ahead-ns in the future, nothing of it is stored. Only the socket that opened the
 *   feed may do this.
 * @SPEK_PROBER_CMD_FEED_MARK: Say that nothing came up to until-ns, and how the source's
 *   clock is doing; each attribute but id is optional. Only the socket that opened the
 *   feed may do this.
 * @SPEK_PROBER_CMD_FEED_CLOSE: End a feed; what it brought stays readable.
 * @SPEK_PROBER_CMD_FEED_GET: Feeds and rails, in order; one message for each rail, all
 *   with what is known of the feed.
 * @SPEK_PROBER_CMD_ENERGY_GET: Energy of each rail, of one feed or of all that are kept,
 *   in each of the intervals. A rail's results take as many messages as they need.
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
	SPEK_PROBER_CMD_FEED_OPEN,
	SPEK_PROBER_CMD_FEED_PUSH,
	SPEK_PROBER_CMD_FEED_MARK,
	SPEK_PROBER_CMD_FEED_CLOSE,
	SPEK_PROBER_CMD_FEED_GET,
	SPEK_PROBER_CMD_ENERGY_GET,

	__SPEK_PROBER_CMD_MAX,
	SPEK_PROBER_CMD_MAX = (__SPEK_PROBER_CMD_MAX - 1)
};

#endif /* _UAPI_SPEK_PROBER_H */
