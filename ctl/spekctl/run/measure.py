# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries out a run, with the prober if it is wanted, or starts one that continues alone."""

from __future__ import annotations

from spekctl.documents.result import Plan, Result
from spekctl.kernel.client import Kernel
from spekctl.power.meter import PowerOptions
from spekctl.run import detached, job, observe
from spekctl.run.follow import follow
from spekctl.run.holding import Holding
from spekctl.run.progress import Progress
from spekctl.run.session import Session


def measure(
    kernel: Kernel,
    request: job.Request,
    view: Progress,
    interrupts: job.Interrupts,
    prober_ns: int | None,
    power: PowerOptions | None = None,
    held: Holding | None = None,
) -> Result:
    """Carry out a run to its end, or until the user interrupts; its result in either case.

    @prober_ns: interval of the prober's samples, None to do without
    @held: the devices of a command of several runs; None: the run claims its own
    """
    observers, remark = observe.connect(prober_ns, power) if prober_ns is not None else ((), "")
    with Session(kernel, request, view, interrupts, observers, held) as session:
        if remark:
            view.note(remark)
        return carry_out(session)


def carry_out(session: Session) -> Result:
    """A session from its claim to its result, with its devices given back."""
    session.claim()
    session.check()
    session.ready()
    session.arm(session.request.start_ns())
    follow([session])
    result = session.result()
    session.release()
    return result


def launch(kernel: Kernel, request: job.Request, progress: Progress) -> Plan:
    """Start a detached run, which continues when this program exits."""
    with Session(kernel, request, progress, job.Interrupts()) as session:
        session.claim()
        session.check()
        plan = session.arm(request.start_ns())
        detached.save(plan)
        return plan
