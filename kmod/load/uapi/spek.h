/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* generated from kmod/load/uapi/spek.yaml, run `make gen` */

#ifndef _UAPI_SPEK_H
#define _UAPI_SPEK_H

#include <linux/types.h>

#include "spek_enums.h"

#define SPEK_FAMILY_NAME "spek"
#define SPEK_FAMILY_VERSION 1
#define SPEK_MCGRP_RUNS "runs"

/**
 * struct spek_log_record - One I/O in the log of a run, in the machine's byte order. 48
 *   bytes, no padding.
 * @at_ns: Intended arrival, CLOCK_MONOTONIC.
 * @issue_ns: Hand-over to the block layer, CLOCK_MONOTONIC.
 * @done_ns: Completion, CLOCK_MONOTONIC.
 * @addr: First byte in the asu.
 * @bytes: Length.
 * @replica: Replica of the stream (SPC-1 - BSU).
 * @stream: Index of the stream.
 * @worker: Number of the worker.
 * @asu: Index of the asu.
 * @write: 1 - a write.
 * @phase: Phase in which it is counted (enum phase).
 * @error: errno of a failed I/O, else 0.
 */
struct spek_log_record {
	__u64 at_ns;
	__u64 issue_ns;
	__u64 done_ns;
	__u64 addr;
	__u32 bytes;
	__u32 replica;
	__u16 stream;
	__u16 worker;
	__u8 asu;
	__u8 write;
	__u8 phase;
	__u8 error;
};

/**
 * struct spek_interval_stream - What one stream did in a closed interval, in the
 *   machine's byte order. 32 bytes, no padding.
 * @reads: Reads that completed.
 * @read_bytes: Bytes that they transferred.
 * @writes: Writes that completed.
 * @write_bytes: Bytes that they transferred.
 */
struct spek_interval_stream {
	__u64 reads;
	__u64 read_bytes;
	__u64 writes;
	__u64 write_bytes;
};

/**
 * struct spek_op_record - One operation that a worker generates, in the machine's byte
 *   order. 32 bytes, no padding.
 * @at_ns: Intended arrival after the start of the run.
 * @addr: First byte in the address range (asu).
 * @bytes: Length.
 * @replica: Replica of the stream, counted over all workers.
 * @stream: Index of the stream.
 * @asu: Index of the address range (asu).
 * @arrival: Index of the arrival process.
 * @write: 1 for a write, 0 for a read.
 */
struct spek_op_record {
	__u64 at_ns;
	__u64 addr;
	__u32 bytes;
	__u32 replica;
	__u16 stream;
	__u16 asu;
	__u16 arrival;
	__u16 write;
};

/**
 * struct spek_table_part - A part of the range of a stream with a table, in the machine's
 *   byte order. 16 bytes, no padding.
 * @slots: Addresses at which an I/O may start, at least 1.
 * @weight: Share of the I/Os, of 2^40.
 */
struct spek_table_part {
	__u64 slots;
	__u64 weight;
};

/**
 * struct spek_rate_point - A point of a rate curve, in the machine's byte order. 16
 *   bytes, no padding.
 * @at_ns: Time from the start of the curve, at most 10^15; the first is at 0.
 * @rate_milli: I/Os per 1000 s over all workers, at most 10^12.
 */
struct spek_rate_point {
	__u64 at_ns;
	__u64 rate_milli;
};

/**
 * struct spek_trace_record - One request of a trace, in the machine's byte order. 24
 *   bytes, no padding.
 * @at_ns: Due time after the start of the run, at most 366 days, not before that of the
 *   record before; law closed - think time, from the completion that makes room for it to
 *   when it is due.
 * @addr: First byte in the asu, a multiple of align-bytes of its stream.
 * @bytes: Length, a multiple of align-bytes, at most the size of its stream; discards may
 *   be longer.
 * @asu: Index of the asu.
 * @op: Operation (enum trace-op).
 * @flags: Flags: trace-fua, trace-preflush, both or 0.
 */
struct spek_trace_record {
	__u64 at_ns;
	__u64 addr;
	__u32 bytes;
	__u16 asu;
	__u8 op;
	__u8 flags;
};

/**
 * enum spek_a_run - attributes of the set run
 * @SPEK_A_RUN_PAD: alignment of 64-bit attributes
 * @SPEK_A_RUN_ID: (u32) Number of the run.
 * @SPEK_A_RUN_NAME: (string, at most 63 bytes) Name of the workload.
 * @SPEK_A_RUN_STATE: (u32, enum run-state)
 * @SPEK_A_RUN_PHASE: (u32, enum phase)
 * @SPEK_A_RUN_REASON: (u32, enum reason)
 * @SPEK_A_RUN_SEED: (u64) Seed of every random decision.
 * @SPEK_A_RUN_DETACHED: (u32, at most 1) 1 - the run outlives its socket.
 * @SPEK_A_RUN_WRITE: (u32, at most 1) 1 - the run may write; without it targets are
 *   opened read-only and writing streams refused.
 * @SPEK_A_RUN_BACKEND: (u32, enum backend)
 * @SPEK_A_RUN_POLLED: (u32, at most 1) 1 - poll for completions; refused where the queue
 *   has no poll queues.
 * @SPEK_A_RUN_DATA: (u32, enum data)
 * @SPEK_A_RUN_MAX_OUTSTANDING: (u32, 1..65536) Limit of I/Os outstanding over all
 *   workers. With several targets, arrivals for one that has no room wait without
 *   counting, up to 1048576 for each worker, and do not hold up the others.
 * @SPEK_A_RUN_BATCH: (u32, 1..256) I/Os issued under one plug; 16 if not given.
 * @SPEK_A_RUN_SPIN_NS: (u64) Time that a worker spins instead of sleeping, before an
 *   arrival and at the start of a wait for a completion; at most 10 ms.
 * @SPEK_A_RUN_INTERVAL_NS: (u64) Report interval, at least 1 ms; 0 - totals only.
 * @SPEK_A_RUN_RAMP_NS: (u64) Ramp-up by time.
 * @SPEK_A_RUN_RAMP_COUNT: (u64) Ramp-up by I/Os completed, shared out over the workers by
 *   load. It ends for all workers at one time, 100 us after the last of several workers
 *   has completed its share; until then the others continue. Not with ramp-ns.
 * @SPEK_A_RUN_TIME_NS: (u64) Length of the measure phase, at most 366 days. With count as
 *   well it ends at whichever comes first; a run needs one of the two, unless it replays
 *   a trace.
 * @SPEK_A_RUN_COUNT: (u64) Length of the measure phase in I/Os, shared out over the
 *   workers by load. It ends for all workers at one time, when the last worker has
 *   completed its share. A worker with more I/Os in flight from the ramp-up than its
 *   share measures all of them, unless it is the only worker.
 * @SPEK_A_RUN_MAX_ERRORS: (u64) Failed I/Os that end the run; 0 - never.
 * @SPEK_A_RUN_WORKER: (nest of worker, repeated) One for each worker.
 * @SPEK_A_RUN_TARGET: (nest of target, repeated) One for each target, in order.
 * @SPEK_A_RUN_ASU: (nest of asu, repeated) One for each address range, in order.
 * @SPEK_A_RUN_ARRIVAL: (nest of arrival, repeated) One for each arrival process, in
 *   order.
 * @SPEK_A_RUN_STREAM: (nest of stream, repeated) One for each stream, in order.
 * @SPEK_A_RUN_STARTED_NS: (u64) CLOCK_MONOTONIC of the start of the ramp.
 * @SPEK_A_RUN_MEASURE_NS: (u64) CLOCK_MONOTONIC of the start of the measure phase.
 * @SPEK_A_RUN_DRAIN_NS: (u64) CLOCK_MONOTONIC of the end of the measure phase.
 * @SPEK_A_RUN_ENDED_NS: (u64) CLOCK_MONOTONIC when the last I/O completed.
 * @SPEK_A_RUN_START_RAW_NS: (u64) CLOCK_MONOTONIC_RAW read with started-ns.
 * @SPEK_A_RUN_START_REAL_NS: (u64) CLOCK_REALTIME read with started-ns.
 * @SPEK_A_RUN_END_RAW_NS: (u64) CLOCK_MONOTONIC_RAW read with ended-ns.
 * @SPEK_A_RUN_END_REAL_NS: (u64) CLOCK_REALTIME read with ended-ns.
 * @SPEK_A_RUN_NOW_NS: (u64) CLOCK_MONOTONIC of this answer.
 * @SPEK_A_RUN_OUTSTANDING: (u32) I/Os that the devices hold now; unlike outstanding of an
 *   interval, without those that wait for room.
 * @SPEK_A_RUN_BACKLOG: (u64) Arrivals that were due and not issued, at the last interval
 *   boundary or at the end.
 * @SPEK_A_RUN_OLDEST_NS: (u64) Age of the oldest outstanding I/O, from when the run
 *   begins to end; 0 before.
 * @SPEK_A_RUN_INTERVALS: (u64) Intervals closed so far.
 * @SPEK_A_RUN_ERRORS: (u64) Failed I/Os so far.
 * @SPEK_A_RUN_FIRST_ERROR: (string, at most 127 bytes) The first failure in words.
 * @SPEK_A_RUN_MODULE_VERSION: (string, at most 63 bytes)
 * @SPEK_A_RUN_LOG_RECORDS: (u32, 1..16777216) Log every I/O: capacity of each worker's
 *   log in records, rounded up to a power of two and at least 1024.
 * @SPEK_A_RUN_LOG_DIR: (string, at most 23 bytes) Directory of the log's files worker0,
 *   worker1..., relative to the mount point of debugfs.
 * @SPEK_A_RUN_FIRST_SENSE: (nest of sense) scsi - sense data of the first failure.
 * @SPEK_A_RUN_SENSE: (nest of sense, repeated) scsi - one for each cause of failed
 *   requests so far, at most max-senses, in order of appearance.
 * @SPEK_A_RUN_SENSE_OTHERS: (u64) scsi - failed requests with causes beyond max-senses.
 * @SPEK_A_RUN_STAMP_ID: (u64) stamped - id in this run's stamps; drawn by the kernel if
 *   not given. A workload that only reads needs it, and map-set to record what was
 *   written.
 * @SPEK_A_RUN_VERIFY_FROM: (u32) stamped - continue this run, which is DONE: take over
 *   its record of what was written and its stamp-id. It must have the same targets in the
 *   same order; ENODEV if a disk was replaced since.
 * @SPEK_A_RUN_GRAIN_BYTES: (u32) stamped - size of a grain, the unit in which writes are
 *   recorded, 8 bytes of memory each. In a request an upper limit.
 * @SPEK_A_RUN_VERIFY: (nest of verify) stamped - counters of the checks so far.
 * @SPEK_A_RUN_START_NS: (u64, at least 1) CLOCK_MONOTONIC at which the run starts; it
 *   must lie in the future (ETIME), at most 366 days away (ERANGE). Not given - at once.
 * @SPEK_A_RUN_FAILURE_ERRNO: (u32) failed - errno of the refusal.
 * @SPEK_A_RUN_FAILURE: (string, at most 255 bytes) failed - what was wrong and what is
 *   allowed.
 * @SPEK_A_RUN_FAILURE_PART: (u32, enum config-part) failed - the part of the
 *   configuration that the refusal is about.
 * @SPEK_A_RUN_FAILURE_INDEX: (u32) failed - number of that part among its kind.
 * @SPEK_A_RUN_TRACE_RECORDS: (u32, 1024..4194304) trace - capacity of each worker's ring
 *   in records, rounded up to a power of two.
 * @SPEK_A_RUN_REPLAY: (nest of replay) trace - what was fed and issued so far.
 * @SPEK_A_RUN_CLAIM: (u32) Number of a claim of the same socket that has all targets,
 *   which the run borrows, open as they are. Not given - the run opens and claims them.
 * @SPEK_A_RUN_ARRIVAL_END: (nest of arrival-end, repeated) One for each arrival process,
 *   in their order, if any has a count.
 * @SPEK_A_RUN_VERIFY_NEWER: (u32, at most 1) stamped - 1: a block that holds a later
 *   write than the recorded one is correct, as after a power cut that ended a run; only
 *   an older one means a lost write. For workloads that only read.
 * @SPEK_A_RUN_VERIFY_ATOMIC: (u32, at most 1) stamped - 1: all writes were atomic and of
 *   whole grains: a grain whose blocks hold different writes is torn, even if each of the
 *   writes would be correct.
 * @__SPEK_A_RUN_MAX: private
 * @SPEK_A_RUN_MAX: highest id
 */
enum spek_a_run {
	SPEK_A_RUN_PAD = 1,
	SPEK_A_RUN_ID,
	SPEK_A_RUN_NAME,
	SPEK_A_RUN_STATE,
	SPEK_A_RUN_PHASE,
	SPEK_A_RUN_REASON,
	SPEK_A_RUN_SEED,
	SPEK_A_RUN_DETACHED,
	SPEK_A_RUN_WRITE,
	SPEK_A_RUN_BACKEND,
	SPEK_A_RUN_POLLED,
	SPEK_A_RUN_DATA,
	SPEK_A_RUN_MAX_OUTSTANDING,
	SPEK_A_RUN_BATCH,
	SPEK_A_RUN_SPIN_NS,
	SPEK_A_RUN_INTERVAL_NS,
	SPEK_A_RUN_RAMP_NS,
	SPEK_A_RUN_RAMP_COUNT,
	SPEK_A_RUN_TIME_NS,
	SPEK_A_RUN_COUNT,
	SPEK_A_RUN_MAX_ERRORS,
	SPEK_A_RUN_WORKER,
	SPEK_A_RUN_TARGET,
	SPEK_A_RUN_ASU,
	SPEK_A_RUN_ARRIVAL,
	SPEK_A_RUN_STREAM,
	SPEK_A_RUN_STARTED_NS,
	SPEK_A_RUN_MEASURE_NS,
	SPEK_A_RUN_DRAIN_NS,
	SPEK_A_RUN_ENDED_NS,
	SPEK_A_RUN_START_RAW_NS,
	SPEK_A_RUN_START_REAL_NS,
	SPEK_A_RUN_END_RAW_NS,
	SPEK_A_RUN_END_REAL_NS,
	SPEK_A_RUN_NOW_NS,
	SPEK_A_RUN_OUTSTANDING,
	SPEK_A_RUN_BACKLOG,
	SPEK_A_RUN_OLDEST_NS,
	SPEK_A_RUN_INTERVALS,
	SPEK_A_RUN_ERRORS,
	SPEK_A_RUN_FIRST_ERROR,
	SPEK_A_RUN_MODULE_VERSION,
	SPEK_A_RUN_LOG_RECORDS,
	SPEK_A_RUN_LOG_DIR,
	SPEK_A_RUN_FIRST_SENSE,
	SPEK_A_RUN_SENSE,
	SPEK_A_RUN_SENSE_OTHERS,
	SPEK_A_RUN_STAMP_ID,
	SPEK_A_RUN_VERIFY_FROM,
	SPEK_A_RUN_GRAIN_BYTES,
	SPEK_A_RUN_VERIFY,
	SPEK_A_RUN_START_NS,
	SPEK_A_RUN_FAILURE_ERRNO,
	SPEK_A_RUN_FAILURE,
	SPEK_A_RUN_FAILURE_PART,
	SPEK_A_RUN_FAILURE_INDEX,
	SPEK_A_RUN_TRACE_RECORDS,
	SPEK_A_RUN_REPLAY,
	SPEK_A_RUN_CLAIM,
	SPEK_A_RUN_ARRIVAL_END,
	SPEK_A_RUN_VERIFY_NEWER,
	SPEK_A_RUN_VERIFY_ATOMIC,

	__SPEK_A_RUN_MAX,
	SPEK_A_RUN_MAX = (__SPEK_A_RUN_MAX - 1)
};

/**
 * enum spek_a_worker - Worker of a run.
 * @SPEK_A_WORKER_PAD: alignment of 64-bit attributes
 * @SPEK_A_WORKER_INDEX: (u32)
 * @SPEK_A_WORKER_CPU: (u32) CPU the worker is bound to.
 * @SPEK_A_WORKER_PID: (u32) Its thread, for the prober.
 * @SPEK_A_WORKER_CPU_NS: (u64) CPU time of the thread.
 * @SPEK_A_WORKER_VOLUNTARY: (u64) Voluntary context switches.
 * @SPEK_A_WORKER_INVOLUNTARY: (u64) Involuntary context switches.
 * @SPEK_A_WORKER_OUTSTANDING: (u32)
 * @SPEK_A_WORKER_LOG_WRITTEN: (u64) Records in the log so far; log only.
 * @SPEK_A_WORKER_LOG_LOST: (u64) I/Os so far without a record because the log was full;
 *   log only.
 * @__SPEK_A_WORKER_MAX: private
 * @SPEK_A_WORKER_MAX: highest id
 */
enum spek_a_worker {
	SPEK_A_WORKER_PAD = 1,
	SPEK_A_WORKER_INDEX,
	SPEK_A_WORKER_CPU,
	SPEK_A_WORKER_PID,
	SPEK_A_WORKER_CPU_NS,
	SPEK_A_WORKER_VOLUNTARY,
	SPEK_A_WORKER_INVOLUNTARY,
	SPEK_A_WORKER_OUTSTANDING,
	SPEK_A_WORKER_LOG_WRITTEN,
	SPEK_A_WORKER_LOG_LOST,

	__SPEK_A_WORKER_MAX,
	SPEK_A_WORKER_MAX = (__SPEK_A_WORKER_MAX - 1)
};

/**
 * enum spek_a_target - Target of a run.
 * @SPEK_A_TARGET_PAD: alignment of 64-bit attributes
 * @SPEK_A_TARGET_MAJOR: (u32) Device number.
 * @SPEK_A_TARGET_MINOR: (u32) Device number.
 * @SPEK_A_TARGET_NAME: (string, at most 31 bytes) Name of the device as the kernel prints
 *   it.
 * @SPEK_A_TARGET_DISKSEQ: (u64) Sequence number of the disk; differs if the device was
 *   replaced since it was checked.
 * @SPEK_A_TARGET_BYTES: (u64) Capacity.
 * @SPEK_A_TARGET_LOGICAL_BLOCK: (u32) Bytes.
 * @SPEK_A_TARGET_MAX_IO: (u32) Bytes of the largest request that is sent whole; larger
 *   I/Os are split.
 * @SPEK_A_TARGET_BACKEND: (u32, enum backend) Back end in use.
 * @SPEK_A_TARGET_BACKEND_REASON: (string, at most 255 bytes) Reason for this back end.
 * @SPEK_A_TARGET_POLLED: (u32)
 * @SPEK_A_TARGET_READS: (u64) Read requests sent since the run started, all phases. One
 *   that fails before a driver could get it does not count: the device is gone, or the
 *   part of it that the request is for. With back end bio only those of a device that is
 *   gone are known; what else the block layer fails by itself counts as sent.
 * @SPEK_A_TARGET_READ_BYTES: (u64)
 * @SPEK_A_TARGET_WRITES: (u64) As reads; also of zeroes, and commands on zones, as the
 *   disk counts them.
 * @SPEK_A_TARGET_WRITE_BYTES: (u64)
 * @SPEK_A_TARGET_REFUSED: (u64) scsi - requests that the driver had no room for and that
 *   were sent again.
 * @SPEK_A_TARGET_MAP_START: (u64) stamped - first byte that the record of writes covers.
 * @SPEK_A_TARGET_MAP_BYTES: (u64) stamped - bytes that it covers.
 * @SPEK_A_TARGET_TAG_WAITS: (u64) mq and scsi, and bio where it polls or the run has
 *   several targets - parts that found all requests of the device in use and waited;
 *   their service time includes the wait, as it does with bio.
 * @SPEK_A_TARGET_DISCARDS: (u64) Discards sent; the block layer may send several requests
 *   for one.
 * @SPEK_A_TARGET_DISCARD_BYTES: (u64)
 * @SPEK_A_TARGET_FLUSHES: (u64) Flushes sent; the block layer may send one request for
 *   several.
 * @SPEK_A_TARGET_ZONE_APPENDS: (u64) Zone appends sent; they are in writes as well.
 * @SPEK_A_TARGET_ZONE_RESETS: (u64) Resets of zones sent, also before a zone is written
 *   again.
 * @SPEK_A_TARGET_ZONE_FINISHES: (u64)
 * @SPEK_A_TARGET_ZONE_OPENS: (u64) Openings of zones sent, also before a zone is closed.
 * @SPEK_A_TARGET_ZONE_CLOSES: (u64)
 * @SPEK_A_TARGET_ZONE_MISPLACED: (u64) Zone appends that the device placed elsewhere than
 *   at the write pointer that is tracked.
 * @SPEK_A_TARGET_OPENS: (u32) Opens of the device and of what shares its data (the
 *   partitions of a disk, the disk of a partition), the claim included; 1 - nobody else
 *   has it open. Absent while somebody opens or closes one of them, and once the device
 *   is closed.
 * @SPEK_A_TARGET_READ_ONLY: (u32, at most 1) 1 - the device is opened read-only although
 *   write is set: a stream that can write is refused there, and so is a run that may
 *   write it under a claim.
 * @__SPEK_A_TARGET_MAX: private
 * @SPEK_A_TARGET_MAX: highest id
 */
enum spek_a_target {
	SPEK_A_TARGET_PAD = 1,
	SPEK_A_TARGET_MAJOR,
	SPEK_A_TARGET_MINOR,
	SPEK_A_TARGET_NAME,
	SPEK_A_TARGET_DISKSEQ,
	SPEK_A_TARGET_BYTES,
	SPEK_A_TARGET_LOGICAL_BLOCK,
	SPEK_A_TARGET_MAX_IO,
	SPEK_A_TARGET_BACKEND,
	SPEK_A_TARGET_BACKEND_REASON,
	SPEK_A_TARGET_POLLED,
	SPEK_A_TARGET_READS,
	SPEK_A_TARGET_READ_BYTES,
	SPEK_A_TARGET_WRITES,
	SPEK_A_TARGET_WRITE_BYTES,
	SPEK_A_TARGET_REFUSED,
	SPEK_A_TARGET_MAP_START,
	SPEK_A_TARGET_MAP_BYTES,
	SPEK_A_TARGET_TAG_WAITS,
	SPEK_A_TARGET_DISCARDS,
	SPEK_A_TARGET_DISCARD_BYTES,
	SPEK_A_TARGET_FLUSHES,
	SPEK_A_TARGET_ZONE_APPENDS,
	SPEK_A_TARGET_ZONE_RESETS,
	SPEK_A_TARGET_ZONE_FINISHES,
	SPEK_A_TARGET_ZONE_OPENS,
	SPEK_A_TARGET_ZONE_CLOSES,
	SPEK_A_TARGET_ZONE_MISPLACED,
	SPEK_A_TARGET_OPENS,
	SPEK_A_TARGET_READ_ONLY,

	__SPEK_A_TARGET_MAX,
	SPEK_A_TARGET_MAX = (__SPEK_A_TARGET_MAX - 1)
};

/**
 * enum spek_a_sense - attributes of the set sense
 * @SPEK_A_SENSE_PAD: alignment of 64-bit attributes
 * @SPEK_A_SENSE_KEY: (u32) Sense key, 0 to 15.
 * @SPEK_A_SENSE_ASC: (u32) Additional sense code, 0 without one.
 * @SPEK_A_SENSE_ASCQ: (u32) Its qualifier.
 * @SPEK_A_SENSE_DEFERRED: (u32) 1 - the error belongs to an earlier command; the failed
 *   one was not executed.
 * @SPEK_A_SENSE_COUNT: (u64) Failed requests; not with first-sense.
 * @__SPEK_A_SENSE_MAX: private
 * @SPEK_A_SENSE_MAX: highest id
 */
enum spek_a_sense {
	SPEK_A_SENSE_PAD = 1,
	SPEK_A_SENSE_KEY,
	SPEK_A_SENSE_ASC,
	SPEK_A_SENSE_ASCQ,
	SPEK_A_SENSE_DEFERRED,
	SPEK_A_SENSE_COUNT,

	__SPEK_A_SENSE_MAX,
	SPEK_A_SENSE_MAX = (__SPEK_A_SENSE_MAX - 1)
};

/**
 * enum spek_a_verify - attributes of the set verify
 * @SPEK_A_VERIFY_PAD: alignment of 64-bit attributes
 * @SPEK_A_VERIFY_CHECKED: (u64) Blocks that were read and compared with what was written,
 *   with zeroes after a write-zeroes.
 * @SPEK_A_VERIFY_NEVER_WRITTEN: (u64) Blocks that were read before they were written;
 *   only a stamp of this run is an error there.
 * @SPEK_A_VERIFY_UNCERTAIN: (u64) Blocks that were read after their last write had
 *   failed; they may hold its data or those of an earlier write.
 * @SPEK_A_VERIFY_WAITS: (u64) I/Os that waited for another one on the same block, without
 *   waits for a zone.
 * @SPEK_A_VERIFY_MISMATCHES: (u64) Wrong blocks.
 * @SPEK_A_VERIFY_CORRUPT: (u64) Of these by kind, see enum mismatch.
 * @SPEK_A_VERIFY_MISDIRECTED: (u64)
 * @SPEK_A_VERIFY_STALE: (u64)
 * @SPEK_A_VERIFY_TORN: (u64)
 * @SPEK_A_VERIFY_UNWRITTEN: (u64)
 * @SPEK_A_VERIFY_UNSTAMPED: (u64)
 * @SPEK_A_VERIFY_FOREIGN: (u64)
 * @SPEK_A_VERIFY_DISCARDED: (u64) Blocks that were read after a discard or a reset of
 *   their zone and before the next write; they may hold anything.
 * @__SPEK_A_VERIFY_MAX: private
 * @SPEK_A_VERIFY_MAX: highest id
 */
enum spek_a_verify {
	SPEK_A_VERIFY_PAD = 1,
	SPEK_A_VERIFY_CHECKED,
	SPEK_A_VERIFY_NEVER_WRITTEN,
	SPEK_A_VERIFY_UNCERTAIN,
	SPEK_A_VERIFY_WAITS,
	SPEK_A_VERIFY_MISMATCHES,
	SPEK_A_VERIFY_CORRUPT,
	SPEK_A_VERIFY_MISDIRECTED,
	SPEK_A_VERIFY_STALE,
	SPEK_A_VERIFY_TORN,
	SPEK_A_VERIFY_UNWRITTEN,
	SPEK_A_VERIFY_UNSTAMPED,
	SPEK_A_VERIFY_FOREIGN,
	SPEK_A_VERIFY_DISCARDED,

	__SPEK_A_VERIFY_MAX,
	SPEK_A_VERIFY_MAX = (__SPEK_A_VERIFY_MAX - 1)
};

/**
 * enum spek_a_mismatch - attributes of the set mismatch
 * @SPEK_A_MISMATCH_PAD: alignment of 64-bit attributes
 * @SPEK_A_MISMATCH_RUN: (u32)
 * @SPEK_A_MISMATCH_KIND: (u32, enum mismatch)
 * @SPEK_A_MISMATCH_TARGET: (u32) Index of the target.
 * @SPEK_A_MISMATCH_OFFSET: (u64) First byte of the block on it.
 * @SPEK_A_MISMATCH_BYTES: (u32) Of the block.
 * @SPEK_A_MISMATCH_AT_NS: (u64) When the read completed, CLOCK_MONOTONIC.
 * @SPEK_A_MISMATCH_EXPECTED_GENERATION: (u64) Number of the write that should be found,
 *   from 1; 0 - none.
 * @SPEK_A_MISMATCH_STAMPED: (u32) 1 - there is a stamp, and the other found- attributes
 *   are valid.
 * @SPEK_A_MISMATCH_INTACT: (u32) 1 - its checksum is correct.
 * @SPEK_A_MISMATCH_ZEROES: (u32) 1 - the block is all zeroes.
 * @SPEK_A_MISMATCH_FIRST: (u32) First byte of the block that is not as expected.
 * @SPEK_A_MISMATCH_BITS: (u32) Bits of the block that are not as expected.
 * @SPEK_A_MISMATCH_FOUND_SEED: (u64)
 * @SPEK_A_MISMATCH_FOUND_ID: (u64) stamp-id of the run that wrote it.
 * @SPEK_A_MISMATCH_FOUND_GENERATION: (u64)
 * @SPEK_A_MISMATCH_FOUND_TARGET: (u32)
 * @SPEK_A_MISMATCH_FOUND_OFFSET: (u64) Byte of that target that it was written for.
 * @SPEK_A_MISMATCH_FOUND_WORKER: (u32)
 * @SPEK_A_MISMATCH_FOUND_STREAM: (u32)
 * @SPEK_A_MISMATCH_EXPECTED_ZEROES: (u32) 1 - zeroes should be found; expected-generation
 *   is the last write before them.
 * @__SPEK_A_MISMATCH_MAX: private
 * @SPEK_A_MISMATCH_MAX: highest id
 */
enum spek_a_mismatch {
	SPEK_A_MISMATCH_PAD = 1,
	SPEK_A_MISMATCH_RUN,
	SPEK_A_MISMATCH_KIND,
	SPEK_A_MISMATCH_TARGET,
	SPEK_A_MISMATCH_OFFSET,
	SPEK_A_MISMATCH_BYTES,
	SPEK_A_MISMATCH_AT_NS,
	SPEK_A_MISMATCH_EXPECTED_GENERATION,
	SPEK_A_MISMATCH_STAMPED,
	SPEK_A_MISMATCH_INTACT,
	SPEK_A_MISMATCH_ZEROES,
	SPEK_A_MISMATCH_FIRST,
	SPEK_A_MISMATCH_BITS,
	SPEK_A_MISMATCH_FOUND_SEED,
	SPEK_A_MISMATCH_FOUND_ID,
	SPEK_A_MISMATCH_FOUND_GENERATION,
	SPEK_A_MISMATCH_FOUND_TARGET,
	SPEK_A_MISMATCH_FOUND_OFFSET,
	SPEK_A_MISMATCH_FOUND_WORKER,
	SPEK_A_MISMATCH_FOUND_STREAM,
	SPEK_A_MISMATCH_EXPECTED_ZEROES,

	__SPEK_A_MISMATCH_MAX,
	SPEK_A_MISMATCH_MAX = (__SPEK_A_MISMATCH_MAX - 1)
};

/**
 * enum spek_a_replay - attributes of the set replay
 * @SPEK_A_REPLAY_PAD: alignment of 64-bit attributes
 * @SPEK_A_REPLAY_FED: (u64) Records that trace-feed accepted, over all workers.
 * @SPEK_A_REPLAY_ISSUED: (u64) Records that workers have issued.
 * @SPEK_A_REPLAY_ENDED: (u32) 1 - trace-end was accepted.
 * @SPEK_A_REPLAY_UNDERRUNS: (u64) Times that a worker's ring was empty when a record was
 *   due.
 * @SPEK_A_REPLAY_UNDERRUN_NS: (u64) Time that records came too late by, summed over the
 *   underruns of all workers.
 * @SPEK_A_REPLAY_UNDERRUN_FIRST_NS: (u64) Start of the first underrun, CLOCK_MONOTONIC; 0
 *   without one.
 * @SPEK_A_REPLAY_UNDERRUN_LAST_NS: (u64) End of the last underrun, CLOCK_MONOTONIC; 0
 *   without one.
 * @SPEK_A_REPLAY_DRY_NS: (u64) Longest time for which a worker's ring has been empty now,
 *   while the trace has not ended; of a run that has ended, when it ended.
 * @__SPEK_A_REPLAY_MAX: private
 * @SPEK_A_REPLAY_MAX: highest id
 */
enum spek_a_replay {
	SPEK_A_REPLAY_PAD = 1,
	SPEK_A_REPLAY_FED,
	SPEK_A_REPLAY_ISSUED,
	SPEK_A_REPLAY_ENDED,
	SPEK_A_REPLAY_UNDERRUNS,
	SPEK_A_REPLAY_UNDERRUN_NS,
	SPEK_A_REPLAY_UNDERRUN_FIRST_NS,
	SPEK_A_REPLAY_UNDERRUN_LAST_NS,
	SPEK_A_REPLAY_DRY_NS,

	__SPEK_A_REPLAY_MAX,
	SPEK_A_REPLAY_MAX = (__SPEK_A_REPLAY_MAX - 1)
};

/**
 * enum spek_a_trace - attributes of the set trace
 * @SPEK_A_TRACE_PAD: alignment of 64-bit attributes
 * @SPEK_A_TRACE_RUN: (u32)
 * @SPEK_A_TRACE_WORKER: (u32) Number of the worker that replays the records.
 * @SPEK_A_TRACE_RECORDS: (array of struct spek_trace_record, at most 48000 bytes) Records
 *   in order, at most trace-batch.
 * @SPEK_A_TRACE_ACCEPTED: (u32) Answer - records accepted, the first ones; fewer than
 *   were sent if the ring is full.
 * @SPEK_A_TRACE_ROOM: (u32) Answer - records for which the ring has room now.
 * @SPEK_A_TRACE_COUNT: (u64) Request - number of all records of the trace, over all
 *   workers.
 * @__SPEK_A_TRACE_MAX: private
 * @SPEK_A_TRACE_MAX: highest id
 */
enum spek_a_trace {
	SPEK_A_TRACE_PAD = 1,
	SPEK_A_TRACE_RUN,
	SPEK_A_TRACE_WORKER,
	SPEK_A_TRACE_RECORDS,
	SPEK_A_TRACE_ACCEPTED,
	SPEK_A_TRACE_ROOM,
	SPEK_A_TRACE_COUNT,

	__SPEK_A_TRACE_MAX,
	SPEK_A_TRACE_MAX = (__SPEK_A_TRACE_MAX - 1)
};

/**
 * enum spek_a_map - attributes of the set map
 * @SPEK_A_MAP_PAD: alignment of 64-bit attributes
 * @SPEK_A_MAP_RUN: (u32)
 * @SPEK_A_MAP_TARGET: (u32) Index of the target.
 * @SPEK_A_MAP_FIRST: (u64) Number of the first grain in states, counted from map-start of
 *   the target.
 * @SPEK_A_MAP_STATES: (binary, at least 8 bytes, at most 32000 bytes) u64 each - 4 *
 *   generation (map-set: at most 2^41), plus what the last operation has left: 0 - its
 *   data, or nothing was written yet; 1 - it failed, so it is uncertain; 2 - zeroes; 3 -
 *   anything, after a discard or a reset of the zone.
 * @__SPEK_A_MAP_MAX: private
 * @SPEK_A_MAP_MAX: highest id
 */
enum spek_a_map {
	SPEK_A_MAP_PAD = 1,
	SPEK_A_MAP_RUN,
	SPEK_A_MAP_TARGET,
	SPEK_A_MAP_FIRST,
	SPEK_A_MAP_STATES,

	__SPEK_A_MAP_MAX,
	SPEK_A_MAP_MAX = (__SPEK_A_MAP_MAX - 1)
};

/**
 * enum spek_a_extent - Part of an address range on one target.
 * @SPEK_A_EXTENT_PAD: alignment of 64-bit attributes
 * @SPEK_A_EXTENT_TARGET: (u32) Index of the target.
 * @SPEK_A_EXTENT_START: (u64) First byte on it.
 * @__SPEK_A_EXTENT_MAX: private
 * @SPEK_A_EXTENT_MAX: highest id
 */
enum spek_a_extent {
	SPEK_A_EXTENT_PAD = 1,
	SPEK_A_EXTENT_TARGET,
	SPEK_A_EXTENT_START,

	__SPEK_A_EXTENT_MAX,
	SPEK_A_EXTENT_MAX = (__SPEK_A_EXTENT_MAX - 1)
};

/**
 * enum spek_a_asu - Address range (asu) on one target, or striped over several.
 * @SPEK_A_ASU_PAD: alignment of 64-bit attributes
 * @SPEK_A_ASU_NAME: (string, at most 31 bytes) Name for readers of requests; the kernel
 *   ignores it.
 * @SPEK_A_ASU_BYTES: (u64) Size of the range over all its targets.
 * @SPEK_A_ASU_STRIPE_BYTES: (u32) Stripe unit with several extents, a power of two.
 * @SPEK_A_ASU_EXTENT: (nest of extent, repeated) One for each target it lies on.
 * @SPEK_A_ASU_ZONE_BYTES: (u64) write-pointer - distance from zone to zone of the target,
 *   a power of two, at least the largest block of these streams; the asu has whole zones.
 * @SPEK_A_ASU_OPEN_ZONES: (u32) write-pointer - zones that are written in turn, at least
 *   one for each worker.
 * @__SPEK_A_ASU_MAX: private
 * @SPEK_A_ASU_MAX: highest id
 */
enum spek_a_asu {
	SPEK_A_ASU_PAD = 1,
	SPEK_A_ASU_NAME,
	SPEK_A_ASU_BYTES,
	SPEK_A_ASU_STRIPE_BYTES,
	SPEK_A_ASU_EXTENT,
	SPEK_A_ASU_ZONE_BYTES,
	SPEK_A_ASU_OPEN_ZONES,

	__SPEK_A_ASU_MAX,
	SPEK_A_ASU_MAX = (__SPEK_A_ASU_MAX - 1)
};

/**
 * enum spek_a_arrival - Arrival process; all values are totals over the workers.
 * @SPEK_A_ARRIVAL_PAD: alignment of 64-bit attributes
 * @SPEK_A_ARRIVAL_LAW: (u32, enum law)
 * @SPEK_A_ARRIVAL_DEPTH: (u32, 1..65536) closed - I/Os outstanding over all workers.
 * @SPEK_A_ARRIVAL_THINK_NS: (u64) closed - pause between a completion and the next I/O.
 * @SPEK_A_ARRIVAL_RATE_MILLI: (u64) poisson and constant - I/Os per 1000 s over all
 *   workers; closed - at most so many, without a limit if not given.
 * @SPEK_A_ARRIVAL_BURST_LENGTH: (u32, at least 1) burst - I/Os of a burst over all
 *   workers; closed - I/Os that a limited loop may make at once after a pause, at most
 *   65536; 1 if not given.
 * @SPEK_A_ARRIVAL_BURST_INTERVAL_NS: (u64) burst - from start to start.
 * @SPEK_A_ARRIVAL_POINT: (array of struct spek_rate_point, at least 32 bytes, at most
 *   4096 bytes) poisson and constant - 2 to 256 points of a rate curve, in the order of
 *   their times, instead of rate-milli. Between points the rate changes linearly; two at
 *   one time are a jump. All processes have at most 1024.
 * @SPEK_A_ARRIVAL_REPEATS: (u32, at most 1) 1: the rate curve begins again after its last
 *   point; else the last rate stays.
 * @SPEK_A_ARRIVAL_ON_NS: (u64) poisson and constant - mean of on periods, in which I/Os
 *   arrive at the rate, 10000 to 10^15, and at least one I/O long. All the time if not
 *   given.
 * @SPEK_A_ARRIVAL_OFF_NS: (u64) poisson and constant - mean of the off periods between on
 *   periods, 10000 to 10^15.
 * @SPEK_A_ARRIVAL_TAIL_MILLI: (u32, at most 16000) Shape of Pareto lengths of on and off
 *   periods in thousandths, 1001 to 16000; below 2000 they have heavy tails. 0:
 *   exponential lengths.
 * @SPEK_A_ARRIVAL_NAME: (string, at most 31 bytes) Name for readers of requests; the
 *   kernel ignores it.
 * @SPEK_A_ARRIVAL_PAUSE_NS: (u64) closed - pause between bursts, at most 10^15: from the
 *   completion of a burst's last outstanding I/O to the next burst. The loop is on one
 *   worker then.
 * @SPEK_A_ARRIVAL_PAUSE_EVERY: (u32) closed with pause-ns - I/Os of a burst.
 * @SPEK_A_ARRIVAL_PAUSE_COUNTS_COMPLETED: (u32, at most 1) closed with pause-every - 1: a
 *   burst ends when so many I/Os have completed since it began or while the one before it
 *   drained; else once so many have been issued.
 * @SPEK_A_ARRIVAL_PAUSE_AFTER_NS: (u64) closed with pause-ns - a burst ends with the
 *   first I/O that is due this long after its start or later, at most 10^15; also with
 *   pause-every, whichever comes first.
 * @SPEK_A_ARRIVAL_COUNT: (u64) I/Os of the measure phase, at most 10^17, shared out over
 *   the workers by load; the process makes no more, and has ended when they have
 *   completed. Those in flight at the start of the phase count. A run whose processes all
 *   have counts ends with the last of them and needs no time-ns; the others end by time.
 *   Not with count of the run or a trace. 0 - no end of its own.
 * @__SPEK_A_ARRIVAL_MAX: private
 * @SPEK_A_ARRIVAL_MAX: highest id
 */
enum spek_a_arrival {
	SPEK_A_ARRIVAL_PAD = 1,
	SPEK_A_ARRIVAL_LAW,
	SPEK_A_ARRIVAL_DEPTH,
	SPEK_A_ARRIVAL_THINK_NS,
	SPEK_A_ARRIVAL_RATE_MILLI,
	SPEK_A_ARRIVAL_BURST_LENGTH,
	SPEK_A_ARRIVAL_BURST_INTERVAL_NS,
	SPEK_A_ARRIVAL_POINT,
	SPEK_A_ARRIVAL_REPEATS,
	SPEK_A_ARRIVAL_ON_NS,
	SPEK_A_ARRIVAL_OFF_NS,
	SPEK_A_ARRIVAL_TAIL_MILLI,
	SPEK_A_ARRIVAL_NAME,
	SPEK_A_ARRIVAL_PAUSE_NS,
	SPEK_A_ARRIVAL_PAUSE_EVERY,
	SPEK_A_ARRIVAL_PAUSE_COUNTS_COMPLETED,
	SPEK_A_ARRIVAL_PAUSE_AFTER_NS,
	SPEK_A_ARRIVAL_COUNT,

	__SPEK_A_ARRIVAL_MAX,
	SPEK_A_ARRIVAL_MAX = (__SPEK_A_ARRIVAL_MAX - 1)
};

/**
 * enum spek_a_arrival_end - When an arrival process ended.
 * @SPEK_A_ARRIVAL_END_PAD: alignment of 64-bit attributes
 * @SPEK_A_ARRIVAL_END_AT_NS: (u64) CLOCK_MONOTONIC when the last I/O of its count
 *   completed; 0 - not yet, or it has no count.
 * @__SPEK_A_ARRIVAL_END_MAX: private
 * @SPEK_A_ARRIVAL_END_MAX: highest id
 */
enum spek_a_arrival_end {
	SPEK_A_ARRIVAL_END_PAD = 1,
	SPEK_A_ARRIVAL_END_AT_NS,

	__SPEK_A_ARRIVAL_END_MAX,
	SPEK_A_ARRIVAL_END_MAX = (__SPEK_A_ARRIVAL_END_MAX - 1)
};

/**
 * enum spek_a_size - Block size and its weight.
 * @SPEK_A_SIZE_BYTES: (u32) Length of an I/O.
 * @SPEK_A_SIZE_WEIGHT: (u32) Share among the sizes of the stream.
 * @__SPEK_A_SIZE_MAX: private
 * @SPEK_A_SIZE_MAX: highest id
 */
enum spek_a_size {
	SPEK_A_SIZE_BYTES = 1,
	SPEK_A_SIZE_WEIGHT,

	__SPEK_A_SIZE_MAX,
	SPEK_A_SIZE_MAX = (__SPEK_A_SIZE_MAX - 1)
};

/**
 * enum spek_a_stream - Stream of I/Os.
 * @SPEK_A_STREAM_PAD: alignment of 64-bit attributes
 * @SPEK_A_STREAM_NAME: (string, at most 31 bytes) Name for readers of requests; the
 *   kernel ignores it.
 * @SPEK_A_STREAM_ASU: (u32) Index of its address range.
 * @SPEK_A_STREAM_ARRIVAL: (u32) Index of its arrival process.
 * @SPEK_A_STREAM_WEIGHT: (u32) Share among the streams of the same arrival process; 1 if
 *   not given.
 * @SPEK_A_STREAM_REPLICAS: (u32) Independent copies of the stream's state, each equally
 *   likely; SPC-1 - BSUs; 1 if not given.
 * @SPEK_A_STREAM_READ_PPM: (u32, at most 1000000) Share of reads.
 * @SPEK_A_STREAM_PATTERN: (u32, enum pattern)
 * @SPEK_A_STREAM_RANGE_START: (u64) First byte of the range, from the start of the asu.
 * @SPEK_A_STREAM_RANGE_BYTES: (u64) Size of the range.
 * @SPEK_A_STREAM_ALIGN_BYTES: (u32) Addresses are multiples of this from the start of the
 *   asu.
 * @SPEK_A_STREAM_SEQ_PPM: (u32, at most 1000000) uniform - share of I/Os that continue
 *   the one before.
 * @SPEK_A_STREAM_STRIDE_BYTES: (u64) strided - from start to start.
 * @SPEK_A_STREAM_RUN_BYTES: (u64) runs - length of a run.
 * @SPEK_A_STREAM_RESTART_BYTES: (u64) runs - length of the part at the start of the range
 *   in which runs start.
 * @SPEK_A_STREAM_RUN_ALIGN_BYTES: (u32) runs - start and end of a run are rounded down to
 *   multiples of this in the asu, but never to before the range.
 * @SPEK_A_STREAM_WALK_STYLE: (u32, enum walk-style)
 * @SPEK_A_STREAM_JITTER_BYTES: (u64) strided - an I/O starts up to this far after its
 *   place, each multiple of align-bytes equally likely.
 * @SPEK_A_STREAM_PART: (array of struct spek_table_part, at least 16 bytes, at most 4096
 *   bytes) table - 1 to 256 parts of the range, in order. Together they have all
 *   addresses, multiples of align-bytes, where the largest block fits, and weights that
 *   sum to 2^40. All streams have at most 4096.
 * @SPEK_A_STREAM_SPREAD: (u32, at most 1) table - 1: neighbouring addresses are spread
 *   over the range by a permutation; its start depends on the seed.
 * @SPEK_A_STREAM_SIZE: (nest of size, repeated) Block sizes with their weights.
 * @SPEK_A_STREAM_OPERATION: (u32, enum operation) What the stream does; transfer if not
 *   given. Others need read-ppm 0 and back end bio.
 * @SPEK_A_STREAM_FUA: (u32, at most 1) 1: writes have forced unit access, back end bio;
 *   not trace, whose records say it.
 * @SPEK_A_STREAM_PRIORITY: (u32, enum priority) Class of the I/O priority, back ends bio
 *   and mq; none if not given.
 * @SPEK_A_STREAM_PRIORITY_LEVEL: (u32, at most 7) Level within the class, 0 is the
 *   highest; 0 if not given. Classes rt and be only.
 * @SPEK_A_STREAM_WRITE_HINT: (u32, enum write-hint) Lifetime of the data written, back
 *   ends bio and mq, from Linux 6.9 on; not-set if not given.
 * @SPEK_A_STREAM_OWN_DATA: (u32, at most 1) 1: writes have data of the stream's own, as
 *   the next three say, and not those of the run; not with stamped data.
 * @SPEK_A_STREAM_COMPRESSIBLE_PPM: (u32, at most 1000000) own data - share of each block
 *   of 4096 bytes, counted from the start of the I/O, that is fill; the rest is random. 0
 *   if not given.
 * @SPEK_A_STREAM_DUPLICATE_PPM: (u32, at most 1000000) own data - share of the blocks
 *   that are one of 64 blocks which all workers share; the others are unique. 0 if not
 *   given.
 * @SPEK_A_STREAM_FILL: (binary, at least 1 bytes, at most 64 bytes) own data - bytes that
 *   the fill repeats, from its start in each block on; zeroes if not given.
 * @SPEK_A_STREAM_ATOMIC: (u32, at most 1) 1: writes are atomic, from Linux 6.11 on: a
 *   device keeps all of a write or nothing. Block sizes are powers of two within the
 *   device's limits, addresses are multiples of them.
 * @SPEK_A_STREAM_ZONE_SIZE_BYTES: (u64) strided - bytes of the I/Os in a zone before they
 *   move on to the next one, which starts a stride after it. Not with jitter-bytes; zones
 *   have one I/O if not given.
 * @SPEK_A_STREAM_ZONE_RANGE_BYTES: (u64) strided with zone-size-bytes - length of the
 *   part of a zone in which I/Os start; sequential I/Os that have passed it start over in
 *   the zone. zone-size-bytes if not given.
 * @SPEK_A_STREAM_ZONE_ORDER: (u32, enum zone-order) strided with zone-size-bytes - order
 *   of the I/Os in a zone; sequential if not given.
 * @__SPEK_A_STREAM_MAX: private
 * @SPEK_A_STREAM_MAX: highest id
 */
enum spek_a_stream {
	SPEK_A_STREAM_PAD = 1,
	SPEK_A_STREAM_NAME,
	SPEK_A_STREAM_ASU,
	SPEK_A_STREAM_ARRIVAL,
	SPEK_A_STREAM_WEIGHT,
	SPEK_A_STREAM_REPLICAS,
	SPEK_A_STREAM_READ_PPM,
	SPEK_A_STREAM_PATTERN,
	SPEK_A_STREAM_RANGE_START,
	SPEK_A_STREAM_RANGE_BYTES,
	SPEK_A_STREAM_ALIGN_BYTES,
	SPEK_A_STREAM_SEQ_PPM,
	SPEK_A_STREAM_STRIDE_BYTES,
	SPEK_A_STREAM_RUN_BYTES,
	SPEK_A_STREAM_RESTART_BYTES,
	SPEK_A_STREAM_RUN_ALIGN_BYTES,
	SPEK_A_STREAM_WALK_STYLE,
	SPEK_A_STREAM_JITTER_BYTES,
	SPEK_A_STREAM_PART,
	SPEK_A_STREAM_SPREAD,
	SPEK_A_STREAM_SIZE,
	SPEK_A_STREAM_OPERATION,
	SPEK_A_STREAM_FUA,
	SPEK_A_STREAM_PRIORITY,
	SPEK_A_STREAM_PRIORITY_LEVEL,
	SPEK_A_STREAM_WRITE_HINT,
	SPEK_A_STREAM_OWN_DATA,
	SPEK_A_STREAM_COMPRESSIBLE_PPM,
	SPEK_A_STREAM_DUPLICATE_PPM,
	SPEK_A_STREAM_FILL,
	SPEK_A_STREAM_ATOMIC,
	SPEK_A_STREAM_ZONE_SIZE_BYTES,
	SPEK_A_STREAM_ZONE_RANGE_BYTES,
	SPEK_A_STREAM_ZONE_ORDER,

	__SPEK_A_STREAM_MAX,
	SPEK_A_STREAM_MAX = (__SPEK_A_STREAM_MAX - 1)
};

/**
 * enum spek_a_error - attributes of the set error
 * @SPEK_A_ERROR_PAD: alignment of 64-bit attributes
 * @SPEK_A_ERROR_STATUS: (u32) errno of the block layer's status.
 * @SPEK_A_ERROR_COUNT: (u64)
 * @__SPEK_A_ERROR_MAX: private
 * @SPEK_A_ERROR_MAX: highest id
 */
enum spek_a_error {
	SPEK_A_ERROR_PAD = 1,
	SPEK_A_ERROR_STATUS,
	SPEK_A_ERROR_COUNT,

	__SPEK_A_ERROR_MAX,
	SPEK_A_ERROR_MAX = (__SPEK_A_ERROR_MAX - 1)
};

/**
 * enum spek_a_stats - attributes of the set stats
 * @SPEK_A_STATS_PAD: alignment of 64-bit attributes
 * @SPEK_A_STATS_RUN: (u32)
 * @SPEK_A_STATS_PHASE: (u32, enum phase)
 * @SPEK_A_STATS_STREAM: (u32)
 * @SPEK_A_STATS_DIRECTION: (u32, enum direction)
 * @SPEK_A_STATS_IOS: (u64)
 * @SPEK_A_STATS_BYTES: (u64)
 * @SPEK_A_STATS_REQUESTS: (u64) Requests sent to devices for these I/Os, as reads and
 *   writes of targets count them; more than ios where I/Os go out in parts, less than ios
 *   and errors where some failed before they were sent.
 * @SPEK_A_STATS_ERRORS: (u64)
 * @SPEK_A_STATS_ERROR: (nest of error, repeated) Failed I/Os by cause.
 * @SPEK_A_STATS_METRIC: (u32, enum metric) Metric of the histogram in this message.
 * @SPEK_A_STATS_SUM_NS: (u64) Sum of the times without the multiples of 2^64 ns in
 *   sum-high.
 * @SPEK_A_STATS_MIN_NS: (u64)
 * @SPEK_A_STATS_MAX_NS: (u64)
 * @SPEK_A_STATS_HIST_BITS: (u32) Sub-bucket bits M; relative error at most 1/2^(M+1).
 * @SPEK_A_STATS_HIST_FIRST: (u32) Index of the first bucket in hist.
 * @SPEK_A_STATS_HIST: (binary) u64 counts of consecutive buckets.
 * @SPEK_A_STATS_SUM_HIGH: (u64) Multiples of 2^64 ns to be added to sum-ns.
 * @__SPEK_A_STATS_MAX: private
 * @SPEK_A_STATS_MAX: highest id
 */
enum spek_a_stats {
	SPEK_A_STATS_PAD = 1,
	SPEK_A_STATS_RUN,
	SPEK_A_STATS_PHASE,
	SPEK_A_STATS_STREAM,
	SPEK_A_STATS_DIRECTION,
	SPEK_A_STATS_IOS,
	SPEK_A_STATS_BYTES,
	SPEK_A_STATS_REQUESTS,
	SPEK_A_STATS_ERRORS,
	SPEK_A_STATS_ERROR,
	SPEK_A_STATS_METRIC,
	SPEK_A_STATS_SUM_NS,
	SPEK_A_STATS_MIN_NS,
	SPEK_A_STATS_MAX_NS,
	SPEK_A_STATS_HIST_BITS,
	SPEK_A_STATS_HIST_FIRST,
	SPEK_A_STATS_HIST,
	SPEK_A_STATS_SUM_HIGH,

	__SPEK_A_STATS_MAX,
	SPEK_A_STATS_MAX = (__SPEK_A_STATS_MAX - 1)
};

/**
 * enum spek_a_interval - attributes of the set interval
 * @SPEK_A_INTERVAL_PAD: alignment of 64-bit attributes
 * @SPEK_A_INTERVAL_RUN: (u32)
 * @SPEK_A_INTERVAL_SINCE: (u64) Request - first interval wanted.
 * @SPEK_A_INTERVAL_SEQ: (u64) Number of the interval in the order of closing, from 0. An
 *   interval that is made of what came too late for others follows later ones.
 * @SPEK_A_INTERVAL_DROPPED: (u64) Intervals that were overwritten so far, whether they
 *   had been read or not.
 * @SPEK_A_INTERVAL_PHASE: (u32, enum phase)
 * @SPEK_A_INTERVAL_START_NS: (u64) CLOCK_MONOTONIC. Intervals follow a schedule from the
 *   start of their phase. In one during which no worker ran, nothing completed, and it is
 *   left out.
 * @SPEK_A_INTERVAL_END_NS: (u64) CLOCK_MONOTONIC. At the end of a phase an interval may
 *   be shorter than interval-ns. It is a multiple as long if it could not be closed in
 *   between: rates are those of its own length.
 * @SPEK_A_INTERVAL_OUTSTANDING: (u32) At the end of the interval: I/Os that the devices
 *   hold, and those that have left the backlog and wait for room in a device or for other
 *   I/Os. Of a worker that was blocked then, as last known.
 * @SPEK_A_INTERVAL_BACKLOG: (u64) At the end of the interval; of a worker that was
 *   blocked then, as last known.
 * @SPEK_A_INTERVAL_CPU_NS: (u64) CPU time of the workers, as the scheduler accounted it:
 *   up to a tick late for a thread that is running, and up to 1 s on a CPU without ticks
 *   (nohz_full). Not given for an interval shorter than 10 ticks.
 * @SPEK_A_INTERVAL_SWITCHES: (u64) Context switches of the workers.
 * @SPEK_A_INTERVAL_CELL: (nest of cell, repeated) One for each direction.
 * @SPEK_A_INTERVAL_STREAMS: (array of struct spek_interval_stream) One for each stream,
 *   in their order.
 * @SPEK_A_INTERVAL_COVERAGE_PPM: (u32) Share of the workers' time from start-ns to end-ns
 *   whose I/Os are in the interval, in millionths, rounded down. Less than 1000000: a
 *   worker was blocked for more than 8 intervals and is missing. What it counted makes
 *   another interval with these times.
 * @__SPEK_A_INTERVAL_MAX: private
 * @SPEK_A_INTERVAL_MAX: highest id
 */
enum spek_a_interval {
	SPEK_A_INTERVAL_PAD = 1,
	SPEK_A_INTERVAL_RUN,
	SPEK_A_INTERVAL_SINCE,
	SPEK_A_INTERVAL_SEQ,
	SPEK_A_INTERVAL_DROPPED,
	SPEK_A_INTERVAL_PHASE,
	SPEK_A_INTERVAL_START_NS,
	SPEK_A_INTERVAL_END_NS,
	SPEK_A_INTERVAL_OUTSTANDING,
	SPEK_A_INTERVAL_BACKLOG,
	SPEK_A_INTERVAL_CPU_NS,
	SPEK_A_INTERVAL_SWITCHES,
	SPEK_A_INTERVAL_CELL,
	SPEK_A_INTERVAL_STREAMS,
	SPEK_A_INTERVAL_COVERAGE_PPM,

	__SPEK_A_INTERVAL_MAX,
	SPEK_A_INTERVAL_MAX = (__SPEK_A_INTERVAL_MAX - 1)
};

/**
 * enum spek_a_cell - attributes of the set cell
 * @SPEK_A_CELL_PAD: alignment of 64-bit attributes
 * @SPEK_A_CELL_DIRECTION: (u32, enum direction)
 * @SPEK_A_CELL_IOS: (u64)
 * @SPEK_A_CELL_BYTES: (u64)
 * @SPEK_A_CELL_ERRORS: (u64)
 * @SPEK_A_CELL_RESPONSE_SUM_NS: (u64) Without the multiples of 2^64 ns in
 *   response-sum-high.
 * @SPEK_A_CELL_RESPONSE_MAX_NS: (u64)
 * @SPEK_A_CELL_RESPONSE_P50_NS: (u64)
 * @SPEK_A_CELL_RESPONSE_P90_NS: (u64)
 * @SPEK_A_CELL_RESPONSE_P99_NS: (u64)
 * @SPEK_A_CELL_RESPONSE_P999_NS: (u64)
 * @SPEK_A_CELL_SERVICE_SUM_NS: (u64) Without the multiples of 2^64 ns in
 *   service-sum-high.
 * @SPEK_A_CELL_SERVICE_MAX_NS: (u64)
 * @SPEK_A_CELL_SERVICE_P50_NS: (u64)
 * @SPEK_A_CELL_SERVICE_P99_NS: (u64)
 * @SPEK_A_CELL_RESPONSE_SUM_HIGH: (u64) Multiples of 2^64 ns to be added to
 *   response-sum-ns.
 * @SPEK_A_CELL_SERVICE_SUM_HIGH: (u64) Multiples of 2^64 ns to be added to
 *   service-sum-ns.
 * @__SPEK_A_CELL_MAX: private
 * @SPEK_A_CELL_MAX: highest id
 */
enum spek_a_cell {
	SPEK_A_CELL_PAD = 1,
	SPEK_A_CELL_DIRECTION,
	SPEK_A_CELL_IOS,
	SPEK_A_CELL_BYTES,
	SPEK_A_CELL_ERRORS,
	SPEK_A_CELL_RESPONSE_SUM_NS,
	SPEK_A_CELL_RESPONSE_MAX_NS,
	SPEK_A_CELL_RESPONSE_P50_NS,
	SPEK_A_CELL_RESPONSE_P90_NS,
	SPEK_A_CELL_RESPONSE_P99_NS,
	SPEK_A_CELL_RESPONSE_P999_NS,
	SPEK_A_CELL_SERVICE_SUM_NS,
	SPEK_A_CELL_SERVICE_MAX_NS,
	SPEK_A_CELL_SERVICE_P50_NS,
	SPEK_A_CELL_SERVICE_P99_NS,
	SPEK_A_CELL_RESPONSE_SUM_HIGH,
	SPEK_A_CELL_SERVICE_SUM_HIGH,

	__SPEK_A_CELL_MAX,
	SPEK_A_CELL_MAX = (__SPEK_A_CELL_MAX - 1)
};

/**
 * enum spek_a_op - attributes of the set op
 * @SPEK_A_OP_PAD: alignment of 64-bit attributes
 * @SPEK_A_OP_RUN: (u32)
 * @SPEK_A_OP_WORKER: (u32)
 * @SPEK_A_OP_COUNT: (u64) Request - number of operations, at most 1000000.
 * @SPEK_A_OP_FIRST: (u64) Number of the first operation in ops.
 * @SPEK_A_OP_OPS: (array of struct spek_op_record)
 * @__SPEK_A_OP_MAX: private
 * @SPEK_A_OP_MAX: highest id
 */
enum spek_a_op {
	SPEK_A_OP_PAD = 1,
	SPEK_A_OP_RUN,
	SPEK_A_OP_WORKER,
	SPEK_A_OP_COUNT,
	SPEK_A_OP_FIRST,
	SPEK_A_OP_OPS,

	__SPEK_A_OP_MAX,
	SPEK_A_OP_MAX = (__SPEK_A_OP_MAX - 1)
};

/**
 * enum spek_a_claim - Claim on devices for several runs.
 * @SPEK_A_CLAIM_ID: (u32) Number of the claim.
 * @SPEK_A_CLAIM_STATE: (u32, enum claim-state)
 * @SPEK_A_CLAIM_WRITE: (u32, at most 1) 1 - runs under the claim may write; without it
 *   the devices are opened read-only, and runs that may write refused.
 * @SPEK_A_CLAIM_TARGET: (nest of target, repeated) One for each device, in order.
 * @SPEK_A_CLAIM_RUNS: (u32) Runs that use the claim.
 * @SPEK_A_CLAIM_FAILURE_ERRNO: (u32) failed - errno of the refusal.
 * @SPEK_A_CLAIM_FAILURE: (string, at most 255 bytes) failed - what was wrong and what is
 *   allowed.
 * @SPEK_A_CLAIM_FAILURE_INDEX: (u32) failed - number of the device that was refused.
 * @SPEK_A_CLAIM_OWNER_PID: (u32) Process that made the claim, as the asker's PID
 *   namespace numbers it; 0 - it has ended, and left the socket to another process, or is
 *   not visible there. Absent in claim-ntf.
 * @__SPEK_A_CLAIM_MAX: private
 * @SPEK_A_CLAIM_MAX: highest id
 */
enum spek_a_claim {
	SPEK_A_CLAIM_ID = 1,
	SPEK_A_CLAIM_STATE,
	SPEK_A_CLAIM_WRITE,
	SPEK_A_CLAIM_TARGET,
	SPEK_A_CLAIM_RUNS,
	SPEK_A_CLAIM_FAILURE_ERRNO,
	SPEK_A_CLAIM_FAILURE,
	SPEK_A_CLAIM_FAILURE_INDEX,
	SPEK_A_CLAIM_OWNER_PID,

	__SPEK_A_CLAIM_MAX,
	SPEK_A_CLAIM_MAX = (__SPEK_A_CLAIM_MAX - 1)
};

/**
 * enum spek_cmd - commands
 * @SPEK_CMD_RUN_NEW: Check a configuration and create a run, OPENING, which claims its
 *   targets and becomes READY or FAILED. Required are name, seed, max-outstanding,
 *   time-ns or count, and at least one worker (cpu), target (major, minor), asu (bytes,
 *   extents), arrival (law) and stream (asu, arrival, read-ppm, pattern, range-bytes,
 *   align-bytes, sizes). A target with a diskseq is refused if its disk has another one.
 *   Attributes that are not given are 0 (auto, zeroes, off) unless stated otherwise. With
 *   log-records, every I/O of all phases is logged, in order of completion. Until run-del
 *   the files in log-dir hold a struct spek_log_record for each: read() consumes whole
 *   records, and returns 0 bytes when there are none at the moment. poll() reports
 *   whether there are any; it is woken when another eighth of the capacity is used and at
 *   the end of the run, so it needs a timeout.
 * @SPEK_CMD_RUN_GET: State and progress of one run (do) or of all (dump).
 * @SPEK_CMD_RUN_START: Start a READY run, at once or at start-ns.
 * @SPEK_CMD_RUN_STOP: Ask a run to end; the answer means accepted, run-ntf means done.
 * @SPEK_CMD_RUN_DEL: Release a run without I/O in flight (OPENING, READY, FAILED, DONE),
 *   its results and its claims; the answer means accepted, run-ntf with state gone means
 *   done.
 * @SPEK_CMD_STATS_GET: Counters and histograms of a run, merged over workers, as of the
 *   last closed interval or the end. First one message of counters for each phase, stream
 *   and direction with I/Os; for the measure phase and the drain then the histograms, cut
 *   into messages of at most 256 buckets. I/Os in flight at the end of the measure phase
 *   are counted in the drain, and their ages come with the measure phase.
 * @SPEK_CMD_INTERVAL_GET: Closed intervals of a run, from number since on, in the order
 *   of closing.
 * @SPEK_CMD_OP_GET: The first operations that a worker of this run generates, generated
 *   again from the configuration and the seed; nothing is sent to a device. In a closed
 *   loop each operation completes at once.
 * @SPEK_CMD_RUN_NTF: A run changed its state; content of run-get.
 * @SPEK_CMD_MISMATCH_GET: The first mismatches that a run with stamped data has found, at
 *   most max-mismatches; run-get counts all.
 * @SPEK_CMD_MAP_GET: The record of writes of a run with stamped data that is READY or
 *   DONE: how often each grain was written. Grains that were never written may be left
 *   out.
 * @SPEK_CMD_MAP_SET: Set the record of writes of a READY run with stamped data, as
 *   returned by map-get.
 * @SPEK_CMD_TRACE_FEED: Add records of a trace to the ring of a worker, from READY on.
 *   All records are checked before any is accepted.
 * @SPEK_CMD_TRACE_END: All records were fed; count is their number, and is refused if it
 *   differs from the number that the kernel has accepted.
 * @SPEK_CMD_CLAIM_NEW: Make a claim, OPENING, which opens its devices and becomes READY
 *   or FAILED. A device with a diskseq is refused if its disk has another one. The claim
 *   belongs to the socket, and goes with it.
 * @SPEK_CMD_CLAIM_GET: State and devices of one claim (do) or of all (dump).
 * @SPEK_CMD_CLAIM_DEL: Close the devices of a claim that no run uses (EBUSY); the answer
 *   means accepted, claim-ntf with state gone means done.
 * @SPEK_CMD_CLAIM_NTF: A claim changed its state; content of claim-get, without
 *   owner-pid.
 * @__SPEK_CMD_MAX: private
 * @SPEK_CMD_MAX: highest id
 */
enum spek_cmd {
	SPEK_CMD_RUN_NEW = 1,
	SPEK_CMD_RUN_GET,
	SPEK_CMD_RUN_START,
	SPEK_CMD_RUN_STOP,
	SPEK_CMD_RUN_DEL,
	SPEK_CMD_STATS_GET,
	SPEK_CMD_INTERVAL_GET,
	SPEK_CMD_OP_GET,
	SPEK_CMD_RUN_NTF,
	SPEK_CMD_MISMATCH_GET,
	SPEK_CMD_MAP_GET,
	SPEK_CMD_MAP_SET,
	SPEK_CMD_TRACE_FEED,
	SPEK_CMD_TRACE_END,
	SPEK_CMD_CLAIM_NEW,
	SPEK_CMD_CLAIM_GET,
	SPEK_CMD_CLAIM_DEL,
	SPEK_CMD_CLAIM_NTF,

	__SPEK_CMD_MAX,
	SPEK_CMD_MAX = (__SPEK_CMD_MAX - 1)
};

#endif /* _UAPI_SPEK_H */
