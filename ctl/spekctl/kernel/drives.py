# SPDX-License-Identifier: GPL-2.0-or-later
"""Client of spek_drive.ko: create, list and delete modelled drives, and read their statistics."""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass
from typing import Any

import msgspec

from spekctl.drive.model import CONDITIONS, LAYOUTS, Flash, Model
from spekctl.errors import NotFoundError, SpekError, error_from_errno
from spekctl.kernel.gen import spek_drive as uapi
from spekctl.kernel.gen.spek_drive_records import (
    DriveInfo,
    DriveState,
    Policy,
    SeekRecord,
    StatsInfo,
    Store,
    ZoneRecord,
)
from spekctl.kernel.link import Connection, Link, not_loaded

MOST_SERIAL = 20


@dataclass(frozen=True, slots=True)
class Making:
    """Properties of a new drive besides its model. None: the kernel's default."""

    policy: Policy = Policy.SPTF
    window: int | None = None
    queue_depth: int | None = None
    max_wait_ns: int = 0
    phase: int = 0
    name: str = ""
    serial: str = ""
    store: Store = Store.MEMORY
    store_bytes: int = 0
    spin_ns: int = 0


class Drives(Connection):
    """A connection to spek_drive.ko. Drives outlive it."""

    def __init__(self) -> None:
        self._link = Link(uapi, uapi.GROUP_DRIVES, not_loaded("spek_drive"))

    def close(self) -> None:
        """Close the connection."""
        self._link.close()

    def new(self, model: Model, making: Making) -> int:
        """Create a drive and return its number. Its disk exists once it is READY."""
        return int(self._link.ask(uapi.Cmd.DRIVE_NEW, **values_of(model, making))["id"])

    def drive(self, number: int) -> DriveInfo:
        """One drive, with its model."""
        return msgspec.convert(self._link.ask(uapi.Cmd.DRIVE_GET, id=number), DriveInfo)

    def drives(self) -> list[DriveInfo]:
        """All drives, without zones and seek points."""
        return [
            msgspec.convert(answer, DriveInfo) for answer in self._link.dump(uapi.Cmd.DRIVE_GET)
        ]

    def stats(self, number: int) -> StatsInfo:
        """The activity and energy of a drive since its creation."""
        return msgspec.convert(self._link.ask(uapi.Cmd.DRIVE_STATS, id=number), StatsInfo)

    def delete(self, number: int) -> None:
        """Remove a drive; its disk disappears at once."""
        self._link.tell(uapi.Cmd.DRIVE_DEL, id=number)

    def wait_ready(self, number: int, timeout_s: float) -> DriveInfo:
        """Wait for the drive to be READY. SpekError if the kernel fails to create it."""
        end = time.monotonic() + timeout_s
        while True:
            info = self.drive(number)
            if info.state is DriveState.READY:
                return info
            if info.state is DriveState.FAILED:
                text = info.failure or "the kernel states no reason"
                raise error_from_errno(info.failure_errno, f"no drive: {text}", "drive-new")
            if time.monotonic() >= end:
                raise SpekError(f"drive {number} is not ready after {timeout_s:g} s")
            self._link.wait(min(0.2, end - time.monotonic()))

    def wait_gone(self, number: int, timeout_s: float) -> bool:
        """Whether a deleted drive is gone; it exists as long as its disk is open."""
        end = time.monotonic() + timeout_s
        while True:
            try:
                self.drive(number)
            except NotFoundError:
                return True
            if time.monotonic() >= end:
                return False
            self._link.wait(min(0.2, end - time.monotonic()))


def values_of(model: Model, making: Making) -> dict[str, Any]:
    """The attributes of drive-new."""
    if model.flash is not None:
        return _flash_values(model, model.flash, making)
    watts = model.watts
    values: dict[str, Any] = {
        "name": making.name or model.name[: uapi.MAX_NAME],
        "layout": LAYOUTS.index(model.layout),
        "heads": model.heads,
        "sectors": model.capacity,
        "zones": ZoneRecord.pack(
            ZoneRecord(
                first_cylinder=zone.first_cylinder,
                cylinders=zone.cylinders,
                sectors_per_track=zone.spt,
                reserved=0,
                track_skew=zone.track_skew,
                cylinder_skew=zone.cylinder_skew,
            )
            for zone in model.zones
        ),
        "seek_points": SeekRecord.pack(SeekRecord(*point) for point in model.points()),
        "max_fall_ppm": model.max_fall_ppm,
        "period_ps": model.period_ps,
        "phase": making.phase,
        "head_switch_ns": model.head_switch_ns,
        "settle_ns": model.settle_ns,
        "overhead_ns": model.overhead_ns,
        "arms": len(model.arm_angles),
        "channels": model.channels,
        "split": int(model.split),
        "arm_angles": struct.pack(f"={len(model.arm_angles)}Q", *model.arm_angles),
        "policy": making.policy.code,
        "max_wait_ns": making.max_wait_ns,
        "condition_power": _conditions(model),
        "hold_uw": watts.hold,
        "seek_uw": watts.seek,
        "rotate_uw": watts.rotate,
        "read_uw": watts.read,
        "write_uw": watts.write,
        "starting_ns": watts.starting_ns,
        "stopping_ns": watts.stopping_ns,
        "store": making.store.code,
        "store_bytes": making.store_bytes,
    }
    cache = model.cache
    more = {
        "band_cylinders": (model.band_cylinders, 0),
        "surfaces": (model.surfaces, 1),
        "stacks": (model.stacks, 1),
        "moving": (model.moving or model.channels, model.channels),
        "zero_latency": (int(model.zero_latency), 0),
        "heads_per_surface": (len(model.head_angles), 1),
        "cache_segments": (cache.segments, 0),
        "segment_sectors": (cache.segment_sectors, 0),
        "ahead_sectors": (cache.ahead_sectors, 0),
        "write_cache_sectors": (cache.write_sectors, 0),
        "hit_ns": (cache.hit_ns, 0),
        "sector_ps": (cache.sector_ps, 0),
    }
    values |= {name: value for name, (value, usual) in more.items() if value != usual}
    if len(model.head_angles) > 1:
        values["head_angles"] = struct.pack(f"={len(model.head_angles)}Q", *model.head_angles)
    return values | _given(making)


def _conditions(model: Model) -> list[dict[str, int]]:
    assert len(model.watts.base) == len(CONDITIONS)
    return [
        {"condition": index, "uw_v5": rails[0], "uw_v12": rails[1]}
        for index, rails in enumerate(model.watts.base)
    ]


def _given(making: Making) -> dict[str, Any]:
    """Attributes that are left to the kernel unless they are given."""
    given = {
        "window": making.window,
        "queue_depth": making.queue_depth,
        "spin_ns": making.spin_ns or None,
        "serial": making.serial or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _flash_values(model: Model, flash: Flash, making: Making) -> dict[str, Any]:
    watts, cache = model.watts, model.cache
    return {
        "name": making.name or model.name[: uapi.MAX_NAME],
        "sectors": model.capacity,
        **flash.fields(),
        "write_cache_sectors": cache.write_sectors,
        "hit_ns": cache.hit_ns,
        "sector_ps": cache.sector_ps,
        "condition_power": _conditions(model),
        "read_uw": watts.read,
        "write_uw": watts.write,
        "erase_uw": watts.erase,
        "starting_ns": watts.starting_ns,
        "stopping_ns": watts.stopping_ns,
        "store": making.store.code,
        "store_bytes": making.store_bytes,
        **_given(making),
    }
