# SPDX-License-Identifier: GPL-2.0
"""The bytes of traces: compressed in five ways, cut short, and no files at all."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from lib.ctl.traces import read, read_text

from spekctl.errors import UsageError
from spekctl.trace.source import HEAD_BYTES, Source

TEXT = "".join(f"0,{index},512,r,{index}.25\n" for index in range(5000)).encode()


def by_arrow(name: str) -> Callable[[bytes], bytes]:
    return lambda data: bytes(pa.Codec(name).compress(data, asbytes=True))


COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": by_arrow("zstd"),
    "lz4": by_arrow("lz4"),
}


@pytest.mark.parametrize("kind", COMPRESSED)
def test_compressed_files_are_read_whatever_their_names(kind: str, tmp_path: Path) -> None:
    plain, _ = read_text(tmp_path, TEXT.decode())
    path = tmp_path / "no suffix"
    path.write_bytes(COMPRESSED[kind](TEXT))
    assert Source(path).compression == kind
    rows, trace = read(path)
    assert (rows, trace.faults.bad) == (plain, 0)


@pytest.mark.parametrize("kind", COMPRESSED)
def test_members_one_after_the_other_are_one_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "two"
    path.write_bytes(COMPRESSED[kind](TEXT) + COMPRESSED[kind](TEXT))
    rows, _ = read(path)
    assert len(rows) == 10_000


@pytest.mark.parametrize("kind", COMPRESSED)
def test_a_file_that_is_cut_short_is_damaged(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "short"
    whole = COMPRESSED[kind](TEXT)
    path.write_bytes(whole[: len(whole) - 20])
    with pytest.raises(UsageError, match="short is damaged: "):
        read(path)


@pytest.mark.parametrize("kind", COMPRESSED)
@pytest.mark.parametrize("tail", [b"garbage", b"\xfd7zXZ\x00broken", b"BZh9broken"])
def test_what_follows_the_last_member_is_not_dropped(
    kind: str, tail: bytes, tmp_path: Path
) -> None:
    """A damaged second member would be lost otherwise, with all its records."""
    path = tmp_path / "long"
    path.write_bytes(COMPRESSED[kind](TEXT) + tail)
    with pytest.raises(UsageError, match="long is damaged: "):
        read(path)


@pytest.mark.parametrize("zeroes", [4, 512, 3 << 20])
def test_xz_files_may_end_in_zeroes(zeroes: int, tmp_path: Path) -> None:
    plain, _ = read_text(tmp_path, TEXT.decode())
    path = tmp_path / "padded"
    member = lzma.compress(TEXT)
    path.write_bytes(member + bytes(zeroes))
    assert read(path)[0] == plain
    path.write_bytes(member + bytes(zeroes) + member)
    assert len(read(path)[0]) == 2 * len(plain)


def test_lines_that_end_in_carriage_returns_alone_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"at_us,offset_sectors,op,bytes,note\r5,8,read,4096,x\r6,9,w,1,y\r")
    with pytest.raises(UsageError, match=r"the lines of .*old end in carriage returns alone"):
        read(path)


def test_lines_are_whole_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"a\nbb\n\nccc\ndddd")
    for size in range(1, 20):
        chunks = list(Source(path).chunks(1, size))
        assert b"".join(chunk.data for chunk in chunks) == b"bb\n\nccc\ndddd"
        line = 2
        for chunk in chunks:
            assert chunk.line == line
            line += chunk.data.count(b"\n")


MARK = "\ufeff".encode()


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "marked"
    path.write_bytes(MARK + b"\n\na\n" + MARK + b"b\n")
    source = Source(path)
    assert source.head().text == b"\n\na\n" + MARK + b"b\n"
    assert next(source.head().numbered()) == (3, "a")
    for size in range(3, 9):
        data = b"".join(chunk.data for chunk in source.chunks(0, size))
        assert data == b"\n\na\n" + MARK + b"b\n"


@contextlib.contextmanager
def piped(folder: Path, data: bytes) -> Iterator[Path]:
    """A pipe that somebody writes @data into, the first byte by itself."""
    path = folder / "pipe"
    os.mkfifo(path)

    def write() -> None:
        with open(path, "wb", buffering=0) as file, contextlib.suppress(BrokenPipeError):
            file.write(data[:1])
            time.sleep(0.05)
            file.write(data[1:])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield path
    finally:
        writer.join()
        path.unlink()


@pytest.mark.parametrize("kind", ["plain", *COMPRESSED])
def test_a_pipe_is_read_once(kind: str, tmp_path: Path) -> None:
    data = TEXT * 2  # longer than the head
    with piped(tmp_path, COMPRESSED.get(kind, bytes)(data)) as path:
        source = Source(path, once=True)
        assert source.is_pipe
        for _ in range(2):
            head = source.head()
            assert (head.data, head.whole, head.is_pipe) == (data[:HEAD_BYTES], False, True)
        assert b"".join(source.blocks(1000)) == data
        assert source.head().data == data[:HEAD_BYTES]
        with pytest.raises(UsageError, match="pipe is a pipe, which can be read once"):
            next(source.blocks())


def test_a_short_pipe_is_whole(tmp_path: Path) -> None:
    with piped(tmp_path, b"ab") as path:
        source = Source(path, once=True)
        assert (source.head().data, source.head().whole) == (b"ab", True)
        assert b"".join(source.blocks()) == b"ab"


def test_a_damaged_pipe_is_said_to_be(tmp_path: Path) -> None:
    with (
        piped(tmp_path, gzip.compress(TEXT)[:-20]) as path,
        pytest.raises(UsageError, match="pipe is damaged: "),
    ):
        list(Source(path, once=True).blocks())


def test_what_reads_more_than_once_needs_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="is a pipe, and the trace is read more than once"):
        Source(tmp_path / "pipe")
