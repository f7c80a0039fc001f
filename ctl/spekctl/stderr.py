# SPDX-License-Identifier: GPL-2.0
"""Standard error that may lose its reader: a sentence that nobody reads must not end a run."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


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
