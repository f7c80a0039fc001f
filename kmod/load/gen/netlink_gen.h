/* SPDX-License-Identifier: GPL-2.0 */
/* generated from kmod/load/uapi/spek.yaml, run `make gen` */

#ifndef _SPEK_NETLINK_GEN_H
#define _SPEK_NETLINK_GEN_H

#include <net/genetlink.h>

#include "../uapi/spek.h"

int spek_nl_run_new_doit(struct sk_buff *skb, struct genl_info *info);
int spek_nl_run_get_doit(struct sk_buff *skb, struct genl_info *info);
int spek_nl_run_get_start(struct netlink_callback *cb);
int spek_nl_run_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spek_nl_dump_done(struct netlink_callback *cb);
int spek_nl_run_start_doit(struct sk_buff *skb, struct genl_info *info);
int spek_nl_run_stop_doit(struct sk_buff *skb, struct genl_info *info);
int spek_nl_run_del_doit(struct sk_buff *skb, struct genl_info *info);
int spek_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spek_nl_interval_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spek_nl_op_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spek_nl_mismatch_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spek_nl_map_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spek_nl_map_set_doit(struct sk_buff *skb, struct genl_info *info);

/* index of a multicast group of spek_nl_family */
enum {
	SPEK_NLGRP_RUNS,
};

extern struct genl_family spek_nl_family;

#endif /* _SPEK_NETLINK_GEN_H */
