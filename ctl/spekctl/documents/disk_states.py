# SPDX-License-Identifier: GPL-2.0-or-later
"""Power states of a disk, and how long they lasted: a part of results and of a document."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from spekctl.documents.document import Part


class PowerState(StrEnum):
    """A power state, by the names that ACS and SPC give the conditions of a disk."""

    ACTIVE = "active"
    IDLE = "idle"
    IDLE_A = "idle_a"
    IDLE_B = "idle_b"
    IDLE_C = "idle_c"
    ACTIVE_OR_IDLE = "active/idle"
    STARTING = "starting"
    LOW_POWER = "low-power"
    NON_OPERATIONAL = "non-operational"
    STANDBY_Y = "standby_y"
    STANDBY = "standby"
    STOPPED = "stopped"
    SLEEP = "sleep"
    SUSPENDED = "suspended"
    UNKNOWN = "unknown"

    @property
    def is_spun_down(self) -> bool:
        """The spindle of a disk in this state does not turn. Of a suspended one that is not
        known: DiskStates says by `stops_on_suspend` what the kernel does."""
        return self in (PowerState.STANDBY, PowerState.STOPPED, PowerState.SLEEP)

    @property
    def depth(self) -> int | None:
        """How deep the disk rests, as DEPTHS says; None of a state that is not known or passes."""
        if self in (PowerState.UNKNOWN, PowerState.STARTING):
            return None
        return _DEPTH.get(self, 4)

    @property
    def is_up(self) -> bool:
        """The disk serves a request without waiting for its spindle."""
        return self in (
            PowerState.ACTIVE,
            PowerState.IDLE,
            PowerState.IDLE_A,
            PowerState.IDLE_B,
            PowerState.ACTIVE_OR_IDLE,
        )


# Of the states that are not of depth 4.
_DEPTH = {
    PowerState.ACTIVE: 0,
    PowerState.IDLE: 1,
    PowerState.IDLE_A: 1,
    PowerState.ACTIVE_OR_IDLE: 1,
    PowerState.IDLE_B: 2,
    PowerState.IDLE_C: 2,
    PowerState.LOW_POWER: 2,
    PowerState.NON_OPERATIONAL: 2,
    PowerState.STANDBY_Y: 3,
    PowerState.SLEEP: 5,
}
DEPTHS = (
    "0 active; 1 idle, idle_a, active/idle; 2 idle_b, idle_c, low-power, non-operational;"
    " 3 standby_y; 4 standby, stopped, suspended; 5 sleep"
)


class Basis(StrEnum):
    """What a state is known by."""

    COMMAND = "command"
    IO = "io"
    SYSFS = "sysfs"
    RECORD = "record"
    NONE = "none"


class StateChange(Part, frozen=True):
    """The start of a state."""

    at_ns: Annotated[
        int,
        Meta(
            description="CLOCK_MONOTONIC: the middle of the time between two looks; of the first"
            " state the first look."
        ),
    ]
    within_ns: Annotated[int, Meta(ge=0, description="Half of that time: the error is at most so.")]
    state: PowerState
    basis: Annotated[
        Basis,
        Meta(
            description="command: the disk was asked; io: by the kernel's count of its I/O; sysfs:"
            " by the kernel's runtime power management; record: spekctl put it to sleep, and"
            " nothing was sent to it since; none: it is not known."
        ),
    ]
    detail: Annotated[str, Meta(description="The disk's answer, or why it was not asked.")] = ""


class DiskStates(Part, frozen=True):
    """A disk over the time."""

    disk: Annotated[str, Meta(description="Device node.")]
    model: str
    serial: str
    wwn: str
    protocol: Annotated[
        str, Meta(description="How it is asked: ata, scsi or nvme; none: there is no way.")
    ]
    stops_on_suspend: Annotated[
        bool, Meta(description="The kernel stops the spindle when it suspends the disk.")
    ]
    looks: Annotated[int, Meta(ge=1)]
    commands: Annotated[int, Meta(ge=0, description="Commands that the looks have sent to it.")]
    changes: Annotated[
        list[StateChange], Meta(min_length=1, description="The first state, then each new one.")
    ]
    seconds: Annotated[
        dict[PowerState, float],
        Meta(description="Time in each state. Between two looks that differ, half of it each."),
    ]
    spin_ups: Annotated[
        int, Meta(ge=0, description="Changes from a state with a standing spindle to one without.")
    ]
    hidden_starts: Annotated[
        int,
        Meta(
            ge=0,
            description="Times when the spindle stood at two looks and I/O completed between them:"
            " the disk may have started and stopped, or its cache may have served the I/O.",
        ),
    ]

    @property
    def transitions(self) -> int:
        """Changes of the state that were seen."""
        return len(self.changes) - 1
