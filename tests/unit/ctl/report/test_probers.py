# SPDX-License-Identifier: GPL-2.0
"""The sheet of a probe without a run."""

from __future__ import annotations

from lib.ctl import probes

from spekctl.report.probers import prober_sheet


def test_the_sheet_has_what_the_text_has_and_the_plots() -> None:
    sheet = prober_sheet("m.json", probes.report())
    assert sheet.title == "target, without a load of spek's"
    assert ("samples", "3") in sheet.figures and ("length", "0:03") in sheet.figures
    assert ("host", "target") in sheet.conditions
    assert [grid.title for grid in sheet.grids] == [
        "",
        "over time",
        "DCsE over time, sda by the power of psu/12V, psu/5V",
    ]
    assert {plot.key for plot in sheet.plots} >= {
        "prober-machine-cpu", "prober-machine-switches", "prober-machine-interrupts",
        "prober-memory", "prober-swap", "prober-net-eth0", "prober-disk-sda",
        "prober-power-psu/12V", "dcse-workload", "dcse-throughput", "dcse-power",
    }  # fmt: skip


def test_a_probe_without_samples_has_no_plots() -> None:
    sheet = prober_sheet("m.json", probes.report(0))
    assert sheet.plots == [] and sheet.grids == []
