# SPDX-License-Identifier: GPL-2.0-or-later
"""The bytes of a trace's file, decompressed as they are read, whole lines at a time."""

from __future__ import annotations

import contextlib
import io
import itertools
import lzma
import os
import re
import stat
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from spekctl import files
from spekctl.errors import SpekError, UsageError

# Bytes, and lines of text, that tell the format.
HEAD_BYTES = 1 << 16
_LINES_TOLD_BY = 200
CHUNK_BYTES = 8 << 20
_BLOCK_LEAST = 64 << 10
_PIPE_BYTES = 1 << 20
# More without a newline is not a line of any format.
LINE_MAX = 1 << 20

_MAGIC = (
    (b"\x1f\x8b", "gz"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zst"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"BZh", "bz2"),
)
_MAGIC_BYTES = 6
# Those that pyarrow reads, and its names of them.
_BY_ARROW = {"zst": "zstd", "lz4": "lz4"}


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file's contents."""

    path: Path
    data: bytes
    whole: bool  # there is no more
    is_pipe: bool = False  # the path cannot be opened again

    @property
    def text(self) -> bytes:
        """The data without a byte order mark."""
        return self.data.removeprefix(BOM_UTF8)

    def numbered(self) -> Iterator[tuple[int, str]]:
        """The complete lines that are not blank, with their numbers from 1."""
        parts = self.text.split(b"\n")
        if not self.whole:
            parts = parts[:-1]
        for number, part in enumerate(parts, start=1):
            text = part.decode("utf-8", "replace").rstrip("\r")
            if text.strip():
                yield number, text

    def lines(self) -> list[str]:
        """The first complete lines that are not blank."""
        return [text for _, text in itertools.islice(self.numbered(), _LINES_TOLD_BY)]

    def header(self, pattern: re.Pattern[str]) -> int:
        """The number of the first line that is not blank, if it is of this form; else 0."""
        number, text = next(self.numbered(), (0, ""))
        return number if pattern.match(text) else 0


class _Pipe(io.RawIOBase):
    """A pipe, or what decompresses it, whose first @size bytes were read ahead."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self.start = _read(file, size)
        self._at = 0

    @property
    def is_read(self) -> bool:
        """Whether reading has begun."""
        return self._at > 0

    def readable(self) -> bool:
        """See RawIOBase."""
        return True

    def readinto(self, buffer: Any) -> int:
        """See RawIOBase."""
        data = self.start[self._at : self._at + len(buffer)] or self._file.read(len(buffer))
        self._at += len(data)
        buffer[: len(data)] = data
        return len(data)


def _piped(path: Path) -> _Pipe:
    """The contents of a pipe, decompressed."""
    # Closed with the process.
    raw = _Pipe(open(path, "rb"), _MAGIC_BYTES)  # noqa: SIM115
    buffered = io.BufferedReader(raw, _PIPE_BYTES)
    return _Pipe(_decompressor(buffered, _compression(raw.start)).__enter__(), HEAD_BYTES + 1)


class _Members(io.RawIOBase):
    """The contents of compressed members, one after the other. What follows a member and is not
    one raises the decompressor's error, where LZMAFile and BZ2File would end without a word."""

    def __init__(self, file: IO[bytes], begin: Callable[[], Any], padding: bytes = b"") -> None:
        self._file = file
        self._begin = begin
        self._padding = padding
        self._member = begin()

    def readable(self) -> bool:
        """See RawIOBase."""
        return True

    def readinto(self, buffer: Any) -> int:
        """See RawIOBase. EOFError if a member is cut short."""
        data = b""
        while not data:
            if self._member.eof:
                rest = self._next_member()
                if not rest:
                    return 0
                self._member = self._begin()
            else:
                rest = self._file.read(_PIPE_BYTES) if self._member.needs_input else b""
                if not rest and self._member.needs_input:
                    raise EOFError("it ends within its compressed data")
            data = self._member.decompress(rest, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _next_member(self) -> bytes:
        """The bytes from the next member on; empty at the end of the file."""
        rest: bytes = self._member.unused_data.lstrip(self._padding)
        while not rest:
            block = self._file.read(_PIPE_BYTES)
            if not block:
                return b""
            rest = block.lstrip(self._padding)
        return rest


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole lines, the last perhaps without its newline."""

    data: bytes
    line: int  # number of the first one, from 1


class Source:
    """A trace's file. Each reading begins at its start.

    @share: files that are read at once, which share the memory for blocks
    @once: its contents are read once, its head before, so that it may be a pipe
    """

    def __init__(self, path: Path, share: int = 1, once: bool = False) -> None:
        self.path = path
        self._share = share
        self._pipe: _Pipe | None = None
        try:
            mode = os.stat(path).st_mode
        except FileNotFoundError as error:
            raise files.missing(path) from error
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', error)}") from error
        if stat.S_ISFIFO(mode):
            if not once:
                raise UsageError(
                    f"{path} is a pipe, and the trace is read more than once; store it in a file"
                )
            with self._reading():
                self._pipe = _piped(path)
        elif not stat.S_ISREG(mode):
            raise UsageError(f"{path} is not a file; expected a trace")

    @property
    def is_pipe(self) -> bool:
        """Whether the path cannot be opened again."""
        return self._pipe is not None

    @property
    def compression(self) -> str:
        """gz, xz, zst, lz4, bz2 or nothing."""
        with self._reading(), open(self.path, "rb") as file:
            return _compression(file.read(_MAGIC_BYTES))

    def head(self) -> Head:
        """The beginning, decompressed."""
        if self._pipe is not None:
            data = self._pipe.start
            return Head(self.path, data[:HEAD_BYTES], len(data) <= HEAD_BYTES, is_pipe=True)
        with self.open() as file, self._reading():
            data = _read(file, HEAD_BYTES)
            return Head(self.path, data, not file.read(1))

    @contextlib.contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The contents, decompressed; to be read within reading()."""
        if self._pipe is not None:
            if self._pipe.is_read:
                raise UsageError(f"{self.path} is a pipe, which can be read once")
            yield cast("IO[bytes]", self._pipe)
            return
        compression = self.compression
        with self._reading():
            raw = open(self.path, "rb")  # noqa: SIM115 # closed below together with its decompressor
        with raw, _decompressor(raw, compression) as file:
            yield file

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Failures of reading as sentences."""
        try:
            yield
        except (EOFError, zlib.error, lzma.LZMAError) as error:
            raise UsageError(f"{self.path} is damaged: {error}") from error
        except OSError as error:
            # Decompressors raise it without a number.
            if error.errno is None:
                raise UsageError(f"{self.path} is damaged: {error}") from error
            raise SpekError(f"cannot read {self.path}: {error.strerror}") from error

    def blocks(self, size: int = CHUNK_BYTES) -> Iterator[bytes]:
        """The contents in blocks of @size bytes, or less if files share it; the last is shorter."""
        size = max(size // self._share, min(size, _BLOCK_LEAST))
        with self.open() as file:
            while True:
                with self._reading():
                    data = _read(file, size)
                if not data:
                    return
                yield data

    def chunks(self, skip_lines: int = 0, size: int = CHUNK_BYTES) -> Iterator[Chunk]:
        """The lines in chunks, without the first @skip_lines and a byte order mark. A line longer
        than LINE_MAX is cut into lines of that length, which no format accepts."""
        line, rest, is_first = 1, b"", True
        for block in self.blocks(size):
            data = rest + (block.removeprefix(BOM_UTF8) if is_first else block)
            if is_first and b"\r" in data[:-1] and b"\n" not in data:
                raise UsageError(
                    f"the lines of {self.path} end in carriage returns alone; a trace's end in"
                    " newlines"
                )
            is_first = False
            end = data.rfind(b"\n") + 1
            if not end and len(data) >= LINE_MAX:
                end = len(data)
            whole, rest = data[:end], data[end:]
            if whole:
                count = whole.count(b"\n")
                chunk = _without(whole, line, skip_lines)
                if chunk.data:
                    yield chunk
                line += count
        if rest:
            chunk = _without(rest, line, skip_lines)
            if chunk.data:
                yield chunk


def _without(data: bytes, line: int, skip_lines: int) -> Chunk:
    start = 0
    while line <= skip_lines and start < len(data):
        end = data.find(b"\n", start)
        if end < 0:
            return Chunk(b"", line)
        start, line = end + 1, line + 1
    return Chunk(data[start:], line)


def _read(file: IO[bytes], size: int) -> bytes:
    """Exactly @size bytes unless the file ends: decompressors return less when they like."""
    parts: list[bytes] = []
    left = size
    while left:
        data = file.read(left)
        if not data:
            break
        parts.append(data)
        left -= len(data)
    return b"".join(parts)


def _compression(start: bytes) -> str:
    return next((name for magic, name in _MAGIC if start.startswith(magic)), "")


def _decompressor(raw: IO[bytes], compression: str) -> contextlib.AbstractContextManager[IO[bytes]]:
    reader: Any = contextlib.nullcontext(raw)
    if compression == "gz":
        import gzip

        reader = gzip.GzipFile(fileobj=raw)
    elif compression == "xz":
        # Between members and at the end there may be zeroes.
        reader = io.BufferedReader(_Members(raw, lzma.LZMADecompressor, padding=b"\0"))
    elif compression == "bz2":
        import bz2

        reader = io.BufferedReader(_Members(raw, bz2.BZ2Decompressor))
    elif compression in _BY_ARROW:
        import pyarrow as pa

        reader = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), _BY_ARROW[compression])
    return cast("contextlib.AbstractContextManager[IO[bytes]]", reader)
