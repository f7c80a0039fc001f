# SPDX-License-Identifier: GPL-2.0
"""Where the rig keeps what is expensive to make. Everything here can be deleted at any time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_dir(*parts: str) -> Path:
    """A directory below $XDG_CACHE_HOME/spek (by default ~/.cache/spek), created if needed."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = Path(base, "spek", *parts)
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the cache's lock @name: one process fills an entry while others wait for it."""
    with open(cache_dir() / f".{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
