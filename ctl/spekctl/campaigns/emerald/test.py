# SPDX-License-Identifier: GPL-2.0-or-later
"""The Emerald-like test as a campaign: preparation, searches, phases of load, and ready idle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal

from spekctl.campaigns import folder as campaign_folder
from spekctl.campaigns.campaign import Campaign, Outcome, Task, Tools, interval_ns
from spekctl.campaigns.emerald import plan
from spekctl.campaigns.emerald import report as emerald_report
from spekctl.campaigns.emerald.loads import FILL_BYTES, load_of
from spekctl.campaigns.emerald.plan import Done, Step
from spekctl.campaigns.idle import Idle
from spekctl.documents import document
from spekctl.documents.document import Kind
from spekctl.documents.energy import EmeraldParameters, EmeraldReport
from spekctl.run import request as run_request
from spekctl.run.job import Request
from spekctl.workload.options import Options


class State(campaign_folder.State, frozen=True, kw_only=True, tag=Kind.EMERALD_STATE.value):
    """The measurements of a test so far."""

    UPGRADES = (document.without_origin,)

    version: document.Version[Literal[2]] = 2
    parameters: EmeraldParameters
    done: list[Done]


@dataclass(slots=True, kw_only=True)
class EmeraldTest(Campaign[Step, Done]):
    """A test in progress."""

    STATE: ClassVar[type[State]] = State
    DIGITS: ClassVar[int] = 3
    WORDS: ClassVar[Mapping[str, str]] = {
        "prefill_percent": "--prefill",
        "conditioning_ns": "--conditioning",
        "warmup_ns": "--ramp",
        "measure_ns": "--time",
        "idle_ns": "--idle-time",
        "search_ns": "--search-time",
        "mean_ns": "--max-response",
        "window_mean_ns": "--max-window-response",
        "window_ns": "--window",
        "raw_gigabytes": "--raw-gigabytes",
        "stripe_bytes": "--stripe",
        "phases": "--phases",
        "depths": "--depths",
        "workers": "--workers",
        "seed": "--seed",
        "backend": "--backend",
        "data": "--data",
    }

    parameters: EmeraldParameters
    folder: Path
    write: bool

    def title(self) -> str:
        return "Emerald-like test on " + " ".join(one.path for one in self.devices)

    def next_step(self) -> Step | None:
        return plan.next_step(self.parameters, self.done)

    def left_ns(self) -> int:
        return plan.left_ns(self.parameters, self.done)

    def task(self, step: Step) -> Task:
        request = self.request(step) if step.kind != "idle" else None
        return Task(_title(step), step.name, request, step.ramp_ns + step.time_ns)

    def found(self, step: Step, outcome: Outcome, file: str) -> tuple[Done, str]:
        if isinstance(outcome, Idle):
            gigabytes = Fraction(self.parameters.raw_gigabytes)
            phase = emerald_report.phase_of_idle(gigabytes, outcome, file)
        else:
            phase = emerald_report.phase_of_run(step, outcome, self.parameters.limits, file)
        missed = not phase.passed and step.kind != "search"
        ok = isinstance(outcome, Idle) or outcome.outcome.ok
        return Done(step, phase, ok), f"{step.name}: {phase.text}" if missed else ""

    def name_of(self, done: Done) -> str:
        return done.step.name

    def prepare(self, tools: Tools) -> None:
        """Ready idle without power is repeated once power is measured."""
        self.targets = self.targets or [one.facts() for one in self.devices]
        if tools.meter is not None:
            self.done = [one for one in self.done if one.step.kind != "idle" or one.found.power]

    def request(self, step: Step) -> Request:
        """The run for a step."""
        phase = step.phase if step.kind != "conditioning" else "conditioning"
        subject = run_request.Subject(load_of(phase, self.devices), self.devices)
        shape: dict[str, Any] = {
            "seed": self.parameters.seed,
            "workers": step.workers,
            "stripe_bytes": self.parameters.stripe_bytes,
            "backend": self.parameters.backend,
            "data": self.parameters.data,
            "write": self.write,
            "ramp_ns": step.ramp_ns,
        }
        if step.rate is not None:
            shape["rate"] = step.rate
        else:
            shape["depth"] = step.depth
        if step.time_ns:
            shape["time_ns"] = step.time_ns
            shape["interval_ns"] = interval_ns(step.time_ns)
        else:
            shape["count"], shape["interval_ns"] = 1, 10**9
        wanted = run_request.build(subject, Options(**shape), self.destroy)
        if step.time_ns:
            return wanted
        percent = self.parameters.durations.prefill_percent
        count = math.ceil(wanted.config.asus[0].bytes * percent / 100 / FILL_BYTES)
        shape["count"] = max(1, count)
        return run_request.build(subject, Options(**shape), self.destroy)

    def check(self) -> None:
        """Refuse everything that can be refused in advance."""
        plan.check(self.parameters)
        for step in self._all_kinds():
            wanted = self.request(step)
            run_request.check_destroy(wanted)
            run_request.check_write(wanted)

    def _all_kinds(self) -> list[Step]:
        """A step of each kind and phase that the test can come to."""
        lengths = self.parameters.durations
        kinds = [
            *(["prefill"] if lengths.prefill_percent else []),
            *(["conditioning"] if lengths.conditioning_ns else []),
            *(one for one in self.parameters.phases if one != plan.IDLE),
        ]
        workers, depth = max(self.parameters.workers), max(self.parameters.depths)
        return [Step("measure", one, workers, depth, None, 0, 10**9) for one in kinds]

    def report(self) -> EmeraldReport | None:
        """The report so far; None before the first step."""
        if not self.done:
            return None
        return emerald_report.build(
            self.parameters, self.done, self.targets, self.environment, self.remarks
        )


def _title(step: Step) -> str:
    if step.kind == "idle":
        return "ready idle"
    load = f"{step.rate:,.0f} I/Os per second" if step.rate is not None else f"depth {step.depth}"
    workers = f", {step.workers} workers" if step.workers > 1 else ""
    what = f"search for {step.phase}" if step.kind == "search" else step.phase
    return f"{what}, {load}{workers}"
