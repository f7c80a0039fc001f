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
#include "../compat/compat.h"
#include "dump.h"
#include "family.h"
#include "refuse.h"
#include "table.h"

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

/**
 * spek_genl_dump_all_start() - size the buffers of a dump of all objects, see .start
 * @objects: set
 * @cb: dump
 *
 * A buffer must hold the message of the largest object: the netlink core sizes buffers by
 * min_dump_alloc. An object that appears later and is larger ends the dump with a refusal.
 *
 * Context: process.
 * Return: 0.
 */
int spek_genl_dump_all_start(const struct spek_genl_objects *objects, struct netlink_callback *cb)
{
	void *object;
	u32 id = 0;

	if (spek_genl_check_rights(cb->skb, NULL))
		return 0;	/* the first call of dumpit refuses, with a sentence */
	while ((object = spek_genl_table_get_next(objects->table, &id))) {
		size_t bytes = nlmsg_total_size(GENL_HDRLEN + objects->size(object));

		cb->min_dump_alloc = max_t(size_t, cb->min_dump_alloc, bytes);
		objects->drop(object);
		id++;
	}
	return 0;
}

static int put_object(const struct spek_genl_objects *objects, struct sk_buff *skb,
		      struct netlink_callback *cb, void *object)
{
	void *head = spek_genl_dump_head(objects->genl, skb, cb, objects->cmd);

	if (!head)
		return -EMSGSIZE;
	if (objects->put(skb, object)) {
		genlmsg_cancel(skb, head);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return 0;
}

/**
 * spek_genl_dump_all() - dump all objects, one message each; see .dumpit
 * @objects: set
 * @skb: buffer
 * @cb: dump
 *
 * The dump holds no reference between two buffers: readers see by the generation in cb->seq that
 * the set has changed.
 *
 * Context: process.
 * Return: length of @skb, or a negative errno with the extack filled in.
 */
int spek_genl_dump_all(const struct spek_genl_objects *objects, struct sk_buff *skb,
		       struct netlink_callback *cb)
{
	struct spek_genl_dump *dump = spek_genl_dump_of(cb);
	int err = 0;

	if (!dump->started) {
		const struct nlattr *attr = spek_compat_dump_attrs(cb)[objects->id_attr];

		err = spek_genl_check_rights(cb->skb, cb->extack);
		if (err)
			return err;
		if (attr)
			return spek_genl_refuse(cb->extack, attr, -EINVAL, objects->id_refusal);
		dump->started = true;
	}
	cb->seq = spek_genl_table_generation(objects->table);
	while (!err && dump->next <= U32_MAX) {
		u32 id = dump->next;
		void *object = spek_genl_table_get_next(objects->table, &id);

		if (!object)
			break;
		err = put_object(objects, skb, cb, object);
		if (!err)
			dump->next = (u64)id + 1;
		objects->drop(object);
	}
	return spek_genl_dump_end(skb, cb, err);
}
