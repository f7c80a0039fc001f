# SPDX-License-Identifier: GPL-2.0
"""Runs by their verbs: alone, side by side, and failed at every step."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from lib.ctl.results import DISK
from lib.fakes.kernel import SECOND, START_NS, FakeKernel
from lib.fakes.machine import disk, use_fakes
from lib.fakes.shared_kernel import SharedKernel

from spekctl.block import device, safety
from spekctl.block.device import Device
from spekctl.block.zones import Zone
from spekctl.documents.device import DeviceFacts, DiskCounters
from spekctl.errors import CalledOffError, RefusedError, SpekError, UsageError
from spekctl.kernel.records import RunState
from spekctl.render.progress import LineProgress
from spekctl.run import job, request, unmapped
from spekctl.run.collector import Claimed, Collector, Ended, Look, Sections
from spekctl.run.follow import follow
from spekctl.run.measure import carry_out
from spekctl.run.rights import Rights
from spekctl.run.session import Session
from spekctl.run.targets import Room
from spekctl.workload import file
from spekctl.workload.config import DeviceNumber, RunConfig
from spekctl.workload.resolve import Options, resolve

T0_NS = 2000 * SECOND


def request_on(minor: int, seconds: int = 3, **changes: object) -> job.Request:
    workload = file.load("random-read-4k")
    options = Options(available_cpus=(0,), time_ns=seconds * SECOND)
    config = resolve(workload, options, [DISK])
    config = msgspec.structs.replace(config, targets=[DeviceNumber(250, minor, 0)], **changes)
    return job.Request(workload, config, [disk(f"/dev/fake{minor}")])


def session_of(
    kernel: FakeKernel,
    request: job.Request | None = None,
    interrupts: job.Interrupts | None = None,
    *collectors: Collector,
) -> Session:
    view = LineProgress(quiet=True)
    asked = request if request is not None else request_on(0)
    return Session(kernel, asked, view, interrupts or job.Interrupts(), collectors)


@contextlib.contextmanager
def side_by_side(kernel: FakeKernel, *requests: job.Request) -> Iterator[list[Session]]:
    """Sessions of one kernel, all of which are left together."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(session_of(kernel, request)) for request in requests]


# --- alone ---------------------------------------------------------------------------------------


def test_a_failure_under_way_gives_the_devices_back() -> None:
    kernel = FakeKernel()

    class Broken(LineProgress):
        def show(self, clock: object, news: object) -> None:
            raise RuntimeError("the terminal burns")

    view = Broken(quiet=True)
    with (
        pytest.raises(RuntimeError),
        Session(kernel, request_on(0), view, job.Interrupts()) as session,
    ):
        carry_out(session)
    assert kernel.calls[-3:] == ["run-stop", "run-get", "run-delete"]
    assert kernel.deleted


def test_the_devices_are_claimed_before_they_are_checked_and_started_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = FakeKernel()

    def check_write(*asked: object, **_: object) -> str:
        kernel.calls.append("check")
        return "nothing was on it"

    monkeypatch.setattr(safety, "check_write", check_write)

    class Opened(Collector):
        def arm(self, claimed: Claimed) -> str:
            assert [facts.path for facts in claimed.facts] == ["/dev/fake0"]
            assert claimed.info.state is RunState.READY
            kernel.calls.append("opened")
            return "it was opened late"

    with session_of(kernel, request_on(0, write=True), None, Opened()) as session:
        session.claim()
        session.check()
        session.ready()
        plan = session.arm()
        session.abandon()
    steps = [call for call in kernel.calls if call in ("run-new", "check", "opened", "run-start")]
    assert steps == ["run-new", "check", "opened", "run-start"]
    assert plan.remarks == ["nothing was on it", "it was opened late"]
    assert kernel.deleted


@pytest.mark.parametrize("opens_disks", [False, True])
def test_disks_are_asked_for_their_blocks_only_by_who_may_open_them(
    monkeypatch: pytest.MonkeyPatch, opens_disks: bool
) -> None:
    asked = []

    def remarks(devices: Sequence[Device], config: RunConfig) -> list[str]:
        asked.append([device.path for device in devices])
        return []

    class Lent(Rights):
        pass

    Lent.opens_disks = opens_disks
    monkeypatch.setattr(unmapped, "remarks", remarks)
    with session_of(FakeKernel(), dataclasses.replace(request_on(0), rights=Lent())) as session:
        session.claim()
        session.check()
        session.abandon()
    assert asked == ([["/dev/fake0"]] if opens_disks else [])


def test_the_disk_is_read_when_the_run_has_ended_and_not_when_the_result_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What others send to a disk while the result of its run waits is not the run's."""
    sent = 0
    monkeypatch.setattr(device, "by_number", lambda *asked: disk())
    monkeypatch.setattr(device, "read_stat", lambda node: DiskCounters(sent, 8 * sent, 0, 0))
    with session_of(FakeKernel()) as session:
        session.claim()
        session.check()
        session.ready()
        session.arm()
        while not session.step():
            session.wait(session.pause_s())
            sent += 100
        sent += 5
        (target,) = session.result().targets
        session.release()
    assert target.disk is not None
    assert (target.reads, target.disk.reads, target.disk_agrees) == (300, 300, True)


@pytest.mark.parametrize("start_ns", [0, T0_NS])
def test_what_others_send_to_the_disk_before_the_start_is_not_the_runs(
    monkeypatch: pytest.MonkeyPatch, start_ns: int
) -> None:
    """Between the check and a start that is hours ahead, udev or smartd may read it."""
    sent = 0
    kernel = FakeKernel(armed_waits=3)
    monkeypatch.setattr(device, "by_number", lambda *asked: disk())
    monkeypatch.setattr(device, "read_stat", lambda node: DiskCounters(sent, 8 * sent, 0, 0))
    with session_of(kernel) as session:
        session.claim()
        session.check()
        sent += 7
        session.ready()
        sent += 7
        session.arm(start_ns)
        while not session.step():
            session.wait(session.pause_s())
            sent += 100 if kernel.seconds else 7 * (kernel.state is RunState.ARMED)
        (target,) = session.result().targets
        session.release()
    assert target.disk is not None
    assert (target.reads, target.disk.reads, target.disk_agrees) == (300, 300, True)


def test_collectors_end_in_reverse_and_see_the_end_before_anything_is_read() -> None:
    said: list[str] = []

    class Told(Collector):
        def __init__(self, name: str) -> None:
            self._name = name

        def arm(self, claimed: Claimed) -> str:
            said.append(f"arm {self._name}")
            return ""

        def ended(self) -> None:
            said.append(f"ended {self._name}")

        def conclude(self, ended: Ended, sections: Sections) -> None:
            said.append(f"conclude {self._name}")
            sections.remarks.append(self._name)

        def close(self) -> None:
            said.append(f"close {self._name}")

    with session_of(FakeKernel(), None, None, Told("a"), Told("b")) as session:
        result = carry_out(session)
    assert said == [
        *("arm a", "arm b", "ended a", "ended b"),
        *("conclude b", "conclude a", "close b", "close a"),
    ]
    assert result.remarks[:2] == ["b", "a"]


def test_a_collector_that_cannot_open_calls_the_run_off() -> None:
    kernel = FakeKernel()

    class Closed(Collector):
        def arm(self, claimed: Claimed) -> str:
            raise SpekError("there is no room")

    with pytest.raises(SpekError, match="no room"), session_of(kernel, None, None, Closed()) as run:
        carry_out(run)
    assert kernel.deleted and "run-start" not in kernel.calls


def test_an_interrupt_before_the_start_calls_the_run_off() -> None:
    kernel, interrupts = FakeKernel(), job.Interrupts()
    with (
        pytest.raises(CalledOffError, match="nothing was sent"),
        session_of(kernel, None, interrupts) as session,
    ):
        session.claim()
        session.check()
        session.ready()
        interrupts.interrupt(signal.SIGINT)
        session.arm()
    assert kernel.deleted and "run-start" not in kernel.calls


def test_an_interrupt_while_collectors_open_leaves_the_others_closed() -> None:
    """One of them overwrites the log of an earlier run."""
    kernel, interrupts, said = FakeKernel(), job.Interrupts(), []

    class Slow(Collector):
        def arm(self, claimed: Claimed) -> str:
            claimed.interrupts.interrupt(signal.SIGINT)
            return ""

    class Overwriting(Collector):
        def arm(self, claimed: Claimed) -> str:
            said.append("overwritten")
            return ""

    with (
        pytest.raises(CalledOffError, match="nothing was sent"),
        session_of(kernel, None, interrupts, Slow(), Overwriting()) as session,
    ):
        carry_out(session)
    assert not said and kernel.deleted and "run-start" not in kernel.calls


def test_a_run_whose_wait_was_given_up_is_left_to_the_kernel() -> None:
    kernel, interrupts = FakeKernel(hangs=True), job.Interrupts()
    kernel.on_wait = lambda second: interrupts.interrupt(signal.SIGINT)
    with session_of(kernel, None, interrupts) as session:
        result = carry_out(session)
    assert result.outcome.outstanding == 3
    assert "run-stop" in kernel.calls and not kernel.deleted


# --- side by side --------------------------------------------------------------------------------


def test_several_runs_are_claimed_and_checked_before_any_is_armed_for_the_same_time() -> None:
    kernel = SharedKernel()
    with side_by_side(kernel, request_on(0, seconds=3), request_on(1, seconds=5)) as sessions:
        for session in sessions:
            session.claim()
        for session in sessions:
            session.check()
        for session in sessions:
            session.ready()
        assert "run-start" not in kernel.calls and len(kernel.held()) == 2
        plans = [session.arm(T0_NS) for session in sessions]
        follow(sessions)
        results = [session.result() for session in sessions]
        assert len(kernel.held()) == 2
        for session in sessions:
            session.release()
    assert [plan.started_ns for plan in plans] == [T0_NS, T0_NS]
    assert [result.run for result in results] == [7, 8]
    assert [result.start.monotonic_ns for result in results] == [T0_NS, T0_NS]
    assert [result.end.monotonic_ns - START_NS for result in results] == [3 * SECOND, 5 * SECOND]
    assert [len(result.intervals) for result in results] == [3, 5]
    assert all(result.outcome.ok for result in results)
    assert not kernel.held()


def test_several_runs_are_claimed_everywhere_or_nowhere() -> None:
    kernel = SharedKernel()
    with (
        pytest.raises(RefusedError, match="/dev/fake1 is in use"),
        side_by_side(kernel, request_on(0), request_on(1), request_on(1)) as sessions,
    ):
        for session in sessions:
            session.claim()
    assert kernel.calls.count("run-delete") == 2
    assert not kernel.held()


@pytest.mark.parametrize("failing", ["check", "ready", "arm", "step", "result"])
def test_a_failure_of_a_run_gives_back_the_devices_of_all(
    failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = SharedKernel()

    class Failed(Exception):
        pass

    def fail(*arguments: object) -> None:
        raise Failed

    with (
        pytest.raises(Failed),
        side_by_side(kernel, request_on(0), request_on(1)) as (first, second),
    ):
        monkeypatch.setattr(second, failing, fail)
        for session in (first, second):
            session.claim()
        for session in (first, second):
            session.check()
        for session in (first, second):
            session.ready()
        for session in (first, second):
            session.arm(T0_NS)
        follow((first, second))
        for session in (first, second):
            session.result()
    assert len(kernel.runs_by_number) == 2 and not kernel.held()


def test_a_reason_to_stop_ends_the_run_of_its_collector_alone() -> None:
    kernel = SharedKernel()

    class Ends(Collector):
        def __init__(self) -> None:
            self._rows = 0

        def take(self, look: Look) -> None:
            self._rows = len(look.rows)

        def stop_reason(self) -> str:
            return "enough" if self._rows >= 2 else ""

    with (
        session_of(kernel, request_on(0), None, Ends()) as ending,
        session_of(kernel, request_on(1)) as continuing,
    ):
        for session in (ending, continuing):
            session.claim()
            session.check()
            session.ready()
            session.arm()
        follow((ending, continuing))
        reasons = [session.result().outcome.reason for session in (ending, continuing)]
        for session in (ending, continuing):
            session.release()
    assert reasons == ["stopped", "completed"]


# --- counts of zones -----------------------------------------------------------------------------


ZONED = """
[workload]
name = "log"
summary = "a test"
[[stream]]
name = "s"
size = "64KiB"
read = "0%"
pattern = "write-pointer"
"""
ZONE = 4 << 20


class Reporting(Rights):
    """Of a zoned disk of 1 GiB: its zones have these capacities, the first ones that is."""

    def __init__(self, kernel: FakeKernel, *capacities: int, zones: int = 256) -> None:
        self.kernel, self.capacities, self.nr = kernel, capacities, zones

    def zones(self, disk: DeviceFacts, start: int = 0, count: int | None = None) -> list[Zone]:
        assert (start, count) == (0, None) and disk.path == "/dev/fake0"
        assert self.kernel.claimed, "a disk is claimed before its zones count"
        capacities = [*self.capacities, *[0] * self.nr][: self.nr]
        return [Zone(place * ZONE, ZONE, 1, most) for place, most in enumerate(capacities)]


def zoned_request(
    kernel: FakeKernel, *capacities: int, zones: int = 256, rooms: Sequence[Room] = (), **more: bool
) -> job.Request:
    subject = request.Subject(file.parse(ZONED), [disk("/dev/fake0", zoned="host-managed")])
    options = Options(write=True, passes=3)
    built = request.build(subject, options, rooms=rooms, detach=more.get("detach", False))
    return dataclasses.replace(built, rights=Reporting(kernel, *capacities, zones=zones))


@pytest.fixture
def plain_disks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeKernel:
    kernel = FakeKernel()
    use_fakes(monkeypatch, kernel, tmp_path)
    return kernel


def test_passes_at_write_pointers_are_of_the_zones_under_the_claim(plain_disks: FakeKernel) -> None:
    asked = zoned_request(plain_disks, 0, 65536, 65536 * 2 + 512)
    assert asked.config.count == 3 * 256 * 64  # whole zones
    with session_of(plain_disks, asked) as session:
        result = carry_out(session)
    assert result.config.count == 3 * (1 + 3)
    assert result.config == msgspec.structs.replace(asked.config, count=12)
    assert plain_disks.config == result.config
    assert plain_disks.calls.index("claim-new") < plain_disks.calls.index("run-new")
    assert plain_disks.claim is not None and not plain_disks.claimed and plain_disks.deleted


def test_those_of_a_room_count(plain_disks: FakeKernel) -> None:
    capacities = [65536] * 4 + [65536 * 2] * 252
    rooms = [Room(3 * ZONE, 2 * ZONE)]
    with session_of(plain_disks, zoned_request(plain_disks, *capacities, rooms=rooms)) as session:
        session.claim()
        assert session.request.config.count == 3 * (1 + 2)
        assert session.request.config.asus[0].extents[0].start == 3 * ZONE
        session.abandon()
    assert not plain_disks.claimed


def test_a_detached_run_takes_its_own_claim_after_that(plain_disks: FakeKernel) -> None:
    with session_of(plain_disks, zoned_request(plain_disks, 65536, detach=True)) as session:
        session.claim()
        assert plain_disks.config is not None and plain_disks.config.count == 3
        assert plain_disks.claim is None and not plain_disks.claimed
        session.abandon()


@pytest.mark.parametrize(
    ("capacities", "zones", "why"),
    [
        ([65536], 255, "/dev/fake0 does not report all of its zones"),
        ([], 0, "/dev/fake0 does not report all of its zones"),
        ([], 256, "no zone of stream 's' can be written at its pointer"),
    ],
)
def test_zones_that_make_no_pass_are_refused_and_released(
    plain_disks: FakeKernel, capacities: list[int], zones: int, why: str
) -> None:
    asked = zoned_request(plain_disks, *capacities, zones=zones)
    with pytest.raises(UsageError, match=why), session_of(plain_disks, asked) as session:
        carry_out(session)
    assert not plain_disks.claimed and "run-new" not in plain_disks.calls
