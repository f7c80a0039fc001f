# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of a PTS-like test as text on standard output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents.pts import Measured, MetricName, Report, Sample, metric_of
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
        yield _matrix(test, [time_text(one.mean_ns) for one in test.cells])
        yield f"\n{test.name}: longest response time, {rounds}{state}"
        yield _matrix(test, [time_text(one.max_ns) for one in test.cells])
        return
    yield f"\n{test.name}: {what}, {rounds}{state}"
    yield _matrix(
        test, [value_text(test.metric, metric_of(cell, test.metric)) for cell in test.cells]
    )


def _verification_table(window: Window, limits: Criteria, metric: MetricName) -> Table:
    """Range and slope of the tracked metric against what is allowed."""
    made = table("", "measured", "allowed", "", right=("measured", "allowed"))
    low, high = min(window.values), max(window.values)
    average = window.average

    def value(number: float) -> str:
        return value_text(metric, number)

    enough = len(window.values) == limits.window
    made.add_row(
        *("rounds", f"{window.first} to {window.last}"),
        *(f"{limits.window}", "kept" if enough else "TOO FEW"),
    )
    made.add_row("average", value(average), "", "")
    made.add_row("smallest and largest", f"{value(low)} to {value(high)}", "", "")
    made.add_row(
        *("range", f"{value(high - low)} ({100 * window.range:.1f} %)"),
        f"{value(limits.range * average)} ({100 * limits.range:.4g} %)",
        "kept" if average > 0 and window.range <= limits.range else "MISSED",
    )
    sign = "-" if window.slope < 0 else ""
    made.add_row("slope per round", f"{sign}{value(abs(window.slope))}", "", "")
    made.add_row(
        *(
            "slope excursion",
            f"{value(average * window.excursion)} ({100 * window.excursion:.1f} %)",
        ),
        f"{value(limits.slope * average)} ({100 * limits.slope:.4g} %)",
        "kept" if average > 0 and window.excursion <= limits.slope else "MISSED",
    )
    made.add_row("steady", "yes" if window.steady else "NO", "", "")
    return made


def _rounds_table(test: Measured) -> Table:
    """The tracked metric of each block size in each round; marks those of the window."""
    sizes = [units.format_bytes(one) for one in test.sizes]
    made = table("round", *sizes, "window", right=("round", *sizes))
    window = test.window
    for one in test.rounds:
        inside = window is not None and window.first <= one.number <= window.last
        made.add_row(
            f"{one.number}",
            *(value_text(test.metric, value) for value in one.values),
            "*" if inside else "",
        )
    return made


def _matrix(test: Measured, texts: Sequence[str]) -> Table:
    """Block sizes by shares of reads."""
    reads = list(dict.fromkeys(one.read_percent for one in test.cells))
    names = [f"{one} % reads" for one in reads]
    made = table("size", *names, right=("size", *names))
    by_place = {
        (one.bytes, one.read_percent): text for one, text in zip(test.cells, texts, strict=True)
    }
    for size in test.sizes:
        made.add_row(units.format_bytes(size), *(by_place[size, one] for one in reads))
    return made


def _saturation_table(samples: Sequence[Sample]) -> Table:
    """Some of the samples, evenly over the time; all are in the report."""
    names = ("time", "written", "IOPS", "mean", "max")
    made = table(*names, right=names)
    step = max(1, -(-len(samples) // SAMPLES_SHOWN))
    for one in samples[step - 1 :: step]:
        made.add_row(
            units.format_clock(one.end_s),
            units.format_bytes(one.written_bytes),
            f"{one.iops:,.0f}",
            time_text(one.mean_ns),
            time_text(one.max_ns),
        )
    return made
