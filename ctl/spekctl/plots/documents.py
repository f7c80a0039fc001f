# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of documents whose plots report/ describes: which of them each picture has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from spekctl.documents import document
from spekctl.documents.document import Kind
from spekctl.documents.result import load_result
from spekctl.errors import UsageError
from spekctl.plots import picture, source
from spekctl.plots.style import Origin
from spekctl.report import drawing, drives, read
from spekctl.report.sheet import Line, Plot, Strand

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spekctl.documents.drive import DriveStudy
    from spekctl.report.sheet import Sheet


@dataclass(frozen=True, slots=True)
class Choice:
    """A picture. @keys: prefixes of the keys of its plots, in their order; @missing: what a file
    without any of them lacks, for the refusal."""

    name: str
    keys: tuple[str, ...]
    missing: str


CURVE = Choice(
    "Load curve",
    ("curve-response", "curve-achieved", "curve-depth", "curve-power", "curve-cost", "over-"),
    "no point at which I/Os completed",
)
POWER = Choice("Power over load", ("curve-power", "curve-cost", "over-power"), "no power data")
DCSE = Choice("DCsE over time", ("dcse-",), "no DCsE over time")
STREAMS = Choice("Streams", ("streams-",), "no run in which I/Os completed")
ROUNDS = Choice(
    "Rounds",
    ("rounds-", "matrix-", "saturation-"),
    "no whole round and no write saturation",
)
CHOICES = {"curve": CURVE, "power": POWER, "dcse": DCSE, "streams": STREAMS, "rounds": ROUNDS}


def draw(
    choice: Choice,
    paths: Sequence[Path],
    title: str = "",
    labels: Sequence[str] = (),
    log_scale: bool | None = None,
) -> Figure:
    """The plots of one document, or of several laid over each other. In those of a load curve
    results of runs are lines across it: they have a rate and a response time, and no load."""
    sheets = read.sheets(paths, labels)
    levels: list[Level] = []
    curves: list[tuple[Path, Sheet]] = []
    for path, sheet in zip(paths, sheets, strict=True):
        if choice is CURVE and document.identify(path, read.KINDS) is Kind.RESULT:
            levels.append(_level(path, sheet.label))
        else:
            curves.append((path, sheet))
    if not curves:
        raise UsageError(
            "results are lines across a load curve: name a curve or a report of SPC-1 as well"
        )
    for path, sheet in curves:
        _keep(sheet, choice)
        if not sheet.plots:
            raise UsageError(f"{path} has {choice.missing}")
    plots = drawing.overlaid([sheet for _, sheet in curves], whole=True)
    plots = [_across(plot, levels) for plot in plots]
    plots.sort(key=lambda plot: _place(plot.key, choice))
    origins = [source.document_origin(path) for path in paths]
    what = sorted({origin.what if len(paths) == 1 else origin.workload for origin in origins})
    heading = f"{choice.name}: {what[0]}" if len(what) == 1 else choice.name
    return picture.draw(plots, title or heading, origins, log_scale=log_scale)


@dataclass(frozen=True, slots=True)
class Level:
    """The rate and response time of a run, whose load has no place on the axis of a curve."""

    label: str
    iops: float
    mean_ns: float | None


def _level(path: Path, label: str) -> Level:
    total = load_result(path).totals.all
    if not total.ios:
        raise UsageError(f"{path} has no I/O that completed in its measure phase")
    response = total.times.response
    return Level(label, total.iops, response.mean_ns if response is not None else None)


def _across(plot: Plot, levels: Sequence[Level]) -> Plot:
    """The plot with a line for each level, over all of its loads."""
    value = {
        "curve-achieved": lambda level: level.iops,
        "curve-depth": lambda level: level.iops,
        "curve-response": lambda level: level.mean_ns,
    }.get(plot.key)
    xs = [x for strand in plot.strands for x in strand.xs]
    if value is None or not xs or not levels:
        return plot
    ends = [min(xs), max(xs)]
    known = [(level.label, value(level)) for level in levels]
    lines = [Line(label, [y, y], look="limit") for label, y in known if y is not None]
    return replace(plot, strands=[*plot.strands, Strand(ends, lines)])


def _keep(sheet: Sheet, choice: Choice) -> None:
    sheet.plots = [plot for plot in sheet.plots if plot.key.startswith(choice.keys)]


def _place(key: str, choice: Choice) -> int:
    """Panels of a choice whose keys are whole are in the order of these."""
    return choice.keys.index(key) if key in choice.keys else 0


def draw_figure(study: DriveStudy, figure: int, file: str, title: str = "") -> Figure:
    """A figure of paper 003."""
    details = f"{study.requests:,} requests of each load, seed {study.seed}"
    origin = Origin(file, "study of paper 003", (study.model,), details)
    heading = title or f"Paper 003, figure {figure}: {drives.FIGURES[figure]}"
    return picture.draw(drives.figure_parts(study, figure), heading, [origin])
