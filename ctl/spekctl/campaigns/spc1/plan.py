# SPDX-License-Identifier: GPL-2.0-or-later
"""The next step of the method: pure functions, no clock, no device.

SEARCH doubles the load until a point is beyond the limit, then halves the bracket. The level is
the highest load that was served in time below the lowest one that was not. Then come the phases
at that level: sustain, IOPS, ramp, repetitions. If the device does not keep the limit in the
sustained run or the IOPS phase, the level is lowered and both are done again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spekctl import units
from spekctl.campaigns import search
from spekctl.campaigns.search import Bracket, lower
from spekctl.documents.curve import Point
from spekctl.documents.spc1 import (
    RAMP_PERCENTS,
    REPEAT_PASSES,
    REPEAT_PERCENTS,
    Limits,
    Parameters,
    Phase,
    PhaseKind,
    Step,
)


def beyond(point: Point, limits: Limits) -> str:
    """Why the device does not serve this load in time; empty if it does.

    The mean counts what was completed, and what was in flight at the end by its age. A device that
    stops answering completes nothing more, so what never reached it has to count as well: more than
    one per cent of the I/Os, and more than a queue just long enough for the limit holds by chance.
    """
    response = point.response
    if response is None or not point.iops:
        return "no I/O completed"
    allowed = units.format_ns(limits.response_ns)
    if response.mean > limits.response_ns:
        return f"mean response time {units.format_ns(response.mean)} is above {allowed}"
    late = point.unanswered
    if late is not None and late.at_least.mean > limits.response_ns:
        return (
            f"mean response time is at least {units.format_ns(late.at_least.mean)}, above"
            f" {allowed}: {late.text}"
        )
    waiting_ns = point.left_over / point.iops * 1e9
    if (
        point.left_over > limits.left_over * point.ios
        and waiting_ns > limits.left_over_responses * limits.response_ns
    ):
        return f"the queue grew by {point.left_over:,} I/Os, {units.format_ns(waiting_ns)} of work"
    return ""


# --- search --------------------------------------------------------------------------------------


def bracket_of(done: Iterable[Phase]) -> Bracket:
    """The position from the points of the search."""
    return search.bracket_of(
        {phase.step.bsu: not phase.beyond for phase in done if phase.step.kind == "search"}
    )


def search_of(parameters: Parameters) -> search.Search:
    """The search for the level."""
    return search.Search(
        parameters.start_bsu,
        parameters.max_bsu,
        parameters.durations.resolution_percent,
        parameters.clients,
    )


# --- phases --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Item:
    """A phase after the search, before the level is known."""

    kind: PhaseKind
    name: str
    percent: int


PLAN: tuple[_Item, ...] = (
    _Item("sustain", "sustain", 100),
    _Item("iops", "iops", 100),
    *(_Item("ramp", f"ramp-{percent}", percent) for percent in RAMP_PERCENTS),
    *(
        _Item("repeat", f"repeat-{number}-{percent}", percent)
        for number in range(1, REPEAT_PASSES + 1)
        for percent in REPEAT_PERCENTS
    ),
)


@dataclass(frozen=True, slots=True)
class Position:
    """Position of a test."""

    bracket: Bracket
    sustained: int | None  # by the search; None: not yet, or there is none
    level: int | None  # the same, lowered
    lowered: int  # how often
    final: tuple[Phase, ...]  # phases at that level
    stopped: str  # why the test stopped before its end; else empty


def position_of(parameters: Parameters, done: Sequence[Phase], keep_going: bool) -> Position:
    """Position of a test after the completed phases."""
    bracket = bracket_of(done)
    limits = parameters.limits
    stopped = ""
    for phase in done:
        if not phase.point.ok and not keep_going:
            stopped = stopped or f"{phase.step.name} failed: {phase.point.text}"
    if search_of(parameters).next_load(bracket) is not None or not bracket.good:
        bad = bracket.bad
        if not bracket.good and bad is not None and bad <= parameters.clients:
            (worst,) = (
                phase for phase in done if phase.step.kind == "search" and phase.step.bsu == bad
            )
            stopped = stopped or f"the device cannot sustain even {bad} BSU: {worst.beyond}"
        return Position(bracket, None, None, 0, (), stopped)
    level, lowered = bracket.good, 0
    final: list[Phase] = []
    for phase in done:
        kind = phase.step.kind
        if kind == "search":
            continue
        if phase.beyond and kind in ("sustain", "iops") and lowered < limits.lowered_at_most:
            if level <= parameters.clients:
                stopped = stopped or f"{level} BSU missed the limit in {phase.step.name}"
                final.append(phase)
                continue
            level = max(parameters.clients, lower(level, limits.lower_percent))
            lowered, final = lowered + 1, []
            continue
        final.append(phase)
        if phase.beyond and not keep_going:
            stopped = stopped or f"{phase.step.name}: {phase.beyond}"
    return Position(bracket, bracket.good, level, lowered, tuple(final), stopped)


def final_by_name(position: Position) -> dict[str, Phase]:
    """The phases at the level of the test by their names in PLAN."""
    return {item.name: phase for item, phase in zip(PLAN, position.final, strict=False)}


def next_step(
    parameters: Parameters, done: Sequence[Phase], keep_going: bool = False
) -> Step | None:
    """The next step; None when the test is over, complete or not."""
    position = position_of(parameters, done, keep_going)
    if position.stopped:
        return None
    lengths = parameters.durations
    if position.level is None:
        bsu = search_of(parameters).next_load(position.bracket)
        if bsu is None:
            return None
        return Step("search", f"search-{bsu}", 100, bsu, lengths.ramp_ns, lengths.search_ns)
    if len(position.final) == len(PLAN):
        return None
    return _step(parameters, PLAN[len(position.final)], position.level, position.lowered)


def _step(parameters: Parameters, item: _Item, level: int, lowered: int) -> Step:
    again = f"-again-{lowered}" if lowered and item.kind in ("sustain", "iops") else ""
    return Step(
        kind=item.kind,
        name=item.name + again,
        percent=item.percent,
        # Each client has a BSU at least.
        bsu=max(parameters.clients, level * item.percent // 100),
        ramp_ns=parameters.durations.ramp_ns,
        time_ns=_length_ns(parameters, item),
    )


def _length_ns(parameters: Parameters, item: _Item) -> int:
    lengths = parameters.durations
    if item.kind == "sustain":
        return lengths.sustain_ns
    return lengths.iops_ns if item.percent == 100 else lengths.phase_ns


def left_ns(parameters: Parameters, done: Sequence[Phase], keep_going: bool = False) -> int:
    """Expected time of all remaining steps, including the next one."""
    position = position_of(parameters, done, keep_going)
    if position.stopped:
        return 0
    lengths = parameters.durations
    left = sum(
        lengths.ramp_ns + _length_ns(parameters, item) for item in PLAN[len(position.final) :]
    )
    points = 0
    if position.level is None:
        points = search_of(parameters).points_left(position.bracket)
    return left + points * (lengths.ramp_ns + lengths.search_ns)
