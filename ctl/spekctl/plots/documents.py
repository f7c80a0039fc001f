# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of documents whose plots report/ describes: which of them each picture has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from spekctl.errors import UsageError
from spekctl.plots import picture, source
from spekctl.plots.style import Origin
from spekctl.report import drawing, drives, read

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spekctl.documents.drive import DriveStudy
    from spekctl.report.sheet import Sheet


@dataclass(frozen=True, slots=True)
class Choice:
    """A picture. @keys: beginnings of the keys of its plots, in their order; @missing: what a file
    without any of them has not."""

    name: str
    keys: tuple[str, ...]
    missing: str


CURVE = Choice(
    "Load curve",
    ("curve-response", "curve-achieved", "curve-depth", "curve-power", "curve-cost", "over-"),
    "no point at which I/Os completed",
)
POWER = Choice("Power over load", ("curve-power", "curve-cost", "over-power"), "no power data")
STREAMS = Choice("Streams", ("streams-",), "no run in which I/Os completed")
ROUNDS = Choice(
    "Rounds",
    ("rounds-", "matrix-", "saturation-"),
    "no whole round and no write saturation",
)


def draw(
    choice: Choice,
    paths: Sequence[Path],
    title: str = "",
    labels: Sequence[str] = (),
    log_scale: bool | None = None,
) -> Figure:
    """The plots of one document, or of several laid over each other."""
    sheets = read.sheets(paths, labels)
    for path, sheet in zip(paths, sheets, strict=True):
        _keep(sheet, choice)
        if not sheet.plots:
            raise UsageError(f"{path} has {choice.missing}")
    plots = drawing.overlaid(sheets, whole=True)
    plots.sort(key=lambda plot: _place(plot.key, choice))
    origins = [source.document_origin(path) for path in paths]
    what = sorted({origin.what if len(paths) == 1 else origin.workload for origin in origins})
    heading = f"{choice.name}: {what[0]}" if len(what) == 1 else choice.name
    return picture.draw(plots, title or heading, origins, log_scale=log_scale)


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
