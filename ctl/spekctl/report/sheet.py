# SPDX-License-Identifier: GPL-2.0-or-later
"""The content of a report for one document: texts, tables and plots, before layout.

Values are in base units (ns, W, bytes per second); drawing.py chooses the unit of an axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

Look = Literal["line", "points", "limit"]
# A line whose colour has a number beyond these has the same colour again, dashed.
COLOURS = 8
# A direction has the same colour in every plot.
COLOUR_OF = {"all": 0, "read": 1, "write": 2}


class Quantity(Enum):
    """Kind of values on an axis, which decides its unit."""

    TIME = "time"  # ns, a unit that suits the values
    CLOCK = "clock"  # s since the start of the run, in s, min or h
    NINES = "nines"  # -log10(1 - share): 90 %, 99 % and 99.9 % are equally spaced
    SIZE = "size"  # bytes; powers of two are equally spaced
    WHOLE = "whole"  # numbers of things, which have no parts and no unit
    PLAIN = "plain"  # in the unit of the label


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis. @unit: of Quantity.PLAIN. @log: logarithmic; None: if values span a wide range."""

    label: str
    unit: str = ""
    quantity: Quantity = Quantity.PLAIN
    log: bool | None = False


@dataclass(frozen=True, slots=True)
class Line:
    """Values over the xs of its strand, None where a value is missing. @main: kept when several
    documents are laid over each other. @colour: the number of its colour; None: the lowest that no
    other line of the plot has."""

    name: str
    ys: Sequence[float | None]
    main: bool = False
    look: Look = "line"
    colour: int | None = None


@dataclass(frozen=True, slots=True)
class Strand:
    """Lines over the same ascending xs."""

    xs: Sequence[float]
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; its title may be empty. @numeric: per column, whether it holds numbers."""

    title: str
    columns: Sequence[str]
    numeric: Sequence[bool]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot. Those of several documents with the same @key are laid over each other; plots of the
    same @group share their cursor. @marks: named positions on the x axis. @numbers: the table
    behind it, unless it is made from the points."""

    key: str
    title: str
    x: Axis
    y: Axis
    strands: Sequence[Strand]
    group: str = ""
    marks: Sequence[tuple[float, str]] = ()
    note: str = ""
    numbers: Grid | None = None


# What bars of a unit show; others name it in their unit.
_QUANTITIES = {"W": "power", "kWh": "energy", "$": "cost", "MB": "size", "s": "time", "%": "share"}


@dataclass(frozen=True, slots=True)
class Bars:
    """Stacked bars: each row is a name and one value per part."""

    title: str
    unit: str
    parts: Sequence[str]
    rows: Sequence[tuple[str, Sequence[float]]]

    @property
    def label(self) -> str:
        """Of the axis: quantity and unit."""
        quantity = _QUANTITIES.get(self.unit)
        return f"{quantity} ({self.unit})" if quantity else self.unit


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Counts by time and value. @edges_s and @edges_ns bound the columns and rows of @counts, which
    has a list for each column, lowest values first."""

    title: str
    edges_s: Sequence[float]
    edges_ns: Sequence[float]
    counts: Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A limit, and whether it is met; None: it is not judged."""

    what: str
    text: str
    passed: bool | None


@dataclass(frozen=True, slots=True)
class Judged:
    """What verdicts are about: a heading, and what is said of one that is met and of others."""

    heading: str
    met: str
    missed: str


LIMITS = Judged("Limits", "kept", "missed")


@dataclass(slots=True)
class Sheet:
    """The content of a report for one document."""

    file: str
    kind: str
    title: str
    verdict: str = ""
    good: bool | None = None
    created: str = ""
    command: str = ""
    label: str = ""
    figures: list[tuple[str, str]] = field(default_factory=list)
    conditions: list[tuple[str, str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    judged: Judged = LIMITS
    plots: list[Plot] = field(default_factory=list)
    bars: list[Bars] = field(default_factory=list)
    heat_maps: list[HeatMap] = field(default_factory=list)
    is_compared: bool = False  # with a data sheet


def add_printed(sheet: Sheet, parts: Iterable[RenderableType], *, head: bool = True) -> None:
    """Add what the command prints of the document: its texts as notes, its tables as they are.

    A text before a table is its title. @head: the first text repeats the sheet's title and verdict.
    """
    from rich.table import Table

    known = {sheet.title, sheet.verdict, *sheet.remarks}
    title = ""
    for number, part in enumerate(parts):
        if isinstance(part, Table):
            if part.row_count:
                sheet.grids.append(grid_of(title, part))
            title = ""
            continue
        if title:
            sheet.notes.append(title)
            title = ""
        if head and number == 0:
            continue
        for line in str(part).splitlines():
            text = line.strip()
            if not text or text in known:
                continue
            if line.startswith(" "):
                sheet.notes.append(text)
            else:
                title = text
    if title:
        sheet.notes.append(title)


def grid_of(title: str, table: Table) -> Grid:
    """A table of rich as a table of a report."""
    columns = [str(column.header) for column in table.columns]
    cells = [[str(cell) for cell in column.cells] for column in table.columns]
    return Grid(
        title,
        columns,
        [column.justify == "right" for column in table.columns],
        list(zip(*cells, strict=True)),
    )


def plain_grid(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Grid:
    """A table whose first column is a name and whose others are numbers."""
    return Grid(title, columns, [index > 0 for index in range(len(columns))], rows)
