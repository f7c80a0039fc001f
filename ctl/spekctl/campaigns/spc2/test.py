# SPDX-License-Identifier: GPL-2.0-or-later
"""The SPC-2-like test as a campaign: each step a run of streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from spekctl.campaigns import folder as campaign_folder
from spekctl.campaigns.benchmark import Benchmark, Plan
from spekctl.campaigns.campaign import Outcome
from spekctl.campaigns.spc2 import plan
from spekctl.campaigns.spc2.loads import request_of
from spekctl.campaigns.spc2.report import build, run_of
from spekctl.documents.document import Kind
from spekctl.documents.result import Result
from spekctl.documents.spc2 import Parameters, Report, Run, Step
from spekctl.run.job import Request


class State(campaign_folder.State, frozen=True, kw_only=True, tag=Kind.SPC2_STATE.value):
    """The measurements of a test so far."""

    parameters: Parameters
    done: list[Run]


@dataclass(slots=True, kw_only=True)
class Spc2Test(Benchmark[Step, Run, Report]):
    """A test in progress."""

    STATE: ClassVar[type[State]] = State
    NAME: ClassVar[str] = "SPC-2"
    PLAN: ClassVar[Plan] = plan
    STEP: ClassVar[str] = "run"
    DIGITS: ClassVar[int] = 3
    WORDS: ClassVar[Mapping[str, str]] = {
        "clients": "number of clients",
        "fleet": "plan of the fleet",
        "half": "command: spc2 has no run at half of the streams of video on demand",
    }

    parameters: Parameters
    price: Fraction | None = None

    def title_of(self, step: Step) -> str:
        what = f"search for {step.test}" if step.kind == "search" else step.test
        return f"{what}, {step.streams} stream{'s' if step.streams > 1 else ''}"

    def record_of(self, step: Step, outcome: Outcome, file: str) -> tuple[Run, str]:
        assert isinstance(outcome, Result)
        run = run_of(step, outcome, self.parameters.limits, file)
        return run, f"{step.name}: {run.beyond}" if run.beyond else ""

    def request(self, step: Step) -> Request:
        """The run for a step."""
        shape = self.parameters.shape.of_run(len(self.done))
        return request_of(step, shape, self.disks, self.parameters.clients)

    def examples(self) -> Iterator[Step]:
        lengths = self.parameters.durations
        for test in (*plan.TESTS, plan.VOD):
            if test.part in self.parameters.parts:
                most = self.parameters.vod_streams or self.parameters.vod_most
                streams = self.parameters.streams if test.part != "vod" else most
                yield plan.step_of(test, streams, lengths.ramp_ns, lengths.time_ns)

    def build(self) -> Report:
        return build(
            *(self.parameters, self.done, self.targets, self.environment, self.price, self.remarks)
        )
