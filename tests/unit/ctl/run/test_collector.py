# SPDX-License-Identifier: GPL-2.0
"""A collector that does nothing of its own changes nothing in a run."""

from __future__ import annotations

from lib.ctl.results import DISK, build
from lib.fakes.kernel import FakeKernel

from spekctl.render.progress import LineProgress
from spekctl.run import job
from spekctl.run.collector import Collector, Sections
from spekctl.run.measure import carry_out
from spekctl.run.session import Session
from spekctl.workload import file
from spekctl.workload.resolve import Options, resolve


def calls_of(*collectors: Collector) -> tuple[list[str], list[str]]:
    """What a run with @collectors asks of the kernel, and its remarks."""
    kernel, workload = FakeKernel(), file.load("random-read-4k")
    config = resolve(workload, Options(available_cpus=(0,)), [DISK])
    view, request = LineProgress(quiet=True), job.Request(workload, config, ())
    with Session(kernel, request, view, job.Interrupts(), collectors) as session:
        result = carry_out(session)
    assert result.outcome.ok and result.prober is None and result.log is None
    return kernel.calls, list(result.remarks)


def test_a_collector_of_nothing_changes_nothing() -> None:
    assert calls_of(Collector(), Collector()) == calls_of()


def test_sections_are_empty_at_first_and_share_nothing() -> None:
    Sections().remarks.append("of a run")
    assert not Sections().remarks
    assert build().remarks == build().remarks
