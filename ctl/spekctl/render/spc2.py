# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of an SPC-2-like test as text on standard output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents.exact import Figure
from spekctl.documents.spc2 import Composite, RateLevel, RateProfile, Report, Run, Spc2eReport
from spekctl.render.benchmark import grouped, powered, site_lines, tested, use, watts_text
from spekctl.render.curve import times
from spekctl.render.tables import table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

WIDTH = 115
PARTS = {
    "lfp": "large file processing",
    "ldq": "large database query",
    "vod": "video on demand",
    "spc2": "SPC-2-like MBPS",
}


def parts(report: Report) -> Iterator[RenderableType]:
    """The report as texts and tables."""
    return tested(report, _body(report))


def _body(report: Report) -> Iterator[RenderableType]:
    if report.mbps is not None:
        yield f"  SPC-2-like MBPS {grouped(report.mbps)} MB/s"
    if report.price_per_mbps is not None:
        yield f"  price {report.price}, for each MB/s {grouped(report.price_per_mbps)}"
    if report.vod_streams is not None:
        yield f"  {report.vod_streams:,} streams of video on demand without an underrun"
    if report.composites:
        yield "\nparts, at the highest stream counts"
        yield composites_table(report.composites)
    measured = [run for run in report.runs if run.step.kind == "run"]
    if measured:
        yield "\nruns"
        yield _runs_table(measured)
    for run in measured:
        if not run.fine:
            yield f"  missed: {run.step.name}: {run.beyond or run.text}"
    searched = [run for run in report.runs if run.step.kind == "search"]
    if searched:
        yield "\nsearch for the streams of video on demand, in the order of measuring"
        yield _runs_table(searched)


def composites_table(rows: Sequence[Composite]) -> Table:
    """Parts and their mean."""
    powered = any(row.watts is not None for row in rows)
    names = ["part", "streams", "MB/s", *(("W", "MB/s/W") if powered else ())]
    grid = table(*names, right=names[1:])
    for row in rows:
        grid.add_row(
            PARTS[row.name],
            f"{row.streams:,}" if row.streams is not None else "-",
            grouped(row.mb_s),
            *((grouped(row.watts), grouped(row.mb_s_per_watt)) if powered else ()),
        )
    return grid


def _runs_table(runs: Sequence[Run]) -> Table:
    powered = any(run.watts is not None for run in runs)
    names = [
        *("test", "streams", "reads", "transfer", "depth", "MB/s", "each", "mean", "p99", "max"),
        *("late", *(("W", "MB/s/W") if powered else ()), "limit"),
    ]
    grid = table(*names, right=names[1:-1])
    for run in runs:
        step, rate = run.step, float(run.mb_s)
        watts = float(run.watts) if run.watts is not None else None
        grid.add_row(
            step.test,
            f"{step.streams:,}",
            f"{step.read_percent} %",
            units.format_bytes(step.transfer_bytes),
            f"{step.depth}" if step.depth is not None else "paced",
            f"{rate:,.2f}",
            f"{rate / step.streams:,.2f}",
            *times(run.response, ("mean", "p99", "max")),
            f"{run.late:,}" if run.late is not None else "-",
            *(
                (
                    watts_text(watts),
                    f"{rate / watts:,.2f}" if watts is not None else "-",
                )
                if powered
                else ()
            ),
            "kept" if run.fine else "MISSED" if run.beyond else "ERRORS",
        )
    return grid


# --- SPC-2/E-like --------------------------------------------------------------------------------


def energy_parts(report: Spc2eReport) -> Iterator[RenderableType]:
    """The report of the energy test as texts and tables."""
    return powered(report, _energy_body(report), "test of ")


def _energy_body(report: Spc2eReport) -> Iterator[RenderableType]:
    if report.levels:
        yield "\nlevels"
        yield _levels_table(report.levels)
    for level in report.levels:
        if level.composites:
            yield f"\nparts at {_LEVELS[level.name]}"
            yield composites_table(level.composites)
    yield from use(report, partial(table, right=_PROFILE), _PROFILE)
    yield from site_lines(report.site)


_LEVELS = {"heavy": "all streams", "moderate": "half of the streams", "idle": "no streams"}


def _levels_table(levels: Sequence[RateLevel]) -> Table:
    grid = table("level", "load", "MB/s", "W", "MB/s/W", right=("MB/s", "W", "MB/s/W"))
    for level in levels:
        rate, watts = float(level.mb_s), float(level.watts) if level.watts is not None else None
        grid.add_row(
            level.name,
            _LEVELS[level.name],
            f"{rate:,.2f}",
            watts_text(watts),
            f"{rate / watts:,.2f}" if watts else "-",
        )
    return grid


_PROFILE: dict[str, Callable[[RateProfile], Figure | None]] = {
    "W": lambda row: row.watts,
    "MB/s": lambda row: row.mb_s,
    "MB/s/W": lambda row: row.mb_s_per_watt,
    "BTU/h": lambda row: row.btu_per_hour,
}
