# SPDX-License-Identifier: GPL-2.0
"""spekctl energy capacity: what it refuses, and its report with a command in place of a driver."""

from __future__ import annotations

import json
from pathlib import Path

from lib.ctl.command_line import Spekctl
from lib.ctl.schemas import validator
from lib.fakes.kernel import FakeKernel

from spekctl.documents import energy
from spekctl.errors import ExitCode

RUN = ("energy", "capacity", "--device", "/dev/fake0", "--progress", "none")


def test_a_device_whose_driver_does_not_tell_needs_a_command(
    spekctl: Spekctl, kernel: FakeKernel
) -> None:
    outcome = spekctl(*RUN, "--write")
    assert outcome.code == ExitCode.USAGE
    assert "its driver does not say how many bytes it stores" in outcome.sentence
    assert kernel.calls == []


def test_it_writes_by_leave_only(spekctl: Spekctl, kernel: FakeKernel) -> None:
    outcome = spekctl(*RUN, "--stored", "echo 1")
    assert outcome.code == ExitCode.REFUSED
    assert "--write" in outcome.sentence


def test_sizes_have_to_fit(spekctl: Spekctl, kernel: FakeKernel) -> None:
    outcome = spekctl(*RUN, "--write", "--stored", "echo 1", "--size", "1GiB")
    assert outcome.code == ExitCode.USAGE
    assert "do not fit on /dev/fake0" in outcome.sentence


def test_the_report_says_what_was_stored(spekctl: Spekctl, kernel: FakeKernel) -> None:
    Path("used").write_text("0")
    # Each reading finds 1 MiB more.
    count = "n=$(cat used); echo $((n + 1048576)) | tee used"
    outcome = spekctl(*RUN, "--write", "--stored", count, "--size", "1MiB", "-o", "c.json")
    assert outcome.code == ExitCode.OK, outcome.err
    data = json.loads(Path("c.json").read_text())
    validator(energy.SCHEMA_FILE).validate(data)
    assert data["stored"] == f"`{count}`"
    assert [step["name"] for step in data["steps"]][-3:] == list(
        ("irreducible", "compressible", "repeating")
    )
    assert {method["name"]: method["verdict"] for method in data["methods"]}["compression"] == "no"
    assert "compression: no: 0.0 % less stored than of irreducible data" in outcome.out


def test_an_interrupted_test_has_its_exit_code_and_no_report(
    spekctl: Spekctl, kernel: FakeKernel
) -> None:
    command = "kill -INT $PPID; echo 5"
    outcome = spekctl(*RUN, "--write", "--stored", command, "--size", "1MiB", "-o", "c.json")
    assert outcome.code == ExitCode.INTERRUPTED
    assert "interrupted; there is no report" in outcome.sentence
    assert not Path("c.json").exists()


def test_a_command_that_fails_midway_ends_the_test(spekctl: Spekctl, kernel: FakeKernel) -> None:
    command = (
        "test -e twice && { echo gone >&2; exit 4; }; test -e once && : >twice; : >once; echo 5"
    )
    outcome = spekctl(*RUN, "--write", "--stored", command, "--size", "1MiB", "-o", "c.json")
    assert outcome.code == ExitCode.RUN_FAILED
    assert outcome.sentence.endswith("failed: gone")
    assert not Path("c.json").exists()
