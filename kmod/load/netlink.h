/* SPDX-License-Identifier: GPL-2.0 */
/* The spek netlink family: what its source files and main.c share. */
#ifndef SPEK_NETLINK_H
#define SPEK_NETLINK_H

#include "../genl/dump.h"
#include "../genl/family.h"
#include "../genl/refuse.h"
#include "gen/netlink_gen.h"
#include "run.h"

struct spek_claim_listener;
struct spek_run_target;
struct spek_verify;

/* Registered by main.c. */
extern struct spek_genl spek_netlink;

/* netlink.c */
struct spek_run *spek_nl_get_run(const struct nlattr *attr, struct netlink_ext_ack *extack);
int spek_nl_dump_start(struct netlink_callback *cb, struct spek_genl_dump *dump, u32 run_attr);
void spek_nl_put_run(void *run);

/* netlink_run.c: given to spek_run_init() */
extern const struct spek_run_listener spek_nl_run_listener;

/* netlink_claim.c: given to spek_claim_init() */
extern const struct spek_claim_listener spek_nl_claim_listener;

/* netlink_verify.c */
int spek_nl_put_verify(struct sk_buff *skb, struct spek_run *run);
int spek_nl_put_map_target(struct sk_buff *skb, const struct spek_verify *verify, u32 index);

/* netlink_parse.c */
int spek_nl_parse_run(struct genl_info *info, struct spek_run_config *config);
int spek_nl_check_targets(const struct genl_info *info, int type,
			  const struct spek_run_target *targets, u32 nr);
const struct nlattr *spek_nl_blame(const struct genl_info *info,
				   const struct spek_refusal *refusal);

#endif
