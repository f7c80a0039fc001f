# SPDX-License-Identifier: GPL-2.0
"""Traces of CloudPhysics."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from lib.ctl.traces import read


def vscsi(version: int, *rows: tuple[int, int, int, int]) -> bytes:
    """Records (command, bytes, sector, us)."""
    if version == 1:
        return b"".join(
            struct.pack("<IIIHHQQ", number, size, 1, command, 0x100, sector, at)
            for number, (command, size, sector, at) in enumerate(rows)
        )
    return b"".join(
        struct.pack("<HHIIIQQQ", command, 0x200, number, size, 1, sector, at, 99)
        for number, (command, size, sector, at) in enumerate(rows)
    )


@pytest.mark.parametrize("version", [1, 2])
def test_cloudphysics(version: int, tmp_path: Path) -> None:
    path = tmp_path / "t"
    data = vscsi(
        version,
        (0x28, 4096, 8, 1000),
        (0x2A, 512, 2**40, 1003),
        (0x35, 7, 7, 1004),
        (0x12, 96, 0, 1005),
        (0x8A, 512, 1, 1006),
    )
    path.write_bytes(data + data[:5])
    rows, trace = read(path)
    assert trace.parts[0].format.name == "vscsi"
    assert rows == [
        (0, "0", 4096, 4096, "read"),
        (3000, "0", 512 << 40, 512, "write"),
        (4000, "0", 0, 0, "flush"),
        (6000, "0", 512, 512, "write"),
    ]
    assert (trace.faults.ignored, trace.faults.bad) == (1, 1)
    assert trace.faults.first is not None
    assert trace.faults.first.text == f"{path}: record 6: the file ends within it"


def test_wrong_records_of_cloudphysics_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t"
    good = vscsi(1, *[(0x28, 512, n, n) for n in range(100)])
    path.write_bytes(good + b"\xff" * 32 + good)
    rows, trace = read(path)
    assert (len(rows), trace.faults.bad) == (200, 1)
    assert trace.faults.first is not None
    assert trace.faults.first.text == f"{path}: record 101: version 255 instead of 1"


@pytest.mark.parametrize("version", [1, 2])
def test_the_first_record_may_be_damaged(version: int, tmp_path: Path) -> None:
    path = tmp_path / "t"
    good = vscsi(version, *[(0x28, 512, n, n) for n in range(100)])
    path.write_bytes(b"\xff" * (len(good) // 100) + good)
    for name in ("", "vscsi"):
        rows, trace = read(path, format=name)
        assert trace.parts[0].format.name == "vscsi"
        assert (len(rows), trace.faults.bad) == (100, 1)
        assert trace.faults.first is not None
        assert trace.faults.first.number == 1
