// SPDX-License-Identifier: GPL-2.0
/* generated from kmod/drive/uapi/spek_drive.yaml, run `make gen` */

#include <net/genetlink.h>

#include "../../compat/compat.h"
#include "../uapi/spek_drive.h"
#include "netlink_gen.h"

static struct netlink_range_validation spek_drive_drive_max_fall_ppm_range = {
	.min	= 0,
	.max	= 1000000ULL,
};

static struct netlink_range_validation spek_drive_drive_block_pages_range = {
	.min	= 1ULL,
	.max	= 32768ULL,
};

static struct netlink_range_validation spek_drive_drive_spin_ns_range = {
	.min	= 0,
	.max	= 200000ULL,
};

static struct netlink_range_validation spek_drive_drive_atomic_sectors_range = {
	.min	= 0,
	.max	= 32768ULL,
};

static const struct nla_policy
spek_drive_condition_power_nl_policy[SPEK_DRIVE_A_CONDITION_POWER_UW_V12 + 1] = {
	[SPEK_DRIVE_A_CONDITION_POWER_CONDITION] = NLA_POLICY_MAX(NLA_U32, 5),
	[SPEK_DRIVE_A_CONDITION_POWER_UW_V5] = { .type = NLA_U32 },
	[SPEK_DRIVE_A_CONDITION_POWER_UW_V12] = { .type = NLA_U32 },
};

static const struct nla_policy spek_drive_fault_nl_policy[SPEK_DRIVE_A_FAULT_DELAY_NS + 1] = {
	[SPEK_DRIVE_A_FAULT_KIND] = NLA_POLICY_MAX(NLA_U32, 9),
	[SPEK_DRIVE_A_FAULT_LBA] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_FAULT_SECTORS] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_FAULT_NUMBER] = { .type = NLA_U32 },
	[SPEK_DRIVE_A_FAULT_DELAY_NS] = { .type = NLA_U64 },
};

/* SPEK_DRIVE_CMD_DRIVE_NEW */
static const struct nla_policy
spek_drive_drive_new_nl_policy[SPEK_DRIVE_A_DRIVE_ATOMIC_SECTORS + 1] = {
	[SPEK_DRIVE_A_DRIVE_NAME] = { .type = NLA_NUL_STRING, .len = 31 },
	[SPEK_DRIVE_A_DRIVE_VENDOR] = { .type = NLA_NUL_STRING, .len = 8 },
	[SPEK_DRIVE_A_DRIVE_PRODUCT] = { .type = NLA_NUL_STRING, .len = 16 },
	[SPEK_DRIVE_A_DRIVE_REVISION] = { .type = NLA_NUL_STRING, .len = 4 },
	[SPEK_DRIVE_A_DRIVE_SERIAL] = { .type = NLA_NUL_STRING, .len = 20 },
	[SPEK_DRIVE_A_DRIVE_LAYOUT] = NLA_POLICY_MAX(NLA_U32, 2),
	[SPEK_DRIVE_A_DRIVE_HEADS] = { .type = NLA_U32 },
	[SPEK_DRIVE_A_DRIVE_BAND_CYLINDERS] = { .type = NLA_U32 },
	[SPEK_DRIVE_A_DRIVE_SURFACES] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPEK_DRIVE_A_DRIVE_STACKS] = NLA_POLICY_RANGE(NLA_U32, 1, 8),
	[SPEK_DRIVE_A_DRIVE_SECTORS] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_ZONES] = { .type = NLA_BINARY, .len = 8192 },
	[SPEK_DRIVE_A_DRIVE_SEEK_POINTS] = { .type = NLA_BINARY, .len = 32768 },
	[SPEK_DRIVE_A_DRIVE_MAX_FALL_PPM] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &spek_drive_drive_max_fall_ppm_range),
	[SPEK_DRIVE_A_DRIVE_PERIOD_PS] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_PHASE] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_HEAD_SWITCH_NS] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_SETTLE_NS] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_OVERHEAD_NS] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_SEEK_SCALE] = NLA_POLICY_MAX(NLA_U32, 256),
	[SPEK_DRIVE_A_DRIVE_ROTATION_SCALE] = NLA_POLICY_MAX(NLA_U32, 256),
	[SPEK_DRIVE_A_DRIVE_ARMS] = NLA_POLICY_RANGE(NLA_U32, 1, 8),
	[SPEK_DRIVE_A_DRIVE_CHANNELS] = NLA_POLICY_RANGE(NLA_U32, 1, 8),
	[SPEK_DRIVE_A_DRIVE_MOVING] = NLA_POLICY_RANGE(NLA_U32, 1, 8),
	[SPEK_DRIVE_A_DRIVE_ZERO_LATENCY] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_DRIVE_A_DRIVE_HEADS_PER_SURFACE] = NLA_POLICY_RANGE(NLA_U32, 1, 4),
	[SPEK_DRIVE_A_DRIVE_HEAD_ANGLES] = { .type = NLA_BINARY, .len = 32 },
	[SPEK_DRIVE_A_DRIVE_SPLIT] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_DRIVE_A_DRIVE_ARM_ANGLES] = { .type = NLA_BINARY, .len = 64 },
	[SPEK_DRIVE_A_DRIVE_POLICY] = NLA_POLICY_MAX(NLA_U32, 3),
	[SPEK_DRIVE_A_DRIVE_WINDOW] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPEK_DRIVE_A_DRIVE_MAX_WAIT_NS] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_CACHE_SEGMENTS] = NLA_POLICY_MAX(NLA_U32, 64),
	[SPEK_DRIVE_A_DRIVE_SEGMENT_SECTORS] = { .type = NLA_U32 },
	[SPEK_DRIVE_A_DRIVE_AHEAD_SECTORS] = { .type = NLA_U32 },
	[SPEK_DRIVE_A_DRIVE_WRITE_CACHE_SECTORS] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_HIT_NS] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_SECTOR_PS] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_QUEUE_DEPTH] = NLA_POLICY_RANGE(NLA_U32, 1, 256),
	[SPEK_DRIVE_A_DRIVE_CONDITION_POWER] =
		NLA_POLICY_NESTED(spek_drive_condition_power_nl_policy),
	[SPEK_DRIVE_A_DRIVE_HOLD_UW] = { .type = NLA_U32 },
	[SPEK_DRIVE_A_DRIVE_SEEK_UW] = { .type = NLA_U32 },
	[SPEK_DRIVE_A_DRIVE_ROTATE_UW] = { .type = NLA_U32 },
	[SPEK_DRIVE_A_DRIVE_READ_UW] = { .type = NLA_U32 },
	[SPEK_DRIVE_A_DRIVE_WRITE_UW] = { .type = NLA_U32 },
	[SPEK_DRIVE_A_DRIVE_STARTING_NS] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_STOPPING_NS] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_STORE] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_DRIVE_A_DRIVE_FIXED_ATA_SENSE] = NLA_POLICY_MAX(NLA_U32, 1),
	[SPEK_DRIVE_A_DRIVE_STORE_BYTES] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_FLASH_CHANNELS] = NLA_POLICY_RANGE(NLA_U32, 1, 32),
	[SPEK_DRIVE_A_DRIVE_PAGE_SECTORS] = NLA_POLICY_RANGE(NLA_U32, 1, 256),
	[SPEK_DRIVE_A_DRIVE_BLOCK_PAGES] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &spek_drive_drive_block_pages_range),
	[SPEK_DRIVE_A_DRIVE_BLOCKS] = { .type = NLA_U32 },
	[SPEK_DRIVE_A_DRIVE_LOW_BLOCKS] = NLA_POLICY_MIN(NLA_U32, 2),
	[SPEK_DRIVE_A_DRIVE_PAGE_READ_NS] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_PAGE_PROGRAM_NS] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_BLOCK_ERASE_NS] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_CHANNEL_SECTOR_PS] = { .type = NLA_U64 },
	[SPEK_DRIVE_A_DRIVE_ERASE_UW] = { .type = NLA_U32 },
	[SPEK_DRIVE_A_DRIVE_SPIN_NS] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &spek_drive_drive_spin_ns_range),
	[SPEK_DRIVE_A_DRIVE_ATOMIC_SECTORS] =
		NLA_POLICY_FULL_RANGE(NLA_U32, &spek_drive_drive_atomic_sectors_range),
};

/* SPEK_DRIVE_CMD_DRIVE_GET */
static const struct nla_policy spek_drive_drive_get_nl_policy[SPEK_DRIVE_A_DRIVE_ID + 1] = {
	[SPEK_DRIVE_A_DRIVE_ID] = { .type = NLA_U32 },
};

/* SPEK_DRIVE_CMD_DRIVE_DEL */
static const struct nla_policy spek_drive_drive_del_nl_policy[SPEK_DRIVE_A_DRIVE_ID + 1] = {
	[SPEK_DRIVE_A_DRIVE_ID] = { .type = NLA_U32 },
};

/* SPEK_DRIVE_CMD_DRIVE_STATS */
static const struct nla_policy spek_drive_drive_stats_nl_policy[SPEK_DRIVE_A_STATS_ID + 1] = {
	[SPEK_DRIVE_A_STATS_ID] = { .type = NLA_U32 },
};

/* SPEK_DRIVE_CMD_DRIVE_SET */
static const struct nla_policy
spek_drive_drive_set_nl_policy[SPEK_DRIVE_A_DRIVE_CLEAR_FAULTS + 1] = {
	[SPEK_DRIVE_A_DRIVE_ID] = { .type = NLA_U32 },
	[SPEK_DRIVE_A_DRIVE_FAULT] = NLA_POLICY_NESTED(spek_drive_fault_nl_policy),
	[SPEK_DRIVE_A_DRIVE_CLEAR_FAULTS] = NLA_POLICY_MAX(NLA_U32, 1),
};

static const struct genl_ops spek_drive_nl_ops[] = {
	{
		.cmd		= SPEK_DRIVE_CMD_DRIVE_NEW,
		.doit		= spek_drive_nl_drive_new_doit,
		.policy		= spek_drive_drive_new_nl_policy,
		.maxattr	= SPEK_DRIVE_A_DRIVE_ATOMIC_SECTORS,
	},
	{
		.cmd		= SPEK_DRIVE_CMD_DRIVE_GET,
		.doit		= spek_drive_nl_drive_get_doit,
		.start		= spek_drive_nl_drive_get_start,
		.dumpit		= spek_drive_nl_drive_get_dumpit,
		.policy		= spek_drive_drive_get_nl_policy,
		.maxattr	= SPEK_DRIVE_A_DRIVE_ID,
	},
	{
		.cmd		= SPEK_DRIVE_CMD_DRIVE_DEL,
		.doit		= spek_drive_nl_drive_del_doit,
		.policy		= spek_drive_drive_del_nl_policy,
		.maxattr	= SPEK_DRIVE_A_DRIVE_ID,
	},
	{
		.cmd		= SPEK_DRIVE_CMD_DRIVE_STATS,
		.doit		= spek_drive_nl_drive_stats_doit,
		.policy		= spek_drive_drive_stats_nl_policy,
		.maxattr	= SPEK_DRIVE_A_STATS_ID,
	},
	{
		.cmd		= SPEK_DRIVE_CMD_DRIVE_SET,
		.doit		= spek_drive_nl_drive_set_doit,
		.policy		= spek_drive_drive_set_nl_policy,
		.maxattr	= SPEK_DRIVE_A_DRIVE_CLEAR_FAULTS,
	},
};

static const struct genl_multicast_group spek_drive_nl_mcgrps[] = {
	[SPEK_DRIVE_NLGRP_DRIVES] = SPEK_COMPAT_GENL_MCGRP_SYS_ADMIN(SPEK_DRIVE_MCGRP_DRIVES),
};

struct genl_family spek_drive_nl_family __ro_after_init = {
	.name		= SPEK_DRIVE_FAMILY_NAME,
	.version	= SPEK_DRIVE_FAMILY_VERSION,
	.netnsok	= false,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.ops		= spek_drive_nl_ops,
	.n_ops		= ARRAY_SIZE(spek_drive_nl_ops),
	.mcgrps		= spek_drive_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(spek_drive_nl_mcgrps),
};
