# SPDX-License-Identifier: GPL-2.0-or-later
"""Load curves: response time against throughput, achieved share of the offered load, power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from spekctl.errors import UsageError
from spekctl.plots import style
from spekctl.plots.style import Origin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from spekctl.documents.curve import Point


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of the picture: points in order of their load."""

    origin: Origin
    points: list[Point]
    limit_ns: int | None = None  # on the mean response time, for reports
    search: list[Point] = field(default_factory=list)  # points beside the line, for reports

    @property
    def has_offers(self) -> bool:
        """Open loop: achieved can be compared with offered."""
        return any(point.offered_iops is not None for point in self.points)


def of_points(
    file: str,
    origin: Origin,
    points: Sequence[Point],
    limit_ns: int | None = None,
    search: Sequence[Point] = (),
) -> Curve:
    """Points with something completed, by load; those of a search alone if there are no others."""
    done, beside = (
        sorted((one for one in some if one.response is not None), key=_asked)
        for some in (points, search)
    )
    if not done:
        done, beside = beside, []
    if not done:
        raise UsageError(f"{file} has no point at which I/Os completed")
    return Curve(origin, done, limit_ns, beside)


def _asked(point: Point) -> float:
    return point.offered_iops if point.offered_iops is not None else point.load.value


def draw(
    curves: Sequence[Curve],
    title: str = "",
    labels: Sequence[str] = (),
    log_scale: bool | None = None,
) -> Figure:
    """Response time over achieved I/Os per second; below, achieved over asked, and power."""
    powered = any(point.power is not None for curve in curves for point in curve.points)
    figure, axes = style.new_figure(
        [3.6, 2.6] + [1.8, 1.8] * powered,
        title or title_of(curves, "Load curve"),
        [curve.origin for curve in curves],
        share_x=False,
    )
    names = list(labels) or [curve.origin.file for curve in curves]
    _draw_response(axes[0], curves, names, log_scale)
    _draw_achieved(axes[1], curves, names)
    if powered:
        draw_power(axes[2], axes[3], curves)
    for axis in axes:
        style.plain_numbers(axis.xaxis)
    _legend(axes[0], curves)
    return figure


def title_of(curves: Sequence[Curve], name: str) -> str:
    """Title of the plot."""
    if len(curves) == 1:
        return f"{name}: {curves[0].origin.what}"
    what = {curve.origin.workload for curve in curves}
    names = name if name == "Power" else f"{name}s"
    return f"{names}: {what.pop()}" if len(what) == 1 else names


def _draw_response(
    axes: Axes, curves: Sequence[Curve], names: Sequence[str], log_scale: bool | None
) -> None:
    times = [
        time
        for curve in curves
        for point in (*curve.points, *curve.search)
        if point.response is not None
        for time in (point.response.mean, point.response.p99)
    ]
    unit, unit_ns = style.ns_unit(float(np.median(times)))
    for index, (curve, name) in enumerate(zip(curves, names, strict=True)):
        iops = [point.iops for point in curve.points]
        found = [point.response for point in curve.points if point.response is not None]
        prefix = f"{name}: " if len(curves) > 1 else ""
        mean = [one.mean / unit_ns for one in found]
        p99 = [one.p99 / unit_ns for one in found]
        _line(axes, index, curve, iops, mean, f"{prefix}mean")
        _line(axes, index, curve, iops, p99, f"{prefix}p99", dashed=True)
        searched = [(one.iops, one.response.mean / unit_ns) for one in curve.search if one.response]
        _beside(axes, index, searched, f"{prefix}search (mean)")
    limits = {curve.limit_ns for curve in curves if curve.limit_ns}
    for limit_ns in sorted(limits):
        axes.axhline(limit_ns / unit_ns, color=style.GREY, linestyle=":", linewidth=1)
        axes.annotate(
            f"limit of the mean: {style.number(limit_ns / unit_ns)} {unit}",
            (0.01, limit_ns / unit_ns),
            xycoords=("axes fraction", "data"),
            xytext=(0, 2),
            textcoords="offset points",
            fontsize=8,
            color=style.GREY,
        )
    axes.set_xlim(left=0)
    if log_scale is None:
        log_scale = max(times) / max(1.0, min(times)) > 20
    if log_scale:
        axes.set_yscale("log")
        style.log_ticks(axes, "y")
    else:
        axes.set_ylim(bottom=0)
        style.plain_numbers(axes.yaxis)
    axes.set_xlabel("achieved throughput (I/Os per s)")
    axes.set_ylabel(f"response time ({unit})")


def _draw_achieved(axes: Axes, curves: Sequence[Curve], names: Sequence[str]) -> None:
    """Over the offered rate where there is one, else over the depth."""
    offers = any(curve.has_offers for curve in curves)
    most = 0.0
    for index, curve in enumerate(curves):
        if curve.has_offers != offers:
            continue  # a closed loop has no place among open ones
        asked = [_asked(point) for point in curve.points]
        most = max(most, *asked)
        _line(axes, index, curve, asked, [point.iops for point in curve.points], names[index])
        _beside(axes, index, [(_asked(one), one.iops) for one in curve.search], "search")
        most = max([most, *map(_asked, curve.search)])
    if offers:
        axes.plot(
            [0, most], [0, most], color=style.GREY, linestyle=":", linewidth=1, label="as offered"
        )
    axes.set_xlabel("offered load (I/Os per s)" if offers else "queue depth (I/Os outstanding)")
    axes.set_ylabel("achieved (I/Os per s)")
    axes.set_xlim(0, most * 1.03)
    axes.set_ylim(bottom=0)
    style.plain_numbers(axes.yaxis)
    if offers:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handles=[axes.lines[-1]])


def draw_power(watts: Axes, each: Axes, curves: Sequence[Curve], names: Sequence[str] = ()) -> None:
    """Watts, and watts per I/O rate less the baseline."""
    for index, curve in enumerate(curves):
        points = [point for point in curve.points if point.power is not None]
        if not points:
            continue
        iops = [point.iops for point in points]
        power = [point.power.watts for point in points if point.power is not None]
        _line(
            watts,
            index,
            Curve(curve.origin, points),
            iops,
            power,
            names[index] if names else "power",
        )
        cost = [(one, one.efficiency.mw_per_iops) for one in points if one.efficiency is not None]
        part = Curve(curve.origin, [one for one, _ in cost])
        rates = [one.iops for one, _ in cost]
        label = names[index] if names else "per I/O"
        _line(each, index, part, rates, [value for _, value in cost], label)
    for axis, label in ((watts, "power (W)"), (each, "power per I/O rate\n(mW per I/O per s)")):
        axis.set_xlim(left=0)
        axis.set_ylim(bottom=0)
        axis.set_xlabel("achieved throughput (I/Os per s)")
        axis.set_ylabel(label)
        style.plain_numbers(axis.yaxis)


def _line(
    axes: Axes,
    index: int,
    curve: Curve,
    x: Sequence[float],
    y: Sequence[float],
    label: str,
    dashed: bool = False,
) -> None:
    """A line through all points; those that did not keep up are hollow, failed runs crossed."""
    colour, marker = style.look(index)
    axes.plot(
        x,
        y,
        color=colour,
        linestyle="--" if dashed else "-",
        marker=marker,
        markersize=5,
        markevery=[place for place, point in enumerate(curve.points) if point.kept_up],
        label=label,
    )
    for place, point in enumerate(curve.points):
        if not point.kept_up:
            axes.plot(x[place], y[place], color=colour, marker=marker, markersize=5, mfc="white")
        if not point.ok:
            axes.plot(x[place], y[place], color="black", marker="x", markersize=9)


def _beside(axes: Axes, index: int, places: Sequence[tuple[float, float]], label: str) -> None:
    """Points that belong to no line."""
    if places:
        x, y = zip(*places, strict=True)
        axes.plot(
            x,
            y,
            color=style.look(index)[0],
            linestyle="none",
            marker="+",
            markersize=8,
            label=label,
        )


def _legend(axes: Axes, curves: Sequence[Curve]) -> None:
    """Lines, then what the marks mean, as far as they occur."""
    from matplotlib.lines import Line2D

    handles, labels = axes.get_legend_handles_labels()
    points = [point for curve in curves for point in curve.points]
    if not all(point.kept_up for point in points):
        handles.append(Line2D([], [], linestyle="none", marker="o", color=style.GREY, mfc="white"))
        labels.append("fell behind\nthe offered load")
    if not all(point.ok for point in points):
        handles.append(Line2D([], [], linestyle="none", marker="x", color="black", markersize=9))
        labels.append("run failed or\nhad I/O errors")
    axes.legend(handles, labels, loc="center left", bbox_to_anchor=(1.0, 0.5))
