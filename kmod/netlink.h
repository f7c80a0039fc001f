/* SPDX-License-Identifier: GPL-2.0 */
/* The spek netlink family: what its three source files and main.c share. */
#ifndef SPEK_NETLINK_H
#define SPEK_NETLINK_H

#include "gen/netlink_gen.h"
#include "run.h"

/**
 * spek_netlink_init() - from now on there are requests; call it last
 *
 * Return: 0 or a negative errno.
 */
int spek_netlink_init(void);
/** spek_netlink_deinit() - no request, dump or notification runs after this; call it first. */
void spek_netlink_deinit(void);

/* netlink.c */

/**
 * spek_nl_refuse() - say no: errno, sentence, attribute
 * @extack: of the request; NULL is fine
 * @attr: to blame, or NULL
 * @err: negative errno
 * @text: constant sentence: what was wrong, what is allowed
 *
 * Unlike NL_SET_ERR_MSG_ATTR() it takes sentences that come from below.
 *
 * Return: @err.
 */
int spek_nl_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr, int err,
		   const char *text);
/** spek_nl_check_rights() - Return: 0, or -EPERM if the sender of @skb may not do anything here. */
int spek_nl_check_rights(const struct sk_buff *skb, struct netlink_ext_ack *extack);
/**
 * spek_nl_get_run() - the run that an attribute names
 * @attr: u32 number of a run; NULL is refused
 * @extack: of the request
 *
 * Return: the run with a reference, or an ERR_PTR() with everything said.
 */
struct spek_run *spek_nl_get_run(const struct nlattr *attr, struct netlink_ext_ack *extack);
/** spek_nl_run_bytes() - Return: room that spek_nl_put_run() needs. */
size_t spek_nl_run_bytes(const struct spek_run *run);
/** spek_nl_put_run() - put everything that is known of a run. Return: 0 or -EMSGSIZE. */
int spek_nl_put_run(struct sk_buff *skb, struct spek_run *run);

/* netlink_parse.c */

/**
 * spek_nl_parse_run() - turn the attributes of run-new into a configuration
 * @info: request
 * @config: zeroed
 *
 * Checks what can be checked without the devices and without knowing what streams
 * mean: required attributes, counts, combinations, indices of targets.
 *
 * Return: 0, or a negative errno with everything said.
 */
int spek_nl_parse_run(struct genl_info *info, struct spek_run_config *config);
/** spek_nl_blame() - Return: attribute of run-new that @refusal is about, or NULL. */
const struct nlattr *spek_nl_blame(const struct genl_info *info,
				   const struct spek_refusal *refusal);

#endif
