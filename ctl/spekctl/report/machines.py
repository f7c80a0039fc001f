# SPDX-License-Identifier: GPL-2.0-or-later
"""Plots of the samples of the prober, of a run or without one."""

from __future__ import annotations

from collections.abc import Sequence

from spekctl.documents.samples import Sampled, charts
from spekctl.report.sheet import Axis, Line, Plot, Strand

MIB = 1 << 20
_AXES = {
    "%": Axis("share of the time", "%"),
    "1/s": Axis("per second", "1/s"),
    "B": Axis("size", "MiB"),
    "B/s": Axis("data rate", "MiB/s"),
    "W": Axis("power", "W"),
}
_SCALES = {"B": MIB, "B/s": MIB}


def plots(
    samples: Sampled, zero: int, x: Axis, marks: Sequence[tuple[float, str]] = ()
) -> list[Plot]:
    """A plot for each chart, over seconds since @zero on axis @x; they share their cursor."""
    xs = [
        ((start + end) / 2 - zero) / 1e9
        for start, end in zip(samples.start_ns, samples.end_ns, strict=True)
    ]
    plotted = []
    for chart in charts(samples):
        scale = _SCALES.get(chart.unit, 1)
        lines = [
            Line(
                series.name,
                [None if value is None else value / scale for value in series.values],
                main=number == 0,
            )
            for number, series in enumerate(chart.series)
        ]
        strands = [Strand(xs, lines)]
        key = f"prober-{chart.key}"
        plotted.append(Plot(key, chart.title, x, _AXES[chart.unit], strands, "time", marks))
    return plotted
