# SPDX-License-Identifier: GPL-2.0-or-later
"""Common parts of plots: colours, units on axes, the footer, output files.

Figures are made without pyplot, so no display is needed. The same input gives the same bytes:
no date is written and the ids in an SVG are derived from a fixed salt.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spekctl import files, recorded
from spekctl.errors import UsageError
from spekctl.extras import install

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")
DPI = 150
WIDTH_IN = 10.0

# Okabe and Ito's colours, which differ for all kinds of colour vision; their yellow, too pale for
# points on white, is replaced by a dark grey-brown. Neighbours differ in lightness too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#D55E00", "#7A6A3A")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 1.5, 1, 1.5)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
READ, WRITE, ALL = COLOURS[0], COLOURS[6], COLOURS[4]
GREY = "#707070"
UNAUDITED = "SPC-1-like, unaudited"

_STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#d8d8d8",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "svg.hashsalt": "spek",
    # Names of files and titles are the user's: a $ is a $.
    "text.parse_math": False,
}
_NS_UNITS: tuple[tuple[str, float], ...] = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_FOOT_LINES = 6
_GLYPH = re.compile(r"Glyph \d+ .*missing from")


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of the numbers of a plot, shown in its footer."""

    file: str
    workload: str
    devices: tuple[str, ...]
    details: str = ""

    @property
    def what(self) -> str:
        """``spc1 on /dev/sdb``."""
        return f"{self.workload} on {', '.join(self.devices) or 'no device'}"


def require() -> None:
    """UsageError if the library that pictures need is missing."""
    try:
        import matplotlib.style  # noqa: F401
    except ImportError as error:
        raise UsageError(f"drawing needs matplotlib: {install('plot')}") from error


@contextlib.contextmanager
def ready() -> Iterator[None]:
    """Draw and save with this style, independent of the user's settings."""
    import matplotlib.style

    with matplotlib.style.context(["default", _STYLE]):
        yield


def new_figure(
    heights: Sequence[float], title: str, origins: Sequence[Origin], *, share_x: bool = True
) -> tuple[Figure, list[Axes]]:
    """A figure with panels of these heights (inches) below each other, a title and a foot."""
    from matplotlib.figure import Figure

    foot = _foot(origins)
    foot_in = 0.14 * len(foot) + 0.08
    height = sum(heights) + 0.4 + foot_in
    figure = Figure(figsize=(WIDTH_IN, height), layout="constrained")
    engine: Any = figure.get_layout_engine()
    engine.set(rect=(0, foot_in / height, 1, 1 - foot_in / height), hspace=0.03)
    axes = figure.subplots(
        len(heights), 1, sharex=share_x, squeeze=False, height_ratios=list(heights)
    )
    figure.suptitle(title, fontsize=12)
    figure.text(
        0.008, 0.06 / height, "\n".join(foot), fontsize=6.5, color=GREY, va="bottom", wrap=False
    )
    return figure, list(axes[:, 0])


def _foot(origins: Sequence[Origin]) -> list[str]:
    lines = []
    for origin in origins[:_FOOT_LINES]:
        details = f" | {origin.details}" if origin.details else ""
        lines.append(_cut(f"{origin.file}: {origin.what}{details}"))
    if len(origins) > _FOOT_LINES:
        lines.append(f"and {len(origins) - _FOOT_LINES} more files")
    if any(origin.workload == "spc1" for origin in origins):
        lines.append(UNAUDITED)
    return lines


def _cut(text: str, most: int = 200) -> str:
    """The text, shortened to the width of a plot."""
    return text if len(text) <= most else text[: most - 1] + "…"


def colours(count: int) -> list[Any]:
    """This number of different colours."""
    if count <= len(COLOURS):
        return list(COLOURS[:count])
    import matplotlib

    ramp = matplotlib.colormaps["viridis"]
    return [ramp(0.95 * index / (count - 1)) for index in range(count)]


def look(index: int) -> tuple[str, str]:
    """(colour, marker) of a line: no two of 64 have both in common."""
    turn, place = divmod(index, len(COLOURS))
    return COLOURS[place], MARKERS[(place + turn) % len(MARKERS)]


def ns_unit(typical_ns: float) -> tuple[str, float]:
    """(unit, ns of it) in which a time is at least 1, if there is one."""
    for name, size in _NS_UNITS:
        if typical_ns >= size:
            return name, size
    return "ns", 1.0


def clock_unit(span_s: float) -> tuple[str, float]:
    """(unit, seconds of it) for a time axis of that length."""
    if span_s > 3 * 3600:
        return "h", 3600.0
    return ("min", 60.0) if span_s > 600 else ("s", 1.0)


def byte_unit(count: float) -> tuple[str, float]:
    """(unit, its bytes) for an axis that ends at this number of bytes."""
    power = 0
    while power + 1 < len(_BYTE_UNITS) and count >= 1024 ** (power + 1):
        power += 1
    return _BYTE_UNITS[power], float(1024**power)


def plain_numbers(axis: Axis) -> None:
    """Ticks as 0.1, 20, 1,000: no powers of ten and no offsets."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))


def number(value: float) -> str:
    """A tick's number."""
    if abs(value) >= 1000 and value == round(value):
        return f"{value:,.0f}"
    return f"{value:.6g}"


def log_ticks(axes: Axes, which: str) -> None:
    """A logarithmic axis with enough ticks even for few decades."""
    from math import log10

    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    axis: Axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
    decades = log10(high / low)
    if decades < 0.7:
        axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    else:
        subs = (1.0, 2.0, 5.0) if decades <= 3.5 else (1.0,)
        axis.set_major_locator(LogLocator(subs=subs, numticks=24))
    axis.set_minor_formatter(NullFormatter())
    plain_numbers(axis)


def outputs(wanted: Sequence[Path], default_stem: str) -> list[Path]:
    """The files to write: as named; both formats for a name without suffix."""
    paths: list[Path] = []
    for path in wanted or [Path(default_stem)]:
        if path.name in ("", "..") or (wanted and os.path.isdir(path)):
            raise UsageError(f"'{path}' is a directory; --output takes the name of a file")
        suffix = path.suffix.lower().removeprefix(".") if wanted else ""
        if suffix in FORMATS:
            paths.append(path)
        elif suffix and path.suffix[1:].isalpha():
            raise UsageError(f"'{path}' ends in neither .png nor .svg, which are the formats")
        else:
            if wanted and os.path.exists(path) and not os.path.isfile(path):
                # Not /dev/stdout.png, which would be a file in /dev.
                files.check_writable(path, streams=False)
            paths += [path.with_name(f"{path.name}.{name}") for name in FORMATS]
    for path in paths:
        files.check_writable(path, streams=False)
    return list(dict.fromkeys(paths))


def save(figure: Figure, paths: Sequence[Path], dpi: int = DPI) -> None:
    """Write the figure into all files; a file is there completely or not at all."""
    _make_readable(figure)
    with _noting_missing_glyphs():
        settle(figure)
        pictures = {path: _render(figure, path.suffix.lower()[1:], dpi) for path in paths}
    for path, data in pictures.items():
        files.write(path, data)


@contextlib.contextmanager
def _noting_missing_glyphs() -> Iterator[None]:
    """One note on all characters that the font lacks; matplotlib warns of each, at each drawing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    missing = False
    for warning in caught:
        if _GLYPH.match(str(warning.message)):
            missing = True
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if missing:
        click.echo("spekctl: the font of plots lacks some characters; boxes replace them", err=True)


def _make_readable(figure: Figure) -> None:
    """Names of files may have bytes that are not text, which cannot be drawn."""
    from matplotlib.text import Text

    for label in figure.findobj(Text):
        assert isinstance(label, Text)
        text = recorded.text(label.get_text())
        if text != label.get_text():
            label.set_text(text)


def settle(figure: Figure) -> None:
    """Fix where panels are. The layout's solver leaves them different in the 15th digit each time,
    and names of clip paths in an SVG are made of all digits."""
    if figure.get_layout_engine() is None:
        return
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = axes.get_position().bounds
        axes.set_position((round(left, 6), round(bottom, 6), round(width, 6), round(height, 6)))


def _render(figure: Figure, kind: str, dpi: int) -> bytes:
    stream = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {}
    figure.savefig(stream, format=kind, dpi=dpi, metadata=metadata)
    return stream.getvalue()
