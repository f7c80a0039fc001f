# SPDX-License-Identifier: GPL-2.0
"""The back end: a description of report/ is drawn with its labels, units, ranges and values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lib.ctl.plot_seen import lines, our_style, shows, unbroken, xs, ys
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from spekctl.errors import UsageError
from spekctl.plots import picture, style
from spekctl.report import drawing
from spekctl.report.sheet import Axis, Bars, Line, Plot, Quantity, Strand

canvas = pytest.fixture(autouse=True)(our_style)
ORIGIN = style.Origin("a.json", "oltp", ("/dev/x",))
TIME = Axis("response time", quantity=Quantity.TIME, log=None)
IOPS = Axis("I/Os per second", "1/s")


def plot(*strands: Strand, x: Axis = IOPS, y: Axis = TIME, **changes: Any) -> Plot:
    return Plot("key", "Response time over load", x, y, strands, **changes)


def panels(*parts: Plot | Bars, log_scale: bool | None = None) -> list[Axes]:
    return picture.draw(parts, "title", [ORIGIN], log_scale=log_scale).axes


EVERYTHING = plot(
    Strand(
        [500.0, 1000.0, 1500.0],
        [
            Line("mean", [2e6, 3e6, 4e8], main=True, colour=0),
            Line("p99", [8e6, None, 16e8], colour=8),
            Line("limit of the mean", [2e7] * 3, look="limit"),
        ],
    ),
    Strand([1500.0], [Line("run failed or had so many I/O errors", [4e8], look="points")]),
)


def test_a_panel_shows_what_its_plot_describes() -> None:
    (axes,) = panels(EVERYTHING)
    shows(axes, EVERYTHING)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("I/Os per second (1/s)", "response time (ms)")
    named = lines(axes)
    assert ys(named["mean"]) == [2, 3, 400]
    assert np.isnan(ys(named["p99"])[1])


def test_looks_differ() -> None:
    (axes,) = panels(EVERYTHING)
    mean, p99, limit, failed = axes.lines
    # A number beyond those of colours is the same colour again, dashed.
    assert mean.get_color() == p99.get_color() == style.COLOURS[0]
    assert mean.get_linestyle() == "-" and p99.get_linestyle() == "--"
    assert (limit.get_color(), limit.get_linestyle(), limit.get_marker()) == (
        style.GREY, ":", "None",
    )  # fmt: skip
    assert (failed.get_linestyle(), failed.get_markerfacecolor()) == ("None", "none")
    assert unbroken(failed) == "run failed or had so many I/O errors"
    assert "\n" in str(failed.get_label())


def test_ticks_are_those_of_the_page() -> None:
    sizes = plot(
        Strand([512.0, 4096.0, 65536.0], [Line("all", [1.0, 2.0, 3.0])]),
        x=Axis("block size", quantity=Quantity.SIZE, log=True),
        y=Axis("rate", "MB/s"),
    )
    (axes,) = panels(sizes)
    drawn = drawing.drawn(sizes)
    assert drawn is not None
    for axis, scale, most in ((axes.xaxis, drawn.x, 8), (axes.yaxis, drawn.y, 6)):
        expected = drawing.ticks(scale, most)
        assert axis.get_majorticklocs().tolist() == [at for at, _ in expected]
        assert [text.get_text() for text in axis.get_ticklabels()] == [text for _, text in expected]
        assert not len(axis.get_minorticklocs())
    assert axes.get_xticklabels()[0].get_text() == "512 B"


@pytest.mark.parametrize(("log_scale", "scale"), [(None, "linear"), (True, "log")])
def test_only_times_take_another_scale(log_scale: bool | None, scale: str) -> None:
    near = Strand([1.0, 2.0], [Line("mean", [2e6, 3e6])])
    times, watts = panels(plot(near), plot(near, y=Axis("power", "W")), log_scale=log_scale)
    assert (times.get_yscale(), watts.get_yscale()) == (scale, "linear")


def test_many_points_have_no_markers_and_few_have() -> None:
    def marker(count: int) -> object:
        values = [float(number) for number in range(1, count + 1)]
        (axes,) = panels(plot(Strand(values, [Line("mean", values)])))
        return axes.lines[0].get_marker()

    assert (marker(60), marker(61)) == ("o", "None")


def test_marks_are_named() -> None:
    strand = Strand([0.0, 10.0], [Line("mean", [1.0, 2.0])])
    (axes,) = panels(plot(strand, marks=[(4.0, "measure")]))
    assert [text.get_text() for text in axes.texts] == ["measure"]
    assert xs(axes.lines[-1]) == [4, 4]


def test_panels_over_the_same_time_have_its_label_once() -> None:
    strand = Strand([0.0, 10.0], [Line("mean", [1.0, 2.0])])
    clock = Axis("time", quantity=Quantity.CLOCK)
    over_time = plot(strand, x=clock, group="time")
    first, second, third = panels(over_time, over_time, plot(strand))
    assert [axes.get_xlabel() for axes in (first, second, third)] == [
        "", "time (s)", "I/Os per second (1/s)",
    ]  # fmt: skip


def test_a_panel_is_as_high_as_its_legend() -> None:
    many = plot(Strand([1.0], [Line(f"line {number}", [1.0]) for number in range(40)]))
    low, high = (
        picture.draw([part], "title", [ORIGIN]).get_figheight() for part in (EVERYTHING, many)
    )
    assert high > 2 * low


def test_bars_are_stacked_and_none_is_shorter_than_nothing() -> None:
    bars = Bars("Power by state", "W", ["idle", "seek"], [("MD", [3.0, 1.5]), ("HC-SD", [4.0, -1])])
    (axes,) = panels(bars)
    assert axes.get_title(loc="left") == "Power by state"
    assert axes.get_xlabel() == "power (W)"
    assert Bars("", "% of time", [], []).label == "% of time"
    assert [text.get_text() for text in axes.get_yticklabels()] == ["MD", "HC-SD"]
    parts = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    spans = [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in parts]
    assert spans == [(0, 3), (0, 4), (3, 4.5), (4, 4)]
    # The first row is at the top.
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["idle", "seek"]


def test_plots_without_a_value_have_no_panel() -> None:
    empty = plot(Strand([1.0], [Line("mean", [None])]))
    assert len(panels(empty, EVERYTHING)) == 1
    with pytest.raises(UsageError, match=r"a\.json has no value to draw"):
        panels(empty)
