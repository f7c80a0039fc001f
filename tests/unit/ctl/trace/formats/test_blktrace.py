# SPDX-License-Identifier: GPL-2.0
"""blktrace's binary form: two versions, two byte orders, cgroups, files per CPU, broken files."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.traces import Record, read, records

from spekctl.errors import UsageError
from spekctl.trace.trace import open_trace

READ, WRITE, FLUSH, SYNC = 1 << 0, 1 << 1, 1 << 2, 1 << 3
QUEUE, ISSUE, PC, NOTIFY, DISCARD, FUA = 1 << 4, 1 << 6, 1 << 9, 1 << 10, 1 << 13, 1 << 15
CGROUP = 0x100
SDA = 8 << 20
SDB = 8 << 20 | 16


def event(
    category: int,
    at: int = 0,
    sector: int = 0,
    size: int = 0,
    *,
    action: int = 1,
    device: int = SDA,
    pdu: bytes = b"",
    version: int = 7,
    order: str = "<",
) -> bytes:
    magic = 0x65617400 | version
    whole = category << 16 | action
    if version == 7:
        head = struct.pack(
            order + "IIQQIIIIIHH", magic, 1, at, sector, size, whole, 77, device, 0, 0, len(pdu)
        )
    else:
        head = struct.pack(
            order + "IIQQIIQIIHH12x", magic, 1, at, sector, size, 77, whole, device, 0, 0, len(pdu)
        )
    return head + pdu


def trace(path: Path, *events: bytes, **options: Any) -> tuple[list[Record], Any]:
    path.write_bytes(b"".join(events))
    return read(path, **options)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("version", [7, 8])
def test_both_versions_in_both_byte_orders(version: int, order: str, tmp_path: Path) -> None:
    kind: Any = {"version": version, "order": order}
    rows, whole = trace(
        tmp_path / "t",
        event(NOTIFY, pdu=b"kworker/0:1\0\0\0\0\0", action=0, **kind),
        event(READ | QUEUE, 1000, 8, 4096, **kind),
        event(WRITE | QUEUE | SYNC, 3000, 16, 512, device=SDB, **kind),
        event(WRITE | QUEUE | FUA, 4000, 24, 512, **kind),
        event(WRITE | QUEUE | FUA | FLUSH, 4000, 32, 512, **kind),
        event(WRITE | QUEUE | FLUSH, 5000, 0, 0, **kind),
        event(DISCARD | WRITE | QUEUE, 6000, 40, 1 << 20, **kind),
        event(READ | QUEUE | PC, 7000, 0, 36, **kind),
    )
    assert whole.parts[0].format.name == "blktrace"
    assert rows == [
        (0, "8,0", 4096, 4096, "read"),
        (2000, "8,16", 8192, 512, "write"),
        (3000, "8,0", 12288, 512, "write+"),
        (3000, "8,0", 16384, 512, "write+^"),
        (4000, "8,0", 0, 0, "flush"),
        (5000, "8,0", 20480, 1 << 20, "discard"),
    ]
    assert (whole.faults.bad, whole.faults.ignored) == (0, 2)


def test_zones_and_zeroes_of_version_8(tmp_path: Path) -> None:
    bits = {
        16: "zone-append",
        17: "zone-reset",
        19: "zone-finish",
        20: "zone-open",
        21: "zone-close",
        22: "write-zeroes",
    }
    events = [event(WRITE | 1 << bit, bit, 8, 512, version=8) for bit in [*bits, 18]]
    rows, whole = trace(tmp_path / "t", *events)
    assert sorted(row[4] for row in rows) == sorted(bits.values())
    assert whole.faults.ignored == 1  # a reset of all zones


def test_queue_records_of_a_cgroup_are_not_missed(tmp_path: Path) -> None:
    cgroup = struct.pack("<Q", 4711)
    rows, _ = trace(
        tmp_path / "t",
        event(READ | QUEUE, 5, 8, 512, action=1 | CGROUP, pdu=cgroup),
        event(READ | QUEUE, 6, 9, 512),
    )
    assert [row[2] for row in rows] == [4096, 4608]


def test_the_event_is_chosen(tmp_path: Path) -> None:
    events = [
        event(READ | QUEUE, 10, 8, 512),
        event(READ | ISSUE, 30, 8, 1024, action=7),
        event(READ, 90, 8, 1024, action=8),
    ]
    rows, whole = trace(tmp_path / "t", *events)
    assert (rows, whole.faults.ignored) == ([(0, "8,0", 4096, 512, "read")], 2)
    rows, _ = trace(tmp_path / "t", *events, event="issue")
    assert rows == [(0, "8,0", 4096, 1024, "read")]


def test_files_of_cpus_are_merged_by_time(tmp_path: Path) -> None:
    paths = [tmp_path / f"sda.blktrace.{cpu}" for cpu in range(3)]
    for cpu, path in enumerate(paths):
        path.write_bytes(
            b"".join(event(READ | QUEUE, 100 + 3 * n + cpu, 3 * n + cpu, 512) for n in range(2000))
        )
    rows = records(open_trace(paths))
    assert [row[2] // 512 for row in rows] == list(range(6000))
    assert [row[0] for row in rows] == list(range(6000))


def test_reading_goes_on_behind_garbage(tmp_path: Path) -> None:
    first = event(READ | QUEUE, 1, 8, 512)
    rows, whole = trace(
        tmp_path / "t", first, b"garbage" * 100, event(READ | QUEUE, 2, 9, 512), first[:30]
    )
    assert [row[2] for row in rows] == [4096, 4608]
    assert whole.faults.bad == 2
    assert whole.faults.first.text == (
        f"{tmp_path / 't'}: byte 49: no record of blktrace begins here"
    )


def test_each_stretch_of_garbage_is_one_bad_record_whatever_the_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import spekctl.trace.formats.blktrace as module

    good = event(READ | QUEUE, 1, 8, 512)
    # Also what looks like the beginning of a record.
    data = good * 3 + b"\x07tae" * 9 + b"x" * 301 + good + b"y" * 78 + good * 2 + b"\x07ta"
    for size in (10, 49, 128, 8 << 20):
        monkeypatch.setattr(module, "CHUNK_BYTES", size)
        rows, whole = trace(tmp_path / "t", data)
        # A record alone among garbage is none.
        assert (len(rows), whole.faults.bad) == (5, 2), size
        assert whole.faults.first.number == 3 * 48 + 1


def test_bad_records_of_later_blocks_are_named_by_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import spekctl.trace.formats.blktrace as module

    monkeypatch.setattr(module, "CHUNK_BYTES", 100)
    good, far = event(READ | QUEUE, 1, 8, 512), event(READ | QUEUE, 1, 2**60, 512)
    _, whole = trace(tmp_path / "t", good * 20, far, good)
    assert whole.faults.first.number == 20 * 48 + 1


def test_half_a_record_at_the_end_is_one_bad_record(tmp_path: Path) -> None:
    whole_event = event(READ | QUEUE, 1, 8, 512)
    for cut in (1, 3, 20, 47):
        rows, whole = trace(tmp_path / "t", whole_event, whole_event[:cut])
        assert (len(rows), whole.faults.bad) == (1, 1), cut
    # The pdu is missing.
    rows, whole = trace(tmp_path / "t", whole_event, event(READ, pdu=b"abcd")[:-1])
    assert (len(rows), whole.faults.first.reason) == (1, "the file ends within the record")


def test_strict_refuses_an_address_beyond_all_devices(tmp_path: Path) -> None:
    bad = event(READ | QUEUE, 1, 2**60, 512)
    _, whole = trace(tmp_path / "t", bad)
    assert whole.faults.first.reason == "time or sector beyond all devices"
    with pytest.raises(UsageError, match=r"byte 1: time or sector .* \(--strict\)"):
        trace(tmp_path / "t", bad, strict=True)


def test_records_across_blocks_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import spekctl.trace.formats.blktrace as module

    events = [event(READ | QUEUE, n, n, 512, pdu=b"x" * (n % 13), action=1) for n in range(200)]
    for size in (50, 64, 1000):
        monkeypatch.setattr(module, "CHUNK_BYTES", size)
        rows, whole = trace(tmp_path / "t", *events)
        assert [row[2] // 512 for row in rows] == list(range(200))
        assert whole.faults.bad == 0


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("version", [7, 8])
def test_the_first_record_may_be_damaged(version: int, order: str, tmp_path: Path) -> None:
    good = [event(READ | QUEUE, n, n, 512, version=version, order=order) for n in range(3)]
    garbage = b"x" + good[0][1:]
    for options in ({}, {"format": "blktrace"}):
        rows, whole = trace(tmp_path / "t", garbage, *good, **options)
        assert (len(rows), whole.faults.bad) == (3, 1)
        assert whole.faults.first.number == 1


def test_a_magic_number_by_chance_is_no_trace(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a trace of a known format"):
        trace(tmp_path / "t", b"some bytes\x07tae and so on" * 20)


def test_a_trace_without_the_events_asked_for_names_those_there_are(tmp_path: Path) -> None:
    events = (
        event(READ | ISSUE, 1000, 8, 4096, action=7),
        event(READ | ISSUE, 2000, 16, 4096, action=7 | CGROUP, pdu=b"12345678"),
        event(READ, 3000, 8, 4096, action=8),
    )
    sentence = r"t has no queue events \(Q\), but 1 C, 2 D; read it with --event issue$"
    with pytest.raises(UsageError, match=sentence):
        trace(tmp_path / "t", *events)
    assert len(trace(tmp_path / "t", *events, event="issue")[0]) == 2
    # A processor that only completes has a file of its own.
    (tmp_path / "u").write_bytes(event(READ | QUEUE, 500, 8, 4096))
    assert len(records(open_trace([tmp_path / "t", tmp_path / "u"]))) == 1
