// SPDX-License-Identifier: GPL-2.0
/*
 * From the attributes of drive-new to a checked model.
 *
 * The tables in gen/request_gen.c, generated from the spec, map attributes to the members of a
 * description, of which core/description.c makes the model. This file checks texts, and that a
 * disk has no attributes of flash.
 */
#include <linux/ctype.h>
#include <linux/mm.h>
#include "netlink.h"

static_assert((int)SPEK_DRIVE_NL_LAYOUT_BANDED == (int)SPEK_DRIVE_BANDED);
static_assert((int)SPEK_DRIVE_NL_POLICY_CLOOK == (int)SPEK_DRIVE_CLOOK);
static_assert((int)SPEK_DRIVE_NL_RAIL_V12 == (int)SPEK_DRIVE_12V);
static_assert((int)SPEK_DRIVE_NL_CONDITION_TO_STOPPED == (int)SPEK_DRIVE_TO_STOPPED);
static_assert((int)SPEK_DRIVE_NL_PHASE_ERASE == (int)SPEK_DRIVE_ERASE);
static_assert((int)SPEK_DRIVE_NL_FAULT_WRITES_TORN == (int)SPEK_DRIVE_FAULT_TORN);
static_assert(sizeof_field(struct spek_drive_description, zones) ==
	      SPEK_DRIVE_MAX_ZONES * sizeof(struct spek_drive_zone_entry));
static_assert(sizeof_field(struct spek_drive_description, seek_points) ==
	      SPEK_DRIVE_MAX_SEEK_POINTS * sizeof(struct spek_drive_seek_entry));
static_assert(sizeof_field(struct spek_drive_description, arm_angles) ==
	      SPEK_DRIVE_MAX_ARMS * sizeof(u64));
static_assert(sizeof_field(struct spek_drive_description, head_angles) ==
	      SPEK_DRIVE_MAX_HEADS_PER_SURFACE * sizeof(u64));

static int check_text(const struct genl_info *info, int attr, const char *text, bool spaces)
{
	for (; *text; text++)
		if (!isascii(*text) || !isprint(*text) || (*text == ' ' && !spaces))
			return spek_genl_refuse(info->extack, info->attrs[attr], -EINVAL, spaces ?
						"This text must be printable ASCII." :
						"This text must be printable ASCII without spaces.");
	return 0;
}

static int check_texts(const struct genl_info *info,
		       const struct spek_drive_description *description)
{
	int err = check_text(info, SPEK_DRIVE_A_DRIVE_VENDOR, description->vendor, true);

	if (!err)
		err = check_text(info, SPEK_DRIVE_A_DRIVE_PRODUCT, description->product, true);
	if (!err)
		err = check_text(info, SPEK_DRIVE_A_DRIVE_REVISION, description->revision, true);
	if (!err)
		err = check_text(info, SPEK_DRIVE_A_DRIVE_SERIAL, description->serial, false);
	return err;
}

static int check_kind(const struct genl_info *info,
		      const struct spek_drive_description *description)
{
	bool is_flash = description->flash_channels;
	const struct nlattr *attr = spek_genl_outside(info, &spek_drive_description_request,
						      spek_drive_nl_groups(description, true));

	if (!attr)
		return 0;
	return spek_genl_refuse(info->extack, attr, -EINVAL, is_flash ?
				"A drive of flash has no platters and arms." :
				"Only a drive with channels of flash has pages and blocks.");
}

static int check_tables(const struct genl_info *info,
			const struct spek_drive_description *description)
{
	if (description->flash_channels)
		return 0;
	if (!description->nr_zones)
		return spek_genl_refuse(info->extack, info->attrs[SPEK_DRIVE_A_DRIVE_ZONES],
					-EINVAL, "A drive needs zones.");
	if (!description->nr_seek_points)
		return spek_genl_refuse(info->extack, info->attrs[SPEK_DRIVE_A_DRIVE_SEEK_POINTS],
					-EINVAL, "A drive needs the points of its seek curve.");
	return 0;
}

static int alloc_tables(struct spek_unit_config *config)
{
	const struct spek_drive_description *description = &config->description;
	struct spek_drive_mechanics *mechanics = &config->model.mechanics;

	if (description->flash_channels)
		return 0;
	mechanics->geometry.zones = kvcalloc(description->nr_zones,
					     sizeof(*mechanics->geometry.zones), GFP_KERNEL);
	mechanics->seek.points = kvcalloc(description->nr_seek_points,
					  sizeof(*mechanics->seek.points), GFP_KERNEL);
	return mechanics->geometry.zones && mechanics->seek.points ? 0 : -ENOMEM;
}

/* Return: the nest about a power condition, or NULL. */
static const struct nlattr *find_condition(const struct genl_info *info, u32 condition)
{
	const struct nlattr *nest, *attr;
	int rest;

	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rest) {
		if (nla_type(nest) != SPEK_DRIVE_A_DRIVE_CONDITION_POWER)
			continue;
		attr = nla_find_nested(nest, SPEK_DRIVE_A_CONDITION_POWER_CONDITION);
		if (attr && nla_get_u32(attr) == condition)
			return nest;
	}
	return NULL;
}

/* Return: the attribute that a refusal of the core is about, or NULL. */
static const struct nlattr *blame(const struct genl_info *info, const struct spek_refusal *refusal)
{
	if (refusal->kind == SPEK_DRIVE_FIELD_WHOLE)
		return NULL;
	if (refusal->kind == SPEK_DRIVE_FIELD_CONDITION_POWER)
		return find_condition(info, refusal->index);
	return info->attrs[refusal->kind];
}

/**
 * spek_drive_nl_parse() - read and check the attributes of drive-new
 * @info: request
 * @config: zeroed; to be freed by the caller in any case
 *
 * Return: 0, or a negative errno with the extack filled in.
 */
int spek_drive_nl_parse(struct genl_info *info, struct spek_unit_config *config)
{
	struct spek_drive_description *description = &config->description;
	struct spek_drive_model *model = &config->model;
	struct spek_refusal refusal = {};
	int err;

	err = spek_genl_parse(info, &spek_drive_description_request, description);
	if (!err)
		err = check_texts(info, description);
	if (!err)
		err = check_kind(info, description);
	if (!err)
		err = check_tables(info, description);
	if (err)
		return err;
	if (alloc_tables(config))
		return spek_genl_refuse(info->extack, NULL, -ENOMEM,
					"There is not enough memory for the model.");
	err = spek_drive_describe(model, description, &refusal) ?:
	      spek_drive_model_init(model, &refusal);
	if (err)
		return spek_genl_refuse(info->extack, blame(info, &refusal), err, refusal.text);
	description->sectors = model->mechanics.geometry.sectors;
	return 0;
}
