# SPDX-License-Identifier: GPL-2.0
"""A guest is killed, and no other beside it."""

from __future__ import annotations

import dataclasses
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from lib.waiting import LONG_S
from machines.killing import BOOTS, disk_words, killed_when, once_booted

from spekctl.vm.runner import Outcome

CRASHED = Outcome(None, "the guest's kernel crashed before it had booted: Kernel panic")
KILLED = Outcome(None, "the guest ended while the command ran")
LATE = Outcome(None, "the guest was killed at its time limit, before it had booted", timed_out=True)


def test_only_the_guest_with_these_disks_is_killed(tmp_path: Path) -> None:
    """The harness has guests beside it, which are children of the same process."""
    program = tmp_path / "qemu-system-none"
    shutil.copy("/bin/sh", program)
    folders = [tmp_path / "1", tmp_path / "10"]
    emulators = []
    for folder in folders:
        folder.mkdir()
        words = [str(program), "-c", "read word; exit 3", "sh", *disk_words(folder, {"raid": 512})]
        emulators.append(subprocess.Popen(words, stdin=subprocess.PIPE))
    killed, spared = emulators
    with killed_when(folders[0], lambda: True, LONG_S):
        assert killed.wait(LONG_S) == -signal.SIGKILL
    assert spared.poll() is None
    spared.communicate(b"\n", timeout=LONG_S)
    assert spared.returncode == 3


@pytest.mark.parametrize(
    ("outcomes", "starts"),
    [
        ([KILLED], 1),
        ([CRASHED, KILLED], 2),
        ([LATE], 1),
        ([CRASHED] * BOOTS, BOOTS),
        ([dataclasses.replace(CRASHED, interrupted=True)], 1),
    ],
)
def test_a_guest_that_crashes_before_it_has_booted_is_started_again(
    outcomes: list[Outcome], starts: int
) -> None:
    """It counts for no kill, of which a campaign makes as many as it says."""
    started = iter(outcomes)
    assert once_booted(lambda: next(started)) is outcomes[-1]
    assert len(outcomes) - len(list(started)) == starts
