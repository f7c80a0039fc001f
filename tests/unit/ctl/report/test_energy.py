# SPDX-License-Identifier: GPL-2.0
"""Sheets of the energy tests."""

from __future__ import annotations

from pathlib import Path

import msgspec
from lib.ctl import report_files

from spekctl.documents import energy, spc2
from spekctl.report.energy import emerald_sheet, spc1e_sheet, spc2e_sheet
from spekctl.report.sheet import Sheet


def spc1e(folder: Path) -> energy.Spc1eReport:
    return energy.load_spc1e(report_files.make(folder, "spc1e"))


def spc2e(folder: Path) -> spc2.Spc2eReport:
    return spc2.load_energy(report_files.make(folder, "spc2e"))


def names_of(sheet: Sheet) -> list[str]:
    return [name for name, _ in sheet.figures]


def test_a_year_has_its_figures_levels_and_profiles(tmp_path: Path) -> None:
    sheet = spc1e_sheet("x", spc1e(tmp_path))
    assert names_of(sheet) == [
        *("nominal power, W", "nominal IOPS", "IOPS/W"),
        *("annual energy, kWh", "annual cost"),
    ]
    (plot,) = sheet.plots
    (strand,) = plot.strands
    assert list(strand.xs) == sorted(strand.xs)
    assert sheet.bars[0].title == "Nominal power of the usage profiles"


def test_what_is_not_known_of_a_year_is_left_out(tmp_path: Path) -> None:
    report = spc2e(tmp_path)
    assert report.annual_kwh is None
    sheet = spc2e_sheet("x", report)
    assert names_of(sheet) == ["nominal power, W", "nominal MB/s", "MB/s/W"]
    (plot,) = sheet.plots
    assert plot.x.unit == "MB/s"


def test_levels_without_power_are_not_drawn(tmp_path: Path) -> None:
    whole = spc1e(tmp_path)
    levels = [msgspec.structs.replace(level, watts=None) for level in whole.levels]
    sheet = spc1e_sheet(
        "x", msgspec.structs.replace(whole, levels=levels, profiles=[], composite=None)
    )
    assert sheet.plots == [] and sheet.bars == []
    assert "nominal power, W" not in names_of(sheet)


def test_a_missed_limit_is_not_good(tmp_path: Path) -> None:
    report = energy.load_emerald(report_files.make(tmp_path, "emerald"))
    sheet = emerald_sheet("x", msgspec.structs.replace(report, complete=True, passed=False))
    assert sheet.good is False and sheet.verdict == report.verdict
    assert {verdict.what for verdict in sheet.verdicts} == {phase.name for phase in report.phases}
