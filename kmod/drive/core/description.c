// SPDX-License-Identifier: GPL-2.0
/* From the flat description of a drive to the model that its parts work on. */
#include "drive.h"

static int describe_zones(struct spek_drive_geometry *geometry,
			  const struct spek_drive_description *description,
			  struct spek_refusal *refusal)
{
	u32 i;

	for (i = 0; i < geometry->nr_zones; i++) {
		const struct spek_drive_zone_entry *entry = &description->zones[i];
		struct spek_drive_zone *zone = &geometry->zones[i];

		if (entry->reserved)
			return spek_refuse(refusal, SPEK_DRIVE_FIELD_ZONES, i, -EINVAL,
					   "The reserved field of a zone must be 0.");
		zone->first_cylinder = entry->first_cylinder;
		zone->cylinders = entry->cylinders;
		zone->spt = entry->sectors_per_track;
		zone->track_skew = entry->track_skew;
		zone->cylinder_skew = entry->cylinder_skew;
	}
	return 0;
}

/* Evenly spread; 2^64 / n, of which only 1 does not come out right, and it needs none. */
static void spread_arms(struct spek_drive_description *description)
{
	u32 i;

	if (description->arms > SPEK_DRIVE_MAX_ARMS)
		return;
	for (i = 1; i < description->arms; i++)
		description->arm_angles[i] = i * (spek_div64(~0ULL, description->arms) + 1);
	description->nr_arm_angles = description->arms;
}

static int describe_angles(struct spek_drive_mechanics *mechanics,
			   struct spek_drive_description *description,
			   struct spek_refusal *refusal)
{
	u32 i;

	if (!description->nr_arm_angles)
		spread_arms(description);
	if (!description->nr_head_angles &&
	    description->heads_per_surface <= SPEK_DRIVE_MAX_HEADS_PER_SURFACE)
		description->nr_head_angles = description->heads_per_surface;
	/* More than there is room for are refused as arms and heads, by the model. */
	if (description->nr_arm_angles != description->arms &&
	    description->arms <= SPEK_DRIVE_MAX_ARMS)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_ARM_ANGLES, 0, -EINVAL,
				   "There must be one angle for each arm.");
	if (description->nr_head_angles != description->heads_per_surface &&
	    description->heads_per_surface <= SPEK_DRIVE_MAX_HEADS_PER_SURFACE)
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_HEAD_ANGLES, 0, -EINVAL,
				   "There must be one angle for each head of a surface.");
	for (i = 0; i < SPEK_DRIVE_MAX_ARMS; i++)
		mechanics->arm_angle[i] = description->arm_angles[i];
	for (i = 0; i < SPEK_DRIVE_MAX_HEADS_PER_SURFACE; i++)
		mechanics->head_angle[i] = description->head_angles[i];
	return 0;
}

static int describe_mechanics(struct spek_drive_mechanics *mechanics,
			      struct spek_drive_description *description,
			      struct spek_refusal *refusal)
{
	u32 i;
	int err;

	mechanics->geometry.layout = description->layout;
	mechanics->geometry.heads = description->heads;
	mechanics->geometry.band_cylinders = description->band_cylinders;
	mechanics->geometry.surfaces = description->surfaces;
	mechanics->geometry.stacks = description->stacks;
	mechanics->geometry.sectors = description->sectors;
	mechanics->geometry.nr_zones = description->nr_zones;
	mechanics->seek.nr_points = description->nr_seek_points;
	mechanics->rotation.period_ps = description->period_ps;
	mechanics->rotation.phase = description->phase;
	mechanics->head_switch_ns = description->head_switch_ns;
	mechanics->settle_ns = description->settle_ns;
	mechanics->overhead_ns = description->overhead_ns;
	mechanics->seek_scale = description->seek_scale;
	mechanics->rotation_scale = description->rotation_scale;
	mechanics->max_fall_ppm = description->max_fall_ppm;
	mechanics->nr_arms = description->arms;
	mechanics->channels = description->channels;
	mechanics->moving = description->moving;
	if (!description->moving)
		description->moving = description->channels;
	mechanics->zero_latency = description->zero_latency;
	mechanics->heads_per_surface = description->heads_per_surface;
	mechanics->split = description->split;
	err = describe_angles(mechanics, description, refusal);
	if (!err)
		err = describe_zones(&mechanics->geometry, description, refusal);
	for (i = 0; i < mechanics->seek.nr_points; i++) {
		mechanics->seek.points[i].distance = description->seek_points[i].distance;
		mechanics->seek.points[i].ns = description->seek_points[i].ns;
	}
	return err;
}

static void describe_flash(struct spek_drive_flash_rule *flash,
			   const struct spek_drive_description *description)
{
	flash->channels = description->flash_channels;
	flash->page_sectors = description->page_sectors;
	flash->block_pages = description->block_pages;
	flash->blocks = description->blocks;
	flash->low_blocks = description->low_blocks;
	flash->sectors = description->sectors;
	flash->read_ns = description->page_read_ns;
	flash->program_ns = description->page_program_ns;
	flash->erase_ns = description->block_erase_ns;
	flash->sector_ps = description->channel_sector_ps;
}

static void describe_cache(struct spek_drive_cache_rule *cache,
			   const struct spek_drive_description *description)
{
	cache->segments = description->cache_segments;
	cache->segment_sectors = description->segment_sectors;
	cache->ahead_sectors = description->ahead_sectors;
	cache->write_sectors = description->write_cache_sectors;
	cache->hit_ns = description->hit_ns;
	cache->sector_ps = description->sector_ps;
}

static int describe_watts(struct spek_drive_watts *watts,
			  const struct spek_drive_description *description,
			  struct spek_refusal *refusal)
{
	u32 i, seen = 0;

	watts->hold = description->hold_uw;
	watts->phase[SPEK_DRIVE_SEEK] = description->seek_uw;
	watts->phase[SPEK_DRIVE_ROTATE] = description->rotate_uw;
	watts->phase[SPEK_DRIVE_READ] = description->read_uw;
	watts->phase[SPEK_DRIVE_WRITE] = description->write_uw;
	watts->phase[SPEK_DRIVE_ERASE] = description->erase_uw;
	watts->starting_ns = description->starting_ns;
	watts->stopping_ns = description->stopping_ns;
	for (i = 0; i < description->nr_condition_powers; i++) {
		const struct spek_drive_condition_power *power = &description->condition_power[i];

		if (power->condition >= SPEK_DRIVE_CONDITION_NR || seen >> power->condition & 1)
			return spek_refuse(refusal, SPEK_DRIVE_FIELD_CONDITION_POWER,
					   power->condition, -EINVAL,
					   "A condition has one power.");
		seen |= 1U << power->condition;
		watts->base[power->condition][SPEK_DRIVE_5V] = power->uw_v5;
		watts->base[power->condition][SPEK_DRIVE_12V] = power->uw_v12;
	}
	return 0;
}

/**
 * spek_drive_describe() - make a model of a description
 * @model: all zero, but for the zones and seek points of a disk: memory of the caller for as many
 *	as the description has. To be checked by spek_drive_model_init()
 * @description: what follows from the remainder is filled in where it was left out; the model does
 *	not refer to it
 * @refusal: says what was wrong
 *
 * Return: 0, or -EINVAL for parts that contradict each other.
 */
int spek_drive_describe(struct spek_drive_model *model, struct spek_drive_description *description,
			struct spek_refusal *refusal)
{
	int err = 0;

	if (description->atomic_sectors & (description->atomic_sectors - 1))
		return spek_refuse(refusal, SPEK_DRIVE_FIELD_ATOMIC_SECTORS, 0, -EINVAL,
				   "The sectors of an atomic write must be a power of two.");
	if (!description->window)
		description->window = description->queue_depth;
	model->queue_depth = description->queue_depth;
	model->rule.policy = description->policy;
	model->rule.window = description->window;
	model->rule.max_wait_ns = description->max_wait_ns;
	describe_cache(&model->cache, description);
	if (description->flash_channels)
		describe_flash(&model->flash, description);
	else
		err = describe_mechanics(&model->mechanics, description, refusal);
	return err ?: describe_watts(&model->watts, description, refusal);
}
