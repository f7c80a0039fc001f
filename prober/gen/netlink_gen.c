// SPDX-License-Identifier: GPL-2.0
/* generated from prober/uapi/spek_prober.yaml, run `make gen` */

#include <net/genetlink.h>

#include "../../kmod/compat/compat.h"
#include "../uapi/spek_prober.h"
#include "netlink_gen.h"

static const struct nla_policy spek_prober_task_nl_policy[SPEK_PROBER_A_TASK_PID + 1] = {
	[SPEK_PROBER_A_TASK_PID] = { .type = NLA_U32 },
};

static const struct nla_policy spek_prober_rail_nl_policy[SPEK_PROBER_A_RAIL_POWER_UW + 1] = {
	[SPEK_PROBER_A_RAIL_NUMBER] = { .type = NLA_U32 },
	[SPEK_PROBER_A_RAIL_NAME] = { .type = NLA_NUL_STRING, .len = 31 },
	[SPEK_PROBER_A_RAIL_LSB_NW] = { .type = NLA_U64 },
	[SPEK_PROBER_A_RAIL_SAMPLES] = { .type = NLA_U64 },
	[SPEK_PROBER_A_RAIL_LATE] = { .type = NLA_U64 },
	[SPEK_PROBER_A_RAIL_OVERWRITTEN] = { .type = NLA_U64 },
	[SPEK_PROBER_A_RAIL_GAPS] = { .type = NLA_U64 },
	[SPEK_PROBER_A_RAIL_GAP_NS] = { .type = NLA_U64 },
	[SPEK_PROBER_A_RAIL_KNOWN_NS] = { .type = NLA_U64 },
	[SPEK_PROBER_A_RAIL_ENERGY_UJ] = { .type = NLA_S64 },
	[SPEK_PROBER_A_RAIL_FIRST_NS] = { .type = NLA_U64 },
	[SPEK_PROBER_A_RAIL_OLDEST_NS] = { .type = NLA_U64 },
	[SPEK_PROBER_A_RAIL_LAST_NS] = { .type = NLA_U64 },
	[SPEK_PROBER_A_RAIL_POWER_UW] = { .type = NLA_S64 },
};

/* SPEK_PROBER_CMD_PROBE_START */
static const struct nla_policy spek_prober_probe_start_nl_policy[SPEK_PROBER_A_PROBE_TASK + 1] = {
	[SPEK_PROBER_A_PROBE_INTERVAL_NS] = { .type = NLA_U64 },
	[SPEK_PROBER_A_PROBE_RING_ROWS] = { .type = NLA_U32 },
	[SPEK_PROBER_A_PROBE_DETACHED] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_PROBER_A_PROBE_TASK] = NLA_POLICY_NESTED(spek_prober_task_nl_policy),
};

/* SPEK_PROBER_CMD_PROBE_STOP */
static const struct nla_policy spek_prober_probe_stop_nl_policy[SPEK_PROBER_A_PROBE_ID + 1] = {
	[SPEK_PROBER_A_PROBE_ID] = { .type = NLA_U32 },
};

/* SPEK_PROBER_CMD_PROBE_DEL */
static const struct nla_policy spek_prober_probe_del_nl_policy[SPEK_PROBER_A_PROBE_ID + 1] = {
	[SPEK_PROBER_A_PROBE_ID] = { .type = NLA_U32 },
};

/* SPEK_PROBER_CMD_SAMPLE_GET */
static const struct nla_policy spek_prober_sample_get_nl_policy[SPEK_PROBER_A_SAMPLE_HOLD + 1] = {
	[SPEK_PROBER_A_SAMPLE_PROBE] = { .type = NLA_U32 },
	[SPEK_PROBER_A_SAMPLE_SINCE] = { .type = NLA_U64 },
	[SPEK_PROBER_A_SAMPLE_HOLD] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* SPEK_PROBER_CMD_FEED_OPEN */
static const struct nla_policy spek_prober_feed_open_nl_policy[SPEK_PROBER_A_FEED_RAIL + 1] = {
	[SPEK_PROBER_A_FEED_NAME] = { .type = NLA_NUL_STRING, .len = 31 },
	[SPEK_PROBER_A_FEED_SOURCE] = { .type = NLA_NUL_STRING, .len = 31 },
	[SPEK_PROBER_A_FEED_HISTORY] = { .type = NLA_U32 },
	[SPEK_PROBER_A_FEED_MAX_STEP_NS] = { .type = NLA_U64 },
	[SPEK_PROBER_A_FEED_UNCERTAINTY_NS] = { .type = NLA_U64 },
	[SPEK_PROBER_A_FEED_RAIL] = NLA_POLICY_NESTED(spek_prober_rail_nl_policy),
};

/* SPEK_PROBER_CMD_FEED_PUSH */
static const struct nla_policy spek_prober_feed_push_nl_policy[SPEK_PROBER_A_FEED_SAMPLES + 1] = {
	[SPEK_PROBER_A_FEED_ID] = { .type = NLA_U32 },
	[SPEK_PROBER_A_FEED_SAMPLES] = { .type = NLA_BINARY, .len = 49152 },
};

/* SPEK_PROBER_CMD_FEED_MARK */
static const struct nla_policy spek_prober_feed_mark_nl_policy[SPEK_PROBER_A_FEED_UNTIL_NS + 1] = {
	[SPEK_PROBER_A_FEED_ID] = { .type = NLA_U32 },
	[SPEK_PROBER_A_FEED_UNCERTAINTY_NS] = { .type = NLA_U64 },
	[SPEK_PROBER_A_FEED_DRIFT_PPB] = { .type = NLA_S64 },
	[SPEK_PROBER_A_FEED_RESIDUAL_NS] = { .type = NLA_U64 },
	[SPEK_PROBER_A_FEED_OVERFLOWS] = { .type = NLA_U64 },
	[SPEK_PROBER_A_FEED_LOST] = { .type = NLA_U64 },
	[SPEK_PROBER_A_FEED_UNTIL_NS] = { .type = NLA_U64 },
};

/* SPEK_PROBER_CMD_FEED_CLOSE */
static const struct nla_policy spek_prober_feed_close_nl_policy[SPEK_PROBER_A_FEED_ID + 1] = {
	[SPEK_PROBER_A_FEED_ID] = { .type = NLA_U32 },
};

/* SPEK_PROBER_CMD_FEED_GET */
static const struct nla_policy spek_prober_feed_get_nl_policy[SPEK_PROBER_A_FEED_ID + 1] = {
	[SPEK_PROBER_A_FEED_ID] = { .type = NLA_U32 },
};

/* SPEK_PROBER_CMD_ENERGY_GET */
static const struct nla_policy
spek_prober_energy_get_nl_policy[SPEK_PROBER_A_ENERGY_INTERVALS + 1] = {
	[SPEK_PROBER_A_ENERGY_FEED] = { .type = NLA_U32 },
	[SPEK_PROBER_A_ENERGY_INTERVALS] = { .type = NLA_BINARY, .len = 32768 },
};

static const struct genl_ops spek_prober_nl_ops[] = {
	{
		.cmd		= SPEK_PROBER_CMD_PROBE_START,
		.doit		= spek_prober_nl_probe_start_doit,
		.policy		= spek_prober_probe_start_nl_policy,
		.maxattr	= SPEK_PROBER_A_PROBE_TASK,
	},
	{
		.cmd		= SPEK_PROBER_CMD_PROBE_STOP,
		.doit		= spek_prober_nl_probe_stop_doit,
		.policy		= spek_prober_probe_stop_nl_policy,
		.maxattr	= SPEK_PROBER_A_PROBE_ID,
	},
	{
		.cmd		= SPEK_PROBER_CMD_PROBE_DEL,
		.doit		= spek_prober_nl_probe_del_doit,
		.policy		= spek_prober_probe_del_nl_policy,
		.maxattr	= SPEK_PROBER_A_PROBE_ID,
	},
	{
		.cmd		= SPEK_PROBER_CMD_PROBE_GET,
		.doit		= spek_prober_nl_probe_get_doit,
	},
	{
		.cmd		= SPEK_PROBER_CMD_SAMPLE_GET,
		.dumpit		= spek_prober_nl_sample_get_dumpit,
		.done		= spek_prober_nl_sample_done,
		.policy		= spek_prober_sample_get_nl_policy,
		.maxattr	= SPEK_PROBER_A_SAMPLE_HOLD,
	},
	{
		.cmd		= SPEK_PROBER_CMD_FEED_OPEN,
		.doit		= spek_prober_nl_feed_open_doit,
		.policy		= spek_prober_feed_open_nl_policy,
		.maxattr	= SPEK_PROBER_A_FEED_RAIL,
	},
	{
		.cmd		= SPEK_PROBER_CMD_FEED_PUSH,
		.doit		= spek_prober_nl_feed_push_doit,
		.policy		= spek_prober_feed_push_nl_policy,
		.maxattr	= SPEK_PROBER_A_FEED_SAMPLES,
	},
	{
		.cmd		= SPEK_PROBER_CMD_FEED_MARK,
		.doit		= spek_prober_nl_feed_mark_doit,
		.policy		= spek_prober_feed_mark_nl_policy,
		.maxattr	= SPEK_PROBER_A_FEED_UNTIL_NS,
	},
	{
		.cmd		= SPEK_PROBER_CMD_FEED_CLOSE,
		.doit		= spek_prober_nl_feed_close_doit,
		.policy		= spek_prober_feed_close_nl_policy,
		.maxattr	= SPEK_PROBER_A_FEED_ID,
	},
	{
		.cmd		= SPEK_PROBER_CMD_FEED_GET,
		.dumpit		= spek_prober_nl_feed_get_dumpit,
		.policy		= spek_prober_feed_get_nl_policy,
		.maxattr	= SPEK_PROBER_A_FEED_ID,
	},
	{
		.cmd		= SPEK_PROBER_CMD_ENERGY_GET,
		.dumpit		= spek_prober_nl_energy_get_dumpit,
		.done		= spek_prober_nl_energy_done,
		.policy		= spek_prober_energy_get_nl_policy,
		.maxattr	= SPEK_PROBER_A_ENERGY_INTERVALS,
	},
};

static const struct genl_multicast_group spek_prober_nl_mcgrps[] = {
	[SPEK_PROBER_NLGRP_PROBES] = SPEK_COMPAT_GENL_MCGRP_SYS_ADMIN(SPEK_PROBER_MCGRP_PROBES),
};

struct genl_family spek_prober_nl_family __ro_after_init = {
	.name		= SPEK_PROBER_FAMILY_NAME,
	.version	= SPEK_PROBER_FAMILY_VERSION,
	.netnsok	= false,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.ops		= spek_prober_nl_ops,
	.n_ops		= ARRAY_SIZE(spek_prober_nl_ops),
	.mcgrps		= spek_prober_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(spek_prober_nl_mcgrps),
};
