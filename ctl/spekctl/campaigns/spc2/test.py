# SPDX-License-Identifier: GPL-2.0-or-later
"""The SPC-2-like test as a campaign: each step a run of streams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

from spekctl.campaigns import folder as campaign_folder
from spekctl.campaigns.campaign import Campaign, Outcome, Task
from spekctl.campaigns.spc2 import plan
from spekctl.campaigns.spc2.loads import request_of
from spekctl.campaigns.spc2.report import build, run_of
from spekctl.documents.document import Kind
from spekctl.documents.result import Result
from spekctl.documents.spc2 import Parameters, Report, Run, Step
from spekctl.run import request as run_request
from spekctl.run.job import Request


class State(campaign_folder.State, frozen=True, kw_only=True, tag=Kind.SPC2_STATE.value):
    """The measurements of a test so far."""

    parameters: Parameters
    done: list[Run]


@dataclass(slots=True, kw_only=True)
class Spc2Test(Campaign[Step, Run]):
    """A test in progress."""

    STATE: ClassVar[type[State]] = State
    STEP: ClassVar[str] = "run"
    DIGITS: ClassVar[int] = 3
    WORDS: ClassVar[Mapping[str, str]] = {
        "ramp_ns": "--ramp",
        "time_ns": "--time",
        "vod_ns": "--vod-time",
        "search_ns": "--search-time",
        "resolution_percent": "--resolution",
        "response_ns": "--max-response",
        "late": "--max-late",
        "seed": "--seed",
        "stripe_bytes": "--stripe",
        "backend": "--backend",
        "polled": "--polled",
        "batch": "--batch",
        "spin_ns": "--spin",
        "data": "--data",
        "parts": "--parts",
        "streams": "--streams",
        "vod_streams": "--vod-streams",
        "vod_start": "--vod-start",
        "vod_most": "--vod-most",
        "half": "command: spc2 has no run at half of the streams of video on demand",
    }

    parameters: Parameters
    folder: Path
    write: bool
    price: Fraction | None = None

    def title(self) -> str:
        return "SPC-2-like test on " + " ".join(one.path for one in self.devices)

    def next_step(self) -> Step | None:
        return plan.next_step(self.parameters, self.done)

    def left_ns(self) -> int:
        return plan.left_ns(self.parameters, self.done)

    def task(self, step: Step) -> Task:
        title = f"{title_of(step)}, {step.streams} stream{'s' if step.streams > 1 else ''}"
        return Task(title, step.name, self.request(step), step.ramp_ns + step.time_ns)

    def found(self, step: Step, outcome: Outcome, file: str) -> tuple[Run, str]:
        assert isinstance(outcome, Result)
        run = run_of(step, outcome, self.parameters.limits, file)
        return run, f"{step.name}: {run.beyond}" if run.beyond else ""

    def name_of(self, done: Run) -> str:
        return done.step.name

    def request(self, step: Step) -> Request:
        """The run for a step."""
        return request_of(
            *(step, self.parameters.shape, len(self.done)),
            *(self.devices, self.write, self.destroy),
        )

    def check(self) -> None:
        """Refuse everything that can be refused in advance."""
        lengths = self.parameters.durations
        for test in (*plan.TESTS, plan.VOD):
            if test.part not in self.parameters.parts:
                continue
            most = self.parameters.vod_streams or self.parameters.vod_most
            streams = self.parameters.streams if test.part != "vod" else most
            wanted = self.request(plan.step_of(test, streams, lengths.ramp_ns, lengths.time_ns))
            run_request.check_destroy(wanted)
            run_request.check_write(wanted)

    def report(self) -> Report | None:
        """The report so far; None before the first step."""
        if not self.done:
            return None
        return build(
            *(self.parameters, self.done, self.targets, self.environment, self.price, self.remarks)
        )


def title_of(step: Step) -> str:
    """A step for people."""
    return f"search for {step.test}" if step.kind == "search" else step.test
