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

/* Room for numbers, of which none is longer than 8 bytes, for texts and for angles. */
#define DRIVE_BYTES ( \
	SPEK_DRIVE_A_DRIVE_MAX * nla_total_size_64bit(8) + \
	10 * nla_total_size(32) + nla_total_size(129) + \
	nla_total_size(SPEK_DRIVE_MAX_ANGLES_BYTES) + \
	nla_total_size(SPEK_DRIVE_MAX_HEAD_ANGLES_BYTES))

/* Return: room that put_whole_unit() needs. */
static size_t unit_bytes(const struct spek_unit *unit, bool whole)
{
	const struct spek_drive_mechanics *mechanics = &unit->config->model.mechanics;
	size_t bytes = DRIVE_BYTES +
		       SPEK_DRIVE_CONDITION_NR *
			nla_total_size(SPEK_DRIVE_NL_CONDITION_POWER_BYTES) +
		       SPEK_DRIVE_MAX_FAULTS * nla_total_size(SPEK_DRIVE_NL_FAULT_BYTES);

	if (whole)
		bytes += nla_total_size(mechanics->geometry.nr_zones *
					sizeof(struct spek_drive_zone_record)) +
			 nla_total_size(mechanics->seek.nr_points *
					sizeof(struct spek_drive_seek_record));
	return bytes;
}

static int put_zones(struct sk_buff *skb, const struct spek_drive_geometry *geometry)
{
	struct spek_drive_zone_record record = {};
	struct nlattr *array;
	u32 i;

	array = nla_reserve(skb, SPEK_DRIVE_A_DRIVE_ZONES, geometry->nr_zones * sizeof(record));
	if (!array)
		return -EMSGSIZE;
	for (i = 0; i < geometry->nr_zones; i++) {
		const struct spek_drive_zone *zone = &geometry->zones[i];

		record.first_cylinder = zone->first_cylinder;
		record.cylinders = zone->cylinders;
		record.sectors_per_track = zone->spt;
		record.track_skew = zone->track_skew;
		record.cylinder_skew = zone->cylinder_skew;
		memcpy(nla_data(array) + i * sizeof(record), &record, sizeof(record));
	}
	return 0;
}

static int put_seek(struct sk_buff *skb, const struct spek_drive_seek *seek)
{
	struct spek_drive_seek_record record = {};
	struct nlattr *array;
	u32 i;

	array = nla_reserve(skb, SPEK_DRIVE_A_DRIVE_SEEK_POINTS,
			    seek->nr_points * sizeof(record));
	if (!array)
		return -EMSGSIZE;
	for (i = 0; i < seek->nr_points; i++) {
		record.distance = seek->points[i].distance;
		record.ns = seek->points[i].ns;
		memcpy(nla_data(array) + i * sizeof(record), &record, sizeof(record));
	}
	return 0;
}

static int put_flash(struct sk_buff *skb, const struct spek_drive_model *model)
{
	const struct spek_drive_flash_rule *flash = &model->flash;
	const struct spek_genl_u64 values[] = {
		{ SPEK_DRIVE_A_DRIVE_SECTORS, flash->sectors },
		{ SPEK_DRIVE_A_DRIVE_PAGE_READ_NS, flash->read_ns },
		{ SPEK_DRIVE_A_DRIVE_PAGE_PROGRAM_NS, flash->program_ns },
		{ SPEK_DRIVE_A_DRIVE_BLOCK_ERASE_NS, flash->erase_ns },
		{ SPEK_DRIVE_A_DRIVE_CHANNEL_SECTOR_PS, flash->sector_ps },
	};

	if (nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_FLASH_CHANNELS, flash->channels) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_PAGE_SECTORS, flash->page_sectors) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_BLOCK_PAGES, flash->block_pages) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_BLOCKS, flash->blocks) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_LOW_BLOCKS, flash->low_blocks) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_ERASE_UW,
			model->watts.phase[SPEK_DRIVE_ERASE]))
		return -EMSGSIZE;
	return spek_genl_put_u64s(skb, SPEK_DRIVE_A_DRIVE_PAD, values, ARRAY_SIZE(values));
}

static int put_mechanics(struct sk_buff *skb, const struct spek_drive_mechanics *mechanics)
{
	const struct spek_drive_geometry *geometry = &mechanics->geometry;
	const struct spek_genl_u64 values[] = {
		{ SPEK_DRIVE_A_DRIVE_SECTORS, geometry->sectors },
		{ SPEK_DRIVE_A_DRIVE_PERIOD_PS, mechanics->rotation.period_ps },
		{ SPEK_DRIVE_A_DRIVE_PHASE, mechanics->rotation.phase },
		{ SPEK_DRIVE_A_DRIVE_HEAD_SWITCH_NS, mechanics->head_switch_ns },
		{ SPEK_DRIVE_A_DRIVE_SETTLE_NS, mechanics->settle_ns },
		{ SPEK_DRIVE_A_DRIVE_OVERHEAD_NS, mechanics->overhead_ns },
	};

	if (nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_LAYOUT, geometry->layout) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_HEADS, geometry->heads) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_BAND_CYLINDERS, geometry->band_cylinders) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_SURFACES, geometry->surfaces) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_STACKS, geometry->stacks) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_MAX_FALL_PPM, mechanics->max_fall_ppm) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_SEEK_SCALE, mechanics->seek_scale) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_ROTATION_SCALE, mechanics->rotation_scale) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_ARMS, mechanics->nr_arms) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_CHANNELS, mechanics->channels) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_MOVING, mechanics->moving) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_ZERO_LATENCY, mechanics->zero_latency) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_HEADS_PER_SURFACE,
			mechanics->heads_per_surface) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_SPLIT, mechanics->split) ||
	    nla_put(skb, SPEK_DRIVE_A_DRIVE_HEAD_ANGLES,
		    mechanics->heads_per_surface * sizeof(u64), mechanics->head_angle) ||
	    nla_put(skb, SPEK_DRIVE_A_DRIVE_ARM_ANGLES, mechanics->nr_arms * sizeof(u64),
		    mechanics->arm_angle))
		return -EMSGSIZE;
	return spek_genl_put_u64s(skb, SPEK_DRIVE_A_DRIVE_PAD, values, ARRAY_SIZE(values));
}

static int put_watts(struct sk_buff *skb, const struct spek_drive_watts *watts)
{
	u32 i;

	for (i = 0; i < SPEK_DRIVE_CONDITION_NR; i++) {
		struct nlattr *nest = nla_nest_start(skb, SPEK_DRIVE_A_DRIVE_CONDITION_POWER);

		if (!nest || nla_put_u32(skb, SPEK_DRIVE_A_CONDITION_POWER_CONDITION, i) ||
		    nla_put_u32(skb, SPEK_DRIVE_A_CONDITION_POWER_UW_V5,
				watts->base[i][SPEK_DRIVE_5V]) ||
		    nla_put_u32(skb, SPEK_DRIVE_A_CONDITION_POWER_UW_V12,
				watts->base[i][SPEK_DRIVE_12V]))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	if (nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_HOLD_UW, watts->hold) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_SEEK_UW, watts->phase[SPEK_DRIVE_SEEK]) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_ROTATE_UW, watts->phase[SPEK_DRIVE_ROTATE]) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_READ_UW, watts->phase[SPEK_DRIVE_READ]) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_WRITE_UW, watts->phase[SPEK_DRIVE_WRITE]) ||
	    SPEK_PUT_U64(skb, SPEK_DRIVE_A_DRIVE, STARTING_NS, watts->starting_ns) ||
	    SPEK_PUT_U64(skb, SPEK_DRIVE_A_DRIVE, STOPPING_NS, watts->stopping_ns))
		return -EMSGSIZE;
	return 0;
}

static int put_cache(struct sk_buff *skb, const struct spek_drive_cache_rule *cache)
{
	if (nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_CACHE_SEGMENTS, cache->segments) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_SEGMENT_SECTORS, cache->segment_sectors) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_AHEAD_SECTORS, cache->ahead_sectors) ||
	    SPEK_PUT_U64(skb, SPEK_DRIVE_A_DRIVE, WRITE_CACHE_SECTORS, cache->write_sectors) ||
	    SPEK_PUT_U64(skb, SPEK_DRIVE_A_DRIVE, HIT_NS, cache->hit_ns) ||
	    SPEK_PUT_U64(skb, SPEK_DRIVE_A_DRIVE, SECTOR_PS, cache->sector_ps))
		return -EMSGSIZE;
	return 0;
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

/* INQUIRY data without its padding. */
static int put_padded(struct sk_buff *skb, int attr, const char *text, size_t bytes)
{
	char copy[17] = {};

	while (bytes && text[bytes - 1] == ' ')
		bytes--;
	memcpy(copy, text, bytes);
	return nla_put_string(skb, attr, copy);
}

static int put_identity(struct sk_buff *skb, const struct spek_unit *unit)
{
	const struct spek_scsi_unit *scsi = &unit->scsi;

	if (nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_ID, unit->id) ||
	    nla_put_string(skb, SPEK_DRIVE_A_DRIVE_NAME, unit->config->name) ||
	    put_padded(skb, SPEK_DRIVE_A_DRIVE_VENDOR, scsi->vendor, sizeof(scsi->vendor)) ||
	    put_padded(skb, SPEK_DRIVE_A_DRIVE_PRODUCT, scsi->product, sizeof(scsi->product)) ||
	    put_padded(skb, SPEK_DRIVE_A_DRIVE_REVISION, scsi->revision,
		       sizeof(scsi->revision)) ||
	    nla_put_string(skb, SPEK_DRIVE_A_DRIVE_SERIAL, scsi->serial) ||
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
	const struct spek_unit_config *config = unit->config;
	const struct spek_drive_model *model = &config->model;
	u64 stored = (u64)atomic_long_read(&unit->store.nr_pages) << PAGE_SHIFT;
	struct spek_unit_view view;

	spek_unit_view(unit, &view);
	if (put_identity(skb, unit) || put_view(skb, &view) ||
	    (model->flash.channels ? put_flash(skb, model) :
				     put_mechanics(skb, &model->mechanics)) ||
	    put_watts(skb, &model->watts) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_POLICY, model->rule.policy) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_WINDOW, model->rule.window) ||
	    SPEK_PUT_U64(skb, SPEK_DRIVE_A_DRIVE, MAX_WAIT_NS, model->rule.max_wait_ns) ||
	    put_cache(skb, &model->cache) || put_faults(skb, unit) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_QUEUE_DEPTH, model->queue_depth) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_SPIN_NS, config->spin_ns) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_STORE, config->store) ||
	    nla_put_u32(skb, SPEK_DRIVE_A_DRIVE_FIXED_ATA_SENSE, config->fixed_ata_sense) ||
	    SPEK_PUT_U64(skb, SPEK_DRIVE_A_DRIVE, STORE_BYTES, config->store_bytes) ||
	    SPEK_PUT_U64(skb, SPEK_DRIVE_A_DRIVE, STORED_BYTES, stored))
		return -EMSGSIZE;
	if (whole && !model->flash.channels &&
	    (put_zones(skb, &model->mechanics.geometry) ||
	     put_seek(skb, &model->mechanics.seek)))
		return -EMSGSIZE;
	return 0;
}

/* Return: a whole message about @unit, or NULL without memory. */
static struct sk_buff *unit_message(struct spek_unit *unit, u32 portid, u32 seq, u8 cmd,
				    bool whole)
{
	struct sk_buff *msg = genlmsg_new(unit_bytes(unit, whole), GFP_KERNEL);
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
	return unit_bytes(unit, false);
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

static int set_faults(struct spek_unit *unit, struct genl_info *info)
{
	const struct nlattr *clear = info->attrs[SPEK_DRIVE_A_DRIVE_CLEAR_FAULTS];
	struct spek_drive_faults *faults = kvzalloc(2 * sizeof(*faults), GFP_KERNEL);
	struct spek_refusal refusal = {};
	int err;

	if (!faults)
		return spek_genl_refuse(info->extack, NULL, -ENOMEM,
					"There is not enough memory for the faults.");
	err = spek_drive_nl_parse_faults(info, faults);
	if (!err) {
		err = spek_unit_set_faults(unit, clear && nla_get_u32(clear), faults, faults + 1,
					   &refusal);
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
