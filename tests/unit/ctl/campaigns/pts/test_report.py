# SPDX-License-Identifier: GPL-2.0
"""The report of a PTS-like test."""

from __future__ import annotations

import pytest
from lib.ctl import frozen
from lib.ctl.command_line import Spekctl
from lib.ctl.pts_command import SETTLING, Settling, call, report_of, settling_kernel

from spekctl.campaigns.pts import report
from spekctl.documents.pts import Step
from spekctl.errors import ExitCode

kernel = pytest.fixture(settling_kernel)


def test_a_whole_test_has_its_report(spekctl: Spekctl, kernel: Settling) -> None:
    outcome = call(spekctl)
    assert outcome.code == ExitCode.OK, outcome.out + outcome.err
    report = report_of()
    assert report["notice"] == "PTS-like, unaudited"
    assert (report["passed"], report["complete"]) == (True, True)
    tests = {test["name"]: test for test in report["tests"]}
    assert list(tests) == ["iops", "throughput-1024k", "latency"]
    iops = tests["iops"]
    assert [round_["values"][1] for round_ in iops["rounds"]] == SETTLING
    assert iops["steady"] and iops["window"]["values"] == SETTLING[5:]
    # Sequential writes do not settle here: they are steady from the start.
    assert len(tests["throughput-1024k"]["rounds"]) == 5
    assert [sample["iops"] for sample in report["saturation"]] == SETTLING[:1] * 4
    assert [sample["written_bytes"] for sample in report["saturation"]] == [
        4096 * 400 * count for count in (1, 2, 3, 4)
    ]
    assert kernel.deleted and kernel.closed


def test_steady_state_that_is_not_reached_is_code_7(spekctl: Spekctl, kernel: Settling) -> None:
    kernel.series = [100, 200] * 20
    outcome = call(spekctl, "--tests", "iops", "--rounds", "6")
    assert outcome.code == ExitCode.LIMIT_MISSED
    report = report_of()
    assert report["verdict"] == "missed: iops did not reach steady state"
    assert len(report["tests"][0]["rounds"]) == 6 and report["complete"]
    assert ", which are not steady" in outcome.out and "MISSED" in outcome.out


def test_a_run_that_is_stuck_in_the_end_is_as_slow_as_that() -> None:
    """Its depth is 1, so the I/O that is never answered is the only trace of it."""
    step = Step("round", "latency", 1, 100, 4096)

    def times(age_ns: int) -> tuple[float | None, int | None]:
        contents = frozen.result([age_ns], ios=999, seconds=60, silent=30)
        run = report.run_of(step, contents, None)
        return run.mean_ns, run.max_ns

    assert times(30 * 10**9) == ((999 * 5e6 + 30e9) / 1000, 30 * 10**9)
    assert times(4 * frozen.MS) == (5e6, 5 * frozen.MS)
