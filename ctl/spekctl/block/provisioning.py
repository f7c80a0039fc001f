# SPDX-License-Identifier: GPL-2.0-or-later
"""Blocks that nothing is stored for: those of thin volumes, of trimmed disks, of sparse files.

A read of such a block returns zeroes without reaching the medium, at the speed of nothing. sysfs
tells which devices can have them; how many there are, only of a loop device's file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spekctl import recorded
from spekctl.block.device import Device, queue_attribute
from spekctl.workload.config import ResolvedStream


@dataclass(frozen=True, slots=True)
class Unwritten:
    """What is known of a device's blocks without data.

    @likely: it has some, or is a thin volume, which has all of them until it is written
    """

    text: str
    likely: bool


def of(device: Device, root: Path = Path("/")) -> Unwritten | None:
    """What to say of a device; None: sysfs knows of no such blocks. @root: of the machine."""
    disk = device.sysfs.parent if device.partition else device.sysfs
    stored = _stored(disk, root)
    if stored is not None:
        allocated, size = stored
        if allocated >= size:
            return None
        share = allocated / size
        return Unwritten(f"its file is sparse: {share:.1%} of it is allocated", True)
    if any(_text(path) == "1" for path in disk.glob("device/scsi_disk/*/thin_provisioning")):
        return Unwritten("it is a thin volume, whose blocks are allocated when written", True)
    granularity = queue_attribute(device, "discard_granularity")
    if queue_attribute(device, "discard_max_bytes") in ("", "0") or granularity in ("", "0"):
        return None
    return Unwritten(f"it takes discards (in units of {granularity} bytes)", False)


def remarks(devices: Sequence[Device], streams: Sequence[ResolvedStream]) -> list[str]:
    """What a result says of the devices whose reads may not reach the medium."""
    if not any(stream.weight and stream.read_ppm for stream in streams):
        return []
    known = [(device.path, of(device)) for device in devices]
    return [
        recorded.text(
            f"{path}: {unwritten.text}; reads of blocks that hold nothing do not reach the medium,"
            " and do not measure it"
        )
        for path, unwritten in known
        if unwritten is not None and unwritten.likely
    ]


def _stored(disk: Path, root: Path) -> tuple[int, int] | None:
    """Bytes allocated to the file of a loop device, and its size; None of other devices."""
    name = _text(disk / "loop/backing_file")
    if not name:
        return None
    try:
        status = os.stat(root / name.lstrip("/"))
    except OSError:
        return None
    return (status.st_blocks * 512, status.st_size) if status.st_size else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
