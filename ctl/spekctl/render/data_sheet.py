# SPDX-License-Identifier: GPL-2.0-or-later
"""A document's figures beside those of a data sheet."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from spekctl.documents import data_sheet
from spekctl.documents.curve import Curve
from spekctl.documents.data_sheet import Comparison, DataSheet
from spekctl.documents.result import Result
from spekctl.errors import UsageError
from spekctl.gate import paced

if TYPE_CHECKING:
    from rich.console import RenderableType


def parts(sheet: DataSheet, document: Any) -> list[RenderableType]:
    """A table of the figures that both have, under a heading; UsageError if there are none."""
    from spekctl.render import tables

    comparisons = data_sheet.compare(sheet, document)
    count = data_sheet.drives_of(sheet, document)
    numbers = ("data sheet", "measured", "difference")
    table = tables.table("figure", *numbers, right=numbers)
    for each in comparisons:
        table.add_row(
            each.what,
            each.text(each.stated),
            each.text(each.measured),
            f"{100 * each.difference:+.1f} %",
        )
    drives = "a drive" if count == 1 else f"{count} drives"
    sources = [f"  {source}" for source in sheet.sources]
    note = _note(sheet, document)
    head = f"against the data sheet of {sheet.title}, {drives}"
    return ["", head, table, *([note] if note else []), *sources]


def comparison_parts(
    sheet: DataSheet, a: Sequence[Result], b: Sequence[Result]
) -> list[RenderableType]:
    """A table of the stated figures, and beside each the median of either side's runs; UsageError
    if no run has measured one of them."""
    from spekctl.render import tables

    sides = [_by_figure(sheet, side) for side in (a, b)]
    figures = list(dict.fromkeys(figure for side in sides for figure in side))
    if not figures:
        raise UsageError(f"{sheet.file} has no figure that was measured here")
    numbers = ("data sheet", "A", "A off", "B", "B off")
    table = tables.table("figure", *numbers, right=numbers)
    for figure in figures:
        what, stated = figure
        cells: list[str] = []
        text = next(side[figure][0].text for side in sides if figure in side)
        for side in sides:
            rows = side.get(figure, [])
            # Runs without the figure do not count.
            measured = median(row.measured for row in rows) if rows else None
            cells += (
                ["-", "-"]
                if measured is None
                else [text(measured), f"{100 * (measured / stated - 1):+.1f} %"]
            )
        table.add_row(what, text(stated), *cells)
    sources = [f"  {source}" for source in sheet.sources]
    notes = dict.fromkeys(_note(sheet, result) for result in (*a, *b))
    return [
        *("", f"against the data sheet of {sheet.title}, medians of the runs", table),
        *filter(None, notes),
        *sources,
    ]


def _note(sheet: DataSheet, document: Any) -> str:
    """That rates are those of the load, if it set them; empty otherwise."""
    if not any(claim.iops or claim.mb_s for claim in sheet.claims):
        return ""
    reason = ""
    if isinstance(document, Result):
        reason = paced.set_by_load("iops", document)
    elif isinstance(document, Curve):
        best = max(document.points, key=lambda point: point.iops, default=None)
        if best is not None and best.load.kind != "depth" and best.kept_up:
            reason = f"the highest load, {best.load}, with which the devices kept up"
    return f"  IOPS and MB/s are set by {reason}: more may be possible" if reason else ""


def _by_figure(
    sheet: DataSheet, results: Sequence[Result]
) -> dict[tuple[str, float], list[Comparison]]:
    """Comparisons of the runs by name and stated figure, which grows with the number of drives."""
    rows: dict[tuple[str, float], list[Comparison]] = {}
    for result in results:
        for each in data_sheet.of_result(sheet, result):
            rows.setdefault((each.what, each.stated), []).append(each)
    return rows
