# SPDX-License-Identifier: GPL-2.0-or-later
"""NVMe power states by admin commands.

NVM Express Base Specification 2.0: Get Features and Set Features, features 02h (Power Management)
and 0Ch (Autonomous Power State Transition); Identify Controller, power state descriptors. A
controller processes admin commands in a non-operational state without leaving it, but may draw more
meanwhile. Get Features returns the state at that moment; with autonomous transitions the controller
may have been in another one until the command came.
"""

from __future__ import annotations

from dataclasses import dataclass

from spekctl.documents.disk_states import PowerState
from spekctl.errors import SpekError, UsageError
from spekctl.power.passthrough import Channel

_IDENTIFY, _SET_FEATURES, _GET_FEATURES = 0x06, 0x09, 0x0A
_CONTROLLER = 1
_POWER_MANAGEMENT, _AUTONOMOUS = 0x02, 0x0C
_IDENTIFY_BYTES, _AUTONOMOUS_BYTES = 4096, 256
_NPSS, _APSTA, _DESCRIPTORS, _DESCRIPTOR_BYTES = 263, 265, 2048, 32
_PS = 0x1F
# Status code type and code; "Feature Not Changeable".
_STATUS_CODE, _NOT_CHANGEABLE = 0x7FF, 0x10E
# What levels_of() sends.
LEVELS_COMMANDS = 2
_MXPS, _NOPS = 0x01, 0x02


@dataclass(frozen=True, slots=True)
class Level:
    """A power state of a controller. @watts: the most it draws; 0: it does not say."""

    watts: float
    is_operational: bool


@dataclass(frozen=True, slots=True)
class Levels:
    """The power states of a controller by number, and whether it changes them by itself; None: it
    does not say."""

    levels: tuple[Level, ...]
    is_autonomous: bool | None


def levels_of(channel: Channel) -> Levels:
    """Ask a controller which power states it has."""
    reply = channel.nvme(_IDENTIFY, (_CONTROLLER,), _IDENTIFY_BYTES)
    _check(reply.status, "Identify Controller")
    data = reply.data
    levels = []
    for number in range(min(data[_NPSS], _PS) + 1):
        at = _DESCRIPTORS + number * _DESCRIPTOR_BYTES
        flags = data[at + 3]
        scale = 1e-4 if flags & _MXPS else 1e-2
        watts = int.from_bytes(data[at : at + 2], "little") * scale
        levels.append(Level(watts, not flags & _NOPS))
    is_autonomous = _is_autonomous(channel)
    return Levels(tuple(levels), is_autonomous if data[_APSTA] & 1 else False)


def _is_autonomous(channel: Channel) -> bool | None:
    reply = channel.nvme(_GET_FEATURES, (_AUTONOMOUS,), _AUTONOMOUS_BYTES)
    return None if reply.status else bool(reply.result & 1)


def state_of(channel: Channel, known: Levels) -> tuple[PowerState, str]:
    """The present state of a controller, and its number."""
    reply = channel.nvme(_GET_FEATURES, (_POWER_MANAGEMENT,))
    if reply.status:
        return PowerState.UNKNOWN, f"Get Features failed with status {reply.status:#06x}"
    number = reply.result & _PS
    if number >= len(known.levels):
        return PowerState.UNKNOWN, f"PS{number}, which the controller does not describe"
    level = known.levels[number]
    most = f", at most {level.watts:g} W" if level.watts else ""
    changes = ", changes by itself" if known.is_autonomous else ""
    detail = f"PS{number}{most}{changes}"
    state = PowerState.ACTIVE_OR_IDLE if level.is_operational else PowerState.NON_OPERATIONAL
    return state, detail


def level_for(target: str, known: Levels) -> int:
    """The number of the power state for active, idle (the shallowest non-operational one) or
    standby (the deepest); UsageError for what the controller has not."""
    resting = [number for number, level in enumerate(known.levels) if not level.is_operational]
    if target == "active":
        return 0
    if target == "sleep":
        raise UsageError("an NVMe disk has no sleep; standby is its deepest power state")
    if not resting:
        raise UsageError(
            f"the controller has no non-operational power state for {target}; of its"
            f" {len(known.levels)} states all are operational"
        )
    return resting[0] if target == "idle" else resting[-1]


def set_level(channel: Channel, number: int) -> None:
    """Put the controller into a power state; autonomous transitions stay as they are."""
    reply = channel.nvme(_SET_FEATURES, (_POWER_MANAGEMENT, number))
    _check(reply.status, "Set Features")


def _check(status: int, name: str) -> None:
    if status & _STATUS_CODE == _NOT_CHANGEABLE:
        raise SpekError("the controller's power state cannot be changed")
    if status:
        raise SpekError(f"the controller refused {name} with status {status:#06x}")
