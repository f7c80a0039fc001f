# SPDX-License-Identifier: GPL-2.0-or-later
"""virtme-run, run as a program, whose guests keep in memory what they read of the host, and which
ends as QEMU did.

A kernel with 9p built in mounts its root by rootflags. For one that has it as a module virtme-ng
makes an initramfs, which mounts by its own configuration alone.

virtme-run waits for QEMU and drops its status. Here the exit code is QEMU's own, 128 + N after a
signal N as in a shell, and virtme-run's where it started no QEMU.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from virtme import mkinitramfs
from virtme.commands import run

CACHE = "cache=loose"


class CachedConfig(mkinitramfs.Config):  # type: ignore[misc] # virtme has no types
    """What an initramfs is made of; access is among the options of the mount."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.access += f",{CACHE}"


class _Os:
    """The module os as virtme-run sees it, with the last status that was waited for."""

    def __init__(self) -> None:
        self.status: int | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def waitpid(self, pid: int, options: int) -> tuple[int, int]:
        pid, self.status = os.waitpid(pid, options)
        return pid, self.status

    def exit_code(self) -> int | None:
        """None: nothing was waited for."""
        if self.status is None:
            return None
        code = os.waitstatus_to_exitcode(self.status)
        return code if code >= 0 else 128 - code


def main() -> int:
    mkinitramfs.Config = CachedConfig
    run.os = emulator = _Os()
    code: int = run.main()
    ended = emulator.exit_code()
    return code if ended is None else ended


if __name__ == "__main__":
    sys.exit(main())
