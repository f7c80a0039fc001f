# SPDX-License-Identifier: GPL-2.0
"""spekctl doctor: findings as text and as JSON, and the exit code of the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.fakes.rig import CLOCK, QUEUE, Rig

from spekctl.errors import ExitCode


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "machine")


def test_a_machine_in_order_is_told_by_subject(spekctl: Spekctl, rig: Rig) -> None:
    outcome = spekctl("doctor", "--root", rig.root, "--device", "nvme0n1")
    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    assert "not in use" in outcome.out and outcome.out.endswith("a run would start\n")
    subjects = [line for line in outcome.out.splitlines()[:-1] if not line.startswith(" ")]
    assert subjects == ["machine", "nvme0n1"]
    assert "remedy" not in outcome.out


def test_a_finding_has_its_remedy_on_the_next_line(spekctl: Spekctl, rig: Rig) -> None:
    rig.put(f"{QUEUE}/wbt_lat_usec", "2000")
    outcome = spekctl("doctor", "--root", rig.root, "--device", "nvme0n1")
    lines = outcome.out.splitlines()
    (at,) = (at for at, line in enumerate(lines) if "wbt: " in line)
    assert lines[at].split()[0] == "spoils" and "remedy: echo 0 > " in lines[at + 1]
    assert lines[-1] == "a run would start; 1 finding would spoil a measurement"
    rig.put(f"{CLOCK}/current_clocksource", "hpet")
    outcome = spekctl("doctor", "--root", rig.root)
    assert outcome.out.splitlines()[-1] == (
        "a run would start; 1 finding would spoil a measurement; name a device with --device to"
        " have it examined"
    )
    outcome = spekctl("doctor", "--root", rig.root, "--device", "nvme0n1")
    assert outcome.out.endswith("; 2 findings would spoil a measurement\n")


def test_the_code_is_that_of_the_run_in_both_forms(spekctl: Spekctl, rig: Rig) -> None:
    rig.put("proc/self/status", "CapEff:\t0000000000000000\n")
    text = spekctl("doctor", "--root", rig.root)
    data = spekctl("doctor", "--root", rig.root, "--json")
    assert text.code == data.code == ExitCode.PERMISSION
    assert text.out.splitlines()[-1].startswith("a run would not start")
    report = json.loads(data.out)
    assert report["would_start"] is False
    keys = {"subject", "check", "level", "text", "remedy"}
    assert all(set(finding) == keys for finding in report["findings"])
    told = [finding["text"] for finding in report["findings"]]
    assert all(text.out.count(sentence) >= 1 for sentence in told)


def test_a_device_that_is_not_there_gets_a_hint(spekctl: Spekctl, rig: Rig) -> None:
    outcome = spekctl("doctor", "--root", rig.root, "--device", "/dev/nvme0n2")
    assert outcome.code == ExitCode.USAGE
    assert "did you mean 'nvme0n1'?" in outcome.sentence


def test_this_machine_can_be_examined(spekctl: Spekctl) -> None:
    outcome = spekctl("doctor")
    assert outcome.code in (0, ExitCode.PERMISSION, ExitCode.NO_KERNEL_SIDE)
    assert "name a device with --device" in outcome.out


def test_a_root_that_is_none_is_refused(spekctl: Spekctl, tmp_path: Path) -> None:
    outcome = spekctl("doctor", "--root", tmp_path / "none")
    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
