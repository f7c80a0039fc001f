# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the SPC-1-like load is dense, and a device that keeps those ranges on a fast disk.

The walks and the log have a sixth of the capacity and five sixths of the I/Os. A tiering array
finds and moves such ranges by itself; here a device-mapper table puts them on the fast disk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from spekctl import units
from spekctl.block import device as devices
from spekctl.block.device import Device
from spekctl.errors import UsageError
from spekctl.workload.config import RunConfig

SECTOR = 512
GRAIN = 1 << 20


@dataclass(frozen=True, slots=True)
class HotRange:
    """A range of the device that has more I/Os than its share of the capacity."""

    start: int
    end: int
    share: float  # of the I/Os

    @property
    def bytes(self) -> int:
        """Size of the range."""
        return self.end - self.start


def hot_ranges(config: RunConfig, capacity: int) -> list[HotRange]:
    """Ranges of streams with more than their share of I/Os, by address; @config has one target."""
    weights = sum(stream.weight for stream in config.streams)
    ranges = []
    for stream in config.streams:
        (extent,) = config.asus[stream.asu].extents
        share = stream.weight / weights
        if share * capacity <= stream.range_bytes:
            continue
        first = extent.start + stream.range_start
        start = first // GRAIN * GRAIN
        end = min(-(-(first + stream.range_bytes) // GRAIN) * GRAIN, capacity)
        ranges.append(HotRange(start, end, share))
    return sorted(ranges, key=lambda hot_range: hot_range.start)


def check_room(hot: Sequence[HotRange], slow: Device, fast: Device) -> None:
    """Refuse a pair of disks that cannot be put together."""
    needed = sum(hot_range.bytes for hot_range in hot)
    if (fast.major, fast.minor) == (slow.major, slow.minor):
        raise UsageError(f"--slow and --fast are both {slow.path}")
    if devices.same_bytes(slow, fast):
        raise UsageError(f"--slow {slow.path} and --fast {fast.path} lie on the same bytes")
    if fast.bytes < needed:
        raise UsageError(
            f"{fast.path} has {units.format_bytes(fast.bytes)}; the dense ranges of"
            f" {slow.path} need {units.format_bytes(needed)}"
        )
    for device in (slow, fast):
        if GRAIN % device.logical_block:
            raise UsageError(f"{device.path} has logical blocks of {device.logical_block} bytes")


def mapping_uuid(slow: Device, fast: Device) -> str:
    """What `dmsetup create --uuid` is to be given: it stands for both disks, whatever their numbers
    are, and is what a mapping has for a serial number, by which a test that is resumed knows its
    device. The UUID of an md array is not part of it, as earlier versions had none."""
    facts = [
        (disk.model, _serial(disk), disk.wwn, disk.partition, disk.bytes) for disk in (slow, fast)
    ]
    text = "\n".join(str(fact) for disk in facts for fact in disk)
    return f"SPEK_TIERED-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def _serial(disk: Device) -> str:
    return "" if disk.driver == "md" or disk.driver.startswith("md_") else disk.serial


def device_map(hot: Sequence[HotRange], slow: Device, fast: Device) -> str:
    """The table for dmsetup: @slow, with its hot ranges on @fast instead. dmsetup skips its first
    line, a comment with the UUID of the mapping."""
    lines = [f"# uuid {mapping_uuid(slow, fast)}\n"]
    at = used = 0
    for hot_range in hot:
        if hot_range.start > at:
            lines.append(_line(at, hot_range.start, slow, at))
        lines.append(_line(hot_range.start, hot_range.end, fast, used))
        used += hot_range.bytes
        at = hot_range.end
    end = slow.bytes // SECTOR * SECTOR
    if end > at:
        lines.append(_line(at, end, slow, at))
    return "".join(lines)


def _line(start: int, end: int, device: Device, offset: int) -> str:
    length = (end - start) // SECTOR
    return f"{start // SECTOR} {length} linear {device.major}:{device.minor} {offset // SECTOR}\n"
