# SPDX-License-Identifier: GPL-2.0-or-later
"""Sheets of the energy tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents import energy, spc2
from spekctl.documents.benchmark import AnnualReport
from spekctl.documents.exact import Figure
from spekctl.render import energy as render
from spekctl.render import spc2 as render_spc2
from spekctl.report import benchmark, runs
from spekctl.report.sheet import (
    Axis,
    Bars,
    Judged,
    Line,
    Plot,
    Sheet,
    Strand,
    Verdict,
    add_printed,
)
from spekctl.report.words import few

if TYPE_CHECKING:
    from rich.console import RenderableType

WATTS = Axis("power", "W")


def spc1e_sheet(file: str, report: energy.Spc1eReport) -> Sheet:
    """An SPC-1/E-like test."""
    mean = report.composite
    traffic = [("nominal IOPS", mean.iops), ("IOPS/W", mean.iops_per_watt)] if mean else []
    sheet = _annual_sheet(file, "SPC-1/E-like test", report, traffic, render.spc1e_parts(report))
    levels = [(level.iops, level.watts) for level in report.levels]
    sheet.plots += _power_plot(levels, Axis("I/Os per second", "1/s"))
    return sheet


def spc2e_sheet(file: str, report: spc2.Spc2eReport) -> Sheet:
    """An SPC-2/E-like test."""
    mean = report.composite
    traffic = [("nominal MB/s", mean.mb_s), ("MB/s/W", mean.mb_s_per_watt)] if mean else []
    sheet = _annual_sheet(
        file, "SPC-2/E-like test", report, traffic, render_spc2.energy_parts(report)
    )
    levels = [(level.mb_s, level.watts) for level in report.levels]
    sheet.plots += _power_plot(levels, Axis("data rate", "MB/s"))
    return sheet


def _annual_sheet(
    file: str,
    kind: str,
    report: AnnualReport,
    traffic: Sequence[tuple[str, Figure | None]],
    printed: Iterable[RenderableType],
) -> Sheet:
    """A test with the energy of a year; @traffic: the figures of its mean day beside power."""
    sheet = benchmark.powered(file, kind, report, printed)
    if report.composite is not None:
        sheet.figures += _known(("nominal power, W", report.composite.watts), *traffic)
    sheet.figures += _known(
        ("annual energy, kWh", report.annual_kwh), ("annual cost", report.annual_cost)
    )
    sheet.bars += _profile_bars(
        [(profile.name, profile.watts) for profile in report.profiles if profile.watts is not None]
    )
    return sheet


def emerald_sheet(file: str, report: energy.EmeraldReport) -> Sheet:
    """An Emerald-like test."""
    sheet = benchmark.powered(file, "Emerald-like test", report, render.emerald_parts(report))
    if report.taxonomy:
        sheet.conditions.append(("taxonomy", report.taxonomy))
    sheet.conditions += report.disclosures.items()
    sheet.figures += [
        (f"{phase.metric or phase.name}, {phase.unit}", phase.value.text)
        for phase in report.phases
        if phase.value is not None
    ]
    sheet.verdicts = [
        Verdict(phase.name, phase.text or "keeps its limits", phase.passed)
        for phase in report.phases
    ]
    powered = [
        (phase.name, [float(phase.watts)]) for phase in report.phases if phase.watts is not None
    ]
    if powered:
        sheet.bars.append(Bars("Mean power of the phases", "W", ["power"], powered))
    return sheet


def dcse_sheet(file: str, report: energy.DcseReport) -> Sheet:
    """DCsE figures."""
    sheet = Sheet(
        file, "DCsE figures", f"{report.notice}: {report.source}", remarks=list(report.remarks)
    )
    sheet.figures += _known(
        ("GB/W", report.gb_per_watt),
        ("IOPS/W", report.iops_per_watt),
        ("MB/s/W", report.mb_per_s_per_watt),
    )
    sheet.conditions = [(name.replace("_", " "), text) for name, text in report.given.items()]
    add_printed(sheet, render.dcse_parts(report))
    if report.over_time:
        sheet.plots = operation_plots(report.over_time)
    return sheet


def capacity_sheet(file: str, report: energy.CapacityReport) -> Sheet:
    """Capacity optimization: each method is a verdict, a method that was not tested none."""
    names = few([target.path for target in report.targets])
    sheet = Sheet(
        file,
        "capacity optimization",
        f"{report.notice}: {names}",
        remarks=list(report.remarks),
        judged=Judged("Methods", "shown", "not shown"),
    )
    sheet.conditions = [
        ("bytes stored", report.stored),
        ("data set", units.format_bytes(report.size)),
        *runs.targets(report.targets),
    ]
    shown = {"yes": True, "no": False}
    sheet.verdicts = [
        Verdict(method.name, method.reason, shown.get(method.verdict)) for method in report.methods
    ]
    add_printed(sheet, render.capacity_parts(report))
    if report.steps:
        stored = [("at first", [report.steps[0].stored_before / 1e6])]
        stored += [(step.name, [step.stored_after / 1e6]) for step in report.steps]
        sheet.bars.append(Bars("Bytes stored after each step", "MB", ["stored"], stored))
    return sheet


def operation_plots(spans: Sequence[energy.DcseSpan]) -> list[Plot]:
    """Efficiency, power and load of normal operation; each span at its start."""
    first = spans[0].start_real_ns
    times = [(span.start_real_ns - first) / 1e9 for span in spans]

    def plot(key: str, title: str, unit: str, values: Sequence[float | None]) -> Plot:
        strand = Strand(times, [Line(title, values, main=True)])
        return Plot(f"dcse-{key}", title, runs.TIME_AXIS, Axis(title, unit), [strand])

    return [
        plot("workload", "DCsE workload", "IOPS/W", _exact(span.iops_per_watt for span in spans)),
        plot(
            *("throughput", "DCsE throughput", "MB/s/W"),
            _exact(span.mb_per_s_per_watt for span in spans),
        ),
        plot("power", "power", "W", _given(span.watts for span in spans)),
        plot("iops", "I/Os per second", "1/s", _given(span.iops for span in spans)),
    ]


def _exact(values: Iterable[Figure | None]) -> list[float | None]:
    return [None if value is None else float(value.fraction) for value in values]


def _given(values: Iterable[str | None]) -> list[float | None]:
    return [None if value is None else float(value) for value in values]


def _known(*figures: tuple[str, Figure | None]) -> list[tuple[str, str]]:
    return [(name, figure.text) for name, figure in figures if figure is not None]


def _power_plot(levels: Sequence[tuple[str, str | None]], x: Axis) -> list[Plot]:
    """Watts over load, of levels whose power was measured."""
    points = sorted((float(load), float(watts)) for load, watts in levels if watts is not None)
    if not points:
        return []
    line = Line("power", [watts for _, watts in points], main=True)
    strand = Strand([load for load, _ in points], [line])
    return [Plot(f"levels-power-{x.unit}", "Power over load", x, WATTS, [strand])]


def _profile_bars(rows: list[tuple[str, Figure]]) -> list[Bars]:
    if not rows:
        return []
    shares = [(name, [float(figure.fraction)]) for name, figure in rows]
    return [Bars("Nominal power of the usage profiles", "W", ["power"], shares)]
