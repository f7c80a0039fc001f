/* SPDX-License-Identifier: GPL-2.0 */
/* generated from kmod/drive/uapi/spek_drive.yaml, run `make gen` */

#ifndef _SPEK_DRIVE_NETLINK_GEN_H
#define _SPEK_DRIVE_NETLINK_GEN_H

#include <net/genetlink.h>

#include "../uapi/spek_drive.h"

int spek_drive_nl_drive_new_doit(struct sk_buff *skb, struct genl_info *info);
int spek_drive_nl_drive_get_doit(struct sk_buff *skb, struct genl_info *info);
int spek_drive_nl_drive_get_start(struct netlink_callback *cb);
int spek_drive_nl_drive_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spek_drive_nl_drive_del_doit(struct sk_buff *skb, struct genl_info *info);
int spek_drive_nl_drive_stats_doit(struct sk_buff *skb, struct genl_info *info);
int spek_drive_nl_drive_set_doit(struct sk_buff *skb, struct genl_info *info);

/* Room for one of each attribute of a set, without nests. */
#define SPEK_DRIVE_NL_CONDITION_POWER_BYTES ( \
	3 * nla_total_size(4))
#define SPEK_DRIVE_NL_FAULT_BYTES ( \
	2 * nla_total_size(4) + \
	3 * nla_total_size_64bit(8))
#define SPEK_DRIVE_NL_ENERGY_BYTES ( \
	2 * nla_total_size(4) + \
	2 * nla_total_size_64bit(8))
#define SPEK_DRIVE_NL_CONDITION_STATS_BYTES ( \
	nla_total_size(4) + \
	nla_total_size_64bit(8))
#define SPEK_DRIVE_NL_PHASE_STATS_BYTES ( \
	nla_total_size(4) + \
	2 * nla_total_size_64bit(8))

/* index of a multicast group of spek_drive_nl_family */
enum {
	SPEK_DRIVE_NLGRP_DRIVES,
};

extern struct genl_family spek_drive_nl_family;

#endif /* _SPEK_DRIVE_NETLINK_GEN_H */
