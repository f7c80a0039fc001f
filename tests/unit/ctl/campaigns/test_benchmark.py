# SPDX-License-Identifier: GPL-2.0
"""What all benchmarks share: their runs on the devices, checks in advance, and the exit code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from lib.ctl.benchmark_reports import ListReport
from lib.fakes.machine import disk, use_fakes
from lib.fakes.queue_kernel import QueueKernel

from spekctl.campaigns import folder
from spekctl.campaigns.benchmark import Benchmark, Disks, Plan
from spekctl.campaigns.campaign import Outcome
from spekctl.documents.document import Kind
from spekctl.errors import ExitCode, RefusedError, UsageError
from spekctl.run.job import Request
from spekctl.workload import file
from spekctl.workload.model import Arrival, Header, Stream, WorkloadFile

SECOND = 10**9
READ = file.load("random-read-4k")
WRITE = WorkloadFile(
    workload=Header(name="write", summary="Sequential writes"),
    stream=[Stream(name="main", read="0%", size="64KiB", pattern="sequential")],
    arrival=[Arrival(name="main", law="closed", depth=1)],
)


class Step(msgspec.Struct, frozen=True):
    name: str


class Run(msgspec.Struct, frozen=True):
    step: Step
    ok: bool = True


class Parameters(msgspec.Struct, frozen=True):
    names: list[str]
    load: WorkloadFile = READ
    passed: bool = True


class State(folder.State, frozen=True, kw_only=True, tag=Kind.SPC2_STATE.value):
    parameters: Parameters
    done: list[Run]


class ListPlan:
    """One run for each name."""

    def next_step(self, parameters: Parameters, done: Sequence[Run], /) -> Step | None:
        left = parameters.names[len(done) :]
        return Step(left[0]) if left else None

    def left_ns(self, parameters: Parameters, done: Sequence[Run], /) -> int:
        return (len(parameters.names) - len(done)) * SECOND


@dataclass(slots=True, kw_only=True)
class ListTest(Benchmark[Step, Run, ListReport]):
    STATE: ClassVar[type[State]] = State
    NAME: ClassVar[str] = "LIST"
    PLAN: ClassVar[Plan] = ListPlan()

    parameters: Parameters

    def title_of(self, step: Step) -> str:
        return f"run {step.name}"

    def request(self, step: Step) -> Request:
        return self.disks.run(self.parameters.load, {}, SECOND, SECOND // 2)

    def examples(self) -> Iterator[Step]:
        yield Step("example")

    def record_of(self, step: Step, outcome: Outcome, file: str) -> tuple[Run, str]:
        return Run(step), ""

    def build(self) -> ListReport:
        return ListReport(self.parameters.passed)


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> QueueKernel:
    fake = QueueKernel()
    use_fakes(monkeypatch, fake, tmp_path)
    return fake


def benchmark(parameters: Parameters, **more: Any) -> ListTest:
    given = {"devices": [disk()], "folder": Path("t"), "write": False, **more}
    return ListTest(parameters=parameters, **given)


def test_steps_follow_from_the_plan() -> None:
    work = benchmark(Parameters(["a", "b"]))
    assert work.title() == "LIST-like test on /dev/fake0"
    step = work.next_step()
    assert step == Step("a") and work.left_ns() == 2 * SECOND
    task = work.task(step)
    assert (task.title, task.name, task.length_ns) == ("run a", "a", SECOND * 3 // 2)
    work.done.append(Run(step))
    assert work.next_step() == Step("b") and work.name_of(work.done[0]) == "a"
    work.done.append(Run(Step("b")))
    assert work.next_step() is None


def test_there_is_no_report_before_the_first_step() -> None:
    work = benchmark(Parameters(["a"]))
    assert work.report() is None
    work.done.append(Run(Step("a")))
    assert work.report() == ListReport(True)


@pytest.mark.parametrize(
    ("passed", "ok", "code"),
    [
        (True, True, ExitCode.OK),
        (False, True, ExitCode.LIMIT_MISSED),
        (False, False, ExitCode.RUN_FAILED),
    ],
)
def test_a_missed_limit_is_not_a_failed_run(passed: bool, ok: bool, code: ExitCode) -> None:
    work = benchmark(Parameters(["a"], passed=passed))
    work.done.append(Run(Step("a"), ok))
    report = work.report()
    assert report is not None and work.exit_code(report) is code


def test_a_test_that_writes_is_refused_without_permission() -> None:
    with pytest.raises(RefusedError, match="give --write"):
        benchmark(Parameters(["a"], WRITE)).check()
    benchmark(Parameters(["a"], WRITE)).check(dry=True)
    benchmark(Parameters(["a"], WRITE), write=True).check()
    benchmark(Parameters(["a"])).check()
    with pytest.raises(UsageError, match="--destroy needs --write as well"):
        benchmark(Parameters(["a"]), destroy=["S123"]).check(dry=True)


def test_a_run_has_its_length_and_its_options() -> None:
    config = Disks([disk()], False, []).run(READ, {"depth": 8, "seed": 5}, 60 * SECOND, SECOND)
    wanted = config.config
    assert (wanted.time_ns, wanted.ramp_ns, wanted.seed) == (60 * SECOND, SECOND, 5)
    assert wanted.arrivals[0].depth == 8 and wanted.interval_ns == 600_000_000
    own = Disks([disk()], False, []).run(READ, {"interval_ns": SECOND}, 60 * SECOND)
    assert own.config.interval_ns == SECOND and own.length_ns == 60 * SECOND


@pytest.mark.parametrize(
    ("percent", "count"), [(100, 16384), (200, 32768), (1, 164), (0, 1)]
)  # of 1 GiB in blocks of 64 KiB, rounded up
def test_an_amount_is_a_share_of_the_capacity(percent: int, count: int) -> None:
    wanted = Disks([disk()], True, []).fill(WRITE, {}, percent, 64 << 10)
    assert wanted.config.count == count and wanted.length_ns == 0
