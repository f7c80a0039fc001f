/* SPDX-License-Identifier: GPL-2.0 */
/* The spek_prober family and what its files share. */
#ifndef SPEK_PROBER_NETLINK_H
#define SPEK_PROBER_NETLINK_H

#include "../kmod/genl/dump.h"
#include "../kmod/genl/family.h"
#include "../kmod/genl/put.h"
#include "../kmod/genl/refuse.h"

struct spek_feed_cursor;
struct spek_probe_listener;

/* netlink.c */
extern struct spek_genl spek_prober_genl;

/* netlink_probe.c */
extern const struct spek_probe_listener spek_prober_netlink_listener;

/* netlink_feed.c */
void spek_prober_netlink_feed_ended(u32 portid);
int spek_prober_netlink_begin_walk(struct netlink_callback *cb, const struct nlattr *attr,
				   struct spek_feed_cursor *cursor);

#endif
