# SPDX-License-Identifier: GPL-2.0
"""Carries the method out on devices: each step a run, its phase kept before the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spekctl import files
from spekctl.campaigns import folder as campaigns_folder
from spekctl.campaigns import points
from spekctl.campaigns.folder import KIND, VERSION, State
from spekctl.campaigns.spc1 import plan
from spekctl.campaigns.spc1.phase import phase_of
from spekctl.campaigns.spc1.report import build
from spekctl.documents.result import Result
from spekctl.documents.result import encode as encode_result
from spekctl.documents.spc1 import MS, SECOND, Parameters, Phase, Report, Step
from spekctl.errors import SpekError
from spekctl.kernel.client import Kernel
from spekctl.power.meter import PowerOptions
from spekctl.render.series import SeriesProgress
from spekctl.run import request as run_request
from spekctl.run.job import Interrupts, Request
from spekctl.workload.options import Options

# Enough rows for the parts of a phase and for people, not so many that eight hours fill a disk.
INTERVALS = 100
INTERVAL_MIN_NS = 250 * MS
INTERVAL_MAX_NS = 10 * SECOND


@dataclass(slots=True)
class Spc1Test:
    """A test under way."""

    subject: run_request.Subject
    parameters: Parameters
    folder: Path
    destroy: Sequence[str] = ()
    keep_going: bool = False
    prober_ns: int | None = None
    power: PowerOptions | None = None
    done: list[Phase] = field(default_factory=list)
    state: State | None = None

    def resume(self) -> None:
        """Take up the test that is in the folder."""
        self.state = campaigns_folder.load(self.folder)
        campaigns_folder.check_same(self.folder, self.state, self.parameters, self.subject.devices)
        self.done = list(self.state.done)

    def request(self, bsu: int, step: Step | None = None, verified: bool = False) -> Request:
        """The run for a step; without one, to see whether there can be any."""
        shape = self.parameters.shape
        given: dict[str, Any] = {
            "bsu": bsu,
            "seed": shape.seed,
            "cpus": shape.cpus,
            "stripe_bytes": shape.stripe_bytes,
            "hrrw": shape.hrrw,
            "iops_per_bsu": shape.iops_per_bsu,
            "backend": shape.backend,
            "polled": shape.polled,
            "max_outstanding": shape.max_outstanding,
            "batch": shape.batch,
            "spin_ns": shape.spin_ns,
            "data": None if verified else shape.data,
            "verify": verified,
            "write": True,
        }
        if step is not None:
            given["ramp_ns"], given["time_ns"] = step.ramp_ns, step.time_ns
            interval_ns = step.time_ns // INTERVALS // MS * MS
            given["interval_ns"] = max(INTERVAL_MIN_NS, min(INTERVAL_MAX_NS, interval_ns))
        return run_request.build(self.subject, Options(**given), self.destroy)

    def carry_out(self, kernel: Kernel, view: SeriesProgress, interrupts: Interrupts) -> bool:
        """Measure all that is left. Return: False if the user ended it."""

        def measure(step: Step) -> Phase | None:
            left_s = self.left_ns() / 1e9
            run_s = (step.ramp_ns + step.time_ns) / 1e9
            view.begin(f"{title_of(step)}, {step.bsu} BSU", run_s, max(0.0, left_s - run_s))
            wanted = self.request(step.bsu, step)
            result = points.measure(kernel, wanted, view, interrupts, self.prober_ns, self.power)
            if result.outcome.reason == "completed":
                return self._kept(step, result)
            if interrupts.count:
                return None
            # Not a phase that failed but one that did not happen: it can be done again.
            raise SpekError(f"{step.name}: {result.outcome.text}")

        def finished(phase: Phase) -> None:
            assert self.state is not None
            campaigns_folder.save(self.folder, self.state)
            if phase.beyond:
                view.tell(f"{phase.step.name}: {phase.beyond}")

        def unless_interrupted(step: Step) -> Phase | None:
            return None if interrupts.count else measure(step)

        return plan.carry_out(
            self.parameters, self.done, unless_interrupted, finished, self.keep_going
        )

    def _kept(self, step: Step, result: Result) -> Phase:
        """The phase that a run is; its whole result goes into the folder."""
        name = f"{len(self.done) + 1:02}-{step.name}.json"
        files.write(self.folder / name, encode_result(result))
        phase = phase_of(step, result, self.parameters.limits, name)
        facts = [one.facts for one in result.targets]
        first = self.state
        self.state = State(
            kind=KIND,
            version=VERSION,
            parameters=self.parameters,
            targets=first.targets if first is not None else facts,
            environment=first.environment if first is not None else result.environment,
            done=[*self.done, phase],
            persistence=first.persistence if first is not None else None,
        )
        return phase

    def stopped(self) -> str:
        """Why the test does not go on although something is left; else empty."""
        return plan.position_of(self.parameters, self.done, self.keep_going).stopped

    def left_ns(self) -> int:
        """How long all that is left should take."""
        return plan.left_ns(self.parameters, self.done, self.keep_going)

    def report(self) -> Report | None:
        """What was measured so far; None if that is nothing."""
        if self.state is None or not self.done:
            return None
        report = build(
            self.parameters, self.done, self.state.targets, self.state.environment, self.keep_going
        )
        from spekctl.campaigns.spc1 import report as spc1_report

        return spc1_report.amend(report, self.state.persistence)


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
