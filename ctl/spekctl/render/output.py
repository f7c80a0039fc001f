# SPDX-License-Identifier: GPL-2.0-or-later
"""Standard output that records its failure: it may be a file on a full disk."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

import sys
from typing import Any


class _Raw(io.FileIO):
    """A descriptor that records its failure, to tell it from that of another file."""

    failure: OSError | None = None
    reader_left = False

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            # The reader (head, less) has closed the pipe: that is not a failure.
            self.reader_left = True
            return memoryview(data).nbytes
        except OSError as error:
            self.failure = error
            raise


class Output:
    """Takes the place of sys.stdout."""

    def __init__(self) -> None:
        before = sys.stdout
        if before is None:  # closed by the caller
            _occupy(1)
        self._raw = _Raw(1 if before is None else before.fileno(), "w", closefd=False)
        self._text = io.TextIOWrapper(
            io.BufferedWriter(self._raw),
            encoding="utf-8" if before is None else before.encoding,
            errors="backslashreplace" if before is None else before.errors,
            line_buffering=before is not None and before.isatty(),
        )
        sys.stdout = self._text

    @property
    def failure(self) -> OSError | None:
        """The failure; None without one."""
        return self._raw.failure

    def flush(self) -> None:
        """Flush. OSError if that fails."""
        self._text.flush()

    def abandon(self) -> None:
        """Discard the buffer; Python would flush it again at exit, and report the failure."""
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self._raw.fileno())
        os.close(null)


def _occupy(fd: int) -> None:
    """Take a closed descriptor, so that no file gets its number; nothing can be written to it."""
    null = os.open(os.devnull, os.O_RDONLY)
    if null != fd:
        os.dup2(null, fd)
        os.close(null)


def reader_left() -> bool:
    """True if the reader of standard output is gone, so that a long listing may end."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return isinstance(raw, _Raw) and raw.reader_left


class _Unread(io.FileIO):
    """Takes what can't be written (the pipe is closed, the disk is full) as written."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            written: int | None = super().write(data)
        except OSError:
            written = None
        return memoryview(data).nbytes if written is None else written


def patient(stream: TextIO | None) -> TextIO:
    """Standard error @stream as it should be; it is None if there was none from the start."""
    fd = os.open(os.devnull, os.O_WRONLY) if stream is None else stream.fileno()
    return io.TextIOWrapper(
        io.BufferedWriter(_Unread(fd, "w", closefd=False)),
        encoding=stream.encoding if stream is not None else "utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )
