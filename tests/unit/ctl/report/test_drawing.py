# SPDX-License-Identifier: GPL-2.0
"""Plots as they are drawn: thinned without hiding extremes, units and ticks that suit."""

from __future__ import annotations

import base64
import random
import struct
import zlib

import pytest

from spekctl.report import drawing, svg
from spekctl.report.drawing import Scale, Series, number, percent_of_nines, thin, ticks
from spekctl.report.sheet import Axis, HeatMap, Line, Plot, Quantity, Sheet, Strand


def series(values: list[float | None], name: str = "a") -> Series:
    return Series(name, "line", 0, [float(at) for at in range(len(values))], values)


def test_no_extreme_is_hidden() -> None:
    chance = random.Random(1)
    values: list[float | None] = [chance.random() for _ in range(10_000)]
    values[1234], values[5678] = 99.0, -99.0
    values[8000:8100] = [None] * 100
    (thinned,) = thin([series(values)], 600)
    assert len(thinned.xs) == len(thinned.ys) <= 1200
    known = [y for y in thinned.ys if y is not None]
    assert max(known) == 99.0 and min(known) == -99.0
    assert None in thinned.ys
    assert thinned.xs == sorted(thinned.xs)
    assert (thinned.xs[0], thinned.xs[-1]) == (0.0, 9999.0)
    for at, value in ((1234, 99.0), (5678, -99.0)):
        assert abs(thinned.xs[thinned.ys.index(value)] - at) <= 10_000 / 600 + 1


def test_lines_of_a_strand_stay_aligned() -> None:
    first = series([float(at) for at in range(5000)])
    second = series([float(-at) for at in range(5000)], "b")
    thin_first, thin_second = thin([first, second], 100)
    assert thin_first.xs == thin_second.xs
    assert thin_first.ys == [-value for value in thin_second.ys if value is not None]


def test_few_values_are_left_alone() -> None:
    values = series([1.0, None, 3.0])
    assert thin([values], 600) == [values]
    assert thin([], 600) == []


def test_equal_xs_are_thinned_as_well() -> None:
    long = Series("a", "line", 0, [5.0] * 3000, [float(at) for at in range(3000)])
    (thinned,) = thin([long], 100)
    assert thinned.ys == [0.0, 2999.0]


def plot(xs: list[float], ys: list[float | None], x: Axis, y: Axis) -> Plot:
    return Plot("key", "title", x, y, [Strand(xs, [Line("a", ys, main=True)])])


@pytest.mark.parametrize(
    ("values", "label"),
    [
        ([200.0, 900.0], "t (ns)"),
        ([2e3, 9e5], "t (µs)"),
        ([2e6, 3e6], "t (ms)"),
        ([2e9, 3e9], "t (s)"),
    ],
)
def test_times_have_the_unit_that_suits_them(values: list[float], label: str) -> None:
    y = Axis("t", quantity=Quantity.TIME)
    drawn = drawing.drawn(plot([1, 2], list(values), Axis("x"), y))
    assert drawn is not None and drawn.y.label == label


@pytest.mark.parametrize(("span", "label"), [(60, "c (s)"), (1200, "c (min)"), (20_000, "c (h)")])
def test_a_clock_has_the_unit_that_suits_its_length(span: float, label: str) -> None:
    x = Axis("c", quantity=Quantity.CLOCK)
    drawn = drawing.drawn(plot([0, span], [1, 2], x, Axis("y")))
    assert drawn is not None and drawn.x.label == label


def test_a_wide_range_is_logarithmic_and_a_zero_has_no_place_in_it() -> None:
    y = Axis("y", log=None)
    drawn = drawing.drawn(plot([1, 2, 3], [0, 1, 1000], Axis("x"), y))
    assert drawn is not None and drawn.y.log
    assert drawn.series[0].ys == [None, 1, 1000]
    narrow = drawing.drawn(plot([1, 2], [1, 2], Axis("x"), y))
    assert narrow is not None and not narrow.y.log and narrow.y.low == 0


@pytest.mark.parametrize("ys", [[], [None, None]])
def test_nothing_is_not_drawn(ys: list[float | None]) -> None:
    xs = [float(x) for x in range(len(ys))]
    assert drawing.drawn(plot(xs, ys, Axis("x"), Axis("y"))) is None


def test_the_table_of_a_long_line_has_its_extremes() -> None:
    values: list[float | None] = [1.0] * 10_000
    values[7777] = 55.0
    xs = [float(x) for x in range(10_000)]
    drawn = drawing.drawn(plot(xs, values, Axis("x"), Axis("y")))
    assert drawn is not None
    (table,) = drawn.tables
    assert len(table.rows) == drawing.TABLE_ROWS
    assert "10,000 values in 60 rows" in table.title
    assert [row[1] for row in table.rows if row[1] != "1"] == ["1 – 55"]
    assert "Thinned" in drawn.note


def test_a_row_of_one_value_has_one_place() -> None:
    xs = [float(n) for n in range(drawing.TABLE_ROWS + 1)]
    drawn = drawing.drawn(plot(xs, list(xs), Axis("x"), Axis("y")))
    assert drawn is not None
    (table,) = drawn.tables
    assert [row[0] for row in table.rows] == [*map(str, range(59)), "59 – 60"]
    assert [row[1] for row in table.rows] == [row[0] for row in table.rows]


@pytest.mark.parametrize(
    ("scale", "texts"),
    [
        (Scale("", False, False, 0, 100), ["0", "20", "40", "60", "80", "100"]),
        (Scale("", False, False, 0, 0.9), ["0", "0.2", "0.4", "0.6", "0.8"]),
        (Scale("", True, False, 0.5, 20), ["0.5", "1", "2", "5", "10", "20"]),
        (Scale("", True, False, 1, 1e6), ["1", "10", "100", "1,000", "10,000", "100k",
                                          "1M"]),
        (Scale("", False, True, 0, 3.7), ["0 %", "90 %", "99 %", "99.9 %"]),
        (Scale("", True, False, 101, 103), ["101", "101.5", "102", "102.5", "103"]),
    ],
)  # fmt: skip
def test_ticks_are_round(scale: Scale, texts: list[str]) -> None:
    assert [text for _, text in ticks(scale, 6)] == texts


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (1234567.8, "1,234,568"), (12.3456, "12.35"), (0.00001, "1e-05"), (-2.5, "-2.5"),
     (999.99, "1000"), (0.1, "0.1")],
)  # fmt: skip
def test_numbers_have_four_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_percentages_have_as_many_nines_as_they_mean() -> None:
    assert [percent_of_nines(nines) for nines in (0, 1, 2, 5)] == [
        "0 %",
        "90 %",
        "99 %",
        "99.999 %",
    ]


def test_a_limit_of_several_results_is_drawn_once() -> None:
    def sheet(label: str, limit: float) -> Sheet:
        lines = [Line("mean", [1, 2], main=True), Line("p99", [3, 4]), Line("limit", [limit] * 2,
                 look="limit")]  # fmt: skip
        labelled = Sheet("f", "k", "t", label=label)
        labelled.plots = [Plot("key", "title", Axis("x"), Axis("y"), [Strand([1, 2], lines)])]
        return labelled

    (same,) = drawing.overlaid([sheet("a", 9), sheet("b", 9)])
    names = [line.name for strand in same.strands for line in strand.lines]
    assert names == ["a", "limit", "b"]
    (different,) = drawing.overlaid([sheet("a", 9), sheet("b", 8)])
    names = [line.name for strand in different.strands for line in strand.lines]
    assert names == ["a", "limit", "b", "b: limit"]


def test_cells_of_a_heat_map_are_as_wide_as_their_time() -> None:
    heat = HeatMap("heat", [0, 1, 4], [1.0, 2.0], [[1], [10]])
    text = str(svg.heat_map(heat, "ns", 1.0, "id"))
    png = base64.b64decode(text.partition("base64,")[2].partition('"')[0])
    width, height = struct.unpack(">II", png[16:24])
    data = png[png.index(b"IDAT") + 4 :]
    rows = zlib.decompressobj().decompress(data)
    # A quarter of the time has the colour of the fewest, the others that of the most.
    assert (width, height) == (8, 16)
    assert rows == (b"\0" + b"\1" * 2 + b"\xff" * 6) * 16


def test_nothing_lies_between_two_whole_numbers() -> None:
    whole = Scale("round", False, False, 1.0, 3.0, True)
    assert ticks(whole) == [(1.0, "1"), (2.0, "2"), (3.0, "3")]


def coloured(*lines: Line) -> list[tuple[str, int]]:
    plot = Plot("key", "title", Axis("x"), Axis("y"), [Strand([1, 2], lines)])
    drawn = drawing.drawn(plot)
    assert drawn is not None
    return [(line.name, line.colour) for line in drawn.series if line.look != "limit"]


def test_a_limit_takes_no_colour_from_lines() -> None:
    limit = Line("limit", [3, 3], look="limit")
    assert coloured(limit, Line("a", [1, 2]), limit, Line("b", [1, 2])) == [("a", 0), ("b", 1)]


def test_colours_that_are_given_are_not_given_again() -> None:
    lines = [Line("a", [1, 2]), Line("write", [1, 2], colour=0), Line("b", [1, 2])]
    assert coloured(*lines) == [("a", 1), ("write", 0), ("b", 2)]


def test_a_document_has_the_same_colour_in_every_plot() -> None:
    """Even where others have no such plot, or a limit beside their line."""

    def plot_of(key: str, *lines: Line) -> Plot:
        return Plot(key, key, Axis("x"), Axis("y"), [Strand([1, 2], lines)])

    main, limit = Line("all", [1, 2], main=True, colour=0), Line("offered", [3, 3], look="limit")
    first = Sheet("1", "k", "t", label="before", plots=[plot_of("rates", main, limit)])
    second = Sheet(
        "2", "k", "t", label="after", plots=[plot_of("power", main), plot_of("rates", main)]
    )
    colours = {}
    for plot in drawing.overlaid([first, second]):
        drawn = drawing.drawn(plot)
        assert drawn is not None
        colours[plot.key] = {line.name: line.colour for line in drawn.series if line.look == "line"}
    assert colours == {"rates": {"before": 0, "after": 1}, "power": {"after: all": 1}}


def test_whole_plots_keep_all_lines_and_a_document_its_colour() -> None:
    limit = Line("limit", [3, 3], look="limit")
    lines = [Line("mean", [1, 2], main=True, colour=0), Line("p99", [2, 4]), limit]
    sheets = [
        Sheet(label, "k", "t", label=label,
              plots=[Plot("key", "t", Axis("x"), Axis("y"), [Strand([1, 2], lines)])])
        for label in ("before", "after")
    ]  # fmt: skip
    (plot,) = drawing.overlaid(sheets, whole=True)
    drawn_lines = [(line.name, line.colour) for strand in plot.strands for line in strand.lines]
    assert drawn_lines == [
        ("before: mean", 0), ("before: p99", 8), ("limit", None),
        ("after: mean", 1), ("after: p99", 9),
    ]  # fmt: skip


def test_an_axis_of_sizes_has_powers_of_two() -> None:
    sizes = [512.0, 4096.0, float(1 << 20)]
    axis = Axis("block size", quantity=Quantity.SIZE, log=True)
    drawn = drawing.drawn(plot(sizes, [1, 2, 3], axis, Axis("y")))
    assert drawn is not None
    assert drawn.x.label == "block size"
    texts = [text for _, text in ticks(drawn.x)]
    assert texts == ["512 B", "2 KiB", "8 KiB", "32 KiB", "128 KiB", "512 KiB"]
    (table,) = drawn.tables
    assert [row[0] for row in table.rows] == ["512 B", "4 KiB", "1 MiB"]
