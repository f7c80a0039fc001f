# SPDX-License-Identifier: GPL-2.0
"""Energy reports as people read them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from lib.ctl import report_files
from lib.ctl.shown import contents, row_of
from lib.fakes.power import figures
from msgspec.structs import replace

from spekctl.documents import document
from spekctl.documents.benchmark import Site
from spekctl.documents.energy import DcseReport, EmeraldReport, Spc1eReport
from spekctl.documents.exact import figure
from spekctl.render import energy


@pytest.fixture
def spc1e(tmp_path: Path) -> Spc1eReport:
    return document.read(report_files.energy_spc1e(tmp_path / "e.json"), Spc1eReport)


def test_levels_and_profiles_have_a_row_each(spc1e: Spc1eReport) -> None:
    text = contents(spc1e)
    assert row_of(text, "idle") == ["idle", "0", "%", "-", "0.00", "6.000"]
    assert row_of(text, "heavy") == ["heavy", "80", "%", "40", "2,000.50", "9.500"]
    assert row_of(text, "composite")[-4:] == ["8.00", "900.00", "90.00", "30.00"]
    assert "rails" not in text


def test_measured_levels_have_their_rails(spc1e: Spc1eReport) -> None:
    heavy = replace(spc1e.levels[0], power=figures(9.5, 2.0))
    text = contents(replace(spc1e, levels=[heavy, spc1e.levels[1]]))
    _, _, rails = text.partition("rails, W")
    rows = [line.split() for line in rails.split("\n\n")[0].splitlines() if "heavy" in line]
    assert {row[0] for row in rows} == {"heavy"}
    assert (rows[-1][1], rows[-1][2]) == ("total", "9.500")


def test_a_site_is_told_as_far_as_it_is_known(spc1e: Spc1eReport) -> None:
    site = Site(volts="229.5", power_factor=None, first_celsius="21", last_celsius=None)
    assert "  mean RMS voltage 229.5 V, air intake at first 21 °C\n" in contents(
        replace(spc1e, site=site)
    )


def test_missed_phases_are_repeated_with_their_reason(tmp_path: Path) -> None:
    report = document.read(report_files.energy_emerald(tmp_path / "e.json"), EmeraldReport)
    text = contents(report)
    assert "  missed: random-read: 80 ms is too slow" in text
    assert row_of(text, "hot-band")[-1] == "kept"
    assert "raw capacity 10.000 GB" in text
    assert "raw capacity" not in contents(replace(report, raw_gigabytes=None))


def test_workers_of_a_fleet_are_a_sum_and_those_of_each_host(tmp_path: Path) -> None:
    report = document.read(report_files.energy_emerald(tmp_path / "e.json"), EmeraldReport)
    assert "  workers:" not in contents(report)
    both = {"a": 2, "b": 4}
    phases = [replace(phase, workers=6, workers_by_host=both) for phase in report.phases]
    text = contents(replace(report, phases=phases))
    assert row_of(text, "hot-band")[2] == "6"
    assert text.count("  workers: a 2, b 4") == 1
    phases[1] = replace(phases[1], workers=2, workers_by_host={"a": 2})
    text = contents(replace(report, phases=phases))
    assert "  workers of hot-band: a 2, b 4" in text
    assert "  workers of random-read: a 2\n" in text


def test_metrics_that_are_not_known_are_dashes(tmp_path: Path) -> None:
    report = document.read(report_files.energy_dcse(tmp_path / "e.json"), DcseReport)
    changed = replace(report, against={"workload": figure(Fraction(5, 2), 1)})
    text = contents(changed)
    assert row_of(text, "throughput") == ["throughput", "-", "MB/s/W", "-"]
    assert row_of(text, "workload") == ["workload", "125.00", "IOPS/W", "2.5", "%"]


def test_a_growth_has_its_sign(capsys: pytest.CaptureFixture[str]) -> None:
    hundred, fifty = figure(Fraction(100), 2), figure(Fraction(50), 2)
    energy.print_comparison(
        "tiers [old] beside new",
        [
            ("IOPS", "1/s", fifty, hundred, figure(Fraction(100), 1)),
            ("power", "W", hundred, fifty, figure(Fraction(-50), 1)),
            ("same", "W", hundred, hundred, figure(Fraction(0), 1)),
            ("cost", "", None, fifty, None),
        ],
    )
    text = capsys.readouterr().out
    assert text.startswith("tiers [old] beside new\n")
    assert row_of(text, "IOPS")[-2:] == ["+100.0", "%"]
    assert row_of(text, "power")[-2:] == ["-50.0", "%"]
    assert row_of(text, "same")[-2:] == ["0.0", "%"]
    assert row_of(text, "cost") == ["cost", "-", "50.00", "-"]
