// SPDX-License-Identifier: GPL-2.0
/*
 * netlink.c - the spek_prober family: registration, ownership, what handlers share
 *
 * A handler checks rights and attributes, makes one call down and answers. Handlers
 * are in netlink_probe.c, netlink_sample.c, netlink_feed.c and netlink_energy.c.
 */
#include <linux/capability.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <net/net_namespace.h>

#include "feed.h"
#include "gen/netlink_gen.h"
#include "netlink.h"
#include "probe.h"

/* A probe may end and be announced while the family comes or goes. */
static DEFINE_MUTEX(family_lock);
static bool family_is_registered;	/* protected by family_lock */

/**
 * spek_prober_refuse() - say why a request is refused
 * @extack: where to, or NULL
 * @attr: attribute to blame, or NULL
 * @err: negative errno
 * @text: one sentence, a constant: what was wrong, then what is allowed
 *
 * Return: @err.
 */
int spek_prober_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr, int err,
		       const char *text)
{
	if (extack) {
		extack->_msg = text;
		extack->bad_attr = attr;
	}

	return err;
}

/**
 * spek_prober_netlink_check_rights() - check that the sender is the machine's administrator
 * @skb: request
 * @extack: filled with a sentence if not
 *
 * The admin-perm flag of an operation would ask for CAP_NET_ADMIN, which is not
 * enough, and refuse without a sentence.
 *
 * Return: 0 or -EPERM.
 */
int spek_prober_netlink_check_rights(const struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;

	return spek_prober_refuse(extack, NULL, -EPERM,
			"This needs CAP_SYS_ADMIN in the initial user namespace: be root.");
}

/**
 * spek_prober_netlink_begin_dump_message() - begin one message of a dump
 * @skb: where to
 * @cb: dump
 * @command: command of the message
 *
 * Return: header for genlmsg_end() or genlmsg_cancel(), or NULL if there is no room.
 */
void *spek_prober_netlink_begin_dump_message(struct sk_buff *skb, struct netlink_callback *cb,
					     u8 command)
{
	void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   &spek_prober_nl_family, NLM_F_MULTI, command);

	if (header)
		genl_dump_check_consistent(cb, header);

	return header;
}

/**
 * spek_prober_netlink_begin_multicast() - keep the family registered for a notification
 * @group: multicast group
 *
 * Context: process, without the probe lock. Always followed by
 *	spek_prober_netlink_end_multicast().
 * Return: true if the family is registered and somebody listens.
 */
bool spek_prober_netlink_begin_multicast(unsigned int group)
{
	mutex_lock(&family_lock);

	return family_is_registered &&
	       genl_has_listeners(&spek_prober_nl_family, &init_net, group);
}

/** spek_prober_netlink_end_multicast() - undo spek_prober_netlink_begin_multicast() */
void spek_prober_netlink_end_multicast(void)
{
	mutex_unlock(&family_lock);
}

static int socket_closed(struct notifier_block *block, unsigned long event, void *data)
{
	const struct netlink_notify *notify = data;

	if (event == NETLINK_URELEASE && notify->protocol == NETLINK_GENERIC &&
	    net_eq(notify->net, &init_net)) {
		spek_probe_owner_gone(notify->portid);
		spek_feed_owner_gone(notify->portid);
	}

	return NOTIFY_DONE;
}

static struct notifier_block socket_notifier = {
	.notifier_call = socket_closed,
};

/**
 * spek_prober_netlink_init() - register the family; requests come from now on
 *
 * Return: 0 or a negative errno.
 */
int __init spek_prober_netlink_init(void)
{
	int err;

	err = netlink_register_notifier(&socket_notifier);
	if (err)
		return err;

	/* not under family_lock, which handlers take under genetlink's own */
	err = genl_register_family(&spek_prober_nl_family);
	if (err) {
		netlink_unregister_notifier(&socket_notifier);
		return err;
	}
	mutex_lock(&family_lock);
	family_is_registered = true;
	mutex_unlock(&family_lock);

	return 0;
}

/**
 * spek_prober_netlink_exit() - unregister the family
 *
 * No request, notification or closed socket is seen after this returns.
 */
void spek_prober_netlink_exit(void)
{
	mutex_lock(&family_lock);
	family_is_registered = false;
	mutex_unlock(&family_lock);

	genl_unregister_family(&spek_prober_nl_family);
	netlink_unregister_notifier(&socket_notifier);
}
