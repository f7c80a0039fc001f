# SPDX-License-Identifier: GPL-2.0-or-later
"""exitall and exit_what: jobs whose end ends others. exitall of any job applies to all."""

from __future__ import annotations

from collections.abc import Sequence

from spekctl.errors import UsageError
from spekctl.fio.plan import Plan

KINDS = ("group", "stonewall", "all")
USELESS = "no effect without exitall, as in fio"


def ends_another(plan: Plan, another: Plan) -> bool:
    """Whether the end of a job also ends @another, which runs beside it."""
    return plan.exits in KINDS[1:] or (plan.exits == "group" and plan.group == another.group)


def check(steps: Sequence[Sequence[tuple[str, Plan]]]) -> None:
    """Refuse jobs that fio never starts, and jobs that another job ends at an unknown time. @steps:
    the jobs with their names."""
    for number, step in enumerate(steps):
        for name, plan in step:
            for later, waiting in (job for after in steps[number + 1 :] for job in after):
                if plan.exits == "all" or (plan.exits == "group" and plan.group == waiting.group):
                    option = "exit_what" if plan.exits == "all" else "exitall"
                    raise UsageError(
                        f"{option}: [{later}] never runs in fio, as [{name}] ends it before it"
                        " starts; leave one of them out with --section"
                    )
            for _, beside in step:
                if beside is not plan and ends_another(plan, beside) and not _known(plan, beside):
                    raise UsageError(
                        "exitall: the first of its jobs that has covered its size ends all others,"
                        " and which that is depends on the device; give all of them a runtime"
                    )


def _known(plan: Plan, beside: Plan) -> bool:
    """Whether it is known which of two jobs ends first: both end by time, or they are equal."""
    by_size = [each.amount or each.passes or "time" not in each.run for each in (plan, beside)]
    kinds = {
        repr((each.files, each.streams, each.arrivals, each.delay_ns, each.amount, each.passes))
        for each in (plan, beside)
    }
    return not any(by_size) or len(kinds) == 1


def cut(plans: Sequence[Plan], starts: Sequence[int], ends: Sequence[int]) -> list[int]:
    """The @ends of jobs that run by time, after jobs have ended others. A job that is ended before
    its start does not run."""
    result = list(ends)
    # A job that is ended ends others as well.
    for _ in plans:
        for place, plan in enumerate(plans):
            for beside, another in enumerate(plans):
                runs = starts[beside] < result[place] or plan.exits != "stonewall"
                if runs and ends_another(plan, another):
                    result[beside] = min(result[beside], result[place])
    return result
