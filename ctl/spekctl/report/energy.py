# SPDX-License-Identifier: GPL-2.0-or-later
"""Sheets of the energy tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from spekctl.documents import energy, spc2
from spekctl.documents.benchmark import AnnualReport
from spekctl.documents.exact import Figure
from spekctl.render import energy as render
from spekctl.render import spc2 as render_spc2
from spekctl.report import benchmark, runs
from spekctl.report.sheet import Axis, Bars, Line, Plot, Sheet, Strand, Verdict, add_printed

if TYPE_CHECKING:
    from rich.console import RenderableType

WATTS = Axis("power", "W")


def spc1e_sheet(file: str, report: energy.Spc1eReport) -> Sheet:
    """An SPC-1/E-like test."""
    mean = report.composite
    traffic = [("nominal IOPS", mean.iops), ("IOPS/W", mean.iops_per_watt)] if mean else []
    made = _annual_sheet(file, "SPC-1/E-like test", report, traffic, render.spc1e_parts(report))
    levels = [(one.iops, one.watts) for one in report.levels]
    made.plots += _power_plot(levels, Axis("I/Os per second", "1/s"))
    return made


def spc2e_sheet(file: str, report: spc2.Spc2eReport) -> Sheet:
    """An SPC-2/E-like test."""
    mean = report.composite
    traffic = [("nominal MB/s", mean.mb_s), ("MB/s/W", mean.mb_s_per_watt)] if mean else []
    made = _annual_sheet(
        file, "SPC-2/E-like test", report, traffic, render_spc2.energy_parts(report)
    )
    levels = [(one.mb_s, one.watts) for one in report.levels]
    made.plots += _power_plot(levels, Axis("data rate", "MB/s"))
    return made


def _annual_sheet(
    file: str,
    kind: str,
    report: AnnualReport,
    traffic: Sequence[tuple[str, Figure | None]],
    printed: Iterable[RenderableType],
) -> Sheet:
    """A test with the energy of a year; @traffic: the figures of its mean day beside power."""
    made = benchmark.powered(file, kind, report, printed)
    if report.composite is not None:
        made.figures += _known(("nominal power, W", report.composite.watts), *traffic)
    made.figures += _known(
        ("annual energy, kWh", report.annual_kwh), ("annual cost", report.annual_cost)
    )
    made.bars += _profile_bars(
        [(one.name, one.watts) for one in report.profiles if one.watts is not None]
    )
    return made


def emerald_sheet(file: str, report: energy.EmeraldReport) -> Sheet:
    """An Emerald-like test."""
    made = benchmark.powered(file, "Emerald-like test", report, render.emerald_parts(report))
    made.figures += [
        (f"{one.metric or one.name}, {one.unit}", one.value.text)
        for one in report.phases
        if one.value is not None
    ]
    made.verdicts = [
        Verdict(one.name, one.text or "keeps its limits", one.passed) for one in report.phases
    ]
    powered = [(one.name, [float(one.watts)]) for one in report.phases if one.watts is not None]
    if powered:
        made.bars.append(Bars("Mean power of the phases", "W", ["power"], powered))
    return made


def dcse_sheet(file: str, report: energy.DcseReport) -> Sheet:
    """DCsE figures."""
    made = Sheet(
        file, "DCsE figures", f"{report.notice}: {report.source}", remarks=list(report.remarks)
    )
    made.figures += _known(
        ("GB/W", report.gb_per_watt),
        ("IOPS/W", report.iops_per_watt),
        ("MB/s/W", report.mb_per_s_per_watt),
    )
    made.conditions = [(name.replace("_", " "), text) for name, text in report.given.items()]
    add_printed(made, render.dcse_parts(report))
    if report.over_time:
        made.plots = _operation_plots(report.over_time)
    return made


def _operation_plots(spans: Sequence[energy.DcseSpan]) -> list[Plot]:
    """Efficiency, power and load of normal operation; each span at its start."""
    first = spans[0].start_real_ns
    times = [(span.start_real_ns - first) / 1e9 for span in spans]

    def plot(key: str, title: str, unit: str, values: Sequence[float | None]) -> Plot:
        strand = Strand(times, [Line(title, values, main=True)])
        return Plot(f"dcse-{key}", title, runs.TIME_AXIS, Axis(title, unit), [strand])

    return [
        plot("workload", "DCsE workload", "IOPS/W", _exact(one.iops_per_watt for one in spans)),
        plot(
            *("throughput", "DCsE throughput", "MB/s/W"),
            _exact(one.mb_per_s_per_watt for one in spans),
        ),
        plot("power", "power", "W", _given(one.watts for one in spans)),
        plot("iops", "I/Os per second", "1/s", _given(one.iops for one in spans)),
    ]


def _exact(values: Iterable[Figure | None]) -> list[float | None]:
    return [None if value is None else float(value.fraction) for value in values]


def _given(values: Iterable[str | None]) -> list[float | None]:
    return [None if value is None else float(value) for value in values]


def _known(*figures: tuple[str, Figure | None]) -> list[tuple[str, str]]:
    return [(name, one.text) for name, one in figures if one is not None]


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
    made = [(name, [float(one.fraction)]) for name, one in rows]
    return [Bars("Nominal power of the usage profiles", "W", ["power"], made)]
