# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of the test as text on standard output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents.spc1 import AsuFigures, Check, Phase, Report, StreamFigures
from spekctl.render.benchmark import tested
from spekctl.render.curve import power_cells, power_gaps, times
from spekctl.render.tables import figures_table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

WIDTH = 125
# If all are met, one line states the worst.
_KINDS = {
    "response": "mean response time",
    "served": "queue growth",
    "errors": "I/O errors",
    "intensity": "shares of streams",
    "intensity-cov": "their variation in a phase",
    "repeat-iops": "repeated IOPS",
    "repeat-lrt": "repeated LRT",
    "capacity": "unused capacity",
    "asu-share": "shares of asus off by",
}


def parts(report: Report) -> Iterator[RenderableType]:
    """The report as texts and tables."""
    return tested(report, _body(report))


def _body(report: Report) -> Iterator[RenderableType]:
    yield from _metrics(report)
    final = [phase for phase in report.phases if phase.step.kind != "search"]
    if final:
        yield "\nphases"
        yield _phases_table(final)
    full = next((run for run in reversed(final) if run.step.kind == "iops"), None)
    if full is not None:
        yield "\naddress ranges in the IOPS phase"
        yield _asus_table(full.asus)
        yield "\nstreams in the IOPS phase"
        yield _streams_table(full.streams)
    yield "\nlimits"
    yield _checks_table(report.checks)
    for check in report.checks:
        if not check.passed:
            yield f"  missed: {check.text}"
    searched = [phase for phase in report.phases if phase.step.kind == "search"]
    yield "\nsearch for the level, in the order of measuring"
    yield _phases_table(searched)
    for text in power_gaps((phase.step.name, phase.point) for phase in report.phases):
        yield f"  {text}"


def _metrics(report: Report) -> Iterator[str]:
    if report.level_bsu is not None and report.iops is not None:
        yield (
            f"  SPC-1-like IOPS {units.format_rate(report.iops)} at {report.level_bsu:,} BSU"
            + (f", SPC-1-like LRT {units.format_ns(report.lrt_ns)}" if report.lrt_ns else "")
        )
    elif report.level_bsu is not None:
        yield f"  level {report.level_bsu:,} BSU"
    capacity = report.capacity
    yield (
        f"  total ASU capacity {units.format_bytes(capacity.asus_bytes)},"
        f" {capacity.used_share:.1%} of {units.format_bytes(capacity.devices_bytes)}"
    )


def _phases_table(phases: Sequence[Phase]) -> Table:
    powered = any(phase.point.power is not None for phase in phases)
    table = figures_table(
        "phase", "BSU", "offered", "IOPS", "MiB/s", "mean", "p50", "p99", "max", "stretch", "CPU",
        *(("power", "mW/IOPS", "IOPS/W") if powered else ()), "limit",
    )  # fmt: skip
    for phase in phases:
        point = phase.point
        offered = point.offered_iops
        table.add_row(
            phase.step.name,
            f"{phase.step.bsu:,}",
            units.format_rate(offered) if offered is not None else "-",
            units.format_rate(point.iops),
            f"{point.mib_s:,.1f}",
            *times(point.response, ("mean", "p50", "p99", "max")),
            f"{point.stretch:.2f}" if point.stretch is not None else "-",
            f"{point.cpu:.0%}" if point.cpu is not None else "-",
            *(power_cells(point) if powered else ()),
            "kept" if phase.fine else "MISSED" if phase.beyond else "ERRORS",
        )
    return table


def _asus_table(asus: Sequence[AsuFigures]) -> Table:
    table = figures_table(
        "asu", "capacity", "I/Os", "share", "intended", "reads", "size", "mean", "p99"
    )
    for asu in asus:
        table.add_row(
            asu.name,
            units.format_bytes(asu.bytes),
            *_counts(asu),
            *times(asu.response, ("mean", "p99")),
        )
    return table


def _streams_table(streams: Sequence[StreamFigures]) -> Table:
    table = figures_table(
        "stream", "asu", "I/Os", "share", "intended", "reads", "size", "mean", "p99", "variation"
    )
    for stream in streams:
        table.add_row(
            stream.name,
            stream.asu,
            *_counts(stream),
            *times(stream.response, ("mean", "p99")),
            f"{stream.share_cov:.3f}" if stream.share_cov is not None else "-",
        )
    return table


def _counts(figures: AsuFigures | StreamFigures) -> tuple[str, ...]:
    return (
        f"{figures.ios:,}",
        f"{figures.share:.2%}",
        f"{figures.intended:.2%}",
        f"{figures.read_share:.1%}",
        units.format_bytes(round(figures.mean_bytes)) if figures.ios else "-",
    )


def _checks_table(checks: Sequence[Check]) -> Table:
    table = figures_table("limit", "checked", "missed", "worst", "allowed there")
    for kind, words in _KINDS.items():
        of_kind = [check for check in checks if check.kind == kind]
        if not of_kind:
            continue
        worst = max(of_kind, key=_nearness)
        table.add_row(
            words,
            f"{len(of_kind)}",
            f"{sum(not check.passed for check in of_kind)}",
            _value(kind, worst.value),
            _value(kind, worst.allowed),
        )
    return table


def _nearness(check: Check) -> float:
    """The value as a share of its limit, for sorting."""
    if not check.allowed:
        return check.value
    return check.value / check.allowed


def _value(kind: str, value: float) -> str:
    if kind in ("response", "repeat-lrt"):
        return units.format_ns(value)
    if kind == "errors":
        return f"{value:,.0f}"
    return f"{value:.2f}" if kind == "intensity-cov" else f"{value:.1%}"
