# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents of a directory: the list, their reports, and new results."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

import msgspec

from spekctl import files
from spekctl.documents import document
from spekctl.errors import SpekError, UsageError
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
        found = []
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
                    found.append(Entry(name, kind, status.st_size, status.st_mtime))
        self._known = known
        return sorted(found, key=lambda one: (-one.changed_s, one.name))

    def _kind(self, name: str) -> str | None:
        try:
            return document.identify(self.folder / name, read.KINDS).text
        except SpekError:
            return None

    def path(self, name: str) -> Path:
        """The file of a document in the list; UsageError for any other name."""
        if name not in {one.name for one in self.entries()}:
            raise UsageError(f"there is no document '{name}' in {self.folder}")
        return self.folder / name

    def report(self, names: Sequence[str]) -> bytes:
        """The page of these documents, laid over each other."""
        if not names:
            raise UsageError("choose a document")
        return page.html(read.sheets([self.path(one) for one in names]))

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
