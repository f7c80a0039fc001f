# SPDX-License-Identifier: GPL-2.0-or-later
"""What resolving a workload needs to know of devices, or of the rooms that a run has on them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from spekctl.block.device import Device, same_bytes
from spekctl.block.zones import Zone
from spekctl.errors import UsageError
from spekctl.workload.config import Extent, RunConfig
from spekctl.workload.layout import Target


@dataclass(frozen=True, slots=True)
class Room:
    """The part of a device that a run may use."""

    start: int
    bytes: int


def targets_of(devices: Sequence[Device], rooms: Sequence[Room] = ()) -> list[Target]:
    """The devices of a run, in their order; with @rooms they are only as large as these. UsageError
    if two lie on the same bytes of one path."""
    check_apart(devices)
    whole = _whole(devices)
    if not rooms:
        return whole
    for target, room in zip(whole, rooms, strict=True):
        if room.start < 0 or room.bytes <= 0 or room.start + room.bytes > target.bytes:
            raise UsageError(
                f"a slice of {room.bytes} bytes from byte {room.start} on is not on {target.path},"
                f" which has {target.bytes}"
            )
    return [
        dataclasses.replace(target, bytes=room.bytes)
        for target, room in zip(whole, rooms, strict=True)
    ]


def check_apart(devices: Sequence[Device]) -> None:
    """UsageError for devices of a run that the kernel cannot claim together: the same one, or a
    disk and its partition; and for partitions that overlap."""
    for before, device in itertools.combinations(devices, 2):
        if (before.major, before.minor) == (device.major, device.minor):
            raise UsageError(f"{before.path} and {device.path} are the same device")
        if before.disk == device.disk and same_bytes(before, device):
            raise UsageError(f"{before.path} and {device.path} lie on the same bytes")


def check_paths(devices: Sequence[Device], config: RunConfig) -> None:
    """UsageError for a run that writes to one of two paths to a unit: what is striped over both
    would overwrite itself. Reads by several paths are a load like any other."""
    for before, device in itertools.combinations(devices, 2):
        written = config.written & {(each.major, each.minor) for each in (before, device)}
        if written and same_bytes(before, device):
            raise UsageError(
                f"{before.path} and {device.path} lie on the same bytes, by two paths: only a run"
                " without writes may have both"
            )


def with_zones(
    targets: Sequence[Target], zones: Sequence[Sequence[Zone]], rooms: Sequence[Room] = ()
) -> list[Target]:
    """@targets, with what can be written to the @zones that each device has reported."""
    known = []
    for place, (target, reported) in enumerate(zip(targets, zones, strict=True)):
        first = rooms[place].start if rooms else 0
        capacities = [zone.capacity for zone in reported if zone.start >= first]
        if target.zone_bytes and len(capacities) < target.bytes // target.zone_bytes:
            raise UsageError(
                f"passes: {target.path} does not report all of its zones, so how much a pass of"
                " write pointers has is not known; use count"
            )
        known.append(dataclasses.replace(target, capacities=capacities))
    return known


def moved(config: RunConfig, rooms: Sequence[Room]) -> RunConfig:
    """A configuration that was resolved for targets as large as @rooms, in these rooms."""
    if not rooms:
        return config
    asus = [
        msgspec.structs.replace(
            asu,
            extents=[
                Extent(target=extent.target, start=extent.start + rooms[extent.target].start)
                for extent in asu.extents
            ],
        )
        for asu in config.asus
    ]
    return msgspec.structs.replace(config, asus=asus)


def _whole(devices: Sequence[Device]) -> list[Target]:
    return [
        Target(
            *(
                device.path,
                device.major,
                device.minor,
                device.bytes,
                device.logical_block,
                device.diskseq,
            ),
            *(device.zone_bytes, device.open_zones_max),
        )
        for device in devices
    ]
