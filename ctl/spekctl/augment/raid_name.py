# SPDX-License-Identifier: GPL-2.0-or-later
"""The name of the RAID that superblocks of a cache keep.

The log holds what is newer than the RAID, and destage writes it there: onto another disk at the
same path it would destroy data. The name is what the disk itself says of who it is: its WWN, its
serial number, or the UUID of a volume or array, and the number and place of a partition. A serial
number that another disk of the machine has as well is not part of it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from urllib.parse import quote

from spekctl.block import device as devices
from spekctl.block import replaced
from spekctl.block.device import Device

# Two values, their keys and the numbers of a partition fit into the 251 characters of superblocks.
_MOST_VALUE = 100
_HEAD = 60
_DIGEST = 32
_KEYS = ("wwn", "serial", "part", "start")


@dataclass(frozen=True, slots=True)
class Name:
    """Each value is empty if it is not known; all of them are: a disk without a name. @part: number
    of a partition; @start: its first sector of 512 bytes."""

    wwn: str = ""
    serial: str = ""
    part: str = ""
    start: str = ""

    def __str__(self) -> str:
        """As superblocks have it, one word of visible ASCII; empty without WWN and serial."""
        if not self:
            return ""
        values = {name: getattr(self, name) for name in _KEYS}
        return ",".join(f"{key}={value}" for key, value in values.items() if value)

    def __bool__(self) -> bool:
        return bool(self.wwn or self.serial)


def of_device(device: Device) -> Name:
    """The name of a disk, or of a partition of it."""
    # Paths to one unit share a WWN. What shares a serial number may be anything.
    serial = "" if device.serial in device.shared else device.serial
    part = str(device.partition) if device.partition else ""
    start = devices.start_sector(device)
    return Name(_value(_wwn(device)), _value(serial), part, str(start) if start else "")


def parse(text: str) -> Name:
    """The reverse of str(); what a later version may add is left out."""
    values = dict(word.partition("=")[::2] for word in text.split(","))
    return Name(**{key: values.get(key, "") for key in _KEYS})


def differ(before: Name, here: Name) -> bool:
    """Whether the two are certainly different RAIDs. Names of earlier versions have no place of a
    partition."""
    if before.part != here.part or (before.start and here.start and before.start != here.start):
        return True
    return replaced.names_differ(before, here)


def are_comparable(before: Name, here: Name) -> bool:
    """Whether both have a WWN, or both a serial number."""
    return bool((before.wwn and here.wwn) or (before.serial and here.serial))


def _wwn(device: Device) -> str:
    """As sysfs has it. Without that it is from udev, which writes those of SCSI with 0x."""
    return re.sub("^0x", "naa.", device.wwn)


def _value(text: str) -> str:
    value = quote(text, safe="/:+@")
    if len(value) <= _MOST_VALUE:
        return value
    return f"{value[:_HEAD]}~{hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]}"
