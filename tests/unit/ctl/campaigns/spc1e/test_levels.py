# SPDX-License-Identifier: GPL-2.0
"""spekctl energy spc1e: whole tests on a fake kernel side with fake power."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from lib.ctl.campaign_command import fail_in_run, interrupt_in_run
from lib.ctl.command_line import Spekctl
from lib.ctl.energy_command import of_file, of_output, with_power
from lib.ctl.spc1e_command import RUN, queue_kernel, queue_power
from lib.fakes.power import FakePower
from lib.fakes.queue_kernel import QueueKernel

from spekctl.block import device
from spekctl.campaigns.spc1e import levels
from spekctl.documents import spc1
from spekctl.documents.device import DiskCounters
from spekctl.errors import ExitCode, UsageError

kernel = pytest.fixture(queue_kernel)
power = pytest.fixture(queue_power)


def test_a_test_measures_idle_and_load(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    outcome = spekctl(*RUN, "--folder", "t")
    assert outcome.code == ExitCode.OK, outcome.err
    report = of_file(Path("t/energy.json"))
    level = spc1.load_report(Path("t/report.json")).level_bsu
    assert level == 22
    heavy, moderate, rest = report["levels"]
    assert (heavy["bsu"], moderate["bsu"], rest["bsu"]) == (17, 11, None)
    # 50 I/Os per second for each BSU, 4 mW for each of them, 6 W in any case.
    assert float(heavy["iops"]) == pytest.approx(850, rel=0.005) and float(rest["watts"]) == 6
    assert float(heavy["watts"]) == pytest.approx(6 + 0.004 * float(heavy["iops"]))
    assert float(moderate["watts"]) == pytest.approx(6 + 0.004 * float(moderate["iops"]))
    low = report["profiles"][0]
    watts = (8 * float(moderate["watts"]) + 16 * 6) / 24
    assert float(low["watts"]["text"]) == pytest.approx(watts, abs=0.005)
    assert float(low["iops"]["text"]) == pytest.approx(float(moderate["iops"]) / 3, abs=0.005)
    assert [rail["name"] for rail in heavy["power"]["rails"]] == ["rail0", "rail1"]
    assert (report["complete"], report["passed"], report["verdict"]) == (True, True, "complete")
    ((start_ns, end_ns),) = power.asked
    assert end_ns - start_ns == 300_000_000 and power.closed == 1
    assert kernel.closed and "rail1" in outcome.out


def test_the_kept_results_are_what_the_levels_come_from(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    spekctl(*RUN, "--folder", "t", "--start-bsu", "20", "--max-bsu", "20")
    for level, bsu in zip(of_file(Path("t/energy.json"))["levels"][:2], (16, 10), strict=True):
        kept = json.loads(Path("t", level["result_file"]).read_text())
        assert kept["config"]["streams"][0]["replicas"] == bsu == level["bsu"]
        assert kept["totals"]["all"]["iops"] == float(level["iops"])


def test_an_interrupted_test_is_resumed(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    interrupt_in_run(6, kernel)
    first = spekctl(*RUN, "--folder", "t")
    assert first.code == ExitCode.INTERRUPTED
    assert "--resume continues after" in first.err
    partly = of_file(Path("t/energy.json"))
    assert not partly["complete"] and partly["profiles"] == []
    assert [level["name"] for level in partly["levels"]] == ["idle"]
    refused = spekctl(*RUN, "--folder", "t")
    assert refused.code == ExitCode.USAGE and "t already holds a test" in refused.sentence
    changed = spekctl(*RUN, "--folder", "t", "--resume", "--idle-time", "1s")
    assert "another --idle-time: 300ms then, 1s now" in changed.sentence

    kernel.before_run = lambda config: None
    resumed = spekctl(*RUN, "--folder", "t", "--resume")
    assert resumed.code == ExitCode.OK, resumed.err
    assert of_file(Path("t/energy.json"))["complete"]
    assert len(power.asked) == 1  # the idle test was not done twice


def test_an_interrupt_of_the_first_run_keeps_the_idle_test(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    kernel.before_run = lambda config: os.kill(os.getpid(), signal.SIGINT)
    outcome = spekctl(*RUN, "--folder", "t")
    assert outcome.code == ExitCode.INTERRUPTED
    assert "the idle test is kept in t, --resume continues after it" in outcome.err
    kernel.before_run = lambda config: None
    assert spekctl(*RUN, "--folder", "t", "--resume").code == ExitCode.OK
    assert len(power.asked) == 1


def test_power_that_came_late_has_the_idle_test_done_again(
    spekctl: Spekctl, kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    spekctl(*RUN, "--folder", "t", "--max-bsu", "2")
    fake = with_power(FakePower(), monkeypatch)
    monkeypatch.setattr(levels, "power_of", fake.of_result)
    spekctl(*RUN, "--folder", "t", "--max-bsu", "2", "--resume")
    assert len(fake.asked) == 1 and of_file(Path("t/energy.json"))["complete"]


def test_a_failure_says_what_is_kept(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    fail_in_run(3, kernel)
    outcome = spekctl(*RUN, "--folder", "t")
    assert outcome.code == ExitCode.RUN_FAILED
    assert "the device is gone; 3 phases are kept in t" in outcome.err
    assert power.closed == 1 and kernel.closed


def test_a_method_that_fails_fails_the_test(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    kernel.skew = {7: 1.3}
    outcome = spekctl(*RUN, "--folder", "t")
    assert outcome.code == ExitCode.LIMIT_MISSED
    report = of_file(Path("t/energy.json"))
    assert (report["complete"], report["passed"]) == (True, False)
    missed = spc1.load_report(Path("t/report.json")).verdict
    assert missed.startswith("failed: ") and "of the I/Os" in missed
    assert report["verdict"] == missed and missed in outcome.out
    for file, idle in (("t/energy.json", ()), ("t/report.json", ("--idle-watts", "5.5"))):
        again = of_output(spekctl("energy", "spc1e", "--from", file, *idle, "--json"))
        assert (again["verdict"], again["passed"]) == (missed, False)
    kernel.skew = {}
    kernel.capacity = 1.0
    outcome = spekctl(*RUN, "--folder", "u")
    assert outcome.code == ExitCode.LIMIT_MISSED
    assert "the device cannot sustain even 1 BSU" in of_file(Path("u/energy.json"))["verdict"]


def test_what_was_said_of_a_test_is_still_said_of_its_report(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter([DiskCounters(5, 40, 1, 8), DiskCounters(12, 99, 1, 8)])
    monkeypatch.setattr(device, "read_stat", lambda disk: next(counts, None))
    power.baseline_w = 2.0
    interrupt_in_run(8, kernel)
    spekctl(*RUN, "--folder", "t", "--start-bsu", "20", "--max-bsu", "20")
    first = of_file(Path("t/energy.json"))
    assert first["verdict"] == "not complete: phases are missing" and len(first["remarks"]) == 2
    again = of_output(
        spekctl("energy", "spc1e", "--from", "t/energy.json", "--price", "1", "--json")
    )
    assert (again["verdict"], again["passed"]) == (first["verdict"], False)
    assert sorted(again["remarks"]) == sorted(first["remarks"])


def test_an_idle_test_that_others_disturbed_is_still_said_to_be_one(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter([DiskCounters(5, 40, 1, 8), DiskCounters(12, 99, 1, 8)])
    monkeypatch.setattr(device, "read_stat", lambda disk: next(counts, None))
    spekctl(*RUN, "--folder", "t", "--max-bsu", "2")
    said = "the devices were not idle during the idle test: other users did 7 I/Os"
    assert said in of_file(Path("t/energy.json"))["remarks"]
    line = ("energy", "spc1e", "--from", "t/report.json", "--json")
    assert said in of_output(spekctl(*line))["remarks"]
    # Power that was measured elsewhere is not that of the idle test.
    assert said not in of_output(spekctl(*line, "--idle-watts", "5.5"))["remarks"]


def test_a_missing_idle_test_does_not_stay_missing(
    spekctl: Spekctl, kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakePower()
    monkeypatch.setattr(levels, "power_of", fake.of_result)
    spekctl(*RUN, "--folder", "t", "--max-bsu", "2")
    assert of_file(Path("t/energy.json"))["verdict"].startswith("performance only")
    line = ("energy", "spc1e", "--from", "t/energy.json", "--idle-watts", "5.5", "--json")
    again = of_output(spekctl(*line))
    assert (again["verdict"], again["complete"], again["passed"]) == ("complete", True, True)


def test_a_finished_method_gives_levels(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    line = [word for word in RUN[2:] if word not in ("--idle-time", "300ms")]
    assert spekctl("spc1", *line, "--folder", "t").code == ExitCode.OK
    missing = spekctl("energy", "spc1e", "--from", "t/report.json")
    assert missing.code == ExitCode.USAGE
    assert "has no idle test beside it; give its power with --idle-watts" in missing.sentence
    report = of_output(
        spekctl("energy", "spc1e", "--from", "t/report.json", "--idle-watts", "5.5", "--json")
    )
    assert [level["watts"] for level in report["levels"]][2] == "5.5"
    assert float(report["levels"][0]["watts"]) == pytest.approx(9.4, rel=0.005)
    assert report["complete"] and report["source"] == "t/report.json"
    (Path("t") / report["levels"][0]["result_file"]).unlink()
    gone = spekctl("energy", "spc1e", "--from", "t/report.json", "--idle-watts", "5.5")
    assert gone.code == ExitCode.USAGE and "there is no file t/" in gone.sentence


def test_a_method_without_the_phases_gives_none(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    interrupt_in_run(6, kernel)
    line = [word for word in RUN[2:] if word not in ("--idle-time", "300ms")]
    spekctl("spc1", *line, "--folder", "t")
    outcome = spekctl("energy", "spc1e", "--from", "t/report.json", "--idle-watts", "5")
    assert outcome.code == ExitCode.USAGE
    assert "the phases at 80 % and 50 % of the level are missing" in outcome.sentence


def test_devices_are_looked_at_before_anything(
    spekctl: Spekctl, kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(path: str) -> device.Device:
        raise UsageError(f"there is no device {path}")

    monkeypatch.setattr(device, "find", gone)
    assert spekctl(*RUN).sentence == "there is no device /dev/fake0"
