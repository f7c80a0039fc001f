# SPDX-License-Identifier: GPL-2.0-or-later
"""The drives that a device lies on, of which it may be a partition, a volume, an array, a
namespace or a loop device: what loses power or its cache together."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from spekctl.block.device import ROOTS, Device, Roots, by_number

# Levels of stacked devices to follow; the kernel limits the depth of some drivers only.
_DEEPEST = 20


class Name(NamedTuple):
    """An identifier of a drive. @certain: it belongs to a single drive; otherwise all drives of a
    system, such as a disk array or a virtual controller, may share it."""

    text: str
    certain: bool


def in_common(left: Device, right: Device, roots: Roots = ROOTS) -> list[Name]:
    """What says that two devices lie on the same drive, by whatever path or namespace: what is
    certain first; nothing if they do not."""
    common = _drives(left, roots) & _drives(right, roots)
    return sorted(common, key=lambda name: (not name.certain, name.text))


def _drives(device: Device, roots: Roots, depth: int = 0) -> set[Name]:
    """Names of the drives below a device: each of them by all names that it shares with other
    disks of it."""
    disk = device.sysfs.parent if device.partition else device.sysfs
    below = list(_lower(disk, roots)) if depth < _DEEPEST else []
    if below:
        return {name for lower in below for name in _drives(lower, roots, depth + 1)}
    names = {Name(path, True) for path in (device.disk, *device.other_paths) if path}
    # Namespaces of one drive, by whichever of its controllers: each has a WWN of its own.
    if nqn := _text(disk / "device" / "subsysnqn"):
        names.add(Name(f"NVMe subsystem {nqn}", False))
    if device.serial in device.shared:
        of_model = f" of {device.model}" if device.model else ""
        names.add(Name(f"serial number {device.serial}{of_model}", False))
    return names


def _lower(disk: Path, roots: Roots) -> Iterator[Device]:
    """What a stacked device or a loop device directly lies on."""
    numbers = [_text(entry / "dev") for entry in _entries(disk / "slaves")]
    if backing := _text(disk / "loop" / "backing_file"):
        numbers.append(_number_below(backing))
    for number in numbers:
        major, _, minor = number.partition(":")
        if minor and (device := by_number(int(major), int(minor), roots=roots)):
            yield device


def _number_below(path: str) -> str:
    """MAJ:MIN of a block device, or of the device of the file system that has a file. Some, such as
    btrfs, say a number that no device has."""
    try:
        status = os.stat(path)
    except OSError:
        return ""
    number = status.st_rdev if stat.S_ISBLK(status.st_mode) else status.st_dev
    return f"{os.major(number)}:{os.minor(number)}"


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
