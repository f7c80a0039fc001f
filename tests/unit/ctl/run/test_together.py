# SPDX-License-Identifier: GPL-2.0
"""Runs side by side: one start, and one end for all if one of them fails."""

from __future__ import annotations

import errno
import signal
import time
from collections.abc import Sequence

import msgspec
import pytest
from lib.ctl.results import DISK
from lib.fakes.kernel import SECOND, FakeKernel
from lib.fakes.machine import disk
from lib.fakes.shared_kernel import SharedKernel

from spekctl.documents.result import Result
from spekctl.errors import ExitCode, RefusedError, SpekError, UsageError, error_from_errno
from spekctl.kernel.records import Reason
from spekctl.render.progress import LineProgress
from spekctl.run import job, observe, start, together
from spekctl.run.collector import Collector
from spekctl.run.rights import Rights
from spekctl.run.together import Member
from spekctl.workload import file
from spekctl.workload.config import DeviceNumber
from spekctl.workload.resolve import Options, resolve

T0_NS = 2000 * SECOND


def member(minor: int, seconds: int = 3, delay_s: int = 0, write: bool = False) -> Member:
    workload = file.load("random-write-4k" if write else "random-read-4k")
    options = Options(available_cpus=(0,), time_ns=seconds * SECOND, write=write)
    config = resolve(workload, options, [DISK])
    config = msgspec.structs.replace(config, targets=[DeviceNumber(250, minor, 0)])
    request = job.Request(workload, config, [disk(f"/dev/fake{minor}")], write)
    return Member(request, LineProgress(quiet=True), delay_s * SECOND)


def carried_out(
    kernel: FakeKernel, members: Sequence[Member], interrupts: job.Interrupts | None = None
) -> list[Result]:
    at = start.parse(f"mono:{T0_NS}")
    return list(
        together.measure(kernel, members, interrupts or job.Interrupts(), None, start_at=at)
    )


def test_all_start_at_one_time_after_all_are_ready() -> None:
    kernel = SharedKernel()
    first, second = carried_out(kernel, [member(0, seconds=3), member(1, seconds=5)])
    last = {call: place for place, call in enumerate(kernel.calls)}
    assert last["run-new"] < kernel.calls.index("run-start")
    assert last["run-start"] < kernel.calls.index("run-delete")
    assert first.start.monotonic_ns == second.start.monotonic_ns == T0_NS
    assert [len(result.intervals) for result in (first, second)] == [3, 5]
    assert "started together with the run on /dev/fake1" in first.remarks
    assert "started together with the run on /dev/fake0" in second.remarks
    assert not kernel.held()


def test_a_delay_counts_from_the_common_start() -> None:
    kernel = SharedKernel()
    results = carried_out(kernel, [member(0), member(1, delay_s=7)])
    assert [result.start.monotonic_ns - T0_NS for result in results] == [0, 7 * SECOND]
    assert "started 7 s after the run on /dev/fake0" in results[1].remarks


def test_without_a_time_the_start_is_far_enough_for_all_to_be_armed() -> None:
    kernel = SharedKernel()
    members = [member(0), member(1), member(2)]
    results = list(together.measure(kernel, members, job.Interrupts(), None))
    (start_ns,) = {fake.start_ns for fake in kernel.runs_by_number.values()}
    assert start_ns and len(results) == 3


def late(times: int, begun: bool = False) -> SharedKernel:
    """A kernel that gets the start of the second run too late, this number of times."""

    def prepare(number: int, fake: FakeKernel) -> None:
        place = number - 7
        fake.begun = begun
        if place % 2 and place // 2 < times:
            text = "The start time has passed."
            fake.refuse["run-start"] = error_from_errno(errno.ETIME, text, "run-start")

    return SharedKernel(prepare=prepare)


@pytest.mark.parametrize("begun", [False, True])
def test_a_start_that_comes_before_all_are_armed_is_put_off(begun: bool) -> None:
    kernel = late(2, begun)
    before_ns = time.monotonic_ns()
    results = list(together.measure(kernel, [member(0), member(1)], job.Interrupts(), None))
    assert len({result.start.monotonic_ns for result in results}) == 1
    assert [len(result.intervals) for result in results] == [3, 3]
    first, _, second, _, third, fourth = kernel.runs_by_number.values()
    assert [fake.reason for fake in (first, second)] == [Reason.STOPPED] * 2
    assert third.start_ns == fourth.start_ns >= before_ns + 16 * together.LEAD_NS
    assert third.start_ns > second.start_ns > first.start_ns
    assert not kernel.held()


def test_a_start_is_not_put_off_for_ever() -> None:
    kernel = late(9)
    with pytest.raises(SpekError, match="arming the runs took longer than 32s"):
        list(together.measure(kernel, [member(0), member(1)], job.Interrupts(), None))
    assert len(kernel.runs_by_number) == 8 and not kernel.held()


def test_a_run_that_has_written_alone_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rights, "check_write", lambda *_: [])
    kernel = late(1, begun=True)
    members = [member(0, write=True), member(1)]
    with pytest.raises(SpekError, match="the run on /dev/fake0 has begun to write without") as end:
        list(together.measure(kernel, members, job.Interrupts(), None))
    assert end.value.exit_code is ExitCode.RUN_FAILED
    assert len(kernel.runs_by_number) == 2 and not kernel.held()


def test_a_time_that_the_user_gave_is_not_changed() -> None:
    kernel = late(1)
    with pytest.raises(UsageError, match="The start time has passed"):
        carried_out(kernel, [member(0), member(1)])
    assert len(kernel.runs_by_number) == 2 and not kernel.held()


@pytest.mark.parametrize("reason", [Reason.DEVICE_GONE, Reason.ERRORS])
def test_a_run_that_fails_ends_the_others(reason: Reason) -> None:
    def fails(number: int, fake: FakeKernel) -> None:
        fake.end_reason = reason if number == 8 else Reason.COMPLETED

    kernel = SharedKernel(prepare=fails)
    beside, failed = carried_out(kernel, [member(0, seconds=100), member(1)])
    assert (beside.outcome.reason, failed.outcome.reason) == ("stopped", reason.value)
    assert 3 <= len(beside.intervals) < 10
    words = reason.value.replace("_", " ").replace("-", " ")
    assert f"stopped, as the run on /dev/fake1 has ended: {words}" in beside.remarks
    assert not any("stopped, as" in remark for remark in failed.remarks)
    assert not kernel.held()


def test_a_run_that_a_threshold_ends_leaves_the_others_alone() -> None:
    def stopped(number: int, fake: FakeKernel) -> None:
        fake.end_reason = Reason.STOPPED if number == 8 else Reason.COMPLETED

    kernel = SharedKernel(prepare=stopped)
    beside, ended = carried_out(kernel, [member(0, seconds=20), member(1)])
    assert (beside.outcome.reason, ended.outcome.reason) == ("completed", "stopped")
    assert len(beside.intervals) == 20


def test_ctrl_c_ends_all() -> None:
    interrupts = job.Interrupts()

    def interrupt(second: int) -> None:
        if second == 2:
            interrupts.interrupt(signal.SIGINT)

    def interrupts_at(number: int, fake: FakeKernel) -> None:
        fake.on_wait = interrupt

    kernel = SharedKernel(prepare=interrupts_at)
    results = carried_out(kernel, [member(0, seconds=50), member(1, seconds=60)], interrupts)
    assert [result.outcome.reason for result in results] == ["stopped", "stopped"]
    assert all(len(result.intervals) < 10 for result in results)
    assert not kernel.held()


def test_a_device_that_is_in_use_calls_all_off() -> None:
    kernel = SharedKernel()
    with pytest.raises(RefusedError, match="/dev/fake1 is in use"):
        carried_out(kernel, [member(0), member(1), member(1)])
    assert "run-start" not in kernel.calls and not kernel.held()


def test_results_that_nobody_takes_keep_no_devices() -> None:
    kernel = SharedKernel()
    results = together.measure(kernel, [member(0), member(1)], job.Interrupts(), None)
    next(results)
    assert len(kernel.held()) == 1
    results.close()
    assert not kernel.held()


def test_the_machine_is_sampled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Samples(Collector):
        armed = closed = 0

        def arm(self, claimed: object) -> str:
            self.armed += 1
            return ""

        def close(self) -> None:
            self.closed += 1

    samples = Samples()
    monkeypatch.setattr(observe, "connect", lambda *asked: ((samples,), ""))
    kernel = SharedKernel()
    assert len(list(together.measure(kernel, [member(0), member(1)], job.Interrupts(), 1))) == 2
    assert (samples.armed, samples.closed) == (1, 1)
