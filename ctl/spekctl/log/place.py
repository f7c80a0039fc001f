# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a per-I/O log is written: it gets its name only when it is whole."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Protocol

# What a file system that does not tell is taken to have left.
UNKNOWN_BYTES = 1 << 62


class Place(Protocol):
    """A place for one log."""

    @property
    def name(self) -> str:
        """As results and messages call it."""

    def sink(self) -> object:
        """What pyarrow writes to: a path, or an object like a file. OSError if it cannot."""

    def free_bytes(self) -> int:
        """The room that is left. OSError as sink()."""

    def keep(self) -> int:
        """The log is whole: give it its name; return its size in bytes. OSError as sink()."""

    def discard(self) -> None:
        """The log is of no use."""


class FilePlace:
    """A file, which is FILE.part while it is written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.part = path.with_name(path.name + ".part")

    @property
    def name(self) -> str:
        return str(self.path)

    def sink(self) -> object:
        return str(self.part)

    def free_bytes(self) -> int:
        room = os.statvfs(self.path.parent)
        # Some file systems, made of software, do not say.
        return room.f_bavail * room.f_frsize if room.f_blocks else UNKNOWN_BYTES

    def keep(self) -> int:
        os.replace(self.part, self.path)
        return self.path.stat().st_size

    def discard(self) -> None:
        self.part.unlink(missing_ok=True)


class Nowhere:
    """A log that is only written, in memory."""

    name = "memory"

    def sink(self) -> object:
        return io.BytesIO()

    def free_bytes(self) -> int:
        return UNKNOWN_BYTES

    def keep(self) -> int:
        return 0

    def discard(self) -> None:
        """Nothing is left of it."""
