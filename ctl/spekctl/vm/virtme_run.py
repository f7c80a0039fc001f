# SPDX-License-Identifier: GPL-2.0-or-later
"""virtme-run, run as a program, whose guests keep in memory what they read of the host.

A kernel with 9p built in mounts its root by rootflags. For one that has it as a module virtme-ng
makes an initramfs, which mounts by its own configuration alone.
"""

from __future__ import annotations

from virtme import mkinitramfs
from virtme.commands import run

CACHE = "cache=loose"


class CachedConfig(mkinitramfs.Config):  # type: ignore[misc] # virtme has no types
    """What an initramfs is made of; access is among the options of the mount."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.access += f",{CACHE}"


if __name__ == "__main__":
    mkinitramfs.Config = CachedConfig
    run.main()
