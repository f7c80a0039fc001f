# SPDX-License-Identifier: GPL-2.0
"""The report of the SPC-1-like test."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.campaign_command import queue_kernel
from lib.ctl.command_line import Spekctl
from lib.ctl.spc1_command import SECOND, WRITE, report_of
from lib.fakes.queue_kernel import QueueKernel

from spekctl.errors import ExitCode

kernel = pytest.fixture(queue_kernel)


def test_a_whole_test_has_its_report(spekctl: Spekctl, kernel: QueueKernel, tmp_path: Path) -> None:
    outcome = spekctl(*WRITE, "--folder", "t")
    assert outcome.code == ExitCode.OK, outcome.out
    report = report_of(tmp_path / "t")
    assert report["notice"] == "SPC-1-like, unaudited"
    assert (report["passed"], report["complete"], report["level_bsu"]) == (True, True, 22)
    assert report["iops"] == pytest.approx(1100, rel=0.001)
    assert report["lrt_ns"] == pytest.approx(1e9 / (1163.3 - 100), rel=1e-6)
    assert [point["load"]["value"] for point in report["curve"]["points"]] == [
        *(2, 11, 17, 19, 20, 22),
    ]
    assert report["search"]["points"][-1]["load"]["value"] == 32
    assert report["capacity"]["used_share"] == pytest.approx(1.0, abs=1e-4)
    assert report["parameters"]["durations"]["sustain_ns"] == 4 * SECOND
    assert {check["kind"] for check in report["checks"]} == {
        *("response", "served", "errors", "intensity", "intensity-cov", "repeat-iops"),
        *("repeat-lrt", "capacity"),
    }
    full = next(phase for phase in report["phases"] if phase["step"]["kind"] == "iops")
    assert [asu["name"] for asu in full["asus"]] == ["asu1", "asu2", "asu3"]
    shares = [round(asu["share"], 3) for asu in full["asus"]]
    assert shares == [0.596, 0.123, 0.281]
    assert sum(stream["ios"] for stream in full["streams"]) == full["point"]["ios"]
    mean_ns = full["point"]["response"]["mean"]
    assert full["asus"][0]["response"]["mean"] == pytest.approx(mean_ns, rel=1e-6)
    assert kernel.deleted and kernel.closed


def test_a_device_that_tires_has_its_level_lowered_and_that_is_said(
    spekctl: Spekctl, kernel: QueueKernel
) -> None:
    kernel.disturb = lambda config, mean_s: (
        0.050 if config.time_ns == 4 * SECOND and config.streams[0].replicas > 20 else mean_s
    )
    outcome = spekctl(*WRITE, "--folder", "t")
    assert outcome.code == ExitCode.OK
    report = report_of(Path("t"))
    assert (report["level_bsu"], report["passed"]) == (20, True)
    said = (
        "the search found 22 BSU; the limit was missed at that level, so it was lowered once, by"
        " 5 % each, to 20 BSU"
    )
    assert said in report["remarks"] and said in outcome.out
    assert Path("t/11-sustain.json").exists() and Path("t/12-sustain-again-1.json").exists()


def test_a_device_that_cannot_even_1_bsu(spekctl: Spekctl, kernel: QueueKernel) -> None:
    kernel.capacity = 40
    outcome = spekctl(*WRITE, "--folder", "t")
    assert outcome.code == ExitCode.LIMIT_MISSED
    assert "failed: the device cannot sustain even 1 BSU" in outcome.out
    report = report_of(Path("t"))
    assert (report["level_bsu"], report["iops"], len(report["phases"])) == (None, None, 1)


def test_a_device_faster_than_allowed_is_remarked(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl(*WRITE, "--folder", "t", "--max-bsu", "10")
    assert outcome.code == ExitCode.OK
    assert "the device sustains --max-bsu 10 within the limit; its level is higher" in outcome.out
