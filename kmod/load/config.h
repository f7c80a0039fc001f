/* SPDX-License-Identifier: GPL-2.0 */
/* What a run is made of. */
#ifndef SPEK_CONFIG_H
#define SPEK_CONFIG_H

#include <linux/kdev_t.h>
#include <linux/types.h>
#include "core/workload.h"
#include "uapi/spek.h"

/**
 * struct spek_run_config - everything a run is made of; const after spek_run_new()
 * @name: name of the workload, for people
 * @seed: seed of every random decision
 * @owner_portid: netlink port of the socket that owns the run
 * @detached: the run outlives its socket
 * @may_write: targets are opened for writing, but for those that are read-only, and streams may
 *	write
 * @polled: poll for completions
 * @backend: enum spek_backend asked for
 * @data: enum spek_data
 * @max_outstanding: I/Os outstanding over all workers
 * @batch: I/Os issued under one plug
 * @spin_ns: time before an arrival that a worker spins instead of sleeping
 * @interval_ns: report interval; 0: totals only
 * @ramp_ns: ramp-up by time, or 0
 * @ramp_count: ramp-up by I/Os completed, or 0
 * @time_ns: length of the measure phase by time, or 0
 * @count: length of the measure phase in I/Os, or 0
 * @max_errors: failed I/Os that end the run; 0: never
 * @log_records: capacity of each worker's log in records; 0: no log
 * @stamp_id: stamped: id in the stamps; 0: draw one
 * @verify_from: stamped: number of the run to continue, or 0
 * @verify_newer: stamped, a workload that only reads: blocks may hold later versions
 * @verify_atomic: stamped: blocks of one grain hold the same write
 * @grain_bytes: stamped: largest grain, a power of two, or 0
 * @claim: number of the claim that has the targets; 0: the run opens them
 * @trace_records: trace: capacity of each worker's ring in records, a power of two; else 0
 * @nr_workers: number of workers
 * @worker: CPU of each worker
 * @nr_targets: number of targets
 * @target: device of each target, the sequence number that its disk must have (0: any), and
 *	whether it may only be read
 * @workload: asus, arrival processes, streams
 */
struct spek_run_config {
	char name[SPEK_MAX_RUN_NAME + 1];
	u64 seed;
	u32 owner_portid;
	bool detached;
	bool may_write;
	bool polled;
	u32 backend;
	u32 data;
	u32 max_outstanding;
	u32 batch;
	u64 spin_ns;
	u64 interval_ns;
	u64 ramp_ns;
	u64 ramp_count;
	u64 time_ns;
	u64 count;
	u64 max_errors;
	u32 log_records;
	u64 stamp_id;
	u32 verify_from;
	u32 grain_bytes;
	u32 verify_newer;
	u32 verify_atomic;
	u32 claim;
	u32 trace_records;
	u32 nr_workers;
	struct spek_run_worker worker[SPEK_MAX_WORKERS];
	u32 nr_targets;
	struct spek_run_target target[SPEK_MAX_TARGETS];
	struct spek_workload workload;
};

static inline dev_t spek_config_dev(const struct spek_run_config *config, u32 target)
{
	return MKDEV(config->target[target].major, config->target[target].minor);
}

static inline bool spek_config_may_write(const struct spek_run_config *config, u32 target)
{
	return config->may_write && !config->target[target].read_only;
}

#endif
