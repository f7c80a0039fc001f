# SPDX-License-Identifier: GPL-2.0-or-later
"""Follows the log of a set as the module does after a restart, without the module.

The next record is there if a device that the newest generation uses has its header, with the
generation that the superblock lists for its sequence number, and has all its data, with the
checksums of the header. If no device has all of it, its blocks are taken from whichever device has
them, provided that it is known to have been there: something of it cannot be read, or it is from
before the newest generation. The log ends before the first place without a record. An older record
there, or none, is an end; the next record, but torn or damaged, is a break, and so is a block that
cannot be read. A power cut in the middle of a write also leaves a break; nothing in that write was
acknowledged as flushed. An end before the newest generation is a break as well: all records were
flushed before it began.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from spekctl.augment import format
from spekctl.augment.format import LOG_START, SSD, Header, Superblock, name_of
from spekctl.augment.reader import Reader

Range = tuple[int, int]  # first block, and the one after the last


@dataclass(frozen=True, slots=True)
class Break:
    """A record that should follow but is broken or unreadable on all devices that may have it."""

    seq: int
    place: int  # block of the log
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Log:
    """What the log holds. @single: records that only one of several devices has intact; @scattered:
    records that no device has intact, but all together; @unread: devices that may have the next
    record, but cannot be read there."""

    records: int
    blocks: int
    used: int
    single: int
    ranges: tuple[Range, ...]
    broken: Break | None
    unread: tuple[int, ...] = ()
    scattered: int = 0

    @property
    def end(self) -> int:
        """The block of the RAID after the last one that the log has."""
        return max((last for _, last in self.ranges), default=0)


def follow(newest: Superblock, readers: Mapping[int, Reader], data: bool = True) -> Log:
    """@readers: of the devices of the newest generation, by their numbers. @data: check the data
    too, not only headers."""
    walk = _Walk(newest, readers)
    single, scattered = 0, 0
    ranges: list[Range] = []
    while True:
        record = walk.look(data)
        holders = record.holders()
        if record.header is None or not (holders or walk.takes_parts(record)):
            break
        single += len(holders) == 1 < len(readers)
        scattered += not holders
        if record.header.blocks:
            ranges.append((record.header.block, record.header.block + record.header.blocks))
        walk.go_on(record.header)
    reasons = tuple(reason for _, reason in sorted(record.reasons.items()))
    if not reasons and walk.seq < walk.begun_seq:
        reasons = (f"the superblocks tell of records up to {walk.begun_seq - 1}",)
    merged = _merged(ranges)
    return Log(
        records=walk.seq - newest.tail_seq,
        blocks=sum(last - first for first, last in merged),
        used=walk.used,
        single=single,
        ranges=tuple(merged),
        broken=Break(walk.seq, walk.place, reasons) if reasons else None,
        unread=tuple(sorted(record.unread)),
        scattered=scattered,
    )


@dataclass(slots=True)
class _Record:
    """What the devices have of the next record. @headers: devices that have its header; @has: of
    each block of data, the devices that have it; @unread: devices that may have the record, but
    could not be read; @reasons: what is wrong on a device."""

    header: Header | None = None
    headers: set[int] = field(default_factory=set)
    has: list[set[int]] = field(default_factory=list)
    unread: set[int] = field(default_factory=set)
    reasons: dict[int, str] = field(default_factory=dict)

    def holders(self) -> set[int]:
        """Devices that have all of it."""
        return self.headers.intersection(*self.has)


class _Walk:
    """The place of the next record, and the devices."""

    def __init__(self, newest: Superblock, readers: Mapping[int, Reader]) -> None:
        self._newest = newest
        self._readers = readers
        self.place, self.seq, self.used = newest.tail, newest.tail_seq, 0
        self.begun_seq = newest.spans[-1].first_seq

    def go_on(self, header: Header) -> None:
        """To the record after this one."""
        self.used += 1 + header.blocks
        self.place += 1 + header.blocks
        self.place = 0 if self.place == self._newest.log_blocks else self.place
        self.seq += 1

    def look(self, data: bool) -> _Record:
        """What the devices have here; without @data, as if data were wherever a header is."""
        record = _Record()
        for number in sorted(self._readers):
            self._look_at_header(record, number)
        if record.header is None or not data:
            return record
        record.has = [set() for _ in range(record.header.blocks)]
        self._look_at_data(record, record.header, sorted(record.headers))
        others = self._readers.keys() - record.headers
        # Most members without a header of a record that others have have nothing of it.
        if record.holders():
            others &= record.unread | {SSD}
        self._look_at_data(record, record.header, sorted(others))
        return record

    def takes_parts(self, record: _Record) -> bool:
        """Whether a record of which no device has all counts: what a power cut leaves of a write
        does not."""
        was_there = self.seq < self.begun_seq or bool(record.unread)
        return was_there and all(record.has)

    def _look_at_header(self, record: _Record, number: int) -> None:
        block = self._readers[number].each(LOG_START + self.place, 1)
        if not block:
            record.reasons[number] = f"{name_of(number)} ends before it"
            return
        if block[0] is None:
            record.reasons[number] = f"the header cannot be read on {name_of(number)}"
            record.unread.add(number)
            return
        header = format.header(block[0])
        if header is None:
            if format.is_damaged_header(block[0]):
                record.reasons[number] = f"the header on {name_of(number)} is damaged"
            return
        newest = self._newest
        is_ours = header.uuid == newest.uuid and header.generation == newest.generation_of(self.seq)
        if not is_ours or header.seq < self.seq:
            return
        if wrong := self._wrong(header):
            record.reasons[number] = f"{wrong} on {name_of(number)}"
        elif record.header not in (None, header):
            record.reasons[number] = f"the header on {name_of(number)} is another one"
        else:
            record.header = header
            record.headers.add(number)

    def _wrong(self, header: Header) -> str:
        if header.seq != self.seq:
            return f"record {header.seq} is there instead"
        log_blocks = self._newest.log_blocks
        rest = log_blocks - self.place
        if header.blocks >= rest or self.used + 1 + header.blocks >= log_blocks:
            return f"the header has an impossible length of {header.blocks} blocks"
        return ""

    def _look_at_data(self, record: _Record, header: Header, numbers: Iterable[int]) -> None:
        for number in numbers:
            blocks = self._readers[number].each(LOG_START + self.place + 1, header.blocks)
            wrong = ""
            for index, crc in enumerate(header.crc):
                block = blocks[index] if index < len(blocks) else b""
                if block is None:
                    wrong = "a block of the data cannot be read"
                elif format.checksum(block) == crc:
                    record.has[index].add(number)
                else:
                    wrong = wrong or f"block {index} of the data has another checksum"
            # What a device with another header cannot read need not be of this record.
            if wrong and number in record.headers:
                record.reasons[number] = f"{wrong} on {name_of(number)}"
                if None in blocks:
                    record.unread.add(number)


def _merged(ranges: list[Range]) -> list[Range]:
    merged: list[Range] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged
