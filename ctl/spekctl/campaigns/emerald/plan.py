# SPDX-License-Identifier: GPL-2.0-or-later
"""The next step of an Emerald-like test: pure functions, no clock, no device.

Storage is filled and conditioned, then comes one phase after the other. A phase in closed loop is
first searched for its best foot: the depth, the number of workers and the options of --search that
do the most work per watt, or the most work where power is missing. For each combination of options
and workers, depths go up until two in a row are no better than the best before, or one misses the
response limits. Of equals the least depth wins, then the fewest workers, then what is listed first.

Lengths, limits and order are as remembered from the published standard and are parameters here.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, field

from spekctl.campaigns.emerald import choices
from spekctl.campaigns.emerald.figures import BY_PHASE, KINDS
from spekctl.documents.document import Part
from spekctl.documents.energy import (
    EmeraldDurations,
    EmeraldLimits,
    EmeraldParameters,
    EmeraldPhase,
    RunOptions,
    Trial,
)
from spekctl.errors import UsageError

SECOND = 10**9
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
MS = 10**6

STANDARD = EmeraldDurations(
    prefill_percent=100,
    conditioning_ns=12 * HOUR,
    warmup_ns=11 * MINUTE,
    measure_ns=30 * MINUTE,
    idle_ns=2 * HOUR,
    search_ns=3 * MINUTE,
)
QUICK = EmeraldDurations(
    prefill_percent=0,
    conditioning_ns=20 * SECOND,
    warmup_ns=3 * SECOND,
    measure_ns=20 * SECOND,
    idle_ns=10 * SECOND,
    search_ns=4 * SECOND,
)
LIMITS = EmeraldLimits(mean_ns=20 * MS, window_mean_ns=80 * MS, window_ns=MINUTE)
DEPTHS = [1, 2, 4, 8, 16, 32, 64, 128, 256]

PHASES = [kind.phase for kind in KINDS]
IDLE = "ready-idle"
MIXED, MIXED_QUARTER = "mixed", "mixed-25"
QUARTER = Fraction(1, 4)
LIMITED = ("hot-band", "random-read", "random-write", MIXED, MIXED_QUARTER)
PATIENCE = 2

StepKind = Literal["prefill", "conditioning", "search", "measure", "idle"]


class Step(Part, frozen=True):
    """One step of the test."""

    kind: StepKind
    phase: str
    workers: int
    depth: int | None
    rate: Annotated[float | None, Meta(description="I/Os per second; null: closed loop.")]
    ramp_ns: int
    time_ns: Annotated[int, Meta(description="0: until all is filled.")]
    options: RunOptions = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of its result file, also displayed."""
        if self.kind == "search":
            options = "".join(f"-{name}={value}" for name, value in self.options.items())
            return f"{self.phase}-search-{self.workers}x{self.depth}{options}"
        return self.phase


class Done(Part, frozen=True):
    """A completed step and its figures."""

    step: Step
    figures: EmeraldPhase = field(name="found")  # its name in files
    ok: bool = True  # the run completed without errors; limits apart
    refusal: str = ""  # why the kernel refused a step of the search; empty: it ran


class Choice(NamedTuple):
    """What the search chooses."""

    workers: int
    depth: int
    options: dict[str, str]


def check(parameters: EmeraldParameters) -> None:
    """Refuse parameters that contradict each other, in one sentence."""
    phases = parameters.phases
    if MIXED_QUARTER in phases and MIXED not in phases[: phases.index(MIXED_QUARTER)]:
        raise UsageError(
            f"--phases: {MIXED_QUARTER} has a quarter of the rate of {MIXED}, which has to come"
            " before it"
        )
    count = _combinations(parameters)
    if not parameters.durations.search_ns and count > 1:
        searched = (
            "--depths, --workers and --search" if parameters.search else ("--depths and --workers")
        )
        raise UsageError(
            f"--search-time 0 leaves no time to choose among {count} combinations of {searched};"
            " give one of each"
        )


def _combinations(parameters: EmeraldParameters) -> int:
    places = choices.places(parameters.search)
    return len(parameters.depths) * len(parameters.workers) * len(places)


def writes(phase: str) -> bool:
    """A step of that phase writes."""
    return phase not in ("random-read", "sequential-read", IDLE)


def trial_of(done: Done) -> Trial:
    """A step of the search as the report has it."""
    depth = done.step.depth
    assert depth is not None
    return Trial(
        phase=done.step.phase,
        workers=done.step.workers,
        depth=depth,
        work=done.figures.work,
        watts=done.figures.watts,
        response_ns=done.figures.response_ns,
        allowed=done.figures.passed,
        options=done.step.options,
        refusal=done.refusal,
    )


def score(trial: Trial, by_power: bool) -> Fraction:
    """Sort key: greater is better."""
    work = Fraction(trial.work)
    return work / Fraction(trial.watts) if by_power and trial.watts is not None else work


def _by_power(trials: Sequence[Trial]) -> bool:
    return all(
        trial.watts is not None and Fraction(trial.watts) > 0
        for trial in trials
        if not trial.refusal
    )


def next_trial(parameters: EmeraldParameters, trials: Sequence[Trial]) -> Choice | None:
    """What to try now; None when the search of the phase is over."""
    if _combinations(parameters) == 1:
        return None
    by_power = _by_power(trials)
    for options, workers in product(choices.places(parameters.search), parameters.workers):
        mine = [trial for trial in trials if (trial.options, trial.workers) == (options, workers)]
        if _is_over(mine, by_power):
            continue
        tried = {trial.depth for trial in mine}
        depth = next((depth for depth in sorted(parameters.depths) if depth not in tried), None)
        if depth is not None:
            return Choice(workers, depth, options)
    return None


def _is_over(trials: Sequence[Trial], by_power: bool) -> bool:
    """Whether more depth no longer helps, or is not allowed."""
    best, worse = Fraction(-1), 0
    for trial in trials:
        if not trial.allowed:
            return True
        value = score(trial, by_power)
        worse = 0 if value > best else worse + 1
        best = max(best, value)
    return worse >= PATIENCE


def best_trial(parameters: EmeraldParameters, trials: Sequence[Trial]) -> Choice:
    """The best choice within the limits; if there is none, the lowest load with the first options
    that ran."""
    allowed = [trial for trial in trials if trial.allowed]
    if not allowed:
        ran = (trial.options for trial in trials if not trial.refusal)
        options = next(ran, choices.places(parameters.search)[0])
        return Choice(parameters.workers[0], min(parameters.depths), options)
    by_power = _by_power(trials)
    best = max(allowed, key=lambda trial: (score(trial, by_power), -trial.depth, -trial.workers))
    return Choice(best.workers, best.depth, best.options)


def next_step(parameters: EmeraldParameters, done: Sequence[Done]) -> Step | None:
    """The next step; None when the test is over."""
    kinds = [entry.step.kind for entry in done]
    lengths = parameters.durations
    first = parameters.workers[0]
    if lengths.prefill_percent and "prefill" not in kinds:
        return Step("prefill", "prefill", first, max(parameters.depths), None, 0, 0)
    if lengths.conditioning_ns and "conditioning" not in kinds:
        depth = max(parameters.depths)
        time_ns = lengths.conditioning_ns
        return Step("conditioning", "conditioning", first, depth, None, 0, time_ns)
    measured = {entry.step.phase for entry in done if entry.step.kind in ("measure", "idle")}
    phase = next((phase for phase in parameters.phases if phase not in measured), None)
    if phase is None:
        return None
    if phase == IDLE:
        return Step("idle", phase, 0, None, None, 0, lengths.idle_ns)
    if phase == MIXED_QUARTER:
        return _quarter(parameters, done)
    trials = [
        trial_of(entry)
        for entry in done
        if entry.step.kind == "search" and entry.step.phase == phase
    ]
    choice = next_trial(parameters, trials)
    if choice is not None:
        ramp_ns = min(lengths.warmup_ns, lengths.search_ns // 2)
        return _closed("search", phase, choice, ramp_ns, lengths.search_ns)
    best = best_trial(parameters, trials)
    return _closed("measure", phase, best, lengths.warmup_ns, lengths.measure_ns)


def _closed(kind: StepKind, phase: str, choice: Choice, ramp_ns: int, time_ns: int) -> Step:
    return Step(kind, phase, choice.workers, choice.depth, None, ramp_ns, time_ns, choice.options)


def _quarter(parameters: EmeraldParameters, done: Sequence[Done]) -> Step:
    full = next(
        entry for entry in done if entry.step.kind == "measure" and entry.step.phase == MIXED
    )
    lengths = parameters.durations
    rate = max(1.0, float(Fraction(full.figures.work) * QUARTER))
    return Step(
        "measure",
        MIXED_QUARTER,
        full.step.workers,
        None,
        rate,
        lengths.warmup_ns,
        lengths.measure_ns,
        full.step.options,
    )


def left_ns(parameters: EmeraldParameters, done: Sequence[Done]) -> int:
    """Longest time of all remaining steps, without prefill."""
    lengths = parameters.durations
    kinds = [entry.step.kind for entry in done]
    left = 0 if "conditioning" in kinds else lengths.conditioning_ns
    measured = {entry.step.phase for entry in done if entry.step.kind in ("measure", "idle")}
    count = _combinations(parameters)
    for phase in parameters.phases:
        if phase in measured:
            continue
        if phase == IDLE:
            left += lengths.idle_ns
            continue
        left += lengths.warmup_ns + lengths.measure_ns
        if count > 1 and phase != MIXED_QUARTER:
            tried = sum(entry.step.kind == "search" and entry.step.phase == phase for entry in done)
            each = lengths.search_ns + min(lengths.warmup_ns, lengths.search_ns // 2)
            left += max(0, count - tried) * each
    return left


def metric_of(phase: str) -> tuple[str, str]:
    """Name and unit of a phase's metric; empty for preparation."""
    kind = BY_PHASE.get(phase)
    return (kind.name, kind.unit) if kind is not None else ("", "")
