// SPDX-License-Identifier: GPL-2.0
/* generated from kmod/load/uapi/spek.yaml, run `make gen` */

#include <linux/build_bug.h>
#include <linux/kernel.h>

#include "../config.h"
#include "../core/workload.h"
#include "../uapi/spek.h"
#include "request_gen.h"

static const struct spek_genl_field worker_fields[] = {
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_WORKER_CPU, struct spek_run_worker, cpu),
		.missing = "A worker needs a CPU.",
	},
};

static const struct spek_genl_record spek_worker_request = {
	.field = worker_fields,
	.nr = ARRAY_SIZE(worker_fields),
	.pad = SPEK_A_WORKER_PAD,
};

static const struct spek_genl_field target_fields[] = {
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_TARGET_MAJOR, struct spek_run_target, major),
		.missing = "A target needs the major number of its device.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_TARGET_MINOR, struct spek_run_target, minor),
		.missing = "A target needs the minor number of its device.",
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_TARGET_DISKSEQ, struct spek_run_target, diskseq),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_TARGET_READ_ONLY, struct spek_run_target, read_only),
	},
};

static const struct spek_genl_record spek_target_request = {
	.field = target_fields,
	.nr = ARRAY_SIZE(target_fields),
	.pad = SPEK_A_TARGET_PAD,
};

static const struct spek_genl_field extent_fields[] = {
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_EXTENT_TARGET, struct spek_extent, target),
		.missing = "An extent needs the index of its target.",
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_EXTENT_START, struct spek_extent, start),
		.missing = "An extent needs its first byte on the target.",
	},
};

static const struct spek_genl_record spek_extent_request = {
	.field = extent_fields,
	.nr = ARRAY_SIZE(extent_fields),
	.pad = SPEK_A_EXTENT_PAD,
};

static const struct spek_genl_field asu_fields[] = {
	{
		.attr = SPEK_A_ASU_NAME,
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_ASU_BYTES, struct spek_asu, bytes),
		.missing = "An address range (asu) needs a size.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_ASU_STRIPE_BYTES, struct spek_asu, stripe_bytes),
	},
	{
		SPEK_GENL_ARRAY(RECORD, SPEK_A_ASU_EXTENT, struct spek_asu, extent, nr_extents),
		.record = &spek_extent_request,
		.at_most = SPEK_MAX_TARGETS,
		.too_many = "An address range (asu) has at most 16 extents.",
		.missing = "An address range (asu) needs at least one extent.",
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_ASU_ZONE_BYTES, struct spek_asu, zone_bytes),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_ASU_OPEN_ZONES, struct spek_asu, open_zones),
	},
};

static const struct spek_genl_record spek_asu_request = {
	.field = asu_fields,
	.nr = ARRAY_SIZE(asu_fields),
	.pad = SPEK_A_ASU_PAD,
};

static_assert(sizeof_field(struct spek_run_config, workload.point[0]) ==
	      sizeof(struct spek_rate_point));

static const struct spek_genl_pool arrival_point_pool = {
	.offset = offsetof(struct spek_run_config, workload.point),
	.count = offsetof(struct spek_run_config, workload.nr_points),
	.torn = "The points of a rate curve are not whole: each has 16 bytes.",
};

static const struct spek_genl_field arrival_fields[] = {
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_ARRIVAL_LAW, struct spek_arrival, law),
		.missing = "An arrival process needs a law.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_ARRIVAL_DEPTH, struct spek_arrival, depth),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_ARRIVAL_THINK_NS, struct spek_arrival, think_ns),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_ARRIVAL_RATE_MILLI, struct spek_arrival, rate_milli),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_ARRIVAL_BURST_LENGTH,
				 struct spek_arrival, burst_length),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_ARRIVAL_BURST_INTERVAL_NS,
				 struct spek_arrival, burst_interval_ns),
	},
	{
		.attr = SPEK_A_ARRIVAL_POINT,
		.kind = SPEK_GENL_POOL,
		.offset = offsetof(struct spek_arrival, first_point),
		.bytes = sizeof(struct spek_rate_point),
		.count = offsetof(struct spek_arrival, nr_points),
		.pool = &arrival_point_pool,
		.at_most = SPEK_MAX_POINTS_IN_ALL,
		.too_many = "The rate curves of a run have at most 1024 points together.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_ARRIVAL_REPEATS, struct spek_arrival, repeats),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_ARRIVAL_ON_NS, struct spek_arrival, on_ns),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_ARRIVAL_OFF_NS, struct spek_arrival, off_ns),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_ARRIVAL_TAIL_MILLI, struct spek_arrival, tail_milli),
	},
	{
		.attr = SPEK_A_ARRIVAL_NAME,
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_ARRIVAL_PAUSE_NS, struct spek_arrival, pause_ns),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_ARRIVAL_PAUSE_EVERY, struct spek_arrival, pause_every),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_ARRIVAL_PAUSE_COUNTS_COMPLETED,
				 struct spek_arrival, pause_counts_completed),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_ARRIVAL_PAUSE_AFTER_NS,
				 struct spek_arrival, pause_after_ns),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_ARRIVAL_COUNT, struct spek_arrival, count),
	},
};

static const struct spek_genl_record spek_arrival_request = {
	.field = arrival_fields,
	.nr = ARRAY_SIZE(arrival_fields),
	.pad = SPEK_A_ARRIVAL_PAD,
};

static const struct spek_genl_field size_fields[] = {
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_SIZE_BYTES, struct spek_size, bytes),
		.missing = "A block size needs its bytes.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_SIZE_WEIGHT, struct spek_size, weight),
		.missing = "A block size needs its weight.",
	},
};

static const struct spek_genl_record spek_size_request = {
	.field = size_fields,
	.nr = ARRAY_SIZE(size_fields),
};

static_assert(sizeof_field(struct spek_run_config, workload.part[0]) ==
	      sizeof(struct spek_table_part));

static const struct spek_genl_pool stream_part_pool = {
	.offset = offsetof(struct spek_run_config, workload.part),
	.count = offsetof(struct spek_run_config, workload.nr_parts),
	.torn = "The parts of a table are not whole: each has 16 bytes.",
};

static const struct spek_genl_field stream_fields[] = {
	{
		.attr = SPEK_A_STREAM_NAME,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_ASU, struct spek_stream, asu),
		.missing = "A stream needs the index of its address range (asu).",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_ARRIVAL, struct spek_stream, arrival),
		.missing = "A stream needs the index of its arrival process.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_WEIGHT, struct spek_stream, weight),
		.usual = 1,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_REPLICAS, struct spek_stream, replicas),
		.usual = 1,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_READ_PPM, struct spek_stream, read_ppm),
		.missing = "A stream needs its share of reads.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_PATTERN, struct spek_stream, pattern),
		.missing = "A stream needs an address pattern.",
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_STREAM_RANGE_START, struct spek_stream, range_start),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_STREAM_RANGE_BYTES, struct spek_stream, range_bytes),
		.missing = "A stream needs the size of its range.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_ALIGN_BYTES, struct spek_stream, align_bytes),
		.missing = "A stream needs the alignment of its addresses.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_SEQ_PPM, struct spek_stream, seq_ppm),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_STREAM_STRIDE_BYTES, struct spek_stream, stride_bytes),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_STREAM_RUN_BYTES, struct spek_stream, run_bytes),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_STREAM_RESTART_BYTES,
				 struct spek_stream, restart_bytes),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_RUN_ALIGN_BYTES,
				 struct spek_stream, run_align_bytes),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_WALK_STYLE, struct spek_stream, walk_style),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_STREAM_JITTER_BYTES, struct spek_stream, jitter_bytes),
	},
	{
		.attr = SPEK_A_STREAM_PART,
		.kind = SPEK_GENL_POOL,
		.offset = offsetof(struct spek_stream, first_part),
		.bytes = sizeof(struct spek_table_part),
		.count = offsetof(struct spek_stream, nr_parts),
		.pool = &stream_part_pool,
		.at_most = SPEK_MAX_PARTS_IN_ALL,
		.too_many = "The tables of a run have at most 4096 parts together.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_SPREAD, struct spek_stream, spread),
	},
	{
		SPEK_GENL_ARRAY(RECORD, SPEK_A_STREAM_SIZE, struct spek_stream, size, nr_sizes),
		.record = &spek_size_request,
		.at_most = SPEK_MAX_SIZES,
		.too_many = "A stream has at most 64 block sizes.",
		.missing = "A stream needs at least one block size.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_OPERATION, struct spek_stream, operation),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_FUA, struct spek_stream, fua),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_PRIORITY, struct spek_stream, priority),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_PRIORITY_LEVEL,
				 struct spek_stream, priority_level),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_WRITE_HINT, struct spek_stream, write_hint),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_OWN_DATA, struct spek_stream, own_data),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_COMPRESSIBLE_PPM,
				 struct spek_stream, compressible_ppm),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_DUPLICATE_PPM,
				 struct spek_stream, duplicate_ppm),
	},
	{
		SPEK_GENL_ARRAY(BYTES, SPEK_A_STREAM_FILL, struct spek_stream, fill, fill_bytes),
		.at_most = sizeof_field(struct spek_stream, fill),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_ATOMIC, struct spek_stream, atomic),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_STREAM_ZONE_SIZE_BYTES,
				 struct spek_stream, zone_size_bytes),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_STREAM_ZONE_RANGE_BYTES,
				 struct spek_stream, zone_range_bytes),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_STREAM_ZONE_ORDER, struct spek_stream, zone_order),
	},
};

static const struct spek_genl_record spek_stream_request = {
	.field = stream_fields,
	.nr = ARRAY_SIZE(stream_fields),
	.pad = SPEK_A_STREAM_PAD,
};

static const struct spek_genl_field run_fields[] = {
	{
		SPEK_GENL_MEMBER(TEXT, SPEK_A_RUN_NAME, struct spek_run_config, name),
		.missing = "A run needs the name of its workload.",
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_RUN_SEED, struct spek_run_config, seed),
		.missing = "A run needs a seed.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_RUN_DETACHED, struct spek_run_config, detached),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_RUN_WRITE, struct spek_run_config, may_write),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_RUN_BACKEND, struct spek_run_config, backend),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_RUN_POLLED, struct spek_run_config, polled),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_RUN_DATA, struct spek_run_config, data),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_RUN_MAX_OUTSTANDING,
				 struct spek_run_config, max_outstanding),
		.missing = "A run needs a limit of outstanding I/Os.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_RUN_BATCH, struct spek_run_config, batch),
		.usual = 16,
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_RUN_SPIN_NS, struct spek_run_config, spin_ns),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_RUN_INTERVAL_NS, struct spek_run_config, interval_ns),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_RUN_RAMP_NS, struct spek_run_config, ramp_ns),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_RUN_RAMP_COUNT, struct spek_run_config, ramp_count),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_RUN_TIME_NS, struct spek_run_config, time_ns),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_RUN_COUNT, struct spek_run_config, count),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_RUN_MAX_ERRORS, struct spek_run_config, max_errors),
	},
	{
		SPEK_GENL_ARRAY(RECORD, SPEK_A_RUN_WORKER,
				struct spek_run_config, worker, nr_workers),
		.record = &spek_worker_request,
		.at_most = SPEK_MAX_WORKERS,
		.too_many = "A run has at most 256 workers.",
		.missing = "A run needs at least one worker.",
	},
	{
		SPEK_GENL_ARRAY(RECORD, SPEK_A_RUN_TARGET,
				struct spek_run_config, target, nr_targets),
		.record = &spek_target_request,
		.at_most = SPEK_MAX_TARGETS,
		.too_many = "A run has at most 16 targets.",
		.missing = "A run needs at least one target.",
	},
	{
		SPEK_GENL_ARRAY(RECORD, SPEK_A_RUN_ASU,
				struct spek_run_config, workload.asu, workload.nr_asus),
		.record = &spek_asu_request,
		.at_most = SPEK_MAX_ASUS,
		.too_many = "A run has at most 16 address ranges (asus).",
		.missing = "A run needs at least one address range (asu).",
	},
	{
		SPEK_GENL_ARRAY(RECORD, SPEK_A_RUN_ARRIVAL,
				struct spek_run_config, workload.arrival, workload.nr_arrivals),
		.record = &spek_arrival_request,
		.at_most = SPEK_MAX_ARRIVALS,
		.too_many = "A run has at most 16 arrival processes.",
		.missing = "A run needs at least one arrival process.",
	},
	{
		SPEK_GENL_ARRAY(RECORD, SPEK_A_RUN_STREAM,
				struct spek_run_config, workload.stream, workload.nr_streams),
		.record = &spek_stream_request,
		.at_most = SPEK_MAX_STREAMS,
		.too_many = "A run has at most 64 streams.",
		.missing = "A run needs at least one stream.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_RUN_LOG_RECORDS, struct spek_run_config, log_records),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_A_RUN_STAMP_ID, struct spek_run_config, stamp_id),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_RUN_VERIFY_FROM, struct spek_run_config, verify_from),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_RUN_GRAIN_BYTES, struct spek_run_config, grain_bytes),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_RUN_TRACE_RECORDS,
				 struct spek_run_config, trace_records),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_RUN_CLAIM, struct spek_run_config, claim),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_RUN_VERIFY_NEWER,
				 struct spek_run_config, verify_newer),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_RUN_VERIFY_ATOMIC,
				 struct spek_run_config, verify_atomic),
	},
};

const struct spek_genl_record spek_run_request = {
	.field = run_fields,
	.nr = ARRAY_SIZE(run_fields),
	.pad = SPEK_A_RUN_PAD,
};

static const struct spek_genl_field claim_fields[] = {
	{
		SPEK_GENL_MEMBER(U32, SPEK_A_CLAIM_WRITE, struct spek_claim_config, write),
	},
	{
		SPEK_GENL_ARRAY(RECORD, SPEK_A_CLAIM_TARGET,
				struct spek_claim_config, target, nr_targets),
		.record = &spek_target_request,
		.at_most = SPEK_MAX_TARGETS,
		.too_many = "A claim has at most 16 devices.",
		.missing = "A claim needs at least one device.",
	},
};

const struct spek_genl_record spek_claim_request = {
	.field = claim_fields,
	.nr = ARRAY_SIZE(claim_fields),
};
