# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a per-I/O log is written: it gets its name only when it is whole."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
from pathlib import Path
from typing import BinaryIO, Protocol

from spekctl.entry import Entry, EntryError

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
    """A file, which is FILE.part while it is written, locked against other runs that are to write
    the same log. Others may write to its directory: see entry.py."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._entry: Entry | None = None
        self._file: BinaryIO | None = None
        self._identity: os.stat_result | None = None  # of the part that we have created

    @property
    def name(self) -> str:
        return str(self.path)

    def sink(self) -> object:
        return self.open()

    def open(self) -> BinaryIO:
        """The file, empty; what an earlier process left of it is removed. OSError if it cannot be
        created or another process is writing it, UnicodeEncodeError if results could not name
        it."""
        str(self.path).encode()
        self.discard()
        self._entry = Entry.of(self.path)
        try:
            part = self._part(self._entry)
            taken = EntryError(errno.EBUSY, f"another process is writing {part.name}")
            if part.is_locked():
                raise taken
            self._file = os.fdopen(part.create_anew(), "wb")
            with contextlib.suppress(OSError):  # not every network file system has locks
                fcntl.flock(self._file, fcntl.LOCK_EX)
            # A process that looked before there was a lock has removed this file.
            self._identity = os.fstat(self._file.fileno())
            if not part.is_file(self._identity):
                raise taken
        except BaseException:
            self.discard()
            raise
        return self._file

    def free_bytes(self) -> int:
        room = os.statvfs(self.path.parent)
        # Some file systems, made of software, do not say.
        return room.f_bavail * room.f_frsize if room.f_blocks else UNKNOWN_BYTES

    def keep(self) -> int:
        if self._entry is None or self._file is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        self._file.flush()
        size = os.fstat(self._file.fileno()).st_size
        self._part(self._entry).take_place_of(self._entry, self._file.fileno())
        self._close()
        return size

    def discard(self) -> None:
        if self._entry is not None and self._identity is not None:
            part = self._part(self._entry)
            if part.is_file(self._identity):
                part.remove()
        self._close()

    def _part(self, entry: Entry) -> Entry:
        return entry.beside(entry.name + ".part")

    def _close(self) -> None:
        """Close file and directory; what the file still holds back is lost."""
        with contextlib.suppress(OSError):
            if self._file is not None:
                self._file.close()
        if self._entry is not None:
            os.close(self._entry.directory)
        self._file, self._entry, self._identity = None, None, None


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
