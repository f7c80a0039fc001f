/* SPDX-License-Identifier: GPL-2.0 */
/* The spek_drive netlink family: what its source files and main.c share. */
#ifndef SPEK_DRIVE_NETLINK_H
#define SPEK_DRIVE_NETLINK_H

#include "../genl/dump.h"
#include "../genl/family.h"
#include "../genl/refuse.h"
#include "gen/netlink_gen.h"
#include "gen/request_gen.h"
#include "unit.h"

/* Registered by main.c. */
extern struct spek_genl spek_drive_netlink;

/**
 * spek_drive_nl_groups() - choose attributes of a drive by its kind
 * @description: of the drive
 * @tables: with its long arrays
 *
 * Return: bits of groups that the drive is of.
 */
static inline u32 spek_drive_nl_groups(const struct spek_drive_description *description,
				       bool tables)
{
	return (description->flash_channels ? SPEK_DRIVE_GROUP_FLASH :
					      SPEK_DRIVE_GROUP_PLATTERS) |
	       (tables && !description->flash_channels ? SPEK_DRIVE_GROUP_TABLES : 0);
}

/* netlink.c */
int spek_drive_nl_act(struct sk_buff *skb, struct genl_info *info, u32 attr,
		      int (*act)(struct spek_unit *unit, struct genl_info *info));
int spek_drive_nl_reply(struct sk_buff *msg, struct genl_info *info);
void spek_drive_nl_notify(struct spek_unit *unit);

/* netlink_parse.c */
int spek_drive_nl_parse(struct genl_info *info, struct spek_unit_config *config);

#endif
