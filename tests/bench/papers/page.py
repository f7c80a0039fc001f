# SPDX-License-Identifier: GPL-2.0
"""Claims as the first sheet of a page, and the summary of all papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.paper004.page import listed, not_held
from bench.papers.claims import VERDICTS, Claim, counts

from spekctl.report.page import html
from spekctl.report.sheet import Grid, Sheet


def words_of(claims: Sequence[Claim]) -> str:
    """The counts in a sentence."""
    counted = counts(claims)
    judged = sum(counted[word] for word in VERDICTS[:3])
    return (
        f"{counted['yes']} of {judged} judged claims hold, {counted['partly']} in part;"
        f" {counted['not judged']} are not judged"
    )


def sheet_of(number: str, title: str, claims: Sequence[Claim], remark: str = "") -> Sheet:
    """What a paper says beside what comes out here. @remark: on all of it."""
    text = words_of(claims)
    sheet = Sheet(
        f"paper-{number}", "paper beside measurements", f"Paper {number}: {title}",
        verdict=text, good=None, label=f"claims of paper {number}",
    )  # fmt: skip
    sheet.remarks = [*([remark] if remark else []), *not_held(claims)]
    sheet.grids = [listed("", claims)]
    return sheet


def page_of(number: str, title: str, sheets: Sequence[Sheet]) -> bytes:
    """The page of a paper."""
    return html(sheets, title=f"Paper {number}: {title}")


def summary_of(papers: Mapping[str, Sequence[Claim]], times: Grid | None = None) -> Sheet:
    """The verdicts of all papers, counted, and each of them. @times: of the parts drawn."""
    every = [claim for claims in papers.values() for claim in claims]
    sheet = Sheet(
        "papers", "papers beside measurements", "All papers", verdict=words_of(every), good=None,
        label="papers",
    )  # fmt: skip
    sheet.figures = [(f"paper {number}", words_of(claims)) for number, claims in papers.items()]
    sheet.grids = [
        counted(papers),
        *(listed(f"Paper {number}", claims) for number, claims in papers.items()),
        *([times] if times else []),
    ]
    return sheet


def text_of(grid: Grid) -> str:
    """A table for a terminal: numbers to the right."""
    rows = [list(grid.columns), *map(list, grid.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(grid.columns))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, grid.numeric, strict=True)
        ).rstrip()
        for row in rows
    )


def counted(papers: Mapping[str, Sequence[Claim]]) -> Grid:
    """How many claims of each paper have each verdict."""
    rows = [
        [number, *(str(count) for count in counts(claims).values()), str(len(claims))]
        for number, claims in papers.items()
    ]
    total = [sum(int(row[column]) for row in rows) for column in range(1, len(VERDICTS) + 2)]
    columns = ("paper", *VERDICTS, "claims")
    numeric = [number > 0 for number in range(len(columns))]
    return Grid("Verdicts", columns, numeric, [*rows, ["all", *map(str, total)]])
