# SPDX-License-Identifier: GPL-2.0
"""A machine that goes down under a detached run: nothing is written once the caches are flushed."""

from __future__ import annotations

import re
from pathlib import Path

from bench.measuring import measure

from spekctl.vm.kernels import find_kernel

# scsi_debug names each command by its first byte.
COMMAND = re.compile(r"scsi_debug: .*cmd ([0-9a-f]{2})\b")
WRITES = {"2a", "8a"}
FLUSHES = {"35", "91"}


def test_nothing_is_written_after_the_last_flush(tmp_path: Path) -> None:
    console = tmp_path / "console"
    measure(
        find_kernel("6.12"),
        ["machines.shutdown"],
        tmp_path,
        console,
        icount=False,
        limit_s=1800,
    )
    commands = COMMAND.findall(console.read_text())
    writes = [at for at, code in enumerate(commands) if code in WRITES]
    flushes = [at for at, code in enumerate(commands) if code in FLUSHES]
    assert len(writes) > 10, console.read_text()[-2000:]
    assert flushes, commands[-20:]
    assert writes[-1] < flushes[-1], commands[flushes[-1] :]
