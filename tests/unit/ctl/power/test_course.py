# SPDX-License-Identifier: GPL-2.0
"""What looks add up to: times that sum to the whole, transitions, spin-ups."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.fakes.power_disk import FakeChannel, FakeDisk, polled

from spekctl.documents.disk_states import Basis, PowerState, StateChange
from spekctl.power import course
from spekctl.power.course import Course
from spekctl.power.look import Look, Observer

SECOND = 10**9
S = PowerState


def summed(disk: Observer, *looks: tuple[int, PowerState], stops: bool = False) -> Course:
    """A course of looks at these seconds."""
    whole = Course(disk, stops_on_suspend=stops)
    for at_s, state in looks:
        whole.add(Look(at_s * SECOND, state, Basis.COMMAND))
    return whole


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Observer:
    return Observer(FakeDisk(tmp_path_factory.mktemp("disk")).disk)


def test_times_between_unlike_looks_are_shared(disk: Observer) -> None:
    whole = summed(disk, (100, S.IDLE), (110, S.IDLE), (115, S.STANDBY), (130, S.STANDBY))
    assert whole.residency_ns == {S.IDLE: 12_500_000_000, S.STANDBY: 17_500_000_000}
    assert whole.changes == [
        StateChange(100 * SECOND, 0, S.IDLE, Basis.COMMAND),
        StateChange(112_500_000_000, 2_500_000_000, S.STANDBY, Basis.COMMAND),
    ]
    assert (whole.looks, whole.part().transitions, whole.spin_ups) == (4, 1, 0)


@given(
    st.lists(
        st.tuples(st.integers(1, 10**12), st.sampled_from(list(PowerState))),
        min_size=1,
        max_size=30,
    )
)
def test_the_times_sum_to_the_whole(disk: Observer, steps: list[tuple[int, PowerState]]) -> None:
    whole, at_ns = Course(disk, stops_on_suspend=False), 0
    first_ns = steps[0][0]
    for gap_ns, state in steps:
        at_ns += gap_ns
        whole.add(Look(at_ns, state, Basis.COMMAND))
    assert sum(whole.residency_ns.values()) == at_ns - first_ns
    assert [later.state for later in whole.changes] == [
        state
        for index, (_, state) in enumerate(steps)
        if not index or state is not steps[index - 1][1]
    ]


@pytest.mark.parametrize(
    ("states", "stops", "spin_ups"),
    [
        ([S.STANDBY, S.ACTIVE], False, 1),
        ([S.STOPPED, S.STARTING, S.ACTIVE], False, 1),
        ([S.SLEEP, S.IDLE], False, 1),
        ([S.STANDBY, S.SLEEP, S.STANDBY], False, 0),
        ([S.STANDBY_Y, S.ACTIVE], False, 0),
        ([S.IDLE_C, S.ACTIVE, S.IDLE], False, 0),
        ([S.STANDBY, S.UNKNOWN, S.ACTIVE], False, 1),
        ([S.STANDBY, S.UNKNOWN, S.STANDBY], False, 0),
        ([S.ACTIVE, S.SUSPENDED, S.ACTIVE], True, 1),
        ([S.ACTIVE, S.SUSPENDED, S.ACTIVE], False, 0),
        ([S.STANDBY, S.ACTIVE, S.STANDBY, S.IDLE], False, 2),
    ],
)
def test_spin_ups(disk: Observer, states: list[PowerState], stops: bool, spin_ups: int) -> None:
    assert summed(disk, *enumerate(states), stops=stops).spin_ups == spin_ups


def test_io_between_two_looks_at_a_standing_spindle_is_told(disk: Observer) -> None:
    whole = Course(disk, stops_on_suspend=False)
    for at_s, io in enumerate([True, False, True, True]):
        whole.add(Look(at_s, S.STANDBY, Basis.COMMAND, io=io))
    # That of the first look came before it.
    assert (whole.hidden_starts, whole.spin_ups) == (2, 0)


def test_a_report_has_every_disk(tmp_path: Path) -> None:
    fake = FakeDisk(tmp_path)
    fake.write("device/scsi_disk/0:0:0:0/manage_runtime_start_stop", "1")
    channel = FakeChannel(scsi_answer=lambda cdb: polled(0x5E, 2))
    whole = course.of_disk(Observer(fake.disk, channel.open))
    started = course.clocks()
    change = whole.look()
    assert change is not None and change.state is S.STANDBY
    assert whole.look() is None
    report = course.report([whole], 5, started, course.clocks())
    (part,) = report.disks
    assert (part.disk, part.protocol, part.looks, part.commands) == ("/dev/sda", "scsi", 2, 2)
    assert part.stops_on_suspend
    assert report.started.monotonic_ns <= part.changes[0].at_ns <= report.ended.monotonic_ns
