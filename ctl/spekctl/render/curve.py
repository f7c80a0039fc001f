# SPDX-License-Identifier: GPL-2.0-or-later
"""A load curve as a table and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from spekctl import cells, units
from spekctl.documents.curve import Curve, Point, TimeFigures
from spekctl.documents.power import UNMETERED, gap_text
from spekctl.documents.result import NOTHING
from spekctl.render.console import print_parts

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

WIDTH = 130
_FIGURES = ("mean", "p50", "p90", "p99", "p999", "max")


def print_curve(curve: Curve, console: Console | None = None) -> None:
    """Print the table of a sweep."""
    print_parts(parts(curve), WIDTH, console)


def parts(curve: Curve) -> Iterator[RenderableType]:
    """A sweep as texts and a table."""
    from rich.text import Text

    label = f"{curve.workload} (SPC-1-like)" if curve.workload == "spc1" else curve.workload
    length = f", {units.format_duration(curve.time_ns)} each" if curve.time_ns else ""
    devices = " ".join(target.path for target in curve.targets)
    count = f"{len(curve.points)} point{'' if len(curve.points) == 1 else 's'}"
    head = f"{label} on {devices}: {count}{length}" if devices else f"{label}: nothing measured"
    yield Text(head, style="bold")
    if curve.within is not None:
        reached = curve.complete and curve.within.load is not None
        yield Text(f"  {curve.within.text}", style="green" if reached else "bold red")
    if curve.points:
        yield table_of(curve.points)
    yield from matrices(curve)
    for line in [*_notes(curve.points), *curve.remarks]:
        yield f"  {line}"


def table_of(points: Sequence[Point]) -> Table:
    """A row for each point."""
    from rich.table import Table as RichTable

    kind = points[0].load.kind
    fields = list(points[0].at)
    table = RichTable(box=None, padding=(0, 0, 0, 2), collapse_padding=True)
    names = [{"bsu": "BSU", "rate": "rate", "depth": "depth"}[kind]]
    names += ["offered"] if kind == "bsu" else []
    names += ["IOPS", "MiB/s", "mean", "p50", "p99", "p99.9", "service", "slip p99"]
    names += ["CPU", "switches/IO", "backlog", "stretch"]
    powered = any(point.power is not None for point in points)
    names += ["power", "mW/IOPS", "IOPS/W"] if powered else []
    for field in fields:
        table.add_column(field, justify="right", no_wrap=True)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for point in points:
        places = [point.at.get(field, "-") for field in fields]
        table.add_row(*places, *_cells(point), *(power_cells(point) if powered else ()))
    return table


def matrices(curve: Curve) -> Iterator[RenderableType]:
    """Rates and response times by two things that were varied: two fields, or a field and the
    load; of two fields, a pair of tables for each load."""
    if not curve.over or not curve.points:
        return
    first, *others = [over.field for over in curve.over]
    loads = list(dict.fromkeys(str(point.load) for point in curve.points))
    groups = [[point for point in curve.points if str(point.load) == load] for load in loads]
    if not others:
        groups = [curve.points] if len(loads) > 1 else []
    for group in groups:
        where = f", {group[0].load}" if others and len(loads) > 1 else ""
        yield ""
        yield f"  IOPS by {first} and {others[0] if others else 'load'}{where}"
        yield _matrix(first, others, group, lambda point: units.format_rate(point.iops))
        yield f"  mean response by {first} and {others[0] if others else 'load'}{where}"
        yield _matrix(first, others, group, lambda point: times(point.response, ("mean",))[0])


def _matrix(
    first: str, others: Sequence[str], points: Sequence[Point], text: Callable[[Point], str]
) -> Table:
    """A row for each value of @first, a column for each of the second field or for each load."""
    from rich.table import Table as RichTable

    def column_of(point: Point) -> str:
        return point.at[others[0]] if others else str(point.load)

    columns = list(dict.fromkeys(column_of(point) for point in points))
    table = RichTable(box=None, padding=(0, 0, 0, 2), collapse_padding=True)
    for name in (first, *columns):
        table.add_column(name, justify="right", no_wrap=True)
    cells = {(point.at[first], column_of(point)): text(point) for point in points}
    for value in dict.fromkeys(point.at[first] for point in points):
        table.add_row(value, *(cells.get((value, column), "-") for column in columns))
    return table


def _cells(point: Point) -> list[str]:
    cells = [f"{point.load.value:,g}" if point.load.value < 1e6 else f"{point.load.value:,.0f}"]
    if point.load.kind == "bsu":
        offered = point.offered_iops
        cells.append(units.format_rate(offered) if offered is not None else "-")
    return [
        *cells,
        units.format_rate(point.iops),
        f"{point.mib_s:,.1f}",
        *times(point.response, ("mean", "p50", "p99", "p999")),
        *times(point.service, ("mean",)),
        *times(point.slip, ("p99",)),
        f"{point.cpu:.0%}" if point.cpu is not None else "-",
        f"{point.switches_per_io:.3f}" if point.switches_per_io is not None else "-",
        f"{point.backlog:,}",
        f"{point.stretch:.2f}" if point.stretch is not None else "-",
    ]


def power_cells(point: Point) -> tuple[str, str, str]:
    """Power, and efficiency less the baseline."""
    if point.power is None:
        return "-", "-", "-"
    cost = point.efficiency
    return (
        units.format_watts(point.power.watts),
        f"{cost.mw_per_iops:.3g}" if cost is not None else "-",
        units.format_rate(cost.iops_per_w) if cost is not None else "-",
    )


def power_gaps(named: Iterable[tuple[str, Point]]) -> list[str]:
    """Why, or for how long of the measure phase, the power of points is not known; nothing where
    none was to be measured. A sentence that is true of all of them is said once."""
    points = list(named)
    said = [(name, _power_gap(point)) for name, point in points]
    texts = {text for _, text in said}
    if texts <= {"", *UNMETERED} and all(point.power is None for _, point in points):
        return []
    if len(texts) == 1 and len(said) > 1:
        return [text for text in texts if text]
    return [f"{name}: {text}" for name, text in said if text]


def _power_gap(point: Point) -> str:
    if point.power is None:
        return point.power_text
    return gap_text(point.power.gap_s, point.measured_ns / 1e9) if point.power.gap_s else ""


def times(figures: TimeFigures | None, names: tuple[str, ...]) -> list[str]:
    """The main figures of a point."""
    if figures is None:
        return ["-"] * len(names)
    return [units.format_ns(getattr(figures, name)) for name in names]


def _notes(points: Sequence[Point]) -> list[str]:
    """Notes on the source of CPU figures, and a line for each failed run or empty point."""
    notes = []
    if any(point.cpu_of == "workers" for point in points):
        notes.append("CPU and context switches are those of the workers alone")
    baselines = {point.power.baseline_w for point in points if point.power is not None}
    if any(baselines):
        less = " or ".join(units.format_watts(watts) for watts in sorted(baselines))
        notes.append(f"mW/IOPS and IOPS/W are of the power less a baseline of {less}")
    notes += power_gaps((point.name, point) for point in points)
    notes += [f"{point.name}: {point.beyond}" for point in points if point.beyond]
    failed = [
        point for point in points if not point.beyond and (not point.ok or point.limit_missed)
    ]
    notes += [f"{point.name}: {NOTHING}" for point in points if point.empty]
    return notes + [f"{point.name}: {point.text}" for point in failed]


def csv_of(curve: Curve) -> str:
    """A line for each point, times in ns, empty without a value. ok: the run came to its end
    without errors and I/Os completed; limit_missed: it did not reach the steady state asked, or a
    threshold ended it."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    rows = [_columns(point) for point in curve.points]
    if rows:
        writer.writerow(cells.row(rows[0]))
        writer.writerows(cells.row(row.values()) for row in rows)
    return stream.getvalue()


def _columns(point: Point) -> dict[str, object]:
    columns: dict[str, object] = {**point.at}
    columns |= {"load_kind": point.load.kind, "load": f"{point.load.value:.10g}"}
    plain = ("offered_iops", "measured_ns", "ios", "reads", "writes", "iops", "mib_s")
    columns |= {name: getattr(point, name) for name in plain}
    for kind in ("response", "service", "slip"):
        figures = getattr(point, kind)
        for name in _FIGURES:
            columns[f"{kind}_{name}_ns"] = getattr(figures, name) if figures is not None else None
    more = ("backlog", "left_over", "stretch", "cpu", "switches_per_io", "cpu_of", "errors")
    columns |= {name: getattr(point, name) for name in more}
    columns["ok"] = int(point.ok and not point.empty)
    columns["limit_missed"] = int(point.limit_missed)
    power, cost = point.power, point.efficiency
    columns["watts"] = power.watts if power is not None else None
    columns["joules"] = power.joules if power is not None else None
    columns["power_gap_s"] = power.gap_s if power is not None else None
    for name in ("iops_per_w", "mw_per_iops", "mib_s_per_w", "j_per_gib"):
        columns[name] = getattr(cost, name) if cost is not None else None
    return columns
