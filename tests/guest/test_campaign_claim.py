# SPDX-License-Identifier: GPL-2.0
"""Nobody else can have a device between two runs of a command of spekctl."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.command_line import Spekctl
from lib.guest.disks import null_disk
from lib.guest.netlink import is_free
from lib.guest.netlink_raw import Socket
from lib.guest.spekctl import in_process
from lib.waiting import LONG_S, comes_true

from spekctl.campaigns import campaign
from spekctl.errors import ExitCode
from spekctl.kernel.gen.spek import Cmd, RunState
from spekctl.run import verify

pytestmark = pytest.mark.any_kernel

SPEKCTL = (sys.executable, "-m", "spekctl")
QUIET = ("--no-prober", "--progress", "none")


@pytest.fixture
def call(spek_module: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Spekctl]:
    with in_process(capfd) as spekctl:
        yield spekctl


@pytest.fixture
def keeping_disk(spek_module: Path) -> Iterator[str]:
    """It holds what is written to it."""
    with null_disk(size_mb=8, memory_backed=1) as node:
        yield node


def run_of_another_program(node: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*SPEKCTL, "run", "random-read-4k", "--time", "1s", *QUIET, "--device", node],
        capture_output=True,
        text=True,
        check=False,
    )


def test_others_are_refused_between_two_steps(
    call: Spekctl, disks: list[str], monkeypatch: pytest.MonkeyPatch, nl: Socket
) -> None:
    """What they try when the first run has ended and been deleted, before the second one."""
    node, run = disks[0], campaign.Campaign._run
    tried = []

    def run_and_try(*arguments: Any) -> Any:
        result = run(*arguments)
        (claim,) = nl.dump(Cmd.CLAIM_GET).values
        assert claim["runs"] == 0 and not nl.dump(Cmd.RUN_GET).values
        assert not is_free(node)
        mkfs = subprocess.run(["mkfs.ext4", "-q", node], capture_output=True, check=False)
        assert mkfs.returncode, "a file system was made"
        tried.append(run_of_another_program(node))
        return result

    monkeypatch.setattr(campaign.Campaign, "_run", run_and_try)
    outcome = call(
        *("sweep", "random-write-4k", "--write", "--depth", "1,2", "--time", "300ms", *QUIET),
        *("--device", node),
    )
    assert outcome.code == ExitCode.OK, outcome.err
    assert [refused.returncode for refused in tried] == [ExitCode.REFUSED] * 2, tried
    assert all(f"{node} is in use" in refused.stderr for refused in tried)
    assert is_free(node) and not nl.dump(Cmd.CLAIM_GET).values


def test_nobody_writes_between_a_run_and_its_verification(
    call: Spekctl, keeping_disk: str, monkeypatch: pytest.MonkeyPatch, nl: Socket
) -> None:
    node, final_pass = keeping_disk, verify.final_pass
    states = []

    def try_first(*arguments: Any, **named: Any) -> Any:
        (run,) = nl.dump(Cmd.RUN_GET).values
        states.append(run["state"])
        assert not is_free(node)
        return final_pass(*arguments, **named)

    monkeypatch.setattr(verify, "final_pass", try_first)
    outcome = call(
        *("run", "random-write-4k", "--write", "--verify", "--time", "300ms", *QUIET),
        *("--device", node),
    )
    assert outcome.code == ExitCode.OK, outcome.err
    assert states == [RunState.DONE] and "read-back complete" in outcome.out
    assert is_free(node)


def test_a_campaign_that_is_killed_frees_its_device(
    spek_module: Path, disks: list[str], nl: Socket
) -> None:
    node = disks[0]
    program = subprocess.Popen(
        [
            *SPEKCTL,
            "sweep",
            "random-read-4k",
            "--depth",
            "1,2",
            "--time",
            "60s",
            "--device",
            node,
            *QUIET,
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert comes_true(
            lambda: [run["state"] for run in nl.dump(Cmd.RUN_GET).values] == [RunState.RUNNING]
        )
        assert len(nl.dump(Cmd.CLAIM_GET).values) == 1
        os.kill(program.pid, signal.SIGKILL)
        program.wait(LONG_S)
        assert comes_true(lambda: not nl.dump(Cmd.CLAIM_GET).values)
        assert is_free(node)
    finally:
        with contextlib.suppress(ProcessLookupError):
            program.kill()
        program.wait(LONG_S)
