# SPDX-License-Identifier: GPL-2.0
"""Processes of this machine."""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Iterator
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


@contextlib.contextmanager
def closes_what_it_opens() -> Iterator[None]:
    """The block leaves no descriptor of this process open. What tests before it have left to the
    garbage collector may be closed meanwhile."""
    before = Counter(open_files(os.getpid()))
    yield
    left = Counter(open_files(os.getpid())) - before
    assert not left, left
