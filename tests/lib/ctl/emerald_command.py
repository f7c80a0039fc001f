# SPDX-License-Identifier: GPL-2.0
"""spekctl energy emerald on a disk that serves more the deeper its queue is, with short phases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.energy_command import with_power, without_power
from lib.fakes.machine import use_fakes
from lib.fakes.power import FakePower, figures
from lib.fakes.queue_kernel import QueueKernel

from spekctl.campaigns.emerald import report
from spekctl.documents.power import PowerFigures
from spekctl.documents.result import Result
from spekctl.workload.config import RunConfig

SHORT = (
    *("--conditioning", "1s", "--ramp", "1s", "--time", "2s", "--search-time", "2s"),
    *("--idle-time", "300ms", "--depths", "1,4,16", "--prefill", "100", "--progress", "none"),
)
RUN = ("energy", "emerald", "--device", "/dev/fake0", "--write", *SHORT)


@dataclass
class LoopKernel(QueueKernel):
    """100 I/Os per second for each that is outstanding, up to a capacity."""

    slow_s: Callable[[RunConfig], float] = lambda config: 0.0

    def __post_init__(self) -> None:
        self.disturb = lambda config, mean_s: self._mean_s(config)

    def _mean_s(self, config: RunConfig) -> float:
        depth = config.arrivals[0].depth
        return (depth / self._arrivals if depth else 0.010) + self.slow_s(config)

    @property
    def _arrivals(self) -> float:
        assert self.config is not None
        arrival = self.config.arrivals[0]
        if arrival.law != "closed":
            return arrival.rate_milli / 1000
        return min(100.0 * arrival.depth, self.capacity)


def loop_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> LoopKernel:
    fake = LoopKernel(capacity=400.0)
    use_fakes(monkeypatch, fake, tmp_path)
    without_power(monkeypatch)
    return fake


def loop_power(kernel: LoopKernel, monkeypatch: pytest.MonkeyPatch) -> FakePower:
    fake = with_power(FakePower(idle_w=5.0), monkeypatch)

    def of_result(result: Result) -> PowerFigures:
        depth = result.config.arrivals[0].depth
        return figures(5.0 + 0.01 * result.totals.all.iops + 0.1 * depth, 2.0)

    monkeypatch.setattr(report, "power_of", of_result)
    return fake


def loads_of(kernel: LoopKernel) -> list[tuple[str, int]]:
    return [(config.name, config.arrivals[0].depth) for config in kernel.runs_seen]


def values_of(report: dict[str, Any]) -> dict[str, str | None]:
    return {
        phase["metric"]: phase["value"] and phase["value"]["text"]
        for phase in report["phases"]
        if phase["metric"]
    }
