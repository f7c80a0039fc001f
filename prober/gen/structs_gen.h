/* SPDX-License-Identifier: GPL-2.0 */
/* generated from prober/uapi/spek_prober.yaml, run `make gen` */

/* The types of numbers are the including file's. */
#ifndef _SPEK_PROBER_STRUCTS_GEN_H
#define _SPEK_PROBER_STRUCTS_GEN_H

/**
 * struct spek_prober_task - attributes of the set task
 * @pid: Thread id in the initial pid namespace, as spek gives those of its workers.
 */
struct spek_prober_task {
	u32 pid;
};

/**
 * struct spek_prober_probe_start - attributes of the set probe
 * @interval_ns: From tick to tick; min-interval-ns to max-interval-ns.
 * @ring_rows: Rows kept; then the oldest is overwritten.
 * @detached: 1 - the probe outlives its socket.
 * @nr_tasks: number of @task, 1 to SPEK_PROBER_MAX_TASKS
 * @task: One for each task to watch.
 */
struct spek_prober_probe_start {
	u64 interval_ns;
	u32 ring_rows;
	u32 detached;
	u32 nr_tasks;
	struct spek_prober_task task[SPEK_PROBER_MAX_TASKS];
};

/**
 * struct spek_prober_sample_get - attributes of the set sample
 * @since: Request - first row wanted; 0 when not given.
 * @probe: Number of the probe; in a request, refuse any other.
 * @hold: Request - 1 - keep rows back until power has come.
 */
struct spek_prober_sample_get {
	u64 since;
	u32 probe;
	u32 hold;
};

/**
 * struct spek_prober_rail_config - attributes of the set rail
 * @lsb_nw: Least step of the measured power, nanowatt; 0 - not known.
 * @name: Name, printable, without spaces, unique in the feed.
 */
struct spek_prober_rail_config {
	u64 lsb_nw;
	char name[32];
};

/**
 * struct spek_prober_feed_open - attributes of the set feed
 * @max_step_ns: Samples further apart than this have a gap between them.
 * @uncertainty_ns: How far the time stamps may be off; feed-mark updates it.
 * @history: Samples kept for each rail, rounded up to a multiple of 64.
 * @nr_rails: number of @rail, 1 to SPEK_PROBER_MAX_RAILS
 * @name: Name, printable, without spaces.
 * @source: What measures (u6, hwmon...).
 * @rail: One for each rail at feed-open, one in each message of feed-get.
 */
struct spek_prober_feed_open {
	u64 max_step_ns;
	u64 uncertainty_ns;
	u32 history;
	u32 nr_rails;
	char name[32];
	char source[32];
	struct spek_prober_rail_config rail[SPEK_PROBER_MAX_RAILS];
};

/**
 * struct spek_prober_feed_mark - attributes of the set feed
 * @uncertainty_ns: How far the time stamps may be off; feed-mark updates it.
 * @drift_ppb: Rate of the source's clock against CLOCK_MONOTONIC.
 * @residual_ns: Largest deviation from the line that maps the clocks.
 * @overflows: Overflows that the source has reported so far.
 * @lost: Samples that the source knows to have lost so far.
 * @until_ns: No sample before this will come; what lies between a rail's last sample and
 *   this is a gap.
 * @id: Number of the feed; each feed-open gives the next.
 */
struct spek_prober_feed_mark {
	u64 uncertainty_ns;
	s64 drift_ppb;
	u64 residual_ns;
	u64 overflows;
	u64 lost;
	u64 until_ns;
	u32 id;
};

#endif /* _SPEK_PROBER_STRUCTS_GEN_H */
