// SPDX-License-Identifier: GPL-2.0
/*
 * The spek_drive netlink family.
 *
 * A handler checks rights and attributes, makes one call down and answers. Handlers run
 * concurrently; what they share has locks of its own, see unit.c.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include "../compat/compat.h"
#include "../genl/put.h"
#include "faults.h"
#include "netlink.h"

static void owner_gone(u32 portid)
{
	/* Drives belong to nobody: spek_genl_own() is never called. */
}

static void put_unit(void *object)
{
	spek_unit_put(object);
}

struct spek_genl spek_drive_netlink =
	SPEK_GENL_INIT(spek_drive_netlink, &spek_drive_nl_family, owner_gone, put_unit);

/* Return: the unit with a reference, or an ERR_PTR() with the extack filled in */
static struct spek_unit *find_unit(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	struct spek_unit *unit;

	if (!attr)
		return ERR_PTR(spek_genl_refuse(extack, NULL, -EINVAL,
						"The request needs the number of a drive."));
	unit = spek_unit_get(nla_get_u32(attr));
	if (!unit)
		return ERR_PTR(spek_genl_refuse(extack, attr, -ENOENT,
						"There is no drive with this number."));
	return unit;
}

/* ---- drive-get ---- */

/* Room for numbers, of which none is longer than 8 bytes, and for texts. */
#define STATE_BYTES ( \
	SPEK_DRIVE_A_DRIVE_MAX * nla_total_size_64bit(8) + \
	4 * nla_total_size(32) + nla_total_size(129))

/* Return: room that put_whole_unit() needs. */
static size_t unit_bytes(const struct spek_unit *unit)
{
	return STATE_BYTES +
	       spek_genl_bytes(&spek_drive_description_request, &unit->config->description) +
	       SPEK_DRIVE_MAX_FAULTS * nla_total_size(SPEK_DRIVE_NL_FAULT_BYTES);
}

static int put_faults(struct sk_buff *skb, struct spek_unit *unit)
{
	struct spek_drive_fault fault;
	u32 i;

	/* Each under the lock; one that a write mends meanwhile may be missed, not doubled. */
	for (i = 0; i < SPEK_DRIVE_MAX_FAULTS && spek_unit_fault(unit, i, &fault); i++) {
		struct nlattr *nest = nla_nest_start(skb, SPEK_DRIVE_A_DRIVE_FAULT);

		if (!nest || nla_put_u32(skb, SPEK_DRIVE_A_FAULT_KIND, fault.kind) ||
		    SPEK_PUT_U64(skb, SPEK_DRIVE_A_FAULT, LBA, fault.lba) ||
		    SPEK_PUT_U64(skb, SPEK_DRIVE_A_FAULT, SECTORS, fault.sectors) ||
		    nla_put_u32(skb, SPEK_DRIVE_A_FAULT_NUMBER, fault.number) ||
		    SPEK_PUT_U64(skb, SPEK_DRIVE_A_FAULT, DELAY_NS, fault.delay_ns))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int put_identity(struct sk_buff *skb, const struct spek_unit *unit)
{
	if (nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_ID, unit->id) ||
	    nla_put_string(skb, SPEK_DRIVE_A_DRIVE_MODULE_VERSION, THIS_MODULE->version ?: "") ||
	    SPEK_PUT_U64(skb, SPEK_DRIVE_A_DRIVE, CREATED_NS, unit->created_ns))
		return -EMSGSIZE;
	return 0;
}

static int put_view(struct sk_buff *skb, const struct spek_unit_view *view)
{
	if (nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_STATE, view->state) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_CONDITION, view->condition) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_OUTSTANDING, view->held) ||
	    SPEK_PUT_U64(skb, SPEK_DRIVE_A_DRIVE, NOW_NS, view->now_ns))
		return -EMSGSIZE;
	if (view->failure &&
	    (nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_FAILURE_ERRNO, -view->failure_err) ||
	     nla_put_string(skb, SPEK_DRIVE_A_DRIVE_FAILURE, view->failure)))
		return -EMSGSIZE;
	if (view->host >= 0 && nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_HOST, view->host))
		return -EMSGSIZE;
	if (*view->hwmon && nla_put_string(skb, SPEK_DRIVE_A_DRIVE_HWMON, view->hwmon))
		return -EMSGSIZE;
	return 0;
}

static int put_whole_unit(struct sk_buff *skb, struct spek_unit *unit, bool whole)
{
	const struct spek_drive_description *description = &unit->config->description;
	u64 stored = (u64)atomic_long_read(&unit->store.nr_pages) << PAGE_SHIFT;
	struct spek_unit_view view;

	spek_unit_view(unit, &view);
	if (put_identity(skb, unit) || put_view(skb, &view) ||
	    spek_genl_put(skb, &spek_drive_description_request, description,
			  spek_drive_nl_groups(description, whole)) ||
	    put_faults(skb, unit) ||
	    SPEK_PUT_U64(skb, SPEK_DRIVE_A_DRIVE, STORED_BYTES, stored))
		return -EMSGSIZE;
	return 0;
}

/* Return: a whole message about @unit, or NULL without memory. */
static struct sk_buff *unit_message(struct spek_unit *unit, u32 portid, u32 seq, u8 cmd,
				    bool whole)
{
	struct sk_buff *msg = genlmsg_new(unit_bytes(unit), GFP_KERNEL);
	void *head;

	if (!msg)
		return NULL;
	head = genlmsg_put(msg, portid, seq, &spek_drive_nl_family, 0, cmd);
	if (WARN_ON_ONCE(!head || put_whole_unit(msg, unit, whole))) {
		nlmsg_free(msg);
		return NULL;
	}
	genlmsg_end(msg, head);
	return msg;
}

/**
 * spek_drive_nl_act() - check rights, and act on the unit that a request names
 * @skb: request
 * @info: of the request
 * @attr: attribute with the number of the unit
 * @act: called with the unit referenced
 *
 * Return: what @act returns, or a negative errno with the extack filled in.
 */
int spek_drive_nl_act(struct sk_buff *skb, struct genl_info *info, u32 attr,
		      int (*act)(struct spek_unit *unit, struct genl_info *info))
{
	struct spek_unit *unit;
	int err;

	err = spek_genl_check_rights(skb, info->extack);
	if (err)
		return err;
	unit = find_unit(info->attrs[attr], info->extack);
	if (IS_ERR(unit))
		return PTR_ERR(unit);
	err = act(unit, info);
	spek_unit_put(unit);
	return err;
}

/**
 * spek_drive_nl_reply() - send the answer to a request
 * @msg: answer; NULL if there was no memory for it
 * @info: of the request
 *
 * Return: 0, or a negative errno with the extack filled in.
 */
int spek_drive_nl_reply(struct sk_buff *msg, struct genl_info *info)
{
	if (!msg)
		return spek_genl_refuse(info->extack, NULL, -ENOMEM,
					"There is not enough memory for the answer.");
	return genlmsg_reply(msg, info);
}

static int reply_unit(struct spek_unit *unit, struct genl_info *info)
{
	return spek_drive_nl_reply(unit_message(unit, info->snd_portid, info->snd_seq,
						SPEK_DRIVE_CMD_DRIVE_GET, true), info);
}

int spek_drive_nl_drive_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return spek_drive_nl_act(skb, info, SPEK_DRIVE_A_DRIVE_ID, reply_unit);
}

static size_t summary_bytes(const void *unit)
{
	return unit_bytes(unit);
}

static int put_summary(struct sk_buff *skb, void *unit)
{
	return put_whole_unit(skb, unit, false);
}

static const struct spek_genl_objects units = {
	.genl = &spek_drive_netlink,
	.cmd = SPEK_DRIVE_CMD_DRIVE_GET,
	.id_attr = SPEK_DRIVE_A_DRIVE_ID,
	.id_refusal = "A dump returns all drives: leave out the number.",
	.table = &spek_units,
	.drop = put_unit,
	.size = summary_bytes,
	.put = put_summary,
};

int spek_drive_nl_drive_get_start(struct netlink_callback *cb)
{
	return spek_genl_dump_all_start(&units, cb);
}

int spek_drive_nl_drive_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return spek_genl_dump_all(&units, skb, cb);
}

/* ---- drive-new, drive-del, drive-set ---- */

/* Takes @config over. The answer is made before the drive, so that its failure leaves nothing. */
static int create_and_answer(struct genl_info *info, struct spek_unit_config *config)
{
	struct spek_refusal refusal = {};
	struct spek_unit *unit;
	struct sk_buff *msg;
	void *head;
	u32 id = 0;
	int err;

	msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	err = msg ? spek_unit_new(config, &id, &refusal) : -ENOMEM;
	if (err) {
		const struct nlattr *attr = err == -EEXIST ?
					    info->attrs[SPEK_DRIVE_A_DRIVE_SERIAL] : NULL;

		nlmsg_free(msg);
		spek_unit_config_free(config);
		return spek_genl_refuse(info->extack, attr, err, refusal.text ?:
					"There is not enough memory for the drive.");
	}
	head = genlmsg_put_reply(msg, info, &spek_drive_nl_family, 0, SPEK_DRIVE_CMD_DRIVE_NEW);
	nla_put_u32(msg, SPEK_DRIVE_A_DRIVE_ID, id);
	genlmsg_end(msg, head);
	err = genlmsg_reply(msg, info);
	if (!err)
		return 0;
	/* Nobody knows its number. */
	unit = spek_unit_get(id);
	if (unit) {
		spek_unit_delete(unit, &refusal);
		spek_unit_put(unit);
	}
	return err;
}

int spek_drive_nl_drive_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spek_unit_config *config;
	int err;

	err = spek_genl_check_rights(skb, info->extack);
	if (err)
		return err;
	config = kvzalloc(sizeof(*config), GFP_KERNEL);
	if (!config)
		return spek_genl_refuse(info->extack, NULL, -ENOMEM,
					"There is not enough memory for the model.");
	err = spek_drive_nl_parse(info, config);
	if (err) {
		spek_unit_config_free(config);
		return err;
	}
	return create_and_answer(info, config);
}

static int delete_unit(struct spek_unit *unit, struct genl_info *info)
{
	struct spek_refusal refusal = {};
	int err = spek_unit_delete(unit, &refusal);

	return err ? spek_genl_refuse(info->extack, info->attrs[SPEK_DRIVE_A_DRIVE_ID], err,
				      refusal.text) : 0;
}

int spek_drive_nl_drive_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	return spek_drive_nl_act(skb, info, SPEK_DRIVE_A_DRIVE_ID, delete_unit);
}

/* Both too large for the stack. */
struct new_faults {
	struct spek_drive_change change;
	struct spek_drive_faults scratch;
};

static int set_faults(struct spek_unit *unit, struct genl_info *info)
{
	struct new_faults *faults = kvzalloc(sizeof(*faults), GFP_KERNEL);
	struct spek_refusal refusal = {};
	int err;

	if (!faults)
		return spek_genl_refuse(info->extack, NULL, -ENOMEM,
					"There is not enough memory for the faults.");
	err = spek_genl_parse(info, &spek_drive_change_request, &faults->change);
	if (!err) {
		err = spek_unit_set_faults(unit, &faults->change, &faults->scratch, &refusal);
		if (err)
			spek_genl_refuse(info->extack, info->attrs[SPEK_DRIVE_A_DRIVE_FAULT], err,
					 refusal.text);
	}
	kvfree(faults);
	return err;
}

int spek_drive_nl_drive_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	return spek_drive_nl_act(skb, info, SPEK_DRIVE_A_DRIVE_ID, set_faults);
}

/* ---- drive-ntf ---- */

static struct sk_buff *state_message(void *unit)
{
	return unit_message(unit, 0, 0, SPEK_DRIVE_CMD_DRIVE_NTF, false);
}

/**
 * spek_drive_nl_notify() - announce the state of a drive
 * @unit: unit
 *
 * Given to spek_unit_init().
 *
 * Context: process.
 */
void spek_drive_nl_notify(struct spek_unit *unit)
{
	spek_genl_notify(&spek_drive_netlink, SPEK_DRIVE_NLGRP_DRIVES, state_message, unit);
}
