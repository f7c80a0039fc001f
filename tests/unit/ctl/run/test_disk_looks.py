# SPDX-License-Identifier: GPL-2.0
"""Looks at the disks of a run: before its start, after its end, and never in its way."""

from __future__ import annotations

import dataclasses
import itertools
import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.plot_files import interval
from lib.ctl.schemas import validator
from lib.fakes.kernel import FakeKernel
from lib.fakes.power_disk import FakeChannel, FakeDisk, polled
from lib.waiting import LONG_S, eventually

from spekctl.block.device import Device
from spekctl.documents import result
from spekctl.documents.disk_states import Basis, PowerState
from spekctl.errors import ExitCode, NotPermittedError, UsageError
from spekctl.kernel.gen.spek_records import Backend, Phase
from spekctl.kernel.records import RunInfo, TargetInfo
from spekctl.power import course, disk
from spekctl.power.course import BESIDE_LOADS, Course, Pace
from spekctl.power.disk import Counters
from spekctl.power.look import RECENT_NS, Observer, Told
from spekctl.power.passthrough import ScsiReply
from spekctl.run import disk_looks, rounds
from spekctl.run.collector import Claimed, Ended, Look, Sections
from spekctl.run.disk_looks import DiskLooks
from spekctl.run.rights import Rights

MS = 10**6


class Rig:
    """A disk whose answers the test gives, and a run on it."""

    def __init__(self, root: Path) -> None:
        self.fake = FakeDisk(root)
        self.channel = FakeChannel(scsi_answer=lambda cdb: polled(0x5E, 2))
        self.observer = Observer(self.fake.disk, self.channel.open)
        self.rights = Rights()
        self.use(Pace(20 * MS))

    def use(self, pace: Pace) -> None:
        self.looks = DiskLooks([self.fake.device], pace, self.find)

    def find(self, devices: Sequence[Device]) -> list[Course]:
        assert [device.node for device in devices] == ["/dev/sda"]
        return [course.of_disk(self.observer)]

    def arm(self, backend: Backend = Backend.BIO, interval_ns: int = 0) -> str:
        target = dataclasses.replace(TargetInfo(major=8, minor=0, name="sda"), backend=backend)
        self.info = RunInfo(id=1, name="x", targets=(target,), interval_ns=interval_ns)
        request = SimpleNamespace(rights=self.rights)
        return self.looks.arm(Claimed(FakeKernel(), self.info, request, [], None, None))  # type: ignore[arg-type]

    def conclude(self) -> Sections:
        sections = Sections()
        self.looks.ended()
        self.looks.conclude(Ended(None, None, [], []), sections)  # type: ignore[arg-type]
        return sections


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


def test_the_first_look_is_before_the_start_and_the_last_one_after_the_end(rig: Rig) -> None:
    assert rig.arm() == ""
    assert len(rig.channel.sent) >= 1
    eventually(lambda: len(rig.channel.sent) > 3, "it does not look again")
    rig.channel.scsi_answer = lambda cdb: polled(0x5E, 1)
    sections = rig.conclude()
    assert sections.power_states is not None
    (part,) = sections.power_states
    assert [change.state for change in part.changes] == [PowerState.STANDBY, PowerState.IDLE_A]
    assert (part.spin_ups, part.looks, part.commands) == (1, *[len(rig.channel.sent)] * 2)
    assert sections.remarks == []
    assert rig.looks.trouble() == ""


def test_a_short_run_has_two_looks(rig: Rig) -> None:
    rig.use(Pace(3600 * 10**9))
    rig.arm()
    sections = rig.conclude()
    assert sections.power_states is not None
    assert sections.power_states[0].looks == 2


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_looks, "GLANCE_NS", MS)


class Slow:
    """A clock that is a second later at each reading."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        self.now_ns += 10**9
        return self.now_ns


@pytest.mark.usefixtures("quick")
def test_a_disk_at_work_is_not_asked_however_rare_the_looks_are(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looks alone would be so far apart that I/O between them does not show a disk to be up."""
    rig.channel.scsi_answer = lambda cdb: polled(0, 0)
    rig.observer.clock = clock = Slow()
    ios = itertools.count()
    monkeypatch.setattr(disk, "counters_of", lambda each: Counters(next(ios), 0))
    rig.use(Pace(3 * RECENT_NS))
    rig.arm()
    assert rig.observer.commands == 1
    eventually(lambda: clock.now_ns > 10 * RECENT_NS, "it does not look again")
    sections = rig.conclude()
    assert sections.power_states is not None
    (part,) = sections.power_states
    assert part.looks > 10 and part.changes[-1].state is PowerState.ACTIVE
    assert part.commands == 1


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("is_sparing", [False, True])
def test_a_disk_that_commands_may_wake_is_asked_before_and_after_only(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, is_sparing: bool
) -> None:
    monkeypatch.setattr(disk, "risk_of_commands", lambda each: "not asked: it may wake")
    rig.observer.clock = clock = Slow()
    rig.use(Pace(5 * 10**9, is_sparing))
    rig.arm()
    eventually(lambda: clock.now_ns > 10 * RECENT_NS, "it does not look again")
    asked = len(rig.channel.sent)
    sections = rig.conclude()
    assert sections.power_states is not None
    (part,) = sections.power_states
    assert part.looks > 3
    if is_sparing:
        assert (asked, part.commands) == (1, 2)
        # It stood at both ends: what it did between them is not known.
        assert [change.state for change in part.changes] == [
            *(PowerState.STANDBY, PowerState.UNKNOWN, PowerState.STANDBY)
        ]
        assert part.changes[1].detail == "not asked: it may wake"
    else:
        assert asked > 3 and len(part.changes) == 1


def test_a_disk_that_cannot_be_asked_is_left_out_unless_looks_are_wanted(rig: Rig) -> None:
    rig.observer.disk = dataclasses.replace(rig.fake.disk, place=None, obstacle="no way")
    before = threading.active_count()
    rig.use(BESIDE_LOADS)
    assert rig.arm(Backend.SCSI) == ""
    assert threading.active_count() == before
    sections = rig.conclude()
    assert (sections.power_states, sections.remarks) == (None, [])
    rig.use(Pace(3600 * 10**9))
    rig.arm()
    states = rig.conclude().power_states
    assert states is not None and states[0].changes[0].detail == "no way"


def test_a_disk_that_goes_ends_no_run_unless_looks_are_wanted(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(devices: object) -> list[Course]:
        raise UsageError("it is gone")

    monkeypatch.setattr(rig, "find", fail)
    rig.use(BESIDE_LOADS)
    assert rig.arm() == ""
    sections = rig.conclude()
    assert (sections.power_states, sections.remarks) == (None, [])
    rig.use(Pace(20 * MS))
    with pytest.raises(UsageError, match="it is gone"):
        rig.arm()


def test_looks_that_nobody_asked_for_do_without_what_is_not_permitted(rig: Rig) -> None:
    def refuse(cdb: bytes) -> ScsiReply:
        raise NotPermittedError("only root may send commands to /dev/sg0")

    rig.channel.scsi_answer = refuse
    rig.use(BESIDE_LOADS)
    assert rig.arm() == ""
    rig.fake.io(1)
    sections = rig.conclude()
    assert (sections.remarks, rig.looks.trouble()) == ([], "")
    assert sections.power_states is not None
    first, last = sections.power_states[0].changes
    assert (first.state, last.state) == (PowerState.UNKNOWN, PowerState.ACTIVE)
    assert first.detail == "only root may send commands to /dev/sg0"
    # It has tried once.
    assert rig.channel.opens == 1


def test_a_helper_asks_for_a_process_without_rights(rig: Rig) -> None:
    class Lent(Rights):
        def power_asker(self, disk: Device) -> Callable[[], Told]:
            assert disk.node == "/dev/sda"
            return lambda: (PowerState.STANDBY_Y, Basis.COMMAND, "by timer", 2)

    rig.rights = Lent()
    rig.use(BESIDE_LOADS)
    rig.arm()
    sections = rig.conclude()
    assert sections.power_states is not None
    (part,) = sections.power_states
    assert (part.changes[0].state, part.commands) == (PowerState.STANDBY_Y, 4)
    assert rig.channel.opens == 0


@pytest.mark.parametrize("by", ["rows", "outstanding"])
def test_io_of_the_back_end_scsi_is_known_by_the_run(rig: Rig, by: str) -> None:
    rig.channel.scsi_answer = lambda cdb: polled(0, 0)
    rig.use(BESIDE_LOADS)
    assert rig.arm(Backend.SCSI, interval_ns=10**9) == ""
    asked = len(rig.channel.sent)
    info = dataclasses.replace(rig.info, outstanding=by == "outstanding")
    second = interval(0, 0, 10**9, Phase.MEASURE)
    rig.looks.take(Look(info, [], [second] if by == "rows" else []))
    sections = rig.conclude()
    assert sections.power_states is not None
    assert sections.power_states[0].changes[-1].state is PowerState.ACTIVE
    assert len(rig.channel.sent) == asked == 1


def test_a_disk_that_does_not_answer_holds_up_nobody(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "PATIENCE_S", 0.05)
    answer, answered = threading.Event(), threading.Event()

    def hang(cdb: bytes) -> ScsiReply:
        answer.wait(LONG_S)
        answered.set()
        return polled(0, 0)

    rig.channel.scsi_answer = hang
    rig.arm()
    sections = rig.conclude()
    rig.looks.close()
    assert not answered.is_set()
    answer.set()
    assert sections.power_states == []
    assert sections.remarks == ["power states: a disk has not answered for 0.05 s"]


def test_looks_that_are_not_permitted_are_a_remark(rig: Rig) -> None:
    def refuse(cdb: bytes) -> ScsiReply:
        raise NotPermittedError("only root may send commands to /dev/sg0")

    rig.channel.scsi_answer = refuse
    rig.arm()
    sections = rig.conclude()
    told = "power states: only root may send commands to /dev/sg0"
    assert (sections.remarks, rig.looks.trouble()) == ([told], told)
    assert sections.power_states == []


def test_io_that_no_counter_has_is_told(rig: Rig) -> None:
    assert "active and idle are not told apart" in rig.arm(Backend.SCSI)
    rig.looks.close()


def test_a_run_that_is_called_off_leaves_no_thread(rig: Rig) -> None:
    before = threading.active_count()
    rig.looks.close()
    rig.arm()
    rig.looks.close()
    rig.looks.close()
    assert threading.active_count() == before


def test_disks_of_several_targets_are_looked_at_once(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "below", lambda device, *roots: [rig.fake.disk])
    (whole,) = disk_looks.courses_of([rig.fake.device, rig.fake.device])
    assert whole.disk == rig.fake.disk


LINE = ("run", "random-read-4k", "--device", "/dev/fake0", "--time", "3s")


@pytest.mark.parametrize("words", [(), ("--power-states", "100ms")])
def test_a_result_has_power_states_unless_they_are_off(
    spekctl: Spekctl,
    kernel: FakeKernel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
) -> None:
    fake = FakeDisk(tmp_path)
    monkeypatch.setattr(disk, "below", lambda device, *roots: [fake.disk])
    fake.write("device/power/runtime_status", "suspended")
    path = tmp_path / "r.json"
    assert spekctl(*LINE, *words, "-o", str(path)).code == ExitCode.OK
    validator(result.SCHEMA_FILE).validate(json.loads(path.read_bytes()))
    states = result.load_result(path).power_states
    assert states is not None
    assert [change.state for change in states[0].changes] == [PowerState.SUSPENDED]
    kernel.__init__()  # type: ignore[misc]
    assert spekctl(*LINE, "--power-states", "off", "-o", str(path)).code == ExitCode.OK
    assert result.load_result(path).power_states is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--power-states", "50ms"), "--power-states must be at least 100ms"),
        (("--power-states", "1s", "--detach"), "--power-states cannot be combined with --detach"),
        (("--power-states", "5"), "'5' is neither a time with its unit, such as 5s, nor off"),
        (("--power-states", "on"), "'on' is neither a time with its unit"),
    ],
)
def test_looks_that_are_impossible_are_refused(
    spekctl: Spekctl, kernel: FakeKernel, words: tuple[str, ...], sentence: str
) -> None:
    outcome = spekctl(*LINE, *words)
    assert outcome.code == ExitCode.USAGE
    assert sentence in outcome.err
    assert "run-new" not in kernel.calls
