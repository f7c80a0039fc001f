# SPDX-License-Identifier: GPL-2.0
"""spek_drive.ko for unit tests of spekctl: keeps what it was asked, through real messages."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

from lib.fakes.link import read_back

from spekctl.errors import error_from_errno
from spekctl.kernel.gen import spek_drive as uapi
from spekctl.kernel.gen.spek_drive_records import (
    Condition,
    DriveState,
    Layout,
    Phase,
    Policy,
    Rail,
    Store,
)

SECOND = 10**9
# Of a disk, for attributes of drive-new that are left out.
DEFAULTS: dict[str, Any] = {
    "layout": Layout.CYLINDER,
    **dict.fromkeys(("surfaces", "stacks", "arms", "channels", "heads_per_surface"), 1),
    **{"split": 0, "policy": Policy.FCFS, "queue_depth": 32, "store": Store.MEMORY},
}


@dataclass
class FakeDrives:
    """In place of kernel.link.Link. A drive is READY after @polls questions."""

    scsi: Path
    fails: str = ""
    polls: int = 1
    stays: bool = False
    known: dict[int, dict[str, Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    closed: int = 0
    _next: int = 1

    def __call__(self, *arguments: Any) -> FakeDrives:
        return self

    def close(self) -> None:
        self.closed += 1

    def wait(self, timeout_s: float) -> None:
        """Something was announced."""

    def _one(self, number: int) -> dict[str, Any]:
        if number not in self.known:
            raise error_from_errno(errno.ENOENT, "There is no drive with this number.", "drive-get")
        return self.known[number]

    def ask(self, command: IntEnum, **values: Any) -> dict[str, Any]:
        self.asked.append(command.name)
        values = read_back(uapi, command, values)
        if command == uapi.Cmd.DRIVE_NEW:
            return {"id": self._make(values)}
        drive = self._one(values["id"])
        if command == uapi.Cmd.DRIVE_GET:
            self._advance(drive)
            return drive
        assert command == uapi.Cmd.DRIVE_STATS
        return stats_of(drive["id"])

    def _make(self, values: dict[str, Any]) -> int:
        number, self._next = self._next, self._next + 1
        state = DriveState.CREATING
        self.known[number] = {"id": number, "serial": f"SPEK{number}", "state": state}
        self.known[number] |= (DEFAULTS if "heads" in values else {}) | values
        self.known[number] |= {"host": number + 4, "hwmon": f"hwmon{number}", "polls": self.polls}
        return number

    def _advance(self, drive: dict[str, Any]) -> None:
        if drive["state"] is not DriveState.CREATING:
            return
        drive["polls"] -= 1
        if drive["polls"] > 0:
            return
        if self.fails:
            drive["state"] = DriveState.FAILED
            drive |= {"failure_errno": errno.ENOMEM, "failure": self.fails}
            return
        drive["state"] = DriveState.READY
        block = self.scsi / f"host{drive['host']}" / "device" / "target5:0:0" / "5:0:0:0" / "block"
        (block / f"sd{'abcdef'[drive['id']]}").mkdir(parents=True)

    def _set(self, drive: dict[str, Any], values: dict[str, Any]) -> None:
        faults = [] if values.get("clear_faults") else drive.get("faults", [])
        for fault in values.get("faults", []):
            if fault.get("number", 0) >= drive["arms"]:
                raise error_from_errno(errno.ERANGE, "The drive has no such arm.", "drive-set")
        drive["faults"] = [*faults, *values.get("faults", [])]

    def tell(self, command: IntEnum, **values: Any) -> None:
        self.asked.append(command.name)
        values = read_back(uapi, command, values)
        drive = self._one(values["id"])
        if command == uapi.Cmd.DRIVE_SET:
            self._set(drive, values)
            return
        assert command == uapi.Cmd.DRIVE_DEL
        if self.stays:
            drive["state"] = DriveState.DELETING
        else:
            del self.known[drive["id"]]

    def dump(self, command: IntEnum, **values: Any) -> list[dict[str, Any]]:
        assert command == uapi.Cmd.DRIVE_GET
        left_out = ("zones", "seek_points")
        return [
            {key: value for key, value in drive.items() if key not in left_out}
            for drive in self.known.values()
        ]


def stats_of(number: int) -> dict[str, Any]:
    """10 s of a drive: idle for 8 s, 9.3 W."""
    hist = b"".join(count.to_bytes(8, "little") for count in (6, 0, 4))
    phases = dict(zip(Phase, (8, 1, 0.5, 0.3, 0.2, 0), strict=True))
    return {
        "id": number,
        "created_ns": 5 * SECOND,
        "now_ns": 15 * SECOND,
        "energies": [
            {"rail": Rail.V5, "nj": 30 * SECOND, "remainder_fj": 7, "power_uw": 3_055_000},
            {"rail": Rail.V12, "nj": 63 * SECOND, "power_uw": 6_245_000},
        ],
        "conditions": [{"condition": Condition.ACTIVE, "ns": 10 * SECOND}],
        "phases": [
            {"phase": phase, "ns": int(seconds * SECOND), "nj": 5 * SECOND}
            for phase, seconds in phases.items()
        ],
        **{"starts": 0, "served": 100, "moved": 90, "hits": 7, "accepted": 5, "destages": 4},
        **{"lost": 0, "ahead_sectors": 64, "reads": 60, "read_sectors": 480},
        **{"writes": 40, "written_sectors": 320, "errors": 1, "aborted": 0, "late_count": 10},
        **{"late_sum_ns": 400_000, "late_max_ns": 60_000, "hist_bits": 6, "hist_first": 600},
        "hist": hist,
    }
