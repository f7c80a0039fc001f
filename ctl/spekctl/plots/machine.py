# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine over time, from the samples of the prober: a panel for each chart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents import document
from spekctl.documents.document import Kind
from spekctl.documents.per_host import refuse_fleet
from spekctl.documents.prober import ProberReport
from spekctl.documents.result import load_result
from spekctl.errors import UsageError
from spekctl.plots import picture, source
from spekctl.plots.style import Origin
from spekctl.report import probers, runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spekctl.documents.samples import Sampled

MOST_PANELS = 12
_PANEL_IN = 1.5
# Charts of every CPU and thread are for pages, which have room.
_DETAILS = ("prober-cpu-", "prober-task-", "prober-disk-ios-")


def draw(path: Path, title: str = "") -> Figure:
    """The charts of a result, or of `spekctl prober`, below each other as far as they fit."""
    kind = document.identify(path, [Kind.PROBER, Kind.RESULT], "the machine is drawn from")
    if kind is Kind.PROBER:
        report = document.read(path, ProberReport)
        every = units.format_duration(report.probe.interval_ns)
        details = f"a sample each {every}, {source.machine(report.environment)}"
        origin = Origin(path.name, "samples of the prober", (), details)
        samples: Sampled = report
        sheet = probers.prober_sheet(str(path), report)
    else:
        result = load_result(path)
        refuse_fleet(result, "the picture of a machine", "a report shows the hosts")
        if result.prober is None:
            raise UsageError(f"{path} has no samples: its run had no prober")
        origin = source.result_origin(path, result)
        samples = result.prober
        sheet = runs.sheet_of(str(path), result)
    if not samples.start_ns:
        raise UsageError(f"{path} has no samples: its probe ended before the second row")
    charts = [
        plot
        for plot in sheet.plots
        if plot.key.startswith("prober-") and not plot.key.startswith(_DETAILS)
    ]
    heading = title or "The machine over time"
    if len(charts) > MOST_PANELS:
        heading += f" ({MOST_PANELS} of {len(charts)} charts)"
    return picture.draw(charts[:MOST_PANELS], heading, [origin], panel_in=_PANEL_IN)
