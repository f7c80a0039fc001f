# SPDX-License-Identifier: GPL-2.0-or-later
"""Energy reports as text on standard output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents.device import TargetFacts
from spekctl.documents.energy import (
    DcseReport,
    EmeraldPhase,
    EmeraldReport,
    LevelReport,
    ProfileReport,
    Spc1eReport,
    Trial,
)
from spekctl.documents.exact import Figure
from spekctl.documents.power import PowerFigures
from spekctl.render.console import print_parts, wide

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

WIDTH = 110
Parts = Iterator["RenderableType"]


def print_report(report: Spc1eReport | EmeraldReport | DcseReport) -> None:
    """Print the report."""
    print_parts(parts(report), WIDTH)


def parts(report: Spc1eReport | EmeraldReport | DcseReport) -> Parts:
    """The report as texts and tables."""
    if isinstance(report, Spc1eReport):
        return _spc1e(report)
    return _emerald(report) if isinstance(report, EmeraldReport) else _dcse(report)


def _table(*names: str) -> Table:
    """A table without lines, its first column a name and all others numbers."""
    from rich.table import Table as RichTable

    table = RichTable(box=None, padding=(0, 0, 0, 2), collapse_padding=True)
    for index, name in enumerate(names):
        table.add_column(name, justify="right" if index else "left", no_wrap=True)
    return table


def _head(notice: str, targets: Sequence[TargetFacts], source: str) -> str:
    devices = " ".join(target.path for target in targets)
    return f"{notice}: {devices or source}"


def _text(value: Figure | None, group: bool = False) -> str:
    if value is None:
        return "-"
    whole, dot, decimals = value.text.partition(".")
    return f"{int(whole):,}{dot}{decimals}" if group and not whole.startswith("-") else value.text


# --- SPC-1/E-like --------------------------------------------------------------------------------


def _spc1e(report: Spc1eReport) -> Parts:
    from rich.text import Text

    yield Text(_head(report.notice, report.targets, report.source), style="bold")
    good = report.complete and report.passed
    yield Text(f"  {report.verdict}", style="green" if good else "bold red")
    if report.levels:
        yield "\nlevels"
        yield _levels_table(report.levels)
    measured = {one.name: one.power for one in report.levels if one.power is not None}
    if measured:
        yield "\nrails, W"
        yield _rails_table(measured)
    if report.composite is not None:
        yield "\nusage profiles"
        yield _profiles_table([*report.profiles, report.composite])
    if report.annual_kwh is not None and report.annual_cost is not None:
        yield (
            f"\n  annual energy {_text(report.annual_kwh, True)} kWh, at {report.price} each:"
            f" {_text(report.annual_cost, True)}"
        )
    if report.site is not None:
        yield f"  {_site(report)}"
    yield ""
    for remark in report.remarks:
        yield f"  {remark}"


def _site(report: Spc1eReport) -> str:
    site = report.site
    assert site is not None
    words = {
        "mean RMS voltage": (site.volts, " V"),
        "power factor": (site.power_factor, ""),
        "air intake at first": (site.first_celsius, " °C"),
        "at last": (site.last_celsius, " °C"),
    }
    return ", ".join(f"{what} {value}{unit}" for what, (value, unit) in words.items() if value)


def _levels_table(levels: Sequence[LevelReport]) -> Table:
    table = _table("level", "load", "BSU", "IOPS", "W")
    for one in levels:
        table.add_row(
            one.name,
            f"{one.percent} %",
            f"{one.bsu:,}" if one.bsu is not None else "-",
            f"{float(one.iops):,.2f}",
            f"{float(one.watts):,.3f}" if one.watts is not None else "-",
        )
    return table


def _rails_table(measured: dict[str, PowerFigures]) -> Table:
    table = _table("level", "rail", "mean", "min", "max", "J", "unknown")
    for name, power in measured.items():
        for rail in (*power.rails, power.total):
            table.add_row(
                name,
                rail.name,
                *(
                    f"{value:,.3f}" if value is not None else "-"
                    for value in (rail.mean_w, rail.min_w, rail.max_w)
                ),
                f"{rail.joules:,.3f}",
                f"{rail.gap_s:.3g} s" if rail.gap_s else "-",
            )
    return table


def _profiles_table(rows: Sequence[ProfileReport]) -> Table:
    table = _table("profile", "hours heavy/moderate/idle", "W", "IOPS", "IOPS/W", "BTU/h")
    for row in rows:
        table.add_row(
            row.name,
            "/".join(row.hours) or "-",
            _text(row.watts, True),
            _text(row.iops, True),
            _text(row.iops_per_watt, True),
            _text(row.btu_per_hour, True),
        )
    return table


# --- Emerald-like --------------------------------------------------------------------------------


def _emerald(report: EmeraldReport) -> Parts:
    from rich.text import Text

    yield Text(_head(report.notice, report.targets, report.source), style="bold")
    good = report.complete and report.passed
    yield Text(f"  {report.verdict}", style="green" if good else "bold red")
    if report.raw_gigabytes is not None:
        yield f"  raw capacity {float(report.raw_gigabytes):,.3f} GB"
    if report.phases:
        yield "\nphases"
        yield _phases_table(report.phases)
    for phase in report.phases:
        if not phase.passed:
            yield f"  missed: {phase.name}: {phase.text}"
    if report.trials:
        yield "\nsearch for the best"
        yield _trials_table(report.trials)
    yield ""
    for remark in report.remarks:
        yield f"  {remark}"


def _ns(value: float | None) -> str:
    return units.format_ns(value) if value is not None else "-"


def _phases_table(phases: Sequence[EmeraldPhase]) -> Table:
    table = _table(
        "phase", "metric", "workers", "depth", "work", "W", "value", "unit", "mean", "worst",
        "limits",
    )  # fmt: skip
    for one in phases:
        table.add_row(
            one.name,
            one.metric or "-",
            f"{one.workers}" if one.workers else "-",
            f"{one.depth:,}" if one.depth is not None else "-",
            f"{float(one.work):,.2f} {one.unit.removesuffix('/W')}" if one.unit else "-",
            f"{float(one.watts):,.3f}" if one.watts is not None else "-",
            _text(one.value, True),
            one.unit or "-",
            _ns(one.response_ns),
            _ns(one.worst_response_ns),
            "kept" if one.passed else "MISSED",
        )
    return table


def _trials_table(trials: Sequence[Trial]) -> Table:
    table = _table("phase", "workers", "depth", "work", "W", "mean", "limits")
    for one in trials:
        table.add_row(
            one.phase,
            f"{one.workers}",
            f"{one.depth:,}",
            f"{float(one.work):,.2f}",
            f"{float(one.watts):,.3f}" if one.watts is not None else "-",
            _ns(one.response_ns),
            "kept" if one.allowed else "MISSED",
        )
    return table


# --- DCsE ----------------------------------------------------------------------------------------


def _dcse(report: DcseReport) -> Parts:
    from rich.text import Text

    yield Text(_head(report.notice, (), report.source), style="bold")
    table = _table("metric", "value", "unit", "change")
    for name, value, unit in (
        ("capacity", report.gb_per_watt, "GB/W"),
        ("workload", report.iops_per_watt, "IOPS/W"),
        ("throughput", report.mb_per_s_per_watt, "MB/s/W"),
    ):
        change = report.against.get(name)
        table.add_row(name, _text(value, True), unit, f"{change.text} %" if change else "-")
    yield table
    for remark in report.remarks:
        yield f"  {remark}"


# --- one system beside another -------------------------------------------------------------------


def print_comparison(
    title: str, rows: Sequence[tuple[str, str, Figure | None, Figure | None, Figure | None]]
) -> None:
    """Print figures of two systems and the changes in per cent."""
    from rich.text import Text

    out = wide(WIDTH)
    out.print(Text(title, style="bold"), soft_wrap=True)
    table = _table("", "unit", "single tier", "two tiers", "change")
    for what, unit, single, tiered, change in rows:
        sign = "+" if change is not None and change.fraction > 0 else ""
        table.add_row(
            what,
            unit,
            _text(single, True),
            _text(tiered, True),
            f"{sign}{change.text} %" if change is not None else "-",
        )
    out.print(table)
