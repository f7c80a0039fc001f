# SPDX-License-Identifier: GPL-2.0-or-later
"""The SPC-1-like test as a campaign: each step a run, its phase kept before the next one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from msgspec import structs

from spekctl import units
from spekctl.campaigns import folder as campaign_folder
from spekctl.campaigns.benchmark import Benchmark, exit_code_of
from spekctl.campaigns.campaign import SECOND, Outcome
from spekctl.campaigns.spc1 import plan
from spekctl.campaigns.spc1.phase import phase_of
from spekctl.campaigns.spc1.report import build
from spekctl.documents import document
from spekctl.documents.document import Kind
from spekctl.documents.result import Result
from spekctl.documents.spc1 import Parameters, Persistence, Phase, Report, Step
from spekctl.errors import ExitCode
from spekctl.run import request as run_request
from spekctl.run.job import Request


class State(campaign_folder.State, frozen=True, kw_only=True, tag=Kind.SPC1_STATE.value):
    """The measurements of a test so far. The order of phases follows from them (plan.py)."""

    UPGRADES = (document.without_origin,)

    version: document.Version[Literal[2]] = 2
    parameters: Parameters
    done: list[Phase]
    persistence: Persistence | None = None


@dataclass(slots=True, kw_only=True)
class Spc1Test(Benchmark[Step, Phase, Report]):
    """A test in progress."""

    STATE: ClassVar[type[State]] = State
    NAME: ClassVar[str] = "SPC-1"
    STEP: ClassVar[str] = "phase"
    WORDS: ClassVar[Mapping[str, str]] = {
        "cpus": "list of workers' CPUs",
        "placed": "placement of asus",
        "clients": "number of clients",
    }

    subject: run_request.Subject
    parameters: Parameters
    keep_going: bool = False
    persistence: Persistence | None = None

    def title(self) -> str:
        if self.hosts is not None:
            return f"{self.subject.workload.workload.name} on {self.hosts.title}"
        return self.subject.title

    def title_of(self, step: Step) -> str:
        return f"{what_of(step)}, {step.bsu} BSU"

    def resume(self, words: Mapping[str, str]) -> None:
        """As of every campaign; asus of other sizes are another test. Those of hosts are known
        after a run only."""
        Benchmark.resume(self, words)
        if self.hosts is None:
            (example,) = self.examples()
            self._check_asus({asu.name: asu.bytes for asu in self.request(example).config.asus})

    def _check_asus(self, sizes: Mapping[str, int]) -> None:
        """UsageError if they are not those of the first phase, by which the report judges capacity
        and shares: of another version of the workload, or of hosts that share other devices."""
        was = {asu.name: asu.bytes for asu in self.done[0].asus} if self.done else dict(sizes)
        if self.folder is None or was == dict(sizes):
            return
        texts = (
            ", ".join(f"{name} {units.format_bytes(size)} ({size})" for name, size in asus.items())
            for asus in (was, sizes)
        )
        campaign_folder.refuse_other(self.folder, "size of asus", *texts)

    def next_step(self) -> Step | None:
        return plan.next_step(self.parameters, self.done, self.keep_going)

    def left_ns(self) -> int:
        return plan.left_ns(self.parameters, self.done, self.keep_going)

    def record_of(self, step: Step, outcome: Outcome, file: str) -> tuple[Phase, str]:
        assert isinstance(outcome, Result)
        phase = phase_of(step, outcome, self.parameters.limits, file)
        self._check_asus({asu.name: asu.bytes for asu in phase.asus})
        return phase, f"{step.name}: {phase.beyond}" if phase.beyond else ""

    def request(self, step: Step) -> Request:
        """The run for a step."""
        return self._shaped(step, structs.asdict(self.parameters.shape))

    def verified_request(self, step: Step) -> Request:
        """The run for a step that stamps what it writes, and verifies it."""
        changed = {"data": None, "verify": True}
        return self._shaped(step, structs.asdict(self.parameters.shape) | changed)

    def _shaped(self, step: Step, shape: dict[str, Any]) -> Request:
        load = self.subject.workload
        return self.disks.run(load, shape | {"bsu": step.bsu}, step.time_ns, step.ramp_ns)

    def examples(self) -> Iterator[Step]:
        yield Step("search", "search", 100, self.parameters.max_bsu, 0, SECOND)

    def stopped(self) -> str:
        """Why the test stopped before its end; else empty."""
        return plan.position_of(self.parameters, self.done, self.keep_going).stopped

    def build(self) -> Report:
        return build(
            *(self.parameters, self.done, self.targets, self.environment),
            *(self.keep_going, self.persistence, self.remarks),
        )

    def exit_code(self, report: Report) -> ExitCode:
        """A test whose data did not persist has failed, whatever else it found."""
        persistence = report.persistence
        if persistence is None:
            return exit_code_of(report, self.ok)
        if persistence.passed is False:
            return ExitCode.DATA_ERRORS
        return exit_code_of(report, self.ok and persistence.passed is not None)


def what_of(step: Step) -> str:
    """A step for people."""
    if step.kind == "search":
        return "search"
    if step.kind == "repeat":
        _, number, percent = step.name.split("-")
        return f"repetition {number} at {percent} %"
    return {
        "sustain": "sustain at 100 %",
        "iops": "IOPS phase at 100 %",
        "ramp": f"ramp at {step.percent} %",
    }[step.kind]
