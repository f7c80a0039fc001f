# SPDX-License-Identifier: GPL-2.0-or-later
"""A PTS-like report: rounds up to steady state, the measured matrix, and write saturation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents import pts
from spekctl.errors import UsageError
from spekctl.plots import source, style
from spekctl.plots.style import Origin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from spekctl.documents.pts import Measured, MetricName, Report, Sample

# Beyond this ratio of the largest to the smallest value an axis is logarithmic.
WIDE = 20


def of_report(path: Path) -> tuple[Report, Origin]:
    """A report with at least one whole round, or a sample of write saturation."""
    report = pts.load_report(path)
    if not any(one.rounds for one in report.tests) and not report.saturation:
        raise UsageError(f"{path} has no whole round and no write saturation")
    return report, source.report_origin(path, report)


def draw(report: Report, origin: Origin, title: str = "") -> Figure:
    """For each test its rounds and, of more than one block size, its matrix; then saturation."""
    tests = [one for one in report.tests if one.rounds]
    matrices = [one for one in tests if len(one.sizes) > 1 and one.cells]
    count = len(tests) + len(matrices) + bool(report.saturation)
    figure, panels = style.new_figure(
        [2.6] * count, title or f"Rounds: {origin.what}", [origin], share_x=False
    )
    left = iter(panels)
    for test in tests:
        _rounds(next(left), test)
        if test in matrices:
            _matrix(next(left), test)
    if report.saturation:
        _saturation(next(left), report.saturation)
    return figure


def _unit(metric: MetricName, values: Sequence[float]) -> tuple[str, float]:
    """(label of an axis, what to divide by)."""
    if metric == "iops":
        return "rate (IOPS)", 1.0
    if metric == "bandwidth":
        return "data rate (MB/s)", 1e6
    name, size = style.ns_unit(sorted(values)[len(values) // 2])
    return f"mean response time ({name})", size


def _vertical(axes: Axes, values: Sequence[float]) -> None:
    positive = [one for one in values if one > 0]
    if positive and max(positive) / min(positive) > WIDE:
        axes.set_yscale("log")
        style.log_ticks(axes, "y")
    else:
        axes.set_ylim(0, 1.08 * max(positive, default=1.0))
        style.plain_numbers(axes.yaxis)


def _legend(axes: Axes, title: str) -> None:
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), title=title, fontsize=7)


def _rounds(axes: Axes, test: Measured) -> None:
    """Rounds of each block size; of what is tracked the window, its limits and its line."""
    from matplotlib.ticker import MaxNLocator

    numbers = [one.number for one in test.rounds]
    everything = [value for one in test.rounds for value in one.values]
    label, size = _unit(test.metric, everything)
    for index, block in enumerate(test.sizes):
        colour, marker = style.look(index)
        axes.plot(
            numbers,
            [one.values[index] / size for one in test.rounds],
            color=colour,
            marker=marker,
            markersize=4,
            label=units.format_bytes(block),
        )
    window = test.window
    if window is not None:
        first, last = window.first, window.last
        ends = [first, last]
        half = (last - first) / 2
        axes.axvspan(first - 0.3, last + 0.3, color=style.GREY, alpha=0.12, linewidth=0)
        line = [window.average - window.slope * half, window.average + window.slope * half]
        axes.plot(ends, [one / size for one in line], "k--", linewidth=1, label="least squares")
    state = {True: "steady state", False: "no steady state", None: "not complete"}[test.steady]
    axes.set_title(
        f"{test.name}, PTS-like: {state}, {test.tracked_read_percent} % reads", fontsize=9
    )
    axes.set_xlabel("time (rounds)")
    axes.set_ylabel(label)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _vertical(axes, [one / size for one in everything])
    _legend(axes, "block size")


def _matrix(axes: Axes, test: Measured) -> None:
    """The figures of the window over the block size, a line for each share of reads."""
    label, size = _unit(test.metric, [pts.metric_of(one, test.metric) for one in test.cells])
    sizes = sorted(test.sizes)
    for index, percent in enumerate(dict.fromkeys(one.read_percent for one in test.cells)):
        colour, marker = style.look(index)
        found = {
            one.bytes: pts.metric_of(one, test.metric)
            for one in test.cells
            if one.read_percent == percent
        }
        axes.plot(
            range(len(sizes)),
            [found[one] / size for one in sizes],
            color=colour,
            marker=marker,
            markersize=4,
            label=f"{percent} %",
        )
    axes.set_xticks(range(len(sizes)), [units.format_bytes(one) for one in sizes])
    axes.set_xlabel("block size (bytes)")
    axes.set_ylabel(label)
    axes.set_title(f"{test.name}, PTS-like: mean of the last rounds", fontsize=9)
    _vertical(axes, [pts.metric_of(one, test.metric) / size for one in test.cells])
    _legend(axes, "reads")


def _saturation(axes: Axes, samples: Sequence[Sample]) -> None:
    """IOPS over what was written."""
    unit, size = style.byte_unit(samples[-1].written_bytes)
    axes.plot(
        [one.written_bytes / size for one in samples],
        [one.iops for one in samples],
        color=style.look(0)[0],
        marker=style.look(0)[1],
        markersize=2,
        label="4 KiB\nrandom writes",
    )
    axes.set_title("write saturation, PTS-like", fontsize=9)
    axes.set_xlabel(f"written ({unit})")
    axes.set_ylabel("rate (IOPS)")
    style.plain_numbers(axes.xaxis)
    _vertical(axes, [one.iops for one in samples])
    _legend(axes, "")
