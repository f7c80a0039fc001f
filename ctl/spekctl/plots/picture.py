# SPDX-License-Identifier: GPL-2.0-or-later
"""Plots and bars of a report drawn by matplotlib: labels, units, ranges and ticks are those of the
page, which draws the same descriptions (report.sheet) by report.svg and plot.js."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Literal

from spekctl.errors import UsageError
from spekctl.plots import style
from spekctl.plots.style import Origin
from spekctl.report import drawing
from spekctl.report.drawing import Drawing, Scale, Series
from spekctl.report.sheet import COLOURS, Bars, Plot, Quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_IN = 2.6
_BAR_IN = 0.3
# Of a legend, whose names are broken at a width in characters.
_LINE_IN, _NAME_WIDTH = 0.17, 30
# Points of a line with few of them are marked, as on a page.
_MARKED = 60


def draw(
    parts: Sequence[Plot | Bars],
    title: str,
    origins: Sequence[Origin],
    *,
    log_scale: bool | None = None,
    panel_in: float = PANEL_IN,
) -> Figure:
    """A panel for each part that has a value. @log_scale: of times; None: as their range needs.

    UsageError if there is nothing to draw.
    """
    panels: list[Drawing | Bars] = []
    for part in parts:
        if isinstance(part, Bars):
            panels.append(part)
        elif (drawn := drawing.drawn(_with_scale(part, log_scale))) is not None:
            panels.append(drawn)
    if not panels:
        raise UsageError(f"{origins[0].file} has no value to draw")
    heights = [_height_in(panel, panel_in) for panel in panels]
    figure, axes = style.new_figure(heights, title, origins, share_x=False)
    for index, (axis, panel) in enumerate(zip(axes, panels, strict=True)):
        axis.set_title(panel.title, fontsize=9, loc="left")
        if isinstance(panel, Bars):
            _draw_bars(axis, panel)
        else:
            _draw_plot(axis, panel)
            if _continues(panel, panels[index + 1 :]):
                axis.set_xlabel("")
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, handlelength=2.8)
    return figure


def _continues(panel: Drawing, below: Sequence[Drawing | Bars]) -> bool:
    """Whether the panel below is over the same x axis, and has its label."""
    if not panel.group or not below or isinstance(below[0], Bars):
        return False
    return (panel.group, panel.x) == (below[0].group, below[0].x)


def _with_scale(plot: Plot, log_scale: bool | None) -> Plot:
    if log_scale is None or plot.y.quantity is not Quantity.TIME:
        return plot
    return replace(plot, y=replace(plot.y, log=log_scale))


def _height_in(panel: Drawing | Bars, panel_in: float) -> float:
    """As high as the panel or its legend needs."""
    if isinstance(panel, Bars):
        return max(_BAR_IN * len(panel.rows) + 0.7, _LINE_IN * len(panel.parts) + 0.6)
    lines = sum(_broken(series.name).count("\n") + 1 for series in panel.series)
    return max(panel_in, _LINE_IN * lines + 0.6)


def _broken(name: str) -> str:
    return textwrap.fill(name, _NAME_WIDTH, break_on_hyphens=False)


def _draw_plot(axes: Axes, plot: Drawing) -> None:
    for series in plot.series:
        _draw_series(axes, series)
    for at, name in plot.marks:
        axes.axvline(at, color=style.GREY, linewidth=0.8, linestyle="--")
        axes.annotate(
            name,
            (at, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3, -9),
            textcoords="offset points",
            fontsize=7,
            color=style.GREY,
        )
    _set_axis(axes, "x", plot.x, 8)
    _set_axis(axes, "y", plot.y, 6)


def _draw_series(axes: Axes, series: Series) -> None:
    ys = [nan if value is None else value for value in series.ys]
    name = _broken(series.name)
    if series.look == "limit":
        axes.plot(series.xs, ys, color=style.GREY, linestyle=":", linewidth=1, label=name)
        return
    colour, marker = style.look(series.colour)
    if series.look == "points":
        # Hollow and large: around a point of a line that has the same place.
        axes.plot(series.xs, ys, color=colour, linestyle="none", marker=marker, markersize=8,
                  markerfacecolor="none", clip_on=False, label=name)  # fmt: skip
        return
    axes.plot(
        series.xs,
        ys,
        color=colour,
        linestyle=style.DASHES[series.colour // COLOURS % len(style.DASHES)],
        marker=marker if len(series.xs) <= _MARKED else None,
        markersize=4,
        clip_on=False,  # an end of the range has a whole marker
        label=name,
    )


def _set_axis(axes: Axes, which: Literal["x", "y"], scale: Scale, most: int) -> None:
    """Label, range and ticks of an axis."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    if scale.log:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    (axes.set_xlim if which == "x" else axes.set_ylim)(scale.low, scale.high)
    ticks = drawing.ticks(scale, most)
    axis.set_ticks([at for at, _ in ticks], labels=[text for _, text in ticks])
    axis.set_ticks([], minor=True)
    axis.set_label_text(scale.label)


def _draw_bars(axes: Axes, bars: Bars) -> None:
    """Stacked bars from 0, the first at the top; a part below 0 has no length, as on a page."""
    places = list(range(len(bars.rows)))
    left = [0.0] * len(places)
    for index, part in enumerate(bars.parts):
        widths = [max(0.0, values[index]) for _, values in bars.rows]
        axes.barh(places, widths, left=left, height=0.6, color=style.look(index)[0], label=part)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axes.set_yticks(places, [name for name, _ in bars.rows])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.02 * max([*left, 0.0]) or 1.0)
    axes.set_xlabel(bars.label)
    style.plain_numbers(axes.xaxis)
