# SPDX-License-Identifier: GPL-2.0
"""A run is measured by the prober that it asks for; one that is launched continues alone."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from lib.ctl.results import DISK
from lib.fakes.kernel import SECOND, FakeKernel

from spekctl.errors import RefusedError, SpekError
from spekctl.power.meter import PowerOptions
from spekctl.render.progress import LineProgress
from spekctl.run import detached, job, observe
from spekctl.run.collector import Collector
from spekctl.run.measure import launch, measure
from spekctl.run.start import Base, StartAt
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


def test_the_prober_is_closed_however_the_run_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []

    class Observer(Collector):
        def close(self) -> None:
            closed.append(self)

    monkeypatch.setattr(observe, "connect", lambda *wishes: ((Observer(),), "no power"))
    view, interrupts = LineProgress(quiet=True), job.Interrupts()
    assert measure(FakeKernel(), request(), view, interrupts, SECOND).outcome.ok
    assert len(closed) == 1
    kernel = FakeKernel(refuse={"run-new": RefusedError("not today")})
    with pytest.raises(RefusedError):
        measure(kernel, request(), view, interrupts, SECOND)
    assert len(closed) == 2


def test_a_run_starts_at_its_time() -> None:
    kernel = FakeKernel()
    asked = dataclasses.replace(request(), start_at=StartAt(Base.MONOTONIC, 2000 * SECOND))
    measure(kernel, asked, LineProgress(quiet=True), job.Interrupts(), None)
    assert kernel.start_ns == 2000 * SECOND


def test_a_launched_run_is_neither_followed_nor_given_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(detached, "DIRECTORY", tmp_path)
    kernel = FakeKernel()
    plan = launch(kernel, request(), LineProgress(quiet=True))
    assert kernel.calls[-2:] == ["run-start", "run-get"]
    assert not kernel.deleted and detached.load(kernel.run_get(7)) == plan


def test_a_launched_run_whose_plan_cannot_be_kept_is_given_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(detached, "DIRECTORY", tmp_path / "file" / "state")
    kernel = FakeKernel()
    with pytest.raises(SpekError, match="cannot create"):
        launch(kernel, request(), LineProgress(quiet=True))
    assert kernel.deleted and kernel.calls[-3:] == ["run-stop", "run-get", "run-delete"]
