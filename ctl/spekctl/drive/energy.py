# SPDX-License-Identifier: GPL-2.0-or-later
"""The energy of a drive by what it did, from its account and the watts of its model.

The modes are those of paper 003. While one arm works at a time, a drive is in one mode at a time,
and a mode's energy is that of the whole drive during it. Where several work, the power that flows
anyway is divided by the time of those arms: each of n that work side by side counts for 1/n.
"""

from __future__ import annotations

from dataclasses import dataclass

from spekctl.drive.core import Account
from spekctl.drive.model import Model

MODES = ("idle", "seek", "rotation", "transfer")
FLASH_MODES = ("idle", "read", "write", "erase")
UWNS_PER_J = 1e15


@dataclass(frozen=True, slots=True)
class Mode:
    """Time in a mode and energy used in it."""

    seconds: float
    joules: float


def modes_of(model: Model, account: Account) -> dict[str, Mode]:
    """By MODES or FLASH_MODES, then a mode `spindle` if the drive was not active all the time.

    Channels of flash work side by side as arms do.
    """
    watts = model.watts
    side_by_side = model.flash.channels if model.flash else model.moving or model.channels
    base_uw = watts.active_uw(len(model.arm_angles))
    active_ns = account.condition_ns[0]
    _, seek_ns, rotate_ns, read_ns, write_ns, erase_ns = account.phase_ns
    above = (
        {
            "read": (read_ns, read_ns * watts.read),
            "write": (write_ns, write_ns * watts.write),
            "erase": (erase_ns, erase_ns * watts.erase),
        }
        if model.flash
        else {
            "seek": (seek_ns, seek_ns * watts.seek),
            "rotation": (rotate_ns, rotate_ns * watts.rotate),
            "transfer": (read_ns + write_ns, read_ns * watts.read + write_ns * watts.write),
        }
    )
    idle_ns = active_ns - sum(ns for ns, _ in above.values()) / side_by_side
    modes = {"idle": Mode(idle_ns / 1e9, idle_ns * base_uw / UWNS_PER_J)}
    for name, (ns, own) in above.items():
        share_ns = ns / side_by_side
        modes[name] = Mode(share_ns / 1e9, (share_ns * base_uw + own) / UWNS_PER_J)
    other_ns = sum(account.condition_ns[1:])
    if other_ns:
        conditions = zip(account.condition_ns[1:], watts.base[1:], strict=True)
        used = sum(ns * sum(rails) for ns, rails in conditions)
        modes["spindle"] = Mode(other_ns / 1e9, used / UWNS_PER_J)
    return modes
