# SPDX-License-Identifier: GPL-2.0
"""NVMe controllers in reports."""

from __future__ import annotations

from pathlib import Path

import msgspec
from lib.ctl.results import build
from lib.fakes.nvme_controller import FakeController, Machine, drive

from spekctl.report.nvme import add
from spekctl.report.runs import sheet_of
from spekctl.report.sheet import Sheet


def test_temperature_state_and_power_are_drawn_from_reading_to_reading(tmp_path: Path) -> None:
    told = drive(Machine(tmp_path), count=3)
    sheet = Sheet("", "", "")
    add(sheet, [told], told.samples[0].at_ns)
    by_key = {plot.key: plot for plot in sheet.plots}
    assert list(by_key) == ["nvme-temperature", "nvme-state", "nvme-power"]
    (strand,) = by_key["nvme-temperature"].strands
    assert strand.xs[0] == 0 and len(strand.xs) == 3
    (line,) = strand.lines
    assert line.name == "/dev/nvme0n1" and line.ys == [37.0] * 3
    assert by_key["nvme-power"].strands[0].lines[0].ys == [5.0] * 3


def test_what_was_not_reported_has_no_plot(tmp_path: Path) -> None:
    sheet = Sheet("", "", "")
    add(sheet, [drive(Machine(tmp_path), FakeController())], 0)
    assert [plot.key for plot in sheet.plots] == ["nvme-temperature", "nvme-state"]
    sheet = Sheet("", "", "")
    add(sheet, [drive(Machine(tmp_path / "second"), FakeController(), count=1)], 0)
    assert sheet.plots == []


def test_a_result_has_them_in_its_sheet(tmp_path: Path) -> None:
    told = msgspec.structs.replace(build(), nvme=[drive(Machine(tmp_path))])
    sheet = sheet_of("r.json", told)
    assert "nvme-temperature" in [plot.key for plot in sheet.plots]
    assert any("by themselves" in grid.title for grid in sheet.grids)
