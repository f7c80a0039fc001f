# SPDX-License-Identifier: GPL-2.0-or-later
"""Sequential streams: data rate, response time and power over the streams of an SPC-2 report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from spekctl.documents import spc2
from spekctl.errors import UsageError
from spekctl.plots import source, style
from spekctl.plots.style import Origin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from spekctl.documents.spc2 import Run

# Beyond this ratio of the most to the fewest streams their axis is logarithmic.
WIDE = 20


@dataclass(frozen=True, slots=True)
class Line:
    """A test: its runs by their streams; @searched: those that looked for the streams to run."""

    name: str
    part: str
    runs: list[Run]
    searched: list[Run]


@dataclass(frozen=True, slots=True)
class Streams:
    """The tests of a report."""

    origin: Origin
    lines: list[Line]
    limit_ns: int

    @property
    def runs(self) -> list[Run]:
        """All that is drawn."""
        return [run for line in self.lines for run in (*line.runs, *line.searched)]


def of_report(path: Path) -> Streams:
    """The runs of a report that completed anything."""
    report = spc2.load_report(path)
    lines: dict[str, Line] = {}
    for run in report.runs:
        if run.response is not None:
            line = lines.setdefault(run.step.test, Line(run.step.test, run.step.part, [], []))
            (line.searched if run.step.kind == "search" else line.runs).append(run)
    if not lines:
        raise UsageError(f"{path} has no run in which I/Os completed")
    for line in lines.values():
        line.runs.sort(key=lambda run: run.step.streams)
    origin = source.report_origin(path, report)
    return Streams(origin, list(lines.values()), report.parameters.limits.response_ns)


def draw(found: Streams, title: str = "", log_scale: bool | None = None) -> Figure:
    """Data rate and mean response time over the streams; below, power."""
    powered = any(run.watts is not None for run in found.runs)
    figure, axes = style.new_figure(
        [3.6, 2.6] + [1.8] * powered,
        title or f"Streams: {found.origin.what}",
        [found.origin],
    )
    times = [run.response.mean for run in found.runs if run.response is not None]
    unit, unit_ns = style.ns_unit(sorted(times)[len(times) // 2])
    _draw(axes[0], found, lambda run: float(run.mb_s), "data rate (MB/s)")
    _draw(axes[1], found, lambda run: _mean(run, unit_ns), f"mean response time ({unit})")
    _vertical(axes[1], times, log_scale)
    if powered:
        _draw(axes[2], found, _watts, "power (W)")
    axes[-1].set_xlabel("load (streams)")
    _legend(axes[0], found)
    return figure


def _mean(run: Run, unit_ns: float) -> float | None:
    return run.response.mean / unit_ns if run.response is not None else None


def _watts(run: Run) -> float | None:
    return float(run.watts) if run.watts is not None else None


def _vertical(axes: Axes, times: Sequence[float], log_scale: bool | None) -> None:
    if log_scale is None:
        log_scale = max(times) / max(1.0, min(times)) > WIDE
    if log_scale:
        axes.set_ylim(auto=True)
        axes.set_yscale("log")
        style.log_ticks(axes, "y")


def _draw(axes: Axes, found: Streams, value: Callable[[Run], float | None], label: str) -> None:
    for index, line in enumerate(found.lines):
        colour, marker = style.look(index)
        _points(axes, line.runs, value, colour, marker, line.name)
        _points(axes, line.searched, value, colour, "+", "")
    axes.set_ylabel(label)
    known = [one for run in found.runs if (one := value(run)) is not None]
    axes.set_ylim(0, 1.08 * max(known))
    style.plain_numbers(axes.yaxis)
    counts = [run.step.streams for run in found.runs]
    if max(counts) / min(counts) > WIDE:
        axes.set_xscale("log")
        style.log_ticks(axes, "x")
    else:
        axes.set_xlim(left=0)
        style.plain_numbers(axes.xaxis)


def _points(
    axes: Axes,
    runs: Sequence[Run],
    value: Callable[[Run], float | None],
    colour: str,
    marker: str,
    label: str,
) -> None:
    """Draw a line through runs, or single marks without @label; mark runs that missed or failed."""
    places = [(run, known) for run in runs if (known := value(run)) is not None]
    if not places:
        return
    axes.plot(
        [run.step.streams for run, _ in places],
        [known for _, known in places],
        color=colour,
        linestyle="-" if label else "none",
        marker=marker,
        markersize=5 if label else 8,
        label=label or "_search",
    )
    for run, known in places:
        if label and run.beyond:
            axes.plot(run.step.streams, known, color=colour, marker=marker, ms=5, mfc="white")
        if not run.ok:
            axes.plot(run.step.streams, known, color="black", marker="x", markersize=9)


def _legend(axes: Axes, found: Streams) -> None:
    """Tests, then what the marks mean, as far as they occur."""
    from matplotlib.lines import Line2D

    handles, labels = axes.get_legend_handles_labels()

    def explain(text: str, marker: str, **look: str) -> None:
        look = {"color": style.GREY, **look}
        handles.append(Line2D([], [], linestyle="none", marker=marker, **look))  # type: ignore[arg-type]
        labels.append(text)

    if any(line.searched for line in found.lines):
        explain("search for streams", "+")
    if any(run.beyond for line in found.lines for run in line.runs):
        explain("more streams than\nwere served in time", "o", markerfacecolor="white")
    if not all(run.ok for run in found.runs):
        explain("run failed or\nhad I/O errors", "x", color="black")
    axes.legend(handles, labels, loc="center left", bbox_to_anchor=(1.0, 0.5))
