# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine over time, from the samples of the prober: a panel for each chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents import document
from spekctl.documents.document import Kind
from spekctl.documents.prober import ProberReport
from spekctl.documents.result import load_result
from spekctl.documents.samples import Chart, Sampled, charts
from spekctl.errors import UsageError
from spekctl.plots import source, style
from spekctl.plots.style import Origin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PANELS = 12
_PANEL_IN = 1.5
# Labels of the axes, and what values are divided by.
_AXES = {
    "%": ("share (%)", 1),
    "1/s": ("rate (1/s)", 1),
    "B": ("size (MiB)", 1 << 20),
    "B/s": ("rate (MiB/s)", 1 << 20),
    "W": ("power (W)", 1),
}
# Charts of every CPU and thread are for pages, which have room.
_DETAILS = ("cpu-", "task-", "disk-ios-")


@dataclass(frozen=True, slots=True)
class Machine:
    """Everything that the picture shows. Seconds count from the first sample."""

    origin: Origin
    middle_s: Sequence[float]
    charts: Sequence[Chart]


def of_file(path: Path) -> Machine:
    """The samples of a result, or those of `spekctl prober`."""
    kind = document.identify(path, [Kind.PROBER, Kind.RESULT], "the machine is drawn from")
    if kind is Kind.PROBER:
        report = document.read(path, ProberReport)
        every = units.format_duration(report.probe.interval_ns)
        details = f"a sample each {every}, {source.machine(report.environment)}"
        return _machine(path, Origin(path.name, "samples of the prober", (), details), report)
    result = load_result(path)
    if result.prober is None:
        raise UsageError(f"{path} has no samples: its run had no prober")
    return _machine(path, source.result_origin(path, result), result.prober)


def _machine(path: Path, origin: Origin, samples: Sampled) -> Machine:
    if not samples.start_ns:
        raise UsageError(f"{path} has no samples: its probe ended before the second row")
    zero = samples.start_ns[0]
    middle = [
        ((start + end) / 2 - zero) / 1e9
        for start, end in zip(samples.start_ns, samples.end_ns, strict=True)
    ]
    found = [chart for chart in charts(samples) if not chart.key.startswith(_DETAILS)]
    return Machine(origin, middle, found)


def draw(found: Machine, title: str = "") -> Figure:
    """The charts below each other, as far as they fit on a page."""
    with style.ready():
        shown = found.charts[:MOST_PANELS]
        heading = title or "The machine over time"
        if len(shown) < len(found.charts):
            heading += f" ({len(shown)} of {len(found.charts)} charts)"
        heights = [_PANEL_IN] * len(shown)
        figure, panels = style.new_figure(heights, heading, [found.origin])
        unit, size = style.clock_unit(found.middle_s[-1])
        xs = [second / size for second in found.middle_s]
        for axes, chart in zip(panels, shown, strict=True):
            _panel(axes, xs, chart)
        panels[-1].set_xlabel(f"time since the first sample ({unit})")
        style.plain_numbers(panels[-1].xaxis)
        return figure


def _panel(axes: Axes, xs: Sequence[float], chart: Chart) -> None:
    label, size = _AXES[chart.unit]
    for index, series in enumerate(chart.series):
        colour, _ = style.look(index)
        ys = [float("nan") if value is None else value / size for value in series.values]
        mark = "." if len(xs) == 1 else None
        axes.plot(xs, ys, color=colour, linewidth=1.0, marker=mark, label=series.name)
    axes.set_title(chart.title, fontsize=8, loc="left", pad=2)
    axes.set_ylabel(label)
    if all(value is None or value >= 0 for one in chart.series for value in one.values):
        axes.set_ylim(bottom=0)
    style.plain_numbers(axes.yaxis)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7)
