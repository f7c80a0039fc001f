# SPDX-License-Identifier: GPL-2.0
"""What a picture shows, as plain values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from spekctl.plots import style
from spekctl.report import drawing
from spekctl.report.sheet import Plot


def our_style() -> Iterator[None]:
    """Pictures are drawn as spekctl draws them."""
    with style.ready():
        yield


def lines(axes: Axes) -> dict[str, Line2D]:
    """Lines with a name."""
    return {str(line.get_label()): line for line in axes.lines if str(line.get_label())[0] != "_"}


def xs(line: Line2D) -> list[float]:
    """In the order in which they are drawn."""
    return [float(x) for x in np.asarray(line.get_xdata())]


def ys(line: Line2D) -> list[float]:
    """In the order in which they are drawn."""
    return [float(y) for y in np.asarray(line.get_ydata())]


def points(line: Line2D) -> list[tuple[float, float]]:
    """Ordered, and rounded where arithmetic leaves its noise."""
    return rounded(*line.get_data())


def rounded(x: Any, y: Any) -> list[tuple[float, float]]:
    pairs = zip(np.asarray(x, float).tolist(), np.asarray(y, float).tolist(), strict=True)
    return sorted((round(x, 7), round(y, 7)) for x, y in pairs)


def foot(figure: Figure) -> str:
    (text,) = figure.texts[-1:]
    return text.get_text()


def unbroken(line: Line2D) -> str:
    """The name of a line as it was before it was broken to fit beside the panel."""
    return str(line.get_label()).replace("\n", " ")


def shows(axes: Axes, plot: Plot) -> None:
    """Assert that a panel has title, axes, names and values of a plot that report/ describes."""
    drawn = drawing.drawn(plot)
    assert drawn is not None
    assert axes.get_title(loc="left") == drawn.title
    assert axes.get_ylabel() == drawn.y.label
    assert axes.get_xlabel() in (drawn.x.label, "")
    assert (axes.get_xscale() == "log", axes.get_yscale() == "log") == (drawn.x.log, drawn.y.log)
    assert axes.get_xlim() == (drawn.x.low, drawn.x.high)
    assert axes.get_ylim() == (drawn.y.low, drawn.y.high)
    named = [line for line in axes.lines if str(line.get_label())[0] != "_"]
    assert [unbroken(line) for line in named] == [series.name for series in drawn.series]
    for line, series in zip(named, drawn.series, strict=True):
        assert xs(line) == series.xs
        np.testing.assert_array_equal(ys(line), np.array(series.ys, dtype=float))
    legend = axes.get_legend()
    assert legend is not None
    texts = [text.get_text().replace("\n", " ") for text in legend.get_texts()]
    assert texts == [series.name for series in drawn.series]
