# SPDX-License-Identifier: GPL-2.0-or-later
"""Follows the log of a set as the module does after a restart, without the module.

A record is valid if its header and all its data are intact on a device that the newest generation
uses, and if its generation is that which the superblock lists for its sequence number. The log ends
before the first place without a valid record. An older record there, or none, is an end; the next
record, but torn or damaged, is a break, and so is a block that cannot be read. A power cut in the
middle of a write also leaves a break; nothing in that write was acknowledged as flushed. An end
before the newest generation is a break as well: all records were flushed before it began.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spekctl.augment import format
from spekctl.augment.format import LOG_START, Header, Superblock, name_of
from spekctl.augment.reader import Reader
from spekctl.errors import SpekError

Range = tuple[int, int]  # first block, and the one after the last


@dataclass(frozen=True, slots=True)
class Break:
    """A record that should follow but is broken or unreadable on all devices that may have it."""

    seq: int
    place: int  # block of the log
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Log:
    """What the log holds. @single: records that only one of several devices has intact; @unread:
    devices that may have the next record, but cannot be read there."""

    records: int
    blocks: int
    used: int
    single: int
    ranges: tuple[Range, ...]
    broken: Break | None
    unread: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        """The block of the RAID after the last one that the log has."""
        return max((last for _, last in self.ranges), default=0)


def follow(newest: Superblock, readers: Mapping[int, Reader], data: bool = True) -> Log:
    """@readers: of the devices of the newest generation, by their numbers. @data: check the data
    too, not only headers."""
    place, seq, used, single = newest.tail, newest.tail_seq, 0, 0
    ranges: list[Range] = []
    while True:
        intact, reasons, unread = _next(newest, readers, place, seq, used, data)
        if not intact:
            break
        header = next(iter(intact.values()))
        single += len(intact) == 1 < len(readers)
        if header.blocks:
            ranges.append((header.block, header.block + header.blocks))
        used += 1 + header.blocks
        place += 1 + header.blocks
        place = 0 if place == newest.log_blocks else place
        seq += 1
    begun_seq = newest.spans[-1].first_seq
    if not reasons and seq < begun_seq:
        reasons = [f"the superblocks tell of records up to {begun_seq - 1}"]
    merged = _merged(ranges)
    return Log(
        records=seq - newest.tail_seq,
        blocks=sum(last - first for first, last in merged),
        used=used,
        single=single,
        ranges=tuple(merged),
        broken=Break(seq, place, tuple(reasons)) if reasons else None,
        unread=tuple(unread),
    )


def _next(
    newest: Superblock,
    readers: Mapping[int, Reader],
    place: int,
    seq: int,
    used: int,
    data: bool,
) -> tuple[dict[int, Header], list[str], list[int]]:
    """The next record on each device that has it intact, what is wrong on the others, and which of
    them cannot be read."""
    intact: dict[int, Header] = {}
    reasons: list[str] = []
    unread: list[int] = []
    for number, reader in readers.items():
        try:
            read = reader.blocks(LOG_START + place, 1)
        except SpekError:
            reasons.append(f"the header cannot be read on {name_of(number)}")
            unread.append(number)
            continue
        if not read:
            reasons.append(f"{name_of(number)} ends before it")
            continue
        header = format.header(read[0])
        if header is None:
            if format.is_damaged_header(read[0]):
                reasons.append(f"the header on {name_of(number)} is damaged")
            continue
        is_ours = header.uuid == newest.uuid and header.generation == newest.generation_of(seq)
        if not is_ours or header.seq < seq:
            continue
        wrong = _wrong(newest, header, place, seq, used)
        if not wrong and data:
            try:
                wrong = _wrong_data(reader, header, place)
            except SpekError:
                wrong = "a block of the data cannot be read"
                unread.append(number)
        if wrong:
            reasons.append(f"{wrong} on {name_of(number)}")
        else:
            intact[number] = header
    return intact, reasons, unread


def _wrong(newest: Superblock, header: Header, place: int, seq: int, used: int) -> str:
    if header.seq != seq:
        return f"record {header.seq} is there instead"
    rest = newest.log_blocks - place
    if header.blocks >= rest or used + 1 + header.blocks >= newest.log_blocks:
        return f"the header has an impossible length of {header.blocks} blocks"
    return ""


def _wrong_data(reader: Reader, header: Header, place: int) -> str:
    if not header.blocks:
        return ""
    blocks = reader.blocks(LOG_START + place + 1, header.blocks)
    for index, crc in enumerate(header.crc):
        if index >= len(blocks) or format.checksum(blocks[index]) != crc:
            return f"block {index} of the data has another checksum"
    return ""


def _merged(ranges: list[Range]) -> list[Range]:
    merged: list[Range] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged
