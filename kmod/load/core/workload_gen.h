/* SPDX-License-Identifier: GPL-2.0 */
/* generated from kmod/load/uapi/spek.yaml, run `make gen` */

/* The types of numbers are the including file's. */
#ifndef _SPEK_WORKLOAD_GEN_H
#define _SPEK_WORKLOAD_GEN_H

/**
 * struct spek_run_worker - Worker of a run.
 * @cpu: CPU the worker is bound to.
 */
struct spek_run_worker {
	u32 cpu;
};

/**
 * struct spek_run_target - Target of a run.
 * @diskseq: Sequence number of the disk; differs if the device was replaced since it was
 *   checked.
 * @major: Device number.
 * @minor: Device number.
 * @read_only: 1 - the device is opened read-only although write is set: a stream that can
 *   write is refused there, and so is a run that may write it under a claim.
 */
struct spek_run_target {
	u64 diskseq;
	u32 major;
	u32 minor;
	u32 read_only;
};

/**
 * struct spek_extent - Part of an address range on one target.
 * @start: First byte on it.
 * @target: Index of the target.
 */
struct spek_extent {
	u64 start;
	u32 target;
};

/**
 * struct spek_asu - Address range (asu) on one target, or striped over several.
 * @bytes: Size of the range over all its targets.
 * @zone_bytes: write-pointer - distance from zone to zone of the target, a power of two,
 *   at least the largest block of these streams; the asu has whole zones.
 * @stripe_bytes: Stripe unit with several extents, a power of two.
 * @nr_extents: number of @extent, 1 to SPEK_MAX_TARGETS
 * @open_zones: write-pointer - zones that are written in turn, at least one for each
 *   worker.
 * @extent: One for each target it lies on.
 */
struct spek_asu {
	u64 bytes;
	u64 zone_bytes;
	u32 stripe_bytes;
	u32 nr_extents;
	u32 open_zones;
	struct spek_extent extent[SPEK_MAX_TARGETS];
};

/**
 * struct spek_arrival - Arrival process; all values are totals over the workers.
 * @think_ns: closed - pause between a completion and the next I/O.
 * @rate_milli: poisson and constant - I/Os per 1000 s over all workers; closed - at most
 *   so many, without a limit if not given.
 * @burst_interval_ns: burst - from start to start.
 * @on_ns: poisson and constant - mean of on periods, in which I/Os arrive at the rate,
 *   10000 to 10^15, and at least one I/O long. All the time if not given.
 * @off_ns: poisson and constant - mean of the off periods between on periods, 10000 to
 *   10^15.
 * @pause_ns: closed - pause between bursts, at most 10^15: from the completion of a
 *   burst's last outstanding I/O to the next burst. The loop is on one worker then.
 * @pause_after_ns: closed with pause-ns - a burst ends with the first I/O that is due
 *   this long after its start or later, at most 10^15; also with pause-every, whichever
 *   comes first.
 * @count: I/Os of the measure phase, at most 10^17, shared out over the workers by load;
 *   the process makes no more, and has ended when they have completed. Those in flight at
 *   the start of the phase count. A run whose processes all have counts ends with the
 *   last of them and needs no time-ns; the others end by time. Not with count of the run
 *   or a trace. 0 - no end of its own.
 * @law: enum spek_law
 * @depth: closed - I/Os outstanding over all workers.
 * @burst_length: burst - I/Os of a burst over all workers; closed - I/Os that a limited
 *   loop may make at once after a pause, at most 65536; 1 if not given.
 * @first_point: index of the first @point of the workload
 * @nr_points: poisson and constant - 2 to 256 points of a rate curve, in the order of
 *   their times, instead of rate-milli. Between points the rate changes linearly; two at
 *   one time are a jump. All processes have at most 1024.
 * @repeats: 1: the rate curve begins again after its last point; else the last rate
 *   stays.
 * @tail_milli: Shape of Pareto lengths of on and off periods in thousandths, 1001 to
 *   16000; below 2000 they have heavy tails. 0: exponential lengths.
 * @pause_every: closed with pause-ns - I/Os of a burst.
 * @pause_counts_completed: closed with pause-every - 1: a burst ends when so many I/Os
 *   have completed since it began or while the one before it drained; else once so many
 *   have been issued.
 */
struct spek_arrival {
	u64 think_ns;
	u64 rate_milli;
	u64 burst_interval_ns;
	u64 on_ns;
	u64 off_ns;
	u64 pause_ns;
	u64 pause_after_ns;
	u64 count;
	u32 law;
	u32 depth;
	u32 burst_length;
	u32 first_point;
	u32 nr_points;
	u32 repeats;
	u32 tail_milli;
	u32 pause_every;
	u32 pause_counts_completed;
};

/**
 * struct spek_size - Block size and its weight.
 * @bytes: Length of an I/O.
 * @weight: Share among the sizes of the stream.
 */
struct spek_size {
	u32 bytes;
	u32 weight;
};

/**
 * struct spek_stream - Stream of I/Os.
 * @range_start: First byte of the range, from the start of the asu.
 * @range_bytes: Size of the range.
 * @stride_bytes: strided - from start to start.
 * @run_bytes: runs - length of a run.
 * @restart_bytes: runs - length of the part at the start of the range in which runs
 *   start.
 * @jitter_bytes: strided - an I/O starts up to this far after its place, each multiple of
 *   align-bytes equally likely.
 * @zone_size_bytes: strided - bytes of the I/Os in a zone before they move on to the next
 *   one, which starts a stride after it. Not with jitter-bytes; zones have one I/O if not
 *   given.
 * @zone_range_bytes: strided with zone-size-bytes - length of the part of a zone in which
 *   I/Os start; sequential I/Os that have passed it start over in the zone.
 *   zone-size-bytes if not given.
 * @asu: Index of its address range.
 * @arrival: Index of its arrival process.
 * @weight: Share among the streams of the same arrival process; 1 if not given.
 * @replicas: Independent copies of the stream's state, each equally likely; SPC-1 - BSUs;
 *   1 if not given.
 * @read_ppm: Share of reads.
 * @pattern: enum spek_pattern
 * @align_bytes: Addresses are multiples of this from the start of the asu.
 * @seq_ppm: uniform - share of I/Os that continue the one before.
 * @run_align_bytes: runs - start and end of a run are rounded down to multiples of this
 *   in the asu, but never to before the range.
 * @walk_style: enum spek_walk_style
 * @first_part: index of the first @part of the workload
 * @nr_parts: table - 1 to 256 parts of the range, in order. Together they have all
 *   addresses, multiples of align-bytes, where the largest block fits, and weights that
 *   sum to 2^40. All streams have at most 4096.
 * @spread: table - 1: neighbouring addresses are spread over the range by a permutation;
 *   its start depends on the seed.
 * @nr_sizes: number of @size, 1 to SPEK_MAX_SIZES
 * @operation: What the stream does; transfer if not given. Others need read-ppm 0 and
 *   back end bio. enum spek_operation
 * @fua: 1: writes have forced unit access, back end bio; not trace, whose records say it.
 * @priority: Class of the I/O priority, back ends bio and mq; none if not given. enum
 *   spek_priority
 * @priority_level: Level within the class, 0 is the highest; 0 if not given. Classes rt
 *   and be only.
 * @write_hint: Lifetime of the data written, back ends bio and mq, from Linux 6.9 on;
 *   not-set if not given. enum spek_write_hint
 * @own_data: 1: writes have data of the stream's own, as the next three say, and not
 *   those of the run; not with stamped data.
 * @compressible_ppm: own data - share of each block of 4096 bytes, counted from the start
 *   of the I/O, that is fill; the rest is random. 0 if not given.
 * @duplicate_ppm: own data - share of the blocks that are one of 64 blocks which all
 *   workers share; the others are unique. 0 if not given.
 * @fill_bytes: length of @fill
 * @atomic: 1: writes are atomic, from Linux 6.11 on: a device keeps all of a write or
 *   nothing. Block sizes are powers of two within the device's limits, addresses are
 *   multiples of them.
 * @zone_order: strided with zone-size-bytes - order of the I/Os in a zone; sequential if
 *   not given. enum spek_zone_order
 * @size: Block sizes with their weights.
 * @fill: own data - bytes that the fill repeats, from its start in each block on; zeroes
 *   if not given.
 */
struct spek_stream {
	u64 range_start;
	u64 range_bytes;
	u64 stride_bytes;
	u64 run_bytes;
	u64 restart_bytes;
	u64 jitter_bytes;
	u64 zone_size_bytes;
	u64 zone_range_bytes;
	u32 asu;
	u32 arrival;
	u32 weight;
	u32 replicas;
	u32 read_ppm;
	u32 pattern;
	u32 align_bytes;
	u32 seq_ppm;
	u32 run_align_bytes;
	u32 walk_style;
	u32 first_part;
	u32 nr_parts;
	u32 spread;
	u32 nr_sizes;
	u32 operation;
	u32 fua;
	u32 priority;
	u32 priority_level;
	u32 write_hint;
	u32 own_data;
	u32 compressible_ppm;
	u32 duplicate_ppm;
	u32 fill_bytes;
	u32 atomic;
	u32 zone_order;
	struct spek_size size[SPEK_MAX_SIZES];
	u8 fill[64];
};

/**
 * struct spek_claim_config - Claim on devices for several runs.
 * @write: 1 - runs under the claim may write; without it the devices are opened
 *   read-only, and runs that may write refused.
 * @nr_targets: number of @target, 1 to SPEK_MAX_TARGETS
 * @target: One for each device, in order.
 */
struct spek_claim_config {
	u32 write;
	u32 nr_targets;
	struct spek_run_target target[SPEK_MAX_TARGETS];
};

#endif /* _SPEK_WORKLOAD_GEN_H */
