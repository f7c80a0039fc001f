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
int spek_nl_trace_feed_doit(struct sk_buff *skb, struct genl_info *info);
int spek_nl_trace_end_doit(struct sk_buff *skb, struct genl_info *info);
int spek_nl_claim_new_doit(struct sk_buff *skb, struct genl_info *info);
int spek_nl_claim_get_doit(struct sk_buff *skb, struct genl_info *info);
int spek_nl_claim_get_start(struct netlink_callback *cb);
int spek_nl_claim_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spek_nl_claim_del_doit(struct sk_buff *skb, struct genl_info *info);

/* Room for one of each attribute of a set, without nests. */
#define SPEK_NL_RUN_BYTES ( \
	22 * nla_total_size(4) + \
	2 * nla_total_size(64) + \
	24 * nla_total_size_64bit(8) + \
	nla_total_size(128) + \
	nla_total_size(24) + \
	nla_total_size(256))
#define SPEK_NL_WORKER_BYTES ( \
	4 * nla_total_size(4) + \
	5 * nla_total_size_64bit(8))
#define SPEK_NL_TARGET_BYTES ( \
	8 * nla_total_size(4) + \
	nla_total_size(32) + \
	19 * nla_total_size_64bit(8) + \
	nla_total_size(256))
#define SPEK_NL_SENSE_BYTES ( \
	4 * nla_total_size(4) + \
	nla_total_size_64bit(8))
#define SPEK_NL_VERIFY_BYTES ( \
	13 * nla_total_size_64bit(8))
#define SPEK_NL_MISMATCH_BYTES ( \
	13 * nla_total_size(4) + \
	7 * nla_total_size_64bit(8))
#define SPEK_NL_REPLAY_BYTES ( \
	7 * nla_total_size_64bit(8) + \
	nla_total_size(4))
#define SPEK_NL_EXTENT_BYTES ( \
	nla_total_size(4) + \
	nla_total_size_64bit(8))
#define SPEK_NL_ASU_BYTES ( \
	nla_total_size(32) + \
	2 * nla_total_size_64bit(8) + \
	2 * nla_total_size(4))
#define SPEK_NL_ARRIVAL_END_BYTES ( \
	nla_total_size_64bit(8))
#define SPEK_NL_SIZE_BYTES ( \
	2 * nla_total_size(4))
#define SPEK_NL_ERROR_BYTES ( \
	nla_total_size(4) + \
	nla_total_size_64bit(8))
#define SPEK_NL_CELL_BYTES ( \
	nla_total_size(4) + \
	15 * nla_total_size_64bit(8))
#define SPEK_NL_CLAIM_BYTES ( \
	7 * nla_total_size(4) + \
	nla_total_size(256))

/* index of a multicast group of spek_nl_family */
enum {
	SPEK_NLGRP_RUNS,
};

extern struct genl_family spek_nl_family;

#endif /* _SPEK_NETLINK_GEN_H */
