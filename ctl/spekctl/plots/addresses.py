# SPDX-License-Identifier: GPL-2.0-or-later
"""Addresses of each stream over time: a point for every I/O of a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from spekctl import units
from spekctl.errors import UsageError
from spekctl.log import file
from spekctl.plots import source, style
from spekctl.plots.style import Origin

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from spekctl.log.file import LogFile

# More points than this make a plot slower, not clearer.
MOST_POINTS = 2_000_000
_COLUMNS = ("arrival_ns", "address", "stream", "asu", "op")


@dataclass(frozen=True, slots=True)
class Panel:
    """An address range: an asu, or a device."""

    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Cloud:
    """The I/Os of one stream and direction in one panel."""

    panel: int
    stream: int
    write: bool
    time_s: NDArray[np.float64]  # intended arrival, since the start of the measure phase
    address: NDArray[np.uint64]  # first byte, within the panel's range


@dataclass(frozen=True, slots=True)
class Scatter:
    """Everything that the picture shows."""

    origin: Origin
    panels: list[Panel]
    streams: list[str]
    clouds: list[Cloud]
    every: int  # one of this many I/Os is drawn
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Window:
    """Which I/Os to show: arrivals from and to (seconds of the measure phase), direction."""

    start_s: float = 0.0
    end_s: float | None = None
    write: bool | None = None


def read(path: Path, by_device: bool = False, window: Window | None = None) -> Scatter:
    """The I/Os of a log that were to be issued in the measure phase, whenever they completed."""
    log = file.open_measured(path)
    header = log.header
    window = window or Window()
    columns = _collect(log, every := -(-header.records // MOST_POINTS))
    time_s = (columns["arrival_ns"].astype(np.int64) - header.measure_ns) / 1e9
    keep = time_s >= window.start_s
    if header.drain_ns:
        keep &= columns["arrival_ns"] < header.drain_ns
    if window.end_s is not None:
        keep &= time_s < window.end_s
    if window.write is not None:
        keep &= columns["op"] == int(window.write)
    columns = {name: values[keep] for name, values in columns.items()}
    log.check_named(stream=columns["stream"], asu=columns["asu"])
    time_s = time_s[keep]
    if not len(time_s):
        raise UsageError(f"{path} has no such I/Os in its measure phase")
    if by_device:
        panels = [Panel(target.path, target.bytes) for target in header.targets]
        target, address = log.device_address(columns["asu"], columns["address"])
        columns |= {"panel": target.astype(np.uint64), "address": address}
    else:
        panels = [Panel(asu.name, asu.bytes) for asu in header.asus]
        columns |= {"panel": columns["asu"]}
    end_s = window.end_s if window.end_s is not None else float(time_s.max())
    return Scatter(
        source.log_origin(path, log),
        panels,
        list(header.streams),
        _split(columns, time_s),
        every,
        window.start_s,
        end_s,
    )


def _collect(log: LogFile, every: int) -> dict[str, NDArray[np.uint64]]:
    """One record of @every, all over the log."""
    parts: dict[str, list[NDArray[np.uint64]]] = {name: [] for name in _COLUMNS}
    first = 0  # of the next batch, to go on counting
    for columns in log.columns(*_COLUMNS):
        for name, values in zip(_COLUMNS, columns, strict=True):
            parts[name].append(values[first::every])
        first = (first - len(columns[0])) % every
    return {name: np.concatenate(values) for name, values in parts.items()}


def _split(columns: dict[str, NDArray[np.uint64]], time_s: NDArray[np.float64]) -> list[Cloud]:
    """A cloud for each panel, stream and direction that occurs."""
    panel, stream, op = (columns[name].astype(np.int64) for name in ("panel", "stream", "op"))
    keys = (panel << 32) + (stream << 1) + op
    order = np.argsort(keys, kind="stable")
    distinct, starts = np.unique(keys[order], return_index=True)
    return [
        Cloud(
            int(key >> 32),
            int(key & 0xFFFFFFFF) >> 1,
            bool(key & 1),
            time_s[members],
            columns["address"][members],
        )
        for key, members in zip(distinct, np.split(order, starts[1:]), strict=True)
    ]


def draw(scatter: Scatter, title: str = "") -> Figure:
    """A panel for each address range, a colour for each stream, a marker for each direction."""
    shown = sorted({cloud.panel for cloud in scatter.clouds})
    figure, axes = style.new_figure(
        _heights([scatter.panels[index] for index in shown]),
        title or f"Addresses over time: {scatter.origin.what}",
        [_with_thinning(scatter)],
    )
    palette = style.colours(len(scatter.streams))
    unit, unit_s = style.clock_unit(scatter.end_s - scatter.start_s)
    crowd: Counter[int] = Counter()
    of_stream: Counter[tuple[int, int]] = Counter()
    for cloud in scatter.clouds:
        crowd[cloud.panel] += len(cloud.time_s)
        of_stream[cloud.panel, cloud.stream] += len(cloud.time_s)
    # Sparse clouds last, so that dense ones don't hide them.
    for cloud in sorted(scatter.clouds, key=lambda cloud: -len(cloud.time_s)):
        axis = axes[shown.index(cloud.panel)]
        size, alpha = _mark(of_stream[cloud.panel, cloud.stream], crowd[cloud.panel])
        axis.plot(
            cloud.time_s / unit_s,
            cloud.address / style.byte_unit(scatter.panels[cloud.panel].bytes)[1],
            linestyle="none",
            marker=_marker(cloud.write),
            markersize=size,
            markeredgewidth=0,
            color=palette[cloud.stream],
            alpha=alpha,
            rasterized=True,
            label=f"{scatter.streams[cloud.stream]} {'write' if cloud.write else 'read'}",
        )
    for axis, index in zip(axes, shown, strict=True):
        panel = scatter.panels[index]
        name, size_bytes = style.byte_unit(panel.bytes)
        axis.set_title(f"{panel.name}: {units.format_bytes(panel.bytes)}", loc="left")
        axis.set_ylabel(f"address ({name})")
        axis.set_ylim(0, panel.bytes / size_bytes)
        style.plain_numbers(axis.yaxis)
    axes[-1].set_xlabel(f"intended arrival ({unit} since the start of the measure phase)")
    style.plain_numbers(axes[-1].xaxis)
    axes[-1].set_xlim(scatter.start_s / unit_s, scatter.end_s / unit_s)
    _legend(figure, scatter, palette)
    return figure


def _with_thinning(scatter: Scatter) -> Origin:
    origin = scatter.origin
    if scatter.every == 1:
        return origin
    details = f"{origin.details}, one of {scatter.every} I/Os is drawn".removeprefix(", ")
    return Origin(origin.file, origin.workload, origin.devices, details)


def _heights(panels: Sequence[Panel]) -> list[float]:
    """Inches: larger ranges get more room, but none too little to be read."""
    largest = max(panel.bytes for panel in panels)
    whole = 5.0 if len(panels) == 1 else 3.0
    return [max(1.3, whole * panel.bytes / largest) for panel in panels]


def _marker(write: bool) -> str:
    return "^" if write else "o"


def _mark(count: int, crowd: int) -> tuple[float, float]:
    """(size in points, opacity) of a stream's points among a crowd: density shows, few are seen."""
    size = min(4.0, max(0.8, 4.0 * (1000 / crowd) ** 0.35))
    if count < crowd / 10:
        size = min(4.0, 1.5 * size)
    return size, min(0.9, max(0.25, 0.9 * (3000 / count) ** 0.25))


def _legend(figure: Figure, scatter: Scatter, palette: Sequence[object]) -> None:
    """Outside of the panels: colours of streams, markers of directions."""
    from matplotlib.lines import Line2D

    used = sorted({cloud.stream for cloud in scatter.clouds})
    count = {
        stream: sum(len(cloud.time_s) for cloud in scatter.clouds if cloud.stream == stream)
        for stream in used
    }
    whole = sum(count.values())
    handles = [
        Line2D([], [], linestyle="none", marker="s", color=palette[stream], markersize=6)  # type: ignore[arg-type]
        for stream in used
    ]
    labels = [f"{scatter.streams[stream]} ({count[stream] / whole:.1%})" for stream in used]
    for write in sorted({cloud.write for cloud in scatter.clouds}):
        handles.append(
            Line2D([], [], linestyle="none", marker=_marker(write), color=style.GREY, markersize=5)
        )
        labels.append("write" if write else "read")
    figure.legend(
        handles,
        labels,
        loc="outside right center",
        title=f"stream (share of\n{whole:,} I/Os)",
    )
