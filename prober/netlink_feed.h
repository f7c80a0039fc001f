/* SPDX-License-Identifier: GPL-2.0 */
/* netlink_feed.h - what requests about feeds share */
#ifndef SPEK_PROBER_NETLINK_FEED_H
#define SPEK_PROBER_NETLINK_FEED_H

#include <linux/types.h>

struct netlink_callback;
struct nlattr;

int spek_prober_netlink_check_feed(struct netlink_callback *cb, const struct nlattr *attr,
				   u32 *id);

#endif
