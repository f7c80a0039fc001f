# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's half of a profile: marks between which the plugin of QEMU counts instructions.

Where the environment has VARIABLE, a folder shared with the host, a run sets a mark at its start
and one at its end. At each the plugin (profile.c) writes its counts into that folder. Names of
functions are copied there while the modules are loaded.
"""

from __future__ import annotations

import ctypes
import mmap
import shutil
from pathlib import Path

VARIABLE = "SPEK_PROFILE"
KALLSYMS, MODULES = "kallsyms", "modules"  # of /proc
# nopl 0x5be4c0de(%rax,%rax,1): does nothing, but the plugin knows it; then ret.
MARK = bytes.fromhex("0f1f8400dec0e45b") + b"\xc3"


class Marks:
    """Tells the plugin to write down its counts."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_WRITE | mmap.PROT_EXEC)
        self._page.write(MARK)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._page))
        self._call = ctypes.CFUNCTYPE(None)(address)

    def set(self) -> None:
        """Write all counts so far."""
        self._call()


def copy_names(folder: Path, proc: Path = Path("/proc")) -> None:
    """Keep the addresses of the kernel's functions for the host."""
    for name in (KALLSYMS, MODULES):
        shutil.copyfile(proc / name, folder / name)
