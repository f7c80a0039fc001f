// SPDX-License-Identifier: GPL-2.0
/*
 * claim-new, claim-get, claim-del and claim-ntf: claims over netlink.
 *
 * A handler checks rights and attributes, makes one call down and answers. See claim.c.
 */
#include <linux/err.h>
#include "../genl/put.h"
#include "claim.h"
#include "gen/request_gen.h"
#include "netlink.h"

static struct spek_claim *get_claim(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	struct spek_claim *claim;

	if (!attr)
		return ERR_PTR(spek_genl_refuse(extack, NULL, -EINVAL,
						"The request needs the number of a claim."));
	claim = spek_claim_get(nla_get_u32(attr));
	if (!claim)
		return ERR_PTR(spek_genl_refuse(extack, attr, -ENOENT,
						"There is no claim with this number."));
	return claim;
}

/* ---- claim-get ---- */

/* Return: upper bound of the bytes that put_claim() puts */
static size_t claim_bytes(const void *object)
{
	const struct spek_claim *claim = object;

	return SPEK_NL_CLAIM_BYTES + claim->nr_devices * nla_total_size(SPEK_NL_TARGET_BYTES);
}

static int put_claimed(struct sk_buff *skb, struct spek_claim *claim, u32 index, bool is_open)
{
	struct nlattr *nest = nla_nest_start(skb, SPEK_A_CLAIM_TARGET);
	const struct spek_claim_device *device = &claim->device[index];
	u32 opens = spek_claim_opens(claim, index);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, SPEK_A_TARGET_MAJOR, MAJOR(device->dev)) ||
	    nla_put_u32(skb, SPEK_A_TARGET_MINOR, MINOR(device->dev)) ||
	    nla_put_u32(skb, SPEK_A_TARGET_READ_ONLY, claim->may_write && !device->may_write))
		return -EMSGSIZE;
	if (is_open && (nla_put_string(skb, SPEK_A_TARGET_NAME, device->name) ||
			SPEK_PUT_U64(skb, SPEK_A_TARGET, DISKSEQ, device->diskseq)))
		return -EMSGSIZE;
	if (opens && nla_put_u32(skb, SPEK_A_TARGET_OPENS, opens))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_failure(struct sk_buff *skb, const struct spek_refusal *failure)
{
	if (nla_put_u32(skb, SPEK_A_CLAIM_FAILURE_ERRNO, -failure->err) ||
	    nla_put_string(skb, SPEK_A_CLAIM_FAILURE, spek_genl_text(failure, failure->err)) ||
	    nla_put_u32(skb, SPEK_A_CLAIM_FAILURE_INDEX, failure->index))
		return -EMSGSIZE;
	return 0;
}

/* What does not depend on who asks. */
static int put_state(struct sk_buff *skb, struct spek_claim *claim)
{
	struct spek_claim_view view;
	u32 i;

	spek_claim_view(claim, &view);
	if (nla_put_u32(skb, SPEK_A_CLAIM_ID, claim->id) ||
	    nla_put_u32(skb, SPEK_A_CLAIM_STATE, view.state) ||
	    nla_put_u32(skb, SPEK_A_CLAIM_WRITE, claim->may_write) ||
	    nla_put_u32(skb, SPEK_A_CLAIM_RUNS, view.nr_runs))
		return -EMSGSIZE;
	if (view.failure.err && put_failure(skb, &view.failure))
		return -EMSGSIZE;
	for (i = 0; i < claim->nr_devices; i++)
		if (put_claimed(skb, claim, i, view.is_open))
			return -EMSGSIZE;
	return 0;
}

/* In the context of the asker. */
static int put_claim(struct sk_buff *skb, void *object)
{
	struct spek_claim *claim = object;

	if (nla_put_u32(skb, SPEK_A_CLAIM_OWNER_PID, spek_claim_owner_pid(claim)))
		return -EMSGSIZE;
	return put_state(skb, claim);
}

/*
 * A notification has many readers, in PID namespaces of their own, and is often sent by a work
 * item: it does not number the owner.
 *
 * Return: message about @claim, or NULL if out of memory
 */
static struct sk_buff *claim_message(struct spek_claim *claim, u32 portid, u32 seq, u8 cmd)
{
	struct sk_buff *msg = genlmsg_new(claim_bytes(claim), GFP_KERNEL);
	int err = -EMSGSIZE;
	void *head;

	if (!msg)
		return NULL;
	head = genlmsg_put(msg, portid, seq, &spek_nl_family, 0, cmd);
	if (head)
		err = cmd == SPEK_CMD_CLAIM_NTF ? put_state(msg, claim) : put_claim(msg, claim);
	if (WARN_ON_ONCE(err)) {
		nlmsg_free(msg);
		return NULL;
	}
	genlmsg_end(msg, head);
	return msg;
}

int spek_nl_claim_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spek_claim *claim;
	struct sk_buff *msg;
	int err;

	err = spek_genl_check_rights(skb, info->extack);
	if (err)
		return err;
	claim = get_claim(info->attrs[SPEK_A_CLAIM_ID], info->extack);
	if (IS_ERR(claim))
		return PTR_ERR(claim);
	msg = claim_message(claim, info->snd_portid, info->snd_seq, SPEK_CMD_CLAIM_GET);
	spek_claim_put(claim);
	if (!msg)
		return spek_genl_refuse(info->extack, NULL, -ENOMEM,
					"There is not enough memory for the answer.");
	return genlmsg_reply(msg, info);
}

static void drop_claim(void *claim)
{
	spek_claim_put(claim);
}

static const struct spek_genl_objects claims = {
	.genl = &spek_netlink,
	.cmd = SPEK_CMD_CLAIM_GET,
	.id_attr = SPEK_A_CLAIM_ID,
	.id_refusal = "A dump returns all claims: leave out the number.",
	.table = &spek_claims,
	.drop = drop_claim,
	.size = claim_bytes,
	.put = put_claim,
};

int spek_nl_claim_get_start(struct netlink_callback *cb)
{
	return spek_genl_dump_all_start(&claims, cb);
}

int spek_nl_claim_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return spek_genl_dump_all(&claims, skb, cb);
}

/* ---- claim-new ---- */

/*
 * The answer is allocated first, so that a failure leaves nothing behind. If it can't be delivered,
 * no client knows the number of the claim, so the claim is deleted.
 */
static int create_and_answer(struct genl_info *info, const struct spek_claim_config *config)
{
	struct spek_refusal refusal = {};
	const struct nlattr *blamed;
	struct spek_claim *claim;
	struct sk_buff *msg;
	void *head;
	u32 id = 0;
	int err;

	spek_genl_own(&spek_netlink, info->snd_portid);
	msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	err = msg ? spek_claim_new(config, info->snd_portid, &id, &refusal) : -ENOMEM;
	if (err) {
		spek_genl_disown(&spek_netlink, info->snd_portid);
		nlmsg_free(msg);
		blamed = refusal.kind == SPEK_REFUSAL_TARGET ?
			spek_genl_nth(info, SPEK_A_CLAIM_TARGET, refusal.index) : NULL;
		return spek_genl_refuse_below(info->extack, blamed, err, &refusal);
	}
	head = genlmsg_put_reply(msg, info, &spek_nl_family, 0, SPEK_CMD_CLAIM_NEW);
	nla_put_u32(msg, SPEK_A_CLAIM_ID, id);
	genlmsg_end(msg, head);
	err = genlmsg_reply(msg, info);
	if (!err)
		return 0;
	claim = spek_claim_get(id);
	if (claim) {
		spek_claim_delete(claim, &refusal);
		spek_claim_put(claim);
	}
	return err;
}

int spek_nl_claim_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spek_claim_config config = {};
	int err;

	err = spek_genl_check_rights(skb, info->extack);
	if (err)
		return err;
	err = spek_genl_parse(info, &spek_claim_request, &config);
	if (err)
		return err;
	err = spek_nl_check_targets(info, SPEK_A_CLAIM_TARGET, config.target, config.nr_targets);
	if (err)
		return err;
	return create_and_answer(info, &config);
}

/* ---- claim-del ---- */

int spek_nl_claim_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spek_refusal refusal = {};
	struct spek_claim *claim;
	int err;

	err = spek_genl_check_rights(skb, info->extack);
	if (err)
		return err;
	claim = get_claim(info->attrs[SPEK_A_CLAIM_ID], info->extack);
	if (IS_ERR(claim))
		return PTR_ERR(claim);
	err = spek_claim_delete(claim, &refusal);
	spek_claim_put(claim);
	if (!err)
		return 0;
	return spek_genl_refuse_below(info->extack, info->attrs[SPEK_A_CLAIM_ID], err, &refusal);
}

/* ---- claim-ntf ---- */

static struct sk_buff *state_message(void *claim)
{
	return claim_message(claim, 0, 0, SPEK_CMD_CLAIM_NTF);
}

static void state_changed(struct spek_claim *claim)
{
	spek_genl_notify(&spek_netlink, SPEK_NLGRP_RUNS, state_message, claim);
}

static void claim_removed(struct spek_claim *claim)
{
	spek_genl_disown(&spek_netlink, claim->owner_portid);
}

const struct spek_claim_listener spek_nl_claim_listener = {
	.state_changed = state_changed,
	.removed = claim_removed,
};
