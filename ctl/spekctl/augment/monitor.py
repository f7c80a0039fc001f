# SPDX-License-Identifier: GPL-2.0-or-later
"""Tells a cache which members are awake, by looks that wake no disk (spekctl/power)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spekctl.augment.mapper import Mapper
from spekctl.augment.state import device_at
from spekctl.augment.table import MISSING, State, Table
from spekctl.block.device import ROOTS, Roots
from spekctl.documents.disk_states import PowerState
from spekctl.errors import UsageError
from spekctl.power import disk
from spekctl.power.disk import Disk
from spekctl.power.look import Observer

# A disk that starts cannot take a write at once, and will be awake at the next look.
_ASLEEP = (
    PowerState.SUSPENDED,
    PowerState.STANDBY_Y,
    PowerState.STANDBY,
    PowerState.STOPPED,
    PowerState.SLEEP,
    PowerState.STARTING,
)


@dataclass(frozen=True, slots=True)
class Told:
    """A member whose state the cache did not know yet."""

    member: int
    disk: str
    state: PowerState
    awake: bool


def disks_of(table: Table, named: Sequence[str] = (), roots: Roots = ROOTS) -> dict[int, Disk]:
    """The disk of each member, by its number: as the user names them, in order, or those below the
    spare areas. Members that were missing at attach have none."""
    if named:
        if len(named) != len(table.spares):
            raise UsageError(
                f"--member-disk is given {len(named)} times for {len(table.spares)} members; name"
                " the disk of each, in the order of the spare areas"
            )
        return {number: disk.find(path, roots=roots) for number, path in enumerate(named)}
    disks: dict[int, Disk] = {}
    for number, text in enumerate(table.spares):
        device = device_at(text, roots) if text != MISSING else None
        if device is None:
            continue
        below = disk.below(device, roots)
        if len(below) != 1:
            names = ", ".join(each.node for each in below) or "none"
            raise UsageError(
                f"the spare area {device.node} of member {number} is not on one disk ({names});"
                " name the disks of all members by --member-disk"
            )
        disks[number] = below[0]
    return disks


class Monitor:
    """Looks at the disks of a cache, again and again."""

    def __init__(
        self,
        mapper: Mapper,
        name: str,
        disks: dict[int, Disk],
        observe: Callable[[Disk], Observer] = Observer,
    ) -> None:
        self._mapper = mapper
        self._name = name
        self._observers = {number: observe(each) for number, each in disks.items()}
        for observer in self._observers.values():
            observer.count()

    def step(self) -> list[Told]:
        """Look at all disks, and report to the cache what has changed. An unknown state is not
        reported: a wrong report would wake a disk, or delay writes until a disk has spun up."""
        looks = {number: observer.look() for number, observer in self._observers.items()}
        known: State = self._mapper.state(self._name)
        told: list[Told] = []
        for number, look in looks.items():
            awake = is_awake(look.state)
            if awake is None or awake == bool(known.awake >> (number + 1) & 1):
                continue
            self._mapper.message(self._name, "awake", str(number), str(int(awake)))
            told.append(Told(number, self._observers[number].disk.node, look.state, awake))
        return told


def is_awake(state: PowerState) -> bool | None:
    """Whether a disk takes a write without waiting for its spindle; None: not known."""
    if state is PowerState.UNKNOWN:
        return None
    return state not in _ASLEEP
