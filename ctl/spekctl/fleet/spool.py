# SPDX-License-Identifier: GPL-2.0-or-later
"""Report intervals of hosts as they come, for the case that a host is lost before its result.

They are in memory up to a size, and beyond it in a file without a name beside the result: a long
run of many hosts does not fill the controller's memory, and a killed controller leaves no file.
Without a place for the result it is in the user's folder for state, as temporary files are often in
memory, and shared with others.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import msgspec

from spekctl.errors import SpekError
from spekctl.kernel.records import IntervalRow

# Of all hosts together; more is in the file.
MEMORY_MAX = 1 << 20
READ_BYTES = 1 << 20


def state_folder() -> Path:
    """$XDG_STATE_HOME/spek, by default ~/.local/state/spek: on a disk, and for this user alone.

    OSError if it cannot be created, or if others may write there: on a file system where a file has
    a name before it is unlinked, they could replace the file.
    """
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    folder = Path(base, "spek")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700, parents=True)
    status = os.lstat(folder)
    trouble = ""
    if not stat.S_ISDIR(status.st_mode):
        trouble = "is no directory, or a link to one"
    elif status.st_uid != os.geteuid():
        trouble = "belongs to another user"
    elif status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        trouble = f"can be written by others; chmod go-w {folder}"
    if trouble:
        raise PermissionError(errno.EPERM, f"{folder} {trouble}")
    return folder


class Spool:
    """Rows of all hosts of a run, in the order in which they came: lines of a name and its rows."""

    def __init__(self, folder: Path | None = None, memory_max: int | None = None) -> None:
        """@folder: has the file; None: state_folder()."""
        self._folder = folder
        self._memory_max = MEMORY_MAX if memory_max is None else memory_max
        self._memory = bytearray()
        self._file: IO[bytes] | None = None
        self._written = 0

    def of(self, host: str) -> HostRows:
        """The rows of a host, of which there are none yet."""
        return HostRows(self, host)

    def add(self, host: str, rows: Sequence[IntervalRow]) -> None:
        """Keep rows. SpekError: there is no room for them, and those before them are kept."""
        line = b"%s\t%s\n" % (host.encode(), msgspec.json.encode(rows))
        self._memory += line
        if len(self._memory) <= self._memory_max:
            return
        try:
            self._spill()
        except OSError as error:
            del self._memory[-len(line) :]
            raise SpekError(
                f"report intervals cannot be kept for hosts that may be lost: {error.strerror}"
            ) from error

    def _spill(self) -> None:
        """Move what is in memory into the file; after an OSError it is still in memory."""
        if self._file is None:
            folder = self._folder if self._folder is not None else state_folder()
            self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        done = 0
        while done < len(self._memory):
            data = memoryview(self._memory)[done:]
            try:
                done += os.pwrite(self._file.fileno(), data, self._written + done)
            finally:
                data.release()
        self._written += done
        self._memory.clear()

    def rows(self, host: str) -> Iterator[IntervalRow]:
        """Those of a host, in their order."""
        prefix = host.encode() + b"\t"
        for line in self._lines():
            if line.startswith(prefix):
                yield from msgspec.json.decode(line[len(prefix) :], type=list[IntervalRow])

    def _lines(self) -> Iterator[bytes]:
        rest = b""
        for part in itertools.chain(self._parts(), [bytes(self._memory)]):
            *lines, rest = (rest + part).split(b"\n")
            yield from lines

    def _parts(self) -> Iterator[bytes]:
        """What is in the file."""
        at = 0
        while self._file is not None and at < self._written:
            count = min(READ_BYTES, self._written - at)
            part = os.pread(self._file.fileno(), count, at)
            if not part:
                raise SpekError("report intervals of the hosts are gone from their file")
            at += len(part)
            yield part

    def close(self) -> None:
        """Forget them. A second call does nothing."""
        self._memory.clear()
        self._written = 0
        if self._file is not None:
            self._file.close()
            self._file = None


class HostRows:
    """The rows of one host."""

    def __init__(self, spool: Spool, host: str) -> None:
        self._spool = spool
        self._host = host
        self._count = 0

    def add(self, rows: Sequence[IntervalRow]) -> None:
        """Keep rows that have come."""
        self._spool.add(self._host, rows)
        self._count += len(rows)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[IntervalRow]:
        return self._spool.rows(self._host)
