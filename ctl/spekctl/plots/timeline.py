# SPDX-License-Identifier: GPL-2.0-or-later
"""Throughput, response time and queue over the time of a run, from a result or a log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from spekctl.documents.result import load_result
from spekctl.errors import UsageError
from spekctl.kernel.records import SLIVER, is_covered, whole_ns
from spekctl.log import file
from spekctl.log.course import Course, Direction, PhaseSpan, or_nan, rated_seconds
from spekctl.log.course import of_log as course_of_log
from spekctl.plots import source, style
from spekctl.plots.style import Origin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from spekctl.documents.result import Interval
    from spekctl.kernel.records import IntervalCell

    Floats = NDArray[np.float64]

MIB = 1 << 20
# Backgrounds of phases; that of the measure phase stays white.
_SHADES = {"ramp": "#ebebeb", "measure": "#ffffff", "drain": "#ebebeb"}


@dataclass(frozen=True, slots=True)
class Timeline:
    """Everything that the picture shows."""

    origin: Origin
    course: Course


def of_result(path: Path) -> Timeline:
    """The report intervals of a result."""
    result = load_result(path)
    rows = result.intervals
    if not rows:
        raise UsageError(f"{path} has no intervals: its run reported only at its end")
    zero = result.phases[0].start_ns
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
            PhaseSpan(one.phase, (one.start_ns - zero) / 1e9, (one.end_ns - zero) / 1e9)
            for one in result.phases
            if one.end_ns > one.start_ns
        ],
        result.outcome.offered_iops,
        whole_ns(rows, result.config.interval_ns) / 1e9,
        np.array([1.0 if is_covered(row) else np.nan for row in rows]),
    )
    return Timeline(origin, course)


def _of_cells(rows: Sequence[Interval], direction: str) -> Direction:
    cells: list[IntervalCell] = [getattr(row, direction) for row in rows]
    ios = np.array([float(cell.ios) for cell in cells])
    with np.errstate(invalid="ignore"):
        return Direction(
            ios,
            np.array([float(cell.bytes) for cell in cells]),
            np.array([float(cell.response_sum_ns) for cell in cells]) / or_nan(ios),
            np.where(ios > 0, [float(cell.response_p99_ns) for cell in cells], np.nan),
        )


def of_log(path: Path, interval_ns: int = 0) -> Timeline:
    """A log cut into intervals of this length (0: about 120 of them), by completion."""
    log = file.open_measured(path)
    return Timeline(source.log_origin(path, log), course_of_log(log, interval_ns))


# ---- the picture ----


def draw(timeline: Timeline, title: str = "", log_scale: bool | None = None) -> Figure:
    """Four panels over one time axis: I/Os and MiB per second, response time, queue."""
    found = timeline.course
    figure, axes = style.new_figure(
        [2.0, 1.6, 2.2, 1.6],
        title or f"Over time: {timeline.origin.what}",
        [timeline.origin],
    )
    unit, unit_s = style.clock_unit(float(found.end_s.max()))
    used = {name: one for name, one in found.directions.items() if one.ios.any()}
    if not used:
        raise UsageError(f"{timeline.origin.file} holds no I/Os that completed")
    span = _Span(found, unit_s)
    _draw_rates(axes[0], span, {name: one.ios for name, one in used.items()})
    if found.offered_iops:
        axes[0].axhline(
            found.offered_iops, color=style.GREY, linestyle=":", label="offered (whole run)"
        )
    axes[0].set_ylabel("throughput (I/Os per s)")
    _draw_rates(axes[1], span, {name: one.bytes / MIB for name, one in used.items()})
    axes[1].set_ylabel("throughput (MiB/s)")
    _draw_response(axes[2], span, used, log_scale)
    span.plot(axes[3], found.outstanding, label="outstanding", color=style.ALL)
    span.plot(axes[3], found.backlog, label="backlog", color=style.COLOURS[3], linestyle="--")
    axes[3].set_ylabel("queue (I/Os)")
    for axis in (axes[0], axes[1], axes[3]):
        axis.set_ylim(bottom=0)
        style.plain_numbers(axis.yaxis)
    for axis in axes:
        _shade(axis, found.phases, unit_s)
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    _name_phases(axes[0], found.phases, unit_s)
    axes[-1].set_xlabel(f"time since the start of the run ({unit})")
    last = found.phases[-1].end_s
    axes[-1].set_xlim(0, max(last, float(found.end_s.max())) / unit_s)
    style.plain_numbers(axes[-1].xaxis)
    return figure


class _Span:
    """The intervals as the x of lines: each value is a level from start to end."""

    def __init__(self, found: Course, unit_s: float) -> None:
        self.seconds = found.end_s - found.start_s
        whole = found.whole_s or float(self.seconds.max())
        # In a sliver (the end of a phase) all values are noise; they are left out.
        self.too_short = self.seconds < SLIVER * whole
        self.rated_s = rated_seconds(found)
        gap = np.append(found.start_s[1:] - found.end_s[:-1] > self.seconds.max() / 2, True)
        self.gap = gap
        x = np.column_stack([found.start_s, found.end_s, found.end_s])
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
    for name, one in counts.items():
        span.plot(axes, span.rate(one), label=name, **_look(name))
    if len(counts) > 1:
        span.plot(axes, span.rate(sum(counts.values(), np.zeros(1))), label="all", **_look("all"))


def _look(name: str) -> dict[str, str]:
    colour = {"read": style.READ, "write": style.WRITE, "all": style.ALL}[name]
    return {"color": colour, "linestyle": "-"}


def _draw_response(
    axes: Axes, span: _Span, used: dict[str, Direction], log_scale: bool | None
) -> None:
    shown = np.concatenate([[*one.mean_ns, *one.p99_ns] for one in used.values()])
    shown = shown[shown > 0]
    unit, unit_ns = style.ns_unit(float(np.median(shown)) if len(shown) else 1e6)
    for name, one in used.items():
        colour = _look(name)["color"]
        span.plot(axes, one.mean_ns / unit_ns, label=f"{name} mean", color=colour)
        span.plot(axes, one.p99_ns / unit_ns, label=f"{name} p99", color=colour, linestyle="--")
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
    for one in phases:
        axes.axvspan(
            one.start_s / unit_s, one.end_s / unit_s, color=_SHADES[one.name], zorder=-1, lw=0
        )
        if one.start_s:
            axes.axvline(one.start_s / unit_s, color=style.GREY, linewidth=0.8, linestyle="--")


def _name_phases(axes: Axes, phases: Sequence[PhaseSpan], unit_s: float) -> None:
    """Above the panel, where each begins; a short ramp is named to the left of its end."""
    whole = max(one.end_s for one in phases)
    for one in phases:
        is_short = one.end_s - one.start_s < whole * 0.08
        at_end = is_short and one.name != phases[-1].name
        axes.annotate(
            one.name,
            ((one.end_s if at_end else one.start_s) / unit_s, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(-3 if at_end else 3, 3),
            textcoords="offset points",
            ha="right" if at_end else "left",
            fontsize=8,
            color=style.GREY,
        )
