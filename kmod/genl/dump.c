// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps: their position between two buffers.
 *
 * A dump is a sequence of calls, one for each buffer that userspace reads, with struct
 * spek_genl_dump in between in cb->ctx. The first call of dumpit checks the request, not
 * .start, because kernels before v6.3 lose what .start puts into the extack. A dump holds a
 * reference to its object until spek_genl_dump_done(), which the netlink core calls in every
 * case.
 */
#include <linux/mm.h>
#include <net/genetlink.h>
#include "dump.h"
#include "family.h"
#include "refuse.h"

/**
 * spek_genl_dump_of() - get the position of a dump
 * @cb: dump
 *
 * Return: position, all zero at the start of the dump.
 */
struct spek_genl_dump *spek_genl_dump_of(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct spek_genl_dump) > sizeof(cb->ctx));
	return (struct spek_genl_dump *)cb->ctx;
}

/**
 * spek_genl_dump_head() - begin a message of a dump
 * @genl: family
 * @skb: buffer
 * @cb: dump; with cb->seq set, the message says whether the dump was interrupted
 * @cmd: command of the message
 *
 * Return: the message's header, or NULL without room.
 */
void *spek_genl_dump_head(const struct spek_genl *genl, struct sk_buff *skb,
			  struct netlink_callback *cb, u8 cmd)
{
	void *head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				 genl->family, NLM_F_MULTI, cmd);

	if (head && cb->seq)
		genl_dump_check_consistent(cb, head);
	return head;
}

/**
 * spek_genl_dump_end() - end one call of a dump
 * @skb: buffer
 * @cb: dump
 * @err: result of the last message; -EMSGSIZE if it did not fit
 *
 * A full buffer is sent and the next call continues; a buffer that does not even hold one
 * message is an error.
 *
 * Return: what dumpit returns.
 */
int spek_genl_dump_end(const struct sk_buff *skb, struct netlink_callback *cb, int err)
{
	if (err == -EMSGSIZE && skb->len)
		return skb->len;
	if (err)
		return spek_genl_refuse(cb->extack, NULL, err,
					"The answer doesn't fit into a buffer of the socket.");
	return skb->len;
}

/**
 * spek_genl_dump_done() - release what a dump holds
 * @genl: family
 * @cb: dump; a refused request may have set nothing
 *
 * Return: 0.
 */
int spek_genl_dump_done(const struct spek_genl *genl, struct netlink_callback *cb)
{
	struct spek_genl_dump *dump = spek_genl_dump_of(cb);

	kvfree(dump->memory);
	if (dump->object)
		genl->put(dump->object);
	return 0;
}
