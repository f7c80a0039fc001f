# SPDX-License-Identifier: GPL-2.0-or-later
"""What is said of a device that is not the one that was looked at: both are named.

A path, and the number behind it, may mean another disk a moment later: one is pulled and another
one takes its name. Every disk has a sequence number that the kernel never gives twice.
"""

from __future__ import annotations

import contextlib
from typing import Protocol

from spekctl.block import device as devices
from spekctl.block.device import Device
from spekctl.documents.device import DeviceFacts
from spekctl.errors import RefusedError, UsageError

_WHAT = "has just been replaced by another device"


class Named(Protocol):
    """What has the names of a disk."""

    @property
    def serial(self) -> str: ...
    @property
    def wwn(self) -> str: ...


def refusal(device: Device, diskseq: int = 0) -> RefusedError:
    """The refusal of what is known to have taken the place of @device. @diskseq: of the disk that
    has been seen there, if it is known."""
    with contextlib.suppress(UsageError):
        here = devices.find(device.path)
        if differ(device, here):
            return RefusedError(_sentence(device, f"is {_named(here)} now"))
        # The first one may be back.
        seen = f"was disk {diskseq} meanwhile" if diskseq else ""
        return RefusedError(_sentence(device, seen))
    return RefusedError(_sentence(device, "no block device is there now"))


def now_at(device: Device) -> Device | None:
    """The device that has taken the place of @device, which was looked at before; None if @device
    is there, or nothing is."""
    with contextlib.suppress(UsageError):
        here = devices.find(device.path)
        return here if differ(device, here) else None
    return None


def sentence(device: DeviceFacts, here: DeviceFacts) -> str:
    """That @here has taken the place of @device."""
    return _sentence(device, f"is {_named(here)} now")


def differ(before: DeviceFacts, here: DeviceFacts) -> bool:
    """True if @here is another device than @before, which was looked at earlier."""
    if (before.major, before.minor) != (here.major, here.minor):
        return True
    if before.diskseq and here.diskseq:
        return before.diskseq != here.diskseq
    # Without a sequence number, as in a container.
    return names_differ(before, here)


def names_differ(before: Named, here: Named) -> bool:
    """True if a serial number or WWN that both have is another one. A name that only one of them
    has may have been found late: udev needs a moment."""
    names = ((before.serial, here.serial), (before.wwn, here.wwn))
    return any(old and new and old != new for old, new in names)


def _sentence(device: DeviceFacts, now: str) -> str:
    both = f": it was {_named(device)}, and {now}" if now else ""
    return f"{device.path} {_WHAT}{both}"


def _named(device: DeviceFacts) -> str:
    """As messages call the disk behind a path: by its serial number or WWN, and by its number."""
    number = f"{device.major}:{device.minor}/{device.diskseq}"
    name = device.serial or device.wwn
    return f"{name} ({number})" if name else number
