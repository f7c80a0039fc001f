# SPDX-License-Identifier: GPL-2.0
"""A run from its start to its end, also a failed one."""

from __future__ import annotations

import pytest
from lib.ctl.results import DISK
from lib.fakes.kernel import FakeKernel

from spekctl.render.progress import LineProgress
from spekctl.run import execute, job
from spekctl.workload import file
from spekctl.workload.resolve import Options, resolve


def test_a_failure_under_way_gives_the_devices_back() -> None:
    kernel = FakeKernel()
    found = file.load("random-read-4k")
    request = job.Request(found, resolve(found, Options(available_cpus=(0,)), [DISK]), ())

    class Broken(LineProgress):
        def show(self, clock: object, news: object) -> None:
            raise RuntimeError("the terminal burns")

    with pytest.raises(RuntimeError), job.Interrupts() as interrupts:
        execute.execute(kernel, request, Broken(quiet=True), interrupts)
    assert kernel.calls[-3:] == ["run-stop", "run-get", "run-delete"]
    assert kernel.deleted
