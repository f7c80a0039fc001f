# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace at a glance: rate over time, addresses over time, sizes, and gaps between arrivals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from spekctl import units
from spekctl.errors import UsageError
from spekctl.plots import style
from spekctl.plots.style import Origin
from spekctl.trace.columns import Array, Batch, Op
from spekctl.trace.figures import Buckets
from spekctl.trace.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# More points than this make a plot slower, not clearer.
MOST_POINTS = 200_000
_SLICES = 600
_READ, _WRITE, _OTHER = range(3)
_NAMES = ("read", "write", "other")
_COLOURS = (style.READ, style.WRITE, style.GREY)


@dataclass(slots=True)
class Rate:
    """Requests in up to SLICES slices of time, whose length doubles as needed."""

    slice_ns: int = 10**6
    counts: Array = field(default_factory=lambda: np.zeros((3, _SLICES), np.int64))

    def add(self, at_ns: Array, kind: Array) -> None:
        """Count these."""
        while int(at_ns[-1]) >= self.slice_ns * _SLICES:
            pairs = self.counts.reshape(3, -1, 2).sum(axis=2)
            self.counts = np.hstack([pairs, np.zeros_like(pairs)])
            self.slice_ns *= 2
        place = (at_ns // np.uint64(self.slice_ns)).astype(np.int64)
        for code in range(3):
            self.counts[code] += np.bincount(place[kind == code], minlength=_SLICES)


@dataclass(slots=True)
class Seen:
    """Everything that the picture shows."""

    origin: Origin
    requests: int = 0
    span_ns: int = 0
    devices: int = 0
    rate: Rate = field(default_factory=Rate)
    sizes: dict[int, list[int]] = field(default_factory=dict)
    gaps: Buckets = field(default_factory=Buckets)
    # One of @every requests that have a place.
    every: int = 1
    points: list[tuple[Array, Array, Array]] = field(default_factory=list)
    _placed: int = 0

    def add(self, batch: Batch) -> None:
        """Records after those before."""
        at = batch.at_ns
        kind = np.where(batch.op == Op.READ, _READ, np.where(batch.op == Op.WRITE, _WRITE, _OTHER))
        gaps = np.diff(at)
        if self.requests:
            gaps = np.concatenate([[at[0] - np.uint64(self.span_ns)], gaps])
        self.gaps.add(gaps)
        self.requests += len(batch)
        self.span_ns = int(at[-1])
        self.devices = max(self.devices, int(batch.device.max()) + 1)
        self.rate.add(at, kind)
        placed = (batch.op != Op.FLUSH) & (batch.bytes > 0)
        for code in range(3):
            values, counts = np.unique(batch.bytes[placed & (kind == code)], return_counts=True)
            for size, count in zip(values.tolist(), counts.tolist(), strict=True):
                self.sizes.setdefault(size, [0, 0, 0])[code] += count
        self._keep(at[placed], batch.offset_bytes[placed], kind[placed])

    def _keep(self, at: Array, offset: Array, kind: Array) -> None:
        start = -self._placed % self.every
        self._placed += len(at)
        self.points.append(
            (at[start :: self.every], offset[start :: self.every], kind[start :: self.every])
        )
        while sum(len(part[0]) for part in self.points) > MOST_POINTS:
            self.every *= 2
            at, offset, kind = (np.concatenate(arrays) for arrays in zip(*self.points, strict=True))
            self.points = [(at[::2], offset[::2], kind[::2])]


def read(trace: Trace) -> Seen:
    """Read the trace once."""
    formats = trace.parts[0].format.name
    seen = Seen(Origin(trace.name, f"trace ({formats})", ()))
    for batch in trace.batches():
        seen.add(batch)
    if not seen.requests:
        raise UsageError(f"{trace.name} has no requests to draw")
    names = trace.devices.names
    shown = tuple(names[:6]) + ((f"and {len(names) - 6} more",) if len(names) > 6 else ())
    details = f"{seen.requests:,} requests"
    if seen.every > 1:
        details += f", one of {seen.every} is drawn as a point"
    if trace.faults.bad:
        details += f", {trace.faults.bad:,} could not be read"
    if trace.faults.lost:
        details += f", {trace.faults.lost:,} were lost while it was recorded"
    seen.origin = Origin(trace.name, f"trace ({formats})", shown, details)
    return seen


def draw(seen: Seen, title: str = "") -> Figure:
    """Four panels below each other."""
    figure, axes = style.new_figure(
        [1.6, 3.2, 1.8, 1.8], title or f"Trace: {seen.origin.file}", [seen.origin], share_x=False
    )
    _draw_rate(axes[0], seen)
    _draw_points(axes[1], seen)
    _draw_sizes(axes[2], seen)
    _draw_gaps(axes[3], seen)
    _legend(figure, seen)
    return figure


def _kinds(seen: Seen) -> list[int]:
    return [kind for kind in range(3) if seen.rate.counts[kind].any()]


def _draw_rate(axis: Axes, seen: Seen) -> None:
    unit, unit_s = style.clock_unit(seen.span_ns / 1e9)
    slice_s = seen.rate.slice_ns / 1e9
    used = seen.span_ns // seen.rate.slice_ns + 1
    edges = np.arange(used + 1) * slice_s / unit_s
    below = np.zeros(used)
    for kind in _kinds(seen):
        above = below + seen.rate.counts[kind][:used] / slice_s
        axis.stairs(above, edges, baseline=below, fill=True, color=_COLOURS[kind], linewidth=0)
        below = above
    axis.set_ylim(bottom=0)
    axis.set_xlim(0, max(edges[-1], 1e-9))
    axis.set_ylabel("rate (requests/s)")
    axis.set_xlabel(f"time since the first request ({unit})")
    style.plain_numbers(axis.xaxis)
    style.plain_numbers(axis.yaxis)


def _draw_points(axis: Axes, seen: Seen) -> None:
    unit, unit_s = style.clock_unit(seen.span_ns / 1e9)
    at, offset, kind = (np.concatenate(arrays) for arrays in zip(*seen.points, strict=True))
    name, size_bytes = style.byte_unit(float(offset.max()) if len(offset) else 1.0)
    size = min(4.0, max(0.8, 4.0 * (1000 / max(len(at), 1)) ** 0.35))
    for code in _kinds(seen):
        mine = kind == code
        axis.plot(
            at[mine] / 1e9 / unit_s,
            offset[mine] / size_bytes,
            linestyle="none",
            marker="o",
            markersize=size,
            markeredgewidth=0,
            color=_COLOURS[code],
            alpha=0.5,
            rasterized=True,
        )
    axis.set_xlim(0, max(seen.span_ns / 1e9 / unit_s, 1e-9))
    axis.set_ylim(bottom=0)
    which = "" if seen.devices == 1 else f" on any of {seen.devices} devices"
    axis.set_ylabel(f"address{which} ({name})")
    axis.set_xlabel(f"time since the first request ({unit})")
    style.plain_numbers(axis.xaxis)
    style.plain_numbers(axis.yaxis)


def _draw_sizes(axis: Axes, seen: Seen) -> None:
    """Share of the requests by size, in bins of powers of two."""
    total = max(1, sum(sum(counts) for counts in seen.sizes.values()))
    if seen.sizes:
        low = max(9, min(seen.sizes).bit_length() - 1)
        high = max(low, (max(seen.sizes) - 1).bit_length())
    else:
        low = high = 9
    shares = np.zeros((3, high - low + 1))
    for size, counts in seen.sizes.items():
        place = min(max((size - 1).bit_length() - low, 0), high - low)
        shares[:, place] += np.array(counts) / total * 100
    below = np.zeros(high - low + 1)
    places = np.arange(high - low + 1)
    for kind in _kinds(seen):
        axis.bar(places, shares[kind], 0.8, bottom=below, color=_COLOURS[kind])
        below += shares[kind]
    step = 1 + len(places) // 16
    axis.set_xticks(
        places[::step], [units.format_bytes(1 << low + place) for place in places[::step]]
    )
    axis.set_xlabel("size (up to)")
    axis.set_ylabel("requests (%)")
    style.plain_numbers(axis.yaxis)


def _draw_gaps(axis: Axes, seen: Seen) -> None:
    """Distribution function of the gaps, and that of Poisson arrivals of the same rate."""
    used = np.flatnonzero(seen.gaps.counts)
    if not len(used) or not seen.gaps.sum:
        axis.text(0.5, 0.5, "all arrivals are at one time", transform=axis.transAxes, ha="center")
        axis.set_xlabel("gap to the next arrival (ns)")
        axis.set_ylabel("requests (%)")
        return
    sums = np.cumsum(seen.gaps.counts)[used] / seen.gaps.total * 100
    values = np.array([max(seen.gaps.value(int(bucket)), 1.0) for bucket in used])
    mean = seen.gaps.sum / seen.gaps.total
    axis.plot(values / 1e3, sums, color=style.ALL)
    grid = np.geomspace(max(values[0], 1.0), max(values[-1], mean * 8, 2.0), 200)
    axis.plot(grid / 1e3, 100 * (1 - np.exp(-grid / mean)), color=style.GREY, linestyle="--")
    axis.set_xscale("log")
    axis.set_xlim(grid[0] / 1e3, grid[-1] / 1e3)
    axis.set_ylim(0, 100)
    style.log_ticks(axis, "x")
    axis.set_xlabel("gap to the next arrival (µs); dashed: Poisson arrivals of the same rate")
    axis.set_ylabel("requests (%)")
    style.plain_numbers(axis.yaxis)


def _legend(figure: Figure, seen: Seen) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(color=_COLOURS[kind], label=_NAMES[kind]) for kind in _kinds(seen)]
    figure.legend(handles=handles, loc="outside right upper")
