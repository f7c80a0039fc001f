/* SPDX-License-Identifier: GPL-2.0 */
/* generated from prober/uapi/spek_prober.yaml, run `make gen` */

#ifndef _SPEK_PROBER_NETLINK_GEN_H
#define _SPEK_PROBER_NETLINK_GEN_H

#include <net/genetlink.h>

#include "../uapi/spek_prober.h"

int spek_prober_nl_probe_start_doit(struct sk_buff *skb, struct genl_info *info);
int spek_prober_nl_probe_stop_doit(struct sk_buff *skb, struct genl_info *info);
int spek_prober_nl_probe_del_doit(struct sk_buff *skb, struct genl_info *info);
int spek_prober_nl_probe_get_doit(struct sk_buff *skb, struct genl_info *info);
int spek_prober_nl_sample_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spek_prober_nl_sample_done(struct netlink_callback *cb);
int spek_prober_nl_feed_open_doit(struct sk_buff *skb, struct genl_info *info);
int spek_prober_nl_feed_push_doit(struct sk_buff *skb, struct genl_info *info);
int spek_prober_nl_feed_mark_doit(struct sk_buff *skb, struct genl_info *info);
int spek_prober_nl_feed_close_doit(struct sk_buff *skb, struct genl_info *info);
int spek_prober_nl_feed_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spek_prober_nl_energy_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spek_prober_nl_energy_done(struct netlink_callback *cb);

/* Room for one of each attribute of a set, without nests. */
#define SPEK_PROBER_NL_TASK_BYTES ( \
	nla_total_size(4))
#define SPEK_PROBER_NL_SAMPLE_BYTES ( \
	4 * nla_total_size(4) + \
	7 * nla_total_size_64bit(8))
#define SPEK_PROBER_NL_RAIL_BYTES ( \
	nla_total_size(4) + \
	nla_total_size(32) + \
	12 * nla_total_size_64bit(8))

/* index of a multicast group of spek_prober_nl_family */
enum {
	SPEK_PROBER_NLGRP_PROBES,
};

extern struct genl_family spek_prober_nl_family;

#endif /* _SPEK_PROBER_NETLINK_GEN_H */
