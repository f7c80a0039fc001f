# SPDX-License-Identifier: GPL-2.0
"""The cache is told which members are awake, and nothing that it knows."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from lib.ctl.augment import Machine
from lib.fakes.dmsetup import CLEAN

from spekctl.augment import monitor
from spekctl.augment.mapper import Mapper
from spekctl.augment.monitor import Monitor
from spekctl.augment.table import Table
from spekctl.documents.disk_states import Basis, PowerState
from spekctl.errors import NotFoundError, UsageError
from spekctl.power import disk
from spekctl.power.disk import Disk
from spekctl.power.look import Look, Observer

TABLE = Table(8, "9:0", "8:0", ("8:1", "8:2"), 256)


@dataclass
class FakeObserver:
    disk: Disk
    states: list[PowerState] = field(default_factory=list)
    counted: bool = False

    def count(self) -> None:
        self.counted = True

    def look(self) -> Look:
        return Look(0, self.states.pop(0), Basis.COMMAND)


def watching(machine: Machine, *states: list[PowerState]) -> Monitor:
    left = iter(states)

    def observe(disk: Disk) -> Observer:
        return FakeObserver(disk, next(left))  # type: ignore[return-value]

    disks = monitor.disks_of(TABLE)
    return Monitor(Mapper(), "nas", disks, observe)


def sent(machine: Machine) -> list[str]:
    return [" ".join(words[3:]) for words in machine.dm.sent("message")]


def test_changes_are_told_and_nothing_else(machine: Machine) -> None:
    machine.attached()  # both are awake, as far as it knows
    watch = watching(
        machine,
        [PowerState.STANDBY, PowerState.STANDBY],
        [PowerState.ACTIVE, PowerState.IDLE],
    )
    (told,) = watch.step()
    assert (told.member, told.state, told.awake) == (0, PowerState.STANDBY, False)
    assert told.disk == machine.path("sda2")
    assert sent(machine) == ["awake 0 0"]
    machine.attached(CLEAN.replace(" 7 6 1 ", " 7 4 2 "))
    assert watch.step() == []
    assert sent(machine) == ["awake 0 0"]


def test_a_disk_that_is_awake_again_is_told(machine: Machine) -> None:
    machine.attached(CLEAN.replace(" 7 6 1 ", " 7 0 0 "))
    watch = watching(machine, [PowerState.STARTING], [PowerState.ACTIVE_OR_IDLE])
    assert [told.member for told in watch.step()] == [1]
    assert sent(machine) == ["awake 1 1"]


def test_an_unknown_state_is_not_told(machine: Machine) -> None:
    for known in (" 7 6 1 ", " 7 0 0 "):
        machine.attached(CLEAN.replace(" 7 6 1 ", known))
        assert watching(machine, [PowerState.UNKNOWN], [PowerState.UNKNOWN]).step() == []
    assert sent(machine) == []


def test_every_state_is_awake_or_asleep_or_unknown() -> None:
    asleep = {state for state in PowerState if monitor.is_awake(state) is False}
    assert asleep == {
        PowerState.SUSPENDED,
        PowerState.STANDBY_Y,
        PowerState.STANDBY,
        PowerState.STOPPED,
        PowerState.SLEEP,
        PowerState.STARTING,
    }
    assert monitor.is_awake(PowerState.UNKNOWN) is None


def test_the_end_of_the_cache_is_noticed(machine: Machine) -> None:
    machine.attached()
    watch = watching(machine, [PowerState.ACTIVE], [PowerState.ACTIVE])
    machine.dm.change(mappings={})
    with pytest.raises(NotFoundError):
        watch.step()


def test_disks_are_those_below_the_spare_areas(machine: Machine) -> None:
    disks = monitor.disks_of(Table(8, "9:0", "8:0", ("8:1", "-", "8:2"), 256))
    assert {number: each.node for number, each in disks.items()} == {
        0: machine.path("sda2"),
        2: machine.path("sdb2"),
    }


def test_a_spare_area_on_several_disks_wants_names(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = [disk.of_device(device) for device in machine.devices.values()][:2]
    monkeypatch.setattr(disk, "below", lambda device, roots: both)
    with pytest.raises(UsageError, match=r"is not on one disk .*--member-disk"):
        monitor.disks_of(TABLE)


def test_disks_that_are_named_are_all_of_them(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "find", lambda path, roots: disk.of_device(machine.find(path)))
    paths = [machine.path("sdb2"), machine.path("md0")]
    assert [each.node for each in monitor.disks_of(TABLE, paths).values()] == paths
    with pytest.raises(UsageError, match="given 1 times for 2 members"):
        monitor.disks_of(TABLE, paths[:1])
