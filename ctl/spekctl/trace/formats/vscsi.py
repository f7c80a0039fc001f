# SPDX-License-Identifier: GPL-2.0-or-later
"""CloudPhysics' traces of virtual SCSI disks: binary, little endian, without a header.

Version 1, 32 bytes: u32 serial number, u32 bytes, u32 elements, u16 command, u16 version, u64
sector, u64 us. Version 2, 40 bytes: u16 command, u16 version, u32 serial number, u32 bytes, u32
elements, u64 sector, u64 us, u64 response time. The version is the upper byte of its member.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spekctl.trace.columns import END_MAX, IGNORED, SECTOR_BYTES, Array, Batch, Op, batch_of
from spekctl.trace.formats.format import Format, Reading
from spekctl.trace.source import Head

_V1 = np.dtype(
    [
        ("serial", "<u4"),
        ("bytes", "<u4"),
        ("elements", "<u4"),
        ("command", "<u2"),
        ("version", "<u2"),
        ("sector", "<u8"),
        ("at_us", "<u8"),
    ]
)
_V2 = np.dtype(
    [
        ("command", "<u2"),
        ("version", "<u2"),
        ("serial", "<u4"),
        ("bytes", "<u4"),
        ("elements", "<u4"),
        ("sector", "<u8"),
        ("at_us", "<u8"),
        ("response", "<u8"),
    ]
)
_KINDS = {1: _V1, 2: _V2}
_TOLD_BY = 64
# SCSI commands that transfer data, by their opcodes.
_COMMANDS = {
    **dict.fromkeys((0x08, 0x28, 0x88, 0xA8), int(Op.READ)),
    **dict.fromkeys((0x0A, 0x2A, 0x8A, 0xAA, 0x2E, 0x8E, 0xAE), int(Op.WRITE)),
    **dict.fromkeys((0x35, 0x91), int(Op.FLUSH)),
    **dict.fromkeys((0x41, 0x93), int(Op.WRITE_ZEROES)),
}
_OPS = np.full(256, IGNORED, np.uint8)
for _opcode, _op in _COMMANDS.items():
    _OPS[_opcode] = _op


def _share(head: Head, number: int) -> float:
    """Of the first records, those that may be of this version."""
    kind = _KINDS[number]
    count = min(_TOLD_BY, len(head.data) // kind.itemsize)
    rows = np.frombuffer(head.data, kind, count)
    # Any file of zeros has version 0: this one says 1 or 2 in its records.
    like = (rows["version"] >> 8 == number) & (rows["command"] < 256)
    return float(like.mean()) if count else 0.0


def _version(head: Head) -> int:
    return max(_KINDS, key=lambda number: _share(head, number))


def _likeness(head: Head) -> float:
    return _share(head, _version(head))


def _read(reading: Reading) -> Iterator[Batch]:
    version = _version(reading.source.head())
    kind = _KINDS[version]
    records = 0
    rest = b""
    for block in reading.source.blocks(kind.itemsize << 16):
        data = rest + block
        count = len(data) // kind.itemsize
        rest = data[count * kind.itemsize :]
        rows = np.frombuffer(data, kind, count)
        wrong = _wrong(rows, version)
        for place in np.flatnonzero(wrong).tolist():
            reason = _reason(rows[place], version)
            reading.faults.add(reading.source.path, records + place + 1, reason, "record")
        records += count
        rows = rows[~wrong]
        op = _OPS[np.minimum(rows["command"], 255)]
        is_io = op != IGNORED
        reading.faults.ignored += int(len(op) - is_io.sum())
        rows, op = rows[is_io], op[is_io]
        addressed = op != Op.FLUSH
        if len(rows):
            yield batch_of(
                rows["at_us"].astype(np.int64) * 1000,
                reading.devices.number("0"),
                np.where(addressed, rows["sector"] * np.uint64(SECTOR_BYTES), 0),
                np.where(addressed, rows["bytes"], 0),
                op,
            )
    if rest:
        reading.faults.add(reading.source.path, records + 1, "the file ends within it", "record")


def _wrong(rows: Array, version: int) -> Array:
    wrong: Array = (
        (rows["version"] >> 8 != version)
        | (rows["command"] > 255)
        | (rows["at_us"] > (2**63 - 1) // 1000)
        | (rows["sector"] > (END_MAX - 2**32) // SECTOR_BYTES)
    )
    return wrong


def _reason(row: Array, version: int) -> str:
    if row["version"] >> 8 != version:
        return f"version {int(row['version']) >> 8} instead of {version}"
    if row["command"] > 255:
        return f"command {int(row['command']):#x} is not a SCSI opcode"
    return "time or sector beyond all devices"


FORMAT = Format("vscsi", "CloudPhysics vSCSI, versions 1 and 2", _likeness, _read)
