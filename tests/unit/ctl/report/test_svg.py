# SPDX-License-Identifier: GPL-2.0
"""Static pictures: well-formed, inside their frame, and the pixels of a heat map."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.report import drawing, svg
from spekctl.report.sheet import Axis, Bars, HeatMap, Line, Plot, Strand

VALUES = st.one_of(st.none(), st.floats(-1e12, 1e12), st.floats(1e-3, 1e12), st.just(0.0))


def picture(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def plotted(
    ys: list[float | None], xs: list[float] | None = None, log: bool | None = False, name: str = "a"
) -> ElementTree.Element | None:
    places = xs or [float(place) for place in range(len(ys))]
    lines = [Line(name, ys, main=True)]
    plot = Plot("k", "t", Axis("x"), Axis("y", log=log), [Strand(places, lines)], marks=[(0, name)])
    drawn = drawing.drawn(plot)
    return None if drawn is None else picture(svg.plot(drawn, "title"))


@given(st.lists(VALUES, min_size=1, max_size=30), st.sampled_from([True, False, None]))
def test_a_line_stays_in_its_frame(ys: list[float | None], log: bool | None) -> None:
    image = plotted(ys, log=log)
    if image is None:
        return
    for path in image.iter("path"):
        for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path.get("d") or ""):
            assert svg.LEFT - 0.1 <= float(x) <= svg.WIDTH - svg.RIGHT + 0.1
            assert svg.TOP - 0.1 <= float(y) <= svg.HEIGHT - svg.BOTTOM + 0.1


def test_a_missing_value_lifts_the_pen() -> None:
    image = plotted([1.0, 2.0, None, 3.0])
    assert image is not None
    (path,) = image.iter("path")
    assert re.sub(r"[^ML]", "", path.get("d") or "") == "MLM"
    assert len(list(image.iter("circle"))) == 3


def test_points_of_a_long_line_are_not_marked() -> None:
    image = plotted([float(at) for at in range(100)])
    assert image is not None
    assert list(image.iter("circle")) == []


@pytest.mark.parametrize("name", ['"><script>', "a&b", "x\x00\u202ey"])
def test_names_are_text(name: str) -> None:
    image = plotted([1.0, 2.0], name=name)
    assert image is not None
    assert {element.tag for element in image.iter()} <= {"svg", "line", "text", "path", "circle"}
    image_of_bars = picture(svg.bars(Bars("t", "W", [name], [(name, [1.0])]), name))
    assert {element.tag for element in image_of_bars.iter()} <= {
        "svg",
        "line",
        "text",
        "rect",
        "title",
    }


@given(st.lists(st.lists(st.floats(-10, 1000), min_size=2, max_size=2), max_size=5))
def test_bars_are_as_wide_as_their_values(rows: list[list[float]]) -> None:
    """One part below 0, an idle rail's, has no width."""
    bars = Bars("t", "W", ["a", "b"], [(f"row {n}", values) for n, values in enumerate(rows)])
    rects = list(picture(svg.bars(bars, "t")).iter("rect"))
    flat = [max(0.0, value) for values in rows for value in values]
    widths = [float(rect.get("width") or 0) for rect in rects]
    assert len(widths) == len(flat)
    most = max((sum(flat[at : at + 2]) for at in range(0, len(flat), 2)), default=0.0)
    for value, width in zip(flat, widths, strict=True):
        if most > 0.001:
            assert width == pytest.approx(value / most * widths_total(), abs=0.6)
        assert 0 <= width <= svg.WIDTH
    for rect in rects:
        end = float(rect.get("x") or 0) + float(rect.get("width") or 0)
        assert end <= svg.WIDTH - svg.RIGHT + 0.1


def widths_total() -> float:
    """Width of the longest bar beside names of that length."""
    (rect,) = picture(svg.bars(Bars("t", "W", ["a"], [("row 0", [1.0])]), "t")).iter("rect")
    return float(rect.get("width") or 0)


def pixels(heat: HeatMap) -> tuple[list[list[int]], bytes]:
    """Rows from the top, and the palette."""
    drawn = picture(svg.heat_map(heat, "ms", 1e6, "t"))
    (image,) = drawn.iter("image")
    data = base64.b64decode((image.get("href") or "").partition("base64,")[2])
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, place = {}, 8
    while place < len(data):
        (length,) = struct.unpack_from(">I", data, place)
        body = data[place + 4 : place + 8 + length]
        assert struct.unpack_from(">I", data, place + 8 + length) == (zlib.crc32(body),)
        chunks[body[:4]] = body[4:]
        place += 12 + length
    width, height = struct.unpack_from(">II", chunks[b"IHDR"])
    raw = zlib.decompress(chunks[b"IDAT"])
    assert len(raw) == height * (width + 1)
    rows = [list(raw[at + 1 : at + 1 + width]) for at in range(0, len(raw), width + 1)]
    return rows, chunks[b"PLTE"]


def test_a_heat_map_has_time_across_and_long_times_at_the_top() -> None:
    counts = [[0, 1], [9, 0], [0, 1000]]
    heat = HeatMap("t", [0, 1, 2, 3], [1e5, 1e6, 1e7], counts)
    drawn, palette = pixels(heat)
    # A cell is four pixels wide.
    rows = [drawn[0][::4], drawn[-1][::4]]
    assert [[value > 0 for value in row] for row in rows] == [
        [True, False, True],
        [False, True, False],
    ]
    assert 0 < rows[0][0] < rows[1][1] < rows[0][2] == 255
    assert len(palette) == 3 * 256


def test_a_heat_map_of_nothing_is_transparent() -> None:
    rows, _ = pixels(HeatMap("t", [0, 1], [1, 2], [[0]]))
    assert {value for row in rows for value in row} == {0}


def test_colours_begin_again_and_lines_are_dashed_then() -> None:
    lines = [Line(str(number), [1, 2], colour=number) for number in (7, 8, 9)]
    drawn = drawing.drawn(Plot("k", "t", Axis("x"), Axis("y"), [Strand([1, 2], lines)]))
    assert drawn is not None
    assert re.findall(r'<path class="(.*?)"', svg.plot(drawn, "t")) == ["s7 d0", "s0 d1", "s1 d1"]


@pytest.mark.parametrize(("name", "left"), [("idle", 44), ("a" * 12, 100), ("a" * 40, 190)])
def test_bars_begin_beside_the_longest_name(name: str, left: int) -> None:
    picture = svg.bars(Bars("t", "W", ["a"], [("x", [1.0]), (name, [1.0])]), "t")
    assert set(re.findall(r'<rect class="f0" x="([\d.]+)"', picture)) == {f"{left}.0"}
