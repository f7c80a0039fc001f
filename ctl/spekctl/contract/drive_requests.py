# SPDX-License-Identifier: GPL-2.0-or-later
# generated from kmod/drive/uapi/spek_drive.yaml, run `make gen`
"""Netlink family spek_drive: limits, words and records of requests."""

from struct import pack
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from spekctl.contract.wire import code, filled, given

MAX_DRIVES = 256
MAX_ZONES_BYTES = 8192
MAX_SEEK_BYTES = 32768
MAX_ANGLES_BYTES = 64
MAX_HEAD_ANGLES_BYTES = 32
MAX_NAME = 31
MAX_SPIN_NS = 200000
MAX_FAULTS = 64

# Order of the tracks of a zone.
Layout = Literal["cylinder", "serpentine", "banded"]

# Order of service.
Policy = Literal["fcfs", "sstf", "sptf", "clook"]

# Where written data goes.
Store = Literal["none", "memory"]

# Power condition.
Condition = Literal["active", "standby", "stopped", "starting", "to-standby", "to-stopped"]

# Fault that a drive is given.
Fault = Literal[
    "medium-error",
    "write-error",
    "slow-head",
    "arm-failed",
    "slow-start",
    "gone",
    "volatile-cache",
    "flush-ignored",
    "power-cut",
    "writes-torn",
]


class ConditionPowerRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attributes of the set condition-power in a request."""

    condition: Condition
    uw_v5: Annotated[int, Meta(description="Power on 5 V; active: the electronics.")] = 0
    uw_v12: Annotated[int, Meta(description="Power on 12 V; active: the spindle.")] = 0

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("condition", code(Condition, self.condition), ()),
            ("uw_v5", int(self.uw_v5), (0,)),
            ("uw_v12", int(self.uw_v12), (0,)),
        )

    def packed(self) -> bytes:
        """struct spek_drive_condition_power."""
        return pack(
            "=3I",
            code(Condition, self.condition),
            int(self.uw_v5),
            int(self.uw_v12),
        )


class DescriptionRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attributes of the set drive in a request."""

    name: Annotated[str, Meta(description="Name for people, the model's as a rule.")]
    vendor: Annotated[
        str,
        Meta(description="Vendor in INQUIRY data, printable ASCII; SPEK if not given."),
    ] = ""
    product: Annotated[
        str,
        Meta(description="Product in INQUIRY data, printable ASCII; MODELLED DRIVE if not given."),
    ] = ""
    revision: Annotated[
        str,
        Meta(description="Revision in INQUIRY data, printable ASCII; 0001 if not given."),
    ] = ""
    serial: Annotated[
        str,
        Meta(
            description=(
                "Serial number, printable ASCII without spaces, unique among the drives; made of "
                "the number if not given."
            )
        ),
    ] = ""
    layout: Annotated[
        Layout,
        Meta(description="Order of tracks; cylinder if not given."),
    ] = "cylinder"
    heads: Annotated[int, Meta(description="Heads per arm, one per surface; 1 to 64.")] = 0
    band_cylinders: Annotated[
        int,
        Meta(description="Cylinders of a band; for layout banded only."),
    ] = 0
    surfaces: Annotated[
        int,
        Meta(description="Surfaces that transfer at a time, a divisor of heads; 1 if not given."),
    ] = 1
    stacks: Annotated[int, Meta(description="Stacks of platters; 1 if not given.")] = 1
    sectors: Annotated[
        int,
        Meta(description="Capacity in 512-byte sectors; what the zones hold if not given."),
    ] = 0
    zones: Annotated[
        list[tuple[int, int, int, int, int, int]],
        Meta(description="1 to 256, from the outermost one."),
    ] = []
    seek_points: Annotated[
        list[tuple[int, int]],
        Meta(description="1 to 4096, in rising order of distance."),
    ] = []
    max_fall_ppm: Annotated[
        int,
        Meta(description="Deepest fall allowed in the seek curve; 400000 if not given."),
    ] = 400000
    period_ps: Annotated[int, Meta(description="Time of one turn in ps, 1 ms to 1 s.")] = 0
    phase: Annotated[int, Meta(description="Angle of the platter at time 0; 0 if not given.")] = 0
    head_switch_ns: Annotated[int, Meta(description="Time to change the head.")] = 0
    settle_ns: Annotated[
        int,
        Meta(description="Time that a write adds to a seek or head switch."),
    ] = 0
    overhead_ns: Annotated[
        int,
        Meta(description="Time from start of an access until the arm moves."),
    ] = 0
    seek_scale: Annotated[
        int,
        Meta(description="Seek times in units of 1/256; 256 if not given."),
    ] = 256
    rotation_scale: Annotated[
        int,
        Meta(description="Waits for rotation in units of 1/256; 256 if not given."),
    ] = 256
    arms: Annotated[int, Meta(description="Number of arm assemblies; 1 if not given.")] = 1
    channels: Annotated[
        int,
        Meta(description="Number of arms that may transfer at a time; 1 if not given."),
    ] = 1
    moving: Annotated[
        int,
        Meta(
            description=(
                "Number of arms that may serve accesses at a time, at least channels; channels if "
                "not given."
            )
        ),
    ] = 0
    zero_latency: Annotated[int, Meta(description="1 - reads begin at any of their sectors.")] = 0
    heads_per_surface: Annotated[
        int,
        Meta(description="Heads of an arm on a surface; 1 if not given."),
    ] = 1
    head_angles: Annotated[
        list[int],
        Meta(
            description=(
                "Array of u64: angle of each of these heads, ahead of the first one; all 0 if not "
                "given."
            )
        ),
    ] = []
    split: Annotated[
        int,
        Meta(
            description=(
                "1 - each arm has a part of the LBAs to itself, which the disk publishes as an "
                "independent access range."
            )
        ),
    ] = 0
    arm_angles: Annotated[
        list[int],
        Meta(
            description=(
                "Array of u64: angle of each arm, ahead of arm 0; evenly spread if not given."
            )
        ),
    ] = []
    policy: Annotated[Policy, Meta(description="Order of service; fcfs if not given.")] = "fcfs"
    window: Annotated[
        int,
        Meta(
            description="Number of the oldest requests that are compared; queue-depth if not given."
        ),
    ] = 0
    max_wait_ns: Annotated[
        int,
        Meta(description="Requests that have waited longer go first; 0 or not given - no limit."),
    ] = 0
    cache_segments: Annotated[
        int,
        Meta(description="Read segments of the cache; 0 or not given - reads are not cached."),
    ] = 0
    segment_sectors: Annotated[int, Meta(description="Sectors of a segment.")] = 0
    ahead_sectors: Annotated[
        int,
        Meta(description="Sectors that the drive reads ahead, up to a segment."),
    ] = 0
    write_cache_sectors: Annotated[
        int,
        Meta(description="Room of the cache for written data; 0 or not given - write-through."),
    ] = 0
    hit_ns: Annotated[
        int,
        Meta(description="Time of an access that the cache serves before its transfer."),
    ] = 0
    sector_ps: Annotated[int, Meta(description="Time of a sector on the bus in ps.")] = 0
    queue_depth: Annotated[
        int,
        Meta(description="Requests that the drive takes at a time; 32 if not given."),
    ] = 32
    condition_powers: Annotated[
        list[ConditionPowerRequest],
        Meta(description="One for each power condition; 0 W for those that are not given."),
    ] = []
    hold_uw: Annotated[
        int,
        Meta(description="Power of each arm assembly of an active drive, 12 V."),
    ] = 0
    seek_uw: Annotated[int, Meta(description="Power that a moving arm adds, 12 V.")] = 0
    rotate_uw: Annotated[
        int,
        Meta(description="Power that an arm adds that waits for rotation, 12 V."),
    ] = 0
    read_uw: Annotated[
        int,
        Meta(description="Power that an arm or a channel of flash adds that reads, 5 V."),
    ] = 0
    write_uw: Annotated[
        int,
        Meta(description="Power that an arm or a channel of flash adds that writes, 5 V."),
    ] = 0
    starting_ns: Annotated[int, Meta(description="Time from standby or stopped to active.")] = 0
    stopping_ns: Annotated[int, Meta(description="Time from active to standby or stopped.")] = 0
    store: Annotated[
        Store,
        Meta(description="Where written data goes; memory if not given."),
    ] = "memory"
    fixed_ata_sense: Annotated[
        int,
        Meta(
            description=(
                "1 - ATA registers come in fixed format sense data, as from some bridges; else in "
                "descriptor format."
            )
        ),
    ] = 0
    store_bytes: Annotated[
        int,
        Meta(
            description=(
                "Memory for the data of this drive, rounded down to pages; 0 or not given - only "
                "the module's limit, which all drives share."
            )
        ),
    ] = 0
    flash_channels: Annotated[
        int,
        Meta(
            description=(
                "Channels of flash, which work side by side; not given - the drive is a disk with "
                "platters."
            )
        ),
    ] = 0
    page_sectors: Annotated[
        int,
        Meta(description="Sectors of a page, the unit that is mapped and programmed."),
    ] = 0
    block_pages: Annotated[int, Meta(description="Pages of a block, the unit that is erased.")] = 0
    blocks: Annotated[int, Meta(description="Blocks of a channel, spare ones included.")] = 0
    low_blocks: Annotated[
        int,
        Meta(
            description=(
                "A channel collects garbage while fewer of its blocks are free; 2 if not given."
            )
        ),
    ] = 2
    page_read_ns: Annotated[
        int,
        Meta(description="Time to read a page into the register of the chip, 1 ns to 1 s."),
    ] = 0
    page_program_ns: Annotated[
        int,
        Meta(description="Time to program a page from there, 1 ns to 1 s."),
    ] = 0
    block_erase_ns: Annotated[int, Meta(description="Time to erase a block, 1 ns to 1 s.")] = 0
    channel_sector_ps: Annotated[
        int,
        Meta(description="Time of a sector between register and controller in ps."),
    ] = 0
    erase_uw: Annotated[
        int,
        Meta(description="Power that a channel of flash adds that erases, 5 V."),
    ] = 0
    spin_ns: Annotated[
        int,
        Meta(
            description=(
                "How long before an event the timer of the drive is set, to wait for the event with"
                " interrupts off; 0 if not given."
            )
        ),
    ] = 0
    atomic_sectors: Annotated[
        int,
        Meta(
            description=(
                "Sectors of the largest WRITE ATOMIC(16), a power of two; 0 or not given - the "
                "drive has no such command."
            )
        ),
    ] = 0

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("name", self.name, ("",)),
            ("vendor", self.vendor, ("",)),
            ("product", self.product, ("",)),
            ("revision", self.revision, ("",)),
            ("serial", self.serial, ("",)),
            ("layout", code(Layout, self.layout), (0,)),
            ("heads", int(self.heads), (0,)),
            ("band_cylinders", int(self.band_cylinders), (0,)),
            ("surfaces", int(self.surfaces), (0, 1)),
            ("stacks", int(self.stacks), (0, 1)),
            ("sectors", int(self.sectors), (0,)),
            ("zones", b"".join(pack("=IIIIQQ", *each) for each in self.zones), (b"",)),
            ("seek_points", b"".join(pack("=II", *each) for each in self.seek_points), (b"",)),
            ("max_fall_ppm", int(self.max_fall_ppm), (400000,)),
            ("period_ps", int(self.period_ps), (0,)),
            ("phase", int(self.phase), (0,)),
            ("head_switch_ns", int(self.head_switch_ns), (0,)),
            ("settle_ns", int(self.settle_ns), (0,)),
            ("overhead_ns", int(self.overhead_ns), (0,)),
            ("seek_scale", int(self.seek_scale), (256,)),
            ("rotation_scale", int(self.rotation_scale), (256,)),
            ("arms", int(self.arms), (0, 1)),
            ("channels", int(self.channels), (0, 1)),
            ("moving", int(self.moving), (0,)),
            ("zero_latency", int(self.zero_latency), (0,)),
            ("heads_per_surface", int(self.heads_per_surface), (0, 1)),
            ("head_angles", pack(f"={len(self.head_angles)}Q", *self.head_angles), (b"",)),
            ("split", int(self.split), (0,)),
            ("arm_angles", pack(f"={len(self.arm_angles)}Q", *self.arm_angles), (b"",)),
            ("policy", code(Policy, self.policy), (0,)),
            ("window", int(self.window), (0,)),
            ("max_wait_ns", int(self.max_wait_ns), (0,)),
            ("cache_segments", int(self.cache_segments), (0,)),
            ("segment_sectors", int(self.segment_sectors), (0,)),
            ("ahead_sectors", int(self.ahead_sectors), (0,)),
            ("write_cache_sectors", int(self.write_cache_sectors), (0,)),
            ("hit_ns", int(self.hit_ns), (0,)),
            ("sector_ps", int(self.sector_ps), (0,)),
            ("queue_depth", int(self.queue_depth), (0, 32)),
            ("condition_power", [each.attributes() for each in self.condition_powers], ([],)),
            ("hold_uw", int(self.hold_uw), (0,)),
            ("seek_uw", int(self.seek_uw), (0,)),
            ("rotate_uw", int(self.rotate_uw), (0,)),
            ("read_uw", int(self.read_uw), (0,)),
            ("write_uw", int(self.write_uw), (0,)),
            ("starting_ns", int(self.starting_ns), (0,)),
            ("stopping_ns", int(self.stopping_ns), (0,)),
            ("store", code(Store, self.store), (1,)),
            ("fixed_ata_sense", int(self.fixed_ata_sense), (0,)),
            ("store_bytes", int(self.store_bytes), (0,)),
            ("flash_channels", int(self.flash_channels), (0,)),
            ("page_sectors", int(self.page_sectors), (0,)),
            ("block_pages", int(self.block_pages), (0,)),
            ("blocks", int(self.blocks), (0,)),
            ("low_blocks", int(self.low_blocks), (0, 2)),
            ("page_read_ns", int(self.page_read_ns), (0,)),
            ("page_program_ns", int(self.page_program_ns), (0,)),
            ("block_erase_ns", int(self.block_erase_ns), (0,)),
            ("channel_sector_ps", int(self.channel_sector_ps), (0,)),
            ("erase_uw", int(self.erase_uw), (0,)),
            ("spin_ns", int(self.spin_ns), (0,)),
            ("atomic_sectors", int(self.atomic_sectors), (0,)),
        )

    def packed(self) -> bytes:
        """struct spek_drive_description."""
        return pack(
            "=17Q40I32s9s17s5s21s4x8192s32768s32s64s72s",
            int(self.sectors),
            int(self.period_ps),
            int(self.phase),
            int(self.head_switch_ns),
            int(self.settle_ns),
            int(self.overhead_ns),
            int(self.max_wait_ns),
            int(self.write_cache_sectors),
            int(self.hit_ns),
            int(self.sector_ps),
            int(self.starting_ns),
            int(self.stopping_ns),
            int(self.store_bytes),
            int(self.page_read_ns),
            int(self.page_program_ns),
            int(self.block_erase_ns),
            int(self.channel_sector_ps),
            code(Layout, self.layout),
            int(self.heads),
            int(self.band_cylinders),
            int(self.surfaces),
            int(self.stacks),
            len(self.zones),
            len(self.seek_points),
            int(self.max_fall_ppm),
            int(self.seek_scale),
            int(self.rotation_scale),
            int(self.arms),
            int(self.channels),
            int(self.moving),
            int(self.zero_latency),
            int(self.heads_per_surface),
            len(self.head_angles),
            int(self.split),
            len(self.arm_angles),
            code(Policy, self.policy),
            int(self.window),
            int(self.cache_segments),
            int(self.segment_sectors),
            int(self.ahead_sectors),
            int(self.queue_depth),
            len(self.condition_powers),
            int(self.hold_uw),
            int(self.seek_uw),
            int(self.rotate_uw),
            int(self.read_uw),
            int(self.write_uw),
            code(Store, self.store),
            int(self.fixed_ata_sense),
            int(self.flash_channels),
            int(self.page_sectors),
            int(self.block_pages),
            int(self.blocks),
            int(self.low_blocks),
            int(self.erase_uw),
            int(self.spin_ns),
            int(self.atomic_sectors),
            filled(self.name.encode(), 31),
            filled(self.vendor.encode(), 8),
            filled(self.product.encode(), 16),
            filled(self.revision.encode(), 4),
            filled(self.serial.encode(), 20),
            filled(b"".join(pack("=IIIIQQ", *each) for each in self.zones), 8192),
            filled(b"".join(pack("=II", *each) for each in self.seek_points), 32768),
            filled(pack(f"={len(self.head_angles)}Q", *self.head_angles), 32),
            filled(pack(f"={len(self.arm_angles)}Q", *self.arm_angles), 64),
            filled(b"".join(each.packed() for each in self.condition_powers), 72),
        )


class FaultRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attributes of the set fault in a request."""

    kind: Fault
    lba: Annotated[int, Meta(description="First sector of medium-error and write-error.")] = 0
    sectors: Annotated[
        int,
        Meta(description="Number of sectors of medium-error and write-error; 1 if not given."),
    ] = 0
    number: Annotated[int, Meta(description="Head of slow-head or arm of arm-failed.")] = 0
    delay_ns: Annotated[
        int,
        Meta(
            description=(
                "Time that the fault adds: the retries of a medium-error or write-error, a slow "
                "head, a slow start; up to 10 minutes."
            )
        ),
    ] = 0

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("kind", code(Fault, self.kind), ()),
            ("lba", int(self.lba), (0,)),
            ("sectors", int(self.sectors), (0,)),
            ("number", int(self.number), (0,)),
            ("delay_ns", int(self.delay_ns), (0,)),
        )


class ChangeRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attributes of the set drive in a request."""

    id: Annotated[int, Meta(description="Number of the drive; each drive-new gives the next.")] = 0
    faults: Annotated[list[FaultRequest], Meta(description="One for each fault.")] = []
    clear_faults: Annotated[int, Meta(description="1 - first remove all faults.")] = 0

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("id", int(self.id), (0,)),
            ("fault", [each.attributes() for each in self.faults], ([],)),
            ("clear_faults", int(self.clear_faults), (0,)),
        )
