/* SPDX-License-Identifier: GPL-2.0 */
/* generated from kmod/drive/uapi/spek_drive.yaml, run `make gen` */

/* The types of numbers are the including file's. */
#ifndef _SPEK_DRIVE_DESCRIPTION_GEN_H
#define _SPEK_DRIVE_DESCRIPTION_GEN_H

/**
 * struct spek_drive_zone_entry - Cylinders with the same number of sectors per track, in
 *   the machine's byte order.
 * @first_cylinder: Outermost cylinder.
 * @cylinders: Number of cylinders.
 * @sectors_per_track: Number of 512-byte sectors of a track.
 * @reserved: Zero.
 * @track_skew: Angle added by a step to another head.
 * @cylinder_skew: Angle added by a step to another cylinder.
 */
struct spek_drive_zone_entry {
	u32 first_cylinder;
	u32 cylinders;
	u32 sectors_per_track;
	u32 reserved;
	u64 track_skew;
	u64 cylinder_skew;
};

/**
 * struct spek_drive_seek_entry - Point of a seek curve, in the machine's byte order.
 * @distance: Cylinders, > 0.
 * @ns: Time, 1 ns to 1 s.
 */
struct spek_drive_seek_entry {
	u32 distance;
	u32 ns;
};

/**
 * struct spek_drive_condition_power - attributes of the set condition-power
 * @condition: enum spek_drive_nl_condition
 * @uw_v5: Power on 5 V; active: the electronics.
 * @uw_v12: Power on 12 V; active: the spindle.
 */
struct spek_drive_condition_power {
	u32 condition;
	u32 uw_v5;
	u32 uw_v12;
};

/**
 * enum spek_drive_field - attributes that a refusal may be about, by their numbers
 * @SPEK_DRIVE_FIELD_WHOLE: not about a single attribute
 * @SPEK_DRIVE_FIELD_NAME: name
 * @SPEK_DRIVE_FIELD_VENDOR: vendor
 * @SPEK_DRIVE_FIELD_PRODUCT: product
 * @SPEK_DRIVE_FIELD_REVISION: revision
 * @SPEK_DRIVE_FIELD_SERIAL: serial
 * @SPEK_DRIVE_FIELD_LAYOUT: layout
 * @SPEK_DRIVE_FIELD_HEADS: heads
 * @SPEK_DRIVE_FIELD_BAND_CYLINDERS: band-cylinders
 * @SPEK_DRIVE_FIELD_SURFACES: surfaces
 * @SPEK_DRIVE_FIELD_STACKS: stacks
 * @SPEK_DRIVE_FIELD_SECTORS: sectors
 * @SPEK_DRIVE_FIELD_ZONES: zones
 * @SPEK_DRIVE_FIELD_SEEK_POINTS: seek-points
 * @SPEK_DRIVE_FIELD_MAX_FALL_PPM: max-fall-ppm
 * @SPEK_DRIVE_FIELD_PERIOD_PS: period-ps
 * @SPEK_DRIVE_FIELD_PHASE: phase
 * @SPEK_DRIVE_FIELD_HEAD_SWITCH_NS: head-switch-ns
 * @SPEK_DRIVE_FIELD_SETTLE_NS: settle-ns
 * @SPEK_DRIVE_FIELD_OVERHEAD_NS: overhead-ns
 * @SPEK_DRIVE_FIELD_SEEK_SCALE: seek-scale
 * @SPEK_DRIVE_FIELD_ROTATION_SCALE: rotation-scale
 * @SPEK_DRIVE_FIELD_ARMS: arms
 * @SPEK_DRIVE_FIELD_CHANNELS: channels
 * @SPEK_DRIVE_FIELD_MOVING: moving
 * @SPEK_DRIVE_FIELD_ZERO_LATENCY: zero-latency
 * @SPEK_DRIVE_FIELD_HEADS_PER_SURFACE: heads-per-surface
 * @SPEK_DRIVE_FIELD_HEAD_ANGLES: head-angles
 * @SPEK_DRIVE_FIELD_SPLIT: split
 * @SPEK_DRIVE_FIELD_ARM_ANGLES: arm-angles
 * @SPEK_DRIVE_FIELD_POLICY: policy
 * @SPEK_DRIVE_FIELD_WINDOW: window
 * @SPEK_DRIVE_FIELD_MAX_WAIT_NS: max-wait-ns
 * @SPEK_DRIVE_FIELD_CACHE_SEGMENTS: cache-segments
 * @SPEK_DRIVE_FIELD_SEGMENT_SECTORS: segment-sectors
 * @SPEK_DRIVE_FIELD_AHEAD_SECTORS: ahead-sectors
 * @SPEK_DRIVE_FIELD_WRITE_CACHE_SECTORS: write-cache-sectors
 * @SPEK_DRIVE_FIELD_HIT_NS: hit-ns
 * @SPEK_DRIVE_FIELD_SECTOR_PS: sector-ps
 * @SPEK_DRIVE_FIELD_QUEUE_DEPTH: queue-depth
 * @SPEK_DRIVE_FIELD_CONDITION_POWER: condition-power
 * @SPEK_DRIVE_FIELD_HOLD_UW: hold-uw
 * @SPEK_DRIVE_FIELD_SEEK_UW: seek-uw
 * @SPEK_DRIVE_FIELD_ROTATE_UW: rotate-uw
 * @SPEK_DRIVE_FIELD_READ_UW: read-uw
 * @SPEK_DRIVE_FIELD_WRITE_UW: write-uw
 * @SPEK_DRIVE_FIELD_STARTING_NS: starting-ns
 * @SPEK_DRIVE_FIELD_STOPPING_NS: stopping-ns
 * @SPEK_DRIVE_FIELD_STORE: store
 * @SPEK_DRIVE_FIELD_FIXED_ATA_SENSE: fixed-ata-sense
 * @SPEK_DRIVE_FIELD_STORE_BYTES: store-bytes
 * @SPEK_DRIVE_FIELD_FLASH_CHANNELS: flash-channels
 * @SPEK_DRIVE_FIELD_PAGE_SECTORS: page-sectors
 * @SPEK_DRIVE_FIELD_BLOCK_PAGES: block-pages
 * @SPEK_DRIVE_FIELD_BLOCKS: blocks
 * @SPEK_DRIVE_FIELD_LOW_BLOCKS: low-blocks
 * @SPEK_DRIVE_FIELD_PAGE_READ_NS: page-read-ns
 * @SPEK_DRIVE_FIELD_PAGE_PROGRAM_NS: page-program-ns
 * @SPEK_DRIVE_FIELD_BLOCK_ERASE_NS: block-erase-ns
 * @SPEK_DRIVE_FIELD_CHANNEL_SECTOR_PS: channel-sector-ps
 * @SPEK_DRIVE_FIELD_ERASE_UW: erase-uw
 * @SPEK_DRIVE_FIELD_SPIN_NS: spin-ns
 * @SPEK_DRIVE_FIELD_ATOMIC_SECTORS: atomic-sectors
 */
enum spek_drive_field {
	SPEK_DRIVE_FIELD_WHOLE,
	SPEK_DRIVE_FIELD_NAME = 3,
	SPEK_DRIVE_FIELD_VENDOR = 4,
	SPEK_DRIVE_FIELD_PRODUCT = 5,
	SPEK_DRIVE_FIELD_REVISION = 6,
	SPEK_DRIVE_FIELD_SERIAL = 7,
	SPEK_DRIVE_FIELD_LAYOUT = 13,
	SPEK_DRIVE_FIELD_HEADS = 14,
	SPEK_DRIVE_FIELD_BAND_CYLINDERS = 15,
	SPEK_DRIVE_FIELD_SURFACES = 16,
	SPEK_DRIVE_FIELD_STACKS = 17,
	SPEK_DRIVE_FIELD_SECTORS = 18,
	SPEK_DRIVE_FIELD_ZONES = 19,
	SPEK_DRIVE_FIELD_SEEK_POINTS = 20,
	SPEK_DRIVE_FIELD_MAX_FALL_PPM = 21,
	SPEK_DRIVE_FIELD_PERIOD_PS = 22,
	SPEK_DRIVE_FIELD_PHASE = 23,
	SPEK_DRIVE_FIELD_HEAD_SWITCH_NS = 24,
	SPEK_DRIVE_FIELD_SETTLE_NS = 25,
	SPEK_DRIVE_FIELD_OVERHEAD_NS = 26,
	SPEK_DRIVE_FIELD_SEEK_SCALE = 27,
	SPEK_DRIVE_FIELD_ROTATION_SCALE = 28,
	SPEK_DRIVE_FIELD_ARMS = 29,
	SPEK_DRIVE_FIELD_CHANNELS = 30,
	SPEK_DRIVE_FIELD_MOVING = 31,
	SPEK_DRIVE_FIELD_ZERO_LATENCY = 32,
	SPEK_DRIVE_FIELD_HEADS_PER_SURFACE = 33,
	SPEK_DRIVE_FIELD_HEAD_ANGLES = 34,
	SPEK_DRIVE_FIELD_SPLIT = 35,
	SPEK_DRIVE_FIELD_ARM_ANGLES = 36,
	SPEK_DRIVE_FIELD_POLICY = 37,
	SPEK_DRIVE_FIELD_WINDOW = 38,
	SPEK_DRIVE_FIELD_MAX_WAIT_NS = 39,
	SPEK_DRIVE_FIELD_CACHE_SEGMENTS = 40,
	SPEK_DRIVE_FIELD_SEGMENT_SECTORS = 41,
	SPEK_DRIVE_FIELD_AHEAD_SECTORS = 42,
	SPEK_DRIVE_FIELD_WRITE_CACHE_SECTORS = 43,
	SPEK_DRIVE_FIELD_HIT_NS = 44,
	SPEK_DRIVE_FIELD_SECTOR_PS = 45,
	SPEK_DRIVE_FIELD_QUEUE_DEPTH = 46,
	SPEK_DRIVE_FIELD_CONDITION_POWER = 47,
	SPEK_DRIVE_FIELD_HOLD_UW = 48,
	SPEK_DRIVE_FIELD_SEEK_UW = 49,
	SPEK_DRIVE_FIELD_ROTATE_UW = 50,
	SPEK_DRIVE_FIELD_READ_UW = 51,
	SPEK_DRIVE_FIELD_WRITE_UW = 52,
	SPEK_DRIVE_FIELD_STARTING_NS = 53,
	SPEK_DRIVE_FIELD_STOPPING_NS = 54,
	SPEK_DRIVE_FIELD_STORE = 55,
	SPEK_DRIVE_FIELD_FIXED_ATA_SENSE = 56,
	SPEK_DRIVE_FIELD_STORE_BYTES = 57,
	SPEK_DRIVE_FIELD_FLASH_CHANNELS = 66,
	SPEK_DRIVE_FIELD_PAGE_SECTORS = 67,
	SPEK_DRIVE_FIELD_BLOCK_PAGES = 68,
	SPEK_DRIVE_FIELD_BLOCKS = 69,
	SPEK_DRIVE_FIELD_LOW_BLOCKS = 70,
	SPEK_DRIVE_FIELD_PAGE_READ_NS = 71,
	SPEK_DRIVE_FIELD_PAGE_PROGRAM_NS = 72,
	SPEK_DRIVE_FIELD_BLOCK_ERASE_NS = 73,
	SPEK_DRIVE_FIELD_CHANNEL_SECTOR_PS = 74,
	SPEK_DRIVE_FIELD_ERASE_UW = 75,
	SPEK_DRIVE_FIELD_SPIN_NS = 76,
	SPEK_DRIVE_FIELD_ATOMIC_SECTORS = 77,
};

/**
 * struct spek_drive_description - attributes of the set drive
 * @sectors: Capacity in 512-byte sectors; what the zones hold if not given.
 * @period_ps: Time of one turn in ps, 1 ms to 1 s.
 * @phase: Angle of the platter at time 0; 0 if not given.
 * @head_switch_ns: Time to change the head.
 * @settle_ns: Time that a write adds to a seek or head switch.
 * @overhead_ns: Time from start of an access until the arm moves.
 * @max_wait_ns: Requests that have waited longer go first; 0 or not given - no limit.
 * @write_cache_sectors: Room of the cache for written data; 0 or not given -
 *   write-through.
 * @hit_ns: Time of an access that the cache serves before its transfer.
 * @sector_ps: Time of a sector on the bus in ps.
 * @starting_ns: Time from standby or stopped to active.
 * @stopping_ns: Time from active to standby or stopped.
 * @store_bytes: Memory for the data of this drive, rounded down to pages; 0 or not given
 *   - only the module's limit, which all drives share.
 * @page_read_ns: Time to read a page into the register of the chip, 1 ns to 1 s.
 * @page_program_ns: Time to program a page from there, 1 ns to 1 s.
 * @block_erase_ns: Time to erase a block, 1 ns to 1 s.
 * @channel_sector_ps: Time of a sector between register and controller in ps.
 * @layout: Order of tracks; cylinder if not given. enum spek_drive_nl_layout
 * @heads: Heads per arm, one per surface; 1 to 64.
 * @band_cylinders: Cylinders of a band; for layout banded only.
 * @surfaces: Surfaces that transfer at a time, a divisor of heads; 1 if not given.
 * @stacks: Stacks of platters; 1 if not given.
 * @nr_zones: number of @zones, up to 256
 * @nr_seek_points: number of @seek_points, up to 4096
 * @max_fall_ppm: Deepest fall allowed in the seek curve; 400000 if not given.
 * @seek_scale: Seek times in units of 1/256; 256 if not given.
 * @rotation_scale: Waits for rotation in units of 1/256; 256 if not given.
 * @arms: Number of arm assemblies; 1 if not given.
 * @channels: Number of arms that may transfer at a time; 1 if not given.
 * @moving: Number of arms that may serve accesses at a time, at least channels; channels
 *   if not given.
 * @zero_latency: 1 - reads begin at any of their sectors.
 * @heads_per_surface: Heads of an arm on a surface; 1 if not given.
 * @nr_head_angles: number of @head_angles, up to 4
 * @split: 1 - each arm has a part of the LBAs to itself, which the disk publishes as an
 *   independent access range.
 * @nr_arm_angles: number of @arm_angles, up to 8
 * @policy: Order of service; fcfs if not given. enum spek_drive_nl_policy
 * @window: Number of the oldest requests that are compared; queue-depth if not given.
 * @cache_segments: Read segments of the cache; 0 or not given - reads are not cached.
 * @segment_sectors: Sectors of a segment.
 * @ahead_sectors: Sectors that the drive reads ahead, up to a segment.
 * @queue_depth: Requests that the drive takes at a time; 32 if not given.
 * @nr_condition_powers: number of @condition_power, 1 to 6
 * @hold_uw: Power of each arm assembly of an active drive, 12 V.
 * @seek_uw: Power that a moving arm adds, 12 V.
 * @rotate_uw: Power that an arm adds that waits for rotation, 12 V.
 * @read_uw: Power that an arm or a channel of flash adds that reads, 5 V.
 * @write_uw: Power that an arm or a channel of flash adds that writes, 5 V.
 * @store: Where written data goes; memory if not given. enum spek_drive_store
 * @fixed_ata_sense: 1 - ATA registers come in fixed format sense data, as from some
 *   bridges; else in descriptor format.
 * @flash_channels: Channels of flash, which work side by side; not given - the drive is a
 *   disk with platters.
 * @page_sectors: Sectors of a page, the unit that is mapped and programmed.
 * @block_pages: Pages of a block, the unit that is erased.
 * @blocks: Blocks of a channel, spare ones included.
 * @low_blocks: A channel collects garbage while fewer of its blocks are free; 2 if not
 *   given.
 * @erase_uw: Power that a channel of flash adds that erases, 5 V.
 * @spin_ns: How long before an event the timer of the drive is set, to wait for the event
 *   with interrupts off; 0 if not given.
 * @atomic_sectors: Sectors of the largest WRITE ATOMIC(16), a power of two; 0 or not
 *   given - the drive has no such command.
 * @name: Name for people, the model's as a rule.
 * @vendor: Vendor in INQUIRY data, printable ASCII; SPEK if not given.
 * @product: Product in INQUIRY data, printable ASCII; MODELLED DRIVE if not given.
 * @revision: Revision in INQUIRY data, printable ASCII; 0001 if not given.
 * @serial: Serial number, printable ASCII without spaces, unique among the drives; made
 *   of the number if not given.
 * @zones: 1 to 256, from the outermost one.
 * @seek_points: 1 to 4096, in rising order of distance.
 * @head_angles: Array of u64: angle of each of these heads, ahead of the first one; all 0
 *   if not given.
 * @arm_angles: Array of u64: angle of each arm, ahead of arm 0; evenly spread if not
 *   given.
 * @condition_power: One for each power condition; 0 W for those that are not given.
 */
struct spek_drive_description {
	u64 sectors;
	u64 period_ps;
	u64 phase;
	u64 head_switch_ns;
	u64 settle_ns;
	u64 overhead_ns;
	u64 max_wait_ns;
	u64 write_cache_sectors;
	u64 hit_ns;
	u64 sector_ps;
	u64 starting_ns;
	u64 stopping_ns;
	u64 store_bytes;
	u64 page_read_ns;
	u64 page_program_ns;
	u64 block_erase_ns;
	u64 channel_sector_ps;
	u32 layout;
	u32 heads;
	u32 band_cylinders;
	u32 surfaces;
	u32 stacks;
	u32 nr_zones;
	u32 nr_seek_points;
	u32 max_fall_ppm;
	u32 seek_scale;
	u32 rotation_scale;
	u32 arms;
	u32 channels;
	u32 moving;
	u32 zero_latency;
	u32 heads_per_surface;
	u32 nr_head_angles;
	u32 split;
	u32 nr_arm_angles;
	u32 policy;
	u32 window;
	u32 cache_segments;
	u32 segment_sectors;
	u32 ahead_sectors;
	u32 queue_depth;
	u32 nr_condition_powers;
	u32 hold_uw;
	u32 seek_uw;
	u32 rotate_uw;
	u32 read_uw;
	u32 write_uw;
	u32 store;
	u32 fixed_ata_sense;
	u32 flash_channels;
	u32 page_sectors;
	u32 block_pages;
	u32 blocks;
	u32 low_blocks;
	u32 erase_uw;
	u32 spin_ns;
	u32 atomic_sectors;
	char name[32];
	char vendor[9];
	char product[17];
	char revision[5];
	char serial[21];
	struct spek_drive_zone_entry zones[256];
	struct spek_drive_seek_entry seek_points[4096];
	u64 head_angles[4];
	u64 arm_angles[8];
	struct spek_drive_condition_power condition_power[6];
};

/**
 * struct spek_drive_fault - attributes of the set fault
 * @lba: First sector of medium-error and write-error.
 * @sectors: Number of sectors of medium-error and write-error; 1 if not given.
 * @delay_ns: Time that the fault adds: the retries of a medium-error or write-error, a
 *   slow head, a slow start; up to 10 minutes.
 * @kind: enum spek_drive_nl_fault
 * @number: Head of slow-head or arm of arm-failed.
 */
struct spek_drive_fault {
	u64 lba;
	u64 sectors;
	u64 delay_ns;
	u32 kind;
	u32 number;
};

/**
 * struct spek_drive_change - attributes of the set drive
 * @id: Number of the drive; each drive-new gives the next.
 * @nr_faults: number of @fault, 1 to SPEK_DRIVE_MAX_FAULTS
 * @clear_faults: 1 - first remove all faults.
 * @fault: One for each fault.
 */
struct spek_drive_change {
	u32 id;
	u32 nr_faults;
	u32 clear_faults;
	struct spek_drive_fault fault[SPEK_DRIVE_MAX_FAULTS];
};

#endif /* _SPEK_DRIVE_DESCRIPTION_GEN_H */
