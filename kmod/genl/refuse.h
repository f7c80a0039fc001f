/* SPDX-License-Identifier: GPL-2.0 */
/* Refusing a generic-netlink request: errno, sentence, attribute. */
#ifndef SPEK_GENL_REFUSE_H
#define SPEK_GENL_REFUSE_H

struct netlink_ext_ack;
struct nlattr;
struct sk_buff;
struct spek_refusal;

int spek_genl_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr, int err,
		     const char *text);
const char *spek_genl_text(const struct spek_refusal *refusal, int err);
int spek_genl_refuse_below(struct netlink_ext_ack *extack, const struct nlattr *attr, int err,
			   const struct spek_refusal *refusal);
int spek_genl_check_rights(const struct sk_buff *skb, struct netlink_ext_ack *extack);

#endif
