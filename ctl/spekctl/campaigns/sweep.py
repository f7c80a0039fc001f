# SPDX-License-Identifier: GPL-2.0-or-later
"""A sweep as a campaign: one run for each load, one after the other, and the curve they make."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from msgspec import structs

from spekctl import recorded
from spekctl.campaigns import points
from spekctl.campaigns.campaign import Campaign, Outcome, Task
from spekctl.documents import document
from spekctl.documents.curve import Curve, Load, Point
from spekctl.documents.device import TargetFacts
from spekctl.documents.document import Document, Kind, Part
from spekctl.documents.result import Environment, Result
from spekctl.errors import ExitCode
from spekctl.run import remarks
from spekctl.run.job import Request
from spekctl.workload.model import WorkloadFile

CURVE = "curve.json"


@dataclass(frozen=True, slots=True)
class Planned:
    """A load and the run that measures it."""

    load: Load
    request: Request

    @property
    def length_ns(self) -> int:
        """Expected time; unknown for a run that ends by count."""
        return self.request.config.ramp_ns + self.request.config.time_ns


class Parameters(Part, frozen=True):
    """All parameters of the measurement; the same on every resumption."""

    workload: WorkloadFile
    loads: list[Load]
    options: dict[str, str]  # options that were given, or have a default


class State(Document, frozen=True, kw_only=True, tag=Kind.SWEEP_STATE.value):
    """The measurements of a sweep so far."""

    parameters: Parameters
    targets: list[TargetFacts]
    environment: Environment | None
    done: list[Point]
    remarks: list[str]
    mismatches: int


@dataclass(slots=True, kw_only=True)
class Sweep(Campaign[Planned, Point]):
    """Loads to measure and the points measured so far."""

    STEP: ClassVar[str] = "point"
    WORDS: ClassVar[Mapping[str, str]] = {
        "workload": "workload file",
        "loads": "list of loads",
    }

    parameters: Parameters
    name: str
    planned: Sequence[Planned]
    mismatches: int = 0  # wrong blocks of all verified points
    broken: Point | None = None  # the point whose run did not complete
    missing: str = ""  # the load at which the user ended the sweep

    def title(self) -> str:
        return self.name

    def next_step(self) -> Planned | None:
        if self.broken is not None or len(self.done) == len(self.planned):
            return None
        return self.planned[len(self.done)]

    def left_ns(self) -> int:
        return sum(one.length_ns for one in self.planned[len(self.done) :])

    def task(self, step: Planned) -> Task:
        load = step.load
        title = f"point {len(self.done) + 1} of {len(self.planned)}, {load}"
        return Task(title, f"{load.kind}-{load.value:g}", step.request, step.length_ns)

    def digits(self) -> int:
        return len(str(len(self.planned)))

    def found(self, step: Planned, outcome: Outcome, file: str) -> tuple[Point, str]:
        assert isinstance(outcome, Result)
        self._take(outcome, step.load)
        return points.point_of(outcome, step.load, file or None), ""

    def failed(self, step: Planned, outcome: Result, file: str) -> None:
        """The curve has the point, and ends with it; a resumption measures it again."""
        self._take(outcome, step.load)
        self.broken = points.point_of(outcome, step.load, file or None)

    def interrupted(self, step: Planned) -> None:
        self.missing = str(step.load)

    def _take(self, result: Result, load: Load) -> None:
        if result.verify is not None:
            self.mismatches += result.verify.mismatches
        # What is said of a load's own numbers needs its name; everything else is true of all.
        own = set(remarks.judge(result))
        for text in result.remarks:
            said = f"{load}: {text}" if text in own else text
            if said not in self.remarks:
                self.remarks.append(said)

    def name_of(self, done: Point) -> str:
        return str(done.load)

    def state(self) -> State:
        return State(
            parameters=self.parameters,
            targets=self.targets,
            environment=self.environment,
            done=self.done,
            remarks=self.remarks,
            mismatches=self.mismatches,
        )

    def read_state(self, path: Path) -> State:
        state = document.read(path, State)
        self.remarks, self.mismatches = list(state.remarks), state.mismatches
        return state

    def curve(self, beside: Path) -> Curve:
        """The curve so far; kept results are named relative to @beside."""
        config = self.planned[0].request.config
        measured = [*self.done, *([self.broken] if self.broken is not None else [])]
        remarks = list(self.remarks)
        if self.missing:
            remarks.append(f"interrupted at {self.missing}: that point is missing")
        return Curve(
            workload=config.name,
            seed=config.seed,
            cpus=config.cpus,
            ramp_ns=config.ramp_ns,
            time_ns=config.time_ns,
            targets=self.targets,
            environment=self.environment,
            complete=len(self.done) == len(self.planned),
            points=[self._beside(one, beside) for one in measured],
            remarks=remarks,
        )

    def _beside(self, point: Point, beside: Path) -> Point:
        if point.result_file is None or self.folder is None:
            return point
        name = os.path.relpath(self.folder / point.result_file, beside)
        return structs.replace(point, result_file=recorded.text(name))

    def exit_code(self) -> ExitCode:
        """The exit code of the sweep."""
        if self.mismatches:
            return ExitCode.DATA_ERRORS
        whole = len(self.done) == len(self.planned)
        if not whole or any(not (one.ok or one.limit_missed) for one in self.done):
            return ExitCode.RUN_FAILED
        missed = any(one.limit_missed for one in self.done)
        return ExitCode.LIMIT_MISSED if missed else ExitCode.OK
