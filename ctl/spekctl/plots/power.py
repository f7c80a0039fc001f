# SPDX-License-Identifier: GPL-2.0-or-later
"""Power over the time of one run: each rail with its range, and the throughput it was used for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from spekctl import units
from spekctl.documents.result import load_result
from spekctl.errors import UsageError
from spekctl.kernel.records import row_tells_rate, whole_ns
from spekctl.plots import source, style
from spekctl.plots.style import Origin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from spekctl.documents.result_parts import Interval, IntervalPower, RailPower

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Course:
    """One rail, or all of them, by interval; nan where nothing is known."""

    mean_w: Floats
    min_w: Floats
    max_w: Floats


@dataclass(frozen=True, slots=True)
class PowerLine:
    """Power over the time of a run. Seconds count from its start."""

    origin: Origin
    edges_s: Floats
    rails: dict[str, Course]
    total: Course
    iops: Floats
    measure_s: tuple[float, float] | None
    baseline_w: float


def of_result(path: Path) -> PowerLine:
    """The report intervals of a result."""
    result = load_result(path)
    rows = result.intervals
    if result.power is None:
        text = f": {result.power_text}" if result.power_text else ""
        raise UsageError(f"{path} has no power data{text}")
    if not rows:
        raise UsageError(f"{path} has no intervals: its run reported only at its end")
    zero = source.start_ns(path, result)
    names = [rail.name for rail in result.power.measure.rails]
    measure = next((phase for phase in result.phases if phase.phase == "measure"), None)
    slots, edges_ns = _with_gaps(rows)
    known = [row.power if row is not None else None for row in slots]
    total = _course([power.total if power is not None else None for power in known])
    rails = {name: _course([_rail(power, name) for power in known]) for name in names}
    if result.hosts is not None:
        # Rows of a fleet have the sum alone; the rails are those of each host.
        rails = {units.format_count(len(names), "host"): total}
    return PowerLine(
        source.result_origin(path, result),
        np.array([(edge_ns - zero) / 1e9 for edge_ns in edges_ns]),
        rails,
        total,
        _iops(slots, whole_ns(rows, result.config.interval_ns)),
        ((measure.start_ns - zero) / 1e9, (measure.end_ns - zero) / 1e9) if measure else None,
        result.power.baseline_w,
    )


def _with_gaps(rows: Sequence[Interval]) -> tuple[list[Interval | None], list[int]]:
    """The intervals, with None where some that were never read would be, and the edges of both."""
    slots: list[Interval | None] = []
    edges_ns: list[int] = []
    for row in rows:
        if slots and row.start_ns > edges_ns[-1]:
            slots.append(None)
            edges_ns.append(row.start_ns)
        if not edges_ns:
            edges_ns.append(row.start_ns)
        slots.append(row)
        edges_ns.append(row.end_ns)
    return slots, edges_ns


def _iops(rows: Sequence[Interval | None], whole_ns: int) -> Floats:
    """Of each interval; nan where the quotient would say nothing about the device."""
    return np.array(
        [
            (row.read.ios + row.write.ios) / ((row.end_ns - row.start_ns) / 1e9)
            if row is not None and row_tells_rate(row, whole_ns)
            else np.nan
            for row in rows
        ]
    )


def _rail(power: IntervalPower | None, name: str) -> RailPower | None:
    rails = power.rails if power is not None else []
    return next((rail for rail in rails if rail.name == name), None)


def _course(rails: Sequence[RailPower | None]) -> Course:
    def column(name: str) -> Floats:
        values = [getattr(rail, name) if rail is not None else None for rail in rails]
        return np.array([np.nan if value is None else value for value in values])

    return Course(column("mean_w"), column("min_w"), column("max_w"))


def draw(line: PowerLine, title: str = "") -> Figure:
    """Watts of each rail over time, and below the throughput that they were used for."""
    figure, axes = style.new_figure(
        [3.2, 1.6], title or f"Power: {line.origin.what}", [line.origin]
    )
    unit, unit_s = style.clock_unit(float(line.edges_s[-1]))
    edges = line.edges_s / unit_s
    _draw_rails(axes[0], line, edges)
    axes[1].stairs(line.iops, edges, color=style.COLOURS[0], baseline=None)
    axes[1].set_ylabel("I/Os per s")
    axes[1].set_ylim(bottom=0)
    axes[1].set_xlabel(f"time since the start of the run ({unit})")
    style.plain_numbers(axes[1].xaxis)
    style.plain_numbers(axes[1].yaxis)
    for axis in axes:
        if line.measure_s is not None:
            for edge_s in line.measure_s:
                axis.axvline(edge_s / unit_s, color=style.GREY, linestyle=":", linewidth=1)
        axis.set_xlim(edges[0], edges[-1])
    return figure


def _draw_rails(axes: Axes, line: PowerLine, edges: Floats) -> None:
    """@edges: of the intervals, in the unit of the axis."""
    courses = dict(line.rails)
    if len(courses) > 1:
        courses["total"] = line.total
    for colour, (name, course) in zip(style.colours(len(courses)), courses.items(), strict=True):
        axes.stairs(course.mean_w, edges, color=colour, baseline=None, label=name)
        if name in line.rails:
            axes.fill_between(
                np.repeat(edges, 2)[1:-1],
                np.repeat(course.min_w, 2),
                np.repeat(course.max_w, 2),
                color=colour,
                alpha=0.15,
                linewidth=0,
            )
    if line.baseline_w:
        axes.axhline(line.baseline_w, color=style.GREY, linestyle="--", label="baseline")
    axes.set_ylabel("power (W); shaded: minimum to maximum")
    low = min(
        (np.nanmin(course.min_w) for course in courses.values() if not _empty(course)), default=0.0
    )
    axes.set_ylim(bottom=min(0.0, float(low)))
    style.plain_numbers(axes.yaxis)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _empty(course: Course) -> bool:
    return bool(np.isnan(course.min_w).all())
