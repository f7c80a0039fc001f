// SPDX-License-Identifier: GPL-2.0
/* Refusing a generic-netlink request: errno, sentence, attribute. */
#include <linux/capability.h>
#include <linux/netlink.h>
#include "../core/refusal.h"
#include "refuse.h"

/**
 * spek_genl_refuse() - refuse a request
 * @extack: extended ack of the request; may be NULL
 * @attr: attribute to blame, or NULL
 * @err: negative errno
 * @text: constant sentence: what was wrong, what is allowed
 *
 * Unlike NL_SET_ERR_MSG_ATTR() it takes sentences that come from lower layers. Values in the
 * text are not possible: NL_SET_ERR_MSG_FMT() loses them on Linux 6.1.
 *
 * Return: @err.
 */
int spek_genl_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr, int err,
		     const char *text)
{
	if (extack) {
		extack->_msg = text;
		extack->bad_attr = attr;
	}
	return err;
}

/**
 * spek_genl_text() - sentence of a refusal
 * @refusal: as a lower layer left it, without a text where the errno was enough for it
 * @err: its errno
 *
 * Return: constant sentence.
 */
const char *spek_genl_text(const struct spek_refusal *refusal, int err)
{
	if (refusal->text)
		return refusal->text;
	return err == -ENOMEM ? "There is not enough memory." : "The kernel refused this.";
}

/**
 * spek_genl_refuse_below() - refuse a request for a reason that a lower layer gave
 * @extack: extended ack of the request; may be NULL
 * @attr: attribute to blame, found from the kind and index of @refusal; or NULL
 * @err: negative errno
 * @refusal: the reason
 *
 * Return: @err.
 */
int spek_genl_refuse_below(struct netlink_ext_ack *extack, const struct nlattr *attr, int err,
			   const struct spek_refusal *refusal)
{
	return spek_genl_refuse(extack, attr, err, spek_genl_text(refusal, err));
}

/**
 * spek_genl_check_rights() - check that the sender of a request may use the family
 * @skb: the request
 * @extack: extended ack of the request; may be NULL
 *
 * The admin-perm flag of an operation asks for CAP_NET_ADMIN only, and refuses without a
 * sentence.
 *
 * Return: 0 or -EPERM.
 */
int spek_genl_check_rights(const struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	return spek_genl_refuse(extack, NULL, -EPERM,
				"This needs CAP_SYS_ADMIN in the initial user namespace: be root.");
}
