/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* generated from kmod/load/uapi/spek.yaml, run `make gen` */

#ifndef _UAPI_SPEK_ENUMS_H
#define _UAPI_SPEK_ENUMS_H

#define SPEK_MAX_STREAMS 64
#define SPEK_MAX_SIZES 64
#define SPEK_MAX_ARRIVALS 16
#define SPEK_MAX_ASUS 16
#define SPEK_MAX_TARGETS 16
#define SPEK_MAX_WORKERS 256
/* Unit of addresses and lengths, bytes. */
#define SPEK_SECTOR 512
/* Bytes of the name of an asu or a stream. */
#define SPEK_MAX_NAME 31
/* Bytes of the name of a run. */
#define SPEK_MAX_RUN_NAME 63
/* I/Os outstanding. */
#define SPEK_MAX_DEPTH 65536
#define SPEK_MAX_BATCH 256
#define SPEK_MAX_IO_BYTES 16777216
/* Parts of the table of a stream. */
#define SPEK_MAX_PARTS 256
/* Parts of all tables of a run. */
#define SPEK_MAX_PARTS_IN_ALL 4096
/* Sum of the weights of a table. */
#define SPEK_TABLE_WEIGHT 1099511627776ULL
/* Points of a rate curve. */
#define SPEK_MAX_POINTS 256
/* Points of all rate curves of a run. */
#define SPEK_MAX_POINTS_IN_ALL 1024
/* One I/O per ns. */
#define SPEK_MAX_RATE_MILLI 1000000000000ULL
/* 11 days, so that sums cannot overflow. */
#define SPEK_MAX_WAIT_NS 1000000000000000ULL
#define SPEK_MAX_TAIL_MILLI 16000
/* Bytes of the fill of a stream's data. */
#define SPEK_MAX_FILL 64
/* Causes of failures that a run counts separately. */
#define SPEK_MAX_SENSES 16
/* Mismatches that a run records in full; all are counted. */
#define SPEK_MAX_MISMATCHES 64
/* States of grains that a message of map-get or map-set holds at most. */
#define SPEK_MAP_STATES 4000
/* Records that a message of trace-feed holds at most. */
#define SPEK_TRACE_BATCH 2000
/* Flag of a record of a trace - a write that ends when its data are on stable storage. */
#define SPEK_TRACE_FUA 1
/* Flag of a record of a trace - a write before which the device's write cache is flushed. */
#define SPEK_TRACE_PREFLUSH 2

/**
 * enum spek_state - State of a run.
 * @SPEK_STATE_READY: Configured, targets claimed, not started.
 * @SPEK_STATE_RUNNING: Workers generate I/O.
 * @SPEK_STATE_DRAINING: No new I/O; waiting for outstanding I/O.
 * @SPEK_STATE_DONE: All I/O has completed; results can be read.
 * @SPEK_STATE_OPENING: Devices are being opened and claimed, and workers created.
 * @SPEK_STATE_ARMED: Started with a start-ns that still lies in the future.
 * @SPEK_STATE_FAILED: A device could not be opened, or memory ran out; the failure
 *   attributes say why.
 * @SPEK_STATE_CLOSING: Being deleted; devices are being released.
 * @SPEK_STATE_GONE: Deleted, devices free; only in the last run-ntf of a run.
 */
enum spek_state {
	SPEK_STATE_READY,
	SPEK_STATE_RUNNING,
	SPEK_STATE_DRAINING,
	SPEK_STATE_DONE,
	SPEK_STATE_OPENING,
	SPEK_STATE_ARMED,
	SPEK_STATE_FAILED,
	SPEK_STATE_CLOSING,
	SPEK_STATE_GONE,
};

/**
 * enum spek_phase - Phase of a run; every I/O is counted in the phase in which it
 *   completed.
 * @SPEK_PHASE_RAMP: Before the measure phase.
 * @SPEK_PHASE_MEASURE: The phase that results cover.
 * @SPEK_PHASE_DRAIN: After the measure phase, until the last I/O has completed.
 */
enum spek_phase {
	SPEK_PHASE_RAMP,
	SPEK_PHASE_MEASURE,
	SPEK_PHASE_DRAIN,
};

/**
 * enum spek_refusal_kind - Part of a configuration that a refusal is about.
 * @SPEK_REFUSAL_RUN: The run as a whole.
 * @SPEK_REFUSAL_TARGET: A target.
 * @SPEK_REFUSAL_WORKER: A worker.
 * @SPEK_REFUSAL_STREAM: A stream.
 * @SPEK_REFUSAL_ASU: An address range.
 * @SPEK_REFUSAL_ARRIVAL: An arrival process.
 * @SPEK_REFUSAL_CLAIM: The claim that the run is to use.
 */
enum spek_refusal_kind {
	SPEK_REFUSAL_RUN,
	SPEK_REFUSAL_TARGET,
	SPEK_REFUSAL_WORKER,
	SPEK_REFUSAL_STREAM,
	SPEK_REFUSAL_ASU,
	SPEK_REFUSAL_ARRIVAL,
	SPEK_REFUSAL_CLAIM,
};

/**
 * enum spek_reason - Why a run ended.
 * @SPEK_REASON_NONE: It has not ended.
 * @SPEK_REASON_COMPLETED: Time or number of transactions reached, or all records of a
 *   trace replayed.
 * @SPEK_REASON_STOPPED: run-stop.
 * @SPEK_REASON_OWNER_GONE: The socket that owned it was closed.
 * @SPEK_REASON_DEVICE_GONE: A target was removed.
 * @SPEK_REASON_ERRORS: More I/O errors than max-errors allows.
 * @SPEK_REASON_SUSPENDED: The system was about to suspend or hibernate.
 * @SPEK_REASON_LIMITS: The limits of a device shrank, and there was no memory to split
 *   I/Os into smaller requests, or the I/Os were atomic writes, which must not be split.
 * @SPEK_REASON_FEEDER_GONE: The socket that fed the trace was closed before the end of
 *   the trace.
 * @SPEK_REASON_SHUTDOWN: The system was going down.
 * @SPEK_REASON_CPU_OFFLINE: The CPU of a worker was taken offline.
 */
enum spek_reason {
	SPEK_REASON_NONE,
	SPEK_REASON_COMPLETED,
	SPEK_REASON_STOPPED,
	SPEK_REASON_OWNER_GONE,
	SPEK_REASON_DEVICE_GONE,
	SPEK_REASON_ERRORS,
	SPEK_REASON_SUSPENDED,
	SPEK_REASON_LIMITS,
	SPEK_REASON_FEEDER_GONE,
	SPEK_REASON_SHUTDOWN,
	SPEK_REASON_CPU_OFFLINE,
};

/**
 * enum spek_backend - How I/O reaches the device.
 * @SPEK_BACKEND_AUTO: mq where the device allows it and on series of kernels on which it
 *   was tested, otherwise bio; backend-reason says why.
 * @SPEK_BACKEND_BIO: Preallocated bios through submit_bio(). Works on every block device.
 * @SPEK_BACKEND_MQ: Requests from the device's own tag set, given to the driver a batch
 *   at a time, through the I/O scheduler if the device has one.
 * @SPEK_BACKEND_SCSI: READ(16) and WRITE(16) commands, straight to the SCSI layer and
 *   each tried once. For SCSI disks; never chosen by auto. The disk's own statistics
 *   don't count them (from v6.13 on they do where queue/iostats_passthrough says so).
 */
enum spek_backend {
	SPEK_BACKEND_AUTO,
	SPEK_BACKEND_BIO,
	SPEK_BACKEND_MQ,
	SPEK_BACKEND_SCSI,
};

/**
 * enum spek_law - Arrival law.
 * @SPEK_LAW_CLOSED: depth I/Os outstanding; the next one think-ns after a completion.
 *   Bursts of I/Os with pauses between them if pause-ns is given.
 * @SPEK_LAW_POISSON: Exponential gaps, mean rate rate-milli.
 * @SPEK_LAW_CONSTANT: Equal gaps, rate rate-milli.
 * @SPEK_LAW_BURST: burst-length I/Os at once, every burst-interval-ns.
 * @SPEK_LAW_TRACE: At the times of the records of a trace.
 */
enum spek_law {
	SPEK_LAW_CLOSED,
	SPEK_LAW_POISSON,
	SPEK_LAW_CONSTANT,
	SPEK_LAW_BURST,
	SPEK_LAW_TRACE,
};

/**
 * enum spek_pattern - Address pattern of a stream.
 * @SPEK_PATTERN_UNIFORM: Uniform over the range; with seq-ppm, that share continues the
 *   previous I/O.
 * @SPEK_PATTERN_SEQUENTIAL: One after the other, wrapping at the end of the range.
 * @SPEK_PATTERN_STRIDED: Zones of one I/O or, with zone-size-bytes, of several,
 *   stride-bytes from start to start, wrapping at the end of the range.
 * @SPEK_PATTERN_RUNS: Sequential runs of run-bytes that start at a uniform place in the
 *   first restart-bytes of the range.
 * @SPEK_PATTERN_WALK: Hierarchical reuse random walk over a hot spot (the range).
 * @SPEK_PATTERN_HOTBAND: Random, low addresses of the range far more often than high
 *   ones; writes are shifted up by 1 %.
 * @SPEK_PATTERN_ONCE: Every block of the range once per pass, in random order, another
 *   one in every pass; they depend on the seed.
 * @SPEK_PATTERN_BACKWARD: One before the other, from the end of the range to its start,
 *   wrapping there.
 * @SPEK_PATTERN_TABLE: Random, by the parts of the range that part lists; spread over the
 *   range with spread.
 * @SPEK_PATTERN_TRACE: The records of a trace that belong to this stream's asu and
 *   operation. The only size is the largest of a record.
 * @SPEK_PATTERN_WRITE_POINTER: Writes at the write pointers of the asu's zones,
 *   open-zones of them in turn; reads below them.
 */
enum spek_pattern {
	SPEK_PATTERN_UNIFORM,
	SPEK_PATTERN_SEQUENTIAL,
	SPEK_PATTERN_STRIDED,
	SPEK_PATTERN_RUNS,
	SPEK_PATTERN_WALK,
	SPEK_PATTERN_HOTBAND,
	SPEK_PATTERN_ONCE,
	SPEK_PATTERN_BACKWARD,
	SPEK_PATTERN_TABLE,
	SPEK_PATTERN_TRACE,
	SPEK_PATTERN_WRITE_POINTER,
};

/**
 * enum spek_operation - Operations of a stream.
 * @SPEK_OPERATION_TRANSFER: Reads and writes.
 * @SPEK_OPERATION_FLUSH: Flushes of the device's write cache, which have neither address
 *   nor length.
 * @SPEK_OPERATION_DISCARD: Discards.
 * @SPEK_OPERATION_WRITE_ZEROES: Writes of zeroes that carry no data; the blocks stay
 *   allocated. Not in a trace.
 * @SPEK_OPERATION_ZONE_APPEND: Writes whose place in a zone the device chooses; it must
 *   be the write pointer. This and the next four need pattern write-pointer.
 * @SPEK_OPERATION_ZONE_RESET: Resets, of one zone after the other.
 * @SPEK_OPERATION_ZONE_FINISH: Finishes the open zones in turn, which are full then.
 * @SPEK_OPERATION_ZONE_OPEN: Opens the zones that are written in turn.
 * @SPEK_OPERATION_ZONE_CLOSE: Closes the zones that are written in turn; an empty one is
 *   opened before.
 */
enum spek_operation {
	SPEK_OPERATION_TRANSFER,
	SPEK_OPERATION_FLUSH,
	SPEK_OPERATION_DISCARD,
	SPEK_OPERATION_WRITE_ZEROES,
	SPEK_OPERATION_ZONE_APPEND,
	SPEK_OPERATION_ZONE_RESET,
	SPEK_OPERATION_ZONE_FINISH,
	SPEK_OPERATION_ZONE_OPEN,
	SPEK_OPERATION_ZONE_CLOSE,
};

/**
 * enum spek_priority - Class of I/O priority, as of ioprio_set(2).
 * @SPEK_PRIORITY_NONE: The priority of the worker's thread.
 * @SPEK_PRIORITY_RT: Real time.
 * @SPEK_PRIORITY_BE: Best effort.
 * @SPEK_PRIORITY_IDLE: Only while the device has nothing else to do; without levels.
 */
enum spek_priority {
	SPEK_PRIORITY_NONE,
	SPEK_PRIORITY_RT,
	SPEK_PRIORITY_BE,
	SPEK_PRIORITY_IDLE,
};

/**
 * enum spek_write_hint - Expected lifetime of the data that a stream writes, as of
 *   fcntl(2) F_SET_RW_HINT.
 * @SPEK_WRITE_HINT_NOT_SET: No hint is given.
 * @SPEK_WRITE_HINT_NONE: There is nothing to be said of the lifetime.
 * @SPEK_WRITE_HINT_SHORT: Short.
 * @SPEK_WRITE_HINT_MEDIUM: Medium.
 * @SPEK_WRITE_HINT_LONG: Long.
 * @SPEK_WRITE_HINT_EXTREME: Extreme.
 */
enum spek_write_hint {
	SPEK_WRITE_HINT_NOT_SET,
	SPEK_WRITE_HINT_NONE,
	SPEK_WRITE_HINT_SHORT,
	SPEK_WRITE_HINT_MEDIUM,
	SPEK_WRITE_HINT_LONG,
	SPEK_WRITE_HINT_EXTREME,
};

/**
 * enum spek_trace_op - Operation of a record of a trace.
 * @SPEK_TRACE_OP_READ: Read.
 * @SPEK_TRACE_OP_WRITE: Write.
 * @SPEK_TRACE_OP_FLUSH: addr and bytes are 0.
 * @SPEK_TRACE_OP_DISCARD: Discard.
 */
enum spek_trace_op {
	SPEK_TRACE_OP_READ,
	SPEK_TRACE_OP_WRITE,
	SPEK_TRACE_OP_FLUSH,
	SPEK_TRACE_OP_DISCARD,
};

/**
 * enum spek_walk_style - Variant of the hierarchical reuse random walk.
 * @SPEK_WALK_STYLE_CLASSIC: As in version 1 of the generator.
 * @SPEK_WALK_STYLE_FIXED: Leaf state is shared by address, so that streams access the
 *   same data.
 */
enum spek_walk_style {
	SPEK_WALK_STYLE_CLASSIC,
	SPEK_WALK_STYLE_FIXED,
};

/**
 * enum spek_zone_order - Order of the I/Os in a zone of a strided stream.
 * @SPEK_ZONE_ORDER_SEQUENTIAL: One after the other.
 * @SPEK_ZONE_ORDER_RANDOM: Uniform over the range of the zone.
 * @SPEK_ZONE_ORDER_ONCE: Every block of the range of the zone once, in a random order
 *   that differs between zones and repetitions.
 */
enum spek_zone_order {
	SPEK_ZONE_ORDER_SEQUENTIAL,
	SPEK_ZONE_ORDER_RANDOM,
	SPEK_ZONE_ORDER_ONCE,
};

/**
 * enum spek_data - Data to write.
 * @SPEK_DATA_ZERO: Zeroes.
 * @SPEK_DATA_RANDOM: Incompressible data, made once per buffer.
 * @SPEK_DATA_STAMPED: Every block is stamped with its identity (kmod/load/core/stamp.h),
 *   and reads are checked. I/Os on the same block, at least one of them a write, wait for
 *   each other.
 */
enum spek_data {
	SPEK_DATA_ZERO,
	SPEK_DATA_RANDOM,
	SPEK_DATA_STAMPED,
};

/**
 * enum spek_mismatch - What is wrong with a block of a run with stamped data.
 * @SPEK_MISMATCH_CORRUPT: The expected version, with flipped bits.
 * @SPEK_MISMATCH_MISDIRECTED: This run wrote it, but for another place.
 * @SPEK_MISMATCH_STALE: An older version; the last write was lost.
 * @SPEK_MISMATCH_TORN: Part of the expected version; the remainder is something else.
 * @SPEK_MISMATCH_UNWRITTEN: A version of this run that was never written here, in
 *   particular where nothing was written.
 * @SPEK_MISMATCH_UNSTAMPED: It was written, but holds no stamp (zeroes, for example).
 * @SPEK_MISMATCH_FOREIGN: It was written, but holds the stamp of another run.
 */
enum spek_mismatch {
	SPEK_MISMATCH_CORRUPT,
	SPEK_MISMATCH_MISDIRECTED,
	SPEK_MISMATCH_STALE,
	SPEK_MISMATCH_TORN,
	SPEK_MISMATCH_UNWRITTEN,
	SPEK_MISMATCH_UNSTAMPED,
	SPEK_MISMATCH_FOREIGN,
};

/**
 * enum spek_direction - Direction.
 * @SPEK_DIRECTION_READ: Read.
 * @SPEK_DIRECTION_WRITE: Write.
 */
enum spek_direction {
	SPEK_DIRECTION_READ,
	SPEK_DIRECTION_WRITE,
};

/**
 * enum spek_nl_metric - What a histogram counts.
 * @SPEK_METRIC_RESPONSE: Completion minus intended arrival, ns.
 * @SPEK_METRIC_SERVICE: Completion minus issue, ns. Issue is the first attempt to submit
 *   the I/O, with every back end: it includes waiting for a free request of the device.
 * @SPEK_METRIC_SLIP: Issue minus intended arrival, ns.
 * @SPEK_METRIC_RESPONSE_AGE: Of I/Os in flight at the end of the measure phase - the end
 *   minus the intended arrival, ns.
 * @SPEK_METRIC_SERVICE_AGE: Of the same I/Os - the end minus the issue, ns; 0 for those
 *   that were due before the end and issued later.
 */
enum spek_nl_metric {
	SPEK_METRIC_RESPONSE,
	SPEK_METRIC_SERVICE,
	SPEK_METRIC_SLIP,
	SPEK_METRIC_RESPONSE_AGE,
	SPEK_METRIC_SERVICE_AGE,
};

/**
 * enum spek_claim_state - State of a claim.
 * @SPEK_CLAIM_STATE_READY: The devices are open and claimed.
 * @SPEK_CLAIM_STATE_OPENING: Devices are being opened and claimed.
 * @SPEK_CLAIM_STATE_FAILED: A device could not be opened; the failure attributes say why.
 *   None is claimed.
 * @SPEK_CLAIM_STATE_CLOSING: Being deleted; the devices are not free yet. Runs that use
 *   it are ending.
 * @SPEK_CLAIM_STATE_GONE: Deleted, devices free; seen in claim-ntf only.
 */
enum spek_claim_state {
	SPEK_CLAIM_STATE_READY,
	SPEK_CLAIM_STATE_OPENING,
	SPEK_CLAIM_STATE_FAILED,
	SPEK_CLAIM_STATE_CLOSING,
	SPEK_CLAIM_STATE_GONE,
};

#endif /* _UAPI_SPEK_ENUMS_H */
