# SPDX-License-Identifier: GPL-2.0-or-later
"""Plots ready for drawing: laid over each other, in suitable units, and thinned to the resolution
of a screen without hiding the lowest or the highest value."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise
from math import ceil, floor, isfinite, log2, log10, sqrt

from spekctl import units
from spekctl.report.sheet import (
    COLOURS,
    Axis,
    Grid,
    Line,
    Look,
    Plot,
    Quantity,
    Sheet,
    Strand,
    plain_grid,
)

# Columns that a series is thinned to: of the interactive plot, and of the static one.
COLUMNS = 600
STATIC_COLUMNS = 300
# Rows of the table behind a plot.
TABLE_ROWS = 60
_TIME_UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
# Logarithmic if the largest value is that many times the smallest.
_WIDE = 20.0

Values = list[float | None]


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis in its final unit."""

    label: str
    log: bool
    nines: bool
    low: float
    high: float
    whole: bool = False  # nothing lies between two whole numbers
    size: bool = False  # bytes, on an axis of powers of two


@dataclass(frozen=True, slots=True)
class Series:
    """A line; xs ascend unless it turns back, as a curve does beyond saturation."""

    name: str
    look: Look
    colour: int
    xs: list[float]
    ys: Values


@dataclass(frozen=True, slots=True)
class Drawing:
    """A plot in its final units. @groups: series that have the same xs."""

    title: str
    x: Scale
    y: Scale
    groups: list[list[Series]]
    group: str
    marks: list[tuple[float, str]]
    note: str
    tables: list[Grid]

    @property
    def series(self) -> list[Series]:
        """All of them, in the order of the key."""
        return [series for group in self.groups for series in group]


# --- laying plots over each other ----------------------------------------------------------------


def overlaid(sheets: Sequence[Sheet], *, whole: bool = False) -> list[Plot]:
    """The plots of all sheets; those with the same key as one. @whole: with all of their lines,
    not only the main ones."""
    by_key: dict[str, list[tuple[int, str, Plot]]] = {}
    for number, sheet in enumerate(sheets):
        for plot in sheet.plots:
            by_key.setdefault(plot.key, []).append((number, sheet.label, plot))
    if len(sheets) > 1:
        return [_over(labelled, whole) for labelled in by_key.values()]
    # A damaged document may name two plots alike.
    return [plot for labelled in by_key.values() for _, _, plot in labelled]


def _over(labelled: Sequence[tuple[int, str, Plot]], whole: bool = False) -> Plot:
    """One plot of several, which are given with number and label of their sheets; of each only its
    main lines unless @whole, and a limit that they share only once. A sheet has its own colour in
    all plots, unless it has several main lines or there are more sheets than colours."""
    few = labelled[-1][0] < COLOURS
    strands: list[Strand] = []
    limits: set[tuple[str, tuple[float | None, ...]]] = set()
    for number, label, plot in labelled:
        everything = [line for strand in plot.strands for line in strand.lines]
        chosen = [line for line in everything if line.main] or everything
        if whole:
            chosen = [line for line in everything if line.look != "limit"]
        for strand in plot.strands:
            lines = []
            for line in strand.lines:
                same = (line.name, tuple(dict.fromkeys(line.ys)))
                if line in chosen:
                    alone = len(chosen) == 1
                    name = label if alone and len(labelled) > 1 else f"{label}: {line.name}"
                    colour = number if alone else None
                    if whole and few:
                        colour = number + COLOURS * chosen.index(line)
                    lines.append(replace(line, name=name, colour=colour))
                elif line.look == "limit" and same not in limits:
                    known = any(name == line.name for name, _ in limits)
                    lines.append(replace(line, name=f"{label}: {line.name}") if known else line)
                    limits.add(same)
            if lines:
                strands.append(Strand(strand.xs, lines))
    _, _, first = labelled[0]
    same_marks = all(plot.marks == first.marks for _, _, plot in labelled)
    return replace(
        first,
        strands=strands,
        marks=first.marks if same_marks else (),
        note=first.note if all(plot.note == first.note for _, _, plot in labelled) else "",
        numbers=_side_by_side(labelled),
    )


def _side_by_side(labelled: Sequence[tuple[int, str, Plot]]) -> Grid | None:
    """The tables of plots that have one, with the same rows."""
    grids = [(label, plot.numbers) for _, label, plot in labelled if plot.numbers is not None]
    if len(grids) < len(labelled):
        return None
    first = grids[0][1]
    names = [first.columns[0]]
    rows = [[row[0]] for row in first.rows]
    for label, grid in grids:
        if [row[0] for row in grid.rows] != [row[0] for row in first.rows]:
            return None
        names += [f"{label}: {name}" for name in grid.columns[1:]]
        for joined, row in zip(rows, grid.rows, strict=True):
            joined += row[1:]
    return plain_grid(first.title, names, rows)


# --- units and thinning --------------------------------------------------------------------------


def drawn(plot: Plot) -> Drawing | None:
    """A plot in its final units; None if it has no value to draw."""
    xs = [x for strand in plot.strands for x in strand.xs]
    ys = [y for strand in plot.strands for line in strand.lines for y in line.ys if y is not None]
    if not xs or not ys:
        return None
    x_unit, x_size = _unit(plot.x, xs)
    y_unit, y_size = _unit(plot.y, ys)
    x_log, y_log = _is_log(plot.x, xs), _is_log(plot.y, ys)
    colours = _colours([line for strand in plot.strands for line in strand.lines])
    groups: list[list[Series]] = []
    tables = [plot.numbers] if plot.numbers is not None else []
    thinned = False
    for strand in plot.strands:
        places = [_shown(x / x_size, x_log) for x in strand.xs]
        keep = [index for index, place in enumerate(places) if place is not None]
        group = [
            Series(
                line.name,
                line.look,
                next(colours),
                [float(strand.xs[index]) / x_size for index in keep],
                [_shown(_scaled(line.ys[index], y_size), y_log) for index in keep],
            )
            for line in strand.lines
        ]
        if plot.numbers is None:
            tables.append(_table(plot, group, x_unit, y_unit))
        short = thin(group, COLUMNS)
        thinned = thinned or (bool(group) and len(short[0].xs) < len(group[0].xs))
        groups.append(short)
    every = [series for group in groups for series in group]
    shown = [y for series in every for y in series.ys if y is not None]
    if not shown:
        return None
    notes = [plot.note] if plot.note else []
    if thinned:
        notes.append("Thinned for drawing: the lowest and the highest value of each column stay.")
    return Drawing(
        plot.title,
        _scale(plot.x, x_unit, x_log, [x for series in every for x in series.xs]),
        _scale(plot.y, y_unit, y_log, shown),
        groups,
        plot.group,
        [(at / x_size, name) for at, name in plot.marks],
        " ".join(notes),
        tables,
    )


def _colours(lines: Sequence[Line]) -> Iterator[int]:
    """The number of the colour of each line; limits have a colour of their own and no number."""
    taken = {line.colour for line in lines}
    free = (number for number in count() if number not in taken)
    for line in lines:
        if line.look == "limit":
            yield 0
        else:
            yield next(free) if line.colour is None else line.colour


def thin(group: Sequence[Series], columns: int) -> list[Series]:
    """Series over the same xs with at most two values per column: its lowest and its highest, in
    the order in which they occur. Series that turn back are left whole."""
    if not group:
        return []
    xs = group[0].xs
    if len(xs) <= 2 * columns or any(b < a for a, b in pairwise(xs)):
        return list(group)
    width = (xs[-1] - xs[0]) / columns or 1.0
    bounds = [0]
    for column in range(1, columns):
        bounds.append(bisect_right(xs, xs[0] + column * width))
    bounds.append(len(xs))
    spans = [(start, end) for start, end in pairwise(bounds) if end > start]
    places = []
    for start, end in spans:
        places += [xs[start], xs[end - 1]] if end - start > 1 else [xs[start]]
    thinned = []
    for series in group:
        values: Values = []
        for start, end in spans:
            values += _extremes(series.ys[start:end])
        thinned.append(Series(series.name, series.look, series.colour, places, values))
    return thinned


def _extremes(values: Values) -> Values:
    """The lowest and the highest of values in their order; one value alone."""
    if len(values) == 1:
        return values
    known = [(value, index) for index, value in enumerate(values) if value is not None]
    if not known:
        return [None, None]
    (low, low_at), (high, high_at) = min(known), max(known)
    return [low, high] if low_at <= high_at else [high, low]


def _scaled(value: float | None, size: float) -> float | None:
    return None if value is None else value / size


def _shown(value: float | None, log: bool) -> float | None:
    """The value, unless it has no place on the axis."""
    if value is None or not isfinite(value) or (log and value <= 0):
        return None
    return value


def _unit(axis: Axis, values: Sequence[float]) -> tuple[str, float]:
    """(unit, its size in the unit of the values)."""
    if axis.quantity is Quantity.TIME:
        known = [value for value in values if value > 0]
        typical = sqrt(min(known) * max(known)) if known else 1.0
        return next(((name, size) for name, size in _TIME_UNITS if typical >= size), ("ns", 1.0))
    if axis.quantity is Quantity.CLOCK:
        span = max(values) - min(values)
        if span > 3 * 3600:
            return "h", 3600.0
        return ("min", 60.0) if span > 600 else ("s", 1.0)
    return ("%" if axis.quantity is Quantity.NINES else axis.unit), 1.0


def _is_log(axis: Axis, values: Sequence[float]) -> bool:
    known = [value for value in values if value > 0]
    if axis.log is None:
        return bool(known) and max(known) > _WIDE * min(known)
    return axis.log and bool(known)


def _scale(axis: Axis, unit: str, log: bool, values: Sequence[float]) -> Scale:
    """Range of an axis: from 0 where it is linear and nothing is below."""
    low, high = min(values), max(values)
    nines = axis.quantity is Quantity.NINES
    if log:
        low, high = (low / 1.1, high * 1.1) if high > low else (low / 2, high * 2)
    elif nines:
        low = 0.0
    elif axis.quantity is not Quantity.CLOCK:
        low = min(0.0, low)
        high = high + 0.08 * (high - low) if high > low else low + 1.0
    if high <= low:
        high = low + 1.0
    label = f"{axis.label} ({unit})" if unit else axis.label
    whole, size = axis.quantity is Quantity.WHOLE, axis.quantity is Quantity.SIZE
    return Scale(label, log, nines, low, high, whole, size)


# --- numbers -------------------------------------------------------------------------------------


def number(value: float) -> str:
    """A number for people: four significant digits, thousands grouped."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) < 1e-4:
        return f"{value:.3g}"
    text = f"{value:.{max(0, 3 - floor(log10(abs(value))))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def tick(value: float) -> str:
    """A number beside an axis, where there is room for few characters."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= max(size, 1e5):
            return f"{value / size:.4g}{unit}"
    return number(value)


def percent_of_nines(nines: float) -> str:
    """90, 99, 99.9: as many digits as there are nines."""
    share = 100 * (1 - 10.0**-nines)
    text = f"{share:.{max(1, floor(nines) + 1)}f}"
    return f"{text.rstrip('0').rstrip('.')} %"


def ticks(scale: Scale, most: int = 8) -> list[tuple[float, str]]:
    """Positions and texts of an axis."""
    if scale.nines:
        return [(float(nines), percent_of_nines(nines)) for nines in range(floor(scale.high) + 1)]
    if scale.size:
        powers = range(ceil(log2(scale.low)), floor(log2(scale.high)) + 1)
        every = ceil(len(powers) / most)
        return [(2.0**power, units.format_bytes(2**power)) for power in powers[::every]]
    if scale.log:
        first, last = floor(log10(scale.low)), floor(log10(scale.high)) + 1
        steps = (1,) if last - first > 4 else (1, 2, 5)
        every = max(1, (last - first) // most) if steps == (1,) else 1
        candidates = [
            step * 10.0**power for power in range(first, last + 1, every) for step in steps
        ]
        inside = [position for position in candidates if scale.low <= position <= scale.high]
        if len(inside) > 1:
            return [(position, tick(position)) for position in inside]
    rough = (scale.high - scale.low) / most
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    step = max(1.0, step) if scale.whole else step
    first = floor(scale.low / step)
    return [
        (value, tick(value))
        for value in (round(index * step, 12) for index in range(first, first + most + 3))
        if scale.low <= value <= scale.high
    ]


def _table(plot: Plot, group: Sequence[Series], x_unit: str, y_unit: str) -> Grid:
    """The numbers of a strand; of a long one the lowest and the highest value in equal parts."""
    length = len(group[0].xs) if group else 0
    nines = plot.x.quantity is Quantity.NINES
    columns = [f"{plot.x.label} ({x_unit})" if x_unit else plot.x.label]
    columns += [f"{series.name} ({y_unit})" if y_unit else series.name for series in group]
    title = plot.title

    def place(value: float) -> str:
        if plot.x.quantity is Quantity.SIZE:
            return units.format_bytes(round(value))
        return percent_of_nines(value) if nines else number(value)

    if length <= TABLE_ROWS:
        rows = [
            [place(group[0].xs[at]), *(_value(series.ys[at]) for series in group)]
            for at in range(length)
        ]
        return plain_grid(title, columns, rows)
    bounds = [length * part // TABLE_ROWS for part in range(TABLE_ROWS + 1)]
    rows = []
    for start, end in pairwise(bounds):
        xs = group[0].xs[start:end]
        at = f"{place(xs[0])} – {place(xs[-1])}" if len(xs) > 1 else place(xs[0])
        rows.append([at, *(_span(series.ys[start:end]) for series in group)])
    title = f"{plot.title}: {length:,} values in {TABLE_ROWS} rows, each from lowest to highest"
    return plain_grid(title, columns, rows)


def _value(value: float | None) -> str:
    return "-" if value is None else number(value)


def _span(values: Values) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    low, high = number(min(known)), number(max(known))
    return low if low == high else f"{low} – {high}"
