# SPDX-License-Identifier: GPL-2.0
"""Processes of this machine."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path


def children(process: int) -> list[int]:
    """Of a process. Not from its `children` in /proc, which not every kernel has."""
    pids = []
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if re.search(rf"(?m)^PPid:\t{process}$", status.read_text(errors="replace")):
                pids.append(int(status.parent.name))
    return pids


def open_files(process: int) -> list[str]:
    """What descriptors of a process stand for, as /proc writes it. Those that are closed or opened
    meanwhile may be missing."""
    names = []
    for link in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            names.append(os.readlink(link))
    return names
