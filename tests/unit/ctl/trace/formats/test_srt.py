# SPDX-License-Identifier: GPL-2.0
"""SRT traces of HP: records, and what is wrong with some."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from lib.ctl.traces import read


def srt(kind: int, version: int, *words: int) -> bytes:
    size = 8 + 4 * len(words)
    return struct.pack(f">II{len(words)}I", size, version << 16 | kind, *words)


def io(second: int, micro: int, size: int, sector: int, disk: int, read: bool) -> tuple[int, ...]:
    return (second, micro, 10, 20, size, sector, disk << 8, 1, 2, int(read) | 0x100, 0)


SRT_HEADER = b'$$TR_IOREC-1.3\ntracedate = "Sat May 30 00:03:06 1992";\n\x0c'


def test_srt(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(
        SRT_HEADER
        + srt(1, 1, *io(5, 7, 8192, 16, 3, True))
        + srt(6, 2, 1, 2, 3)
        + srt(1, 4, *io(5, 9, 1024, 99, 4, False), 17)
        + srt(4, 4, *io(6, 0, 512, 0, 3, False), 17, 1)
    )
    rows, trace = read(path)
    assert trace.parts[0].format.name == "srt"
    assert rows == [
        (0, "3", 8192, 8192, "read"),
        (2000, "4", 99 * 512, 1024, "write"),
        (999_993_000, "3", 0, 512, "write"),
    ]
    assert (trace.faults.bad, trace.faults.ignored) == (0, 1)


@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        (struct.pack(">II", 7, 1 << 16), "a record of 7 bytes; the remainder of the file"),
        (struct.pack(">II", 60, 9 << 16), "version 9 instead of 1 to 4; the remainder"),
        (srt(1, 1, 2, 3), "an I/O of 16 bytes; the remainder"),
        (srt(1, 1, *io(5, 7, 8192, 16, 3, True))[:-1], "the file ends within it"),
    ],
)
def test_broken_records_of_srt(tail: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(SRT_HEADER + srt(1, 1, *io(5, 7, 8192, 16, 3, True)) + tail)
    rows, trace = read(path)
    assert (len(rows), trace.faults.bad) == (1, 1)
    assert trace.faults.first is not None
    assert trace.faults.first.number == 2
    assert trace.faults.first.reason.startswith(reason)


def test_a_header_without_end_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(SRT_HEADER[:-1])
    rows, trace = read(path)
    assert rows == []
    assert trace.faults.first is not None
    assert trace.faults.first.reason == "no form feed ends the header"


def test_a_header_without_end_does_not_fill_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spekctl.trace.formats.srt._HEADER_MOST", 100)
    monkeypatch.setattr("spekctl.trace.formats.srt.CHUNK_BYTES", 60)
    path = tmp_path / "t"
    path.write_bytes(b"$$TR_IOREC" + b"x" * 1000 + SRT_HEADER)
    rows, trace = read(path)
    assert (rows, trace.faults.bad) == ([], 1)
