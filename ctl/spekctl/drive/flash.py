# SPDX-License-Identifier: GPL-2.0-or-later
"""Model files of flash, and what follows from them: the kind of a file with a section [flash]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

from spekctl.drive import steps
from spekctl.drive.model import SECTOR, Cache, Flash, Model, Watts
from spekctl.errors import UsageError

MOST_PAGES = 2**30
# struct spek_drive_flash without its tables, rounded up.
_STATE_BYTES = 100_000

Watt = Annotated[float, Meta(ge=0, le=1000)]
Rails = Annotated[list[Watt], Meta(min_length=2, max_length=2)]
Ms = Annotated[float, Meta(gt=0, le=1000)]
Seconds = Annotated[float, Meta(ge=0, le=600)]


class Cells(msgspec.Struct, forbid_unknown_fields=True):
    """Channels of flash, which work side by side, and their pages and blocks."""

    channels: Annotated[int, Meta(ge=1, le=32, description="Channels that work side by side.")]
    page_sectors: Annotated[
        int,
        Meta(ge=1, le=256, description="Sectors of a page, the unit of mapping and programming."),
    ]
    block_pages: Annotated[
        int, Meta(ge=1, le=32768, description="Pages of a block, the unit of erasure.")
    ]
    blocks: Annotated[
        int, Meta(ge=1, le=2**30, description="Blocks of a channel, spare ones included.")
    ]
    read_ms: Annotated[Ms, Meta(description="Time to read a page into the chip's register, ms.")]
    program_ms: Annotated[Ms, Meta(description="Time to program a page from there, ms.")]
    erase_ms: Annotated[Ms, Meta(description="Time to erase a block, ms.")]
    channel_mb_s: Annotated[
        float,
        Meta(
            ge=0.6,
            le=100_000,
            description="Rate between register and controller, 10^6 bytes per second.",
        ),
    ]
    low_blocks: Annotated[
        int,
        Meta(
            ge=2, le=2**30, description="Free blocks of a channel below which it collects garbage."
        ),
    ] = 2


class Buffer(msgspec.Struct, forbid_unknown_fields=True):
    """Write buffer and bus."""

    write_kib: Annotated[
        int, Meta(ge=0, le=2**23, description="Room for written data; 0: write-through.")
    ] = 0
    hit_ms: Annotated[
        float, Meta(ge=0, le=1000, description="Overhead of a command before its data, ms.")
    ] = 0.0
    bus_mb_s: Annotated[
        float, Meta(ge=0.6, le=10000, description="Rate of the bus, 10^6 bytes per second.")
    ] = 300.0


class FlashPower(msgspec.Struct, forbid_unknown_fields=True):
    """Power of the parts of a flash drive, W; pairs are the 5 V and the 12 V rail."""

    active: Annotated[Rails, Meta(description="Active, and all channels idle.")]
    read: Annotated[Watt, Meta(description="Power added by a channel that reads, 5 V.")]
    write: Annotated[Watt, Meta(description="Power added by a channel that programs, 5 V.")]
    erase: Annotated[Watt, Meta(description="Power added by a channel that erases, 5 V.")]
    standby: Annotated[
        Rails | None, Meta(description="Standby, which an access ends. Default: as active.")
    ] = None
    stopped: Annotated[
        Rails | None, Meta(description="Stopped until it is started. Default: as standby.")
    ] = None
    starting_s: Annotated[Seconds, Meta(description="Time from standby to active, s.")] = 0.0
    stopping_s: Annotated[Seconds, Meta(description="Time from active to standby, s.")] = 0.0


class FlashFile(msgspec.Struct, forbid_unknown_fields=True):
    """A model file of flash."""

    title: Annotated[str, Meta(min_length=1, description="Maker, type and name.")]
    sources: Annotated[
        list[str], Meta(min_length=1, description="Where each group of values comes from.")
    ]
    sectors: Annotated[int, Meta(ge=1, le=2**38, description="Capacity in 512-byte sectors.")]
    flash: Annotated[Cells, Meta(description="Channels, pages and blocks.")]
    cache: Annotated[Buffer, Meta(description="Write buffer and bus.")] = msgspec.field(
        default_factory=Buffer
    )
    profile: Annotated[
        str | None, Meta(description="Power profile to use. Default: the first.")
    ] = None
    power: Annotated[
        dict[str, FlashPower], Meta(description="Power profiles by name; none: no power figures.")
    ] = msgspec.field(default_factory=dict)


def _up(count: int, size: int) -> int:
    return -(-count // size)


def model_of(file: FlashFile) -> Model:
    """The model that a checked file describes."""
    cells = file.flash
    share = _up(_up(file.sectors, cells.page_sectors), cells.channels)
    needed = _up(share, cells.block_pages) + cells.low_blocks + 2
    most = MOST_PAGES // cells.block_pages // cells.channels
    if not needed <= cells.blocks <= most:
        raise UsageError(
            f"flash.blocks: {cells.blocks} blocks of a channel; allowed are {needed}, for the"
            f" capacity, {cells.low_blocks} free ones and two more, to {most}"
        )
    if file.profile is not None and file.profile not in file.power:
        known = ", ".join(file.power) or "none"
        raise UsageError(f"profile: there is no profile '{file.profile}'; allowed are: {known}")
    profiles = {name: _watts(watts, f"power.{name}") for name, watts in file.power.items()}
    chosen = file.profile or next(iter(profiles), "")
    return Model(
        title=file.title,
        heads=0,
        zones=(),
        seek=(),
        period_ps=0,
        sectors=file.sectors,
        arm_angles=(),
        head_angles=(),
        channels=0,
        watts=profiles.get(chosen, Watts()),
        profile=chosen,
        profiles=profiles,
        cache=Cache(
            write_sectors=file.cache.write_kib * 2,
            hit_ns=steps.ns(file.cache.hit_ms, "cache.hit_ms"),
            sector_ps=round(SECTOR * 10**6 / file.cache.bus_mb_s),
        ),
        flash=Flash(
            channels=cells.channels,
            page_sectors=cells.page_sectors,
            block_pages=cells.block_pages,
            blocks=cells.blocks,
            low_blocks=cells.low_blocks,
            read_ns=steps.ns(cells.read_ms, "flash.read_ms"),
            program_ns=steps.ns(cells.program_ms, "flash.program_ms"),
            erase_ns=steps.ns(cells.erase_ms, "flash.erase_ms"),
            sector_ps=round(SECTOR * 10**6 / cells.channel_mb_s),
        ),
    )


def _watts(given: FlashPower, where: str) -> Watts:
    def rails(name: str, value: list[float]) -> tuple[int, int]:
        five, twelve = value
        return steps.uw(five, f"{where}.{name}"), steps.uw(twelve, f"{where}.{name}")

    active = rails("active", given.active)
    standby = active if given.standby is None else rails("standby", given.standby)
    stopped = standby if given.stopped is None else rails("stopped", given.stopped)
    return Watts(
        base=(active, standby, stopped, active, active, active),
        read=steps.uw(given.read, f"{where}.read"),
        write=steps.uw(given.write, f"{where}.write"),
        erase=steps.uw(given.erase, f"{where}.erase"),
        starting_ns=steps.whole(given.starting_s, 10**9, "1 ns", f"{where}.starting_s"),
        stopping_ns=steps.whole(given.stopping_s, 10**9, "1 ns", f"{where}.stopping_s"),
    )


@dataclass(frozen=True, slots=True)
class FlashWatts:
    """Power of a flash drive by activity of all channels, W."""

    profile: str
    standby: float
    idle: float
    reading: float
    writing: float
    erasing: float


@dataclass(frozen=True, slots=True)
class FlashFacts:
    """A model of flash in figures; rates in bytes per second."""

    name: str
    title: str
    sources: tuple[str, ...]
    sectors: int
    bytes: int
    raw_bytes: int
    channels: int
    page_bytes: int
    block_bytes: int
    blocks: int
    low_blocks: int
    read_ms: float
    program_ms: float
    erase_ms: float
    read_rate: float
    write_rate: float
    buffer_bytes: int
    table_bytes: int
    watts: tuple[FlashWatts, ...]
    remarks: tuple[str, ...]


def facts_of(model: Model) -> FlashFacts:
    """The figures of @model, which is of flash."""
    flash = model.flash
    assert flash is not None
    page = flash.page_sectors * SECTOR
    moved_ns = flash.page_sectors * flash.sector_ps / 1000
    bus = SECTOR * 1e12 / model.cache.sector_ps

    def rate(ns: int) -> float:
        return min(bus, flash.channels * page * 1e9 / (ns + moved_ns))

    blocks = flash.blocks * flash.channels
    pages = _up(model.sectors, flash.page_sectors)
    return FlashFacts(
        name=model.name,
        title=model.title,
        sources=model.sources,
        sectors=model.sectors,
        bytes=model.sectors * SECTOR,
        raw_bytes=blocks * flash.block_pages * page,
        channels=flash.channels,
        page_bytes=page,
        block_bytes=flash.block_pages * page,
        blocks=flash.blocks,
        low_blocks=flash.low_blocks,
        read_ms=flash.read_ns / 1e6,
        program_ms=flash.program_ns / 1e6,
        erase_ms=flash.erase_ns / 1e6,
        read_rate=rate(flash.read_ns),
        write_rate=rate(flash.program_ns),
        buffer_bytes=model.cache.write_sectors * SECTOR,
        table_bytes=_STATE_BYTES + 4 * (pages + blocks * flash.block_pages) + 6 * blocks,
        watts=tuple(_facts(name, watts, flash.channels) for name, watts in model.profiles.items()),
        remarks=model.remarks,
    )


def _facts(name: str, watts: Watts, channels: int) -> FlashWatts:
    idle = sum(watts.base[0]) / 1e6
    return FlashWatts(
        profile=name,
        standby=sum(watts.base[1]) / 1e6,
        idle=idle,
        reading=idle + channels * watts.read / 1e6,
        writing=idle + channels * watts.write / 1e6,
        erasing=idle + channels * watts.erase / 1e6,
    )
