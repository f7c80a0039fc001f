# SPDX-License-Identifier: GPL-2.0
"""The log of dm-log-writes as bytes, and the disks that it tells of."""

from __future__ import annotations

import io
import random

import pytest
from lib.guest.write_log import ENTRY, MAGIC, SUPER, Entry, Kind, Moment, entries, moments

SECTOR = 512
A, B, C = (bytes([value]) * SECTOR for value in (1, 2, 3))


def log(*parts: Entry, magic: int = MAGIC, sector: int = SECTOR) -> io.BytesIO:
    """As the kernel writes it."""
    data = SUPER.pack(magic, 1, len(parts), sector).ljust(sector, b"\0")
    for part in parts:
        mark = part.mark.encode()
        sizes = part.start // sector, len(part.data) // sector
        data += (ENTRY.pack(*sizes, part.kind, len(mark)) + mark).ljust(sector, b"\0") + part.data
    return io.BytesIO(data)


def write(start: int, data: bytes, kind: Kind = Kind.WRITE) -> Entry:
    return Entry(kind, start * SECTOR, data)


def mark(text: str) -> Entry:
    return Entry(Kind.MARK, mark=text)


FLUSH = Entry(Kind.FLUSH)


def sectors(moment: Moment) -> list[int]:
    return [int(value) for value in moment.image[::SECTOR]]


@pytest.mark.parametrize("sector", [512, 4096])
def test_entries_are_read_as_they_were_written(sector: int) -> None:
    parts = [
        mark("begin"),
        Entry(Kind.METADATA, sector, b"a" * sector),
        Entry(Kind.FUA, 3 * sector, b"b" * 2 * sector),
        FLUSH,
    ]
    assert entries(log(*parts, sector=sector)) == parts


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (log(magic=1), "no log"),
        (log(Entry(Kind.DISCARD)), "discard"),
        (io.BytesIO(log(write(0, A)).getvalue()[:-1]), "ends in entry 0 of 1"),
        (io.BytesIO(log(FLUSH).getvalue()[:-1]), "ends before entry 0 of 1"),
    ],
)
def test_what_is_no_log_is_refused(broken: io.BytesIO, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        entries(broken)


def test_writes_wait_for_a_flush_unless_they_have_fua() -> None:
    parts = [write(2, C, Kind.FUA), mark("0"), write(0, A), write(1, B), FLUSH, mark("1")]
    seen = [
        (sectors(moment), moment.mark)
        for moment in moments(parts, 3 * SECTOR, random.Random(1))
        if not moment.is_partial
    ]
    assert seen == [([0, 0, 3], "0"), ([1, 2, 3], "1")]


def test_any_sectors_of_what_waits_may_be_there_before_a_flush() -> None:
    parts = [write(0, A + A), write(1, B), FLUSH]
    seen = {
        tuple(sectors(moment))
        for seed in range(100)
        for moment in moments(parts, 2 * SECTOR, random.Random(seed))
        if moment.is_partial
    }
    assert seen == {(a, b) for a in (0, 1) for b in (0, 1, 2)}
