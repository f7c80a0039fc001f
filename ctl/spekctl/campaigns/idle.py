# SPDX-License-Identifier: GPL-2.0-or-later
"""An idle test: no I/O for a while, and the power during it.

Nothing is sent to the devices. Their own counters say afterwards whether other users accessed them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from spekctl import files, units
from spekctl.block import device as devices
from spekctl.block.device import Device
from spekctl.campaigns.folder import check_devices, refuse_other
from spekctl.documents import document
from spekctl.documents.benchmark import SiteMinute
from spekctl.documents.device import DiskCounters, TargetFacts
from spekctl.documents.document import Document, Kind
from spekctl.documents.power import PowerFigures
from spekctl.power.span import SpanMeter
from spekctl.run.job import Interrupts

FILE = "idle.json"
_STEP_S = 0.25


class Idle(Document, frozen=True, kw_only=True, tag=Kind.IDLE.value):
    """A completed idle test."""

    UPGRADES = (document.without_origin,)

    version: document.Version[Literal[2]] = 2
    length_ns: int
    start_ns: int
    end_ns: int
    targets: list[TargetFacts]
    power: PowerFigures | None
    foreign_ios: int | None  # reads and writes of other users; None: the devices don't count
    foreign_discard_bytes: int | None = None  # likewise
    site_minute: SiteMinute | None = None  # the first one

    @property
    def remarks(self) -> list[str]:
        """Remarks for the reader."""
        done = []
        if self.foreign_ios:
            done.append("did 1 I/O" if self.foreign_ios == 1 else f"did {self.foreign_ios:,} I/Os")
        if self.foreign_discard_bytes:
            done.append(f"discarded {units.format_bytes(self.foreign_discard_bytes)}")
        if not done:
            return []
        return ["the devices were not idle during the idle test: other users " + " and ".join(done)]


def monotonic_ns() -> int:
    """The clock of the power samples."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def measure(
    subject: Sequence[Device],
    length_ns: int,
    meter: SpanMeter | None,
    interrupts: Interrupts,
    clock: Callable[[], int] = monotonic_ns,
    pause: Callable[[float], None] = time.sleep,
) -> Idle | None:
    """Wait for this time while @meter follows; without a meter do not wait. None if interrupted."""
    before = [devices.read_stat(device) for device in subject]
    start_ns = clock()
    end_ns = start_ns + (length_ns if meter is not None else 0)
    while (left_ns := end_ns - clock()) > 0:
        if interrupts.count:
            return None
        pause(min(_STEP_S, left_ns / 1e9))
        if meter is not None:
            meter.follow(start_ns, end_ns)
    after = [devices.read_stat(device) for device in subject]
    return Idle(
        length_ns=length_ns,
        start_ns=start_ns,
        end_ns=end_ns,
        targets=[device.facts(before=stat) for device, stat in zip(subject, before, strict=True)],
        power=meter.between(start_ns, end_ns) if meter is not None else None,
        foreign_ios=_rise(before, after, _ios),
        foreign_discard_bytes=_rise(before, after, _discard_bytes),
    )


def _ios(stat: DiskCounters) -> int:
    return stat.reads + stat.writes


def _discard_bytes(stat: DiskCounters) -> int | None:
    return None if stat.discard_sectors is None else stat.discard_sectors * 512


def _rise(
    before: Sequence[DiskCounters | None],
    after: Sequence[DiskCounters | None],
    count: Callable[[DiskCounters], int | None],
) -> int | None:
    """How much a count of all devices has grown; None if one of them does not count."""
    total = 0
    for first, last in zip(before, after, strict=True):
        start, end = (None if stat is None else count(stat) for stat in (first, last))
        if start is None or end is None:
            return None
        total += end - start
    return total


def save(folder: Path, done: Idle, name: str = FILE) -> None:
    """Store it for a resumption."""
    files.write(folder / name, files.encode(done))


def load(folder: Path, name: str = FILE) -> Idle | None:
    """The idle test in the folder; None if it has none."""
    if not files.exists(folder / name):
        return None
    return document.read(folder / name, Idle)


def check_same(folder: Path, done: Idle, subject: Sequence[Device], length_ns: int) -> None:
    """Refuse to mix idle tests and loads of different things."""
    check_devices(folder, done.targets, subject)
    if done.length_ns != length_ns:
        was, now = units.format_duration(done.length_ns), units.format_duration(length_ns)
        refuse_other(folder, "--idle-time", was, now)
