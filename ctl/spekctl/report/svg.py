# SPDX-License-Identifier: GPL-2.0-or-later
"""Static pictures, for paper and for readers without scripts. page.css has their colours."""

from __future__ import annotations

import base64
import struct
import zlib
from bisect import bisect_right
from collections.abc import Sequence
from math import log10

from markupsafe import Markup, escape

from spekctl.report.drawing import STATIC_COLUMNS, Drawing, Scale, Series, number, thin, ticks
from spekctl.report.sheet import COLOURS, Bars, HeatMap
from spekctl.report.words import clean

WIDTH, HEIGHT = 760, 260
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 10, 40
# Points of a short series are marked, so that a single one can be seen.
_MARKED = 60
_BAR = 22
# Resolution of heat maps.
PIXELS, PIXELS_PER_OCTAVE = 720, 16
# Colours of counts, few to many: both backgrounds leave all of them visible.
_RAMP = ((49, 104, 142), (33, 145, 140), (53, 183, 121), (170, 204, 60), (253, 210, 37))


def plot(drawing: Drawing, title_id: str) -> Markup:
    """A plot with axes; its key is in the page."""
    out = [_open(HEIGHT, title_id), _frame(drawing.x, drawing.y)]
    for at, name in drawing.marks:
        x = _x(drawing.x, at)
        left = _share(drawing.x, at) < 0.8
        place = f'x="{x + 3:.1f}"' if left else f'x="{x - 3:.1f}" text-anchor="end"'
        out.append(
            f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
            f'<text {place} y="{TOP + 9}">{_text(name)}</text>'
        )
    for group in drawing.groups:
        out += [_line(drawing, series) for series in thin(group, STATIC_COLUMNS)]
    return Markup("".join([*out, "</svg>"]))


def bars(chart: Bars, title_id: str) -> Markup:
    """Stacked bars from 0."""
    height = TOP + _BAR * len(chart.rows) + BOTTOM
    # Room for the longest name.
    left = min(190, 16 + 7 * max((len(name) for name, _ in chart.rows), default=0))
    # A part below 0, as an idle rail may be, has no width.
    totals = [sum(max(0.0, value) for value in values) for _, values in chart.rows]
    most = max(totals, default=0.0) or 1.0
    scale = Scale(chart.unit, False, False, 0.0, most * 1.02)
    inner = WIDTH - left - RIGHT
    out = [_open(height, title_id)]
    for at, text in ticks(scale):
        x = left + inner * at / scale.high
        out.append(
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{height - BOTTOM}"/>'
            f'<text x="{x:.1f}" y="{height - BOTTOM + 14}" text-anchor="middle">'
            f"{_text(text)}</text>"
        )
    for row, (name, values) in enumerate(chart.rows):
        y = TOP + _BAR * row
        out.append(
            f'<text x="{left - 6}" y="{y + 15}" text-anchor="end">{_text(_cut(name, 30))}</text>'
        )
        x = float(left)
        for index, value in enumerate(values):
            width = inner * max(0.0, value) / scale.high
            label = f"{name}, {chart.parts[index]}: {number(value)} {chart.unit}"
            out.append(
                f'<rect class="f{index % COLOURS}" x="{x:.1f}" y="{y + 3}" width="{width:.1f}"'
                f' height="{_BAR - 6}"><title>{_text(label)}</title></rect>'
            )
            x += width
    out.append(
        f'<text class="axis" x="{left + inner / 2:.0f}" y="{height - 8}" text-anchor="middle">'
        f"{_text(chart.label)}</text></svg>"
    )
    return Markup("".join(out))


def heat_map(heat: HeatMap, unit: str, size: float, title_id: str) -> Markup:
    """Time across, value upwards on a logarithmic axis, the logarithm of the count as colour."""
    x = Scale("time since the start (s)", False, False, heat.edges_s[0], heat.edges_s[-1])
    low, high = heat.edges_ns[0] / size, heat.edges_ns[-1] / size
    y = Scale(f"response time ({unit})", True, False, low, high)
    inner_w, inner_h = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    image = base64.b64encode(_png(_raster(heat))).decode()
    return Markup(
        f"{_open(HEIGHT, title_id)}{_frame(x, y)}"
        f'<image class="heat" x="{LEFT}" y="{TOP}" width="{inner_w}" height="{inner_h}"'
        f' preserveAspectRatio="none" href="data:image/png;base64,{image}"/></svg>'
    )


def _open(height: int, title_id: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="{_text(title_id)}"'
        ' class="static">'
    )


def _frame(x: Scale, y: Scale) -> str:
    """Grid, ticks and the names of the axes."""
    out = []
    bottom = HEIGHT - BOTTOM
    for at, text in ticks(x):
        place = _x(x, at)
        out.append(
            f'<line class="grid" x1="{place:.1f}" x2="{place:.1f}" y1="{TOP}" y2="{bottom}"/>'
            f'<text x="{place:.1f}" y="{bottom + 14}" text-anchor="middle">{_text(text)}</text>'
        )
    for at, text in ticks(y, 6):
        place = _y(y, at)
        out.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{place:.1f}"'
            f' y2="{place:.1f}"/><text x="{LEFT - 5}" y="{place + 4:.1f}" text-anchor="end">'
            f"{_text(text)}</text>"
        )
    middle = (TOP + bottom) / 2
    out.append(
        f'<text class="axis" x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 8}"'
        f' text-anchor="middle">{_text(x.label)}</text><text class="axis"'
        f' transform="translate(12 {middle:.0f}) rotate(-90)" text-anchor="middle">'
        f"{_text(y.label)}</text>"
    )
    return "".join(out)


def _line(drawing: Drawing, series: Series) -> str:
    """A path with a gap where a value is missing."""
    path: list[str] = []
    dots: list[str] = []
    pen = "M"
    turn, colour = divmod(series.colour, COLOURS)
    name = f"s{colour}" if series.look != "limit" else "limit"
    dash = f" d{turn % 3}" if series.look == "line" else ""
    for x, y in zip(series.xs, series.ys, strict=True):
        if y is None:
            pen = "M"
            continue
        place = f"{_x(drawing.x, x):.1f} {_y(drawing.y, y):.1f}"
        path.append(f"{pen}{place}")
        pen = "L"
        if series.look == "points" or (len(series.xs) <= _MARKED and series.look == "line"):
            cx, cy = place.split()
            dots.append(f'<circle class="f{colour}" cx="{cx}" cy="{cy}" r="2.5"/>')
    line = f'<path class="{name}{dash}" d="{"".join(path)}"/>' if series.look != "points" else ""
    return line + "".join(dots)


def _x(scale: Scale, value: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * _share(scale, value)


def _y(scale: Scale, value: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * _share(scale, value)


def _share(scale: Scale, value: float) -> float:
    if scale.log:
        return (log10(value) - log10(scale.low)) / (log10(scale.high) - log10(scale.low))
    return (value - scale.low) / (scale.high - scale.low)


def _text(text: str) -> str:
    return str(escape(clean(text)))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _raster(heat: HeatMap) -> list[list[int]]:
    """The cells as equal parts of the axes: those of the time may be longer and shorter, and the
    others are not all of the same height on a logarithmic axis."""
    times, values = heat.edges_s, [log10(edge) for edge in heat.edges_ns]
    octaves = (values[-1] - values[0]) / log10(2)
    across = _cells(times, min(PIXELS, 4 * len(heat.counts)))
    up = _cells(values, max(1, round(PIXELS_PER_OCTAVE * octaves)))
    return [[heat.counts[column][row] for row in up] for column in across]


def _cells(edges: Sequence[float], parts: int) -> list[int]:
    """The cell in which the middle of each of @parts equal parts lies."""
    width = (edges[-1] - edges[0]) / parts
    middles = (edges[0] + (part + 0.5) * width for part in range(parts))
    return [min(max(bisect_right(edges, middle) - 1, 0), len(edges) - 2) for middle in middles]


def _png(columns: Sequence[Sequence[int]]) -> bytes:
    """An image with one pixel per cell; its colours are a palette, of which 0 is transparent."""
    height = len(columns[0])
    most = max(max(column) for column in columns)
    top = log10(most) if most > 1 else 1.0

    def index(count: int) -> int:
        return 0 if not count else 1 + min(254, int(254 * log10(count) / top))

    palette = bytearray(3)
    for step in range(255):
        place = step / 254 * (len(_RAMP) - 1)
        left = min(int(place), len(_RAMP) - 2)
        share = place - left
        palette += bytes(
            round(a + (b - a) * share) for a, b in zip(_RAMP[left], _RAMP[left + 1], strict=True)
        )
    rows = b"".join(
        b"\0" + bytes(index(column[row]) for column in columns) for row in reversed(range(height))
    )
    header = struct.pack(">IIBBBBB", len(columns), height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"PLTE", bytes(palette)), (b"tRNS", b"\0"))
    parts = [*chunks, (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
