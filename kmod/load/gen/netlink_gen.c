// SPDX-License-Identifier: GPL-2.0
/* generated from kmod/load/uapi/spek.yaml, run `make gen` */

#include <net/genetlink.h>

#include "../../compat/compat.h"
#include "../uapi/spek.h"
#include "netlink_gen.h"

static struct netlink_range_validation spek_arrival_depth_range = {
	.min	= 1ULL,
	.max	= 65536ULL,
};

static struct netlink_range_validation spek_stream_read_ppm_range = {
	.min	= 0,
	.max	= 1000000ULL,
};

static struct netlink_range_validation spek_stream_seq_ppm_range = {
	.min	= 0,
	.max	= 1000000ULL,
};

static struct netlink_range_validation spek_stream_compressible_ppm_range = {
	.min	= 0,
	.max	= 1000000ULL,
};

static struct netlink_range_validation spek_stream_duplicate_ppm_range = {
	.min	= 0,
	.max	= 1000000ULL,
};

static struct netlink_range_validation spek_run_max_outstanding_range = {
	.min	= 1ULL,
	.max	= 65536ULL,
};

static struct netlink_range_validation spek_run_log_records_range = {
	.min	= 1ULL,
	.max	= 16777216ULL,
};

static struct netlink_range_validation spek_run_trace_records_range = {
	.min	= 1024ULL,
	.max	= 4194304ULL,
};

static const struct nla_policy spek_worker_nl_policy[SPEK_A_WORKER_LOG_LOST + 1] = {
	[SPEK_A_WORKER_INDEX] = { .type = NLA_U32 },
	[SPEK_A_WORKER_CPU] = { .type = NLA_U32 },
	[SPEK_A_WORKER_PID] = { .type = NLA_U32 },
	[SPEK_A_WORKER_CPU_NS] = { .type = NLA_U64 },
	[SPEK_A_WORKER_VOLUNTARY] = { .type = NLA_U64 },
	[SPEK_A_WORKER_INVOLUNTARY] = { .type = NLA_U64 },
	[SPEK_A_WORKER_OUTSTANDING] = { .type = NLA_U32 },
	[SPEK_A_WORKER_LOG_WRITTEN] = { .type = NLA_U64 },
	[SPEK_A_WORKER_LOG_LOST] = { .type = NLA_U64 },
};

static const struct nla_policy spek_target_nl_policy[SPEK_A_TARGET_READ_ONLY + 1] = {
	[SPEK_A_TARGET_MAJOR] = { .type = NLA_U32 },
	[SPEK_A_TARGET_MINOR] = { .type = NLA_U32 },
	[SPEK_A_TARGET_NAME] = { .type = NLA_NUL_STRING, .len = 31 },
	[SPEK_A_TARGET_DISKSEQ] = { .type = NLA_U64 },
	[SPEK_A_TARGET_BYTES] = { .type = NLA_U64 },
	[SPEK_A_TARGET_LOGICAL_BLOCK] = { .type = NLA_U32 },
	[SPEK_A_TARGET_MAX_IO] = { .type = NLA_U32 },
	[SPEK_A_TARGET_BACKEND] = NLA_POLICY_MAX(NLA_U32, 3),
	[SPEK_A_TARGET_BACKEND_REASON] = { .type = NLA_NUL_STRING, .len = 255 },
	[SPEK_A_TARGET_POLLED] = { .type = NLA_U32 },
	[SPEK_A_TARGET_READS] = { .type = NLA_U64 },
	[SPEK_A_TARGET_READ_BYTES] = { .type = NLA_U64 },
	[SPEK_A_TARGET_WRITES] = { .type = NLA_U64 },
	[SPEK_A_TARGET_WRITE_BYTES] = { .type = NLA_U64 },
	[SPEK_A_TARGET_REFUSED] = { .type = NLA_U64 },
	[SPEK_A_TARGET_MAP_START] = { .type = NLA_U64 },
	[SPEK_A_TARGET_MAP_BYTES] = { .type = NLA_U64 },
	[SPEK_A_TARGET_TAG_WAITS] = { .type = NLA_U64 },
	[SPEK_A_TARGET_DISCARDS] = { .type = NLA_U64 },
	[SPEK_A_TARGET_DISCARD_BYTES] = { .type = NLA_U64 },
	[SPEK_A_TARGET_FLUSHES] = { .type = NLA_U64 },
	[SPEK_A_TARGET_ZONE_APPENDS] = { .type = NLA_U64 },
	[SPEK_A_TARGET_ZONE_RESETS] = { .type = NLA_U64 },
	[SPEK_A_TARGET_ZONE_FINISHES] = { .type = NLA_U64 },
	[SPEK_A_TARGET_ZONE_OPENS] = { .type = NLA_U64 },
	[SPEK_A_TARGET_ZONE_CLOSES] = { .type = NLA_U64 },
	[SPEK_A_TARGET_ZONE_MISPLACED] = { .type = NLA_U64 },
	[SPEK_A_TARGET_OPENS] = { .type = NLA_U32 },
	[SPEK_A_TARGET_READ_ONLY] = NLA_POLICY_MAX(NLA_U32, 1),
};

static const struct nla_policy spek_extent_nl_policy[SPEK_A_EXTENT_START + 1] = {
	[SPEK_A_EXTENT_TARGET] = { .type = NLA_U32 },
	[SPEK_A_EXTENT_START] = { .type = NLA_U64 },
};

static const struct nla_policy spek_asu_nl_policy[SPEK_A_ASU_OPEN_ZONES + 1] = {
	[SPEK_A_ASU_NAME] = { .type = NLA_NUL_STRING, .len = 31 },
	[SPEK_A_ASU_BYTES] = { .type = NLA_U64 },
	[SPEK_A_ASU_STRIPE_BYTES] = { .type = NLA_U32 },
	[SPEK_A_ASU_EXTENT] = NLA_POLICY_NESTED(spek_extent_nl_policy),
	[SPEK_A_ASU_ZONE_BYTES] = { .type = NLA_U64 },
	[SPEK_A_ASU_OPEN_ZONES] = { .type = NLA_U32 },
};

static const struct nla_policy spek_arrival_nl_policy[SPEK_A_ARRIVAL_COUNT + 1] = {
	[SPEK_A_ARRIVAL_LAW] = NLA_POLICY_MAX(NLA_U32, 4),
	[SPEK_A_ARRIVAL_DEPTH] = NLA_POLICY_FULL_RANGE(NLA_U32, &spek_arrival_depth_range),
	[SPEK_A_ARRIVAL_THINK_NS] = { .type = NLA_U64 },
	[SPEK_A_ARRIVAL_RATE_MILLI] = { .type = NLA_U64 },
	[SPEK_A_ARRIVAL_BURST_LENGTH] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPEK_A_ARRIVAL_BURST_INTERVAL_NS] = { .type = NLA_U64 },
	[SPEK_A_ARRIVAL_POINT] = NLA_POLICY_RANGE(NLA_BINARY, 32, 4096),
	[SPEK_A_ARRIVAL_REPEATS] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_A_ARRIVAL_ON_NS] = { .type = NLA_U64 },
	[SPEK_A_ARRIVAL_OFF_NS] = { .type = NLA_U64 },
	[SPEK_A_ARRIVAL_TAIL_MILLI] = NLA_POLICY_MAX(NLA_U32, 16000),
	[SPEK_A_ARRIVAL_NAME] = { .type = NLA_NUL_STRING, .len = 31 },
	[SPEK_A_ARRIVAL_PAUSE_NS] = { .type = NLA_U64 },
	[SPEK_A_ARRIVAL_PAUSE_EVERY] = { .type = NLA_U32 },
	[SPEK_A_ARRIVAL_PAUSE_COUNTS_COMPLETED] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_A_ARRIVAL_PAUSE_AFTER_NS] = { .type = NLA_U64 },
	[SPEK_A_ARRIVAL_COUNT] = { .type = NLA_U64 },
};

static const struct nla_policy spek_size_nl_policy[SPEK_A_SIZE_WEIGHT + 1] = {
	[SPEK_A_SIZE_BYTES] = { .type = NLA_U32 },
	[SPEK_A_SIZE_WEIGHT] = { .type = NLA_U32 },
};

static const struct nla_policy spek_stream_nl_policy[SPEK_A_STREAM_ZONE_ORDER + 1] = {
	[SPEK_A_STREAM_NAME] = { .type = NLA_NUL_STRING, .len = 31 },
	[SPEK_A_STREAM_ASU] = { .type = NLA_U32 },
	[SPEK_A_STREAM_ARRIVAL] = { .type = NLA_U32 },
	[SPEK_A_STREAM_WEIGHT] = { .type = NLA_U32 },
	[SPEK_A_STREAM_REPLICAS] = { .type = NLA_U32 },
	[SPEK_A_STREAM_READ_PPM] = NLA_POLICY_FULL_RANGE(NLA_U32, &spek_stream_read_ppm_range),
	[SPEK_A_STREAM_PATTERN] = NLA_POLICY_MAX(NLA_U32, 10),
	[SPEK_A_STREAM_RANGE_START] = { .type = NLA_U64 },
	[SPEK_A_STREAM_RANGE_BYTES] = { .type = NLA_U64 },
	[SPEK_A_STREAM_ALIGN_BYTES] = { .type = NLA_U32 },
	[SPEK_A_STREAM_SEQ_PPM] = NLA_POLICY_FULL_RANGE(NLA_U32, &spek_stream_seq_ppm_range),
	[SPEK_A_STREAM_STRIDE_BYTES] = { .type = NLA_U64 },
	[SPEK_A_STREAM_RUN_BYTES] = { .type = NLA_U64 },
	[SPEK_A_STREAM_RESTART_BYTES] = { .type = NLA_U64 },
	[SPEK_A_STREAM_RUN_ALIGN_BYTES] = { .type = NLA_U32 },
	[SPEK_A_STREAM_WALK_STYLE] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_A_STREAM_JITTER_BYTES] = { .type = NLA_U64 },
	[SPEK_A_STREAM_PART] = NLA_POLICY_RANGE(NLA_BINARY, 16, 4096),
	[SPEK_A_STREAM_SPREAD] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_A_STREAM_SIZE] = NLA_POLICY_NESTED(spek_size_nl_policy),
	[SPEK_A_STREAM_OPERATION] = NLA_POLICY_MAX(NLA_U32, 8),
	[SPEK_A_STREAM_FUA] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_A_STREAM_PRIORITY] = NLA_POLICY_MAX(NLA_U32, 3),
	[SPEK_A_STREAM_PRIORITY_LEVEL] = NLA_POLICY_MAX(NLA_U32, 7),
	[SPEK_A_STREAM_WRITE_HINT] = NLA_POLICY_MAX(NLA_U32, 5),
	[SPEK_A_STREAM_OWN_DATA] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_A_STREAM_COMPRESSIBLE_PPM] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &spek_stream_compressible_ppm_range),
	[SPEK_A_STREAM_DUPLICATE_PPM] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &spek_stream_duplicate_ppm_range),
	[SPEK_A_STREAM_FILL] = NLA_POLICY_RANGE(NLA_BINARY, 1, 64),
	[SPEK_A_STREAM_ATOMIC] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_A_STREAM_ZONE_SIZE_BYTES] = { .type = NLA_U64 },
	[SPEK_A_STREAM_ZONE_RANGE_BYTES] = { .type = NLA_U64 },
	[SPEK_A_STREAM_ZONE_ORDER] = NLA_POLICY_MAX(NLA_U32, 2),
};

/* SPEK_CMD_RUN_NEW */
static const struct nla_policy spek_run_new_nl_policy[SPEK_A_RUN_VERIFY_ATOMIC + 1] = {
	[SPEK_A_RUN_NAME] = { .type = NLA_NUL_STRING, .len = 63 },
	[SPEK_A_RUN_SEED] = { .type = NLA_U64 },
	[SPEK_A_RUN_DETACHED] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_A_RUN_WRITE] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_A_RUN_BACKEND] = NLA_POLICY_MAX(NLA_U32, 3),
	[SPEK_A_RUN_POLLED] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_A_RUN_DATA] = NLA_POLICY_MAX(NLA_U32, 2),
	[SPEK_A_RUN_MAX_OUTSTANDING] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &spek_run_max_outstanding_range),
	[SPEK_A_RUN_BATCH] = NLA_POLICY_RANGE(NLA_U32, 1, 256),
	[SPEK_A_RUN_SPIN_NS] = { .type = NLA_U64 },
	[SPEK_A_RUN_INTERVAL_NS] = { .type = NLA_U64 },
	[SPEK_A_RUN_RAMP_NS] = { .type = NLA_U64 },
	[SPEK_A_RUN_RAMP_COUNT] = { .type = NLA_U64 },
	[SPEK_A_RUN_TIME_NS] = { .type = NLA_U64 },
	[SPEK_A_RUN_COUNT] = { .type = NLA_U64 },
	[SPEK_A_RUN_MAX_ERRORS] = { .type = NLA_U64 },
	[SPEK_A_RUN_WORKER] = NLA_POLICY_NESTED(spek_worker_nl_policy),
	[SPEK_A_RUN_TARGET] = NLA_POLICY_NESTED(spek_target_nl_policy),
	[SPEK_A_RUN_ASU] = NLA_POLICY_NESTED(spek_asu_nl_policy),
	[SPEK_A_RUN_ARRIVAL] = NLA_POLICY_NESTED(spek_arrival_nl_policy),
	[SPEK_A_RUN_STREAM] = NLA_POLICY_NESTED(spek_stream_nl_policy),
	[SPEK_A_RUN_LOG_RECORDS] = NLA_POLICY_FULL_RANGE(NLA_U32, &spek_run_log_records_range),
	[SPEK_A_RUN_STAMP_ID] = { .type = NLA_U64 },
	[SPEK_A_RUN_VERIFY_FROM] = { .type = NLA_U32 },
	[SPEK_A_RUN_GRAIN_BYTES] = { .type = NLA_U32 },
	[SPEK_A_RUN_TRACE_RECORDS] = NLA_POLICY_FULL_RANGE(NLA_U32, &spek_run_trace_records_range),
	[SPEK_A_RUN_CLAIM] = { .type = NLA_U32 },
	[SPEK_A_RUN_VERIFY_NEWER] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_A_RUN_VERIFY_ATOMIC] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* SPEK_CMD_RUN_GET */
static const struct nla_policy spek_run_get_nl_policy[SPEK_A_RUN_ID + 1] = {
	[SPEK_A_RUN_ID] = { .type = NLA_U32 },
};

/* SPEK_CMD_RUN_START */
static const struct nla_policy spek_run_start_nl_policy[SPEK_A_RUN_START_NS + 1] = {
	[SPEK_A_RUN_ID] = { .type = NLA_U32 },
	[SPEK_A_RUN_START_NS] = NLA_POLICY_MIN(NLA_U64, 1),
};

/* SPEK_CMD_RUN_STOP */
static const struct nla_policy spek_run_stop_nl_policy[SPEK_A_RUN_ID + 1] = {
	[SPEK_A_RUN_ID] = { .type = NLA_U32 },
};

/* SPEK_CMD_RUN_DEL */
static const struct nla_policy spek_run_del_nl_policy[SPEK_A_RUN_ID + 1] = {
	[SPEK_A_RUN_ID] = { .type = NLA_U32 },
};

/* SPEK_CMD_STATS_GET */
static const struct nla_policy spek_stats_get_nl_policy[SPEK_A_STATS_RUN + 1] = {
	[SPEK_A_STATS_RUN] = { .type = NLA_U32 },
};

/* SPEK_CMD_INTERVAL_GET */
static const struct nla_policy spek_interval_get_nl_policy[SPEK_A_INTERVAL_SINCE + 1] = {
	[SPEK_A_INTERVAL_RUN] = { .type = NLA_U32 },
	[SPEK_A_INTERVAL_SINCE] = { .type = NLA_U64 },
};

/* SPEK_CMD_OP_GET */
static const struct nla_policy spek_op_get_nl_policy[SPEK_A_OP_COUNT + 1] = {
	[SPEK_A_OP_RUN] = { .type = NLA_U32 },
	[SPEK_A_OP_WORKER] = { .type = NLA_U32 },
	[SPEK_A_OP_COUNT] = { .type = NLA_U64 },
};

/* SPEK_CMD_MISMATCH_GET */
static const struct nla_policy spek_mismatch_get_nl_policy[SPEK_A_MISMATCH_RUN + 1] = {
	[SPEK_A_MISMATCH_RUN] = { .type = NLA_U32 },
};

/* SPEK_CMD_MAP_GET */
static const struct nla_policy spek_map_get_nl_policy[SPEK_A_MAP_RUN + 1] = {
	[SPEK_A_MAP_RUN] = { .type = NLA_U32 },
};

/* SPEK_CMD_MAP_SET */
static const struct nla_policy spek_map_set_nl_policy[SPEK_A_MAP_STATES + 1] = {
	[SPEK_A_MAP_RUN] = { .type = NLA_U32 },
	[SPEK_A_MAP_TARGET] = { .type = NLA_U32 },
	[SPEK_A_MAP_FIRST] = { .type = NLA_U64 },
	[SPEK_A_MAP_STATES] = NLA_POLICY_RANGE(NLA_BINARY, 8, 32000),
};

/* SPEK_CMD_TRACE_FEED */
static const struct nla_policy spek_trace_feed_nl_policy[SPEK_A_TRACE_RECORDS + 1] = {
	[SPEK_A_TRACE_RUN] = { .type = NLA_U32 },
	[SPEK_A_TRACE_WORKER] = { .type = NLA_U32 },
	[SPEK_A_TRACE_RECORDS] = { .type = NLA_BINARY, .len = 48000 },
};

/* SPEK_CMD_TRACE_END */
static const struct nla_policy spek_trace_end_nl_policy[SPEK_A_TRACE_COUNT + 1] = {
	[SPEK_A_TRACE_RUN] = { .type = NLA_U32 },
	[SPEK_A_TRACE_COUNT] = { .type = NLA_U64 },
};

/* SPEK_CMD_CLAIM_NEW */
static const struct nla_policy spek_claim_new_nl_policy[SPEK_A_CLAIM_TARGET + 1] = {
	[SPEK_A_CLAIM_WRITE] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_A_CLAIM_TARGET] = NLA_POLICY_NESTED(spek_target_nl_policy),
};

/* SPEK_CMD_CLAIM_GET */
static const struct nla_policy spek_claim_get_nl_policy[SPEK_A_CLAIM_ID + 1] = {
	[SPEK_A_CLAIM_ID] = { .type = NLA_U32 },
};

/* SPEK_CMD_CLAIM_DEL */
static const struct nla_policy spek_claim_del_nl_policy[SPEK_A_CLAIM_ID + 1] = {
	[SPEK_A_CLAIM_ID] = { .type = NLA_U32 },
};

static const struct genl_ops spek_nl_ops[] = {
	{
		.cmd		= SPEK_CMD_RUN_NEW,
		.doit		= spek_nl_run_new_doit,
		.policy		= spek_run_new_nl_policy,
		.maxattr	= SPEK_A_RUN_VERIFY_ATOMIC,
	},
	{
		.cmd		= SPEK_CMD_RUN_GET,
		.doit		= spek_nl_run_get_doit,
		.start		= spek_nl_run_get_start,
		.dumpit		= spek_nl_run_get_dumpit,
		.done		= spek_nl_dump_done,
		.policy		= spek_run_get_nl_policy,
		.maxattr	= SPEK_A_RUN_ID,
	},
	{
		.cmd		= SPEK_CMD_RUN_START,
		.doit		= spek_nl_run_start_doit,
		.policy		= spek_run_start_nl_policy,
		.maxattr	= SPEK_A_RUN_START_NS,
	},
	{
		.cmd		= SPEK_CMD_RUN_STOP,
		.doit		= spek_nl_run_stop_doit,
		.policy		= spek_run_stop_nl_policy,
		.maxattr	= SPEK_A_RUN_ID,
	},
	{
		.cmd		= SPEK_CMD_RUN_DEL,
		.doit		= spek_nl_run_del_doit,
		.policy		= spek_run_del_nl_policy,
		.maxattr	= SPEK_A_RUN_ID,
	},
	{
		.cmd		= SPEK_CMD_STATS_GET,
		.dumpit		= spek_nl_stats_get_dumpit,
		.done		= spek_nl_dump_done,
		.policy		= spek_stats_get_nl_policy,
		.maxattr	= SPEK_A_STATS_RUN,
	},
	{
		.cmd		= SPEK_CMD_INTERVAL_GET,
		.dumpit		= spek_nl_interval_get_dumpit,
		.done		= spek_nl_dump_done,
		.policy		= spek_interval_get_nl_policy,
		.maxattr	= SPEK_A_INTERVAL_SINCE,
	},
	{
		.cmd		= SPEK_CMD_OP_GET,
		.dumpit		= spek_nl_op_get_dumpit,
		.done		= spek_nl_dump_done,
		.policy		= spek_op_get_nl_policy,
		.maxattr	= SPEK_A_OP_COUNT,
	},
	{
		.cmd		= SPEK_CMD_MISMATCH_GET,
		.dumpit		= spek_nl_mismatch_get_dumpit,
		.done		= spek_nl_dump_done,
		.policy		= spek_mismatch_get_nl_policy,
		.maxattr	= SPEK_A_MISMATCH_RUN,
	},
	{
		.cmd		= SPEK_CMD_MAP_GET,
		.dumpit		= spek_nl_map_get_dumpit,
		.done		= spek_nl_dump_done,
		.policy		= spek_map_get_nl_policy,
		.maxattr	= SPEK_A_MAP_RUN,
	},
	{
		.cmd		= SPEK_CMD_MAP_SET,
		.doit		= spek_nl_map_set_doit,
		.policy		= spek_map_set_nl_policy,
		.maxattr	= SPEK_A_MAP_STATES,
	},
	{
		.cmd		= SPEK_CMD_TRACE_FEED,
		.doit		= spek_nl_trace_feed_doit,
		.policy		= spek_trace_feed_nl_policy,
		.maxattr	= SPEK_A_TRACE_RECORDS,
	},
	{
		.cmd		= SPEK_CMD_TRACE_END,
		.doit		= spek_nl_trace_end_doit,
		.policy		= spek_trace_end_nl_policy,
		.maxattr	= SPEK_A_TRACE_COUNT,
	},
	{
		.cmd		= SPEK_CMD_CLAIM_NEW,
		.doit		= spek_nl_claim_new_doit,
		.policy		= spek_claim_new_nl_policy,
		.maxattr	= SPEK_A_CLAIM_TARGET,
	},
	{
		.cmd		= SPEK_CMD_CLAIM_GET,
		.doit		= spek_nl_claim_get_doit,
		.start		= spek_nl_claim_get_start,
		.dumpit		= spek_nl_claim_get_dumpit,
		.done		= spek_nl_dump_done,
		.policy		= spek_claim_get_nl_policy,
		.maxattr	= SPEK_A_CLAIM_ID,
	},
	{
		.cmd		= SPEK_CMD_CLAIM_DEL,
		.doit		= spek_nl_claim_del_doit,
		.policy		= spek_claim_del_nl_policy,
		.maxattr	= SPEK_A_CLAIM_ID,
	},
};

static const struct genl_multicast_group spek_nl_mcgrps[] = {
	[SPEK_NLGRP_RUNS] = SPEK_COMPAT_GENL_MCGRP_SYS_ADMIN(SPEK_MCGRP_RUNS),
};

struct genl_family spek_nl_family __ro_after_init = {
	.name		= SPEK_FAMILY_NAME,
	.version	= SPEK_FAMILY_VERSION,
	.netnsok	= false,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.ops		= spek_nl_ops,
	.n_ops		= ARRAY_SIZE(spek_nl_ops),
	.mcgrps		= spek_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(spek_nl_mcgrps),
};
