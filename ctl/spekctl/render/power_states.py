# SPDX-License-Identifier: GPL-2.0-or-later
"""Power states of disks as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents.disk_states import DiskStates, PowerState, StateChange
from spekctl.documents.power_states import PowerStates

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_CHANGES = 40  # shown


def parts(report: PowerStates) -> Iterator[RenderableType]:
    """The last state of each disk; of a series of looks also times, transitions and spin-ups."""
    from spekctl.render import tables

    table = tables.table("disk", "state", "known by", "", "model", whole=("disk",))
    for disk in report.disks:
        last = disk.changes[-1]
        table.add_row(disk.disk, last.state, last.basis, last.detail, disk.model)
    yield table
    if not report.interval_ns:
        return
    yield ""
    yield _heading(report)
    yield residencies(report.disks)
    yield from remarks(report.disks)
    for disk in report.disks:
        yield ""
        yield from _course(disk, report.started.monotonic_ns)


def line(disk: str, change: StateChange, started_ns: int) -> str:
    """A change as it is printed while the looks go on."""
    at = units.format_clock((change.at_ns - started_ns) / 1e9)
    return f"{at:>9}  {disk}  {change.state}" + (f"  {change.detail}" if change.detail else "")


def _heading(report: PowerStates) -> str:
    length_s = (report.ended.monotonic_ns - report.started.monotonic_ns) / 1e9
    return (
        f"{report.hostname}: looks every {units.format_duration(report.interval_ns)} for"
        f" {units.format_clock(length_s)}; times are right to half of that per transition"
    )


def residencies(disks: Sequence[DiskStates]) -> RenderableType:
    """The time of each disk in each state, and what was counted."""
    from spekctl.render import tables

    states = [state for state in PowerState if any(state in disk.seconds for disk in disks)]
    counts = ("transitions", "spin-ups", "looks", "commands")
    table = tables.table("disk", *states, *counts, right=(*states, *counts), whole=("disk",))
    for disk in disks:
        whole = sum(disk.seconds.values())
        times = [_time(disk.seconds.get(state, 0.0), whole) for state in states]
        numbers = (disk.transitions, disk.spin_ups, disk.looks, disk.commands)
        table.add_row(disk.disk, *times, *map(str, numbers))
    return table


def _time(seconds: float, whole: float) -> str:
    if not seconds:
        return "-"
    return f"{units.format_clock(seconds)} {seconds / whole:.0%}"


def remarks(disks: Sequence[DiskStates]) -> Iterator[str]:
    """What the counts cannot say."""
    for disk in disks:
        if disk.hidden_starts:
            yield (
                f"{disk.disk}: {disk.hidden_starts} times I/O completed between two looks at a"
                " standing spindle: it may have started more often"
            )


def _course(disk: DiskStates, started_ns: int) -> Iterator[str]:
    for change in disk.changes[:MOST_CHANGES]:
        yield line(disk.disk, change, started_ns)
    if len(disk.changes) > MOST_CHANGES:
        yield f"and {len(disk.changes) - MOST_CHANGES} more changes of {disk.disk}"
