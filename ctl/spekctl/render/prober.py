# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples of the prober as text: figures over the whole time, and the course of the main ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents.prober import ProberReport
from spekctl.documents.samples import Chart, Sampled, Unit, Values, charts
from spekctl.errors import UsageError
from spekctl.render import power_states as states

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

MOST_ROWS = 20  # of the course over time
# Columns of the course: the charts that add up to one, by what their keys begin with, and the
# series that counts; empty: all of them.
_COURSE = (
    ("CPU busy", "machine-cpu", "busy"),
    ("iowait", "machine-cpu", "iowait"),
    ("switches", "machine-switches", ""),
    ("interrupts", "machine-interrupts", "interrupts"),
    ("memory free", "memory", "available"),
    ("swap used", "swap", "used"),
    ("network", "net-", ""),
    ("disks", "disk-", ""),
    ("power", "power-", ""),
)


def parts(report: ProberReport) -> list[RenderableType]:
    """The document as texts and tables."""
    shown: list[RenderableType] = [*_head(report)]
    if report.start_ns:
        known = charts(report)
        shown += [figures(report, known), "", "over time", course(report, known)]
        shown += efficiency(report)
    if report.power_states:
        shown += ["", "power states of the disks", states.residencies(report.power_states)]
        shown += [f"  {line}" for line in states.remarks(report.power_states)]
    return shown


def efficiency(report: ProberReport) -> list[RenderableType]:
    """DCsE of the disk that had I/O, over time, if its power is known."""
    from spekctl.documents import operation
    from spekctl.render import energy

    try:
        course = operation.course_of(report)
    except UsageError as error:
        text = f"{error.message} (`spekctl energy dcse --samples`)"
        return ["", f"no DCsE over time: {text}"]
    if course is None:
        return []
    chosen, spans = course
    of = f"{', '.join(chosen.disks)} by the power of {', '.join(chosen.rails)}"
    return ["", f"DCsE over time, {of}", energy.operation_table(spans)]


def _head(report: ProberReport) -> list[str]:
    probe = report.probe
    count = len(report.start_ns)
    name = report.environment.hostname.replace("(none)", "") or "this machine"
    state = f"ended ({probe.reason})" if probe.ended else "runs"
    length = units.format_clock((report.end_ns[-1] - report.start_ns[0]) / 1e9) if count else "0:00"
    lines = [
        f"probe {probe.number} on {name}: {count:,} samples of"
        f" {units.format_duration(probe.interval_ns)}, {length} long; it {state}"
    ]
    if not count:
        lines.append("  no sample: one takes two rows")
    lines.append(
        f"  {probe.missed:,} ticks missed, {report.dropped:,} rows lost; rows are at most"
        f" {units.format_ns(probe.late_max_ns)} late and take {units.format_ns(probe.cost_mean_ns)}"
    )
    lines += [
        f"  table {table} is left out: the prober cannot describe {nr:,} entities"
        for table, nr in report.left_out.items()
    ]
    return lines


def figures(samples: Sampled, known: Iterable[Chart] | None = None) -> Table:
    """Every figure over the whole time: its mean by time, and its range."""
    from spekctl.render import tables

    numbers = ("mean", "least", "most")
    table = tables.table("prober", "", *numbers, right=numbers)
    lengths = _lengths(samples)
    for chart in charts(samples) if known is None else known:
        title = chart.title
        for series in chart.series:
            inside = [value for value in series.values if value is not None]
            values = (_mean(series.values, lengths), min(inside), max(inside))
            table.add_row(title, series.name, *(text_of(value, chart.unit) for value in values))
            title = ""
    return table


def course(samples: Sampled, known: Sequence[Chart]) -> Table:
    """The main figures in up to MOST_ROWS spans of as many samples each."""
    from spekctl.render import tables

    columns = _columns(known)
    titles = [title for title, _, _ in columns]
    table = tables.table("from", *titles, right=["from", *titles])
    lengths = _lengths(samples)
    step = -(-len(lengths) // MOST_ROWS)
    for first in range(0, len(lengths), step):
        span = slice(first, first + step)
        cells = [text_of(_mean(values[span], lengths[span]), unit) for _, unit, values in columns]
        at = (samples.start_ns[first] - samples.start_ns[0]) / 1e9
        table.add_row(units.format_clock(at), *cells)
    return table


def lines(samples: Sampled, zero: int, heading: bool) -> list[str]:
    """A line for each sample, with the seconds since @zero; @heading: and one above them."""
    columns = _columns(charts(samples))
    printed = [_line("s", [title for title, _, _ in columns])] if heading and columns else []
    for number, end_ns in enumerate(samples.end_ns):
        cells = [text_of(values[number], unit) for _, unit, values in columns]
        printed.append(_line(f"{(end_ns - zero) / 1e9:.3f}", cells))
    return printed


def _line(at: str, cells: Sequence[str]) -> str:
    return f"{at:>12}" + "".join(f" {cell:>13}" for cell in cells)


def _columns(known: Sequence[Chart]) -> list[tuple[str, Unit, Values]]:
    columns: list[tuple[str, Unit, Values]] = []
    for title, key, name in _COURSE:
        matching = [
            (chart, series)
            for chart in known
            for series in chart.series
            if (chart.key == key or (key.endswith("-") and chart.key.startswith(key)))
            and name in ("", series.name)
        ]
        # A disk has charts of other units as well.
        matching = [pair for pair in matching if pair[0].unit == matching[0][0].unit]
        if matching:
            unit = matching[0][0].unit
            columns.append((title, unit, _sums([series.values for _, series in matching], unit)))
    return columns


def text_of(value: float | None, unit: Unit) -> str:
    """A figure with its unit."""
    if value is None:
        return "-"
    if unit == "%":
        return f"{value:.1f} %"
    if unit == "B":
        return units.format_bytes(round(value))
    if unit == "B/s":
        return f"{value / (1 << 20):,.2f} MiB/s"
    return units.format_watts(value) if unit == "W" else f"{units.format_rate(value)}/s"


def _lengths(samples: Sampled) -> list[int]:
    return [end - start for start, end in zip(samples.start_ns, samples.end_ns, strict=True)]


def _sums(series: Sequence[Values], unit: Unit) -> Values:
    """Of the series that are known, as interfaces and disks come and go; power only where that of
    every rail is known. Else None."""
    sums: Values = []
    for values in zip(*series, strict=True):
        known = [value for value in values if value is not None]
        is_whole = len(known) == len(values) or (unit != "W" and known)
        sums.append(sum(known) if is_whole else None)
    return sums


def _mean(values: Values, lengths: Sequence[int]) -> float | None:
    """By time, over what is known."""
    known = [
        (value, length) for value, length in zip(values, lengths, strict=True) if value is not None
    ]
    whole = sum(length for _, length in known)
    return sum(value * length for value, length in known) / whole if whole else None
