# SPDX-License-Identifier: GPL-2.0
"""Plots of the prober's samples."""

from __future__ import annotations

from lib.ctl import probes

from spekctl.documents.samples import charts
from spekctl.report import machines
from spekctl.report.runs import TIME_AXIS


def test_each_chart_is_a_plot_over_the_middle_of_its_samples() -> None:
    report = probes.report()
    marks = [(1.0, "measure")]
    plots = machines.plots(report, report.start_ns[0], TIME_AXIS, marks)
    assert [plot.key for plot in plots] == [f"prober-{chart.key}" for chart in charts(report)]
    assert all(plot.group == "time" and plot.marks == marks for plot in plots)
    by_key = {plot.key: plot for plot in plots}
    (strand,) = by_key["prober-swap"].strands
    assert strand.xs == [0.5, 1.5, 2.5]
    assert {line.name: line.ys[0] for line in strand.lines} == {"used": 1024.0, "size": 4096.0}
    assert by_key["prober-swap"].y.unit == "MiB"
    assert by_key["prober-power-psu/12V"].y.unit == "W"
