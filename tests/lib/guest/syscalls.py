# SPDX-License-Identifier: GPL-2.0
"""Numbers of system calls that Python has no function for, by architecture."""

from __future__ import annotations

import platform
from dataclasses import dataclass


@dataclass(frozen=True)
class Numbers:
    """As asm/unistd.h of an architecture has them."""

    delete_module: int
    finit_module: int
    ioctl: int
    readv: int
    userfaultfd: int


_BY_MACHINE = {
    "x86_64": Numbers(delete_module=176, finit_module=313, ioctl=16, readv=19, userfaultfd=323),
    "aarch64": Numbers(delete_module=106, finit_module=273, ioctl=29, readv=65, userfaultfd=282),
}
SYS = _BY_MACHINE[platform.machine()]
