// SPDX-License-Identifier: GPL-2.0
/*
 * A module's generic-netlink family: registration, owners, notifications.
 *
 * Objects end and notify while the family is registered and unregistered, so both hold
 * genl->rwsem: readers notify, writers register. It is never held across genl_register_family() or
 * genl_unregister_family(), which wait for handlers.
 *
 * Lock order: locks that a module holds while it notifies > genl->rwsem > locks that it takes to
 * build the message, and the network stack's. Writers hold no other lock.
 *
 * The netlink core calls the notifier at every close of every netlink socket of the machine.
 * A table of counters filters out sockets that own nothing, without a lock: a socket whose
 * counter is zero owns nothing; others may own something.
 */
#include <linux/hash.h>
#include <linux/netlink.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>
#include "family.h"

static atomic_t *owned_by(struct spek_genl *genl, u32 portid)
{
	return &genl->owned[hash_32(portid, SPEK_GENL_OWNER_BITS)];
}

/**
 * spek_genl_own() - add an object to those of a socket
 * @genl: family
 * @portid: socket; open, which a request of its own guarantees
 *
 * Call it before the object can be found by @genl->owner_gone.
 *
 * Context: any.
 */
void spek_genl_own(struct spek_genl *genl, u32 portid)
{
	atomic_inc(owned_by(genl, portid));
}

/**
 * spek_genl_disown() - remove an object from those of a socket
 * @genl: family
 * @portid: as given to spek_genl_own()
 *
 * Context: any.
 */
void spek_genl_disown(struct spek_genl *genl, u32 portid)
{
	atomic_dec(owned_by(genl, portid));
}

static int socket_event(struct notifier_block *block, unsigned long event, void *data)
{
	struct spek_genl *genl = container_of(block, struct spek_genl, notifier);
	const struct netlink_notify *notify = data;

	if (event == NETLINK_URELEASE && notify->protocol == NETLINK_GENERIC &&
	    net_eq(notify->net, &init_net) && atomic_read(owned_by(genl, notify->portid)))
		genl->owner_gone(notify->portid);
	return NOTIFY_DONE;
}

/**
 * spek_genl_register() - open the family for requests
 * @genl: family
 *
 * The last step of loading a module: requests arrive from here on.
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int spek_genl_register(struct spek_genl *genl)
{
	int err;

	/* First the notifier, so that no owner's end is missed. */
	genl->notifier.notifier_call = socket_event;
	err = netlink_register_notifier(&genl->notifier);
	if (err)
		return err;
	err = genl_register_family(genl->family);
	if (err) {
		netlink_unregister_notifier(&genl->notifier);
		return err;
	}
	down_write(&genl->rwsem);
	genl->is_registered = true;
	up_write(&genl->rwsem);
	return 0;
}

/**
 * spek_genl_unregister() - close the family
 * @genl: family
 *
 * The first step of unloading a module: no handler, dump, notification or owner_gone runs
 * after this.
 *
 * Context: process.
 */
void spek_genl_unregister(struct spek_genl *genl)
{
	down_write(&genl->rwsem);
	genl->is_registered = false;
	up_write(&genl->rwsem);
	genl_unregister_family(genl->family);
	netlink_unregister_notifier(&genl->notifier);
}

/**
 * spek_genl_notify() - multicast a message to the listeners of a group
 * @genl: family
 * @group: index of the group within the family
 * @message: build the message, or return NULL without memory; called only if the group has
 *	listeners
 * @object: argument of @message
 *
 * Delivery is not guaranteed.
 *
 * Context: process, may sleep.
 */
void spek_genl_notify(struct spek_genl *genl, unsigned int group,
		      struct sk_buff *(*message)(void *object), void *object)
{
	struct sk_buff *skb;

	down_read(&genl->rwsem);
	if (genl->is_registered && genl_has_listeners(genl->family, &init_net, group)) {
		skb = message(object);
		if (skb)
			genlmsg_multicast(genl->family, skb, 0, group, GFP_KERNEL);
	}
	up_read(&genl->rwsem);
}
