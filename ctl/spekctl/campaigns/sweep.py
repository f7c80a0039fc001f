# SPDX-License-Identifier: GPL-2.0-or-later
"""A sweep as a campaign: one run for each load, one after the other, and the curve they make.

The loads are a list, or those of a search for the highest load within a condition.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from msgspec import structs

from spekctl import recorded
from spekctl.campaigns import folder as campaign_folder
from spekctl.campaigns import points
from spekctl.campaigns.campaign import Campaign, Outcome, Task
from spekctl.campaigns.search import Bracket, Search, bracket_of
from spekctl.condition import Unit
from spekctl.documents.curve import Curve, Load, LoadKind, Over, Point, Within, place_words
from spekctl.documents.document import Kind, Part
from spekctl.documents.result import Result
from spekctl.errors import ExitCode, UsageError
from spekctl.run import remarks
from spekctl.run.job import Request
from spekctl.workload.endings import Threshold
from spekctl.workload.model import WorkloadFile

CURVE = "curve.json"


@dataclass(frozen=True, slots=True)
class Planned:
    """A load and the run that measures it."""

    load: Load
    request: Request
    at: Mapping[str, str] = field(default_factory=dict)  # values of the fields that are varied

    @property
    def name(self) -> str:
        """Its load, and the values of the fields."""
        return ", ".join([str(self.load), *place_words(self.at)])


@dataclass(frozen=True, slots=True)
class Limited:
    """A search for the highest load within a condition, in place of a list of loads."""

    condition: Threshold
    search: Search
    plan: Callable[[int], Planned]

    def bracket(self, done: Sequence[Point]) -> Bracket:
        """The position of the search."""
        return bracket_of({int(point.load.value): not point.beyond for point in done})

    def next_load(self, done: Sequence[Point]) -> int | None:
        """The next load; None when the search is over."""
        return self.search.next_load(self.bracket(done))


# What a point says of a metric.
METRICS: dict[str, Callable[[Point], float | None]] = {
    "iops": lambda point: point.iops,
    "bandwidth": lambda point: point.mib_s * (1 << 20),
    "latency": lambda point: point.response.mean if point.response is not None else None,
    "p50": lambda point: point.response.p50 if point.response is not None else None,
    "p90": lambda point: point.response.p90 if point.response is not None else None,
    "p99": lambda point: point.response.p99 if point.response is not None else None,
    "p99.9": lambda point: point.response.p999 if point.response is not None else None,
    "max": lambda point: point.response.max if point.response is not None else None,
    "errors": lambda point: point.errors,
    "backlog": lambda point: point.backlog,
}
# Fields of TimeFigures.
_TIMES = {
    "latency": "mean",
    "p50": "p50",
    "p90": "p90",
    "p99": "p99",
    "p99.9": "p999",
    "max": "max",
}


def check_condition(condition: Threshold, load: LoadKind) -> None:
    """Refuse a condition on what a point of a curve does not have, or on what loads of this kind
    fix themselves: every load that the device keeps up with has it alike."""
    for part in condition.parts:
        if part.metric.side or part.metric.name not in METRICS:
            raise UsageError(
                f"--within {condition}: a load is judged by all of its I/Os: by"
                f" {', '.join(METRICS)}"
            )
        name = part.metric.name
        if load != "depth" and part.metric.unit in (Unit.RATE, Unit.BANDWIDTH):
            raise UsageError(
                f"--within {condition}: --{load} sets {name}, which says nothing about the device;"
                " give a limit of latency, a percentile, max, errors or backlog"
            )
        if load == "depth" and name == "backlog":
            raise UsageError(
                f"--within {condition}: --depth is a closed loop, whose backlog is 0 on any device;"
                " give a limit of latency, a percentile, max, errors, iops or bandwidth"
            )


def beyond(point: Point, condition: Threshold) -> str:
    """Why a load is not within a condition; empty if it is.

    Times are those of the I/Os that were completed, and at least what those in flight at the end
    make them. A load that the device did not keep up with is beyond every condition.
    """
    if point.limit_missed or not point.ok:
        return point.text
    if point.response is None:
        return "no I/O completed"
    for part in condition.parts:
        value = METRICS[part.metric.name](point)
        assert value is not None
        if not part.holds(value):
            return f"{part.metric} was {part.metric.text(value)}"
        if point.unanswered is None or part.metric.name not in _TIMES:
            continue
        least = getattr(point.unanswered.at_least, _TIMES[part.metric.name])
        if least > value and not part.holds(least):
            return f"{part.metric} was at least {part.metric.text(least)}: {point.unanswered.text}"
    if not point.kept_up:
        return f"the queue grew by {point.left_over:,} I/Os"
    return ""


class Parameters(Part, frozen=True):
    """All parameters of the measurement; the same on every resumption."""

    workload: WorkloadFile
    loads: list[Load]
    options: dict[str, str]  # options that were given, or have a default
    over: list[Over] = []  # noqa: RUF012 - msgspec copies it


class State(campaign_folder.State, frozen=True, kw_only=True, tag=Kind.SWEEP_STATE.value):
    """The measurements of a sweep so far."""

    parameters: Parameters
    done: list[Point]
    remarks: list[str]
    mismatches: int


@dataclass(slots=True, kw_only=True)
class Sweep(Campaign[Planned, Point]):
    """Loads to measure and the points measured so far."""

    STATE: ClassVar[type[State]] = State
    STEP: ClassVar[str] = "point"
    WORDS: ClassVar[Mapping[str, str]] = {
        "workload": "workload file",
        "loads": "list of loads",
        "over": "--over",
    }

    parameters: Parameters
    name: str
    planned: Sequence[Planned]  # of a search: where it starts, and where it ends at the latest
    limited: Limited | None = None
    mismatches: int = 0  # wrong blocks of all verified points
    broken: Point | None = None  # the point whose run did not complete
    missing: str = ""  # the load at which the user ended the sweep

    def title(self) -> str:
        return self.name

    def next_step(self) -> Planned | None:
        if self.broken is not None:
            return None
        if self.limited is not None:
            load = self.limited.next_load(self.done)
            return self.limited.plan(load) if load is not None else None
        return self.planned[len(self.done)] if len(self.done) < len(self.planned) else None

    def complete(self) -> bool:
        """All loads were measured."""
        return self.next_step() is None and self.broken is None

    def written(self) -> set[tuple[int, int]]:
        return set().union(*(point.request.config.written for point in self.planned))

    def left_ns(self) -> int:
        if self.limited is not None:
            count = self.limited.search.points_left(self.limited.bracket(self.done))
            return count * self.planned[0].request.length_ns
        return sum(planned.request.length_ns for planned in self.planned[len(self.done) :])

    def task(self, step: Planned) -> Task:
        of = "" if self.limited is not None else f" of {len(self.planned)}"
        title = f"point {len(self.done) + 1}{of}, {step.name}"
        words = [f"{step.load.kind}-{step.load.value:g}"]
        words += [f"{field}-{value}" for field, value in step.at.items()]
        return Task(title, re.sub(r"[^A-Za-z0-9.%]", "-", "-".join(words)), step.request)

    def digits(self) -> int:
        return self.DIGITS if self.limited is not None else len(str(len(self.planned)))

    def record_of(self, step: Planned, outcome: Outcome, file: str) -> tuple[Point, str]:
        assert isinstance(outcome, Result)
        self._take(outcome, step.name)
        point = self._point(outcome, step, file)
        if self.limited is None:
            return point, ""
        why = beyond(point, self.limited.condition)
        return structs.replace(point, beyond=why), f"{step.load}: {why or 'within the limit'}"

    def failed(self, step: Planned, outcome: Result, file: str) -> None:
        """The curve has the point, and ends with it; a resumption measures it again."""
        self._take(outcome, step.name)
        self.broken = self._point(outcome, step, file)

    def _point(self, outcome: Result, step: Planned, file: str) -> Point:
        point = points.point_of(outcome, step.load, file or None)
        return structs.replace(point, at=dict(step.at)) if step.at else point

    def interrupted(self, step: Planned) -> None:
        self.missing = step.name

    def _take(self, result: Result, name: str) -> None:
        self.mismatches += result.mismatches
        # What is said of a load's own numbers needs its name; everything else is true of all.
        own = {*remarks.judge(result), *self._differing()}
        for text in result.remarks:
            said = f"{name}: {text}" if text in own else text
            if said not in self.remarks:
                self.remarks.append(said)

    def _differing(self) -> set[str]:
        """Remarks on some of the requests and not on all."""
        first, *others = (set(planned.request.remarks) for planned in self.planned)
        return first.union(*others) - first.intersection(*others)

    def name_of(self, done: Point) -> str:
        return done.name

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
            cpus=max((point.request.config.cpus for point in self.planned), key=len),
            ramp_ns=config.ramp_ns,
            time_ns=config.time_ns,
            targets=self.targets,
            environment=self.environment,
            complete=self.complete(),
            points=[self._beside(point, beside) for point in measured],
            remarks=remarks,
            within=self._within(),
            over=self.parameters.over,
        )

    def _within(self) -> Within | None:
        """Where the search has come to."""
        if self.limited is None:
            return None
        wanted, bracket = self.limited.condition, self.limited.bracket(self.done)
        kind = self.planned[0].load.kind
        if not self.complete():
            text = "the search did not come to its end"
        elif not bracket.good:
            text = f"no load is within {wanted}"
        elif bracket.bad is None:
            text = (
                f"{Load(kind, bracket.good)}, the highest load of the search, is within {wanted};"
                " the limit of the device is higher"
            )
        else:
            text = f"the highest load within {wanted} is {Load(kind, bracket.good)}"
        return Within(
            condition=str(wanted),
            resolution_percent=self.limited.search.resolution_percent,
            load=bracket.good or None,
            beyond=bracket.bad,
            text=text,
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
        if not self.complete():
            return ExitCode.RUN_FAILED
        if self.limited is not None:
            # Runs beyond the limit may fail: that is what the search is for.
            good = self.limited.bracket(self.done).good
            return ExitCode.OK if good else ExitCode.LIMIT_MISSED
        if any(point.empty or point.failed for point in self.done):
            return ExitCode.RUN_FAILED
        missed = any(point.limit_missed for point in self.done)
        return ExitCode.LIMIT_MISSED if missed else ExitCode.OK
