# SPDX-License-Identifier: GPL-2.0
"""A run is measured by the prober that it asks for, and gives it back however it ends."""

from __future__ import annotations

import pytest
from lib.ctl.results import DISK
from lib.fakes.kernel import SECOND, FakeKernel

from spekctl.power.meter import PowerOptions
from spekctl.render.progress import LineProgress
from spekctl.run import job, observe
from spekctl.run.measure import measure
from spekctl.workload import file
from spekctl.workload.resolve import Options, resolve


class Asked(Exception):
    """The prober was asked for."""


def request() -> job.Request:
    workload = file.load("random-read-4k")
    return job.Request(workload, resolve(workload, Options(available_cpus=(0,)), [DISK]), ())


def test_a_run_without_a_prober_asks_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(interval_ns: int, power: PowerOptions | None = None) -> None:
        raise Asked(interval_ns, power)

    monkeypatch.setattr(observe, "connect", connect)
    view, interrupts = LineProgress(quiet=True), job.Interrupts()
    result = measure(FakeKernel(), request(), view, interrupts, None)
    assert result.outcome.ok and result.prober is None
    with pytest.raises(Asked) as asked:
        measure(FakeKernel(), request(), view, interrupts, SECOND, PowerOptions(("wall",)))
    assert asked.value.args == (SECOND, PowerOptions(("wall",)))
