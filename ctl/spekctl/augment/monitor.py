# SPDX-License-Identifier: GPL-2.0-or-later
"""Tells a cache which members are awake, by looks that wake no disk (spekctl/power), and puts those
that are idle into standby."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec.structs import astuple

from spekctl.augment.mapper import Mapper
from spekctl.augment.rest import Rules, Spindle
from spekctl.augment.state import device_at
from spekctl.augment.table import MISSING, State, Table
from spekctl.block.device import ROOTS, Roots
from spekctl.documents.augment import Wakes
from spekctl.documents.disk_states import PowerState
from spekctl.errors import SpekError, UsageError
from spekctl.power import change, disk
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
    """A change of a member. @why: what woke it or why it was put into standby, where that is
    known."""

    member: int
    disk: str
    state: PowerState
    awake: bool
    why: str = ""


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


def stand_by(chosen: Disk) -> None:
    """Put a disk that is in use into standby: the next I/O starts it again."""
    change.check(chosen, "standby", None)
    change.put(chosen, "standby", force=True)


class Monitor:
    """Looks at the disks of a cache, again and again, and puts idle ones into standby if it is to.

    An unknown state is not reported: a wrong report would wake a disk, or delay writes until a disk
    has spun up.
    """

    def __init__(
        self,
        mapper: Mapper,
        name: str,
        disks: dict[int, Disk],
        rules: Rules | None = None,
        observe: Callable[[Disk], Observer] = Observer,
        rest: Callable[[Disk], None] = stand_by,
    ) -> None:
        """@rules: when disks are put into standby; None: never. @rest: does it."""
        self._mapper = mapper
        self._name = name
        self._rules = rules
        self._rest = rest
        self._observers = {number: observe(each) for number, each in disks.items()}
        self._spindles: dict[int, Spindle] = {}
        for observer in self._observers.values():
            observer.count()

    def step(self) -> list[Told]:
        """Look at all disks, and report to the cache what has changed. That a member still sleeps
        is reported too: what was sent to it before has not woken it then."""
        looks = {number: observer.look() for number, observer in self._observers.items()}
        known: State = self._mapper.state(self._name)
        told: list[Told] = []
        for number, look in looks.items():
            awake = is_awake(look.state)
            if awake is None:
                continue
            spindle = self._spindles.setdefault(number, Spindle(look.at_ns))
            was_awake = bool(known.awake >> (number + 1) & 1)
            cause = ""
            if awake and not was_awake:
                cause = self._report_awake(number)
                spindle.has_started(look.at_ns)
            elif not awake:
                self._report(number, awake=False)
            if look.io:
                spindle.is_used(look.at_ns)
            if awake != was_awake:
                told.append(Told(number, self._node(number), look.state, awake, cause))
            if awake and self._rules is not None and spindle.may_rest(self._rules, look.at_ns):
                told.append(self._put_to_rest(number))
                # After a refusal, too: not at every look.
                spindle.is_used(look.at_ns)
        return told

    def _put_to_rest(self, number: int) -> Told:
        node = self._node(number)
        try:
            self._rest(self._observers[number].disk)
        except SpekError as error:
            return Told(number, node, PowerState.UNKNOWN, True, f"no standby: {error.message}")
        self._report(number, awake=False)
        return Told(number, node, PowerState.STANDBY, False, "idle")

    def _report(self, number: int, awake: bool) -> None:
        self._mapper.message(self._name, "awake", str(number), str(int(awake)))

    def _report_awake(self, number: int) -> str:
        """What woke it, as far as the cache knows."""
        before = self._mapper.state(self._name).wakes
        self._report(number, awake=True)
        after = self._mapper.state(self._name).wakes
        return _CAUSES.get(_grown(before, after), "")

    def _node(self, number: int) -> str:
        return self._observers[number].disk.node


# By the counter that has grown; that of the others may mean anybody.
_CAUSES = {"writes": "a write", "reads": "a read", "flushes": "a flush", "destages": "destage"}


def _grown(before: Wakes, after: Wakes) -> str:
    counts = zip(before.__struct_fields__, astuple(before), astuple(after), strict=True)
    return next((name for name, old, new in counts if new > old), "")


def is_awake(state: PowerState) -> bool | None:
    """Whether a disk takes a write without waiting for its spindle; None: not known."""
    if state is PowerState.UNKNOWN:
        return None
    return state not in _ASLEEP
