# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries out a run, with the prober if it is wanted."""

from __future__ import annotations

from spekctl.documents.result import Result
from spekctl.kernel.client import Kernel
from spekctl.power.meter import PowerOptions
from spekctl.run import execute, job, observe
from spekctl.run.progress import Progress


def measure(
    kernel: Kernel,
    request: job.Request,
    view: Progress,
    interrupts: job.Interrupts,
    prober_ns: int | None,
    power: PowerOptions | None = None,
) -> Result:
    """Carry out a run; @prober_ns is the interval of the prober's samples, None to do without."""
    observer, remark = observe.connect(prober_ns, power) if prober_ns is not None else (None, "")
    try:
        if remark:
            view.note(remark)
        return execute.execute(kernel, request, view, interrupts, observer)
    finally:
        if observer is not None:
            observer.close()
