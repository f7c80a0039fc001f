# SPDX-License-Identifier: GPL-2.0-or-later
"""The Emerald-like test as a campaign: preparation, searches, phases of load, and ready idle."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar, Literal

from spekctl.campaigns import folder as campaign_folder
from spekctl.campaigns.benchmark import Benchmark, Plan
from spekctl.campaigns.campaign import SECOND, Outcome, Task, Tools
from spekctl.campaigns.emerald import choices, plan
from spekctl.campaigns.emerald import report as emerald_report
from spekctl.campaigns.emerald.loads import FILL_BYTES, load_of
from spekctl.campaigns.emerald.plan import Done, Step
from spekctl.campaigns.idle import Idle
from spekctl.documents import document
from spekctl.documents.document import Kind
from spekctl.documents.energy import EmeraldParameters, EmeraldReport
from spekctl.errors import SpekError
from spekctl.run.holding import Holding
from spekctl.run.job import Request


class State(campaign_folder.State, frozen=True, kw_only=True, tag=Kind.EMERALD_STATE.value):
    """The measurements of a test so far."""

    UPGRADES = (document.without_origin,)

    version: document.Version[Literal[2]] = 2
    parameters: EmeraldParameters
    done: list[Done]


@dataclass(slots=True, kw_only=True)
class EmeraldTest(Benchmark[Step, Done, EmeraldReport]):
    """A test in progress."""

    STATE: ClassVar[type[State]] = State
    NAME: ClassVar[str] = "Emerald"
    PLAN: ClassVar[Plan] = plan
    DIGITS: ClassVar[int] = 3

    WORDS: ClassVar[Mapping[str, str]] = {"fleet": "plan of the fleet"}

    parameters: EmeraldParameters

    def title_of(self, step: Step) -> str:
        rate = step.rate
        load = f"{rate:,.0f} I/Os per second" if rate is not None else f"depth {step.depth}"
        workers = f", {step.workers} workers" if step.workers > 1 else ""
        options = f", {choices.text_of(step.options)}" if step.options else ""
        what = f"search for {step.phase}" if step.kind == "search" else step.phase
        return f"{what}, {load}{workers}{options}"

    def task(self, step: Step) -> Task:
        if step.kind == "idle":
            return Task("ready idle", step.name, None, step.time_ns)
        return Benchmark.task(self, step)

    def record_of(self, step: Step, outcome: Outcome, file: str) -> tuple[Done, str]:
        if isinstance(outcome, Idle):
            gigabytes = Fraction(self.parameters.raw_gigabytes)
            phase = emerald_report.phase_of_idle(gigabytes, outcome, file)
        else:
            phase = emerald_report.phase_of_run(step, outcome, self.parameters.limits, file)
        missed = not phase.passed and step.kind != "search"
        ok = isinstance(outcome, Idle) or outcome.outcome.ok
        return Done(step, phase, ok), f"{step.name}: {phase.text}" if missed else ""

    def _do(self, step: Step, tools: Tools, held: Holding | None) -> bool:
        """A value of --search that the module refuses for a device, such as a back end, is a trial
        that lost: only the module knows, and the conditioning before it took hours."""
        try:
            return Benchmark._do(self, step, tools, held)
        except SpekError as error:
            is_refusal = error.operation == "run-new" and error.errno == errno.EOPNOTSUPP
            if step.kind != "search" or not step.options or not is_refusal:
                raise
            phase = emerald_report.phase_of_refusal(step, error.message)
            self.done.append(Done(step, phase, refusal=error.message))
            self.save()
            tools.view.tell(f"{step.name}: {error.message}")
            return True

    def prepare(self, tools: Tools) -> None:
        """Ready idle without power is repeated once power is measured."""
        self.targets = self.targets or [device.facts() for device in self.devices]
        if tools.meter is not None:
            self.done = [
                entry for entry in self.done if entry.step.kind != "idle" or entry.figures.power
            ]

    def request(self, step: Step) -> Request:
        """The run for a step."""
        load = load_of(step.phase, self.devices)
        shape: dict[str, Any] = {
            "seed": self.parameters.seed,
            # The plan sets the workers of hosts.
            "workers": step.workers if self.hosts is None else None,
            "stripe_bytes": self.parameters.stripe_bytes,
            "backend": self.parameters.backend,
            "data": self.parameters.data,
            **({"depth": step.depth} if step.rate is None else {"rate": step.rate}),
            **choices.options_of(step.options),
        }
        if step.time_ns:
            return self.disks.run(load, shape, step.time_ns, step.ramp_ns)
        percent = self.parameters.durations.prefill_percent
        return self.disks.fill(load, shape | {"interval_ns": SECOND}, percent, FILL_BYTES)

    def check(self, dry: bool = False) -> None:
        """Refuse everything that can be refused in advance; a @dry run writes nothing."""
        plan.check(self.parameters)
        Benchmark.check(self, dry)

    def examples(self) -> Iterator[Step]:
        lengths = self.parameters.durations
        workers, depths = max(self.parameters.workers), self.parameters.depths
        phases = [phase for phase in self.parameters.phases if phase != plan.IDLE]
        for phase in (
            *(["prefill"] if lengths.prefill_percent else []),
            *(["conditioning"] if lengths.conditioning_ns else []),
            *phases,
        ):
            yield Step("measure", phase, workers, max(depths), None, 0, SECOND)
        for phase, place in product(phases, choices.places(self.parameters.search)):
            if place:
                yield Step("measure", phase, workers, max(depths), None, 0, SECOND, place)
        # Hosts of a fleet need an I/O outstanding each.
        for phase in phases:
            yield Step("measure", phase, workers, min(depths), None, 0, SECOND)

    def build(self) -> EmeraldReport:
        site, missing = self.site_of_report()
        return emerald_report.build(
            *(self.parameters, self.done, self.targets, self.environment),
            *([*self.remarks, *missing], site),
        )
