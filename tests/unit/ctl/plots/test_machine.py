# SPDX-License-Identifier: GPL-2.0
"""Pictures of the machine over time: which charts are drawn, and in which unit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lib.ctl import probes
from lib.ctl.fleets import three
from lib.ctl.plot_files import intervals, write_result
from lib.ctl.plot_seen import our_style, shows
from lib.ctl.report_files import written
from msgspec.structs import replace

from spekctl.documents import result, result_parts
from spekctl.errors import UsageError
from spekctl.fleet.merge import merge
from spekctl.plots import machine
from spekctl.report import runs

drawing = pytest.fixture(autouse=True)(our_style)


def test_a_panel_for_each_chart_but_those_of_cpus_and_threads(tmp_path: Path) -> None:
    figure = machine.draw(written(tmp_path / "m.json", probes.report()))
    panels = {axes.get_title(loc="left"): axes for axes in figure.axes}
    assert list(panels) == [
        "CPU time of all CPUs", "Context switches", "Interrupts", "Memory", "Swap", "Swapping",
        "Network interface eth0", "Disk sda", "Busy time of disk sda", "Power of rail psu/12V",
        "Power of rail psu/5V",
    ]  # fmt: skip
    swap = panels["Swap"]
    assert swap.get_ylabel() == "size (MiB)"
    assert [np.asarray(line.get_ydata()).tolist() for line in swap.lines] == [
        [1024.0] * 3,
        [4096.0] * 3,
    ]
    assert [np.asarray(line.get_xdata()).tolist() for line in swap.lines] == [[0.5, 1.5, 2.5]] * 2
    # Power below zero is not cut off.
    assert panels["Power of rail psu/5V"].get_ylim()[0] <= -1


def test_charts_that_do_not_fit_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "MOST_PANELS", 4)
    figure = machine.draw(written(tmp_path / "m.json", probes.report()))
    assert len(figure.axes) == 4
    assert figure.get_suptitle() == "The machine over time (4 of 11 charts)"


def test_a_result_has_the_samples_of_its_run(tmp_path: Path) -> None:
    path = write_result(tmp_path / "r.json", intervals())
    with pytest.raises(UsageError, match="has no samples: its run had no prober"):
        machine.draw(path)
    samples = probes.report()
    prober = result_parts.ProberResult(
        "0.1.0", 10**9, 3, 0, 0, 0, 0.0, 0, samples.start_ns, samples.end_ns, samples.tables,
        0, {}, {},
    )  # fmt: skip
    whole = replace(result.load_result(path), prober=prober)
    figure = machine.draw(written(path, whole))
    plots = [plot for plot in runs.sheet_of("r.json", whole).plots if plot.key[:7] == "prober-"]
    assert len(figure.axes) == 10 < len(plots)
    titles = {plot.title: plot for plot in plots}
    for axes in figure.axes:
        shows(axes, titles[axes.get_title(loc="left")])


def test_a_probe_without_samples_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "m.json", probes.report(0))
    with pytest.raises(UsageError, match="has no samples: its probe ended before the second row"):
        machine.draw(path)


def test_a_fleet_is_no_machine(tmp_path: Path) -> None:
    path = written(tmp_path / "f.json", merge(three()))
    with pytest.raises(UsageError, match="takes the result of one machine, not that of a fleet"):
        machine.draw(path)
