/* SPDX-License-Identifier: GPL-2.0 */
/* The spek_drive netlink family: what its source files and main.c share. */
#ifndef SPEK_DRIVE_NETLINK_H
#define SPEK_DRIVE_NETLINK_H

#include "../genl/dump.h"
#include "../genl/family.h"
#include "../genl/refuse.h"
#include "gen/netlink_gen.h"
#include "unit.h"

/* Registered by main.c. */
extern struct spek_genl spek_drive_netlink;

/* netlink.c */
int spek_drive_nl_act(struct sk_buff *skb, struct genl_info *info, u32 attr,
		      int (*act)(struct spek_unit *unit, struct genl_info *info));
int spek_drive_nl_reply(struct sk_buff *msg, struct genl_info *info);
void spek_drive_nl_notify(struct spek_unit *unit);

/* netlink_parse.c */
int spek_drive_nl_parse(struct genl_info *info, struct spek_unit_config *config);
int spek_drive_nl_parse_faults(struct genl_info *info, struct spek_drive_faults *faults);

#endif
