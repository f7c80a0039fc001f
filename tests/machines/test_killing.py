# SPDX-License-Identifier: GPL-2.0
"""A guest is killed, and no other beside it."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path

from lib.waiting import LONG_S
from machines.killing import disk_words, killed_when


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
