# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs that start together or one after the other by startdelay, and end by their runtimes, as
phases: times within which the same jobs run. A phase is a run of its own."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence

from spekctl import units
from spekctl.errors import UsageError
from spekctl.fio import exits
from spekctl.fio.ends import ENDS, RAMP
from spekctl.fio.plan import Plan

PHASES = (
    "its jobs start or end at different times: for each time within which the same ones run there"
    " is a step, with a result of its own, in which patterns begin again"
)
TIMED = (
    "a job that ends by its size ends at the latest with those beside it that end by time; fio's"
    " continues until it has done its size"
)
RAMPS = "the ramp-up is the longest of its jobs; fio measures each job after its own"

WITHIN = "a step that is all ramp-up is measured; fio measures nothing until it is over"

OVER = "nothing: as in fio, it counts from the start of the first step, and is over by then"
TAKEN_OVER = (
    "nothing: it counts from the start of the first step, and is taken to be over when the step"
    " before has ended"
)
LEFT = "--start-at, less the time of the steps before"


def count_delays(steps: Sequence[Sequence[Plan]]) -> None:
    """Turn the delays of later steps, which fio counts from its own start, into delays after the
    step before."""
    least, exact = 0, True
    for number, step in enumerate(steps):
        if number:
            delays = {plan.delay_ns for plan in step}
            unknown = not exact and max(delays) > least
            if unknown and len(delays) > 1:
                raise UsageError(
                    "startdelay: in fio it counts from the start of the first step, and how long"
                    " the steps before take depends on the device; import jobs one by one with"
                    " --section"
                )
            for plan in step:
                over = unknown or plan.delay_ns <= least
                if plan.delay_ns:
                    plan.mapped["startdelay"] = TAKEN_OVER if unknown else OVER if over else LEFT
                plan.delay_ns = 0 if over else plan.delay_ns - least
        by_time = not any(
            plan.exits or plan.amount or plan.passes or "time" not in plan.run or _may_stop(plan)
            for plan in step
        )
        exact &= by_time
        least += max(
            plan.delay_ns + (_ns(plan, "ramp") + _ns(plan, "time") if by_time else 0)
            for plan in step
        )


def _may_stop(plan: Plan) -> bool:
    """Whether a run may end before its time, and the step after it follows."""
    return any(text.startswith("--until") for text in plan.command_line)


def in_phases(plans: Sequence[Plan]) -> list[list[tuple[int, Plan]]]:
    """For each phase, the jobs that run by their places in @plans, and what they do in it. One
    phase if they start and end together, or none ends by time."""
    spans = {(plan.delay_ns, plan.run.get("time"), plan.run.get("ramp")) for plan in plans}
    if len(spans) == 1:
        return [list(enumerate(plans))]
    parts = [copy.deepcopy(plan) for plan in plans]
    ramps, times = [_ns(part, "ramp") for part in parts], [_ns(part, "time") for part in parts]
    for part, time in zip(parts, times, strict=True):
        if len(set(ramps)) > 1:
            part.differs(RAMPS)
        if any(times) and not time:
            part.differs(TIMED)
    if not any(times):
        for part in parts:
            _set(part, "ramp", max(ramps))
        return [list(enumerate(parts))]
    starts = [part.delay_ns for part in parts]
    spent = [start + ramp + time for start, ramp, time in zip(starts, ramps, times, strict=True)]
    latest = max(end for end, time in zip(spent, times, strict=True) if time)
    ends = [end if time else latest for end, time in zip(spent, times, strict=True)]
    if any(start >= end for start, end in zip(starts, ends, strict=True)):
        raise UsageError(
            "startdelay: a job that ends by its size starts when all others have ended"
        )
    ends = exits.cut(parts, starts, ends)
    if any(start >= end for start, end in zip(starts, ends, strict=True)):
        raise UsageError(
            "exitall: it ends a job before its startdelay is over; leave that one out with"
            " --section"
        )
    last = max(ends)
    marks = sorted(mark for mark in {*starts, *ends} if mark <= last)
    phases = []
    pause = marks[0]
    for begin, end in itertools.pairwise(marks):
        running = [
            place for place, start in enumerate(starts) if start <= begin and end <= ends[place]
        ]
        if not running:
            pause += end - begin
            continue
        lead = max(0, *(starts[place] + ramps[place] - begin for place in running))
        if lead >= end - begin:
            lead = 0
            for place in running:
                parts[place].differs(WITHIN)
        phases.append(
            [(place, _part(parts[place], pause, lead, end - begin - lead)) for place in running]
        )
        pause = 0
    if len(phases) > 1:
        for phase in phases:
            for _, plan in phase:
                plan.differs(PHASES)
    # An amount is of all the phases of a job, and none of them knows what is left of it.
    places = [place for phase in phases for place, _ in phase]
    for place, plan in itertools.chain.from_iterable(phases):
        if places.count(place) > 1 and (plan.amount or plan.passes):
            plan.amount = plan.passes = None
            plan.differences = [text for text in plan.differences if text != RAMP]
            plan.differs(ENDS)
    return phases


def cut(plans: Sequence[Plan]) -> None:
    """Shorten the times of jobs that run separately but end each other."""
    starts = [plan.delay_ns for plan in plans]
    begins = [plan.delay_ns + _ns(plan, "ramp") for plan in plans]
    if not any(plan.exits for plan in plans) or any("time" not in plan.run for plan in plans):
        return
    ends = [begin + _ns(plan, "time") for begin, plan in zip(begins, plans, strict=True)]
    for plan, begin, end in zip(plans, begins, exits.cut(plans, starts, ends), strict=True):
        if end <= begin:
            raise UsageError("exitall: it ends a job before the job measures; leave the job out")
        _set(plan, "time", end - begin)


def _part(plan: Plan, pause: int, ramp: int, time: int) -> Plan:
    """What a job does in a phase, which begins @pause ns after the one before."""
    part = copy.deepcopy(plan)
    part.delay_ns = pause
    _set(part, "ramp", ramp)
    _set(part, "time", time)
    return part


def _ns(plan: Plan, key: str) -> int:
    """A time of the run; 0 without it."""
    return units.parse_duration_ns(plan.run[key]) if key in plan.run else 0


def _set(plan: Plan, key: str, ns: int) -> None:
    plan.run.pop(key, None)
    if ns:
        plan.run[key] = units.format_duration(ns)
