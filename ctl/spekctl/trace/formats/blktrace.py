# SPDX-License-Identifier: GPL-2.0-or-later
"""blktrace's binary form, versions 7 and 8, of either byte order.

blktrace writes a file per CPU (sda.blktrace.0 ...), each in order of time; `blkparse -d` merges
them. A record may be followed by pdu_len bytes, which also hold a cgroup's id. Version 8, since
Linux 6.19, has operations of zones. The arrival of an I/O is its queueing (Q); requests
issued to the driver (D) may be merged.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from spekctl.trace.columns import (
    END_MAX,
    IGNORED,
    SECTOR_BYTES,
    Array,
    Batch,
    Flag,
    Op,
    batch_of,
)
from spekctl.trace.formats.fiu import numbered
from spekctl.trace.formats.format import Format, Reading
from spekctl.trace.source import CHUNK_BYTES, Head

_MAGIC = 0x65617400
_MEMBERS_7 = [
    ("magic", "u4"),
    ("sequence", "u4"),
    ("time", "u8"),
    ("sector", "u8"),
    ("bytes", "u4"),
    ("action", "u4"),
    ("pid", "u4"),
    ("device", "u4"),
    ("cpu", "u4"),
    ("error", "u2"),
    ("pdu_len", "u2"),
]
_MEMBERS_8 = [
    ("magic", "u4"),
    ("sequence", "u4"),
    ("time", "u8"),
    ("sector", "u8"),
    ("bytes", "u4"),
    ("pid", "u4"),
    ("action", "u8"),
    ("device", "u4"),
    ("cpu", "u4"),
    ("error", "u2"),
    ("pdu_len", "u2"),
    ("pad", "V12"),
]


@dataclass(frozen=True, slots=True)
class _Kind:
    """A version in a byte order."""

    magic: bytes
    record: np.dtype[Any]
    pdu_len: struct.Struct


def _kinds() -> tuple[_Kind, ...]:
    kinds = []
    for version, members in ((7, _MEMBERS_7), (8, _MEMBERS_8)):
        for order in "<>":
            record = np.dtype([(name, order + kind) for name, kind in members])
            magic = struct.pack(order + "I", _MAGIC | version)
            kinds.append(_Kind(magic, record, struct.Struct(order + "H")))
    return tuple(kinds)


KINDS = _kinds()

# Actions, the lower half of the member; 0x100 says that a cgroup's id is in the pdu.
_ACTIONS = {"queue": 1, "issue": 7}
_CGROUP = 0x100
# blkparse's letters of the actions from 1 on.
_LETTERS = "QMFGSRDCPUTIXBA"
# Categories, above.
_CATEGORY_SHIFT = 16
_READ, _WRITE, _FLUSH = 1 << 0, 1 << 1, 1 << 2
_PASSTHROUGH, _NOTIFY, _DISCARD, _FUA = 1 << 9, 1 << 10, 1 << 13, 1 << 15
_ZONES = (
    (1 << 16, Op.ZONE_APPEND),
    (1 << 17, Op.ZONE_RESET),
    (1 << 19, Op.ZONE_FINISH),
    (1 << 20, Op.ZONE_OPEN),
    (1 << 21, Op.ZONE_CLOSE),
    (1 << 22, Op.WRITE_ZEROES),
)
_RESET_ALL = 1 << 18


def _first(data: bytes) -> tuple[int, _Kind] | None:
    """Where the first magic number of a kind is, and the kind."""
    starts = [(place, kind) for kind in KINDS if (place := data.find(kind.magic)) >= 0]
    return min(starts, key=lambda start: start[0], default=None)


def _likeness(head: Head) -> float:
    first = _first(head.data)
    if first is None:
        return 0.0
    place, kind = first
    if place == 0:
        return 1.0
    # The first records are damaged, or these bytes are a magic number by chance.
    places: list[int] = []
    _scan(head.data, place, kind, places, lost=True, more=not head.whole)
    return 0.5 if places else 0.0


def _read(reading: Reading) -> Iterator[Batch]:
    first = _first(reading.source.head().data)
    kind = KINDS[0] if first is None else first[1]
    source, faults = reading.source, reading.faults
    # Position of the buffer's first byte in the file; records are named by theirs.
    buffer, position = b"", 0
    lost = False
    for block in itertools.chain(source.blocks(CHUNK_BYTES), [b""]):
        buffer += block
        places: list[int] = []
        at = 0
        while True:
            before = at
            at, is_partial = _scan(buffer, at, kind, places, lost, bool(block))
            lost = lost and at == before
            if len(buffer) - at < len(kind.magic) or (is_partial and block):
                break
            if not lost:
                reason = _PARTIAL if is_partial else "no record of blktrace begins here"
                faults.add(source.path, position + at + 1, reason, "byte")
                lost = True
            # Continue at the next magic number.
            next_at = buffer.find(kind.magic, at + 1)
            at = next_at if next_at >= 0 else len(buffer) - len(kind.magic) + 1
            if next_at < 0:
                break
        if places:
            yield from _events(buffer, places, kind, position, reading)
        buffer, position = buffer[at:], position + at
    if buffer and not lost:
        faults.add(source.path, position + 1, _PARTIAL, "byte")


_PARTIAL = "the file ends within the record"


def _scan(
    data: bytes, at: int, kind: _Kind, places: list[int], lost: bool, more: bool
) -> tuple[int, bool]:
    """Append the offsets of consecutive complete records from @at. Returns the end of the last,
    and whether an incomplete record begins there. @lost: the first record is accepted only if
    another record or the end of the file follows. @more: this is not the end of the file."""
    size, magic = kind.record.itemsize, kind.magic
    unpack, at_len = kind.pdu_len.unpack_from, kind.record.fields["pdu_len"][1]  # type: ignore[index]
    end = len(data)
    while data[at : at + 4] == magic:
        after = at + size
        if after <= end:
            after += unpack(data, at + at_len)[0]
        if after > end or (lost and more and after + len(magic) > end):
            return at, True
        if lost and after < end and not data.startswith(magic, after):
            return at, False
        lost = False
        places.append(at)
        at = after
    return at, False


def _rows(data: bytes, places: list[int], kind: _Kind) -> Array:
    """The records at these places."""
    starts = np.array(places, np.int64)
    steps = np.diff(starts)
    if len(steps) and steps[0] == steps.min() == steps.max():
        # At equal distances: as they lie.
        return np.ndarray(len(starts), kind.record, data, places[0], (int(steps[0]),))
    raw = np.frombuffer(data, np.uint8)
    gathered = raw[starts[:, None] + np.arange(kind.record.itemsize)]
    rows: Array = gathered.view(kind.record).reshape(-1)
    return rows


def _events(
    data: bytes, places: list[int], kind: _Kind, position: int, reading: Reading
) -> Iterator[Batch]:
    rows = _rows(data, places, kind)
    action = rows["action"].astype(np.uint64)
    category = action >> np.uint64(_CATEGORY_SHIFT)
    wanted = (action & np.uint64(0xFFFF & ~_CGROUP)) == _ACTIONS[reading.options.event]
    wanted &= (category & np.uint64(_NOTIFY)) == 0
    op, flags = _operations(category, rows["bytes"])
    wanted &= op != IGNORED
    far = rows["sector"] > (END_MAX - 2**32) // SECTOR_BYTES
    far |= rows["time"] >= 1 << 63
    for place in np.flatnonzero(wanted & far).tolist():
        number = position + places[place] + 1
        reading.faults.add(reading.source.path, number, "time or sector beyond all devices", "byte")
    reading.faults.ignored += int(len(rows) - wanted.sum())
    left = action[~wanted & ((category & np.uint64(_NOTIFY)) == 0)] & np.uint64(0xFFFF & ~_CGROUP)
    numbers, counts = np.unique(left, return_counts=True)
    for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
        if 1 <= number <= len(_LETTERS):
            reading.faults.add_events(_LETTERS[number - 1], count)
    usable = wanted & ~far
    rows, op, flags = rows[usable], op[usable], flags[usable]
    if not len(rows):
        return
    device = rows["device"].astype(np.uint64)
    addressed = op != Op.FLUSH
    yield batch_of(
        rows["time"].astype(np.int64),
        reading.devices.of_words(
            numbered(device >> np.uint64(20), device & np.uint64((1 << 20) - 1))
        ),
        np.where(addressed, rows["sector"].astype(np.uint64) * np.uint64(SECTOR_BYTES), 0),
        np.where(addressed, rows["bytes"], 0),
        op,
        flags,
    )


def _operations(category: Array, size: Array) -> tuple[Array, Array]:
    """Operation and flags of each category; IGNORED for events that are not I/O."""

    def has(bit: int) -> Array:
        is_set: Array = (category & np.uint64(bit)) != 0
        return is_set

    op = np.full(len(category), IGNORED, np.uint8)
    op[has(_READ)] = Op.READ
    op[has(_WRITE)] = Op.WRITE
    op[has(_DISCARD)] = Op.DISCARD
    for bit, zone in _ZONES:
        op[has(bit)] = zone
    # Without data it is a flush; with data it is a flush before a write.
    op[has(_FLUSH) & (size == 0)] = Op.FLUSH
    op[has(_PASSTHROUGH) | has(_RESET_ALL)] = IGNORED
    write = op == Op.WRITE
    flags = np.where(write & has(_FUA), int(Flag.FUA), 0)
    flags |= np.where(write & has(_FLUSH), int(Flag.PREFLUSH), 0)
    return op, flags.astype(np.uint8)


FORMAT = Format("blktrace", "blktrace binary, versions 7 and 8", _likeness, _read)
