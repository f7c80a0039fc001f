# SPDX-License-Identifier: GPL-2.0-or-later
"""Throughput, response time and queue over the time of a run, from a result or a log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from spekctl.documents.per_host import clients, unpacked
from spekctl.documents.result import load_result
from spekctl.errors import UsageError
from spekctl.kernel.records import SLIVER, is_covered, row_tells_rate, whole_ns
from spekctl.log import file
from spekctl.log.course import Course, Direction, PhaseSpan, or_nan, rated_seconds
from spekctl.log.course import of_log as course_of_log
from spekctl.plots import source, style
from spekctl.plots.style import Origin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from spekctl.documents.result import Result
    from spekctl.documents.result_parts import Interval
    from spekctl.kernel.records import IntervalCell

    Floats = NDArray[np.float64]

MIB = 1 << 20
# Backgrounds of phases; that of the measure phase stays white.
_SHADES = {"ramp": "#ebebeb", "measure": "#ffffff", "drain": "#ebebeb"}


# More lines than these have one label.
_LABELS = 6


@dataclass(frozen=True, slots=True)
class HostLine:
    """I/Os per second of a host of a fleet, interval by interval."""

    name: str
    start_s: Floats
    end_s: Floats
    iops: Floats


@dataclass(frozen=True, slots=True)
class Timeline:
    """Everything that the picture shows."""

    origin: Origin
    course: Course
    hosts: Sequence[HostLine] = ()


def of_result(path: Path) -> Timeline:
    """The report intervals of a result."""
    result = load_result(path)
    rows = result.intervals
    if not rows:
        raise UsageError(f"{path} has no intervals: its run reported only at its end")
    zero = source.start_ns(path, result)
    origin = source.result_origin(path, result)
    if result.intervals_dropped:
        origin = replace(
            origin, details=f"{origin.details}, {result.intervals_dropped:,} intervals missing"
        )
    course = Course(
        np.array([(row.start_ns - zero) / 1e9 for row in rows]),
        np.array([(row.end_ns - zero) / 1e9 for row in rows]),
        np.array([float(row.outstanding) for row in rows]),
        np.array([float(row.backlog) for row in rows]),
        {"read": _of_cells(rows, "read"), "write": _of_cells(rows, "write")},
        [
            PhaseSpan(phase.phase, (phase.start_ns - zero) / 1e9, (phase.end_ns - zero) / 1e9)
            for phase in result.phases
            if phase.end_ns > phase.start_ns
        ],
        result.outcome.offered_iops,
        whole_ns(rows, result.config.interval_ns) / 1e9,
        np.array([1.0 if is_covered(row) else np.nan for row in rows]),
    )
    return Timeline(origin, course, _host_lines(result, zero))


def _host_lines(result: Result, zero_ns: int) -> list[HostLine]:
    lines = []
    for host in clients(result.hosts or ()):
        rows = unpacked(host.rows)
        whole = whole_ns(rows, result.config.interval_ns)
        rows = [row for row in rows if row_tells_rate(row, whole)]
        zero = zero_ns - host.start.offset_ns
        start_s = np.array([(row.start_ns - zero) / 1e9 for row in rows])
        end_s = np.array([(row.end_ns - zero) / 1e9 for row in rows])
        ios = np.array([float(row.read.ios + row.write.ios) for row in rows])
        if rows:
            lines.append(HostLine(host.name, start_s, end_s, ios / (end_s - start_s)))
    return lines


def _of_cells(rows: Sequence[Interval], direction: str) -> Direction:
    cells: list[IntervalCell] = [getattr(row, direction) for row in rows]
    ios = np.array([float(cell.ios) for cell in cells])
    with np.errstate(invalid="ignore"):
        return Direction(
            ios,
            np.array([float(cell.bytes) for cell in cells]),
            np.array([float(cell.response_sum_ns) for cell in cells]) / or_nan(ios),
            np.where(ios > 0, [_or_nan(cell.response_p99_ns) for cell in cells], np.nan),
        )


def _or_nan(value: int | None) -> float:
    return np.nan if value is None else float(value)


def of_log(path: Path, interval_ns: int = 0) -> Timeline:
    """A log cut into intervals of this length (0: about 120 of them), by completion."""
    log = file.open_measured(path)
    return Timeline(source.log_origin(path, log), course_of_log(log, interval_ns))


# ---- the picture ----


def draw(timeline: Timeline, title: str = "", log_scale: bool | None = None) -> Figure:
    """Four panels over one time axis: I/Os and MiB per second, response time, queue."""
    course = timeline.course
    figure, axes = style.new_figure(
        [2.0, 1.6, 2.2, 1.6],
        title or f"Over time: {timeline.origin.what}",
        [timeline.origin],
    )
    unit, unit_s = style.clock_unit(float(course.end_s.max()))
    used = {name: direction for name, direction in course.directions.items() if direction.ios.any()}
    if not used:
        raise UsageError(f"{timeline.origin.file} holds no I/Os that completed")
    span = _Span(course, unit_s)
    _draw_rates(axes[0], span, {name: direction.ios for name, direction in used.items()})
    if course.offered_iops:
        axes[0].axhline(
            course.offered_iops, color=style.GREY, linestyle=":", label="offered (whole run)"
        )
    _draw_hosts(axes[0], timeline.hosts, unit_s)
    axes[0].set_ylabel("throughput (I/Os per s)")
    _draw_rates(axes[1], span, {name: direction.bytes / MIB for name, direction in used.items()})
    axes[1].set_ylabel("throughput (MiB/s)")
    _draw_response(axes[2], span, used, log_scale)
    span.plot(axes[3], course.outstanding, label="outstanding", color=style.ALL)
    span.plot(axes[3], course.backlog, label="backlog", color=style.COLOURS[3], linestyle="--")
    axes[3].set_ylabel("queue (I/Os)")
    for axis in (axes[0], axes[1], axes[3]):
        axis.set_ylim(bottom=0)
        style.plain_numbers(axis.yaxis)
    for axis in axes:
        _shade(axis, course.phases, unit_s)
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    _name_phases(axes[0], course.phases, unit_s)
    axes[-1].set_xlabel(f"time since the start of the run ({unit})")
    last = max((phase.end_s for phase in course.phases), default=0.0)
    axes[-1].set_xlim(0, max(last, float(course.end_s.max())) / unit_s)
    style.plain_numbers(axes[-1].xaxis)
    return figure


class _Span:
    """The intervals as the x of lines: each value is a level from start to end."""

    def __init__(self, course: Course, unit_s: float) -> None:
        self.seconds = course.end_s - course.start_s
        whole = course.whole_s or float(self.seconds.max())
        # In a sliver (the end of a phase) all values are noise; they are left out.
        self.too_short = self.seconds < SLIVER * whole
        self.rated_s = rated_seconds(course)
        gap = np.append(course.start_s[1:] - course.end_s[:-1] > self.seconds.max() / 2, True)
        self.gap = gap
        x = np.column_stack([course.start_s, course.end_s, course.end_s])
        self.x = x.ravel() / unit_s

    def plot(self, axes: Axes, values: Floats, **how: str) -> None:
        """A line of levels, open where intervals are missing."""
        end = np.where(self.gap, np.nan, values)
        levels = np.column_stack([values, values, end])
        keep = np.repeat(~self.too_short, 3)
        axes.plot(self.x[keep], levels.ravel()[keep], **how)  # type: ignore[arg-type]

    def rate(self, counts: Floats) -> Floats:
        """Per second."""
        return counts / self.rated_s


def _draw_rates(axes: Axes, span: _Span, counts: dict[str, Floats]) -> None:
    for name, values in counts.items():
        span.plot(axes, span.rate(values), label=name, **_look(name))
    if len(counts) > 1:
        span.plot(axes, span.rate(sum(counts.values(), np.zeros(1))), label="all", **_look("all"))


def _draw_hosts(axes: Axes, hosts: Sequence[HostLine], unit_s: float) -> None:
    """A thin line for each host."""
    for number, host in enumerate(hosts):
        label = host.name if len(hosts) <= _LABELS else f"{len(hosts)} hosts" * (number == 0)
        axes.plot(
            np.column_stack([host.start_s, host.end_s]).ravel() / unit_s,
            np.repeat(host.iops, 2),
            linewidth=0.7,
            linestyle=style.DASHES[number % len(style.DASHES)],
            color=style.GREY,
            label=label or None,
        )


def _look(name: str) -> dict[str, str]:
    colour = {"read": style.READ, "write": style.WRITE, "all": style.ALL}[name]
    return {"color": colour, "linestyle": "-"}


def _draw_response(
    axes: Axes, span: _Span, used: dict[str, Direction], log_scale: bool | None
) -> None:
    shown = np.concatenate([[*direction.mean_ns, *direction.p99_ns] for direction in used.values()])
    shown = shown[shown > 0]
    unit, unit_ns = style.ns_unit(float(np.median(shown)) if len(shown) else 1e6)
    for name, direction in used.items():
        colour = _look(name)["color"]
        span.plot(axes, direction.mean_ns / unit_ns, label=f"{name} mean", color=colour)
        if np.isnan(direction.p99_ns).all():  # of several hosts
            continue
        span.plot(
            axes, direction.p99_ns / unit_ns, label=f"{name} p99", color=colour, linestyle="--"
        )
    if log_scale is None:
        log_scale = len(shown) > 0 and float(shown.max() / shown.min()) > 20
    if log_scale:
        axes.set_yscale("log")
        style.log_ticks(axes, "y")
    else:
        axes.set_ylim(bottom=0)
        style.plain_numbers(axes.yaxis)
    axes.set_ylabel(f"response time ({unit})")


def _shade(axes: Axes, phases: Sequence[PhaseSpan], unit_s: float) -> None:
    for phase in phases:
        axes.axvspan(
            phase.start_s / unit_s, phase.end_s / unit_s, color=_SHADES[phase.name], zorder=-1, lw=0
        )
        if phase.start_s:
            axes.axvline(phase.start_s / unit_s, color=style.GREY, linewidth=0.8, linestyle="--")


def _name_phases(axes: Axes, phases: Sequence[PhaseSpan], unit_s: float) -> None:
    """Above the panel, where each begins; a short ramp is named to the left of its end."""
    whole = max((phase.end_s for phase in phases), default=0.0)
    for phase in phases:
        is_short = phase.end_s - phase.start_s < whole * 0.08
        at_end = is_short and phase.name != phases[-1].name
        axes.annotate(
            phase.name,
            ((phase.end_s if at_end else phase.start_s) / unit_s, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(-3 if at_end else 3, 3),
            textcoords="offset points",
            ha="right" if at_end else "left",
            fontsize=8,
            color=style.GREY,
        )
