# SPDX-License-Identifier: GPL-2.0-or-later
"""The zones of a zoned disk, as the disk reports them now."""

from __future__ import annotations

import fcntl
import os
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from spekctl.block import opening
from spekctl.documents.device import DeviceFacts
from spekctl.errors import RefusedError

# linux/blkzoned.h
_BLKREPORTZONE = 0xC0101282
_HEADER = struct.Struct("=QII")
_ZONE = struct.Struct("=QQQ4B4xQ24x")
_HAS_CAPACITY = 1
_AT_ONCE = 1024
_OFFLINE, _READ_ONLY = 15, 13
# Empty, open by itself or by command, closed, full: as kmod/load/zone.c has it.
_AT_POINTER = (1, 2, 3, 4, 14)
_FAILURE = re.compile(r"^(?:read|write|zone \w+|discard) of .* at byte (\d+) of (\S+) failed: ")


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone; bytes.

    @capacity: most that can be written at its write pointer; 0: nothing, as of a conventional zone
    """

    start: int
    bytes: int
    condition: int
    capacity: int = 0

    @property
    def is_offline(self) -> bool:
        """It can be neither read nor written."""
        return self.condition == _OFFLINE


def report(disk: DeviceFacts, start: int = 0, count: int | None = None) -> list[Zone]:
    """At most @count zones of a disk from the one with byte @start on.

    None of a partition, of a disk without zones, or of one that is gone or was replaced.
    """
    if disk.zoned == "none":
        return []  # and is not opened: that may need rights that others have
    if Path(f"/sys/dev/block/{disk.major}:{disk.minor}/partition").exists():
        return []
    try:
        fd = opening.open_block_device(disk.path, os.O_RDONLY, (disk.major, disk.minor))
    except (OSError, RefusedError):
        return []
    try:
        return _report(fd, start // 512, count)
    except OSError:
        return []
    finally:
        os.close(fd)


def _report(disk: int, sector: int, count: int | None) -> list[Zone]:
    zones: list[Zone] = []
    while count is None or len(zones) < count:
        wanted = _AT_ONCE if count is None else min(_AT_ONCE, count - len(zones))
        buffer = bytearray(_HEADER.pack(sector, wanted, 0) + bytes(_ZONE.size * wanted))
        fcntl.ioctl(disk, _BLKREPORTZONE, buffer)
        _sector, number, flags = _HEADER.unpack_from(buffer)
        reported = buffer[_HEADER.size : _HEADER.size + number * _ZONE.size]
        for first, length, _pointer, _kind, condition, *_, most in _ZONE.iter_unpack(reported):
            capacity = most if flags & _HAS_CAPACITY else length
            if condition not in _AT_POINTER:
                capacity = 0
            zones.append(Zone(first * 512, length * 512, condition, capacity * 512))
            sector = first + length
        if number < wanted:
            break
    return zones


class Reporter(Protocol):
    """report(), of this process or of a helper that may open the disk."""

    def __call__(
        self, disk: DeviceFacts, start: int = 0, count: int | None = None
    ) -> list[Zone]: ...


def offline(disk: DeviceFacts, report_zones: Reporter = report) -> list[Zone]:
    """Zones of a disk that are offline."""
    return [zone for zone in report_zones(disk) if zone.is_offline]


def explained(failure: str, disks: Sequence[DeviceFacts], report_zones: Reporter = report) -> str:
    """A failure in the kernel's words, and what the zone that it was in has to do with it."""
    seen = _FAILURE.match(failure)
    if not seen:
        return failure
    for disk in disks:
        if disk.name != seen[2]:
            continue
        for zone in report_zones(disk, int(seen[1]), 1):
            if zone.is_offline:
                return f"{failure}: its zone is offline"
            if zone.condition == _READ_ONLY and not failure.startswith("read"):
                return f"{failure}: its zone can only be read"
    return failure
