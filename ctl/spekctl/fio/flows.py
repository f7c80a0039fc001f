# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs that fio couples by flow: each has a share of the I/Os of all.

They become one closed loop, which draws the next I/O by the shares of its streams. The first job
of a flow has the loop, the others have no arrival process of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from spekctl.errors import UsageError
from spekctl.fio.plan import Plan

FLOW = (
    "jobs of one flow have one closed loop of the depth of all, whose I/Os are drawn by the weights"
    " of the jobs; in fio each job keeps its depth, and a job that is ahead waits"
)
ALONE = "nothing: no other job has its flow_id, and clones have equal weights"
SHARES = "stream.share"
_BY_SECTION = "import jobs one by one with --section"


def couple(steps: Sequence[Sequence[tuple[str, Plan]]]) -> None:
    """Give the jobs of each flow one loop; jobs with their names, step by step."""
    flows: dict[int, list[tuple[int, str, Plan]]] = {}
    for number, step in enumerate(steps):
        for name, plan in step:
            if plan.flow:
                flows.setdefault(plan.flow_id, []).append((number, name, plan))
    for members in flows.values():
        plans = [plan for _, _, plan in members]
        if len(plans) == 1:
            plans[0].flow = 0
            for option in ("flow", "flow_id"):
                if option in plans[0].mapped:
                    plans[0].mapped[option] = ALONE
            continue
        _check(members)
        depth = sum(plan.arrivals[0]["depth"] for plan in plans)
        totals = [sum(stream["share"] for stream in plan.streams) for plan in plans]
        common = math.lcm(*totals)
        for plan, total in zip(plans, totals, strict=True):
            for stream in plan.streams:
                stream["share"] *= plan.flow * (common // total)
            plan.arrivals = []
            plan.differs(FLOW)
        divisor = math.gcd(*(stream["share"] for plan in plans for stream in plan.streams))
        for plan in plans:
            for stream in plan.streams:
                stream["share"] //= divisor
        plans[0].arrivals = [{"law": "closed", "depth": depth}]


def _check(members: Sequence[tuple[int, str, Plan]]) -> None:
    """Refuse jobs that cannot share a loop from its start to its end."""
    first_step, first, leader = members[0]
    for number, name, plan in members:
        if number != first_step:
            raise UsageError(
                f"flow: [{name}] starts after [{first}], which fio holds back until then;"
                f" {_BY_SECTION}"
            )
        if plan.files != leader.files:
            raise UsageError(
                f"flow: [{name}] and [{first}] have different devices, and streams of one loop"
                f" share theirs; {_BY_SECTION}"
            )
        spans = [
            (each.delay_ns, each.run.get("time"), each.run.get("ramp")) for each in (plan, leader)
        ]
        if plan.amount or plan.passes or "time" not in plan.run or spans[0] != spans[1]:
            raise UsageError(
                f"flow: [{name}] does not end by the same time as all others of its flow; give all"
                " of them a runtime and time_based"
            )
        if len(plan.arrivals) != 1 or set(plan.arrivals[0]) != {"law", "depth"}:
            raise UsageError(
                f"flow: [{name}] has a rate or a pause of its own, and jobs of a flow share a"
                f" closed loop; {_BY_SECTION}"
            )
