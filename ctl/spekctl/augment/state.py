# SPDX-License-Identifier: GPL-2.0-or-later
"""The state of caches, with the names of their devices."""

from __future__ import annotations

import os

from spekctl.augment import lost
from spekctl.augment.format import SSD
from spekctl.augment.mapper import Mapper
from spekctl.augment.table import MISSING, State, Table
from spekctl.block import device as devices
from spekctl.block.device import ROOTS, Device, Roots
from spekctl.documents.augment import AugmentStatus, Cache, CacheDevice


def report(mapper: Mapper, name: str | None = None, roots: Roots = ROOTS) -> AugmentStatus:
    """The document of one cache, or of all."""
    states = mapper.states() if name is None else {name: mapper.state(name)}
    return AugmentStatus(
        hostname=os.uname().nodename,
        caches=[cache_of(mapper, each, state, roots) for each, state in sorted(states.items())],
    )


def cache_of(mapper: Mapper, name: str, state: State, roots: Roots = ROOTS) -> Cache:
    """A cache as documents have it."""
    table = mapper.table(name)
    counted = {field: getattr(state, field) for field in _COUNTED}
    return Cache(
        name=name,
        node=mapper.node(name),
        uuid=mapper.uuid(name),
        raid=path_of(table.raid, roots),
        devices=devices_of(table, state, roots),
        mirror=state.mirror - 1 if state.mirror > SSD else None,
        wakes=state.wakes,
        lost=lost.ranges(mapper, name, state),
        **counted,
    )


_COUNTED = tuple(
    field
    for field in State.__slots__
    if field not in ("live", "awake", "mirror") and not field.endswith("_wakes")
)


def devices_of(table: Table, state: State, roots: Roots = ROOTS) -> list[CacheDevice]:
    """The SSD and the members, in order."""
    return [
        CacheDevice(
            member=None if number == SSD else number - 1,
            path=path_of(text, roots),
            live=bool(state.live >> number & 1),
            awake=None if number == SSD else bool(state.awake >> number & 1),
        )
        for number, text in enumerate((table.ssd, *table.spares))
    ]


def device_at(text: str, roots: Roots = ROOTS) -> Device | None:
    """The device that a table names; None if it is missing or gone."""
    major, _, minor = text.partition(":")
    if not (major.isdigit() and minor.isdigit()):
        return None
    return devices.by_number(int(major), int(minor), roots=roots)


def path_of(text: str, roots: Roots = ROOTS) -> str:
    """Its node; the number of a device that is gone."""
    if text == MISSING:
        return ""
    device = device_at(text, roots)
    return device.node if device is not None else text
