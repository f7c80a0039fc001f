/* SPDX-License-Identifier: GPL-2.0 */
/* netlink.h - the spek_prober family and what its handlers share */
#ifndef SPEK_PROBER_NETLINK_H
#define SPEK_PROBER_NETLINK_H

#include <linux/types.h>

struct netlink_callback;
struct netlink_ext_ack;
struct nlattr;
struct sk_buff;
struct spek_probe_listener;

/* netlink.c */
int spek_prober_netlink_init(void);
void spek_prober_netlink_exit(void);

int spek_prober_netlink_check_rights(const struct sk_buff *skb, struct netlink_ext_ack *extack);
int spek_prober_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr, int err,
		       const char *text);
void *spek_prober_netlink_begin_dump_message(struct sk_buff *skb, struct netlink_callback *cb,
					     u8 command);
bool spek_prober_netlink_begin_multicast(unsigned int group);
void spek_prober_netlink_end_multicast(void);

/* netlink_probe.c */
extern const struct spek_probe_listener spek_prober_netlink_listener;

#endif
