# SPDX-License-Identifier: GPL-2.0
"""A guest with a file system on an augment cache is killed under load and booted again: the
commands of the systemd unit assemble the cache, everything synced is there, and after those of the
shutdown on the RAID alone.

`make augment-guest-kills` kills many guests.
"""

from __future__ import annotations

import os
from pathlib import Path

from bench.measuring import measure
from machines.killing import disk_words, killed_when, once_booted

from spekctl.vm.kernels import find_kernel
from spekctl.vm.runner import Outcome

KERNEL = os.environ.get("SPEK_AUGMENT_KERNEL", "6.12")
MIB = 1 << 20
SIZES = {"raid": 96 * MIB, "ssd": 48 * MIB, "spare0": 20 * MIB, "spare1": 20 * MIB}
FILES, LIMIT_S = 40, 900.0


def synced(folder: Path) -> int:
    path = folder / "synced"
    return int(path.read_text() or 0) if path.exists() else 0


def guest(folder: Path, step: str) -> Outcome:
    return measure(
        find_kernel(KERNEL),
        ["machines.augment_boot", str(folder), step],
        folder,
        folder / f"console-{step}",
        icount=False,
        limit_s=LIMIT_S,
        qemu=disk_words(folder, SIZES),
    )


def test_a_cache_is_assembled_at_boot_and_the_raid_is_whole_after_shutdown(tmp_path: Path) -> None:
    with killed_when(tmp_path, lambda: synced(tmp_path) >= FILES, LIMIT_S):
        killed = once_booted(lambda: guest(tmp_path, "before"))
    assert killed.exit_status is None, (killed.failure, killed.console[-2000:])
    assert synced(tmp_path) >= FILES, (killed.failure, killed.console[-2000:])
    booted = once_booted(lambda: guest(tmp_path, "after"))
    assert booted.exit_status == 0, (booted.failure, booted.console[-2000:])
    assert int((tmp_path / "read").read_text()) >= FILES
