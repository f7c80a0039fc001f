# SPDX-License-Identifier: GPL-2.0
"""spekctl energy spc2e: whole tests on a fake kernel side with fake power."""

from __future__ import annotations

import json
import os
import signal
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl.campaign_command import interrupt_in_run
from lib.ctl.command_line import Spekctl
from lib.ctl.energy_command import MISSING
from lib.ctl.spc2e_command import RUN, report_of, streams_kernel, streams_power
from lib.fakes.power import FakePower
from lib.fakes.queue_kernel import QueueKernel

from spekctl.documents import spc2
from spekctl.documents.exact import decimal_text, rounded
from spekctl.errors import ExitCode

kernel = pytest.fixture(streams_kernel)
power = pytest.fixture(streams_power)


def test_a_test_measures_idle_and_load(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    outcome = spekctl(*RUN, "--folder", "t", "--price", "0.5")
    assert outcome.code == ExitCode.OK, outcome.err + outcome.out
    report = report_of("t")
    assert report["notice"] == "SPC-2/E-like, unaudited"
    assert (report["complete"], report["passed"], report["verdict"]) == (True, True, "complete")
    heavy, moderate, rest = report["levels"]
    # 6 W at rest and 0.1 W for each I/O per second: 50 of them in closed loop, 30 or 15 of video.
    assert float(heavy["watts"]) == pytest.approx((11 + 11 + 9) / 3)
    assert float(moderate["watts"]) == pytest.approx((11 + 11 + 7.5) / 3)
    assert rest["watts"] == "6" and rest["mb_s"] == "0"
    # The fake's I/Os have 4 KiB each.
    assert heavy["mb_s"] == decimal_text(Fraction(4096 * (50 + 50 + 30), 3 * 10**6))
    by_name = {composite["name"]: composite for composite in heavy["composites"]}
    assert by_name["vod"]["mb_s_per_watt"]["text"] == rounded(Fraction(4096 * 30, 9 * 10**6), 2)
    watts, rate = Fraction(report["composite"]["watts"]["exact"]), report["composite"]["mb_s"]
    hours = {"low": (0, 8, 16), "medium": (4, 14, 6), "high": (18, 6, 0)}
    levels = [Fraction(level["watts"]) for level in (heavy, moderate, rest)]
    nominal = [
        sum(hour * level for hour, level in zip(day, levels, strict=True)) / 24
        for day in hours.values()
    ]
    assert watts == sum(nominal) / 3
    assert Fraction(report["annual_kwh"]["exact"]) == watts * 8760 / 1000
    assert Fraction(report["annual_cost"]["exact"]) == watts * 8760 / 1000 / 2
    assert Fraction(rate["exact"]) > 0
    streams = [
        run["step"]["streams"]
        for run in json.loads(Path("t/report.json").read_text())["runs"]
        if run["step"]["part"] == "vod"
    ]
    assert streams == [10, 5]
    assert power.closed == 1 and kernel.closed and len(power.asked) == 1
    assert "usage profiles" in outcome.out and "…" not in outcome.out
    assert "SPC-2/E " not in outcome.out.replace("SPC-2/E-like", "")


def test_for_how_long_power_is_unknown_is_said(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    """Of each run, and of the idle test."""
    power.gap_s = 1.999
    outcome = spekctl(*RUN, "--folder", "t")
    assert outcome.code == ExitCode.OK, outcome.err
    remarks = report_of("t")["remarks"]
    runs = json.loads(Path("t/report.json").read_text())["runs"]
    for name in ["idle", *(spc2_name(run) for run in runs)]:
        assert any(text.startswith(f"{name}: power is unknown for") for text in remarks), name


def spc2_name(run: dict[str, Any]) -> str:
    return msgspec.convert(run["step"], spc2.Step).name


def test_without_power_there_is_performance(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl(*RUN, "--folder", "t")
    assert outcome.code == ExitCode.OK, outcome.err
    report = report_of("t")
    assert (report["complete"], report["passed"]) == (False, True)
    assert report["verdict"] == "performance only: no power measured in heavy, moderate, idle"
    assert MISSING in report["remarks"] and report["annual_kwh"] is None
    assert [level["watts"] for level in report["levels"]] == [None, None, None]


def test_a_baseline_is_taken_off_every_level(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    power.baseline_w = 2.0
    spekctl(*RUN, "--folder", "t")
    report = report_of("t")
    assert report["levels"][2]["watts"] == "4"
    assert float(report["levels"][0]["watts"]) == pytest.approx(31 / 3 - 2)
    assert "a baseline of 2 W was subtracted from the power" in report["remarks"]


def test_a_level_without_power_after_the_baseline_is_said(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    power.baseline_w = 6.0
    assert spekctl(*RUN, "--folder", "t").code == ExitCode.OK
    report = report_of("t")
    assert report["levels"][2]["watts"] == "0" and not report["complete"]
    assert report["verdict"] == (
        "performance only: the power must be more than 0 W, and is 0 W in idle"
    )


def test_a_system_that_rests_at_more_than_it_works_is_noticed(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    power.idle_w, power.watts_per_iops = 60.0, -0.1
    spekctl(*RUN, "--folder", "t")
    assert any(
        "idle power, 60 W, is above that of" in remark for remark in report_of("t")["remarks"]
    )


def test_an_interrupted_test_is_resumed(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    interrupt_in_run(6, kernel)
    first = spekctl(*RUN, "--folder", "t")
    assert first.code == ExitCode.INTERRUPTED
    partly = report_of("t")
    assert not partly["complete"] and [level["name"] for level in partly["levels"]] == ["idle"]
    refused = spekctl(*RUN, "--folder", "t")
    assert "t already holds a test" in refused.sentence
    changed = spekctl(*RUN, "--folder", "t", "--resume", "--idle-time", "1s")
    assert "another --idle-time: 300ms then, 1s now" in changed.sentence
    kernel.before_run = lambda config: None
    assert spekctl(*RUN, "--folder", "t", "--resume").code == ExitCode.OK
    assert report_of("t")["complete"] and len(power.asked) == 1


def test_an_interrupt_of_the_first_run_keeps_the_idle_test(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    kernel.before_run = lambda config: os.kill(os.getpid(), signal.SIGINT)
    outcome = spekctl(*RUN, "--folder", "t")
    assert outcome.code == ExitCode.INTERRUPTED
    assert "the idle test is kept in t, --resume continues after it" in outcome.err
    report = spc2.load_energy(Path("t/energy.json"))
    assert [(level.name, level.watts) for level in report.levels] == [("idle", "6")]
    assert report.verdict == "incomplete: the test under load has not started"
    kernel.before_run = lambda config: None
    assert spekctl(*RUN, "--folder", "t", "--resume").code == ExitCode.OK
    assert len(power.asked) == 1
