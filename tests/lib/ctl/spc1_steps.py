# SPDX-License-Identifier: GPL-2.0
"""Phases of a test of SPC-1's kind as if they had been measured."""

from __future__ import annotations

from spekctl.campaigns.spc1.plan import beyond
from spekctl.documents.curve import Load, Point, TimeFigures
from spekctl.documents.spc1 import Limits, Phase, Step

SECOND = 10**9
PER_BSU = 50


def phase(step: Step, mean_s: float, ok: bool = True, left_over: int = 0) -> Phase:
    """A step that was measured, with this mean response time."""
    mean_ns = mean_s * 1e9
    iops = step.bsu * PER_BSU
    times = TimeFigures(mean_ns, *(int(mean_ns * factor) for factor in (0.7, 2.3, 4.6, 6.9, 9)))
    point = Point(
        load=Load("bsu", step.bsu),
        offered_iops=iops,
        measured_ns=step.time_ns,
        ios=iops * step.time_ns // SECOND,
        reads=0,
        writes=iops * step.time_ns // SECOND,
        iops=iops,
        mib_s=iops / 256,
        response=times,
        service=times,
        slip=None,
        backlog=0,
        left_over=left_over,
        stretch=1.0,
        cpu=None,
        switches_per_io=None,
        cpu_of="workers",
        errors=0 if ok else 3,
        ok=ok,
        text="the run completed" if ok else "the run completed; 3 I/Os failed",
    )
    return Phase(step, point, beyond(point, Limits()), 0, [], [])
