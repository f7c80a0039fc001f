/* SPDX-License-Identifier: GPL-2.0 */
/* netlink.h - the prober's end of its netlink family */
#ifndef SPEK_PROBER_NETLINK_H
#define SPEK_PROBER_NETLINK_H

#include <linux/compiler_attributes.h>
#include <linux/types.h>

struct netlink_ext_ack;
struct sk_buff;
struct spek_probe;
struct spek_source;

int spek_netlink_init(void);
void spek_netlink_exit(void);

void spek_netlink_announce(struct spek_probe *probe);

int spek_netlink_check_rights(const struct sk_buff *skb, struct netlink_ext_ack *extack);

/* Does the description of a table fit into an attribute, whose length has 16 bits? */
bool spek_netlink_can_describe(const struct spek_source *source);

__printf(2, 3)
void spek_netlink_refuse(struct netlink_ext_ack *extack, const char *format, ...);

#endif
