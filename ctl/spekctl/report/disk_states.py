# SPDX-License-Identifier: GPL-2.0-or-later
"""Power states of disks in a report: over time, and how long each lasted."""

from __future__ import annotations

from collections.abc import Sequence

from spekctl import units
from spekctl.documents.disk_states import DEPTHS, DiskStates, PowerState
from spekctl.documents.power_states import PowerStates
from spekctl.render import power_states as render
from spekctl.report.sheet import Axis, Bars, Line, Plot, Quantity, Sheet, Strand, add_printed

_TIME = Axis("time since the start", quantity=Quantity.CLOCK)
_DEPTH = Axis("depth of rest", quantity=Quantity.WHOLE)


def add(sheet: Sheet, disks: Sequence[DiskStates], zero_ns: int) -> None:
    """Add the states of @disks since @zero_ns."""
    strands = [_strand(disk, zero_ns) for disk in disks]
    note = f"{DEPTHS}. A slope lasts from one look to the next; a gap: not known, or starting."
    sheet.plots.append(
        Plot("power-states", "Power states of the disks", _TIME, _DEPTH, strands, "time", (), note)
    )
    states = [state for state in PowerState if any(disk.seconds.get(state) for disk in disks)]
    if states:
        rows = [(disk.disk, [disk.seconds.get(state, 0.0) for state in states]) for disk in disks]
        sheet.bars.append(Bars("Time in each power state", "s", states, rows))


def _strand(disk: DiskStates, zero_ns: int) -> Strand:
    """A disk's depth over time. A change is known to be between two looks."""
    first, *later = disk.changes
    depth = first.state.depth
    points = [(first.at_ns, depth)]
    for change in later:
        if change.at_ns - change.within_ns > points[-1][0]:
            points.append((change.at_ns - change.within_ns, depth))
        depth = change.state.depth
        points.append((max(change.at_ns + change.within_ns, points[-1][0] + 1), depth))
    end_ns = first.at_ns + round(sum(disk.seconds.values()) * 1e9)
    if end_ns > points[-1][0]:
        points.append((end_ns, depth))
    xs = [(at_ns - zero_ns) / 1e9 for at_ns, _ in points]
    return Strand(xs, [Line(disk.disk, [depth for _, depth in points], main=True)])


def states_sheet(file: str, report: PowerStates) -> Sheet:
    """The document of `spekctl power states`."""
    disks = f"{len(report.disks)} disk" + "s" * (len(report.disks) > 1)
    sheet = Sheet(file, "power states of disks", f"{disks} of {report.hostname}")
    length_s = (report.ended.monotonic_ns - report.started.monotonic_ns) / 1e9
    sheet.figures = [
        ("length", units.format_clock(length_s)),
        ("transitions", f"{sum(disk.transitions for disk in report.disks):,}"),
        ("spin-ups", f"{sum(disk.spin_ups for disk in report.disks):,}"),
        ("commands of the looks", f"{sum(disk.commands for disk in report.disks):,}"),
    ]
    add_printed(sheet, render.parts(report), head=False)
    if report.interval_ns:
        add(sheet, report.disks, report.started.monotonic_ns)
    return sheet
