# SPDX-License-Identifier: GPL-2.0-or-later
"""Time without I/O on all hosts: the power of each, and their sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from spekctl import files
from spekctl.campaigns.idle import Idle
from spekctl.documents import power as powers
from spekctl.documents.power import PowerFigures
from spekctl.documents.result_parts import IntervalPower, RailPower
from spekctl.errors import SpekError
from spekctl.fleet.outcome import Part


class Rested(msgspec.Struct, frozen=True):
    """What a client has in place of a result of a run. @idle: None if it was stopped; @missing: why
    its power was not measured."""

    idle: Idle | None
    missing: str = ""


def rested_of(parts: Sequence[Part]) -> dict[str, Rested]:
    """What each client has sent, by its name. SpekError for what is damaged."""
    told: dict[str, Rested] = {}
    for part in parts:
        if part.host.role == "client" and part.collected is not None:
            try:
                told[part.name] = files.decode(bytes(part.collected.document), Rested)
            except msgspec.DecodeError as error:
                raise SpekError(f"{part.name} has sent a damaged result: {error}") from error
    return told


def together(rests: Mapping[str, Idle], start_ns: int) -> Idle:
    """The rest of all hosts, which began at @start_ns by the controller's CLOCK_MONOTONIC. Its
    devices are in the order of the hosts' names, and a rail is a host. Power is unknown if that of
    a host is; None if no host has measured any."""
    names = sorted(rests)
    parts = [rests[name] for name in names]
    foreign_ios = [part.foreign_ios for part in parts]
    discarded = [part.foreign_discard_bytes for part in parts]
    return Idle(
        length_ns=max(part.length_ns for part in parts),
        start_ns=start_ns,
        end_ns=start_ns + max(part.end_ns - part.start_ns for part in parts),
        targets=[target for part in parts for target in part.targets],
        power=_power({name: rests[name].power for name in names}, parts),
        foreign_ios=_sum(foreign_ios),
        foreign_discard_bytes=_sum(discarded),
    )


def _power(
    by_name: Mapping[str, PowerFigures | None], parts: Sequence[Idle]
) -> PowerFigures | None:
    known = {name: power for name, power in by_name.items() if power is not None}
    if not known:
        return None
    length_s = max(part.end_ns - part.start_ns for part in parts) / 1e9
    rails: list[RailPower] = []
    # Of all rails of the hosts: their own sums are rounded.
    every: list[RailPower] = []
    for name in by_name:
        own = known.get(name)
        if own is None:
            rails.append(powers.unknown(name, length_s))
            every.append(rails[-1])
            continue
        rails.append(msgspec.structs.replace(own.total, name=name, feed=name))
        every += powers.rails_of(IntervalPower(rails=own.rails, total=own.total))
    # Baselines are those of single machines.
    return PowerFigures(rails, powers.total_of(every), 0.0)


def _sum(counts: Sequence[int | None]) -> int | None:
    """None if one of them is not known."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
