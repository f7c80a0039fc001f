# SPDX-License-Identifier: GPL-2.0
"""Sheets of per-I/O logs: the heat map has every I/O that completed, in its cell."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest
from lib.ctl.plot_files import DRAIN_NS, records, write_log
from lib.fakes.kernel import START_NS

from spekctl.report import logs, page
from spekctl.report.sheet import HeatMap


def heat_map(path: Path) -> HeatMap:
    (heat,) = logs.sheet_of(path).heat_maps
    return heat


def test_each_io_is_in_the_cell_of_its_time(tmp_path: Path) -> None:
    rows = records(5000)
    heat = heat_map(write_log(tmp_path / "t.parquet", rows))
    counts = np.array(heat.counts)
    assert counts.shape == (len(heat.edges_s) - 1, len(heat.edges_ns) - 1)
    times = (rows["done_ns"] - rows["at_ns"]).astype(float)[rows["error"] == 0]
    assert counts.sum() == len(times)
    expected, _ = np.histogram(times, heat.edges_ns)
    assert counts.sum(axis=0).tolist() == expected.tolist()
    # No row of the edge is empty.
    assert counts[:, 0].any() and counts[:, -1].any()


def test_a_log_that_was_closed_before_the_end_of_its_run_has_a_heat_map(tmp_path: Path) -> None:
    rows = records(5000)
    whole = heat_map(write_log(tmp_path / "whole.parquet", rows, ended_ns=DRAIN_NS))
    closed = heat_map(write_log(tmp_path / "closed.parquet", rows, ended_ns=0))
    assert closed == whole
    assert np.count_nonzero(np.sum(closed.counts, axis=1)) > 100


def test_rates_leave_out_the_drain(tmp_path: Path) -> None:
    path = write_log(tmp_path / "t.parquet", records(5000))
    plots = {plot.key: plot for plot in logs.sheet_of(path).plots}
    (strand,) = plots["course-iops"].strands
    drain_s = (DRAIN_NS - START_NS) / 1e9
    for line in strand.lines:
        for at, rate in zip(strand.xs, line.ys, strict=True):
            assert (rate is None) == (at > drain_s), (line.name, at)
    (times,) = plots["course-response"].strands
    assert times.xs == strand.xs and times.lines[0].ys[-1] is not None


def test_failed_ios_have_no_time(tmp_path: Path) -> None:
    rows = records(100)
    rows["error"] = 0
    rows["error"][:40] = 1
    assert np.sum(heat_map(write_log(tmp_path / "t.parquet", rows)).counts) == 60


@pytest.mark.parametrize(
    ("change", "good", "verdict", "remarks"),
    [
        ({}, True, "every I/O has its record", []),
        (
            {"lost": 1234, "complete": False},
            False,
            "I/Os are missing in it",
            ["1,234 I/Os have no record in the log"],
        ),
        (
            {"reason": "interrupted"},
            True,
            "every I/O has its record",
            ["the run ended early: interrupted"],
        ),
    ],
)
def test_what_is_missing_is_said(
    change: dict[str, object], good: bool, verdict: str, remarks: list[str], tmp_path: Path
) -> None:
    path = write_log(tmp_path / "t.parquet", records(100), **change)
    sheet = logs.sheet_of(path)
    assert (sheet.good, sheet.verdict, sheet.remarks) == (good, verdict, remarks)


@pytest.mark.parametrize("ramp", [False, True], ids=["none-succeeds", "only-in-the-ramp"])
def test_a_run_whose_measured_ios_all_fail_has_a_report(tmp_path: Path, ramp: bool) -> None:
    rows = records(500)
    rows["error"] = errno.EIO
    if ramp:
        rows["error"][rows["phase"] == 0] = 0
    sheet = logs.sheet_of(write_log(tmp_path / "t.parquet", rows))
    assert sheet.remarks == ["no I/O of the measure phase succeeded"]
    assert sheet.figures == [("I/Os logged", "500")] and sheet.grids == []
    assert [plot.key for plot in sheet.plots] == ["course-iops", "course-response"]
    assert len(sheet.heat_maps) == int(ramp)
    assert b"no I/O of the measure phase succeeded" in page.html([sheet])
