# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents of a directory: the list, their reports, and new results."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

import msgspec

from spekctl import files
from spekctl.documents import document
from spekctl.errors import SpekError, UsageError
from spekctl.log.place import FilePlace
from spekctl.report import page, read

_SUFFIXES = (".json", ".parquet")


class Entry(msgspec.Struct, frozen=True):
    """A document: its name, what it is, its size in bytes and the time of its last change."""

    name: str
    kind: str
    bytes: int
    changed_s: float


class Library:
    """The documents that lie directly in @folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # What each file is, as long as it does not change; None: none of ours.
        self._known: dict[tuple[str, int, int], str | None] = {}

    def entries(self) -> list[Entry]:
        """All documents that a report can show, the newest first."""
        entries = []
        try:
            names = os.listdir(self.folder)
        except OSError as error:
            raise SpekError(f"cannot list {self.folder}: {error.strerror}") from error
        known = {}
        for name in names:
            if name.startswith(".") or not name.endswith(_SUFFIXES):
                continue
            try:
                status = os.stat(self.folder / name)
            except OSError:
                continue
            if not stat.S_ISREG(status.st_mode):
                continue
            key = (name, status.st_mtime_ns, status.st_size)
            known[key] = kind = self._known[key] if key in self._known else self._kind(name)
            if kind is not None:
                text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                if text == name:
                    entries.append(Entry(name, kind, status.st_size, status.st_mtime))
        self._known = known
        return sorted(entries, key=lambda entry: (-entry.changed_s, entry.name))

    def _kind(self, name: str) -> str | None:
        try:
            return document.identify(self.folder / name, read.KINDS).text
        except SpekError:
            return None

    def path(self, name: str) -> Path:
        """The file of a document in the list; UsageError for any other name."""
        if name not in {entry.name for entry in self.entries()}:
            raise UsageError(f"there is no document '{name}' in {self.folder}")
        return self.folder / name

    def report(self, names: Sequence[str]) -> bytes:
        """The page of these documents, laid over each other."""
        if not names:
            raise UsageError("choose a document")
        return page.html(read.sheets([self.path(name) for name in names]))

    def keep(self, name: str, data: bytes) -> str:
        """Write the result of a run of workload @name; return the name of its file."""
        stem = re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".") or "run"
        stamp = document.timestamp().replace("-", "").replace(":", "")
        for number in range(1, 1000):
            more = f"-{number}" if number > 1 else ""
            file = f"{stem}-{stamp}{more}.json"
            if not (self.folder / file).exists():
                break
        files.write(self.folder / file, data)
        return file

    def check_log(self, name: str) -> None:
        """UsageError unless a log may be called @name."""
        if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,200}\.parquet", name):
            raise UsageError(
                f"--log: '{name}' is not a name like run.parquet, of letters, digits, '.', '_' and"
                " '-', without a directory"
            )
        if (self.folder / name).exists():
            raise UsageError(f"--log: {name} exists already in {self.folder}")

    def log(self, name: str) -> LogPart:
        """A new log of this name, empty; UsageError as check_log(), SpekError if it cannot be."""
        self.check_log(name)
        return LogPart(self.folder / name)


class LogPart:
    """A log that is being received. As with `spekctl run` it gets its name when it is whole."""

    def __init__(self, path: Path) -> None:
        self._place = FilePlace(path)
        self.trouble = ""  # why it is not kept
        try:
            self._file = self._place.open()
        except OSError as error:
            raise SpekError(f"cannot log to {path}: {error.strerror}") from error

    def add(self, data: bytes) -> None:
        """Its next bytes; nothing once one could not be written."""
        if self.trouble:
            return
        try:
            self._file.write(data)
        except OSError as error:
            self._fail(error)

    def keep(self) -> str:
        """Name of the file; empty if it could not be kept."""
        if self.trouble:
            return ""
        try:
            self._place.keep()
        except OSError as error:
            self._fail(error)
            return ""
        return self._place.path.name

    def discard(self) -> None:
        """It never became a log."""
        with contextlib.suppress(OSError):
            self._place.discard()

    def _fail(self, error: OSError) -> None:
        self.trouble = f"{self._place.name}: {error.strerror}"
        self.discard()
