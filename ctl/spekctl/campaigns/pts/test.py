# SPDX-License-Identifier: GPL-2.0-or-later
"""The PTS-like test as a campaign: purges, preconditioning, and one run for each measurement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from spekctl import units
from spekctl.block.safety import refuse_without_write
from spekctl.campaigns import folder as campaign_folder
from spekctl.campaigns.benchmark import Benchmark, Plan
from spekctl.campaigns.campaign import Outcome, Tools
from spekctl.campaigns.pts import plan
from spekctl.campaigns.pts.loads import (
    check_purge,
    purge_request,
    request_of,
    unpurged_of,
    write_purge,
)
from spekctl.campaigns.pts.report import build, run_of, samples_of
from spekctl.documents.document import Kind
from spekctl.documents.pts import Parameters, Report, Run, Sample, Step
from spekctl.documents.result import Result
from spekctl.errors import SpekError, UsageError
from spekctl.run.job import Request


class State(campaign_folder.State, frozen=True, kw_only=True, tag=Kind.PTS_STATE.value):
    """The measurements of a test so far."""

    parameters: Parameters
    done: list[Run]
    saturation: list[Sample]


@dataclass(slots=True, kw_only=True)
class PtsTest(Benchmark[Step, Run, Report]):
    """A test in progress."""

    STATE: ClassVar[type[State]] = State
    NAME: ClassVar[str] = "PTS"
    PLAN: ClassVar[Plan] = plan
    DIGITS: ClassVar[int] = 4
    WORDS: ClassVar[Mapping[str, str]] = {
        "purge": "--no-purge",
        "window": "--until window",
        "range": "--until range",
        "slope": "--until slope",
        "clients": "number of clients",
        "fleet": "plan of the fleet",
    }

    parameters: Parameters
    saturation: list[Sample] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """All runs so far completed without errors, and with I/Os."""
        return not any(run.failure for run in self.done)

    def title_of(self, step: Step) -> str:
        if step.kind == "round":
            size = units.format_bytes(step.bytes)
            return f"{step.test}, round {step.round}, {size}, {step.read_percent} % reads"
        if step.kind == "saturation":
            return "write saturation"
        return f"{step.kind} before {step.test}"

    def record_of(self, step: Step, outcome: Outcome, file: str) -> tuple[Run, str]:
        assert isinstance(outcome, Result)
        if step.kind == "purge":
            unpurged = unpurged_of(outcome)
            if unpurged is not None:
                where = f" on {', '.join(unpurged)}" if unpurged else ""
                raise SpekError(
                    f"{step.name}: not all blocks were discarded{where}: {outcome.outcome.text}"
                )
        if step.kind == "saturation":
            self.saturation = samples_of(outcome)
        run = run_of(step, outcome, file)
        return run, self._news([*self.done, run], step)

    def _news(self, done: list[Run], step: Step) -> str:
        """What a round says of steady state, when it is over."""
        if step.kind != "round":
            return ""
        test = next(test for test in plan.tests_of(self.parameters) if test.name == step.test)
        position = plan.position_of(self.parameters, test, done)
        if position.rounds < step.round or position.window is None:
            return ""
        window = position.window
        text = f"{test.name}, round {position.rounds}"
        if len(window.values) < self.parameters.steady.window:
            return f"{text}: {self.parameters.steady.window} rounds are needed"
        state = "steady" if window.steady else "not steady"
        return (
            f"{text}: range {100 * window.range:.1f} %, slope {100 * window.excursion:.1f} % of the"
            f" average: {state}"
        )

    def prepare(self, tools: Tools) -> None:
        """The purge replays a file of its own."""
        if self.parameters.purge and self.hosts is None:
            write_purge(self.folder, self.devices)

    def request(self, step: Step) -> Request:
        """The run for a step."""
        if step.kind == "purge":
            return purge_request(self.folder, self.disks)
        return request_of(step, self.parameters, len(self.done), self.disks)

    def written(self) -> set[tuple[int, int]]:
        if self.parameters.purge and self.write:
            return {(device.major, device.minor) for device in self.devices}
        return Benchmark.written(self)

    def check(self, dry: bool = False) -> None:
        """Refuse everything that can be refused in advance; a @dry run writes nothing."""
        largest = max(device.logical_block for device in self.devices)
        for test in plan.tests_of(self.parameters):
            for size in test.sizes:
                if size % largest:
                    raise UsageError(
                        f"a block size of {units.format_bytes(size)} is no multiple of the"
                        f" device's logical block of {units.format_bytes(largest)}"
                    )
        if self.parameters.purge:
            check_purge(self.disks)
            if not (dry or self.write):
                refuse_without_write(self.devices)
        Benchmark.check(self, dry)

    def examples(self) -> Iterator[Step]:
        # No purge: the trace that it replays is written later, by prepare().
        for test in plan.tests_of(self.parameters):
            if self.parameters.precondition_percent:
                yield Step("precondition", test.name, bytes=test.precondition_bytes)
            yield from plan.round_of(test, 1)
        if "saturation" in self.parameters.parts:
            yield Step("saturation", "saturation", bytes=plan.SATURATION_BYTES)

    def build(self) -> Report:
        return build(
            *(self.parameters, self.done, self.saturation, self.targets, self.environment),
            self.remarks,
        )
