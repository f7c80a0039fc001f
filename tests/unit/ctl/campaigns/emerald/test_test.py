# SPDX-License-Identifier: GPL-2.0
"""spekctl energy emerald: whole tests on a fake kernel side with fake power."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from lib.ctl.campaign_command import fail_in_run, interrupt_in_run
from lib.ctl.command_line import Spekctl
from lib.ctl.emerald_command import (
    RUN,
    LoopKernel,
    loads_of,
    loop_kernel,
    loop_power,
    values_of,
)
from lib.ctl.energy_command import MISSING, of_file, with_power
from lib.fakes.machine import disk
from lib.fakes.power import FakePower

from spekctl.block import device
from spekctl.campaigns import idle
from spekctl.campaigns.emerald.plan import (
    PHASES,
)
from spekctl.errors import ExitCode

kernel = pytest.fixture(loop_kernel)
power = pytest.fixture(loop_power)


SECOND = 10**9


def test_without_power_there_is_performance(spekctl: Spekctl, kernel: LoopKernel) -> None:
    outcome = spekctl(*RUN, "--folder", "t")
    assert outcome.code == ExitCode.OK, outcome.err
    report = of_file(Path("t/energy.json"))
    assert (report["complete"], report["passed"]) == (False, True)
    assert report["verdict"].startswith(
        "performance only: no power measured in hot-band, random-rea"
    )
    assert MISSING in report["remarks"]
    assert set(values_of(report).values()) == {None}
    by_name = {phase["name"]: phase for phase in report["phases"]}
    assert float(by_name["random-read"]["work"]) == pytest.approx(400)
    assert by_name["ready-idle"]["text"] == "skipped: power is not measured"


def test_ready_idle_is_made_up_for_when_power_comes(
    spekctl: Spekctl, kernel: LoopKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = (*RUN, "--folder", "t", "--phases", "random-read,ready-idle")
    spekctl(*line)
    runs = len(kernel.runs_seen)
    with_power(FakePower(idle_w=4.0), monkeypatch)
    assert spekctl(*line, "--resume").code == ExitCode.OK
    assert len(kernel.runs_seen) == runs
    assert values_of(of_file(Path("t/energy.json")))["EP_RI"] == "0.268"


def test_an_interrupted_test_is_resumed(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    interrupt_in_run(5, kernel)
    first = spekctl(*RUN, "--folder", "t")
    assert first.code == ExitCode.INTERRUPTED
    assert "5 steps are kept in t, --resume continues after hot-band-search-1x16" in first.err
    assert of_file(Path("t/energy.json"))["verdict"].startswith("not complete: hot-band, ")
    refused = spekctl(*RUN, "--folder", "t")
    assert refused.code == ExitCode.USAGE and "t already holds a test" in refused.sentence
    for option, was, now in (
        ("--time", "2s", "3s"),
        ("--phases", ",".join(PHASES), "random-read"),
        ("--seed", "1", "5"),
        ("--max-response", "20ms", "25ms"),
        ("--depths", "1,4,16", "1,2"),
    ):
        changed = spekctl(*RUN, "--folder", "t", "--resume", option, now)
        assert f"another {option}: {was} then, {now} now" in changed.sentence

    kernel.before_run = lambda config: None
    kernel.runs_seen.clear()
    resumed = spekctl(*RUN, "--folder", "t", "--resume")
    assert resumed.code == ExitCode.OK, resumed.err
    assert of_file(Path("t/energy.json"))["complete"]
    assert "emerald-prefill" not in {name for name, _ in loads_of(kernel)}


def test_another_device_is_not_resumed(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_in_run(2, kernel)
    spekctl(*RUN, "--folder", "t")
    monkeypatch.setattr(device, "find", lambda path: disk(path, serial="OTHER"))
    outcome = spekctl(*RUN, "--folder", "t", "--resume")
    assert "another serial number: S123 then, OTHER now" in outcome.sentence
    Path("t/state.json").write_text("{}")
    damaged = spekctl(*RUN, "--folder", "t", "--resume")
    assert "state.json is not a spek file; expected the state of a test" in damaged.sentence


def test_an_interrupt_when_idle_keeps_the_rest(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idle, "measure", lambda *given: os.kill(os.getpid(), signal.SIGINT))
    outcome = spekctl(*RUN, "--folder", "t", "--phases", "random-read,ready-idle")
    assert outcome.code == ExitCode.INTERRUPTED
    assert "continues after random-read" in outcome.err


def test_a_failure_says_what_is_kept(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    fail_in_run(3, kernel)
    outcome = spekctl(*RUN, "--folder", "t")
    assert outcome.code == ExitCode.RUN_FAILED
    assert "the device is gone; 3 steps are kept in t" in outcome.err
    assert power.closed == 1 and kernel.closed
