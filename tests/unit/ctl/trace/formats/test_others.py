# SPDX-License-Identifier: GPL-2.0
"""Systor '17, FIU, blkreplay, CloudPhysics and SRT, from their published descriptions."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from lib.ctl.traces import read, read_text, real

HEADER = "Timestamp,Response,IOType,LUN,Offset,Size\n"
SYSTOR = """\
1456095145.133076000,0.000806000,R,0,899056122368,131072
1456095145.133076123,,,3,8192,512
1456095146.233076000,0.000806000,W,6,8193,512
"""


@pytest.mark.parametrize("header", ["", HEADER])
def test_systor(header: str, tmp_path: Path) -> None:
    found, trace = read_text(tmp_path, header + SYSTOR)
    assert trace.parts[0].format.name == "systor"
    assert found == [
        (0, "0", 899056122368, 131072, "read"),
        (1_100_000_000, "6", 8193, 512, "write"),
    ]
    assert (trace.faults.bad, trace.faults.ignored) == (0, 1)
    assert trace.devices.names == ["0", "6"]
    assert trace.faults.notes == [
        "records without a response are left out: their type is not recorded"
    ]


def test_fiu(tmp_path: Path) -> None:
    md5 = "56f11b5f1d1c1e1a1b1c1d1e1f101112"
    text = f"89968195792462 20782 gzip 283193184 8 R 6 0 {md5}\n"
    text += f"89968195799999 20782 kworker/0:1 8 16 W 8 16 {md5}\n"
    found, trace = read_text(tmp_path, text + "1 2 x y 8 W 8 16 0\n")
    assert trace.parts[0].format.name == "fiu"
    assert found == [
        (0, "6,0", 283193184 * 512, 4096, "read"),
        (7537, "8,16", 4096, 8192, "write"),
    ]
    assert trace.faults.first is not None
    assert trace.faults.first.reason == "lba 'y' is not a whole number"


BLKREPLAY = """\
Copyright of some company; do as you like.

start ; sector; length ; op ;  replay_delay=0 ; replay_duration=0
and the head once more
start ; sector; length ; op ;  replay_delay=0 ; replay_duration=0
      0.000000000 ;     37766853 ;   64 ; W ; 0.0 ; 0.0
      0.449518165 ;     37766917 ;   14 ;RA ; 0.0 ; 0.0
      0.400000000 ;            0 ;    1 ; R ; 0.0 ; 0.0
"""


def test_blkreplay(tmp_path: Path) -> None:
    found, trace = read_text(tmp_path, BLKREPLAY + "0.5 ; 1 ; 1 ; Q ; 0 ; 0\n0.5 ; 1\n")
    assert trace.parts[0].format.name == "blkreplay"
    assert found == [
        (0, "0", 37766853 * 512, 32768, "write"),
        (400_000_000, "0", 0, 512, "read"),
        (449_518_165, "0", 37766917 * 512, 7168, "read"),
    ]
    assert (trace.faults.bad, trace.faults.unordered) == (2, 1)
    assert trace.faults.first is not None
    assert (trace.faults.first.number, trace.faults.first.reason) == (9, "unknown operation 'Q'")


@pytest.mark.parametrize(
    ("name", "requests", "reads", "span_s"),
    [
        ("linux-mysql", 80_794, 7_187, 3599),
        ("windows-mssql", 42_976, 2_528, 3062),
        ("windows-shared-server", 1_371, 0, 3597),
    ],
)
def test_real_traces(name: str, requests: int, reads: int, span_s: int) -> None:
    found, trace = read(real(f"{name}.load.gz"))
    assert (len(found), trace.faults.bad) == (requests, 0)
    assert sum(one[4] == "read" for one in found) == reads
    assert found[-1][0] // 10**9 == span_s


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
    found, trace = read(path)
    assert trace.parts[0].format.name == "vscsi"
    assert found == [
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
    found, trace = read(path)
    assert (len(found), trace.faults.bad) == (200, 1)
    assert trace.faults.first is not None
    assert trace.faults.first.text == f"{path}: record 101: version 255 instead of 1"


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
    found, trace = read(path)
    assert trace.parts[0].format.name == "srt"
    assert found == [
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
    found, trace = read(path)
    assert (len(found), trace.faults.bad) == (1, 1)
    assert trace.faults.first is not None
    assert trace.faults.first.number == 2
    assert trace.faults.first.reason.startswith(reason)


def test_a_header_without_end_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(SRT_HEADER[:-1])
    found, trace = read(path)
    assert found == []
    assert trace.faults.first is not None
    assert trace.faults.first.reason == "no form feed ends the header"


def test_a_header_without_end_does_not_fill_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spekctl.trace.formats.srt._HEADER_MOST", 100)
    monkeypatch.setattr("spekctl.trace.formats.srt.CHUNK_BYTES", 60)
    path = tmp_path / "t"
    path.write_bytes(b"$$TR_IOREC" + b"x" * 1000 + SRT_HEADER)
    found, trace = read(path)
    assert (found, trace.faults.bad) == ([], 1)
