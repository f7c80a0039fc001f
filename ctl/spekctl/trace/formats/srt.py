# SPDX-License-Identifier: GPL-2.0-or-later
"""HP's SRT: cello92, hplajw, and cello99 where it is in this form.

A header of text, ended by a form feed, and big-endian records of 32-bit words: size of the record,
version (upper half) and type (lower half), s, us, start, stop, bytes, sector, device, driver,
cylinder, flags, info, and in version 4 the queue's length. Types 1 and 4 are I/O; the words of the
others are their own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from spekctl.trace.columns import SECTOR_BYTES, Batch, Op, batch_of
from spekctl.trace.formats.format import Format, Reading
from spekctl.trace.source import CHUNK_BYTES, Head

_FIRST = b"$$TR_IOREC"
_FORM_FEED = b"\x0c"
_SHORT, _SUSPECT = 1, 4
_VERSIONS = range(1, 5)
# Words of an I/O record, without those of its version and type.
_WORDS = 13
_SIZE_MOST = 1 << 16
_HEADER_MOST = 4 << 20
_READ_FLAG = 1
_HEAD = struct.Struct(">II")


def _likeness(head: Head) -> float:
    return float(head.data.startswith(_FIRST))


def _read(reading: Reading) -> Iterator[Batch]:
    buffer, in_header, records = b"", True, 0
    for block in reading.source.blocks(CHUNK_BYTES):
        buffer += block
        if in_header:
            end = buffer.find(_FORM_FEED)
            if end < 0 and len(buffer) < _HEADER_MOST:
                continue
            if end < 0:
                break
            buffer, in_header = buffer[end + 1 :], False
        places, used, reason = _scan(buffer)
        if places:
            yield from _batches(buffer, places, reading)
        records += len(places)
        if reason:
            # Without the size of a record the next one can't be found.
            text = f"{reason}; the remainder of the file is not read"
            reading.faults.add(reading.source.path, records + 1, text, "record")
            return
        buffer = buffer[used:]
    if in_header:
        reading.faults.add(reading.source.path, 1, "no form feed ends the header", "record")
    elif buffer:
        reading.faults.add(reading.source.path, records + 1, "the file ends within it", "record")


def _scan(data: bytes) -> tuple[list[int], int, str]:
    """Where whole records begin, the bytes they take, and why there is no further one."""
    places: list[int] = []
    at, end = 0, len(data)
    while at + 8 <= end:
        size, kind = _HEAD.unpack_from(data, at)
        if size % 4 or not 8 <= size <= _SIZE_MOST:
            return places, at, f"a record of {size} bytes"
        if kind >> 16 not in _VERSIONS:
            return places, at, f"version {kind >> 16} instead of 1 to 4"
        if at + size > end:
            break
        if kind & 0xFFFF in (_SHORT, _SUSPECT) and size < 4 * _WORDS:
            return places, at, f"an I/O of {size} bytes"
        places.append(at)
        at += size
    return places, at, ""


def _batches(data: bytes, places: list[int], reading: Reading) -> Iterator[Batch]:
    words = np.frombuffer(data, ">u4", len(data) // 4).astype(np.uint32)
    starts = np.array(places, np.int64) // 4
    kind = words[starts + 1] & 0xFFFF
    io = (kind == _SHORT) | (kind == _SUSPECT)
    reading.faults.ignored += int(len(io) - io.sum())
    starts = starts[io]
    if not len(starts):
        return
    second, micro, size, sector, device, flags = (
        words[starts + index] for index in (2, 3, 6, 7, 8, 11)
    )
    yield batch_of(
        second.astype(np.int64) * 10**9 + micro.astype(np.int64) * 1000,
        reading.devices.of_numbers(device >> 8 & 0xFF),
        sector.astype(np.uint64) * np.uint64(SECTOR_BYTES),
        size,
        np.where(flags & _READ_FLAG, np.uint8(Op.READ), np.uint8(Op.WRITE)),
    )


FORMAT = Format("srt", "HP SRT (cello)", _likeness, _read)
