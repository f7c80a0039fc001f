# SPDX-License-Identifier: GPL-2.0-or-later
"""Sheets as one HTML file that needs no network and no other file, and can be read without
scripts. The plotting library is copied into it from an installed package."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spekctl import __version__
from spekctl.documents.document import timestamp
from spekctl.errors import UsageError
from spekctl.extras import install
from spekctl.report.sheet import Bars, Grid, HeatMap, Sheet, plain_grid

if TYPE_CHECKING:
    from markupsafe import Markup

    from spekctl.report.drawing import Drawing, Scale

_EXTRA = "report"
# The files of uPlot 1.6.31 as the package ships them, unchanged from its release.
_PACKAGE = "youplot"
_SCRIPT = ("vendor/uplot.iife.min.js",
           "2d27e8ad3d228164525ce213f9dc716f39b4e3aee0cc773fb3491c96cf4921a2")  # fmt: skip
_STYLE = ("vendor/uplot.min.css",
          "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04")  # fmt: skip
# Its first line is a comment with an address; uplot-notice.txt takes its place in the page.
_BANNER = "/*! "
# Digits of the numbers in the file: more than a screen can show.
_DIGITS = 5


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture with its key and the tables behind it."""

    id: str
    title: str
    picture: Markup
    key: Sequence[tuple[str, str, int]]  # name, look, number of the colour as in sheet.Line
    note: str
    tables: list[Grid]
    live: bool  # scripts draw it again


def require() -> None:
    """UsageError if a library that reports need is missing."""
    for name in ("jinja2", _PACKAGE):
        if importlib.util.find_spec(name) is None:
            raise UsageError(f"a report needs {name}: {install(_EXTRA)}")


def html(sheets: Sequence[Sheet], title: str = "") -> bytes:
    """The page."""
    import jinja2
    from markupsafe import Markup

    from spekctl.report import drawing, words

    require()
    drawings = [
        drawn for drawn in map(drawing.drawn, drawing.overlaid(sheets)) if drawn is not None
    ]
    styles = style()
    script = f"{plotting()}\n{_own('page.js')}"

    def finalize(value: Any) -> Any:
        plain = isinstance(value, str) and not isinstance(value, Markup)
        return words.clean(value) if plain else value

    environment = jinja2.Environment(
        autoescape=True,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(_own),
    )
    text = environment.get_template("page.html").render(
        title=title or _title(sheets),
        sheets=sheets,
        comparison=_comparison(sheets) if len(sheets) > 1 else None,
        plots=[_plot(number, drawn) for number, drawn in enumerate(drawings)],
        pictures=_pictures(sheets),
        created=timestamp(),
        version=__version__,
        style=Markup(styles),
        script=Markup(script),
        style_hash=_hash(styles),
        script_hash=_hash(script),
        data=Markup(words.data_text([_data(drawn) for drawn in drawings])),
    )
    return text.encode("utf-8")


def style() -> str:
    """Styles of plots, tables and text, also for other pages."""
    return f"{_vendored(*_STYLE)}\n{_own('page.css')}"


def plotting() -> str:
    """A script that defines uPlot and spekPlot, also for other pages."""
    return f"{_notice()}\n{_without_banner(_vendored(*_SCRIPT))}\n{_own('plot.js')}"


def _title(sheets: Sequence[Sheet]) -> str:
    if len(sheets) == 1:
        return sheets[0].title
    from spekctl.report.words import few

    return f"{len(sheets)} results compared: {few([sheet.label for sheet in sheets])}"


def _comparison(sheets: Sequence[Sheet]) -> Grid:
    """Figures of all sheets side by side."""
    names = list(dict.fromkeys(name for sheet in sheets for name, _ in sheet.figures))
    rows = [[name, *(dict(sheet.figures).get(name, "-") for sheet in sheets)] for name in names]
    return plain_grid("figures side by side", ["figure", *(sheet.label for sheet in sheets)], rows)


# --- pictures ------------------------------------------------------------------------------------


def _plot(number: int, drawn: Drawing) -> Shown:
    from spekctl.report import svg

    name = f"plot-{number}"
    key = [(series.name, series.look, series.colour) for series in drawn.series]
    return Shown(
        name, drawn.title, svg.plot(drawn, f"{name}-title"), key, drawn.note, drawn.tables, True
    )


def _pictures(sheets: Sequence[Sheet]) -> list[Shown]:
    """Heat maps and bars, which are the same with and without scripts."""
    pictures: list[Shown] = []
    for sheet in sheets:
        head = f"{sheet.label}: " if len(sheets) > 1 else ""
        for heat in sheet.heat_maps:
            pictures.append(_heat(f"picture-{len(pictures)}", head, heat))
        for bars in sheet.bars:
            pictures.append(_bars(f"picture-{len(pictures)}", head, bars))
    return pictures


def _heat(name: str, head: str, heat: HeatMap) -> Shown:
    from spekctl.report import svg

    typical = sqrt(heat.edges_ns[0] * heat.edges_ns[-1])
    units = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
    unit, size = next(((u, s) for u, s in units if typical >= s), ("ns", 1.0))
    note = (
        "Colour: I/Os that completed in this time and took this long, on a logarithmic scale from"
        f" dark blue (1) to yellow ({max(map(max, heat.counts)):,})."
    )
    picture = svg.heat_map(heat, unit, size, f"{name}-title")
    return Shown(
        name, f"{head}{heat.title}", picture, [], note, [_heat_grid(heat, unit, size)], False
    )


def _heat_grid(heat: HeatMap, unit: str, size: float) -> Grid:
    """The same in twelve parts of the time and one row for every power of two."""
    from spekctl.report.drawing import number

    parts, rows_each = 12, 4
    columns = len(heat.counts)
    bounds = [columns * part // parts for part in range(parts + 1)]
    bounds = sorted(set(bounds))
    names = [f"from {number(heat.edges_s[start])} s" for start in bounds[:-1]]
    rows = []
    height = len(heat.counts[0])
    for low in range(0, height, rows_each):
        high = min(low + rows_each, height)
        label = f"{number(heat.edges_ns[low] / size)} – {number(heat.edges_ns[high] / size)}"
        cells = [
            sum(sum(column[low:high]) for column in heat.counts[start:end])
            for start, end in pairwise(bounds)
        ]
        rows.append([label, *(f"{count:,}" for count in cells)])
    return plain_grid("I/Os by time and response time", [f"response time ({unit})", *names], rows)


def _bars(name: str, head: str, bars: Bars) -> Shown:
    from spekctl.report import svg
    from spekctl.report.drawing import number

    rows = [[label, *(number(value) for value in values)] for label, values in bars.rows]
    grid = plain_grid(bars.title, ["", *(f"{part} ({bars.unit})" for part in bars.parts)], rows)
    key = [(part, "bar", at) for at, part in enumerate(bars.parts)]
    picture = svg.bars(bars, f"{name}-title")
    return Shown(
        name, f"{head}{bars.title}", picture, key if len(key) > 1 else [], "", [grid], False
    )


# --- data for scripts ----------------------------------------------------------------------------


def _data(drawn: Drawing) -> dict[str, Any]:
    """Input of page.js: tables of columns that share an ascending x."""
    from spekctl.report.words import clean

    tables = []
    for group in drawn.groups:
        places = group[0].xs if group else []
        xs = [_short(x) for x in places]
        order = sorted(range(len(xs)), key=places.__getitem__)
        turns = order != list(range(len(xs)))
        tables.append(
            {
                "x": [xs[at] for at in order],
                "y": [[_short(series.ys[at]) for at in order] for series in group],
                # The line in its own order, where it turns back.
                "path": [
                    [xs, [_short(y) for y in series.ys]] if turns else None for series in group
                ],
            }
        )
    return {
        "x": _axis(drawn.x),
        "y": _axis(drawn.y),
        "tables": tables,
        "series": [
            {"name": clean(series.name), "look": series.look, "colour": series.colour}
            for series in drawn.series
        ],
        "marks": [[_short(at), clean(name)] for at, name in drawn.marks],
        "group": drawn.group,
    }


def _axis(scale: Scale) -> dict[str, Any]:
    return asdict(scale) | {"low": _short(scale.low), "high": _short(scale.high)}


def _short(value: float | None) -> float | int | None:
    """A number with as many digits as a screen can show."""
    if value is None:
        return None
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short == int(short) and abs(short) < 1e15 else short


# --- parts of the page ---------------------------------------------------------------------------


def _own(name: str) -> str:
    return resources.files("spekctl.report").joinpath(name).read_text(encoding="utf-8")


def _vendored(place: str, wanted: str) -> str:
    """A file of the library, which is the release that page.js was written for."""
    spec = importlib.util.find_spec(_PACKAGE)
    folders = spec.submodule_search_locations if spec is not None else None
    if not folders:
        raise UsageError(f"a report needs {_PACKAGE}: {install(_EXTRA)}")
    path = Path(folders[0]) / place
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}; {install(_EXTRA)}") from error
    if hashlib.sha256(data).hexdigest() != wanted:
        raise UsageError(
            f"{path} is not the file of uPlot that reports are made with; {install(_EXTRA)}"
        )
    return data.decode("utf-8")


def _without_banner(script: str) -> str:
    return script.partition("\n")[2] if script.startswith(_BANNER) else script


def _notice() -> str:
    return _own("uplot-notice.txt")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
    return f"sha256-{digest}"
