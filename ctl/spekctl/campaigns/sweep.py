# SPDX-License-Identifier: GPL-2.0
"""A sweep: one run for each load, one after the other, and the curve that they make."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spekctl import files, recorded
from spekctl.campaigns import points
from spekctl.documents.curve import KIND, VERSION, Curve, Load, Point
from spekctl.documents.result import Result
from spekctl.documents.result import encode as encode_result
from spekctl.errors import ExitCode
from spekctl.kernel.client import Kernel
from spekctl.power.meter import PowerOptions
from spekctl.render.series import SeriesProgress
from spekctl.run.job import Interrupts, Request


@dataclass(frozen=True, slots=True)
class Planned:
    """A load and the run that measures it."""

    load: Load
    request: Request

    @property
    def seconds(self) -> float:
        """How long it should take; a run that ends by count says nothing."""
        return (self.request.config.ramp_ns + self.request.config.time_ns) / 1e9


@dataclass(slots=True)
class Sweep:
    """Loads to measure and the points measured so far."""

    planned: Sequence[Planned]
    keep: Path | None = None
    # Where the curve will be: kept results are named relative to it.
    beside: Path = Path()
    done: list[Point] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    first: Result | None = None
    mismatches: int = 0  # wrong blocks of all verified points

    def measure(
        self,
        kernel: Kernel,
        view: SeriesProgress,
        interrupts: Interrupts,
        prober_ns: int | None,
        power: PowerOptions | None = None,
    ) -> None:
        """Measure all loads, until the user or a run that cannot go to its end says stop."""
        rest_s = sum(one.seconds for one in self.planned)
        for index, one in enumerate(self.planned):
            rest_s -= one.seconds
            title = f"point {index + 1} of {len(self.planned)}, {one.load}"
            view.begin(title, one.seconds, rest_s)
            result = points.measure(kernel, one.request, view, interrupts, prober_ns, power)
            completed = result.outcome.reason == "completed"
            kept = self._keep(index, one.load, result)
            self.first = self.first or result
            if result.verify is not None:
                self.mismatches += result.verify.mismatches
            self.remarks += [text for text in result.remarks if text not in self.remarks]
            if interrupts.count and not completed:
                self.remarks.append(f"interrupted at {one.load}: that point is missing")
                return
            self.done.append(points.point_of(result, one.load, kept))
            if interrupts.count or not completed:
                return

    def _keep(self, index: int, load: Load, result: Result) -> str | None:
        """Write the whole result; how the curve calls its file."""
        if self.keep is None:
            return None
        name = f"{index + 1:0{len(str(len(self.planned)))}}-{load.kind}-{load.value:g}.json"
        files.write(self.keep / name, encode_result(result))
        return recorded.text(os.path.relpath(self.keep / name, self.beside))

    def curve(self) -> Curve:
        """What was measured so far."""
        config = self.planned[0].request.config
        return Curve(
            kind=KIND,
            version=VERSION,
            created=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            command=recorded.command(),
            workload=config.name,
            seed=config.seed,
            cpus=config.cpus,
            ramp_ns=config.ramp_ns,
            time_ns=config.time_ns,
            targets=[one.facts for one in self.first.targets] if self.first else [],
            environment=self.first.environment if self.first else None,
            complete=len(self.done) == len(self.planned),
            points=self.done,
            remarks=self.remarks,
        )

    def exit_code(self, interrupts: Interrupts) -> ExitCode:
        """What the program's exit code says about it."""
        if self.mismatches:
            return ExitCode.DATA_ERRORS
        if interrupts.count:
            return interrupts.exit_code
        fine = len(self.done) == len(self.planned) and all(one.ok for one in self.done)
        return ExitCode.OK if fine else ExitCode.RUN_FAILED
