# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of a PTS-like test as text on standard output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents.pts import Measured, MetricName, Report, Sample, known_value, metric_of
from spekctl.documents.steady import Criteria, Window
from spekctl.render.benchmark import tested, time_text
from spekctl.render.tables import table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

WIDTH = 115
SAMPLES_SHOWN = 20
_METRICS: dict[MetricName, str] = {
    "iops": "IOPS",
    "bandwidth": "MB/s",
    "latency": "mean response time",
}


def parts(report: Report) -> Iterator[RenderableType]:
    """The report as texts and tables."""
    return tested(report, _body(report))


def _body(report: Report) -> Iterator[RenderableType]:
    for test in report.tests:
        yield from _test(test, report.parameters.steady)
    if report.saturation:
        yield "\nwrite saturation, PTS-like: 4 KiB random writes"
        yield _saturation_table(report.saturation)


def value_text(metric: MetricName, value: float) -> str:
    """A value of a metric, without its unit where the table has it."""
    if metric == "latency":
        return units.format_ns(value)
    return f"{value:,.0f}" if metric == "iops" else f"{value / 1e6:,.2f}"


def _measured_text(metric: MetricName, value: float) -> str:
    return "-" if known_value(value, metric) is None else value_text(metric, value)


def _test(test: Measured, limits: Criteria) -> Iterator[RenderableType]:
    what = _METRICS[test.metric]
    yield f"\n{test.name}, PTS-like: {test.text}"
    tracked = units.format_bytes(test.tracked_bytes)
    yield (
        f"  {'purged' if test.purged else 'not purged'},"
        f" {units.format_bytes(test.preconditioned_bytes)} written before; tracked:"
        f" {what} of {tracked}, {test.tracked_read_percent} % reads"
    )
    if test.window is not None:
        yield f"\n{test.name}: steady-state verification"
        yield _verification_table(test.window, limits, test.metric)
    if test.rounds:
        yield f"\n{test.name}: {what} of each round, {test.tracked_read_percent} % reads"
        yield _rounds_table(test)
    if not test.cells or test.window is None:
        return
    rounds = f"rounds {test.window.first} to {test.window.last}"
    state = "" if test.steady else ", which are not steady"
    if test.metric == "latency":
        yield f"\n{test.name}: mean response time, {rounds}{state}"
        yield _matrix(test, [time_text(cell.mean_ns) for cell in test.cells])
        yield f"\n{test.name}: longest response time, {rounds}{state}"
        yield _matrix(test, [time_text(cell.max_ns) for cell in test.cells])
        return
    yield f"\n{test.name}: {what}, {rounds}{state}"
    yield _matrix(
        test, [value_text(test.metric, metric_of(cell, test.metric)) for cell in test.cells]
    )


def _verification_table(window: Window, limits: Criteria, metric: MetricName) -> Table:
    """Range and slope of the tracked metric against what is allowed."""
    grid = table("", "measured", "allowed", "", right=("measured", "allowed"))
    low, high = min(window.values), max(window.values)
    average = window.average

    def value(number: float) -> str:
        return value_text(metric, number)

    enough = len(window.values) == limits.window
    grid.add_row(
        *("rounds", f"{window.first} to {window.last}"),
        *(f"{limits.window}", "kept" if enough else "TOO FEW"),
    )
    grid.add_row("average", value(average), "", "")
    grid.add_row("smallest and largest", f"{value(low)} to {value(high)}", "", "")
    grid.add_row(
        *("range", f"{value(high - low)} ({100 * window.range:.1f} %)"),
        f"{value(limits.range * average)} ({100 * limits.range:.4g} %)",
        "kept" if average > 0 and window.range <= limits.range else "MISSED",
    )
    sign = "-" if window.slope < 0 else ""
    grid.add_row("slope per round", f"{sign}{value(abs(window.slope))}", "", "")
    grid.add_row(
        *(
            "slope excursion",
            f"{value(average * window.excursion)} ({100 * window.excursion:.1f} %)",
        ),
        f"{value(limits.slope * average)} ({100 * limits.slope:.4g} %)",
        "kept" if average > 0 and window.excursion <= limits.slope else "MISSED",
    )
    grid.add_row("steady", "yes" if window.steady else "NO", "", "")
    return grid


def _rounds_table(test: Measured) -> Table:
    """The tracked metric of each block size in each round; marks those of the window."""
    sizes = [units.format_bytes(size) for size in test.sizes]
    grid = table("round", *sizes, "window", right=("round", *sizes))
    window = test.window
    for round_ in test.rounds:
        inside = window is not None and window.first <= round_.number <= window.last
        grid.add_row(
            f"{round_.number}",
            *(_measured_text(test.metric, value) for value in round_.values),
            "*" if inside else "",
        )
    return grid


def _matrix(test: Measured, texts: Sequence[str]) -> Table:
    """Block sizes by shares of reads."""
    reads = list(dict.fromkeys(cell.read_percent for cell in test.cells))
    names = [f"{percent} % reads" for percent in reads]
    grid = table("size", *names, right=("size", *names))
    by_place = {
        (cell.bytes, cell.read_percent): text for cell, text in zip(test.cells, texts, strict=True)
    }
    for size in test.sizes:
        grid.add_row(units.format_bytes(size), *(by_place[size, percent] for percent in reads))
    return grid


def _saturation_table(samples: Sequence[Sample]) -> Table:
    """Some of the samples, evenly over the time; all are in the report."""
    names = ("time", "written", "IOPS", "mean", "max")
    grid = table(*names, right=names)
    step = max(1, -(-len(samples) // SAMPLES_SHOWN))
    for sample in samples[step - 1 :: step]:
        grid.add_row(
            units.format_clock(sample.end_s),
            units.format_bytes(sample.written_bytes),
            f"{sample.iops:,.0f}",
            time_text(sample.mean_ns),
            time_text(sample.max_ns),
        )
    return grid
