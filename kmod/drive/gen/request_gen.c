// SPDX-License-Identifier: GPL-2.0
/* generated from kmod/drive/uapi/spek_drive.yaml, run `make gen` */

#include <linux/build_bug.h>
#include <linux/kernel.h>

#include "../core/drive.h"
#include "../uapi/spek_drive.h"
#include "request_gen.h"

static const struct spek_genl_field condition_power_fields[] = {
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_CONDITION_POWER_CONDITION,
				 struct spek_drive_condition_power, condition),
		.missing = "The power needs the condition that it is of.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_CONDITION_POWER_UW_V5,
				 struct spek_drive_condition_power, uw_v5),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_CONDITION_POWER_UW_V12,
				 struct spek_drive_condition_power, uw_v12),
	},
};

static const struct spek_genl_record spek_drive_condition_power_request = {
	.field = condition_power_fields,
	.nr = ARRAY_SIZE(condition_power_fields),
};

static_assert(sizeof(struct spek_drive_zone_entry) == sizeof(struct spek_drive_zone_record));

static_assert(sizeof(struct spek_drive_seek_entry) == sizeof(struct spek_drive_seek_record));

static const struct spek_genl_field description_fields[] = {
	{
		SPEK_GENL_MEMBER(TEXT, SPEK_DRIVE_A_DRIVE_NAME,
				 struct spek_drive_description, name),
	},
	{
		SPEK_GENL_MEMBER(TEXT, SPEK_DRIVE_A_DRIVE_VENDOR,
				 struct spek_drive_description, vendor),
	},
	{
		SPEK_GENL_MEMBER(TEXT, SPEK_DRIVE_A_DRIVE_PRODUCT,
				 struct spek_drive_description, product),
	},
	{
		SPEK_GENL_MEMBER(TEXT, SPEK_DRIVE_A_DRIVE_REVISION,
				 struct spek_drive_description, revision),
	},
	{
		SPEK_GENL_MEMBER(TEXT, SPEK_DRIVE_A_DRIVE_SERIAL,
				 struct spek_drive_description, serial),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_LAYOUT,
				 struct spek_drive_description, layout),
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_HEADS,
				 struct spek_drive_description, heads),
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_BAND_CYLINDERS,
				 struct spek_drive_description, band_cylinders),
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_SURFACES,
				 struct spek_drive_description, surfaces),
		.usual = 1,
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_STACKS,
				 struct spek_drive_description, stacks),
		.usual = 1,
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_SECTORS,
				 struct spek_drive_description, sectors),
	},
	{
		SPEK_GENL_ARRAY(VECTOR, SPEK_DRIVE_A_DRIVE_ZONES,
				struct spek_drive_description, zones, nr_zones),
		.at_most = ARRAY_SIZE(((struct spek_drive_description *)NULL)->zones),
		.groups = SPEK_DRIVE_GROUP_PLATTERS | SPEK_DRIVE_GROUP_TABLES,
	},
	{
		SPEK_GENL_ARRAY(VECTOR, SPEK_DRIVE_A_DRIVE_SEEK_POINTS,
				struct spek_drive_description, seek_points, nr_seek_points),
		.at_most = ARRAY_SIZE(((struct spek_drive_description *)NULL)->seek_points),
		.groups = SPEK_DRIVE_GROUP_PLATTERS | SPEK_DRIVE_GROUP_TABLES,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_MAX_FALL_PPM,
				 struct spek_drive_description, max_fall_ppm),
		.usual = 400000,
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_PERIOD_PS,
				 struct spek_drive_description, period_ps),
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_PHASE,
				 struct spek_drive_description, phase),
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_HEAD_SWITCH_NS,
				 struct spek_drive_description, head_switch_ns),
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_SETTLE_NS,
				 struct spek_drive_description, settle_ns),
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_OVERHEAD_NS,
				 struct spek_drive_description, overhead_ns),
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_SEEK_SCALE,
				 struct spek_drive_description, seek_scale),
		.usual = 256,
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_ROTATION_SCALE,
				 struct spek_drive_description, rotation_scale),
		.usual = 256,
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_ARMS, struct spek_drive_description, arms),
		.usual = 1,
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_CHANNELS,
				 struct spek_drive_description, channels),
		.usual = 1,
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_MOVING,
				 struct spek_drive_description, moving),
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_ZERO_LATENCY,
				 struct spek_drive_description, zero_latency),
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_HEADS_PER_SURFACE,
				 struct spek_drive_description, heads_per_surface),
		.usual = 1,
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_ARRAY(VECTOR, SPEK_DRIVE_A_DRIVE_HEAD_ANGLES,
				struct spek_drive_description, head_angles, nr_head_angles),
		.at_most = ARRAY_SIZE(((struct spek_drive_description *)NULL)->head_angles),
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_SPLIT,
				 struct spek_drive_description, split),
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_ARRAY(VECTOR, SPEK_DRIVE_A_DRIVE_ARM_ANGLES,
				struct spek_drive_description, arm_angles, nr_arm_angles),
		.at_most = ARRAY_SIZE(((struct spek_drive_description *)NULL)->arm_angles),
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_POLICY,
				 struct spek_drive_description, policy),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_WINDOW,
				 struct spek_drive_description, window),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_MAX_WAIT_NS,
				 struct spek_drive_description, max_wait_ns),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_CACHE_SEGMENTS,
				 struct spek_drive_description, cache_segments),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_SEGMENT_SECTORS,
				 struct spek_drive_description, segment_sectors),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_AHEAD_SECTORS,
				 struct spek_drive_description, ahead_sectors),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_WRITE_CACHE_SECTORS,
				 struct spek_drive_description, write_cache_sectors),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_HIT_NS,
				 struct spek_drive_description, hit_ns),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_SECTOR_PS,
				 struct spek_drive_description, sector_ps),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_QUEUE_DEPTH,
				 struct spek_drive_description, queue_depth),
		.usual = 32,
	},
	{
		SPEK_GENL_ARRAY(RECORD, SPEK_DRIVE_A_DRIVE_CONDITION_POWER,
				struct spek_drive_description, condition_power,
				nr_condition_powers),
		.record = &spek_drive_condition_power_request,
		.at_most = 6,
		.too_many = "A drive has 6 power conditions.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_HOLD_UW,
				 struct spek_drive_description, hold_uw),
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_SEEK_UW,
				 struct spek_drive_description, seek_uw),
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_ROTATE_UW,
				 struct spek_drive_description, rotate_uw),
		.groups = SPEK_DRIVE_GROUP_PLATTERS,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_READ_UW,
				 struct spek_drive_description, read_uw),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_WRITE_UW,
				 struct spek_drive_description, write_uw),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_STARTING_NS,
				 struct spek_drive_description, starting_ns),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_STOPPING_NS,
				 struct spek_drive_description, stopping_ns),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_STORE,
				 struct spek_drive_description, store),
		.usual = 1,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_FIXED_ATA_SENSE,
				 struct spek_drive_description, fixed_ata_sense),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_STORE_BYTES,
				 struct spek_drive_description, store_bytes),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_FLASH_CHANNELS,
				 struct spek_drive_description, flash_channels),
		.groups = SPEK_DRIVE_GROUP_FLASH,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_PAGE_SECTORS,
				 struct spek_drive_description, page_sectors),
		.groups = SPEK_DRIVE_GROUP_FLASH,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_BLOCK_PAGES,
				 struct spek_drive_description, block_pages),
		.groups = SPEK_DRIVE_GROUP_FLASH,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_BLOCKS,
				 struct spek_drive_description, blocks),
		.groups = SPEK_DRIVE_GROUP_FLASH,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_LOW_BLOCKS,
				 struct spek_drive_description, low_blocks),
		.usual = 2,
		.groups = SPEK_DRIVE_GROUP_FLASH,
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_PAGE_READ_NS,
				 struct spek_drive_description, page_read_ns),
		.groups = SPEK_DRIVE_GROUP_FLASH,
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_PAGE_PROGRAM_NS,
				 struct spek_drive_description, page_program_ns),
		.groups = SPEK_DRIVE_GROUP_FLASH,
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_BLOCK_ERASE_NS,
				 struct spek_drive_description, block_erase_ns),
		.groups = SPEK_DRIVE_GROUP_FLASH,
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_DRIVE_CHANNEL_SECTOR_PS,
				 struct spek_drive_description, channel_sector_ps),
		.groups = SPEK_DRIVE_GROUP_FLASH,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_ERASE_UW,
				 struct spek_drive_description, erase_uw),
		.groups = SPEK_DRIVE_GROUP_FLASH,
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_SPIN_NS,
				 struct spek_drive_description, spin_ns),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_ATOMIC_SECTORS,
				 struct spek_drive_description, atomic_sectors),
	},
};

const struct spek_genl_record spek_drive_description_request = {
	.field = description_fields,
	.nr = ARRAY_SIZE(description_fields),
	.pad = SPEK_DRIVE_A_DRIVE_PAD,
};

static const struct spek_genl_field fault_fields[] = {
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_FAULT_KIND, struct spek_drive_fault, kind),
		.missing = "A fault needs its kind.",
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_FAULT_LBA, struct spek_drive_fault, lba),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_FAULT_SECTORS, struct spek_drive_fault, sectors),
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_FAULT_NUMBER, struct spek_drive_fault, number),
	},
	{
		SPEK_GENL_MEMBER(U64, SPEK_DRIVE_A_FAULT_DELAY_NS,
				 struct spek_drive_fault, delay_ns),
	},
};

static const struct spek_genl_record spek_drive_fault_request = {
	.field = fault_fields,
	.nr = ARRAY_SIZE(fault_fields),
	.pad = SPEK_DRIVE_A_FAULT_PAD,
};

static const struct spek_genl_field change_fields[] = {
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_ID, struct spek_drive_change, id),
	},
	{
		SPEK_GENL_ARRAY(RECORD, SPEK_DRIVE_A_DRIVE_FAULT,
				struct spek_drive_change, fault, nr_faults),
		.record = &spek_drive_fault_request,
		.at_most = SPEK_DRIVE_MAX_FAULTS,
		.too_many = "A drive has up to 64 faults.",
	},
	{
		SPEK_GENL_MEMBER(U32, SPEK_DRIVE_A_DRIVE_CLEAR_FAULTS,
				 struct spek_drive_change, clear_faults),
	},
};

const struct spek_genl_record spek_drive_change_request = {
	.field = change_fields,
	.nr = ARRAY_SIZE(change_fields),
	.pad = SPEK_DRIVE_A_DRIVE_PAD,
};
