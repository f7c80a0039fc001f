# SPDX-License-Identifier: GPL-2.0-or-later
"""Standard output and standard error as commands write to them.

Standard output records its failure: it may be a file on a full disk. Both escape control characters
in texts: names of devices and file systems come from outside, and a terminal would obey them. Only
render/console.py, which writes sequences for the terminal itself, goes round that; and documents,
which are bytes.
"""

from __future__ import annotations

import io
import os
import re
from typing import IO, TYPE_CHECKING, TextIO, cast

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

import sys
from typing import Any

# All of Unicode but line feed and tab, and those that reorder what a terminal shows.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def escaped(text: str) -> str:
    """The text with control characters written as escapes."""
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


class _Escaping(io.TextIOWrapper):
    """Escapes control characters."""

    def write(self, text: str, /) -> int:
        return super().write(escaped(text))


class _Unescaped:
    """The stream below an _Escaping one."""

    def __init__(self, stream: _Escaping) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return io.TextIOWrapper.write(self._stream, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def unescaped(stream: IO[str]) -> IO[str]:
    """@stream for a writer that escapes texts itself, and controls the terminal."""
    return cast(IO[str], _Unescaped(stream)) if isinstance(stream, _Escaping) else stream


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
        self._text = _Escaping(
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
    return _Escaping(
        io.BufferedWriter(_Unread(fd, "w", closefd=False)),
        encoding=stream.encoding if stream is not None else "utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )
