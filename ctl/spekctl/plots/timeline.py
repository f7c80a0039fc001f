# SPDX-License-Identifier: GPL-2.0-or-later
"""Throughput, response time and queue over the time of a run, from a result or a log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from spekctl import units
from spekctl.documents import histogram
from spekctl.documents.result import load_result
from spekctl.errors import UsageError
from spekctl.kernel.records import SLIVER, is_covered, tells_rate, whole_ns
from spekctl.plots import buckets, source, style
from spekctl.plots.style import Origin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from spekctl.documents.result import Interval
    from spekctl.kernel.records import IntervalCell
    from spekctl.log.file import LogHeader

    Floats = NDArray[np.float64]

MIB = 1 << 20
_P99 = 990_000
_LOG_INTERVALS = 120  # default number of intervals of a log, about
_MOST_INTERVALS = 4096  # as many as the module keeps
_COLUMNS = ("arrival_ns", "issue_ns", "completion_ns", "bytes", "op", "error")
# Backgrounds of phases; that of the measure phase stays white.
_SHADES = {"ramp": "#ebebeb", "measure": "#ffffff", "drain": "#ebebeb"}


@dataclass(frozen=True, slots=True)
class Direction:
    """Reads or writes, by interval; times are nan where nothing completed."""

    ios: Floats
    bytes: Floats
    mean_ns: Floats
    p99_ns: Floats


@dataclass(frozen=True, slots=True)
class PhaseSpan:
    """A phase, in seconds since the start of the run."""

    name: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """Everything that the picture shows. Seconds count from the start of the run."""

    origin: Origin
    start_s: Floats
    end_s: Floats
    outstanding: Floats
    backlog: Floats
    directions: dict[str, Direction]
    phases: list[PhaseSpan]
    offered_iops: float | None = None
    whole_s: float = 0.0  # length of a whole interval; 0: the longest
    covered: Floats | None = None  # 1: with the I/Os of all workers, else nan; None: all have them


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
    return Timeline(
        origin,
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


def _of_cells(rows: Sequence[Interval], direction: str) -> Direction:
    cells: list[IntervalCell] = [getattr(row, direction) for row in rows]
    ios = np.array([float(cell.ios) for cell in cells])
    with np.errstate(invalid="ignore"):
        return Direction(
            ios,
            np.array([float(cell.bytes) for cell in cells]),
            np.array([float(cell.response_sum_ns) for cell in cells]) / _or_nan(ios),
            np.where(ios > 0, [float(cell.response_p99_ns) for cell in cells], np.nan),
        )


def _or_nan(values: Floats) -> Floats:
    return np.where(values > 0, values, np.nan)


# ---- from a log ----


def of_log(path: Path, interval_ns: int = 0) -> Timeline:
    """A log cut into intervals of this length (0: about 120 of them), by completion."""
    log = source.open_log(path)
    header = log.header
    edges = _edges(path, header, interval_ns)
    counts = _Counts(len(edges) - 1)
    for columns in log.columns(*_COLUMNS):
        signed = [values.astype(np.int64) for values in columns]
        counts.add(dict(zip(_COLUMNS, signed, strict=True)), edges)
    bounds = [("ramp", header.started_ns), ("measure", header.measure_ns)]
    bounds += [("drain", header.drain_ns)] if header.drain_ns else []
    ends = [start for _, start in bounds[1:]] + [int(edges[-1])]
    zero = header.started_ns
    return Timeline(
        source.log_origin(path, log),
        (edges[:-1] - zero) / 1e9,
        (edges[1:] - zero) / 1e9,
        counts.between("issue_ns", "completion_ns"),
        counts.between("arrival_ns", "issue_ns"),
        {"read": counts.direction(0), "write": counts.direction(1)},
        [
            PhaseSpan(name, (start - zero) / 1e9, (end - zero) / 1e9)
            for (name, start), end in zip(bounds, ends, strict=True)
            if end > start
        ],
    )


def _edges(path: Path, header: LogHeader, interval_ns: int) -> NDArray[np.int64]:
    """Borders of the intervals: a grid through the start of the measure phase, and all phases'."""
    end_ns = header.ended_ns or header.drain_ns
    if end_ns <= header.measure_ns:
        raise UsageError(f"{path} does not say when its run ended")
    step = interval_ns or _round_step((end_ns - header.started_ns) / _LOG_INTERVALS)
    if (end_ns - header.started_ns) / step > _MOST_INTERVALS:
        raise UsageError(
            f"{units.format_duration(step)} makes more than {_MOST_INTERVALS} intervals of"
            f" this run of {(end_ns - header.started_ns) / 1e9:.1f} s"
        )
    before = (header.measure_ns - header.started_ns) // step
    grid = np.arange(header.measure_ns - before * step, end_ns, step, dtype=np.int64)
    bounds = {header.started_ns, header.measure_ns, end_ns}
    if header.drain_ns:
        bounds.add(header.drain_ns)
    fixed = np.array(sorted(bounds), dtype=np.int64)
    # A sliver beside the border of a phase would show noise: the grid makes room.
    apart = np.abs(grid[:, None] - fixed[None, :]).min(axis=1) >= step / 2
    return np.union1d(grid[apart], fixed)


def _round_step(ns: float) -> int:
    """1, 2 or 5 times a power of ten, not less than that."""
    power = 10 ** max(0, int(np.floor(np.log10(ns))))
    return next(int(factor * power) for factor in (1, 2, 5, 10) if factor * power >= ns)


class _Counts:
    """Sums by interval; memory grows with the intervals, not with the log."""

    def __init__(self, nr: int) -> None:
        self.nr = nr
        self.ios = np.zeros((2, nr))
        self.bytes = np.zeros((2, nr))
        self.sum_ns = np.zeros((2, nr))
        self.buckets = np.zeros((2, nr * buckets.NR_BUCKETS), dtype=np.int64)
        self.events = {name: np.zeros(nr) for name in ("arrival_ns", "issue_ns", "completion_ns")}

    def add(self, columns: dict[str, NDArray[np.int64]], edges: NDArray[np.int64]) -> None:
        """Count records."""
        for name, counts in self.events.items():
            counts += np.bincount(self._slot(columns[name], edges), minlength=self.nr)
        slot = self._slot(columns["completion_ns"], edges)
        response_ns = columns["completion_ns"] - columns["arrival_ns"]
        bucket = buckets.index(response_ns.astype(np.uint64))
        for op in (0, 1):
            mine = (columns["op"] == op) & (columns["error"] == 0)
            where = slot[mine]
            self.ios[op] += np.bincount(where, minlength=self.nr)
            self.bytes[op] += np.bincount(where, columns["bytes"][mine], self.nr)
            self.sum_ns[op] += np.bincount(where, response_ns[mine], self.nr)
            flat = where * buckets.NR_BUCKETS + bucket[mine]
            self.buckets[op] += np.bincount(flat, minlength=self.nr * buckets.NR_BUCKETS)

    def _slot(self, ns: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
        found = np.searchsorted(edges, ns, side="right") - 1
        return np.clip(found, 0, self.nr - 1)

    def between(self, first: str, then: str) -> Floats:
        """I/Os that had the first event and not yet the other, at the end of each interval."""
        waiting: Floats = np.cumsum(self.events[first]) - np.cumsum(self.events[then])
        return waiting

    def direction(self, op: int) -> Direction:
        """Rows of reads or writes."""
        p99 = np.full(self.nr, np.nan)
        table = self.buckets[op].reshape(self.nr, buckets.NR_BUCKETS)
        for slot in np.flatnonzero(self.ios[op]):
            seen = np.cumsum(table[slot])
            rank = -(-int(seen[-1]) * _P99 // histogram.PPM)
            p99[slot] = histogram.bucket_value(int(np.searchsorted(seen, rank)), buckets.BITS)
        return Direction(self.ios[op], self.bytes[op], self.sum_ns[op] / _or_nan(self.ios[op]), p99)


# ---- the picture ----


def draw(timeline: Timeline, title: str = "", log_scale: bool | None = None) -> Figure:
    """Four panels over one time axis: I/Os and MiB per second, response time, queue."""
    figure, axes = style.new_figure(
        [2.0, 1.6, 2.2, 1.6],
        title or f"Over time: {timeline.origin.what}",
        [timeline.origin],
    )
    unit, unit_s = style.clock_unit(float(timeline.end_s.max()))
    used = {name: one for name, one in timeline.directions.items() if one.ios.any()}
    if not used:
        raise UsageError(f"{timeline.origin.file} holds no I/Os that completed")
    span = _Span(timeline, unit_s)
    _draw_rates(axes[0], span, {name: one.ios for name, one in used.items()})
    if timeline.offered_iops:
        axes[0].axhline(
            timeline.offered_iops, color=style.GREY, linestyle=":", label="offered (whole run)"
        )
    axes[0].set_ylabel("throughput (I/Os per s)")
    _draw_rates(axes[1], span, {name: one.bytes / MIB for name, one in used.items()})
    axes[1].set_ylabel("throughput (MiB/s)")
    _draw_response(axes[2], span, used, log_scale)
    span.plot(axes[3], timeline.outstanding, label="outstanding", color=style.ALL)
    span.plot(axes[3], timeline.backlog, label="backlog", color=style.COLOURS[3], linestyle="--")
    axes[3].set_ylabel("queue (I/Os)")
    for axis in (axes[0], axes[1], axes[3]):
        axis.set_ylim(bottom=0)
        style.plain_numbers(axis.yaxis)
    for axis in axes:
        _shade(axis, timeline.phases, unit_s)
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    _name_phases(axes[0], timeline.phases, unit_s)
    axes[-1].set_xlabel(f"time since the start of the run ({unit})")
    last = timeline.phases[-1].end_s
    axes[-1].set_xlim(0, max(last, float(timeline.end_s.max())) / unit_s)
    style.plain_numbers(axes[-1].xaxis)
    return figure


class _Span:
    """The intervals as the x of lines: each value is a level from start to end."""

    def __init__(self, timeline: Timeline, unit_s: float) -> None:
        self.seconds = timeline.end_s - timeline.start_s
        whole = timeline.whole_s or float(self.seconds.max())
        # In a sliver (the end of a phase) all values are noise; they are left out.
        self.too_short = self.seconds < SLIVER * whole
        self.rated_s = rated_seconds(timeline)
        gap = np.append(timeline.start_s[1:] - timeline.end_s[:-1] > self.seconds.max() / 2, True)
        self.gap = gap
        x = np.column_stack([timeline.start_s, timeline.end_s, timeline.end_s])
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


def rated_seconds(timeline: Timeline) -> Floats:
    """The length of each interval; nan where counts divided by it are no rate of the device."""
    seconds = timeline.end_s - timeline.start_s
    whole = timeline.whole_s or float(seconds.max())
    lengths = zip(_phases_of(timeline), seconds, strict=True)
    rated = np.array([one if tells_rate(phase, one, whole) else np.nan for phase, one in lengths])
    return rated if timeline.covered is None else rated * timeline.covered


def _phases_of(timeline: Timeline) -> list[str]:
    """The phase in which each interval lies."""
    middles = (timeline.start_s + timeline.end_s) / 2
    return [
        next((one.name for one in timeline.phases if one.start_s <= at < one.end_s), "")
        for at in middles
    ]


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
