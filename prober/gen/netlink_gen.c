// SPDX-License-Identifier: GPL-2.0
/* generated from prober/uapi/spek_prober.yaml, run `make gen` */

#include <net/genetlink.h>

#include "../../kmod/compat/compat.h"
#include "../uapi/spek_prober.h"
#include "netlink_gen.h"

static const struct nla_policy spek_prober_task_nl_policy[SPEK_PROBER_A_TASK_PID + 1] = {
	[SPEK_PROBER_A_TASK_PID] = { .type = NLA_U32 },
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
static const struct nla_policy spek_prober_sample_get_nl_policy[SPEK_PROBER_A_SAMPLE_SINCE + 1] = {
	[SPEK_PROBER_A_SAMPLE_PROBE] = { .type = NLA_U32 },
	[SPEK_PROBER_A_SAMPLE_SINCE] = { .type = NLA_U64 },
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
		.maxattr	= SPEK_PROBER_A_SAMPLE_SINCE,
	},
};

static const struct genl_multicast_group spek_prober_nl_mcgrps[] = {
	[SPEK_PROBER_NLGRP_PROBES] = SPEK_COMPAT_GENL_MCGRP_SYS_ADMIN(SPEK_PROBER_MCGRP_PROBES),
};

struct genl_family spek_prober_nl_family __ro_after_init = {
	.name		= SPEK_PROBER_FAMILY_NAME,
	.version	= SPEK_PROBER_FAMILY_VERSION,
	.netnsok	= false,
	.module		= THIS_MODULE,
	.ops		= spek_prober_nl_ops,
	.n_ops		= ARRAY_SIZE(spek_prober_nl_ops),
	.mcgrps		= spek_prober_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(spek_prober_nl_mcgrps),
};
