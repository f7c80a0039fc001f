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


def our_style() -> Iterator[None]:
    """Pictures are drawn as spekctl draws them."""
    with style.ready():
        yield


def lines(axes: Axes) -> dict[str, Line2D]:
    """Lines with a name."""
    return {str(one.get_label()): one for one in axes.lines if str(one.get_label())[0] != "_"}


def xs(line: Line2D) -> list[float]:
    """In the order in which they are drawn."""
    return [float(one) for one in np.asarray(line.get_xdata())]


def ys(line: Line2D) -> list[float]:
    """In the order in which they are drawn."""
    return [float(one) for one in np.asarray(line.get_ydata())]


def points(line: Line2D) -> list[tuple[float, float]]:
    """Ordered, and rounded where arithmetic leaves its noise."""
    return rounded(*line.get_data())


def rounded(x: Any, y: Any) -> list[tuple[float, float]]:
    pairs = zip(np.asarray(x, float).tolist(), np.asarray(y, float).tolist(), strict=True)
    return sorted((round(one, 7), round(other, 7)) for one, other in pairs)


def foot(figure: Figure) -> str:
    (text,) = figure.texts[-1:]
    return text.get_text()
