# SPDX-License-Identifier: GPL-2.0-or-later
"""The next step of a PTS-like test: pure functions, no clock, no device.

A test starts from a known state: all blocks are discarded, then twice the capacity is written
sequentially. Rounds follow, each of which measures every share of reads with every block size,
until the tracked metric of small (throughput: of these) writes is steady over the last rounds, or
there were too many rounds. Write saturation has no rounds: it writes at random from the purged
state on.

Sizes, shares, lengths and limits are as remembered from the published standard and are parameters
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from spekctl.documents.pts import MetricName, Parameters, PartName, Run, Step, metric_of, size_text
from spekctl.documents.shape import Shape
from spekctl.documents.steady import Criteria, Window, judge

KIB = 1 << 10
SECOND = 10**9
MINUTE = 60 * SECOND

PARTS: tuple[PartName, ...] = ("iops", "throughput", "latency", "saturation")
TRACKED_BYTES = 4 * KIB
PRECONDITION_BYTES = 128 * KIB
SATURATION_BYTES = 4 * KIB
ROUNDS_MAX = 1000


def standard(shape: Shape) -> Parameters:
    """The parameters of the standard."""
    return Parameters(
        parts=list(PARTS),
        purge=True,
        precondition_percent=200,
        time_ns=MINUTE,
        rounds=25,
        steady=Criteria(),
        sizes=[kib * KIB for kib in (1024, 128, 64, 32, 16, 8, 4)] + [512],
        reads=[100, 95, 65, 50, 35, 5, 0],
        throughput_sizes=[1024 * KIB, 128 * KIB],
        latency_sizes=[8 * KIB, 4 * KIB, 512],
        latency_reads=[100, 65, 0],
        saturation_percent=400,
        saturation_ns=None,
        depth=32,
        workers=1,
        shape=shape,
    )


# What --quick changes.
QUICK: dict[str, object] = {
    "precondition_percent": 100,
    "time_ns": 2 * SECOND,
    "rounds": 10,
    "sizes": [128 * KIB, 4 * KIB],
    "reads": [100, 65, 0],
    "throughput_sizes": [1024 * KIB],
    "latency_sizes": [4 * KIB],
    "saturation_ns": MINUTE,
}


@dataclass(frozen=True, slots=True)
class Test:
    """A test with rounds."""

    part: PartName
    name: str
    metric: MetricName
    pattern: Literal["uniform", "sequential"]
    sizes: tuple[int, ...]
    reads: tuple[int, ...]
    precondition_bytes: int

    @property
    def tracked(self) -> tuple[int, int]:
        """(share of reads, block size): the fewest reads, and 4 KiB if that is measured."""
        size = TRACKED_BYTES if TRACKED_BYTES in self.sizes else min(self.sizes)
        return min(self.reads), size


def tests_of(parameters: Parameters) -> list[Test]:
    """The tests with rounds, in their order."""
    tests = []
    for part in parameters.parts:
        if part == "iops":
            sizes, reads = tuple(parameters.sizes), tuple(parameters.reads)
            tests.append(Test(part, part, "iops", "uniform", sizes, reads, PRECONDITION_BYTES))
        elif part == "throughput":
            tests += [
                Test(
                    *(part, f"throughput-{size_text(size)}", "bandwidth", "sequential"),
                    *((size,), (100, 0), size),
                )
                for size in parameters.throughput_sizes
            ]
        elif part == "latency":
            sizes, reads = tuple(parameters.latency_sizes), tuple(parameters.latency_reads)
            tests.append(Test(part, part, "latency", "uniform", sizes, reads, PRECONDITION_BYTES))
    return tests


@dataclass(frozen=True, slots=True)
class Position:
    """How far a test has come."""

    rounds: int  # that are whole
    values: list[float]  # of what is tracked, in each of them
    window: Window | None
    over: bool  # steady, or no more rounds

    @property
    def steady(self) -> bool:
        """Steady state was reached."""
        return self.window is not None and self.window.steady


def of_round(done: Sequence[Run], test: Test, number: int) -> dict[tuple[int, int], Run]:
    """The measurements of a round by share of reads and block size."""
    return {
        (run.step.read_percent, run.step.bytes): run
        for run in done
        if run.step.kind == "round" and run.step.test == test.name and run.step.round == number
    }


def position_of(parameters: Parameters, test: Test, done: Sequence[Run]) -> Position:
    """How far a test has come after the completed steps."""
    rounds: dict[int, dict[tuple[int, int], Run]] = {}
    for run in done:
        if run.step.kind == "round" and run.step.test == test.name:
            place = run.step.read_percent, run.step.bytes
            rounds.setdefault(run.step.round, {})[place] = run
    whole = len(test.sizes) * len(test.reads)
    values = [
        metric_of(runs[test.tracked], test.metric) for runs in rounds.values() if len(runs) == whole
    ]
    window = judge(test.metric, values, parameters.steady) if values else None
    steady = window is not None and window.steady
    return Position(len(values), values, window, steady or len(values) >= parameters.rounds)


def next_step(parameters: Parameters, done: Sequence[Run]) -> Step | None:
    """The next step; None when the test is over."""
    names = {run.step.name for run in done}
    tests = tests_of(parameters)
    for part in parameters.parts:
        steps = (
            _saturation(parameters)
            if part == "saturation"
            else [
                step
                for test in tests
                if test.part == part
                for step in _steps(parameters, test, done)
            ]
        )
        for step in steps:
            if step.name not in names:
                return step
    return None


def _before(parameters: Parameters, test: str, size: int) -> list[Step]:
    steps = [Step("purge", test)] if parameters.purge else []
    if size and parameters.precondition_percent:
        steps.append(Step("precondition", test, bytes=size))
    return steps


def _saturation(parameters: Parameters) -> list[Step]:
    return [
        *_before(parameters, "saturation", 0),
        Step("saturation", "saturation", bytes=SATURATION_BYTES),
    ]


def _steps(parameters: Parameters, test: Test, done: Sequence[Run]) -> list[Step]:
    """The steps of a test up to the end of the round that it is in."""
    position = position_of(parameters, test, done)
    steps = _before(parameters, test.name, test.precondition_bytes)
    for number in range(1, position.rounds + (not position.over) + 1):
        steps += round_of(test, number)
    return steps


def round_of(test: Test, number: int) -> list[Step]:
    """The measurements of a round, in their order."""
    return [
        Step("round", test.name, number, percent, size)
        for percent in test.reads
        for size in test.sizes
    ]


def left_ns(parameters: Parameters, done: Sequence[Run]) -> int:
    """Expected time of all remaining steps, including the next one, if tests become steady as early
    as they can. What ends by its amount is not counted: its rate is not known."""
    left = 0
    for test in tests_of(parameters):
        position = position_of(parameters, test, done)
        if position.over:
            continue
        first = min(parameters.steady.window, parameters.rounds)
        rounds = max(first - position.rounds, 1)
        begun = len(of_round(done, test, position.rounds + 1))
        left += (rounds * len(round_of(test, 1)) - begun) * parameters.time_ns
    if "saturation" in parameters.parts and not any(run.step.kind == "saturation" for run in done):
        left += parameters.saturation_ns or 0
    return left
