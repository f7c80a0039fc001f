# SPDX-License-Identifier: GPL-2.0-or-later
"""The drives that a device lies on, of which it may be a partition, a volume, an array, a
namespace or a loop device: what loses power or its cache together."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from spekctl.block.device import ROOTS, Device, Roots, by_number

# Levels of stacked devices; the kernel has a limit for some kinds only.
_DEEPEST = 20


def have_one_in_common(left: Device, right: Device, roots: Roots = ROOTS) -> bool:
    """True if two devices lie on the same drive, by whatever path or namespace."""
    return not _drives(left, roots).isdisjoint(_drives(right, roots))


def _drives(device: Device, roots: Roots, depth: int = 0) -> set[str]:
    """Names of the drives below a device: each of them by all names that it shares with other
    disks of it."""
    disk = device.sysfs.parent if device.partition else device.sysfs
    below = list(_lower(disk, roots)) if depth < _DEEPEST else []
    if below:
        return {name for lower in below for name in _drives(lower, roots, depth + 1)}
    names = {device.disk, *device.other_paths} - {""}
    # Namespaces of one drive, by whichever of its controllers: each has a WWN of its own.
    if nqn := _text(disk / "device" / "subsysnqn"):
        names.add(f"subsystem {nqn}")
    if device.serial in device.shared:
        names.add(f"serial number {device.serial} of {device.model}")
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
