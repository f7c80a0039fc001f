// SPDX-License-Identifier: GPL-2.0
/* From the attributes of drive-new to a checked configuration. */
#include <linux/ctype.h>
#include <linux/mm.h>
#include "netlink.h"

static_assert((int)SPEK_DRIVE_NL_LAYOUT_BANDED == (int)SPEK_DRIVE_BANDED);
static_assert((int)SPEK_DRIVE_NL_POLICY_CLOOK == (int)SPEK_DRIVE_CLOOK);
static_assert((int)SPEK_DRIVE_NL_RAIL_V12 == (int)SPEK_DRIVE_12V);
static_assert((int)SPEK_DRIVE_NL_CONDITION_TO_STOPPED == (int)SPEK_DRIVE_TO_STOPPED);
static_assert((int)SPEK_DRIVE_NL_PHASE_ERASE == (int)SPEK_DRIVE_ERASE);
static_assert((int)SPEK_DRIVE_NL_FAULT_GONE == (int)SPEK_DRIVE_FAULT_GONE);
static_assert(SPEK_DRIVE_MAX_ZONES_BYTES ==
	      SPEK_DRIVE_MAX_ZONES * sizeof(struct spek_drive_zone_record));
static_assert(SPEK_DRIVE_MAX_SEEK_BYTES ==
	      SPEK_DRIVE_MAX_SEEK_POINTS * sizeof(struct spek_drive_seek_record));
static_assert(SPEK_DRIVE_MAX_ANGLES_BYTES == SPEK_DRIVE_MAX_ARMS * sizeof(u64));
static_assert(SPEK_DRIVE_MAX_HEAD_ANGLES_BYTES ==
	      SPEK_DRIVE_MAX_HEADS_PER_SURFACE * sizeof(u64));

#define DEFAULT_DEPTH	32

static int refuse(struct genl_info *info, int attr, int err, const char *text)
{
	return spek_genl_refuse(info->extack, attr ? info->attrs[attr] : NULL, err, text);
}

static u32 get_u32(const struct genl_info *info, int attr, u32 otherwise)
{
	return info->attrs[attr] ? nla_get_u32(info->attrs[attr]) : otherwise;
}

static u64 get_u64(const struct genl_info *info, int attr, u64 otherwise)
{
	return info->attrs[attr] ? nla_get_u64(info->attrs[attr]) : otherwise;
}

static int parse_text(struct genl_info *info, int attr, char *to, size_t size, bool spaces)
{
	const char *at;

	if (!info->attrs[attr])
		return 0;
	nla_strscpy(to, info->attrs[attr], size);
	for (at = to; *at; at++)
		if (!isascii(*at) || !isprint(*at) || (*at == ' ' && !spaces))
			return refuse(info, attr, -EINVAL, spaces ?
				      "This text must be printable ASCII." :
				      "This text must be printable ASCII without spaces.");
	return 0;
}

static int parse_texts(struct genl_info *info, struct spek_unit_config *config)
{
	int err;

	if (info->attrs[SPEK_DRIVE_A_DRIVE_NAME])
		nla_strscpy(config->name, info->attrs[SPEK_DRIVE_A_DRIVE_NAME],
			    sizeof(config->name));
	err = parse_text(info, SPEK_DRIVE_A_DRIVE_VENDOR, config->vendor, sizeof(config->vendor),
			 true);
	if (!err)
		err = parse_text(info, SPEK_DRIVE_A_DRIVE_PRODUCT, config->product,
				 sizeof(config->product), true);
	if (!err)
		err = parse_text(info, SPEK_DRIVE_A_DRIVE_REVISION, config->revision,
				 sizeof(config->revision), true);
	if (!err)
		err = parse_text(info, SPEK_DRIVE_A_DRIVE_SERIAL, config->serial,
				 sizeof(config->serial), false);
	return err;
}

/* Return: entries of an array, or a negative errno. */
static int parse_array(struct genl_info *info, int attr, size_t bytes, const char *missing)
{
	const struct nlattr *array = info->attrs[attr];

	if (!array || !nla_len(array))
		return refuse(info, array ? attr : 0, -EINVAL, missing);
	if (nla_len(array) % bytes)
		return refuse(info, attr, -EINVAL,
			      "The length of this array is not a multiple of that of its entries.");
	return nla_len(array) / bytes;
}

static int parse_zones(struct genl_info *info, struct spek_drive_geometry *geometry)
{
	const struct spek_drive_zone_record *records;
	int nr, i;

	nr = parse_array(info, SPEK_DRIVE_A_DRIVE_ZONES, sizeof(*records),
			 "A drive needs zones.");
	if (nr < 0)
		return nr;
	geometry->zones = kvcalloc(nr, sizeof(*geometry->zones), GFP_KERNEL);
	if (!geometry->zones)
		return -ENOMEM;
	geometry->nr_zones = nr;
	records = nla_data(info->attrs[SPEK_DRIVE_A_DRIVE_ZONES]);
	for (i = 0; i < nr; i++) {
		struct spek_drive_zone_record record;

		/* Attributes are aligned to 4 bytes only. */
		memcpy(&record, &records[i], sizeof(record));
		if (record.reserved)
			return refuse(info, SPEK_DRIVE_A_DRIVE_ZONES, -EINVAL,
				      "The reserved field of a zone must be 0.");
		geometry->zones[i].first_cylinder = record.first_cylinder;
		geometry->zones[i].cylinders = record.cylinders;
		geometry->zones[i].spt = record.sectors_per_track;
		geometry->zones[i].track_skew = record.track_skew;
		geometry->zones[i].cylinder_skew = record.cylinder_skew;
	}
	return 0;
}

static int parse_seek(struct genl_info *info, struct spek_drive_seek *seek)
{
	const struct spek_drive_seek_record *records;
	int nr, i;

	nr = parse_array(info, SPEK_DRIVE_A_DRIVE_SEEK_POINTS, sizeof(*records),
			 "A drive needs the points of its seek curve.");
	if (nr < 0)
		return nr;
	seek->points = kvcalloc(nr, sizeof(*seek->points), GFP_KERNEL);
	if (!seek->points)
		return -ENOMEM;
	seek->nr_points = nr;
	records = nla_data(info->attrs[SPEK_DRIVE_A_DRIVE_SEEK_POINTS]);
	for (i = 0; i < nr; i++) {
		seek->points[i].distance = records[i].distance;
		seek->points[i].ns = records[i].ns;
	}
	return 0;
}

/* An array of as many angles as @wanted, if there is one. */
static int parse_angles(struct genl_info *info, int attr, u64 *angles, u32 wanted)
{
	const struct nlattr *array = info->attrs[attr];

	if (!array)
		return 0;
	if (nla_len(array) != wanted * sizeof(*angles))
		return refuse(info, attr, -EINVAL, "There must be one angle for each.");
	memcpy(angles, nla_data(array), nla_len(array));
	return 0;
}

static int parse_mechanics(struct genl_info *info, struct spek_drive_mechanics *mechanics)
{
	struct spek_drive_geometry *geometry = &mechanics->geometry;
	u32 i;
	int err;

	geometry->layout = get_u32(info, SPEK_DRIVE_A_DRIVE_LAYOUT, SPEK_DRIVE_CYLINDER);
	geometry->heads = get_u32(info, SPEK_DRIVE_A_DRIVE_HEADS, 0);
	geometry->band_cylinders = get_u32(info, SPEK_DRIVE_A_DRIVE_BAND_CYLINDERS, 0);
	geometry->surfaces = get_u32(info, SPEK_DRIVE_A_DRIVE_SURFACES, 1);
	geometry->stacks = get_u32(info, SPEK_DRIVE_A_DRIVE_STACKS, 1);
	geometry->sectors = get_u64(info, SPEK_DRIVE_A_DRIVE_SECTORS, 0);
	mechanics->rotation.period_ps = get_u64(info, SPEK_DRIVE_A_DRIVE_PERIOD_PS, 0);
	mechanics->rotation.phase = get_u64(info, SPEK_DRIVE_A_DRIVE_PHASE, 0);
	mechanics->head_switch_ns = get_u64(info, SPEK_DRIVE_A_DRIVE_HEAD_SWITCH_NS, 0);
	mechanics->settle_ns = get_u64(info, SPEK_DRIVE_A_DRIVE_SETTLE_NS, 0);
	mechanics->overhead_ns = get_u64(info, SPEK_DRIVE_A_DRIVE_OVERHEAD_NS, 0);
	mechanics->seek_scale = get_u32(info, SPEK_DRIVE_A_DRIVE_SEEK_SCALE, SPEK_DRIVE_SCALE);
	mechanics->rotation_scale = get_u32(info, SPEK_DRIVE_A_DRIVE_ROTATION_SCALE,
					    SPEK_DRIVE_SCALE);
	mechanics->max_fall_ppm = get_u32(info, SPEK_DRIVE_A_DRIVE_MAX_FALL_PPM,
					  SPEK_DRIVE_MAX_FALL_PPM);
	mechanics->nr_arms = get_u32(info, SPEK_DRIVE_A_DRIVE_ARMS, 1);
	mechanics->channels = get_u32(info, SPEK_DRIVE_A_DRIVE_CHANNELS, 1);
	mechanics->moving = get_u32(info, SPEK_DRIVE_A_DRIVE_MOVING, mechanics->channels);
	mechanics->zero_latency = get_u32(info, SPEK_DRIVE_A_DRIVE_ZERO_LATENCY, 0);
	mechanics->heads_per_surface = get_u32(info, SPEK_DRIVE_A_DRIVE_HEADS_PER_SURFACE, 1);
	mechanics->split = get_u32(info, SPEK_DRIVE_A_DRIVE_SPLIT, 0);
	/* Evenly spread; 2^64 / n, of which only 1 does not come out right, and it needs none. */
	for (i = 1; i < mechanics->nr_arms; i++)
		mechanics->arm_angle[i] = i * (div_u64(~0ULL, mechanics->nr_arms) + 1);
	err = parse_angles(info, SPEK_DRIVE_A_DRIVE_ARM_ANGLES, mechanics->arm_angle,
			   mechanics->nr_arms);
	if (!err)
		err = parse_angles(info, SPEK_DRIVE_A_DRIVE_HEAD_ANGLES, mechanics->head_angle,
				   mechanics->heads_per_surface);
	if (!err)
		err = parse_zones(info, geometry);
	if (!err)
		err = parse_seek(info, &mechanics->seek);
	return err;
}

/* Attributes that only a disk with platters has. */
static const int mechanical_attrs[] = {
	SPEK_DRIVE_A_DRIVE_LAYOUT, SPEK_DRIVE_A_DRIVE_HEADS, SPEK_DRIVE_A_DRIVE_BAND_CYLINDERS,
	SPEK_DRIVE_A_DRIVE_SURFACES, SPEK_DRIVE_A_DRIVE_STACKS, SPEK_DRIVE_A_DRIVE_ZONES,
	SPEK_DRIVE_A_DRIVE_SEEK_POINTS, SPEK_DRIVE_A_DRIVE_PERIOD_PS, SPEK_DRIVE_A_DRIVE_ARMS,
	SPEK_DRIVE_A_DRIVE_CHANNELS, SPEK_DRIVE_A_DRIVE_MOVING, SPEK_DRIVE_A_DRIVE_SPLIT,
	SPEK_DRIVE_A_DRIVE_ARM_ANGLES, SPEK_DRIVE_A_DRIVE_HEADS_PER_SURFACE,
	SPEK_DRIVE_A_DRIVE_HEAD_ANGLES, SPEK_DRIVE_A_DRIVE_HOLD_UW, SPEK_DRIVE_A_DRIVE_SEEK_UW,
	SPEK_DRIVE_A_DRIVE_ROTATE_UW,
};

/* Attributes that only flash has, besides flash-channels. */
static const int flash_attrs[] = {
	SPEK_DRIVE_A_DRIVE_PAGE_SECTORS, SPEK_DRIVE_A_DRIVE_BLOCK_PAGES,
	SPEK_DRIVE_A_DRIVE_BLOCKS, SPEK_DRIVE_A_DRIVE_LOW_BLOCKS,
	SPEK_DRIVE_A_DRIVE_PAGE_READ_NS, SPEK_DRIVE_A_DRIVE_PAGE_PROGRAM_NS,
	SPEK_DRIVE_A_DRIVE_BLOCK_ERASE_NS, SPEK_DRIVE_A_DRIVE_CHANNEL_SECTOR_PS,
	SPEK_DRIVE_A_DRIVE_ERASE_UW,
};

static int refuse_any(struct genl_info *info, const int *attrs, size_t nr, const char *text)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (info->attrs[attrs[i]])
			return refuse(info, attrs[i], -EINVAL, text);
	return 0;
}

/* The core checks the values: what is missing is 0, which is out of its range. */
static int parse_flash(struct genl_info *info, struct spek_drive_flash_rule *flash)
{
	flash->channels = get_u32(info, SPEK_DRIVE_A_DRIVE_FLASH_CHANNELS, 0);
	flash->page_sectors = get_u32(info, SPEK_DRIVE_A_DRIVE_PAGE_SECTORS, 0);
	flash->block_pages = get_u32(info, SPEK_DRIVE_A_DRIVE_BLOCK_PAGES, 0);
	flash->blocks = get_u32(info, SPEK_DRIVE_A_DRIVE_BLOCKS, 0);
	flash->low_blocks = get_u32(info, SPEK_DRIVE_A_DRIVE_LOW_BLOCKS, 2);
	flash->sectors = get_u64(info, SPEK_DRIVE_A_DRIVE_SECTORS, 0);
	flash->read_ns = get_u64(info, SPEK_DRIVE_A_DRIVE_PAGE_READ_NS, 0);
	flash->program_ns = get_u64(info, SPEK_DRIVE_A_DRIVE_PAGE_PROGRAM_NS, 0);
	flash->erase_ns = get_u64(info, SPEK_DRIVE_A_DRIVE_BLOCK_ERASE_NS, 0);
	flash->sector_ps = get_u64(info, SPEK_DRIVE_A_DRIVE_CHANNEL_SECTOR_PS, 0);
	return refuse_any(info, mechanical_attrs, ARRAY_SIZE(mechanical_attrs),
			  "A drive of flash has no platters and arms.");
}

static int parse_kind(struct genl_info *info, struct spek_drive_model *model)
{
	int err;

	if (info->attrs[SPEK_DRIVE_A_DRIVE_FLASH_CHANNELS])
		return parse_flash(info, &model->flash);
	err = refuse_any(info, flash_attrs, ARRAY_SIZE(flash_attrs),
			 "Only a drive with channels of flash has pages and blocks.");
	return err ?: parse_mechanics(info, &model->mechanics);
}

static int parse_conditions(struct genl_info *info, struct spek_drive_watts *watts)
{
	struct nlattr *attrs[SPEK_DRIVE_A_CONDITION_POWER_UW_V12 + 1];
	const struct nlattr *nest;
	u32 seen = 0;
	int rest, err;

	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rest) {
		u32 condition;

		if (nla_type(nest) != SPEK_DRIVE_A_DRIVE_CONDITION_POWER)
			continue;
		/* Its policy was checked with the whole request. */
		err = nla_parse_nested(attrs, ARRAY_SIZE(attrs) - 1, nest, NULL, NULL);
		if (err)
			return spek_genl_refuse(info->extack, nest, err,
						"The power of a condition is malformed.");
		if (!attrs[SPEK_DRIVE_A_CONDITION_POWER_CONDITION])
			return spek_genl_refuse(info->extack, nest, -EINVAL,
						"The power needs the condition that it is of.");
		condition = nla_get_u32(attrs[SPEK_DRIVE_A_CONDITION_POWER_CONDITION]);
		if (seen >> condition & 1)
			return spek_genl_refuse(info->extack, nest, -EINVAL,
						"A condition has one power.");
		seen |= 1U << condition;
		if (attrs[SPEK_DRIVE_A_CONDITION_POWER_UW_V5])
			watts->base[condition][SPEK_DRIVE_5V] =
				nla_get_u32(attrs[SPEK_DRIVE_A_CONDITION_POWER_UW_V5]);
		if (attrs[SPEK_DRIVE_A_CONDITION_POWER_UW_V12])
			watts->base[condition][SPEK_DRIVE_12V] =
				nla_get_u32(attrs[SPEK_DRIVE_A_CONDITION_POWER_UW_V12]);
	}
	return 0;
}

static int parse_watts(struct genl_info *info, struct spek_drive_watts *watts)
{
	watts->hold = get_u32(info, SPEK_DRIVE_A_DRIVE_HOLD_UW, 0);
	watts->phase[SPEK_DRIVE_SEEK] = get_u32(info, SPEK_DRIVE_A_DRIVE_SEEK_UW, 0);
	watts->phase[SPEK_DRIVE_ROTATE] = get_u32(info, SPEK_DRIVE_A_DRIVE_ROTATE_UW, 0);
	watts->phase[SPEK_DRIVE_READ] = get_u32(info, SPEK_DRIVE_A_DRIVE_READ_UW, 0);
	watts->phase[SPEK_DRIVE_WRITE] = get_u32(info, SPEK_DRIVE_A_DRIVE_WRITE_UW, 0);
	watts->phase[SPEK_DRIVE_ERASE] = get_u32(info, SPEK_DRIVE_A_DRIVE_ERASE_UW, 0);
	watts->starting_ns = get_u64(info, SPEK_DRIVE_A_DRIVE_STARTING_NS, 0);
	watts->stopping_ns = get_u64(info, SPEK_DRIVE_A_DRIVE_STOPPING_NS, 0);
	return parse_conditions(info, watts);
}

/* Attributes of the parts that a refusal of the core may be about. */
static const u8 part_attrs[] = {
	[SPEK_DRIVE_PART_ZONE] = SPEK_DRIVE_A_DRIVE_ZONES,
	[SPEK_DRIVE_PART_SEEK_POINT] = SPEK_DRIVE_A_DRIVE_SEEK_POINTS,
	[SPEK_DRIVE_PART_ARM] = SPEK_DRIVE_A_DRIVE_ARMS,
	[SPEK_DRIVE_PART_LAYOUT] = SPEK_DRIVE_A_DRIVE_LAYOUT,
	[SPEK_DRIVE_PART_HEADS] = SPEK_DRIVE_A_DRIVE_HEADS,
	[SPEK_DRIVE_PART_BAND] = SPEK_DRIVE_A_DRIVE_BAND_CYLINDERS,
	[SPEK_DRIVE_PART_SURFACES] = SPEK_DRIVE_A_DRIVE_SURFACES,
	[SPEK_DRIVE_PART_STACKS] = SPEK_DRIVE_A_DRIVE_STACKS,
	[SPEK_DRIVE_PART_CAPACITY] = SPEK_DRIVE_A_DRIVE_SECTORS,
	[SPEK_DRIVE_PART_PERIOD] = SPEK_DRIVE_A_DRIVE_PERIOD_PS,
	[SPEK_DRIVE_PART_HEAD_SWITCH] = SPEK_DRIVE_A_DRIVE_HEAD_SWITCH_NS,
	[SPEK_DRIVE_PART_SETTLE] = SPEK_DRIVE_A_DRIVE_SETTLE_NS,
	[SPEK_DRIVE_PART_OVERHEAD] = SPEK_DRIVE_A_DRIVE_OVERHEAD_NS,
	[SPEK_DRIVE_PART_SEEK_SCALE] = SPEK_DRIVE_A_DRIVE_SEEK_SCALE,
	[SPEK_DRIVE_PART_ROTATION_SCALE] = SPEK_DRIVE_A_DRIVE_ROTATION_SCALE,
	[SPEK_DRIVE_PART_CHANNELS] = SPEK_DRIVE_A_DRIVE_CHANNELS,
	[SPEK_DRIVE_PART_MOVING] = SPEK_DRIVE_A_DRIVE_MOVING,
	[SPEK_DRIVE_PART_HEADS_PER_SURFACE] = SPEK_DRIVE_A_DRIVE_HEADS_PER_SURFACE,
	[SPEK_DRIVE_PART_SPLIT] = SPEK_DRIVE_A_DRIVE_SPLIT,
	[SPEK_DRIVE_PART_SEGMENTS] = SPEK_DRIVE_A_DRIVE_CACHE_SEGMENTS,
	[SPEK_DRIVE_PART_SEGMENT_SECTORS] = SPEK_DRIVE_A_DRIVE_SEGMENT_SECTORS,
	[SPEK_DRIVE_PART_AHEAD] = SPEK_DRIVE_A_DRIVE_AHEAD_SECTORS,
	[SPEK_DRIVE_PART_WRITE_CACHE] = SPEK_DRIVE_A_DRIVE_WRITE_CACHE_SECTORS,
	[SPEK_DRIVE_PART_HIT] = SPEK_DRIVE_A_DRIVE_HIT_NS,
	[SPEK_DRIVE_PART_SECTOR_TIME] = SPEK_DRIVE_A_DRIVE_SECTOR_PS,
	[SPEK_DRIVE_PART_HOLD] = SPEK_DRIVE_A_DRIVE_HOLD_UW,
	[SPEK_DRIVE_PART_STARTING] = SPEK_DRIVE_A_DRIVE_STARTING_NS,
	[SPEK_DRIVE_PART_STOPPING] = SPEK_DRIVE_A_DRIVE_STOPPING_NS,
	[SPEK_DRIVE_PART_POLICY] = SPEK_DRIVE_A_DRIVE_POLICY,
	[SPEK_DRIVE_PART_WINDOW] = SPEK_DRIVE_A_DRIVE_WINDOW,
	[SPEK_DRIVE_PART_QUEUE_DEPTH] = SPEK_DRIVE_A_DRIVE_QUEUE_DEPTH,
};

static const u8 phase_attrs[SPEK_DRIVE_PHASE_NR] = {
	[SPEK_DRIVE_SEEK] = SPEK_DRIVE_A_DRIVE_SEEK_UW,
	[SPEK_DRIVE_ROTATE] = SPEK_DRIVE_A_DRIVE_ROTATE_UW,
	[SPEK_DRIVE_READ] = SPEK_DRIVE_A_DRIVE_READ_UW,
	[SPEK_DRIVE_WRITE] = SPEK_DRIVE_A_DRIVE_WRITE_UW,
	[SPEK_DRIVE_ERASE] = SPEK_DRIVE_A_DRIVE_ERASE_UW,
};

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
	u8 attr = 0;

	if (refusal->kind == SPEK_DRIVE_PART_CONDITION_POWER)
		return find_condition(info, refusal->index);
	if (refusal->kind == SPEK_DRIVE_PART_PHASE_POWER)
		attr = phase_attrs[refusal->index];
	else if (refusal->kind < ARRAY_SIZE(part_attrs))
		attr = part_attrs[refusal->kind];
	return attr ? info->attrs[attr] : NULL;
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
	struct spek_drive_model *model = &config->model;
	struct spek_refusal refusal = {};
	int err;

	model->queue_depth = get_u32(info, SPEK_DRIVE_A_DRIVE_QUEUE_DEPTH, DEFAULT_DEPTH);
	model->rule.policy = get_u32(info, SPEK_DRIVE_A_DRIVE_POLICY, SPEK_DRIVE_FCFS);
	model->rule.window = get_u32(info, SPEK_DRIVE_A_DRIVE_WINDOW, model->queue_depth);
	model->rule.max_wait_ns = get_u64(info, SPEK_DRIVE_A_DRIVE_MAX_WAIT_NS, 0);
	model->cache.segments = get_u32(info, SPEK_DRIVE_A_DRIVE_CACHE_SEGMENTS, 0);
	model->cache.segment_sectors = get_u32(info, SPEK_DRIVE_A_DRIVE_SEGMENT_SECTORS, 0);
	model->cache.ahead_sectors = get_u32(info, SPEK_DRIVE_A_DRIVE_AHEAD_SECTORS, 0);
	model->cache.write_sectors = get_u64(info, SPEK_DRIVE_A_DRIVE_WRITE_CACHE_SECTORS, 0);
	model->cache.hit_ns = get_u64(info, SPEK_DRIVE_A_DRIVE_HIT_NS, 0);
	model->cache.sector_ps = get_u64(info, SPEK_DRIVE_A_DRIVE_SECTOR_PS, 0);
	config->store = get_u32(info, SPEK_DRIVE_A_DRIVE_STORE, SPEK_DRIVE_STORE_MEMORY);
	config->store_bytes = get_u64(info, SPEK_DRIVE_A_DRIVE_STORE_BYTES, 0);
	config->fixed_ata_sense = get_u32(info, SPEK_DRIVE_A_DRIVE_FIXED_ATA_SENSE, 0);
	config->spin_ns = get_u32(info, SPEK_DRIVE_A_DRIVE_SPIN_NS, 0);
	err = parse_texts(info, config);
	if (!err)
		err = parse_kind(info, model);
	if (!err)
		err = parse_watts(info, &model->watts);
	if (err == -ENOMEM)
		return refuse(info, 0, err, "There is not enough memory for the model.");
	if (err)
		return err;
	err = spek_drive_model_init(model, &refusal);
	return err ? spek_genl_refuse(info->extack, blame(info, &refusal), err, refusal.text) : 0;
}

static int parse_fault(struct genl_info *info, const struct nlattr *nest,
		       struct spek_drive_fault *fault)
{
	struct nlattr *attrs[SPEK_DRIVE_A_FAULT_DELAY_NS + 1];
	int err = nla_parse_nested(attrs, ARRAY_SIZE(attrs) - 1, nest, NULL, NULL);

	if (err)
		return spek_genl_refuse(info->extack, nest, err, "The fault is malformed.");
	if (!attrs[SPEK_DRIVE_A_FAULT_KIND])
		return spek_genl_refuse(info->extack, nest, -EINVAL, "A fault needs its kind.");
	memset(fault, 0, sizeof(*fault));
	fault->kind = nla_get_u32(attrs[SPEK_DRIVE_A_FAULT_KIND]);
	if (attrs[SPEK_DRIVE_A_FAULT_LBA])
		fault->lba = nla_get_u64(attrs[SPEK_DRIVE_A_FAULT_LBA]);
	if (attrs[SPEK_DRIVE_A_FAULT_SECTORS])
		fault->sectors = nla_get_u64(attrs[SPEK_DRIVE_A_FAULT_SECTORS]);
	if (attrs[SPEK_DRIVE_A_FAULT_NUMBER])
		fault->number = nla_get_u32(attrs[SPEK_DRIVE_A_FAULT_NUMBER]);
	if (attrs[SPEK_DRIVE_A_FAULT_DELAY_NS])
		fault->delay_ns = nla_get_u64(attrs[SPEK_DRIVE_A_FAULT_DELAY_NS]);
	return 0;
}

/**
 * spek_drive_nl_parse_faults() - read the attributes of drive-set
 * @info: request
 * @faults: filled in; the drive checks them
 *
 * Return: 0, or a negative errno with the extack filled in.
 */
int spek_drive_nl_parse_faults(struct genl_info *info, struct spek_drive_faults *faults)
{
	const struct nlattr *nest;
	int rest, err;

	faults->length = 0;
	nlmsg_for_each_attr(nest, info->nlhdr, GENL_HDRLEN, rest) {
		if (nla_type(nest) != SPEK_DRIVE_A_DRIVE_FAULT)
			continue;
		if (faults->length == SPEK_DRIVE_MAX_FAULTS)
			return spek_genl_refuse(info->extack, nest, -ERANGE,
						"A drive has up to 64 faults.");
		err = parse_fault(info, nest, &faults->entries[faults->length]);
		if (err)
			return err;
		faults->length++;
	}
	return 0;
}
