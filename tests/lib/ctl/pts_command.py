# SPDX-License-Identifier: GPL-2.0
"""spekctl pts on a fake device that settles, with short rounds, and its report."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl.campaign_command import valid_report
from lib.ctl.command_line import Outcome, Spekctl
from lib.fakes.kernel import interval_cell
from lib.fakes.machine import use_fakes
from lib.fakes.queue_kernel import QueueKernel

from spekctl.documents import pts
from spekctl.kernel import traces
from spekctl.kernel.client import Patience, endless
from spekctl.kernel.records import IntervalRow, ReplayInfo
from spekctl.run import replay_request
from spekctl.workload.config import RunConfig

SETTLING = [400, 300, 200, 150, 120, 105, 100, 101, 99, 100]
SHORT = (
    *("--time", "1s", "--sizes", "8K,4K", "--reads", "100,0", "--throughput-sizes", "1M"),
    *("--latency-sizes", "4K", "--latency-reads", "100,0", "--saturation-time", "4s"),
    *("--progress", "none", "--folder", "t"),
)


class Feed:
    """Accepts every record of a purge."""

    def __init__(self) -> None:
        self.records: list[bytes] = []

    def feed(self, run: int, worker: int, records: bytes) -> int:
        self.records.append(records)
        return len(records) // 24

    def end(self, run: int, count: int) -> None:
        pass

    def close(self) -> None:
        pass


@dataclass
class Settling(QueueKernel):
    """Small random writes settle round by round; everything else is always the same."""

    series: list[int] = field(default_factory=lambda: list(SETTLING))
    rounds: int = 0
    feed: Feed = field(default_factory=Feed)

    def run_new(
        self, config: RunConfig, patience: Patience = endless, claim: int | None = None
    ) -> int:
        stream = config.streams[0]
        if config.count or stream.pattern == "trace":
            self.rounds = 0
        tracked = stream.read_ppm == 0 and stream.sizes[0].bytes == 4096 and not config.count
        level = self.series[min(self.rounds, len(self.series) - 1)] if tracked else 200
        self.rounds += tracked
        # In closed loop half of the capacity is used.
        self.capacity = 2.0 * level
        return super().run_new(config, patience, claim)

    def intervals(self, run: int, since: int) -> list[IntervalRow]:
        rows = super().intervals(run, since)
        assert self.config is not None
        if self.config.streams[0].read_ppm:
            return rows
        return [
            msgspec.structs.replace(
                row,
                read=interval_cell(),
                write=interval_cell(ios=row.read.ios, bytes=4096 * row.read.ios),
            )
            for row in rows
        ]


def settling_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Settling:
    fake = Settling()
    fake.replay = ReplayInfo(fed=1, issued=1, ended=1)
    use_fakes(monkeypatch, fake, tmp_path)
    monkeypatch.setattr(traces, "connect", lambda: fake.feed)
    monkeypatch.setattr(replay_request, "discards", lambda device: True)
    return fake


def call(spekctl: Spekctl, *more: str) -> Outcome:
    return spekctl("pts", "--device", "/dev/fake0", "--write", *SHORT, *more)


def report_of(folder: str = "t") -> dict[str, Any]:
    """The report; valid, and readable as what it is."""
    return valid_report(Path(folder, "report.json"), pts.SCHEMA_FILE, pts.load_report)
