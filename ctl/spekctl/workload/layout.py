# SPDX-License-Identifier: GPL-2.0-or-later
"""Places the address ranges of a workload on the devices of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from spekctl import units
from spekctl.errors import UsageError, at
from spekctl.workload import own_devices
from spekctl.workload.config import Extent, ResolvedAsu
from spekctl.workload.meaning import asus_of, fraction_or_bytes, is_percent
from spekctl.workload.model import Asu, WorkloadFile
from spekctl.workload.rules import check_room


@dataclass(frozen=True, slots=True)
class Target:
    """Properties of a device that resolving needs."""

    path: str
    major: int
    minor: int
    bytes: int
    logical_block: int
    diskseq: int = 0
    zone_bytes: int = 0  # 0: not zoned
    open_zones_max: int = 0  # 0: no limit
    # Bytes that can be written at the pointer of each zone; None: not known yet.
    capacities: Sequence[int] | None = None


def place_asus(
    workload: WorkloadFile,
    stripe_bytes: int,
    targets: Sequence[Target],
    fixed: bool,
    workers: int,
) -> list[ResolvedAsu]:
    """Lay the asus out one after the other, each on its own device or striped over the others.

    Over several devices every asu takes the same part of each, in whole stripes; the smallest
    device sets what is used of the others. An asu with streams at write pointers has whole zones.
    """
    places = own_devices.placed(workload, [target.path for target in targets])
    check_room(asus_of(workload))
    resolved: list[ResolvedAsu] = []
    cursors: dict[str | None, int] = {}
    for asu in asus_of(workload):
        numbers = places[asu.name]
        here = [targets[number] for number in numbers]
        nr = len(here)
        smallest = min(here, key=lambda target: target.bytes)
        room = smallest.bytes  # on each device
        if nr > 1:
            room -= room % stripe_bytes
        with at(f"asu '{asu.name}'"):
            unit = units.parse_size(asu.block) if nr == 1 else stripe_bytes
            if nr == 1 and room < unit:
                unit = smallest.logical_block  # a disk of a few sectors has those
            open_zones = _open_zones(workload, asu, here, workers)
            zone_bytes = here[0].zone_bytes if open_zones else 0
            unit = max(unit, zone_bytes)
            start = _asu_start(asu, cursors.get(asu.device, 0), room, unit, nr)
            taken, size = _asu_size(asu, room, unit, nr)
            for target in here:
                if size % target.logical_block or start % target.logical_block:
                    raise UsageError(
                        "its start or size is not a multiple of the logical block of"
                        f" {target.path}, {target.logical_block} bytes"
                    )
            if zone_bytes and (start % zone_bytes or size % zone_bytes):
                raise UsageError(
                    f"its start or size is not a multiple of the zones of {here[0].path}, which"
                    f" have {units.format_bytes(zone_bytes)}"
                )
            _check_minimum(workload, asu, size, unit, nr, smallest, fixed)
            if start + taken > smallest.bytes:
                each = " of each device" if nr > 1 else ""
                raise UsageError(
                    f"it ends at byte {start + taken}{each}, but {smallest.path} has only"
                    f" {smallest.bytes} ({units.format_bytes(smallest.bytes)})"
                )
            cursors[asu.device] = start + taken
        resolved.append(
            ResolvedAsu(
                name=asu.name,
                bytes=size,
                stripe_bytes=stripe_bytes if nr > 1 else 0,
                extents=[Extent(target=number, start=start) for number in numbers],
                zone_bytes=zone_bytes,
                open_zones=open_zones,
            )
        )
    return resolved


def _open_zones(workload: WorkloadFile, asu: Asu, targets: Sequence[Target], workers: int) -> int:
    """Zones of the asu that are written in turn; 0 if no stream is at write pointers there."""
    first = asus_of(workload)[0].name
    here = [
        stream
        for stream in workload.stream
        if stream.pattern == "write-pointer" and (stream.asu or first) == asu.name
    ]
    if not here:
        return 0
    if len(targets) > 1:
        raise UsageError("pattern write-pointer needs one device: it can't be striped")
    target = targets[0]
    if not target.zone_bytes:
        raise UsageError(f"pattern write-pointer needs a zoned device, which {target.path} is not")
    given = {stream.open_zones for stream in here} - {None}
    if len(given) > 1:
        raise UsageError(
            "its streams have different open_zones: give the same, or only one of them"
        )
    (zones,) = given or {workers}
    assert zones is not None
    if target.open_zones_max and zones > target.open_zones_max:
        raise UsageError(
            f"{zones} zones would be open, and {target.path} can have {target.open_zones_max}"
        )
    if zones < workers:
        raise UsageError(
            f"it has {zones} open zones for {workers} workers: each worker needs at least one"
        )
    return zones


def capacities_of(asus: Sequence[ResolvedAsu], targets: Sequence[Target]) -> list[list[int]]:
    """Of each asu the bytes that can be written at the pointers of its zones, if streams are there;
    of a device whose capacities are not known whole zones."""
    capacities: list[list[int]] = []
    for asu in asus:
        zones: list[int] = []
        if asu.zone_bytes:
            (extent,) = asu.extents
            first, number = extent.start // asu.zone_bytes, asu.bytes // asu.zone_bytes
            known = targets[extent.target].capacities
            if known is None:
                zones = [asu.zone_bytes] * number
            else:
                zones = list(known[first : first + number])
        capacities.append(zones)
    return capacities


def _asu_start(asu: Asu, cursor: int, room: int, unit: int, nr: int) -> int:
    """First byte of the asu on each device."""
    if asu.start is None:
        return -(-cursor // unit) * unit
    start = fraction_or_bytes(asu.start)
    if isinstance(start, Fraction):
        return int(room * start) // unit * unit
    if nr > 1 and start % (unit * nr):
        raise UsageError(
            f"its start, {asu.start}, is not a multiple of the stripe over {nr} devices,"
            f" {units.format_bytes(unit * nr)}"
        )
    return start // nr


def _asu_size(asu: Asu, room: int, unit: int, nr: int) -> tuple[int, int]:
    """Bytes that the asu takes on each device, and its own size."""
    wanted = fraction_or_bytes(asu.size)
    if isinstance(wanted, Fraction):
        taken = int(room * wanted) // unit * unit
        return taken, taken * nr
    if wanted % 512:
        raise UsageError(f"its size, {asu.size}, is not a multiple of 512 bytes")
    if nr > 1 and wanted % (unit * nr):
        raise UsageError(
            f"its size, {asu.size}, is not a whole number of stripes over {nr} devices,"
            f" {units.format_bytes(unit * nr)}"
        )
    return wanted // nr, wanted


def _check_minimum(
    workload: WorkloadFile,
    asu: Asu,
    size: int,
    unit: int,
    nr: int,
    smallest: Target,
    fixed: bool,
) -> None:
    low = asu.fixed.min if fixed and asu.fixed and asu.fixed.min is not None else asu.min
    if low is None and size > 0:
        return
    least = max(units.parse_size(low) if low is not None else unit, 1)
    if size >= least:
        return
    sentence = (
        f"it would have {units.format_bytes(size)}, but {workload.workload.name} needs at least"
        f" {units.format_bytes(least)} there"
    )
    if is_percent(asu.size):
        share = units.parse_percent(str(asu.size))
        taken = -(-least // (unit * nr)) * unit  # on each device, in whole units
        needed = math.ceil(Fraction(taken) / share)
        step = 1 << 20 if needed > 1 << 20 else unit
        sentence += (
            f"; that takes {'devices' if nr > 1 else 'a device'} of at least"
            f" {units.format_bytes(-(-needed // step) * step)}, and {smallest.path} has"
            f" {units.format_bytes(smallest.bytes)}"
        )
    raise UsageError(sentence)
