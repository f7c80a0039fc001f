# SPDX-License-Identifier: GPL-2.0-or-later
# generated from kmod/drive/uapi/spek_drive.yaml, run `make gen`
"""Netlink family spek_drive: enums as words, answers as records."""

from collections.abc import Iterable
from dataclasses import dataclass
from struct import iter_unpack, pack
from typing import NamedTuple

from spekctl.kernel.coded import Coded

# Some records have a field called bytes.
Binary = bytes


class DriveState(Coded):
    """State of a drive."""

    CREATING = "creating"
    READY = "ready"
    FAILED = "failed"
    DELETING = "deleting"
    GONE = "gone"


class Layout(Coded):
    """Order of the tracks of a zone."""

    CYLINDER = "cylinder"
    SERPENTINE = "serpentine"
    BANDED = "banded"


class Policy(Coded):
    """Order of service."""

    FCFS = "fcfs"
    SSTF = "sstf"
    SPTF = "sptf"
    CLOOK = "clook"


class Store(Coded):
    """Where written data goes."""

    NONE = "none"
    MEMORY = "memory"


class Rail(Coded):
    """Supply voltage."""

    V5 = "v5"
    V12 = "v12"


class Condition(Coded):
    """Power condition."""

    ACTIVE = "active"
    STANDBY = "standby"
    STOPPED = "stopped"
    STARTING = "starting"
    TO_STANDBY = "to-standby"
    TO_STOPPED = "to-stopped"


class Phase(Coded):
    """What an arm does, or a channel of flash."""

    IDLE = "idle"
    SEEK = "seek"
    ROTATE = "rotate"
    READ = "read"
    WRITE = "write"
    ERASE = "erase"


class Fault(Coded):
    """Fault that a drive is given."""

    MEDIUM_ERROR = "medium-error"
    WRITE_ERROR = "write-error"
    SLOW_HEAD = "slow-head"
    ARM_FAILED = "arm-failed"
    SLOW_START = "slow-start"
    GONE = "gone"
    VOLATILE_CACHE = "volatile-cache"
    FLUSH_IGNORED = "flush-ignored"
    POWER_CUT = "power-cut"
    WRITES_TORN = "writes-torn"


class ZoneRecord(NamedTuple):
    """Cylinders with the same number of sectors per track, in the machine's byte order."""

    first_cylinder: int
    cylinders: int
    sectors_per_track: int
    reserved: int
    track_skew: int
    cylinder_skew: int

    @staticmethod
    def unpack(data: Binary) -> "list[ZoneRecord]":
        """The records of an attribute."""
        return [ZoneRecord(*row) for row in iter_unpack("=IIIIQQ", data)]

    @staticmethod
    def pack(records: "Iterable[ZoneRecord]") -> Binary:
        """The value of an attribute."""
        return b"".join(pack("=IIIIQQ", *row) for row in records)


class SeekRecord(NamedTuple):
    """Point of a seek curve, in the machine's byte order."""

    distance: int
    ns: int

    @staticmethod
    def unpack(data: Binary) -> "list[SeekRecord]":
        """The records of an attribute."""
        return [SeekRecord(*row) for row in iter_unpack("=II", data)]

    @staticmethod
    def pack(records: "Iterable[SeekRecord]") -> Binary:
        """The value of an attribute."""
        return b"".join(pack("=II", *row) for row in records)


@dataclass(frozen=True, slots=True)
class ConditionPowerInfo:
    """Attributes of the set condition-power in an answer."""

    condition: Condition = Condition.ACTIVE
    uw_v5: int = 0
    uw_v12: int = 0


@dataclass(frozen=True, slots=True)
class FaultInfo:
    """Attributes of the set fault in an answer."""

    kind: Fault = Fault.MEDIUM_ERROR
    lba: int = 0
    sectors: int = 0
    number: int = 0
    delay_ns: int = 0


@dataclass(frozen=True, slots=True)
class DriveInfo:
    """Attributes of the set drive in an answer."""

    id: int = 0
    name: str = ""
    vendor: str = ""
    product: str = ""
    revision: str = ""
    serial: str = ""
    state: DriveState = DriveState.CREATING
    failure_errno: int = 0
    failure: str = ""
    host: int = 0
    hwmon: str = ""
    layout: Layout = Layout.CYLINDER
    heads: int = 0
    band_cylinders: int = 0
    surfaces: int = 0
    stacks: int = 0
    sectors: int = 0
    zones: Binary = b""
    seek_points: Binary = b""
    max_fall_ppm: int = 0
    period_ps: int = 0
    phase: int = 0
    head_switch_ns: int = 0
    settle_ns: int = 0
    overhead_ns: int = 0
    seek_scale: int = 0
    rotation_scale: int = 0
    arms: int = 0
    channels: int = 0
    moving: int = 0
    zero_latency: int = 0
    heads_per_surface: int = 0
    head_angles: Binary = b""
    split: int = 0
    arm_angles: Binary = b""
    policy: Policy = Policy.FCFS
    window: int = 0
    max_wait_ns: int = 0
    cache_segments: int = 0
    segment_sectors: int = 0
    ahead_sectors: int = 0
    write_cache_sectors: int = 0
    hit_ns: int = 0
    sector_ps: int = 0
    queue_depth: int = 0
    condition_powers: tuple[ConditionPowerInfo, ...] = ()
    hold_uw: int = 0
    seek_uw: int = 0
    rotate_uw: int = 0
    read_uw: int = 0
    write_uw: int = 0
    starting_ns: int = 0
    stopping_ns: int = 0
    store: Store = Store.NONE
    fixed_ata_sense: int = 0
    store_bytes: int = 0
    condition: Condition = Condition.ACTIVE
    outstanding: int = 0
    stored_bytes: int = 0
    created_ns: int = 0
    now_ns: int = 0
    faults: tuple[FaultInfo, ...] = ()
    module_version: str = ""
    flash_channels: int = 0
    page_sectors: int = 0
    block_pages: int = 0
    blocks: int = 0
    low_blocks: int = 0
    page_read_ns: int = 0
    page_program_ns: int = 0
    block_erase_ns: int = 0
    channel_sector_ps: int = 0
    erase_uw: int = 0
    spin_ns: int = 0
    atomic_sectors: int = 0


@dataclass(frozen=True, slots=True)
class EnergyInfo:
    """Attributes of the set energy in an answer."""

    rail: Rail = Rail.V5
    nj: int = 0
    remainder_fj: int = 0
    power_uw: int = 0


@dataclass(frozen=True, slots=True)
class ConditionStatsInfo:
    """Attributes of the set condition-stats in an answer."""

    condition: Condition = Condition.ACTIVE
    ns: int = 0


@dataclass(frozen=True, slots=True)
class PhaseStatsInfo:
    """Attributes of the set phase-stats in an answer."""

    phase: Phase = Phase.IDLE
    ns: int = 0
    nj: int = 0


@dataclass(frozen=True, slots=True)
class StatsInfo:
    """Attributes of the set stats in an answer."""

    id: int = 0
    created_ns: int = 0
    now_ns: int = 0
    energies: tuple[EnergyInfo, ...] = ()
    conditions: tuple[ConditionStatsInfo, ...] = ()
    phases: tuple[PhaseStatsInfo, ...] = ()
    starts: int = 0
    served: int = 0
    moved: int = 0
    hits: int = 0
    accepted: int = 0
    destages: int = 0
    lost: int = 0
    ahead_sectors: int = 0
    reads: int = 0
    read_sectors: int = 0
    writes: int = 0
    written_sectors: int = 0
    errors: int = 0
    aborted: int = 0
    late_count: int = 0
    late_sum_ns: int = 0
    late_max_ns: int = 0
    hist_bits: int = 0
    hist_first: int = 0
    hist: Binary = b""
    unmaps: int = 0
    unmapped_sectors: int = 0
    pages_programmed: int = 0
    pages_moved: int = 0
    blocks_erased: int = 0
