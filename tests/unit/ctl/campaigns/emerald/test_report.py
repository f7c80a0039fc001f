# SPDX-License-Identifier: GPL-2.0
"""The report of an Emerald-like test."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.emerald_command import (
    RUN,
    LoopKernel,
    loop_kernel,
    loop_power,
    values_of,
)
from lib.ctl.energy_command import of_file
from lib.fakes.kernel import START_NS
from lib.fakes.power import FakePower

from spekctl.campaigns import idle
from spekctl.campaigns.emerald.plan import (
    PHASES,
)
from spekctl.errors import ExitCode

kernel = pytest.fixture(loop_kernel)
power = pytest.fixture(loop_power)


def test_a_test_does_all_phases_with_their_metrics(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    outcome = spekctl(*RUN, "--folder", "t", "--raw-gigabytes", "10")
    assert outcome.code == ExitCode.OK, outcome.err
    report = of_file(Path("t/energy.json"))
    assert (report["complete"], report["passed"], report["verdict"]) == (True, True, "complete")
    assert [phase["name"] for phase in report["phases"]] == ["prefill", "conditioning", *PHASES]
    # 400 I/Os per second at depth 4 for 5 + 4 + 0.4 W; depth 16 does no more for 1.2 W more.
    by_name = {phase["name"]: phase for phase in report["phases"]}
    assert by_name["random-read"]["depth"] == 4
    assert float(by_name["random-read"]["watts"]) == pytest.approx(9.4, rel=0.01)
    assert float(values_of(report)["EP_RR"] or 0) == pytest.approx(400 / 9.4, rel=0.01)
    assert values_of(report)["EP_RI"] == "2.000"
    assert by_name["sequential-read"]["unit"] == "MiB/s/W"
    # The fake's I/Os have 4 KiB each.
    assert float(by_name["sequential-read"]["work"]) == pytest.approx(400 / 256, rel=0.01)
    assert by_name["mixed-25"]["rate"] == pytest.approx(100, rel=0.01)
    assert {(trial["phase"], trial["depth"]) for trial in report["trials"]} == {
        (phase, depth) for phase in PHASES[:6] for depth in (1, 4, 16)
    }
    assert power.closed == 1 and kernel.closed and kernel.deleted
    assert "search for the best" in outcome.out and "EP_MW2" in outcome.out
    assert "…" not in outcome.out


def write_intake(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of the air intake: 20 °C in the runs, 30 °C in the idle phase after them."""
    runs_ns, idle_ns, step_ns = START_NS + 2 * 10**12, START_NS + 3 * 10**12, 10**7
    began_ns = idle.monotonic_ns()
    measure = partial(idle.measure, clock=lambda: idle.monotonic_ns() - began_ns + idle_ns)
    monkeypatch.setattr(idle, "measure", measure)
    runs = [f"{at},20\n" for at in range(START_NS, runs_ns, 50 * step_ns)]
    rest = [f"{at},30\n" for at in range(idle_ns, idle_ns + 60_000 * step_ns, step_ns)]
    Path("intake.csv").write_text("".join(["time_ns,intake.C\n", *runs, *rest]))


def test_the_last_minute_of_the_site_is_under_load(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_intake(monkeypatch)
    outcome = spekctl(*RUN, "--folder", "t", "--site", "celsius=intake.csv:intake")
    assert outcome.code == ExitCode.OK, outcome.err
    report = of_file(Path("t/energy.json"))
    assert (report["site"]["first_celsius"], report["site"]["last_celsius"]) == ("20.000", "20.000")
    assert report["phases"][-1]["name"] == "ready-idle" and values_of(report)["EP_RI"] is not None
    assert not any("site:" in remark for remark in report["remarks"])


def test_an_idle_phase_that_is_left_out_is_no_minute_of_the_site(
    spekctl: Spekctl, kernel: LoopKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_intake(monkeypatch)
    outcome = spekctl(*RUN, "--folder", "t", "--site", "celsius=intake.csv:intake")
    assert outcome.code == ExitCode.OK, outcome.err
    report = of_file(Path("t/energy.json"))
    assert report["phases"][-1]["measured_ns"] == 0
    assert report["site"]["last_celsius"] == "20.000"
    assert not any("site:" in remark for remark in report["remarks"])


def test_a_phase_that_is_too_slow_fails(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    kernel.slow_s = lambda config: 0.1 if config.name == "emerald-random-write" else 0.0
    outcome = spekctl(*RUN, "--folder", "t")
    assert outcome.code == ExitCode.LIMIT_MISSED
    report = of_file(Path("t/energy.json"))
    by_name = {phase["name"]: phase for phase in report["phases"]}
    assert not by_name["random-write"]["passed"] and by_name["random-read"]["passed"]
    assert report["verdict"].startswith("failed: random-write: mean response time 110 ms is above")
    assert "missed: random-write" in outcome.out


def test_sequential_phases_have_no_response_limit(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    kernel.slow_s = lambda config: 0.1 if "sequential" in config.name else 0.0
    assert spekctl(*RUN, "--folder", "t").code == ExitCode.OK


def test_a_phase_without_power_after_the_baseline_is_said(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    power.baseline_w = 5.25
    assert spekctl(*RUN, "--folder", "t").code == ExitCode.OK
    report = of_file(Path("t/energy.json"))
    assert values_of(report)["EP_RI"] is None and not report["complete"]
    assert report["verdict"] == (
        "performance only: the power must be more than 0 W, and is -0.25 W in ready-idle"
    )


def test_a_system_that_rests_at_more_than_it_works_is_noticed(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    power.idle_w = 50.0
    assert spekctl(*RUN, "--folder", "t").code == ExitCode.OK
    remarks = of_file(Path("t/energy.json"))["remarks"]
    assert any("idle power, 50 W, is above that of random-read" in remark for remark in remarks)
