/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* generated from kmod/drive/uapi/spek_drive.yaml, run `make gen` */

#ifndef _UAPI_SPEK_DRIVE_H
#define _UAPI_SPEK_DRIVE_H

#include <linux/types.h>

#define SPEK_DRIVE_FAMILY_NAME "spek_drive"
#define SPEK_DRIVE_FAMILY_VERSION 1
#define SPEK_DRIVE_MCGRP_DRIVES "drives"

/* Drives that exist at a time. */
#define SPEK_DRIVE_MAX_DRIVES 256
/* Bytes of 256 zones. */
#define SPEK_DRIVE_MAX_ZONES_BYTES 8192
/* Bytes of 4096 seek points. */
#define SPEK_DRIVE_MAX_SEEK_BYTES 32768
/* Bytes of 8 arm angles. */
#define SPEK_DRIVE_MAX_ANGLES_BYTES 64
/* Bytes of 4 head angles. */
#define SPEK_DRIVE_MAX_HEAD_ANGLES_BYTES 32
/* Bytes of the name of a drive. */
#define SPEK_DRIVE_MAX_NAME 31
/* Longest wait for an event with interrupts off. */
#define SPEK_DRIVE_MAX_SPIN_NS 200000
/* Faults that a drive has at a time. */
#define SPEK_DRIVE_MAX_FAULTS 64

/**
 * enum spek_drive_state - State of a drive.
 * @SPEK_DRIVE_STATE_CREATING: The SCSI host is being added and scanned.
 * @SPEK_DRIVE_STATE_READY: The disk can be used.
 * @SPEK_DRIVE_STATE_FAILED: The kernel refused the host; failure says why. drive-del
 *   releases it.
 * @SPEK_DRIVE_STATE_DELETING: The disk is being removed; it answers nothing any more.
 * @SPEK_DRIVE_STATE_GONE: Removed; only in the last drive-ntf of a drive.
 */
enum spek_drive_state {
	SPEK_DRIVE_STATE_CREATING,
	SPEK_DRIVE_STATE_READY,
	SPEK_DRIVE_STATE_FAILED,
	SPEK_DRIVE_STATE_DELETING,
	SPEK_DRIVE_STATE_GONE,
};

/**
 * enum spek_drive_nl_layout - Order of the tracks of a zone.
 * @SPEK_DRIVE_NL_LAYOUT_CYLINDER: All heads of a cylinder, then the next cylinder.
 * @SPEK_DRIVE_NL_LAYOUT_SERPENTINE: As before, but odd cylinders of the zone use the
 *   heads in reverse order.
 * @SPEK_DRIVE_NL_LAYOUT_BANDED: A band of cylinders with the first head, back over the
 *   band with the next one, and so on.
 */
enum spek_drive_nl_layout {
	SPEK_DRIVE_NL_LAYOUT_CYLINDER,
	SPEK_DRIVE_NL_LAYOUT_SERPENTINE,
	SPEK_DRIVE_NL_LAYOUT_BANDED,
};

/**
 * enum spek_drive_nl_policy - Order of service.
 * @SPEK_DRIVE_NL_POLICY_FCFS: The oldest request.
 * @SPEK_DRIVE_NL_POLICY_SSTF: The request on the nearest cylinder.
 * @SPEK_DRIVE_NL_POLICY_SPTF: The request whose first sector is under a head first.
 * @SPEK_DRIVE_NL_POLICY_CLOOK: The next LBA upwards, and from the top back to the lowest.
 */
enum spek_drive_nl_policy {
	SPEK_DRIVE_NL_POLICY_FCFS,
	SPEK_DRIVE_NL_POLICY_SSTF,
	SPEK_DRIVE_NL_POLICY_SPTF,
	SPEK_DRIVE_NL_POLICY_CLOOK,
};

/**
 * enum spek_drive_store - Where written data goes.
 * @SPEK_DRIVE_STORE_NONE: Nowhere; reads return zeroes.
 * @SPEK_DRIVE_STORE_MEMORY: To pages of memory, as many as were written. All drives share
 *   the limit of the module.
 */
enum spek_drive_store {
	SPEK_DRIVE_STORE_NONE,
	SPEK_DRIVE_STORE_MEMORY,
};

/**
 * enum spek_drive_nl_rail - Supply voltage.
 * @SPEK_DRIVE_NL_RAIL_V5: 5 V.
 * @SPEK_DRIVE_NL_RAIL_V12: 12 V.
 */
enum spek_drive_nl_rail {
	SPEK_DRIVE_NL_RAIL_V5,
	SPEK_DRIVE_NL_RAIL_V12,
};

/**
 * enum spek_drive_nl_condition - Power condition.
 * @SPEK_DRIVE_NL_CONDITION_ACTIVE: The media can be accessed.
 * @SPEK_DRIVE_NL_CONDITION_STANDBY: The spindle does not turn; an access starts it.
 * @SPEK_DRIVE_NL_CONDITION_STOPPED: The spindle does not turn; accesses are refused until
 *   START STOP UNIT starts it.
 * @SPEK_DRIVE_NL_CONDITION_STARTING: The spindle is being started.
 * @SPEK_DRIVE_NL_CONDITION_TO_STANDBY: The spindle is being stopped.
 * @SPEK_DRIVE_NL_CONDITION_TO_STOPPED: The spindle is being stopped, and accesses are
 *   refused.
 */
enum spek_drive_nl_condition {
	SPEK_DRIVE_NL_CONDITION_ACTIVE,
	SPEK_DRIVE_NL_CONDITION_STANDBY,
	SPEK_DRIVE_NL_CONDITION_STOPPED,
	SPEK_DRIVE_NL_CONDITION_STARTING,
	SPEK_DRIVE_NL_CONDITION_TO_STANDBY,
	SPEK_DRIVE_NL_CONDITION_TO_STOPPED,
};

/**
 * enum spek_drive_nl_phase - What an arm does, or a channel of flash.
 * @SPEK_DRIVE_NL_PHASE_IDLE: Idle.
 * @SPEK_DRIVE_NL_PHASE_SEEK: Seek.
 * @SPEK_DRIVE_NL_PHASE_ROTATE: Waits for the first sector.
 * @SPEK_DRIVE_NL_PHASE_READ: Read.
 * @SPEK_DRIVE_NL_PHASE_WRITE: Write.
 * @SPEK_DRIVE_NL_PHASE_ERASE: Of flash.
 */
enum spek_drive_nl_phase {
	SPEK_DRIVE_NL_PHASE_IDLE,
	SPEK_DRIVE_NL_PHASE_SEEK,
	SPEK_DRIVE_NL_PHASE_ROTATE,
	SPEK_DRIVE_NL_PHASE_READ,
	SPEK_DRIVE_NL_PHASE_WRITE,
	SPEK_DRIVE_NL_PHASE_ERASE,
};

/**
 * enum spek_drive_nl_fault - Fault that a drive is given.
 * @SPEK_DRIVE_NL_FAULT_MEDIUM_ERROR: Reads of the sectors from lba on fail with MEDIUM
 *   ERROR after delay-ns, until they are written.
 * @SPEK_DRIVE_NL_FAULT_WRITE_ERROR: Writes of the sectors from lba on fail with MEDIUM
 *   ERROR after delay-ns.
 * @SPEK_DRIVE_NL_FAULT_SLOW_HEAD: Each access that begins with head number takes delay-ns
 *   longer.
 * @SPEK_DRIVE_NL_FAULT_ARM_FAILED: Arm number is out of service after the access that it
 *   serves.
 * @SPEK_DRIVE_NL_FAULT_SLOW_START: The spindle takes delay-ns longer to start.
 * @SPEK_DRIVE_NL_FAULT_GONE: The drive does not answer any more, and still draws power;
 *   commands that it holds time out, and the SCSI layer takes it offline.
 * @SPEK_DRIVE_NL_FAULT_VOLATILE_CACHE: A power cut loses what was written since the last
 *   flush, except by FUA. STANDBY, SLEEP and START STOP UNIT that stops the spindle flush
 *   as well, unless NO_FLUSH is set, and so does the standby timer. The drive's data take
 *   up to twice the memory.
 * @SPEK_DRIVE_NL_FAULT_FLUSH_IGNORED: As volatile-cache, but the drive lies - flushes and
 *   FUA succeed and make nothing permanent.
 * @SPEK_DRIVE_NL_FAULT_POWER_CUT: As gone, and the drive draws no power, forgets the
 *   commands that it holds and what its cache holds, and loses what it has not made
 *   permanent, if volatile-cache, flush-ignored or writes-torn was set before. Its times
 *   and energies stand still. When the fault is cleared the spindle starts, mode
 *   parameters have their defaults, the next command reports POWER ON by a unit
 *   attention, and lost commands are sent again.
 * @SPEK_DRIVE_NL_FAULT_WRITES_TORN: As volatile-cache, but a power cut loses only every
 *   second page of memory. Writes of more than one page are torn, even atomic ones, which
 *   an honest drive keeps or loses as a whole.
 */
enum spek_drive_nl_fault {
	SPEK_DRIVE_NL_FAULT_MEDIUM_ERROR,
	SPEK_DRIVE_NL_FAULT_WRITE_ERROR,
	SPEK_DRIVE_NL_FAULT_SLOW_HEAD,
	SPEK_DRIVE_NL_FAULT_ARM_FAILED,
	SPEK_DRIVE_NL_FAULT_SLOW_START,
	SPEK_DRIVE_NL_FAULT_GONE,
	SPEK_DRIVE_NL_FAULT_VOLATILE_CACHE,
	SPEK_DRIVE_NL_FAULT_FLUSH_IGNORED,
	SPEK_DRIVE_NL_FAULT_POWER_CUT,
	SPEK_DRIVE_NL_FAULT_WRITES_TORN,
};

/**
 * struct spek_drive_zone_record - Cylinders with the same number of sectors per track, in
 *   the machine's byte order. 32 bytes, no padding.
 * @first_cylinder: Outermost cylinder.
 * @cylinders: Number of cylinders.
 * @sectors_per_track: Number of 512-byte sectors of a track.
 * @reserved: Zero.
 * @track_skew: Angle added by a step to another head.
 * @cylinder_skew: Angle added by a step to another cylinder.
 */
struct spek_drive_zone_record {
	__u32 first_cylinder;
	__u32 cylinders;
	__u32 sectors_per_track;
	__u32 reserved;
	__u64 track_skew;
	__u64 cylinder_skew;
};

/**
 * struct spek_drive_seek_record - Point of a seek curve, in the machine's byte order. 8
 *   bytes, no padding.
 * @distance: Cylinders, > 0.
 * @ns: Time, 1 ns to 1 s.
 */
struct spek_drive_seek_record {
	__u32 distance;
	__u32 ns;
};

/**
 * enum spek_drive_a_drive - attributes of the set drive
 * @SPEK_DRIVE_A_DRIVE_PAD: alignment of 64-bit attributes
 * @SPEK_DRIVE_A_DRIVE_ID: (u32) Number of the drive; each drive-new gives the next.
 * @SPEK_DRIVE_A_DRIVE_NAME: (string, at most 31 bytes) Name for people, the model's as a
 *   rule.
 * @SPEK_DRIVE_A_DRIVE_VENDOR: (string, at most 8 bytes) Vendor in INQUIRY data, printable
 *   ASCII; SPEK if not given.
 * @SPEK_DRIVE_A_DRIVE_PRODUCT: (string, at most 16 bytes) Product in INQUIRY data,
 *   printable ASCII; MODELLED DRIVE if not given.
 * @SPEK_DRIVE_A_DRIVE_REVISION: (string, at most 4 bytes) Revision in INQUIRY data,
 *   printable ASCII; 0001 if not given.
 * @SPEK_DRIVE_A_DRIVE_SERIAL: (string, at most 20 bytes) Serial number, printable ASCII
 *   without spaces, unique among the drives; made of the number if not given.
 * @SPEK_DRIVE_A_DRIVE_STATE: (u32, enum drive-state)
 * @SPEK_DRIVE_A_DRIVE_FAILURE_ERRNO: (u32) Errno of a drive that failed.
 * @SPEK_DRIVE_A_DRIVE_FAILURE: (string, at most 128 bytes) Why it failed.
 * @SPEK_DRIVE_A_DRIVE_HOST: (u32) Number of its SCSI host; it is channel 0 target 0 LUN 0
 *   there. From READY on.
 * @SPEK_DRIVE_A_DRIVE_HWMON: (string, at most 32 bytes) Name of its hwmon device, hwmonN;
 *   from READY on, if the kernel has hwmon.
 * @SPEK_DRIVE_A_DRIVE_LAYOUT: (u32, enum layout) Order of tracks; cylinder if not given.
 * @SPEK_DRIVE_A_DRIVE_HEADS: (u32) Heads per arm, one per surface; 1 to 64.
 * @SPEK_DRIVE_A_DRIVE_BAND_CYLINDERS: (u32) Cylinders of a band; for layout banded only.
 * @SPEK_DRIVE_A_DRIVE_SURFACES: (u32, at least 1) Surfaces that transfer at a time, a
 *   divisor of heads; 1 if not given.
 * @SPEK_DRIVE_A_DRIVE_STACKS: (u32, 1..8) Stacks of platters; 1 if not given.
 * @SPEK_DRIVE_A_DRIVE_SECTORS: (u64) Capacity in 512-byte sectors; what the zones hold if
 *   not given.
 * @SPEK_DRIVE_A_DRIVE_ZONES: (array of struct spek_drive_zone_record, at most 8192 bytes)
 *   1 to 256, from the outermost one.
 * @SPEK_DRIVE_A_DRIVE_SEEK_POINTS: (array of struct spek_drive_seek_record, at most 32768
 *   bytes) 1 to 4096, in rising order of distance.
 * @SPEK_DRIVE_A_DRIVE_MAX_FALL_PPM: (u32, at most 1000000) Deepest fall allowed in the
 *   seek curve; 400000 if not given.
 * @SPEK_DRIVE_A_DRIVE_PERIOD_PS: (u64) Time of one turn in ps, 1 ms to 1 s.
 * @SPEK_DRIVE_A_DRIVE_PHASE: (u64) Angle of the platter at time 0; 0 if not given.
 * @SPEK_DRIVE_A_DRIVE_HEAD_SWITCH_NS: (u64) Time to change the head.
 * @SPEK_DRIVE_A_DRIVE_SETTLE_NS: (u64) Time that a write adds to a seek or head switch.
 * @SPEK_DRIVE_A_DRIVE_OVERHEAD_NS: (u64) Time from start of an access until the arm
 *   moves.
 * @SPEK_DRIVE_A_DRIVE_SEEK_SCALE: (u32, at most 256) Seek times in units of 1/256; 256 if
 *   not given.
 * @SPEK_DRIVE_A_DRIVE_ROTATION_SCALE: (u32, at most 256) Waits for rotation in units of
 *   1/256; 256 if not given.
 * @SPEK_DRIVE_A_DRIVE_ARMS: (u32, 1..8) Number of arm assemblies; 1 if not given.
 * @SPEK_DRIVE_A_DRIVE_CHANNELS: (u32, 1..8) Number of arms that may transfer at a time; 1
 *   if not given.
 * @SPEK_DRIVE_A_DRIVE_MOVING: (u32, 1..8) Number of arms that may serve accesses at a
 *   time, at least channels; channels if not given.
 * @SPEK_DRIVE_A_DRIVE_ZERO_LATENCY: (u32, at most 1) 1 - reads begin at any of their
 *   sectors.
 * @SPEK_DRIVE_A_DRIVE_HEADS_PER_SURFACE: (u32, 1..4) Heads of an arm on a surface; 1 if
 *   not given.
 * @SPEK_DRIVE_A_DRIVE_HEAD_ANGLES: (array of u64, at most 32 bytes) Array of u64: angle
 *   of each of these heads, ahead of the first one; all 0 if not given.
 * @SPEK_DRIVE_A_DRIVE_SPLIT: (u32, at most 1) 1 - each arm has a part of the LBAs to
 *   itself, which the disk publishes as an independent access range.
 * @SPEK_DRIVE_A_DRIVE_ARM_ANGLES: (array of u64, at most 64 bytes) Array of u64: angle of
 *   each arm, ahead of arm 0; evenly spread if not given.
 * @SPEK_DRIVE_A_DRIVE_POLICY: (u32, enum policy) Order of service; fcfs if not given.
 * @SPEK_DRIVE_A_DRIVE_WINDOW: (u32, at least 1) Number of the oldest requests that are
 *   compared; queue-depth if not given.
 * @SPEK_DRIVE_A_DRIVE_MAX_WAIT_NS: (u64) Requests that have waited longer go first; 0 or
 *   not given - no limit.
 * @SPEK_DRIVE_A_DRIVE_CACHE_SEGMENTS: (u32, at most 64) Read segments of the cache; 0 or
 *   not given - reads are not cached.
 * @SPEK_DRIVE_A_DRIVE_SEGMENT_SECTORS: (u32) Sectors of a segment.
 * @SPEK_DRIVE_A_DRIVE_AHEAD_SECTORS: (u32) Sectors that the drive reads ahead, up to a
 *   segment.
 * @SPEK_DRIVE_A_DRIVE_WRITE_CACHE_SECTORS: (u64) Room of the cache for written data; 0 or
 *   not given - write-through.
 * @SPEK_DRIVE_A_DRIVE_HIT_NS: (u64) Time of an access that the cache serves before its
 *   transfer.
 * @SPEK_DRIVE_A_DRIVE_SECTOR_PS: (u64) Time of a sector on the bus in ps.
 * @SPEK_DRIVE_A_DRIVE_QUEUE_DEPTH: (u32, 1..256) Requests that the drive takes at a time;
 *   32 if not given.
 * @SPEK_DRIVE_A_DRIVE_CONDITION_POWER: (nest of condition-power, repeated) One for each
 *   power condition; 0 W for those that are not given.
 * @SPEK_DRIVE_A_DRIVE_HOLD_UW: (u32) Power of each arm assembly of an active drive, 12 V.
 * @SPEK_DRIVE_A_DRIVE_SEEK_UW: (u32) Power that a moving arm adds, 12 V.
 * @SPEK_DRIVE_A_DRIVE_ROTATE_UW: (u32) Power that an arm adds that waits for rotation, 12
 *   V.
 * @SPEK_DRIVE_A_DRIVE_READ_UW: (u32) Power that an arm or a channel of flash adds that
 *   reads, 5 V.
 * @SPEK_DRIVE_A_DRIVE_WRITE_UW: (u32) Power that an arm or a channel of flash adds that
 *   writes, 5 V.
 * @SPEK_DRIVE_A_DRIVE_STARTING_NS: (u64) Time from standby or stopped to active.
 * @SPEK_DRIVE_A_DRIVE_STOPPING_NS: (u64) Time from active to standby or stopped.
 * @SPEK_DRIVE_A_DRIVE_STORE: (u32, enum store) Where written data goes; memory if not
 *   given.
 * @SPEK_DRIVE_A_DRIVE_FIXED_ATA_SENSE: (u32, at most 1) 1 - ATA registers come in fixed
 *   format sense data, as from some bridges; else in descriptor format.
 * @SPEK_DRIVE_A_DRIVE_STORE_BYTES: (u64) Memory for the data of this drive, rounded down
 *   to pages; 0 or not given - only the module's limit, which all drives share.
 * @SPEK_DRIVE_A_DRIVE_CONDITION: (u32, enum condition) Power condition of this moment;
 *   standby while the power is cut.
 * @SPEK_DRIVE_A_DRIVE_OUTSTANDING: (u32) Requests that the drive holds.
 * @SPEK_DRIVE_A_DRIVE_STORED_BYTES: (u64) Memory that its data uses.
 * @SPEK_DRIVE_A_DRIVE_CREATED_NS: (u64) Time of drive-new.
 * @SPEK_DRIVE_A_DRIVE_NOW_NS: (u64) Time of the state in this answer.
 * @SPEK_DRIVE_A_DRIVE_FAULT: (nest of fault, repeated) One for each fault.
 * @SPEK_DRIVE_A_DRIVE_CLEAR_FAULTS: (u32, at most 1) 1 - first remove all faults.
 * @SPEK_DRIVE_A_DRIVE_MODULE_VERSION: (string, at most 24 bytes)
 * @SPEK_DRIVE_A_DRIVE_FLASH_CHANNELS: (u32, 1..32) Channels of flash, which work side by
 *   side; not given - the drive is a disk with platters.
 * @SPEK_DRIVE_A_DRIVE_PAGE_SECTORS: (u32, 1..256) Sectors of a page, the unit that is
 *   mapped and programmed.
 * @SPEK_DRIVE_A_DRIVE_BLOCK_PAGES: (u32, 1..32768) Pages of a block, the unit that is
 *   erased.
 * @SPEK_DRIVE_A_DRIVE_BLOCKS: (u32) Blocks of a channel, spare ones included.
 * @SPEK_DRIVE_A_DRIVE_LOW_BLOCKS: (u32, at least 2) A channel collects garbage while
 *   fewer of its blocks are free; 2 if not given.
 * @SPEK_DRIVE_A_DRIVE_PAGE_READ_NS: (u64) Time to read a page into the register of the
 *   chip, 1 ns to 1 s.
 * @SPEK_DRIVE_A_DRIVE_PAGE_PROGRAM_NS: (u64) Time to program a page from there, 1 ns to 1
 *   s.
 * @SPEK_DRIVE_A_DRIVE_BLOCK_ERASE_NS: (u64) Time to erase a block, 1 ns to 1 s.
 * @SPEK_DRIVE_A_DRIVE_CHANNEL_SECTOR_PS: (u64) Time of a sector between register and
 *   controller in ps.
 * @SPEK_DRIVE_A_DRIVE_ERASE_UW: (u32) Power that a channel of flash adds that erases, 5
 *   V.
 * @SPEK_DRIVE_A_DRIVE_SPIN_NS: (u32, at most 200000) How long before an event the timer
 *   of the drive is set, to wait for the event with interrupts off; 0 if not given.
 * @SPEK_DRIVE_A_DRIVE_ATOMIC_SECTORS: (u32, at most 32768) Sectors of the largest WRITE
 *   ATOMIC(16), a power of two; 0 or not given - the drive has no such command.
 * @__SPEK_DRIVE_A_DRIVE_MAX: private
 * @SPEK_DRIVE_A_DRIVE_MAX: highest id
 */
enum spek_drive_a_drive {
	SPEK_DRIVE_A_DRIVE_PAD = 1,
	SPEK_DRIVE_A_DRIVE_ID,
	SPEK_DRIVE_A_DRIVE_NAME,
	SPEK_DRIVE_A_DRIVE_VENDOR,
	SPEK_DRIVE_A_DRIVE_PRODUCT,
	SPEK_DRIVE_A_DRIVE_REVISION,
	SPEK_DRIVE_A_DRIVE_SERIAL,
	SPEK_DRIVE_A_DRIVE_STATE,
	SPEK_DRIVE_A_DRIVE_FAILURE_ERRNO,
	SPEK_DRIVE_A_DRIVE_FAILURE,
	SPEK_DRIVE_A_DRIVE_HOST,
	SPEK_DRIVE_A_DRIVE_HWMON,
	SPEK_DRIVE_A_DRIVE_LAYOUT,
	SPEK_DRIVE_A_DRIVE_HEADS,
	SPEK_DRIVE_A_DRIVE_BAND_CYLINDERS,
	SPEK_DRIVE_A_DRIVE_SURFACES,
	SPEK_DRIVE_A_DRIVE_STACKS,
	SPEK_DRIVE_A_DRIVE_SECTORS,
	SPEK_DRIVE_A_DRIVE_ZONES,
	SPEK_DRIVE_A_DRIVE_SEEK_POINTS,
	SPEK_DRIVE_A_DRIVE_MAX_FALL_PPM,
	SPEK_DRIVE_A_DRIVE_PERIOD_PS,
	SPEK_DRIVE_A_DRIVE_PHASE,
	SPEK_DRIVE_A_DRIVE_HEAD_SWITCH_NS,
	SPEK_DRIVE_A_DRIVE_SETTLE_NS,
	SPEK_DRIVE_A_DRIVE_OVERHEAD_NS,
	SPEK_DRIVE_A_DRIVE_SEEK_SCALE,
	SPEK_DRIVE_A_DRIVE_ROTATION_SCALE,
	SPEK_DRIVE_A_DRIVE_ARMS,
	SPEK_DRIVE_A_DRIVE_CHANNELS,
	SPEK_DRIVE_A_DRIVE_MOVING,
	SPEK_DRIVE_A_DRIVE_ZERO_LATENCY,
	SPEK_DRIVE_A_DRIVE_HEADS_PER_SURFACE,
	SPEK_DRIVE_A_DRIVE_HEAD_ANGLES,
	SPEK_DRIVE_A_DRIVE_SPLIT,
	SPEK_DRIVE_A_DRIVE_ARM_ANGLES,
	SPEK_DRIVE_A_DRIVE_POLICY,
	SPEK_DRIVE_A_DRIVE_WINDOW,
	SPEK_DRIVE_A_DRIVE_MAX_WAIT_NS,
	SPEK_DRIVE_A_DRIVE_CACHE_SEGMENTS,
	SPEK_DRIVE_A_DRIVE_SEGMENT_SECTORS,
	SPEK_DRIVE_A_DRIVE_AHEAD_SECTORS,
	SPEK_DRIVE_A_DRIVE_WRITE_CACHE_SECTORS,
	SPEK_DRIVE_A_DRIVE_HIT_NS,
	SPEK_DRIVE_A_DRIVE_SECTOR_PS,
	SPEK_DRIVE_A_DRIVE_QUEUE_DEPTH,
	SPEK_DRIVE_A_DRIVE_CONDITION_POWER,
	SPEK_DRIVE_A_DRIVE_HOLD_UW,
	SPEK_DRIVE_A_DRIVE_SEEK_UW,
	SPEK_DRIVE_A_DRIVE_ROTATE_UW,
	SPEK_DRIVE_A_DRIVE_READ_UW,
	SPEK_DRIVE_A_DRIVE_WRITE_UW,
	SPEK_DRIVE_A_DRIVE_STARTING_NS,
	SPEK_DRIVE_A_DRIVE_STOPPING_NS,
	SPEK_DRIVE_A_DRIVE_STORE,
	SPEK_DRIVE_A_DRIVE_FIXED_ATA_SENSE,
	SPEK_DRIVE_A_DRIVE_STORE_BYTES,
	SPEK_DRIVE_A_DRIVE_CONDITION,
	SPEK_DRIVE_A_DRIVE_OUTSTANDING,
	SPEK_DRIVE_A_DRIVE_STORED_BYTES,
	SPEK_DRIVE_A_DRIVE_CREATED_NS,
	SPEK_DRIVE_A_DRIVE_NOW_NS,
	SPEK_DRIVE_A_DRIVE_FAULT,
	SPEK_DRIVE_A_DRIVE_CLEAR_FAULTS,
	SPEK_DRIVE_A_DRIVE_MODULE_VERSION,
	SPEK_DRIVE_A_DRIVE_FLASH_CHANNELS,
	SPEK_DRIVE_A_DRIVE_PAGE_SECTORS,
	SPEK_DRIVE_A_DRIVE_BLOCK_PAGES,
	SPEK_DRIVE_A_DRIVE_BLOCKS,
	SPEK_DRIVE_A_DRIVE_LOW_BLOCKS,
	SPEK_DRIVE_A_DRIVE_PAGE_READ_NS,
	SPEK_DRIVE_A_DRIVE_PAGE_PROGRAM_NS,
	SPEK_DRIVE_A_DRIVE_BLOCK_ERASE_NS,
	SPEK_DRIVE_A_DRIVE_CHANNEL_SECTOR_PS,
	SPEK_DRIVE_A_DRIVE_ERASE_UW,
	SPEK_DRIVE_A_DRIVE_SPIN_NS,
	SPEK_DRIVE_A_DRIVE_ATOMIC_SECTORS,

	__SPEK_DRIVE_A_DRIVE_MAX,
	SPEK_DRIVE_A_DRIVE_MAX = (__SPEK_DRIVE_A_DRIVE_MAX - 1)
};

/**
 * enum spek_drive_a_condition_power - attributes of the set condition-power
 * @SPEK_DRIVE_A_CONDITION_POWER_CONDITION: (u32, enum condition)
 * @SPEK_DRIVE_A_CONDITION_POWER_UW_V5: (u32) Power on 5 V; active: the electronics.
 * @SPEK_DRIVE_A_CONDITION_POWER_UW_V12: (u32) Power on 12 V; active: the spindle.
 * @__SPEK_DRIVE_A_CONDITION_POWER_MAX: private
 * @SPEK_DRIVE_A_CONDITION_POWER_MAX: highest id
 */
enum spek_drive_a_condition_power {
	SPEK_DRIVE_A_CONDITION_POWER_CONDITION = 1,
	SPEK_DRIVE_A_CONDITION_POWER_UW_V5,
	SPEK_DRIVE_A_CONDITION_POWER_UW_V12,

	__SPEK_DRIVE_A_CONDITION_POWER_MAX,
	SPEK_DRIVE_A_CONDITION_POWER_MAX = (__SPEK_DRIVE_A_CONDITION_POWER_MAX - 1)
};

/**
 * enum spek_drive_a_fault - attributes of the set fault
 * @SPEK_DRIVE_A_FAULT_PAD: alignment of 64-bit attributes
 * @SPEK_DRIVE_A_FAULT_KIND: (u32, enum fault)
 * @SPEK_DRIVE_A_FAULT_LBA: (u64) First sector of medium-error and write-error.
 * @SPEK_DRIVE_A_FAULT_SECTORS: (u64) Number of sectors of medium-error and write-error; 1
 *   if not given.
 * @SPEK_DRIVE_A_FAULT_NUMBER: (u32) Head of slow-head or arm of arm-failed.
 * @SPEK_DRIVE_A_FAULT_DELAY_NS: (u64) Time that the fault adds: the retries of a
 *   medium-error or write-error, a slow head, a slow start; up to 10 minutes.
 * @__SPEK_DRIVE_A_FAULT_MAX: private
 * @SPEK_DRIVE_A_FAULT_MAX: highest id
 */
enum spek_drive_a_fault {
	SPEK_DRIVE_A_FAULT_PAD = 1,
	SPEK_DRIVE_A_FAULT_KIND,
	SPEK_DRIVE_A_FAULT_LBA,
	SPEK_DRIVE_A_FAULT_SECTORS,
	SPEK_DRIVE_A_FAULT_NUMBER,
	SPEK_DRIVE_A_FAULT_DELAY_NS,

	__SPEK_DRIVE_A_FAULT_MAX,
	SPEK_DRIVE_A_FAULT_MAX = (__SPEK_DRIVE_A_FAULT_MAX - 1)
};

/**
 * enum spek_drive_a_stats - attributes of the set stats
 * @SPEK_DRIVE_A_STATS_PAD: alignment of 64-bit attributes
 * @SPEK_DRIVE_A_STATS_ID: (u32) Number of the drive.
 * @SPEK_DRIVE_A_STATS_CREATED_NS: (u64) Time from which everything counts.
 * @SPEK_DRIVE_A_STATS_NOW_NS: (u64) Time up to which everything counts.
 * @SPEK_DRIVE_A_STATS_ENERGY: (nest of energy, repeated) One for each rail.
 * @SPEK_DRIVE_A_STATS_CONDITION: (nest of condition-stats, repeated) One for each power
 *   condition.
 * @SPEK_DRIVE_A_STATS_PHASE: (nest of phase-stats, repeated) One for each phase.
 * @SPEK_DRIVE_A_STATS_STARTS: (u64) Number of times that the spindle was started.
 * @SPEK_DRIVE_A_STATS_SERVED: (u64) Accesses that were started.
 * @SPEK_DRIVE_A_STATS_MOVED: (u64) Of these, accesses whose arm had to change its
 *   cylinder.
 * @SPEK_DRIVE_A_STATS_HITS: (u64) Reads that the cache served.
 * @SPEK_DRIVE_A_STATS_ACCEPTED: (u64) Writes that the cache accepted.
 * @SPEK_DRIVE_A_STATS_DESTAGES: (u64) Accesses that wrote from the cache to the media.
 * @SPEK_DRIVE_A_STATS_LOST: (u64) Of these, those that failed.
 * @SPEK_DRIVE_A_STATS_AHEAD_SECTORS: (u64) Sectors that the drive has read ahead.
 * @SPEK_DRIVE_A_STATS_READS: (u64) Reads that completed.
 * @SPEK_DRIVE_A_STATS_READ_SECTORS: (u64) Sectors of these.
 * @SPEK_DRIVE_A_STATS_WRITES: (u64) Writes that completed.
 * @SPEK_DRIVE_A_STATS_WRITTEN_SECTORS: (u64) Sectors of these.
 * @SPEK_DRIVE_A_STATS_ERRORS: (u64) Commands that ended with CHECK CONDITION.
 * @SPEK_DRIVE_A_STATS_ABORTED: (u64) Commands that the SCSI layer took back.
 * @SPEK_DRIVE_A_STATS_LATE_COUNT: (u64) Completions whose lateness is in the histogram.
 * @SPEK_DRIVE_A_STATS_LATE_SUM_NS: (u64) Time from the model's end of an access to its
 *   completion, summed.
 * @SPEK_DRIVE_A_STATS_LATE_MAX_NS: (u64) Longest such time.
 * @SPEK_DRIVE_A_STATS_HIST_BITS: (u32) Sub-bucket bits M; relative error at most
 *   1/2^(M+1).
 * @SPEK_DRIVE_A_STATS_HIST_FIRST: (u32) Index of the first bucket in hist.
 * @SPEK_DRIVE_A_STATS_HIST: (binary, at most 20480 bytes) u64 counts of consecutive
 *   buckets of lateness, from the first to the last one that is not 0.
 * @SPEK_DRIVE_A_STATS_UNMAPS: (u64) UNMAP commands that completed.
 * @SPEK_DRIVE_A_STATS_UNMAPPED_SECTORS: (u64) Sectors of these.
 * @SPEK_DRIVE_A_STATS_PAGES_PROGRAMMED: (u64) Pages of flash programmed for the host.
 * @SPEK_DRIVE_A_STATS_PAGES_MOVED: (u64) Pages that garbage collection moved.
 * @SPEK_DRIVE_A_STATS_BLOCKS_ERASED: (u64) Blocks that it erased.
 * @__SPEK_DRIVE_A_STATS_MAX: private
 * @SPEK_DRIVE_A_STATS_MAX: highest id
 */
enum spek_drive_a_stats {
	SPEK_DRIVE_A_STATS_PAD = 1,
	SPEK_DRIVE_A_STATS_ID,
	SPEK_DRIVE_A_STATS_CREATED_NS,
	SPEK_DRIVE_A_STATS_NOW_NS,
	SPEK_DRIVE_A_STATS_ENERGY,
	SPEK_DRIVE_A_STATS_CONDITION,
	SPEK_DRIVE_A_STATS_PHASE,
	SPEK_DRIVE_A_STATS_STARTS,
	SPEK_DRIVE_A_STATS_SERVED,
	SPEK_DRIVE_A_STATS_MOVED,
	SPEK_DRIVE_A_STATS_HITS,
	SPEK_DRIVE_A_STATS_ACCEPTED,
	SPEK_DRIVE_A_STATS_DESTAGES,
	SPEK_DRIVE_A_STATS_LOST,
	SPEK_DRIVE_A_STATS_AHEAD_SECTORS,
	SPEK_DRIVE_A_STATS_READS,
	SPEK_DRIVE_A_STATS_READ_SECTORS,
	SPEK_DRIVE_A_STATS_WRITES,
	SPEK_DRIVE_A_STATS_WRITTEN_SECTORS,
	SPEK_DRIVE_A_STATS_ERRORS,
	SPEK_DRIVE_A_STATS_ABORTED,
	SPEK_DRIVE_A_STATS_LATE_COUNT,
	SPEK_DRIVE_A_STATS_LATE_SUM_NS,
	SPEK_DRIVE_A_STATS_LATE_MAX_NS,
	SPEK_DRIVE_A_STATS_HIST_BITS,
	SPEK_DRIVE_A_STATS_HIST_FIRST,
	SPEK_DRIVE_A_STATS_HIST,
	SPEK_DRIVE_A_STATS_UNMAPS,
	SPEK_DRIVE_A_STATS_UNMAPPED_SECTORS,
	SPEK_DRIVE_A_STATS_PAGES_PROGRAMMED,
	SPEK_DRIVE_A_STATS_PAGES_MOVED,
	SPEK_DRIVE_A_STATS_BLOCKS_ERASED,

	__SPEK_DRIVE_A_STATS_MAX,
	SPEK_DRIVE_A_STATS_MAX = (__SPEK_DRIVE_A_STATS_MAX - 1)
};

/**
 * enum spek_drive_a_energy - attributes of the set energy
 * @SPEK_DRIVE_A_ENERGY_PAD: alignment of 64-bit attributes
 * @SPEK_DRIVE_A_ENERGY_RAIL: (u32, enum rail)
 * @SPEK_DRIVE_A_ENERGY_NJ: (u64) Energy, nJ.
 * @SPEK_DRIVE_A_ENERGY_REMAINDER_FJ: (u32) Remainder of nj, fJ, below 10^6.
 * @SPEK_DRIVE_A_ENERGY_POWER_UW: (u64) Power at now-ns.
 * @__SPEK_DRIVE_A_ENERGY_MAX: private
 * @SPEK_DRIVE_A_ENERGY_MAX: highest id
 */
enum spek_drive_a_energy {
	SPEK_DRIVE_A_ENERGY_PAD = 1,
	SPEK_DRIVE_A_ENERGY_RAIL,
	SPEK_DRIVE_A_ENERGY_NJ,
	SPEK_DRIVE_A_ENERGY_REMAINDER_FJ,
	SPEK_DRIVE_A_ENERGY_POWER_UW,

	__SPEK_DRIVE_A_ENERGY_MAX,
	SPEK_DRIVE_A_ENERGY_MAX = (__SPEK_DRIVE_A_ENERGY_MAX - 1)
};

/**
 * enum spek_drive_a_condition_stats - attributes of the set condition-stats
 * @SPEK_DRIVE_A_CONDITION_STATS_PAD: alignment of 64-bit attributes
 * @SPEK_DRIVE_A_CONDITION_STATS_CONDITION: (u32, enum condition)
 * @SPEK_DRIVE_A_CONDITION_STATS_NS: (u64) Time in this condition; all of them add up to
 *   the elapsed time without that of power cuts.
 * @__SPEK_DRIVE_A_CONDITION_STATS_MAX: private
 * @SPEK_DRIVE_A_CONDITION_STATS_MAX: highest id
 */
enum spek_drive_a_condition_stats {
	SPEK_DRIVE_A_CONDITION_STATS_PAD = 1,
	SPEK_DRIVE_A_CONDITION_STATS_CONDITION,
	SPEK_DRIVE_A_CONDITION_STATS_NS,

	__SPEK_DRIVE_A_CONDITION_STATS_MAX,
	SPEK_DRIVE_A_CONDITION_STATS_MAX = (__SPEK_DRIVE_A_CONDITION_STATS_MAX - 1)
};

/**
 * enum spek_drive_a_phase_stats - attributes of the set phase-stats
 * @SPEK_DRIVE_A_PHASE_STATS_PAD: alignment of 64-bit attributes
 * @SPEK_DRIVE_A_PHASE_STATS_PHASE: (u32, enum phase)
 * @SPEK_DRIVE_A_PHASE_STATS_NS: (u64) Time of all arms or channels of flash in this
 *   phase; all of them add up to the time in all conditions times their number.
 * @SPEK_DRIVE_A_PHASE_STATS_NJ: (u64) Energy that they added in this phase, nJ, rounded
 *   down.
 * @__SPEK_DRIVE_A_PHASE_STATS_MAX: private
 * @SPEK_DRIVE_A_PHASE_STATS_MAX: highest id
 */
enum spek_drive_a_phase_stats {
	SPEK_DRIVE_A_PHASE_STATS_PAD = 1,
	SPEK_DRIVE_A_PHASE_STATS_PHASE,
	SPEK_DRIVE_A_PHASE_STATS_NS,
	SPEK_DRIVE_A_PHASE_STATS_NJ,

	__SPEK_DRIVE_A_PHASE_STATS_MAX,
	SPEK_DRIVE_A_PHASE_STATS_MAX = (__SPEK_DRIVE_A_PHASE_STATS_MAX - 1)
};

/**
 * enum spek_drive_cmd - commands
 * @SPEK_DRIVE_CMD_DRIVE_NEW: Make a drive. A disk needs heads, zones, seek-points and
 *   period-ps. With flash-channels the drive is of flash and needs page-sectors,
 *   block-pages, blocks, sectors and the times of a page and a block; attributes of
 *   platters and arms are refused then. The answer means that the model is good;
 *   drive-ntf says when the disk is there.
 * @SPEK_DRIVE_CMD_DRIVE_GET: A drive or all drives, with their models as they are in
 *   force; without zones and seek-points in a dump.
 * @SPEK_DRIVE_CMD_DRIVE_DEL: Remove a drive; the answer means accepted, drive-ntf with
 *   state gone means done.
 * @SPEK_DRIVE_CMD_DRIVE_STATS: What a drive has done and used since drive-new, exact up
 *   to now-ns.
 * @SPEK_DRIVE_CMD_DRIVE_SET: Change the faults of a drive: clear-faults first removes
 *   all, then each fault is added. Either all changes are made or none.
 * @SPEK_DRIVE_CMD_DRIVE_NTF: A drive changed its state; content of drive-get.
 * @__SPEK_DRIVE_CMD_MAX: private
 * @SPEK_DRIVE_CMD_MAX: highest id
 */
enum spek_drive_cmd {
	SPEK_DRIVE_CMD_DRIVE_NEW = 1,
	SPEK_DRIVE_CMD_DRIVE_GET,
	SPEK_DRIVE_CMD_DRIVE_DEL,
	SPEK_DRIVE_CMD_DRIVE_STATS,
	SPEK_DRIVE_CMD_DRIVE_SET,
	SPEK_DRIVE_CMD_DRIVE_NTF,

	__SPEK_DRIVE_CMD_MAX,
	SPEK_DRIVE_CMD_MAX = (__SPEK_DRIVE_CMD_MAX - 1)
};

#endif /* _UAPI_SPEK_DRIVE_H */
