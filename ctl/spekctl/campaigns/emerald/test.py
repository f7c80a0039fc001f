# SPDX-License-Identifier: GPL-2.0
"""Does an Emerald-like test on devices; its state is kept after each step, so that it can go on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import structs

from spekctl import files, units
from spekctl.block.device import Device
from spekctl.campaigns import idle, points
from spekctl.campaigns.emerald import plan
from spekctl.campaigns.emerald import report as emerald_report
from spekctl.campaigns.emerald.loads import FILL_BYTES, load_of
from spekctl.campaigns.emerald.plan import Done, Step
from spekctl.campaigns.folder import check_devices, refuse_other
from spekctl.documents.energy import VERSION, EmeraldParameters, EmeraldPhase, EmeraldReport
from spekctl.documents.result import Environment, Part, Result, TargetFacts
from spekctl.documents.result import encode as encode_result
from spekctl.errors import SpekError, UsageError
from spekctl.kernel.client import Kernel
from spekctl.power.meter import PowerOptions
from spekctl.power.span import SpanMeter
from spekctl.render.series import SeriesProgress
from spekctl.run import request as run_request
from spekctl.run.build import facts_of
from spekctl.run.job import Interrupts, Request
from spekctl.workload.options import Options

KIND: Literal["spek-energy-emerald-state"] = "spek-energy-emerald-state"
STATE = "emerald-state.json"
REPORT = "energy.json"
INTERVALS = 100
INTERVAL_MIN_NS = 250_000_000
INTERVAL_MAX_NS = 10 * 10**9


class State(Part, frozen=True):
    """What a test has done so far."""

    kind: Literal["spek-energy-emerald-state"]
    version: int
    parameters: EmeraldParameters
    targets: list[TargetFacts]
    environment: Environment | None
    done: list[Done]


@dataclass(slots=True)
class Emerald:
    """A test under way."""

    devices: Sequence[Device]
    parameters: EmeraldParameters
    folder: Path
    write: bool
    destroy: Sequence[str] = ()
    prober_ns: int | None = None
    power: PowerOptions = field(default_factory=PowerOptions)
    done: list[Done] = field(default_factory=list)
    environment: Environment | None = None
    remarks: list[str] = field(default_factory=list)

    def exists(self) -> bool:
        """There is a test in the folder."""
        return files.exists(self.folder / STATE)

    def resume(self) -> None:
        """Take up the test that is in the folder."""
        if not self.exists():
            raise UsageError(
                f"there is no test to resume in {self.folder}; leave out --resume to begin one"
            )
        what = "the state of a test of `spekctl energy emerald`"
        state = files.read(self.folder / STATE, State, KIND, VERSION, what)
        check_devices(self.folder, state.targets, self.devices)
        was, now = _flat(state.parameters), _flat(self.parameters)
        for name, value in was.items():
            if now[name] != value:
                refuse_other(self.folder, name, value, now[name])
        self.done, self.environment = list(state.done), state.environment

    def title(self) -> str:
        """For people."""
        return "Emerald-like test on " + " ".join(one.path for one in self.devices)

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
            interval_ns = step.time_ns // INTERVALS // 10**6 * 10**6
            shape["interval_ns"] = max(INTERVAL_MIN_NS, min(INTERVAL_MAX_NS, interval_ns))
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
        """All that can be refused before anything is done."""
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

    def carry_out(
        self, kernel: Kernel, meter: SpanMeter | None, view: SeriesProgress, interrupts: Interrupts
    ) -> bool:
        """Do all that is left. Return: False if the user ended it.

        Ready idle that had no power is done again when there is some.
        """
        if meter is not None:
            self.done = [one for one in self.done if one.step.kind != "idle" or one.found.power]
        while (step := plan.next_step(self.parameters, self.done)) is not None:
            if interrupts.count:
                return False
            if step.kind == "idle":
                found = self._idle(step, meter, view, interrupts)
            else:
                found = self._run(step, kernel, view, interrupts)
            if found is None:
                return False
            self.done.append(Done(step, found))
            self._save()
            if not found.passed and step.kind != "search":
                view.tell(f"{step.name}: {found.text}")
        return True

    def _run(
        self, step: Step, kernel: Kernel, view: SeriesProgress, interrupts: Interrupts
    ) -> EmeraldPhase | None:
        left_s = plan.left_ns(self.parameters, self.done) / 1e9
        run_s = (step.ramp_ns + step.time_ns) / 1e9
        view.begin(_title(step), run_s, max(0.0, left_s - run_s))
        result = points.measure(
            kernel, self.request(step), view, interrupts, self.prober_ns, self.power
        )
        if result.outcome.reason != "completed":
            if interrupts.count:
                return None
            # Not a step that missed something but one that did not happen: it can be done again.
            raise SpekError(f"{step.name}: {result.outcome.text}")
        return self._kept(step, result)

    def _kept(self, step: Step, result: Result) -> EmeraldPhase:
        """The phase that a run is; its whole result goes into the folder."""
        name = f"{len(self.done) + 1:03}-{step.name}.json"
        files.write(self.folder / name, encode_result(result))
        self.environment = self.environment or result.environment
        return emerald_report.phase_of_run(step, result, self.parameters.limits, name)

    def _idle(
        self, step: Step, meter: SpanMeter | None, view: SeriesProgress, interrupts: Interrupts
    ) -> EmeraldPhase | None:
        if meter is not None:
            view.close()
            length = units.format_duration(step.time_ns)
            view.tell(f"ready idle for {length}: nothing is sent")
        rest = idle.measure(self.devices, step.time_ns, meter, interrupts)
        if rest is None:
            return None
        name = f"{len(self.done) + 1:03}-{step.name}.json"
        idle.save(self.folder, rest, name)
        gigabytes = Fraction(self.parameters.raw_gigabytes)
        return emerald_report.phase_of_idle(gigabytes, rest, name)

    def _save(self) -> None:
        state = State(
            kind=KIND,
            version=VERSION,
            parameters=self.parameters,
            targets=self._targets(),
            environment=self.environment,
            done=self.done,
        )
        files.write(self.folder / STATE, files.encode(state))

    def _targets(self) -> list[TargetFacts]:
        return [facts_of(one, 0, None) for one in self.devices]

    def report(self) -> EmeraldReport | None:
        """What was done so far; None if that is nothing."""
        if not self.done:
            return None
        return emerald_report.build(
            self.parameters, self.done, self._targets(), self.environment, self.remarks
        )


def _title(step: Step) -> str:
    load = f"{step.rate:,.0f} I/Os per second" if step.rate is not None else f"depth {step.depth}"
    workers = f", {step.workers} workers" if step.workers > 1 else ""
    what = f"search for {step.phase}" if step.kind == "search" else step.phase
    return f"{what}, {load}{workers}"


_WORDS = {
    "prefill_percent": "--prefill",
    "conditioning_ns": "--conditioning",
    "warmup_ns": "--warm-up",
    "measure_ns": "--time",
    "idle_ns": "--idle-time",
    "search_ns": "--search-time",
    "mean_ns": "--max-response",
    "window_mean_ns": "--max-window-response",
    "window_ns": "--window",
    "raw_gigabytes": "--raw-gigabytes",
    "stripe_bytes": "--stripe",
}


def _flat(parameters: EmeraldParameters) -> dict[str, str]:
    """Each parameter as the user knows it."""
    found: dict[str, str] = {}
    for group in (parameters, parameters.durations, parameters.limits):
        for name, value in structs.asdict(group).items():
            if isinstance(value, msgspec.Struct):
                continue
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            if name.endswith("_ns"):
                text = units.format_duration(value)
            found[_WORDS.get(name, f"--{name}")] = text
    return found
