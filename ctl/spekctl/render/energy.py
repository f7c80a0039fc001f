# SPDX-License-Identifier: GPL-2.0-or-later
"""Energy reports as text on standard output."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents.energy import (
    CapacityReport,
    DcseReport,
    DcseSpan,
    EmeraldPhase,
    EmeraldReport,
    Judged,
    LevelReport,
    ProfileReport,
    Spc1eReport,
    Trial,
)
from spekctl.documents.exact import Figure
from spekctl.documents.power import PowerFigures
from spekctl.render.benchmark import (
    grouped,
    names_of,
    powered,
    site_lines,
    time_text,
    use,
    watts_text,
)
from spekctl.render.console import wide
from spekctl.render.tables import figures_table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

WIDTH = 110
Parts = Iterator["RenderableType"]


# --- SPC-1/E-like --------------------------------------------------------------------------------


def spc1e_parts(report: Spc1eReport) -> Parts:
    """An SPC-1/E-like report as texts and tables."""
    return powered(report, _spc1e(report))


def _spc1e(report: Spc1eReport) -> Parts:
    if report.levels:
        yield "\nlevels"
        yield _levels_table(report.levels)
    measured = {level.name: level.power for level in report.levels if level.power is not None}
    if measured:
        yield "\nrails, W"
        yield _rails_table(measured)
    yield from use(report, figures_table, _PROFILE)
    yield from site_lines(report.site)


def _levels_table(levels: Sequence[LevelReport]) -> Table:
    table = figures_table("level", "load", "BSU", "IOPS", "W")
    for level in levels:
        table.add_row(
            level.name,
            f"{level.percent} %",
            f"{level.bsu:,}" if level.bsu is not None else "-",
            f"{float(level.iops):,.2f}",
            watts_text(level.watts),
        )
    return table


def _rails_table(measured: dict[str, PowerFigures]) -> Table:
    table = figures_table("level", "rail", "mean", "min", "max", "J", "unknown")
    for name, power in measured.items():
        for rail in (*power.rails, power.total):
            table.add_row(
                name,
                rail.name,
                *map(watts_text, (rail.mean_w, rail.min_w, rail.max_w)),
                f"{rail.joules:,.3f}",
                f"{rail.gap_s:.3g} s" if rail.gap_s else "-",
            )
    return table


_PROFILE: dict[str, Callable[[ProfileReport], Figure | None]] = {
    "W": lambda row: row.watts,
    "IOPS": lambda row: row.iops,
    "IOPS/W": lambda row: row.iops_per_watt,
    "BTU/h": lambda row: row.btu_per_hour,
}


# --- Emerald-like --------------------------------------------------------------------------------


def emerald_parts(report: EmeraldReport) -> Parts:
    """An Emerald-like report as texts and tables."""
    return powered(report, _emerald(report))


def _emerald(report: EmeraldReport) -> Parts:
    if report.raw_gigabytes is not None:
        yield f"  raw capacity {float(report.raw_gigabytes):,.3f} GB"
    if report.taxonomy:
        yield f"  taxonomy {report.taxonomy}"
    for name, text in report.disclosures.items():
        yield f"  disclosed: {name}: {text}"
    yield from site_lines(report.site)
    if report.phases:
        yield "\nphases"
        yield _phases_table(report.phases)
        yield from _workers_of_hosts(report.phases)
        for phase in report.phases:
            if phase.options:
                yield f"  options of {phase.name}: {_options_text(phase.options)}"
    for phase in report.phases:
        if not phase.passed:
            yield f"  missed: {phase.name}: {phase.text}"
    if report.trials:
        yield "\nsearch for the best"
        yield _trials_table(report.trials)
        for refusal, options in _refusals(report.trials).items():
            yield f"  refused: {'; '.join(options)}: {refusal}"


def _phases_table(phases: Sequence[EmeraldPhase]) -> Table:
    table = figures_table(
        "phase", "metric", "workers", "depth", "work", "W", "value", "unit", "mean", "worst",
        "limits",
    )  # fmt: skip
    for phase in phases:
        table.add_row(
            phase.name,
            phase.metric or "-",
            f"{phase.workers}" if phase.workers else "-",
            f"{phase.depth:,}" if phase.depth is not None else "-",
            f"{float(phase.work):,.2f} {phase.unit.removesuffix('/W')}" if phase.unit else "-",
            watts_text(phase.watts),
            grouped(phase.value),
            phase.unit or "-",
            time_text(phase.response_ns),
            time_text(phase.worst_response_ns),
            "kept" if phase.passed else "MISSED",
        )
    return table


def _workers_of_hosts(phases: Sequence[EmeraldPhase]) -> Iterator[str]:
    """Workers of each host of a fleet; a line for each phase only if they differ."""
    by_phase = {
        phase.name: ", ".join(f"{host} {count}" for host, count in phase.workers_by_host.items())
        for phase in phases
        if phase.workers_by_host
    }
    told = set(by_phase.values())
    if len(told) == 1:
        yield f"  workers: {told.pop()}"
        return
    for name, text in by_phase.items():
        yield f"  workers of {name}: {text}"


def _refusals(trials: Sequence[Trial]) -> dict[str, dict[str, None]]:
    """Options of the trials that the kernel refused, by its sentence."""
    refused: dict[str, dict[str, None]] = {}
    for trial in trials:
        if trial.refusal:
            refused.setdefault(trial.refusal, {})[_options_text(trial.options)] = None
    return refused


def _options_text(options: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in options.items())


def _trials_table(trials: Sequence[Trial]) -> Table:
    has_options = any(trial.options for trial in trials)
    table = figures_table(
        *("phase", *(["options"] if has_options else []), "workers", "depth"),
        *("work", "W", "mean", "limits"),
    )
    for trial in trials:
        limits = "kept" if trial.allowed else "MISSED"
        table.add_row(
            trial.phase,
            *([_options_text(trial.options)] if has_options else []),
            f"{trial.workers}",
            f"{trial.depth:,}",
            f"{float(trial.work):,.2f}",
            watts_text(trial.watts),
            time_text(trial.response_ns),
            "refused" if trial.refusal else limits,
        )
    return table


# --- DCsE ----------------------------------------------------------------------------------------


def dcse_parts(report: DcseReport) -> Parts:
    """DCsE figures as texts and a table."""
    from rich.text import Text

    yield Text(f"{report.notice}: {report.source}", style="bold")
    table = figures_table("metric", "value", "unit", "change")
    for name, value, unit in (
        ("capacity", report.gb_per_watt, "GB/W"),
        ("workload", report.iops_per_watt, "IOPS/W"),
        ("throughput", report.mb_per_s_per_watt, "MB/s/W"),
    ):
        change = report.against.get(name)
        table.add_row(name, grouped(value), unit, f"{change.text} %" if change else "-")
    yield table
    if report.over_time:
        yield f"  disks {', '.join(report.disks)}; power of {', '.join(report.rails)}"
        yield operation_table(report.over_time)
    for remark in report.remarks:
        yield f"  {remark}"


def capacity_parts(report: CapacityReport) -> Parts:
    """Capacity optimization as texts and tables."""
    from rich.text import Text

    yield Text(f"{report.notice}: {names_of(report.targets)}", style="bold")
    yield f"  bytes stored: {report.stored}"
    table = figures_table("step", "written", "stored before", "stored after", "more")
    for step in report.steps:
        numbers = (step.written, step.stored_before, step.stored_after)
        more = step.stored_after - step.stored_before
        table.add_row(step.name, *(f"{number:,}" for number in (*numbers, more)))
    yield table
    for method in report.methods:
        yield f"  {method.name}: {method.verdict}: {method.reason}"
    for remark in report.remarks:
        yield f"  {remark}"


def print_judged(judged: Judged) -> None:
    """The best configurations and the checklist."""
    from spekctl.render.console import print_parts

    print_parts(judged_parts(judged), WIDTH)


def judged_parts(judged: Judged) -> Parts:
    """The best configurations and the checklist as tables."""
    table = figures_table("metric", "value", "unit", "configuration", "workers", "depth", "drives")
    for row in judged.best:
        table.add_row(
            row.metric,
            grouped(row.value),
            row.unit,
            row.configuration,
            f"{row.workers}" if row.workers else "-",
            f"{row.depth:,}" if row.depth is not None else "-",
            f"{row.drives[0]:,} to {row.drives[1]:,}" if row.drives is not None else "-",
        )
    yield table
    for row in judged.best:
        if row.options:
            yield f"  options of {row.metric}: {_options_text(row.options)}"
    yield ""
    for item in judged.checklist:
        yield f"  {item.name}: {item.verdict}: {item.reason}"
    for remark in judged.remarks:
        yield f"  {remark}"


def operation_table(spans: Sequence[DcseSpan]) -> RenderableType:
    """Normal operation, one span after the other."""
    table = figures_table("from", "length", "known", "W", "IOPS", "MB/s", "IOPS/W", "MB/s/W")
    for span in spans:
        table.add_row(
            _utc(span.start_real_ns),
            units.format_clock(span.length_s),
            f"{100 * span.known_share:.0f}%",
            *(_measured(value) for value in (span.watts, span.iops, span.megabytes_per_s)),
            grouped(span.iops_per_watt),
            grouped(span.mb_per_s_per_watt),
        )
    return table


def _utc(real_ns: int) -> str:
    return f"{datetime.datetime.fromtimestamp(real_ns / 1e9, datetime.UTC):%Y-%m-%d %H:%M:%SZ}"


def _measured(text: str | None) -> str:
    return "-" if text is None else f"{float(text):,.2f}"


# --- one system beside another -------------------------------------------------------------------


def print_comparison(
    title: str,
    rows: Sequence[tuple[str, str, Figure | None, Figure | None, Figure | None]],
    remarks: Sequence[str] = (),
) -> None:
    """Print figures of two systems and the changes in per cent."""
    from rich.text import Text

    out = wide(WIDTH)
    out.print(Text(title, style="bold"), soft_wrap=True)
    table = figures_table("", "unit", "single tier", "two tiers", "change")
    for what, unit, single, tiered, change in rows:
        sign = "+" if change is not None and change.fraction > 0 else ""
        table.add_row(
            what,
            unit,
            grouped(single),
            grouped(tiered),
            f"{sign}{change.text} %" if change is not None else "-",
        )
    out.print(table)
    for remark in remarks:
        out.print(Text(f"  {remark}"), soft_wrap=True)


# --- several methods -----------------------------------------------------------------------------


Metric = tuple[str, str, str, str, str, Figure, str]


def metrics_table(rows: Sequence[Metric]) -> Table:
    """Work per watt: method, metric, load, work, watts, value and unit."""
    table = figures_table("method", "metric", "load", "work", "W", "value", "unit")
    for method, metric, load, work, watts, value, unit in rows:
        done = f"{float(work):,.2f} {unit.removesuffix('/W')}" if work else "-"
        table.add_row(method, metric, load, done, watts_text(watts or None), grouped(value), unit)
    return table


def print_metrics(rows: Sequence[Metric], remarks: Sequence[str]) -> None:
    """Print work per watt by several methods."""
    from rich.text import Text

    out = wide(WIDTH)
    out.print(Text("work per watt by method, unaudited", style="bold"), soft_wrap=True)
    out.print(metrics_table(rows))
    for remark in remarks:
        out.print(Text(f"  {remark}"), soft_wrap=True)
