# SPDX-License-Identifier: GPL-2.0-or-later
"""Which part of a device each host of a fleet gets, if several of them have it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from spekctl.errors import UsageError
from spekctl.fleet.plan import Plan
from spekctl.fleet.wire import DeviceSeen, ReplayPart, ReplayPiece, ReplayTarget, Slice

# Slices begin at multiples of this, and of whole zones; the last one ends with the device.
ALIGN_BYTES = 1 << 20


def of(plan: Plan, seen: Mapping[str, Sequence[DeviceSeen]]) -> dict[str, list[Slice]]:
    """The slices of each client's devices, in their order; a client without any has all of them."""
    if plan.share == "overlap":
        return {}
    weights = {host.name: host.weight for host in plan.clients}
    shares = {identity: _cut(identity, users, weights) for identity, users in _shared(seen).items()}
    for first, device, second, more in _overlaps(seen):
        raise UsageError(
            f"{first}'s {device.path} and {second}'s {more.path} have bytes in common:"
            f" {device.identity}, {more.identity}; name the same device on both hosts, which split"
            ' it, or write share = "overlap"'
        )
    given = {}
    for name, devices in seen.items():
        if any(device.identity in shares for device in devices):
            given[name] = [
                shares[device.identity][name]
                if device.identity in shares
                else Slice(0, device.bytes)
                for device in devices
            ]
    return given


def replayed(plan: Plan, seen: Mapping[str, Sequence[DeviceSeen]]) -> dict[str, ReplayPart]:
    """The part of a trace that each client replays; none: each replays all of it.

    Devices of the trace go in turn to those of all clients, in the order of the plan. A shared
    device is one of these, and each client has the addresses of its slice, so that each record has
    a client.
    """
    if plan.share == "overlap":
        return {}
    cut = of(plan, seen)
    targets: list[ReplayTarget] = []
    number_of: dict[str, int] = {}
    own: dict[str, list[ReplayPiece]] = {name: [] for name in seen}
    for name, devices in seen.items():
        for index, device in enumerate(devices):
            key = device.identity or f"{index} {name}"
            if key not in number_of:
                number_of[key] = len(targets)
                targets.append(ReplayTarget(device.bytes, device.logical_block))
            piece = cut[name][index] if name in cut else Slice(0, device.bytes)
            own[name].append(ReplayPiece(number_of[key], piece.start, piece.bytes))
    return {name: ReplayPart(targets, pieces) for name, pieces in own.items()}


def remarks(plan: Plan, seen: Mapping[str, Sequence[DeviceSeen]]) -> list[str]:
    """What readers of a result have to know of shared devices."""
    told = []
    for identity, users in _shared(seen).items():
        names = ", ".join(users)
        how = "each a slice of its own" if plan.share == "split" else "and overlap there"
        told.append(f"{names} share the device {identity}, {how}")
    for first, device, second, more in _overlaps(seen):
        told.append(
            f"{first}'s {device.path} and {second}'s {more.path} have bytes in common:"
            f" {device.identity}, {more.identity}"
        )
    unknown = [
        f"{device.path} of {name}"
        for name, devices in seen.items()
        for device in devices
        if not device.identity
    ]
    if unknown and len(seen) > 1:
        listed = ", ".join(unknown[:5]) + (" and others" if len(unknown) > 5 else "")
        told.append(f"other hosts may have the same devices, which have no WWN to tell: {listed}")
    return told


def _shared(seen: Mapping[str, Sequence[DeviceSeen]]) -> dict[str, dict[str, DeviceSeen]]:
    """Devices that several hosts have, by what they are: their users in the order of the plan."""
    users: dict[str, dict[str, DeviceSeen]] = {}
    for name, devices in seen.items():
        _check_apart(name, devices)
        for device in devices:
            if device.identity:
                users.setdefault(device.identity, {})[name] = device
    return {identity: named for identity, named in users.items() if len(named) > 1}


def _check_apart(name: str, devices: Sequence[DeviceSeen]) -> None:
    """UsageError if devices of one host have bytes in common."""
    for before, device in itertools.combinations(devices, 2):
        number = device.facts.major, device.facts.minor
        if number == (before.facts.major, before.facts.minor):
            # By its number, as a disk without a WWN has no other name that all paths share.
            what = device.identity or f"{number[0]}:{number[1]}"
            raise UsageError(f"{name}: {device.path} and {before.path} are one device, {what}")
        if device.identity and device.identity == before.identity:
            raise UsageError(
                f"{name}: {device.path} and {before.path} are one device, {device.identity}"
            )
        if device.overlaps(before):
            raise UsageError(
                f"{name}: {device.path} and {before.path} have bytes in common:"
                f" {device.identity}, {before.identity}"
            )


def _overlaps(
    seen: Mapping[str, Sequence[DeviceSeen]],
) -> Iterator[tuple[str, DeviceSeen, str, DeviceSeen]]:
    """Pairs of different devices of different hosts that have bytes in common: the first such pair
    of each two devices."""
    users: dict[str, dict[str, tuple[str, DeviceSeen]]] = {}
    for name, devices in seen.items():
        for device in devices:
            if device.identity:
                users.setdefault(device.wwn, {}).setdefault(device.identity, (name, device))
    for by_identity in users.values():
        for (first, device), (second, more) in itertools.combinations(by_identity.values(), 2):
            if device.overlaps(more):
                yield first, device, second, more


def _cut(
    identity: str, users: Mapping[str, DeviceSeen], weights: Mapping[str, int]
) -> dict[str, Slice]:
    starts = {device.start for device in users.values()}
    if len(starts) > 1:
        raise UsageError(
            f"hosts see {identity} at different bytes of its disk: {sorted(starts)}; have them read"
            " the partition table again"
        )
    sizes = {device.bytes for device in users.values()}
    if len(sizes) > 1:
        raise UsageError(f"hosts see different sizes of the device {identity}: {sorted(sizes)}")
    (size,) = sizes
    unit = max([ALIGN_BYTES, *(device.zone_bytes for device in users.values())])
    total = sum(weights[name] for name in users)
    cut, before, start = {}, 0, 0
    for name in users:
        before += weights[name]
        end = size * before // total // unit * unit
        if end <= start:
            raise UsageError(
                f"the device {identity} of {size} bytes is too small for {len(users)} slices of"
                f" {unit} bytes or more"
            )
        # What lies behind the last whole unit has to be somebody's: a purge discards all blocks.
        last = size if before == total else end
        cut[name] = Slice(start, last - start)
        start = end
    return cut
