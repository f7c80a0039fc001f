# SPDX-License-Identifier: GPL-2.0-or-later
# generated from kmod/drive/uapi/spek_drive.yaml, run `make gen`
# mypy: disable-error-code="import-untyped, import-not-found, misc"
"""Netlink family spek_drive: constants, enums and message classes for pyroute2."""

from enum import IntEnum
from typing import Any, ClassVar

from pyroute2.netlink import NLA_F_NESTED, genlmsg, nla

from spekctl.kernel.gen import spek_drive_records as records

FAMILY = "spek_drive"
VERSION = 1
GROUP_DRIVES = "drives"
MAX_DRIVES = 256
MAX_ZONES_BYTES = 8192
MAX_SEEK_BYTES = 32768
MAX_ANGLES_BYTES = 64
MAX_HEAD_ANGLES_BYTES = 32
MAX_NAME = 31
MAX_SPIN_NS = 200000
MAX_FAULTS = 64


class Cmd(IntEnum):
    """Commands."""

    DRIVE_NEW = 1
    DRIVE_GET = 2
    DRIVE_DEL = 3
    DRIVE_STATS = 4
    DRIVE_SET = 5
    DRIVE_NTF = 6


class DriveState(IntEnum):
    """State of a drive."""

    CREATING = 0
    READY = 1
    FAILED = 2
    DELETING = 3
    GONE = 4


class Layout(IntEnum):
    """Order of the tracks of a zone."""

    CYLINDER = 0
    SERPENTINE = 1
    BANDED = 2


class Policy(IntEnum):
    """Order of service."""

    FCFS = 0
    SSTF = 1
    SPTF = 2
    CLOOK = 3


class Store(IntEnum):
    """Where written data goes."""

    NONE = 0
    MEMORY = 1


class Rail(IntEnum):
    """Supply voltage."""

    V5 = 0
    V12 = 1


class Condition(IntEnum):
    """Power condition."""

    ACTIVE = 0
    STANDBY = 1
    STOPPED = 2
    STARTING = 3
    TO_STANDBY = 4
    TO_STOPPED = 5


class Phase(IntEnum):
    """What an arm does, or a channel of flash."""

    IDLE = 0
    SEEK = 1
    ROTATE = 2
    READ = 3
    WRITE = 4
    ERASE = 5


class Fault(IntEnum):
    """Fault that a drive is given."""

    MEDIUM_ERROR = 0
    WRITE_ERROR = 1
    SLOW_HEAD = 2
    ARM_FAILED = 3
    SLOW_START = 4
    GONE = 5
    VOLATILE_CACHE = 6
    FLUSH_IGNORED = 7
    POWER_CUT = 8
    WRITES_TORN = 9


class ConditionPowerNla(nla):
    """Attributes of the set condition-power, as a nest."""

    prefix = "SPEK_DRIVE_A_CONDITION_POWER_"
    nla_map = (
        (1, "SPEK_DRIVE_A_CONDITION_POWER_CONDITION", "uint32", 0),
        (2, "SPEK_DRIVE_A_CONDITION_POWER_UW_V5", "uint32", 0),
        (3, "SPEK_DRIVE_A_CONDITION_POWER_UW_V12", "uint32", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "condition": "SPEK_DRIVE_A_CONDITION_POWER_CONDITION",
        "uw_v5": "SPEK_DRIVE_A_CONDITION_POWER_UW_V5",
        "uw_v12": "SPEK_DRIVE_A_CONDITION_POWER_UW_V12",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {
        "condition": records.Condition,
    }


class FaultNla(nla):
    """Attributes of the set fault, as a nest."""

    prefix = "SPEK_DRIVE_A_FAULT_"
    nla_map = (
        (1, "SPEK_DRIVE_A_FAULT_PAD", "none", 0),
        (2, "SPEK_DRIVE_A_FAULT_KIND", "uint32", 0),
        (3, "SPEK_DRIVE_A_FAULT_LBA", "uint64", 0),
        (4, "SPEK_DRIVE_A_FAULT_SECTORS", "uint64", 0),
        (5, "SPEK_DRIVE_A_FAULT_NUMBER", "uint32", 0),
        (6, "SPEK_DRIVE_A_FAULT_DELAY_NS", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "kind": "SPEK_DRIVE_A_FAULT_KIND",
        "lba": "SPEK_DRIVE_A_FAULT_LBA",
        "sectors": "SPEK_DRIVE_A_FAULT_SECTORS",
        "number": "SPEK_DRIVE_A_FAULT_NUMBER",
        "delay_ns": "SPEK_DRIVE_A_FAULT_DELAY_NS",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {
        "kind": records.Fault,
    }


class EnergyNla(nla):
    """Attributes of the set energy, as a nest."""

    prefix = "SPEK_DRIVE_A_ENERGY_"
    nla_map = (
        (1, "SPEK_DRIVE_A_ENERGY_PAD", "none", 0),
        (2, "SPEK_DRIVE_A_ENERGY_RAIL", "uint32", 0),
        (3, "SPEK_DRIVE_A_ENERGY_NJ", "uint64", 0),
        (4, "SPEK_DRIVE_A_ENERGY_REMAINDER_FJ", "uint32", 0),
        (5, "SPEK_DRIVE_A_ENERGY_POWER_UW", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "rail": "SPEK_DRIVE_A_ENERGY_RAIL",
        "nj": "SPEK_DRIVE_A_ENERGY_NJ",
        "remainder_fj": "SPEK_DRIVE_A_ENERGY_REMAINDER_FJ",
        "power_uw": "SPEK_DRIVE_A_ENERGY_POWER_UW",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {
        "rail": records.Rail,
    }


class ConditionStatsNla(nla):
    """Attributes of the set condition-stats, as a nest."""

    prefix = "SPEK_DRIVE_A_CONDITION_STATS_"
    nla_map = (
        (1, "SPEK_DRIVE_A_CONDITION_STATS_PAD", "none", 0),
        (2, "SPEK_DRIVE_A_CONDITION_STATS_CONDITION", "uint32", 0),
        (3, "SPEK_DRIVE_A_CONDITION_STATS_NS", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "condition": "SPEK_DRIVE_A_CONDITION_STATS_CONDITION",
        "ns": "SPEK_DRIVE_A_CONDITION_STATS_NS",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {
        "condition": records.Condition,
    }


class PhaseStatsNla(nla):
    """Attributes of the set phase-stats, as a nest."""

    prefix = "SPEK_DRIVE_A_PHASE_STATS_"
    nla_map = (
        (1, "SPEK_DRIVE_A_PHASE_STATS_PAD", "none", 0),
        (2, "SPEK_DRIVE_A_PHASE_STATS_PHASE", "uint32", 0),
        (3, "SPEK_DRIVE_A_PHASE_STATS_NS", "uint64", 0),
        (4, "SPEK_DRIVE_A_PHASE_STATS_NJ", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "phase": "SPEK_DRIVE_A_PHASE_STATS_PHASE",
        "ns": "SPEK_DRIVE_A_PHASE_STATS_NS",
        "nj": "SPEK_DRIVE_A_PHASE_STATS_NJ",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {
        "phase": records.Phase,
    }


class DriveMsg(genlmsg):
    """Attributes of the set drive, as a message."""

    nest_condition_power = ConditionPowerNla
    nest_fault = FaultNla
    prefix = "SPEK_DRIVE_A_DRIVE_"
    nla_map = (
        (1, "SPEK_DRIVE_A_DRIVE_PAD", "none", 0),
        (2, "SPEK_DRIVE_A_DRIVE_ID", "uint32", 0),
        (3, "SPEK_DRIVE_A_DRIVE_NAME", "asciiz", 0),
        (4, "SPEK_DRIVE_A_DRIVE_VENDOR", "asciiz", 0),
        (5, "SPEK_DRIVE_A_DRIVE_PRODUCT", "asciiz", 0),
        (6, "SPEK_DRIVE_A_DRIVE_REVISION", "asciiz", 0),
        (7, "SPEK_DRIVE_A_DRIVE_SERIAL", "asciiz", 0),
        (8, "SPEK_DRIVE_A_DRIVE_STATE", "uint32", 0),
        (9, "SPEK_DRIVE_A_DRIVE_FAILURE_ERRNO", "uint32", 0),
        (10, "SPEK_DRIVE_A_DRIVE_FAILURE", "asciiz", 0),
        (11, "SPEK_DRIVE_A_DRIVE_HOST", "uint32", 0),
        (12, "SPEK_DRIVE_A_DRIVE_HWMON", "asciiz", 0),
        (13, "SPEK_DRIVE_A_DRIVE_LAYOUT", "uint32", 0),
        (14, "SPEK_DRIVE_A_DRIVE_HEADS", "uint32", 0),
        (15, "SPEK_DRIVE_A_DRIVE_BAND_CYLINDERS", "uint32", 0),
        (16, "SPEK_DRIVE_A_DRIVE_SURFACES", "uint32", 0),
        (17, "SPEK_DRIVE_A_DRIVE_STACKS", "uint32", 0),
        (18, "SPEK_DRIVE_A_DRIVE_SECTORS", "uint64", 0),
        (19, "SPEK_DRIVE_A_DRIVE_ZONES", "cdata", 0),
        (20, "SPEK_DRIVE_A_DRIVE_SEEK_POINTS", "cdata", 0),
        (21, "SPEK_DRIVE_A_DRIVE_MAX_FALL_PPM", "uint32", 0),
        (22, "SPEK_DRIVE_A_DRIVE_PERIOD_PS", "uint64", 0),
        (23, "SPEK_DRIVE_A_DRIVE_PHASE", "uint64", 0),
        (24, "SPEK_DRIVE_A_DRIVE_HEAD_SWITCH_NS", "uint64", 0),
        (25, "SPEK_DRIVE_A_DRIVE_SETTLE_NS", "uint64", 0),
        (26, "SPEK_DRIVE_A_DRIVE_OVERHEAD_NS", "uint64", 0),
        (27, "SPEK_DRIVE_A_DRIVE_SEEK_SCALE", "uint32", 0),
        (28, "SPEK_DRIVE_A_DRIVE_ROTATION_SCALE", "uint32", 0),
        (29, "SPEK_DRIVE_A_DRIVE_ARMS", "uint32", 0),
        (30, "SPEK_DRIVE_A_DRIVE_CHANNELS", "uint32", 0),
        (31, "SPEK_DRIVE_A_DRIVE_MOVING", "uint32", 0),
        (32, "SPEK_DRIVE_A_DRIVE_ZERO_LATENCY", "uint32", 0),
        (33, "SPEK_DRIVE_A_DRIVE_HEADS_PER_SURFACE", "uint32", 0),
        (34, "SPEK_DRIVE_A_DRIVE_HEAD_ANGLES", "cdata", 0),
        (35, "SPEK_DRIVE_A_DRIVE_SPLIT", "uint32", 0),
        (36, "SPEK_DRIVE_A_DRIVE_ARM_ANGLES", "cdata", 0),
        (37, "SPEK_DRIVE_A_DRIVE_POLICY", "uint32", 0),
        (38, "SPEK_DRIVE_A_DRIVE_WINDOW", "uint32", 0),
        (39, "SPEK_DRIVE_A_DRIVE_MAX_WAIT_NS", "uint64", 0),
        (40, "SPEK_DRIVE_A_DRIVE_CACHE_SEGMENTS", "uint32", 0),
        (41, "SPEK_DRIVE_A_DRIVE_SEGMENT_SECTORS", "uint32", 0),
        (42, "SPEK_DRIVE_A_DRIVE_AHEAD_SECTORS", "uint32", 0),
        (43, "SPEK_DRIVE_A_DRIVE_WRITE_CACHE_SECTORS", "uint64", 0),
        (44, "SPEK_DRIVE_A_DRIVE_HIT_NS", "uint64", 0),
        (45, "SPEK_DRIVE_A_DRIVE_SECTOR_PS", "uint64", 0),
        (46, "SPEK_DRIVE_A_DRIVE_QUEUE_DEPTH", "uint32", 0),
        (47, "SPEK_DRIVE_A_DRIVE_CONDITION_POWER", "nest_condition_power", NLA_F_NESTED),
        (48, "SPEK_DRIVE_A_DRIVE_HOLD_UW", "uint32", 0),
        (49, "SPEK_DRIVE_A_DRIVE_SEEK_UW", "uint32", 0),
        (50, "SPEK_DRIVE_A_DRIVE_ROTATE_UW", "uint32", 0),
        (51, "SPEK_DRIVE_A_DRIVE_READ_UW", "uint32", 0),
        (52, "SPEK_DRIVE_A_DRIVE_WRITE_UW", "uint32", 0),
        (53, "SPEK_DRIVE_A_DRIVE_STARTING_NS", "uint64", 0),
        (54, "SPEK_DRIVE_A_DRIVE_STOPPING_NS", "uint64", 0),
        (55, "SPEK_DRIVE_A_DRIVE_STORE", "uint32", 0),
        (56, "SPEK_DRIVE_A_DRIVE_FIXED_ATA_SENSE", "uint32", 0),
        (57, "SPEK_DRIVE_A_DRIVE_STORE_BYTES", "uint64", 0),
        (58, "SPEK_DRIVE_A_DRIVE_CONDITION", "uint32", 0),
        (59, "SPEK_DRIVE_A_DRIVE_OUTSTANDING", "uint32", 0),
        (60, "SPEK_DRIVE_A_DRIVE_STORED_BYTES", "uint64", 0),
        (61, "SPEK_DRIVE_A_DRIVE_CREATED_NS", "uint64", 0),
        (62, "SPEK_DRIVE_A_DRIVE_NOW_NS", "uint64", 0),
        (63, "SPEK_DRIVE_A_DRIVE_FAULT", "nest_fault", NLA_F_NESTED),
        (64, "SPEK_DRIVE_A_DRIVE_CLEAR_FAULTS", "uint32", 0),
        (65, "SPEK_DRIVE_A_DRIVE_MODULE_VERSION", "asciiz", 0),
        (66, "SPEK_DRIVE_A_DRIVE_FLASH_CHANNELS", "uint32", 0),
        (67, "SPEK_DRIVE_A_DRIVE_PAGE_SECTORS", "uint32", 0),
        (68, "SPEK_DRIVE_A_DRIVE_BLOCK_PAGES", "uint32", 0),
        (69, "SPEK_DRIVE_A_DRIVE_BLOCKS", "uint32", 0),
        (70, "SPEK_DRIVE_A_DRIVE_LOW_BLOCKS", "uint32", 0),
        (71, "SPEK_DRIVE_A_DRIVE_PAGE_READ_NS", "uint64", 0),
        (72, "SPEK_DRIVE_A_DRIVE_PAGE_PROGRAM_NS", "uint64", 0),
        (73, "SPEK_DRIVE_A_DRIVE_BLOCK_ERASE_NS", "uint64", 0),
        (74, "SPEK_DRIVE_A_DRIVE_CHANNEL_SECTOR_PS", "uint64", 0),
        (75, "SPEK_DRIVE_A_DRIVE_ERASE_UW", "uint32", 0),
        (76, "SPEK_DRIVE_A_DRIVE_SPIN_NS", "uint32", 0),
        (77, "SPEK_DRIVE_A_DRIVE_ATOMIC_SECTORS", "uint32", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "id": "SPEK_DRIVE_A_DRIVE_ID",
        "name": "SPEK_DRIVE_A_DRIVE_NAME",
        "vendor": "SPEK_DRIVE_A_DRIVE_VENDOR",
        "product": "SPEK_DRIVE_A_DRIVE_PRODUCT",
        "revision": "SPEK_DRIVE_A_DRIVE_REVISION",
        "serial": "SPEK_DRIVE_A_DRIVE_SERIAL",
        "state": "SPEK_DRIVE_A_DRIVE_STATE",
        "failure_errno": "SPEK_DRIVE_A_DRIVE_FAILURE_ERRNO",
        "failure": "SPEK_DRIVE_A_DRIVE_FAILURE",
        "host": "SPEK_DRIVE_A_DRIVE_HOST",
        "hwmon": "SPEK_DRIVE_A_DRIVE_HWMON",
        "layout": "SPEK_DRIVE_A_DRIVE_LAYOUT",
        "heads": "SPEK_DRIVE_A_DRIVE_HEADS",
        "band_cylinders": "SPEK_DRIVE_A_DRIVE_BAND_CYLINDERS",
        "surfaces": "SPEK_DRIVE_A_DRIVE_SURFACES",
        "stacks": "SPEK_DRIVE_A_DRIVE_STACKS",
        "sectors": "SPEK_DRIVE_A_DRIVE_SECTORS",
        "zones": "SPEK_DRIVE_A_DRIVE_ZONES",
        "seek_points": "SPEK_DRIVE_A_DRIVE_SEEK_POINTS",
        "max_fall_ppm": "SPEK_DRIVE_A_DRIVE_MAX_FALL_PPM",
        "period_ps": "SPEK_DRIVE_A_DRIVE_PERIOD_PS",
        "phase": "SPEK_DRIVE_A_DRIVE_PHASE",
        "head_switch_ns": "SPEK_DRIVE_A_DRIVE_HEAD_SWITCH_NS",
        "settle_ns": "SPEK_DRIVE_A_DRIVE_SETTLE_NS",
        "overhead_ns": "SPEK_DRIVE_A_DRIVE_OVERHEAD_NS",
        "seek_scale": "SPEK_DRIVE_A_DRIVE_SEEK_SCALE",
        "rotation_scale": "SPEK_DRIVE_A_DRIVE_ROTATION_SCALE",
        "arms": "SPEK_DRIVE_A_DRIVE_ARMS",
        "channels": "SPEK_DRIVE_A_DRIVE_CHANNELS",
        "moving": "SPEK_DRIVE_A_DRIVE_MOVING",
        "zero_latency": "SPEK_DRIVE_A_DRIVE_ZERO_LATENCY",
        "heads_per_surface": "SPEK_DRIVE_A_DRIVE_HEADS_PER_SURFACE",
        "head_angles": "SPEK_DRIVE_A_DRIVE_HEAD_ANGLES",
        "split": "SPEK_DRIVE_A_DRIVE_SPLIT",
        "arm_angles": "SPEK_DRIVE_A_DRIVE_ARM_ANGLES",
        "policy": "SPEK_DRIVE_A_DRIVE_POLICY",
        "window": "SPEK_DRIVE_A_DRIVE_WINDOW",
        "max_wait_ns": "SPEK_DRIVE_A_DRIVE_MAX_WAIT_NS",
        "cache_segments": "SPEK_DRIVE_A_DRIVE_CACHE_SEGMENTS",
        "segment_sectors": "SPEK_DRIVE_A_DRIVE_SEGMENT_SECTORS",
        "ahead_sectors": "SPEK_DRIVE_A_DRIVE_AHEAD_SECTORS",
        "write_cache_sectors": "SPEK_DRIVE_A_DRIVE_WRITE_CACHE_SECTORS",
        "hit_ns": "SPEK_DRIVE_A_DRIVE_HIT_NS",
        "sector_ps": "SPEK_DRIVE_A_DRIVE_SECTOR_PS",
        "queue_depth": "SPEK_DRIVE_A_DRIVE_QUEUE_DEPTH",
        "condition_power": "SPEK_DRIVE_A_DRIVE_CONDITION_POWER",
        "hold_uw": "SPEK_DRIVE_A_DRIVE_HOLD_UW",
        "seek_uw": "SPEK_DRIVE_A_DRIVE_SEEK_UW",
        "rotate_uw": "SPEK_DRIVE_A_DRIVE_ROTATE_UW",
        "read_uw": "SPEK_DRIVE_A_DRIVE_READ_UW",
        "write_uw": "SPEK_DRIVE_A_DRIVE_WRITE_UW",
        "starting_ns": "SPEK_DRIVE_A_DRIVE_STARTING_NS",
        "stopping_ns": "SPEK_DRIVE_A_DRIVE_STOPPING_NS",
        "store": "SPEK_DRIVE_A_DRIVE_STORE",
        "fixed_ata_sense": "SPEK_DRIVE_A_DRIVE_FIXED_ATA_SENSE",
        "store_bytes": "SPEK_DRIVE_A_DRIVE_STORE_BYTES",
        "condition": "SPEK_DRIVE_A_DRIVE_CONDITION",
        "outstanding": "SPEK_DRIVE_A_DRIVE_OUTSTANDING",
        "stored_bytes": "SPEK_DRIVE_A_DRIVE_STORED_BYTES",
        "created_ns": "SPEK_DRIVE_A_DRIVE_CREATED_NS",
        "now_ns": "SPEK_DRIVE_A_DRIVE_NOW_NS",
        "fault": "SPEK_DRIVE_A_DRIVE_FAULT",
        "clear_faults": "SPEK_DRIVE_A_DRIVE_CLEAR_FAULTS",
        "module_version": "SPEK_DRIVE_A_DRIVE_MODULE_VERSION",
        "flash_channels": "SPEK_DRIVE_A_DRIVE_FLASH_CHANNELS",
        "page_sectors": "SPEK_DRIVE_A_DRIVE_PAGE_SECTORS",
        "block_pages": "SPEK_DRIVE_A_DRIVE_BLOCK_PAGES",
        "blocks": "SPEK_DRIVE_A_DRIVE_BLOCKS",
        "low_blocks": "SPEK_DRIVE_A_DRIVE_LOW_BLOCKS",
        "page_read_ns": "SPEK_DRIVE_A_DRIVE_PAGE_READ_NS",
        "page_program_ns": "SPEK_DRIVE_A_DRIVE_PAGE_PROGRAM_NS",
        "block_erase_ns": "SPEK_DRIVE_A_DRIVE_BLOCK_ERASE_NS",
        "channel_sector_ps": "SPEK_DRIVE_A_DRIVE_CHANNEL_SECTOR_PS",
        "erase_uw": "SPEK_DRIVE_A_DRIVE_ERASE_UW",
        "spin_ns": "SPEK_DRIVE_A_DRIVE_SPIN_NS",
        "atomic_sectors": "SPEK_DRIVE_A_DRIVE_ATOMIC_SECTORS",
    }
    multi: ClassVar[dict[str, str]] = {
        "condition_power": "condition_powers",
        "fault": "faults",
    }
    enums: ClassVar[dict[str, Any]] = {
        "state": records.DriveState,
        "layout": records.Layout,
        "policy": records.Policy,
        "store": records.Store,
        "condition": records.Condition,
    }


class StatsMsg(genlmsg):
    """Attributes of the set stats, as a message."""

    nest_condition_stats = ConditionStatsNla
    nest_energy = EnergyNla
    nest_phase_stats = PhaseStatsNla
    prefix = "SPEK_DRIVE_A_STATS_"
    nla_map = (
        (1, "SPEK_DRIVE_A_STATS_PAD", "none", 0),
        (2, "SPEK_DRIVE_A_STATS_ID", "uint32", 0),
        (3, "SPEK_DRIVE_A_STATS_CREATED_NS", "uint64", 0),
        (4, "SPEK_DRIVE_A_STATS_NOW_NS", "uint64", 0),
        (5, "SPEK_DRIVE_A_STATS_ENERGY", "nest_energy", NLA_F_NESTED),
        (6, "SPEK_DRIVE_A_STATS_CONDITION", "nest_condition_stats", NLA_F_NESTED),
        (7, "SPEK_DRIVE_A_STATS_PHASE", "nest_phase_stats", NLA_F_NESTED),
        (8, "SPEK_DRIVE_A_STATS_STARTS", "uint64", 0),
        (9, "SPEK_DRIVE_A_STATS_SERVED", "uint64", 0),
        (10, "SPEK_DRIVE_A_STATS_MOVED", "uint64", 0),
        (11, "SPEK_DRIVE_A_STATS_HITS", "uint64", 0),
        (12, "SPEK_DRIVE_A_STATS_ACCEPTED", "uint64", 0),
        (13, "SPEK_DRIVE_A_STATS_DESTAGES", "uint64", 0),
        (14, "SPEK_DRIVE_A_STATS_LOST", "uint64", 0),
        (15, "SPEK_DRIVE_A_STATS_AHEAD_SECTORS", "uint64", 0),
        (16, "SPEK_DRIVE_A_STATS_READS", "uint64", 0),
        (17, "SPEK_DRIVE_A_STATS_READ_SECTORS", "uint64", 0),
        (18, "SPEK_DRIVE_A_STATS_WRITES", "uint64", 0),
        (19, "SPEK_DRIVE_A_STATS_WRITTEN_SECTORS", "uint64", 0),
        (20, "SPEK_DRIVE_A_STATS_ERRORS", "uint64", 0),
        (21, "SPEK_DRIVE_A_STATS_ABORTED", "uint64", 0),
        (22, "SPEK_DRIVE_A_STATS_LATE_COUNT", "uint64", 0),
        (23, "SPEK_DRIVE_A_STATS_LATE_SUM_NS", "uint64", 0),
        (24, "SPEK_DRIVE_A_STATS_LATE_MAX_NS", "uint64", 0),
        (25, "SPEK_DRIVE_A_STATS_HIST_BITS", "uint32", 0),
        (26, "SPEK_DRIVE_A_STATS_HIST_FIRST", "uint32", 0),
        (27, "SPEK_DRIVE_A_STATS_HIST", "cdata", 0),
        (28, "SPEK_DRIVE_A_STATS_UNMAPS", "uint64", 0),
        (29, "SPEK_DRIVE_A_STATS_UNMAPPED_SECTORS", "uint64", 0),
        (30, "SPEK_DRIVE_A_STATS_PAGES_PROGRAMMED", "uint64", 0),
        (31, "SPEK_DRIVE_A_STATS_PAGES_MOVED", "uint64", 0),
        (32, "SPEK_DRIVE_A_STATS_BLOCKS_ERASED", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "id": "SPEK_DRIVE_A_STATS_ID",
        "created_ns": "SPEK_DRIVE_A_STATS_CREATED_NS",
        "now_ns": "SPEK_DRIVE_A_STATS_NOW_NS",
        "energy": "SPEK_DRIVE_A_STATS_ENERGY",
        "condition": "SPEK_DRIVE_A_STATS_CONDITION",
        "phase": "SPEK_DRIVE_A_STATS_PHASE",
        "starts": "SPEK_DRIVE_A_STATS_STARTS",
        "served": "SPEK_DRIVE_A_STATS_SERVED",
        "moved": "SPEK_DRIVE_A_STATS_MOVED",
        "hits": "SPEK_DRIVE_A_STATS_HITS",
        "accepted": "SPEK_DRIVE_A_STATS_ACCEPTED",
        "destages": "SPEK_DRIVE_A_STATS_DESTAGES",
        "lost": "SPEK_DRIVE_A_STATS_LOST",
        "ahead_sectors": "SPEK_DRIVE_A_STATS_AHEAD_SECTORS",
        "reads": "SPEK_DRIVE_A_STATS_READS",
        "read_sectors": "SPEK_DRIVE_A_STATS_READ_SECTORS",
        "writes": "SPEK_DRIVE_A_STATS_WRITES",
        "written_sectors": "SPEK_DRIVE_A_STATS_WRITTEN_SECTORS",
        "errors": "SPEK_DRIVE_A_STATS_ERRORS",
        "aborted": "SPEK_DRIVE_A_STATS_ABORTED",
        "late_count": "SPEK_DRIVE_A_STATS_LATE_COUNT",
        "late_sum_ns": "SPEK_DRIVE_A_STATS_LATE_SUM_NS",
        "late_max_ns": "SPEK_DRIVE_A_STATS_LATE_MAX_NS",
        "hist_bits": "SPEK_DRIVE_A_STATS_HIST_BITS",
        "hist_first": "SPEK_DRIVE_A_STATS_HIST_FIRST",
        "hist": "SPEK_DRIVE_A_STATS_HIST",
        "unmaps": "SPEK_DRIVE_A_STATS_UNMAPS",
        "unmapped_sectors": "SPEK_DRIVE_A_STATS_UNMAPPED_SECTORS",
        "pages_programmed": "SPEK_DRIVE_A_STATS_PAGES_PROGRAMMED",
        "pages_moved": "SPEK_DRIVE_A_STATS_PAGES_MOVED",
        "blocks_erased": "SPEK_DRIVE_A_STATS_BLOCKS_ERASED",
    }
    multi: ClassVar[dict[str, str]] = {
        "energy": "energies",
        "condition": "conditions",
        "phase": "phases",
    }
    enums: ClassVar[dict[str, Any]] = {}


MESSAGES: dict[int, Any] = {
    Cmd.DRIVE_NEW: DriveMsg,
    Cmd.DRIVE_GET: DriveMsg,
    Cmd.DRIVE_DEL: DriveMsg,
    Cmd.DRIVE_STATS: StatsMsg,
    Cmd.DRIVE_SET: DriveMsg,
    Cmd.DRIVE_NTF: DriveMsg,
}
