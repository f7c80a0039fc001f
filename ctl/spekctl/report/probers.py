# SPDX-License-Identifier: GPL-2.0-or-later
"""Sheet of the samples of a prober without a run."""

from __future__ import annotations

from spekctl import units
from spekctl.documents import operation
from spekctl.documents.prober import ProberReport
from spekctl.errors import UsageError
from spekctl.render import prober as render
from spekctl.report import disk_states, energy, machines, runs
from spekctl.report.sheet import Plot, Sheet, add_printed


def prober_sheet(file: str, report: ProberReport) -> Sheet:
    """Everything that the prober knew, without a run."""
    probe = report.probe
    name = report.environment.hostname.replace("(none)", "") or "a machine"
    sheet = Sheet(file, "samples of the prober", f"{name}, without a load of spek's")
    count = len(report.start_ns)
    length = (report.end_ns[-1] - report.start_ns[0]) / 1e9 if count else 0.0
    sheet.figures = [
        ("length", units.format_clock(length)),
        ("samples", f"{count:,}"),
        ("interval", units.format_duration(probe.interval_ns)),
    ]
    sheet.conditions = runs.machine(report.environment)
    add_printed(sheet, render.parts(report))
    if count:
        sheet.plots = [
            *machines.plots(report, report.start_ns[0], runs.TIME_AXIS),
            *_efficiency(report),
        ]
    if report.power_states:
        zero = report.start_ns[0] if count else report.probe.started.monotonic_ns
        disk_states.add(sheet, report.power_states, zero)
    return sheet


def _efficiency(report: ProberReport) -> list[Plot]:
    """DCsE of the disk that had I/O; the text says why there is none."""
    try:
        course = operation.course_of(report)
    except UsageError:
        return []
    return energy.operation_plots(course[1]) if course is not None else []
