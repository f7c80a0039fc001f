# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs that start together or one after the other by startdelay, and end by their runtimes, as
phases: times within which the same jobs run. A phase is a run of its own."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise

from spekctl import units
from spekctl.errors import UsageError
from spekctl.fio.plan import Plan

PHASES = (
    "its jobs start or end at different times: for each time within which the same ones run there"
    " is a step, with a result of its own, in which patterns begin again"
)


def in_phases(plans: Sequence[Plan]) -> list[list[tuple[int, Plan]]]:
    """For each phase, the jobs that run by their places in @plans, and what they do in it. One
    phase if they start and end together, or do not end by time."""
    spans = {(one.delay_ns, one.run.get("time"), one.run.get("ramp")) for one in plans}
    ramps = {ramp for _, _, ramp in spans}
    if len(spans) == 1 or len(ramps) > 1 or not all(time for _, time, _ in spans):
        return [list(enumerate(plans))]
    (text,) = ramps
    ramp = units.parse_duration_ns(text) if text else 0
    starts = [one.delay_ns for one in plans]
    ends = [
        start + ramp + units.parse_duration_ns(one.run["time"])
        for start, one in zip(starts, plans, strict=True)
    ]
    # With exitall the first job that ends ends all others.
    last = min(ends) if any("exitall" in one.not_needed for one in plans) else max(ends)
    marks = sorted(one for one in {*starts, *ends} if one <= last)
    found = []
    pause = marks[0]
    for begin, end in pairwise(marks):
        running = [
            place for place, start in enumerate(starts) if start <= begin and end <= ends[place]
        ]
        if not running:
            pause += end - begin
            continue
        lead = ramp if any(starts[place] == begin for place in running) else 0
        if lead >= end - begin:
            raise UsageError("ramp_time: it ends when another job has started or ended already")
        found.append([(place, _part(plans[place], pause, lead, end - begin)) for place in running])
        pause = 0
    return found


def _part(plan: Plan, pause: int, ramp: int, length: int) -> Plan:
    """What a job does in a phase of @length ns, which begins @pause ns after the one before."""
    part = copy.deepcopy(plan)
    part.delay_ns = pause
    part.run["time"] = units.format_duration(length - ramp)
    if not ramp:
        part.run.pop("ramp", None)
    part.differs(PHASES)
    return part
