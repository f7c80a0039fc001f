# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents other than results as CSV: the points of a load curve, the samples of a prober."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spekctl.cells import row
from spekctl.documents import document, samples
from spekctl.documents.curve import Curve
from spekctl.documents.document import Document, Kind, kind_of
from spekctl.documents.prober import ProberReport
from spekctl.errors import UsageError
from spekctl.render.curve import csv_of


def samples_csv(report: ProberReport) -> str:
    """A line for each sample, with a column for each series of its charts, named by chart, series
    and unit. start_ns and end_ns count from the start of the probe. Empty: not known, or there are
    no samples."""
    series = [
        (f"{chart.key}.{line.name} ({chart.unit})", line.values)
        for chart in samples.charts(report)
        for line in chart.series
    ]
    if not report.start_ns or not series:
        return ""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(row(["start_ns", "end_ns", *(name for name, _ in series)]))
    zero_ns = report.probe.started.monotonic_ns
    for at, (start_ns, end_ns) in enumerate(zip(report.start_ns, report.end_ns, strict=True)):
        writer.writerow([start_ns - zero_ns, end_ns - zero_ns, *(line[at] for _, line in series)])
    return stream.getvalue()


_TABLES: dict[type[Document], Callable[[Any], str]] = {Curve: csv_of, ProberReport: samples_csv}
_MODELS: dict[Kind, type[Document]] = {kind_of(model): model for model in _TABLES}


def read(path: Path) -> bytes | None:
    """The table of a file of such a kind; None: spekctl has written it as another kind. UsageError:
    the table is empty, or the file is of no kind."""
    kind = document.identify(path, list(Kind), words=Kind.RESULT.text)
    if kind not in _MODELS:
        return None
    model = _MODELS[kind]
    text = _TABLES[model](document.read(path, model))
    if not text:
        raise UsageError(f"{path} is {kind.text} in which nothing was measured")
    return text.encode()
