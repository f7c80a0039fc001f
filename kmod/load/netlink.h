/* SPDX-License-Identifier: GPL-2.0 */
/* The spek netlink family: what its source files and main.c share. */
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

/* netlink_verify.c */

/** spek_nl_put_verify() - put what @run has verified. Return: 0 or -EMSGSIZE. */
int spek_nl_put_verify(struct sk_buff *skb, struct spek_run *run);
/** spek_nl_put_map_target() - put what is known of a target. Return: 0 or -EMSGSIZE. */
int spek_nl_put_map_target(struct sk_buff *skb, const struct spek_verify *verify, u32 index);

/* netlink_dump.c */

/**
 * struct spek_nl_dump - position of a dump in cb->ctx
 * @run: referenced; NULL in a dump of runs
 * @memory: snapshot or generator, kvmalloc'ed; freed at the end
 * @next: what the next message is about: number of a run, interval, operation, item of a snapshot
 * @end: where to stop
 * @first: first bucket that the next message may be about
 * @worker: whose operations
 * @step: within an item: 0 is its counters, then one for each metric
 * @started: the request was checked
 */
struct spek_nl_dump {
	struct spek_run *run;
	void *memory;
	u64 next;
	u64 end;
	u32 first;
	u32 worker;
	u32 step;
	bool started;
};

/** spek_nl_dump_of() - Return: the position of a dump. */
struct spek_nl_dump *spek_nl_dump_of(struct netlink_callback *cb);
/** spek_nl_dump_start() - what every dump of one run begins with; @run_attr names it. */
int spek_nl_dump_start(struct netlink_callback *cb, struct spek_nl_dump *dump, u32 run_attr);
/** spek_nl_dump_head() - Return: head of a message of a dump, or NULL without room. */
void *spek_nl_dump_head(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);
/**
 * spek_nl_dump_end() - the end of a call: @err of the message that was put last
 *
 * A full buffer is sent, and the dump goes on with the next; one in which not even one
 * message fits is an error.
 */
int spek_nl_dump_end(const struct sk_buff *skb, struct netlink_callback *cb, int err);

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
