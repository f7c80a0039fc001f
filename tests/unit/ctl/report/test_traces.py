# SPDX-License-Identifier: GPL-2.0
"""Traces, their twins and checks of data in a report."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from lib.ctl import report_files

from spekctl.documents import document
from spekctl.documents.trace import TraceFit, TraceInfo
from spekctl.documents.verify import VerifyReport
from spekctl.report import traces
from spekctl.trace import figures
from spekctl.trace.trace import open_trace


@pytest.fixture
def info(tmp_path: Path) -> TraceInfo:
    return document.read(report_files.trace_info(tmp_path / "i.json"), TraceInfo)


def test_sizes_are_shares_of_all_requests(info: TraceInfo) -> None:
    (bars,) = traces.info_sheet("i", info).bars
    assert sum(values[0] for _, values in bars.rows) == pytest.approx(100)
    assert bars.rows[0][0] == "512 B"


def test_burstiness_is_in_the_order_of_the_windows(info: TraceInfo) -> None:
    mixed = msgspec.structs.replace(info, dispersion=info.dispersion[::-1])
    (plot,) = traces.info_sheet("i", mixed).plots
    (strand,) = plot.strands
    assert list(strand.xs) == sorted(window.window_ns / 1e9 for window in info.dispersion)
    assert [line.look for line in strand.lines] == ["line", "limit"]
    short = msgspec.structs.replace(info, dispersion=info.dispersion[:1])
    assert traces.info_sheet("i", short).plots == []


def test_a_trace_of_nothing_has_a_sheet(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("at_ns,offset_bytes,bytes,op\nx,y,z,r\n")
    sheet = traces.info_sheet("t", figures.info(open_trace([path])))
    assert (sheet.bars, sheet.plots) == ([], [])
    assert dict(sheet.figures)["requests"] == "0"
    assert any("1 unreadable record" in remark for remark in sheet.remarks)


def test_notes_of_a_fit_come_before_defects_of_its_trace(tmp_path: Path) -> None:
    fit = document.read(report_files.trace_fit(tmp_path / "f.json"), TraceFit)
    sheet = traces.fit_sheet("f", fit)
    assert sheet.title == "twin.toml, made from t.csv"
    assert sheet.remarks[0] == "a note on the fit"
    assert "line 3: no number" in sheet.remarks[1]


def test_kinds_of_wrong_blocks_are_a_table_only_if_there_are_any(tmp_path: Path) -> None:
    verification = document.read(report_files.verification(tmp_path / "v.json"), VerifyReport)
    sheet = traces.verify_sheet("v", verification)
    assert [(grid.title, list(grid.rows)) for grid in sheet.grids] == [
        ("wrong blocks by kind", [("torn", "2")])
    ]
    assert not sheet.good
    counts = msgspec.structs.replace(verification.counts, by_kind={}, mismatches=0)
    fine = msgspec.structs.replace(
        verification, counts=counts, ok=True, text="all blocks are right"
    )
    assert traces.verify_sheet("v", fine).grids == []
