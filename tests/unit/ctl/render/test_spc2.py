# SPDX-License-Identifier: GPL-2.0
"""Reports of the SPC-2-like test, and of its energy, as text."""

from __future__ import annotations

from pathlib import Path

import msgspec
from lib.ctl.plot_files import facts, write_streams
from lib.ctl.shown import contents, row_of

from spekctl.documents import spc2
from spekctl.documents.exact import Figure
from spekctl.documents.spc2 import Composite, RateLevel, Spc2eReport


def figure(text: str) -> Figure:
    return Figure(text, text)


def report(tmp_path: Path, **changes: object) -> spc2.Report:
    loaded = spc2.load_report(write_streams(tmp_path / "report.json"))
    return msgspec.structs.replace(loaded, **changes)


def test_runs_and_search_have_tables_of_their_own(tmp_path: Path) -> None:
    text = contents(report(tmp_path))
    assert text.startswith(f"{spc2.NOTICE}: test of /dev/x\n  not complete\n")
    runs, searched = text.split("search for the streams of video on demand")
    assert runs.count("\nlfp-write-1024k") == 2 and searched.count("vod") == 1
    assert row_of(searched, "vod")[1] == "100"


def test_a_run_that_missed_its_limit_is_told_from_a_failed_one(tmp_path: Path) -> None:
    text = contents(report(tmp_path))
    lines = text.splitlines()
    assert [line.split()[-1] for line in lines if line.startswith("lfp-write")] == [
        "kept",
        "ERRORS",
    ]
    assert any(line.startswith("vod") and line.endswith("MISSED") for line in lines)
    assert "missed: vod-140: too many late" in text and "missed: lfp-write-1024k-8: fine" in text


def test_power_without_a_value_is_a_dash(tmp_path: Path) -> None:
    text = contents(report(tmp_path))
    late = next(line for line in text.splitlines() if line.endswith("MISSED"))
    assert late.split()[-3:] == ["-", "-", "MISSED"]


def test_the_mean_and_the_price_are_said(tmp_path: Path) -> None:
    parts = [
        Composite("lfp", 8, figure("1160.5"), None, None),
        Composite("spc2", None, figure("1234.56"), figure("10"), None),
    ]
    price = {"price": "1200", "price_per_mbps": figure("0.97")}
    priced = report(tmp_path, mbps=figure("1234.56"), composites=parts, **price)
    text = contents(priced)
    assert "SPC-2-like MBPS 1,234.56 MB/s" in text
    assert "price 1200, for each MB/s 0.97" in text
    assert row_of(text, "large") == ["large", "file", "processing", "8", "1,160.5", "-", "-"]
    assert "SPC-2-like MBPS 1,234.56 MB/s" in text
    assert "120 streams of video on demand" in text


def test_an_energy_report_without_power_has_its_levels_only() -> None:
    energy_report = Spc2eReport(
        notice=spc2.ENERGY_NOTICE,
        complete=False,
        passed=True,
        verdict="performance only: no power measured in heavy",
        levels=[
            RateLevel("heavy", "1000", None, [], None),
            RateLevel("idle", "0", "8.5", [], None),
        ],
        profiles=[],
        composite=None,
        annual_kwh=None,
        price="0.12",
        annual_cost=None,
        targets=[facts()],
        environment=None,
        remarks=["a remark"],
    )
    text = contents(energy_report)
    assert row_of(text, "heavy")[-3:] == ["1,000.00", "-", "-"]
    # No rate for each watt of an idle system.
    assert row_of(text, "idle")[-3:] == ["0.00", "8.500", "0.00"]
    assert "usage profiles" not in text and "annual" not in text and "  a remark" in text
    without = msgspec.structs.replace(energy_report, targets=[], source="levels.json")
    assert contents(without).startswith(f"{spc2.ENERGY_NOTICE}: levels.json\n")
