# SPDX-License-Identifier: GPL-2.0-or-later
"""Campaigns that follow a rule book: a plan of steps on given devices, and a report on them.

A benchmark states its plan (plan.py: pure functions of its parameters and the completed steps), the
workload of a step (loads.py), and its report (report.py). What all of them share is here: the runs
of a workload on the devices, checks in advance, and what the exit code says.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from spekctl.block.device import Device
from spekctl.campaigns.campaign import Campaign, Done, Hosts, Task, interval_ns
from spekctl.documents.benchmark import Report
from spekctl.errors import ExitCode
from spekctl.run import request as run_request
from spekctl.run.job import Request
from spekctl.workload.model import WorkloadFile
from spekctl.workload.options import Options


class Step(Protocol):
    """A step of a plan."""

    @property
    def name(self) -> str:
        """Of its result's file, and for people."""


class Measured(Done, Protocol):
    """A completed step with its figures."""

    @property
    def step(self) -> Step:
        """The step."""


class Plan(Protocol):
    """The module with the plan of a benchmark."""

    def next_step(self, parameters: Any, done: Any, /) -> Any:
        """The next step; None when the plan is over, complete or not."""

    def left_ns(self, parameters: Any, done: Any, /) -> int:
        """Expected time of all remaining steps, including the next one."""


StepT = TypeVar("StepT", bound=Step)
MeasuredT = TypeVar("MeasuredT", bound=Measured)
ReportT = TypeVar("ReportT", bound=Report)


@dataclass(frozen=True, slots=True)
class Disks:
    """Devices to test, and what may be done to them."""

    devices: Sequence[Device]
    write: bool
    destroy: Sequence[str]
    hosts: Hosts | None = None  # that have them; None: this machine

    def run(
        self, load: WorkloadFile, shape: Mapping[str, Any], time_ns: int, ramp_ns: int = 0
    ) -> Request:
        """A run of this length; @shape: other fields of Options."""
        given = {"interval_ns": interval_ns(time_ns), **shape}
        return self._build(load, {**given, "time_ns": time_ns, "ramp_ns": ramp_ns})

    def fill(
        self, load: WorkloadFile, shape: Mapping[str, Any], percent: int, block_bytes: int
    ) -> Request:
        """A run of as many blocks as @percent of the capacity has, at least one; of hosts, each of
        its own capacity."""
        if self.hosts is not None:
            return self._build(load, {**shape, "passes": percent / 100})
        single = self.count(load, shape, 1)
        count = math.ceil(single.config.asus[0].bytes * percent / 100 / block_bytes)
        return self.count(load, shape, max(1, count))

    def count(self, load: WorkloadFile, shape: Mapping[str, Any], ios: int) -> Request:
        """A run of this many I/Os."""
        return self._build(load, {**shape, "count": ios})

    def _build(self, load: WorkloadFile, given: Mapping[str, Any]) -> Request:
        options = Options(**given, write=self.write)
        if self.hosts is not None:
            return self.hosts.request(load, options)
        subject = run_request.Subject(load, self.devices)
        return run_request.build(subject, options, self.destroy)


@dataclass(slots=True, kw_only=True)
class Benchmark(Campaign[StepT, MeasuredT], Generic[StepT, MeasuredT, ReportT]):
    """A benchmark under way."""

    # The rules: results are NAME-like.
    NAME: ClassVar[str]
    PLAN: ClassVar[Plan]

    folder: Path
    write: bool

    @abstractmethod
    def title_of(self, step: StepT) -> str:
        """A step, for display."""

    @abstractmethod
    def request(self, step: StepT) -> Request:
        """The run for a step."""

    @abstractmethod
    def examples(self) -> Iterable[StepT]:
        """Steps that represent all later ones: the test is refused if one of them is, and devices
        that none of them writes are claimed for reading."""

    @abstractmethod
    def build(self) -> ReportT:
        """The report on the completed steps, of which there is at least one."""

    @property
    def disks(self) -> Disks:
        """The devices to test."""
        return Disks(self.devices, self.write, self.destroy, self.hosts)

    def title(self) -> str:
        names = " ".join(device.path for device in self.devices)
        return f"{self.NAME}-like test on {self.hosts.title if self.hosts is not None else names}"

    def next_step(self) -> StepT | None:
        step: StepT | None = self.PLAN.next_step(self.parameters, self.done)
        return step

    def left_ns(self) -> int:
        return self.PLAN.left_ns(self.parameters, self.done)

    def task(self, step: StepT) -> Task:
        return Task(self.title_of(step), step.name, self.request(step))

    def name_of(self, done: MeasuredT) -> str:
        return done.step.name

    def written(self) -> set[tuple[int, int]]:
        return set().union(*(self.request(step).config.written for step in self.examples()))

    def check(self, dry: bool = False) -> None:
        """Refuse everything that can be refused in advance; a @dry run writes nothing."""
        for step in self.examples():
            wanted = self.request(step)
            run_request.check_destroy(wanted)
            if not dry:
                run_request.check_write(wanted)

    def report(self) -> ReportT | None:
        """The report so far; None before the first step."""
        return self.build() if self.done else None

    def exit_code(self, report: ReportT) -> ExitCode:
        """What a report on this test means."""
        return exit_code_of(report, self.ok)


def exit_code_of(report: Report, runs_ok: bool) -> ExitCode:
    """The exit code of a test that passed, missed a limit, or had a failed run."""
    if report.passed:
        return ExitCode.OK
    return ExitCode.LIMIT_MISSED if runs_ok else ExitCode.RUN_FAILED
