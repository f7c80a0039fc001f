/* SPDX-License-Identifier: GPL-2.0 */
/* netlink_feed.h - what dumps about feeds share */
#ifndef SPEK_PROBER_NETLINK_FEED_H
#define SPEK_PROBER_NETLINK_FEED_H

struct netlink_callback;
struct nlattr;
struct spek_feed_cursor;

int spek_prober_netlink_begin_walk(struct netlink_callback *cb, const struct nlattr *attr,
				   struct spek_feed_cursor *cursor);

#endif
