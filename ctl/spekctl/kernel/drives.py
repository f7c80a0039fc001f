# SPDX-License-Identifier: GPL-2.0-or-later
"""Client of spek_drive.ko: create, list and delete modelled drives, and read their statistics."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import msgspec

from spekctl.closing import Closing
from spekctl.contract.drive_requests import ChangeRequest
from spekctl.drive.model import Model
from spekctl.errors import NotFoundError, SpekError, error_from_errno
from spekctl.kernel.gen import spek_drive as uapi
from spekctl.kernel.gen.spek_drive_records import (
    DriveInfo,
    DriveState,
    Policy,
    StatsInfo,
    Store,
)
from spekctl.kernel.link import Link, not_loaded

MOST_SERIAL = 20


@dataclass(frozen=True, slots=True)
class Making:
    """Properties of a new drive besides its model. None: the kernel's default."""

    policy: Policy = Policy.SPTF
    window: int | None = None
    queue_depth: int | None = None
    max_wait_ns: int = 0
    phase: int = 0
    name: str = ""
    serial: str = ""
    store: Store = Store.MEMORY
    store_bytes: int = 0
    spin_ns: int = 0
    atomic_sectors: int = 0


class Drives(Closing):
    """A connection to spek_drive.ko. Drives outlive it."""

    def __init__(self) -> None:
        self._link = Link(uapi, uapi.GROUP_DRIVES, not_loaded("spek_drive"))

    def close(self) -> None:
        """Close the connection."""
        self._link.close()

    def new(self, model: Model, making: Making) -> int:
        """Create a drive and return its number. Its disk exists once it is READY."""
        return int(self._link.ask(uapi.Cmd.DRIVE_NEW, **values_of(model, making))["id"])

    def drive(self, number: int) -> DriveInfo:
        """One drive, with its model."""
        return msgspec.convert(self._link.ask(uapi.Cmd.DRIVE_GET, id=number), DriveInfo)

    def drives(self) -> list[DriveInfo]:
        """All drives, without zones and seek points."""
        return [
            msgspec.convert(answer, DriveInfo) for answer in self._link.dump(uapi.Cmd.DRIVE_GET)
        ]

    def stats(self, number: int) -> StatsInfo:
        """The activity and energy of a drive since its creation."""
        return msgspec.convert(self._link.ask(uapi.Cmd.DRIVE_STATS, id=number), StatsInfo)

    def change(self, request: ChangeRequest) -> None:
        """Change the faults of a drive: either all of the request, or none of it."""
        self._link.tell(uapi.Cmd.DRIVE_SET, **request.attributes())

    def delete(self, number: int) -> None:
        """Remove a drive; its disk disappears at once."""
        self._link.tell(uapi.Cmd.DRIVE_DEL, id=number)

    def wait_ready(self, number: int, timeout_s: float) -> DriveInfo:
        """Wait for the drive to be READY. SpekError if the kernel fails to create it."""
        end = time.monotonic() + timeout_s
        while True:
            info = self.drive(number)
            if info.state is DriveState.READY:
                return info
            if info.state is DriveState.FAILED:
                text = info.failure or "the kernel states no reason"
                raise error_from_errno(info.failure_errno, f"no drive: {text}", "drive-new")
            if time.monotonic() >= end:
                raise SpekError(f"drive {number} is not ready after {timeout_s:g} s")
            self._link.wait(min(0.2, end - time.monotonic()))

    def wait_gone(self, number: int, timeout_s: float) -> bool:
        """Whether a deleted drive is gone; it exists as long as its disk is open."""
        end = time.monotonic() + timeout_s
        while True:
            try:
                self.drive(number)
            except NotFoundError:
                return True
            if time.monotonic() >= end:
                return False
            self._link.wait(min(0.2, end - time.monotonic()))


def values_of(model: Model, making: Making) -> dict[str, Any]:
    """The attributes of drive-new."""
    names = ("policy", "max_wait_ns", "phase", "serial", "store", "store_bytes", "spin_ns")
    properties = {name: getattr(making, name) for name in names}
    for name in ("window", "queue_depth", "name", "atomic_sectors"):
        if getattr(making, name):
            properties[name] = getattr(making, name)
    return model.description(**properties).attributes()
