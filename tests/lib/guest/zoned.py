# SPDX-License-Identifier: GPL-2.0
"""Zoned disks, and their zones by the kernel's ioctls."""

from __future__ import annotations

import contextlib
import fcntl
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from lib.guest.disks import make_disk, settle
from lib.guest.drive import queue_of
from lib.guest.modules import unload_soon
from lib.guest.netlink import MIB

# linux/blkzoned.h
BLKREPORTZONE, BLKRESETZONE, BLKOPENZONE = 0xC0101282, 0x40101283, 0x40101286
BLKFINISHZONE = 0x40101288
HEADER, ZONE = struct.Struct("=QII"), struct.Struct("=QQQ4B4xQ24x")
EMPTY, IMPLICIT, EXPLICIT, CLOSED, FULL = 1, 2, 3, 4, 14
ACTIVE = (IMPLICIT, EXPLICIT, CLOSED)
ZONE_MIB = 4
SIZE = ZONE_MIB * MIB


@dataclass(frozen=True)
class Zone:
    """A zone as the device reports it; bytes."""

    start: int
    conventional: bool
    cond: int
    pointer: int
    capacity: int


def zones_of(node: str) -> list[Zone]:
    """The zones of a device, by ioctl BLKREPORTZONE; a full one's pointer is its capacity."""
    count = int((queue_of(node) / "nr_zones").read_text())
    buffer = bytearray(HEADER.pack(0, count, 0) + bytes(ZONE.size * count))
    with open(node, "rb") as device:
        fcntl.ioctl(device, BLKREPORTZONE, buffer)
    _sector, reported, _flags = HEADER.unpack_from(buffer)
    assert reported == count
    zones = []
    for start, length, wp, kind, cond, *_, capacity in ZONE.iter_unpack(buffer[HEADER.size :]):
        capacity = (capacity or length) * 512
        pointer = capacity if cond == FULL else (wp - start) * 512
        zones.append(Zone(start * 512, kind == 1, cond, pointer, capacity))
    return zones


def command(node: str, request: int, zone: Zone) -> None:
    with open(node, "r+b") as device:
        fcntl.ioctl(device, request, struct.pack("=QQ", zone.start // 512, SIZE // 512))


@contextlib.contextmanager
def zbc_disk() -> Iterator[str]:
    """A disk of scsi_debug that the host manages: 2 conventional zones, at most 4 open ones."""
    options = {"zbc": "managed", "zone_size_mb": str(ZONE_MIB), "zone_nr_conv": "2"}
    node = make_disk(
        {
            "kind": "scsi_debug",
            "bytes": 64 * MIB,
            "block_size": 4096,
            "options": {**options, "zone_max_open": "4"},
        }
    )
    try:
        yield node
    finally:
        settle()
        unload_soon("scsi_debug")
