# SPDX-License-Identifier: GPL-2.0-or-later
"""The SPC-1-like test as a campaign: each step a run, its phase kept before the next one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from msgspec import structs

from spekctl.campaigns import folder as campaign_folder
from spekctl.campaigns.campaign import Campaign, Outcome, Task, interval_ns
from spekctl.campaigns.spc1 import plan
from spekctl.campaigns.spc1.phase import phase_of
from spekctl.campaigns.spc1.report import build
from spekctl.documents import document
from spekctl.documents.document import Kind
from spekctl.documents.result import Result
from spekctl.documents.spc1 import Parameters, Persistence, Phase, Report, Step
from spekctl.run import request as run_request
from spekctl.run.job import Request
from spekctl.workload.options import Options


class State(campaign_folder.State, frozen=True, kw_only=True, tag=Kind.SPC1_STATE.value):
    """The measurements of a test so far. The order of phases follows from them (plan.py)."""

    UPGRADES = (document.without_origin,)

    version: document.Version[Literal[2]] = 2
    parameters: Parameters
    done: list[Phase]
    persistence: Persistence | None = None


@dataclass(slots=True, kw_only=True)
class Spc1Test(Campaign[Step, Phase]):
    """A test in progress."""

    STATE: ClassVar[type[State]] = State
    STEP: ClassVar[str] = "phase"
    WORDS: ClassVar[Mapping[str, str]] = {
        "sustain_ns": "--sustain",
        "iops_ns": "--iops-time",
        "phase_ns": "--phase-time",
        "ramp_ns": "--ramp",
        "search_ns": "--search-time",
        "resolution_percent": "--resolution",
        "response_ns": "--max-response",
        "start_bsu": "--start-bsu",
        "max_bsu": "--max-bsu",
        "seed": "--seed",
        "cpus": "list of workers' CPUs",
        "stripe_bytes": "--stripe",
        "hrrw": "--hrrw",
        "iops_per_bsu": "--iops-per-bsu",
        "backend": "--backend",
        "polled": "--polled",
        "max_outstanding": "--max-outstanding",
        "batch": "--batch",
        "spin_ns": "--spin",
        "data": "--data",
    }

    subject: run_request.Subject
    parameters: Parameters
    folder: Path
    keep_going: bool = False
    persistence: Persistence | None = None

    def title(self) -> str:
        return self.subject.title

    def next_step(self) -> Step | None:
        return plan.next_step(self.parameters, self.done, self.keep_going)

    def left_ns(self) -> int:
        return plan.left_ns(self.parameters, self.done, self.keep_going)

    def task(self, step: Step) -> Task:
        title = f"{title_of(step)}, {step.bsu} BSU"
        request = self.request(step.bsu, step)
        return Task(title, step.name, request, step.ramp_ns + step.time_ns)

    def found(self, step: Step, outcome: Outcome, file: str) -> tuple[Phase, str]:
        assert isinstance(outcome, Result)
        phase = phase_of(step, outcome, self.parameters.limits, file)
        return phase, f"{step.name}: {phase.beyond}" if phase.beyond else ""

    def name_of(self, done: Phase) -> str:
        return done.step.name

    def request(self, bsu: int, step: Step, verified: bool = False) -> Request:
        """The run for a step."""
        shape = structs.asdict(self.parameters.shape)
        given: dict[str, Any] = {
            **shape,
            "bsu": bsu,
            "data": None if verified else shape["data"],
            "verify": verified,
            "write": True,
            "ramp_ns": step.ramp_ns,
            "time_ns": step.time_ns,
            "interval_ns": interval_ns(step.time_ns),
        }
        return run_request.build(self.subject, Options(**given), self.destroy)

    def stopped(self) -> str:
        """Why the test stopped before its end; else empty."""
        return plan.position_of(self.parameters, self.done, self.keep_going).stopped

    def report(self) -> Report | None:
        """The report so far; None before the first step."""
        if not self.done:
            return None
        return build(
            self.parameters,
            self.done,
            self.targets,
            self.environment,
            self.keep_going,
            self.persistence,
        )


def title_of(step: Step) -> str:
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
