# SPDX-License-Identifier: GPL-2.0-or-later
"""Looks over time: residencies, transitions and spin-ups."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from spekctl.documents.disk_states import DiskStates, PowerState, StateChange
from spekctl.documents.power_states import PowerStates
from spekctl.documents.result_parts import Clocks
from spekctl.power.disk import Disk, stops_on_suspend
from spekctl.power.look import Look, Observer

# Between two looks.
LEAST_NS = 10**8


@dataclass(frozen=True, slots=True)
class Pace:
    """How disks are looked at beside a load.

    @interval_ns: a disk without I/O for this time is looked at
    @is_sparing: in mid-run, no command is sent to a disk that may draw more power or wake because
        of it (disk.risk_of_commands()), and disks that cannot be asked at all are left out
    """

    interval_ns: int
    is_sparing: bool = False


# Of every run: less than look.RECENT_NS, so that a disk that was asked counts as up at the next
# look.
BESIDE_LOADS = Pace(5 * 10**9, is_sparing=True)


@dataclass(slots=True)
class Course:
    """What the looks at one disk add up to."""

    observer: Observer
    stops_on_suspend: bool
    looks: int = 0
    changes: list[StateChange] = field(default_factory=list)
    residency_ns: dict[PowerState, int] = field(default_factory=dict)
    spin_ups: int = 0
    hidden_starts: int = 0
    _previous: Look | None = None
    # The spindle stood at the last look at which that was known.
    _stood: bool = False

    @property
    def disk(self) -> Disk:
        """The disk."""
        return self.observer.disk

    def look(self, spared: str = "") -> StateChange | None:
        """Look once; the change since the look before, if there is one. @spared: see Observer."""
        return self.add(self.observer.look(spared))

    def glance(self) -> bool:
        """Take it into account if the disk is active by I/O alone. Return: whether it is."""
        look = self.observer.glance()
        if look is not None:
            self.add(look)
        return look is not None

    def is_due(self, interval_ns: int) -> bool:
        """Nothing has been seen of the disk for this time."""
        last = self.observer.last
        return last is None or self.observer.clock() - last.at_ns >= interval_ns

    def add(self, look: Look) -> StateChange | None:
        """Take a look into account."""
        before, self._previous = self._previous, look
        self.looks += 1
        change = None
        if before is None:
            change = StateChange(look.at_ns, 0, look.state, look.basis, look.detail)
        else:
            half_ns = (look.at_ns - before.at_ns) // 2
            self._stay(before.state, half_ns)
            self._stay(look.state, look.at_ns - before.at_ns - half_ns)
            if look.state is not before.state:
                at_ns = before.at_ns + half_ns
                within_ns = look.at_ns - at_ns
                change = StateChange(at_ns, within_ns, look.state, look.basis, look.detail)
        if change is not None:
            self.changes.append(change)
        self._count_starts(look)
        return change

    def _stay(self, state: PowerState, ns: int) -> None:
        self.residency_ns[state] = self.residency_ns.get(state, 0) + ns

    def _count_starts(self, look: Look) -> None:
        if look.state is PowerState.UNKNOWN:
            return
        stands = look.state.is_spun_down or (
            look.state is PowerState.SUSPENDED and self.stops_on_suspend
        )
        if self._stood and not stands:
            self.spin_ups += 1
        if self._stood and stands and look.io:
            self.hidden_starts += 1
        self._stood = stands

    def part(self) -> DiskStates:
        """As documents have it."""
        device = self.disk.device
        return DiskStates(
            disk=device.node,
            model=device.model,
            serial=device.serial,
            wwn=device.wwn,
            protocol=str(self.disk.protocol),
            stops_on_suspend=self.stops_on_suspend,
            looks=self.looks,
            commands=self.observer.commands,
            changes=list(self.changes),
            seconds={state: ns / 1e9 for state, ns in list(self.residency_ns.items())},
            spin_ups=self.spin_ups,
            hidden_starts=self.hidden_starts,
        )


def of_disk(observer: Observer) -> Course:
    """The course of a disk, from now on."""
    return Course(observer, stops_on_suspend(observer.disk))


def clocks() -> Clocks:
    """The clocks of this moment."""
    return Clocks(
        time.monotonic_ns(), time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW), time.time_ns()
    )


def report(
    courses: Sequence[Course], interval_ns: int, started: Clocks, ended: Clocks
) -> PowerStates:
    """The document of all of them."""
    return PowerStates(
        hostname=os.uname().nodename,
        interval_ns=interval_ns,
        started=started,
        ended=ended,
        disks=[course.part() for course in courses],
    )
