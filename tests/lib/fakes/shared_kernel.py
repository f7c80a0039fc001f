# SPDX-License-Identifier: GPL-2.0
"""A kernel side for unit tests of runs side by side."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from lib.fakes.kernel import FakeKernel

from spekctl.errors import error_from_errno
from spekctl.kernel.client import Patience, endless
from spekctl.kernel.records import IntervalRow, RunInfo, RunState, StatsCell
from spekctl.workload.config import RunConfig


@dataclass
class SharedKernel(FakeKernel):
    """A kernel with any number of runs, of which each is a FakeKernel; it claims a device once."""

    runs_by_number: dict[int, FakeKernel] = field(default_factory=dict)
    # Called with each new run.
    prepare: Callable[[int, FakeKernel], None] = lambda number, fake: None

    def run_new(
        self, config: RunConfig, patience: Patience = endless, claim: int | None = None
    ) -> int:
        self._called("run-new")
        if claim is not None:
            self._check_claim(config, claim)
        for fake in self.held().values():
            assert fake.config is not None
            if set(fake.config.targets) & set(config.targets):
                raise error_from_errno(errno.EBUSY, "The device is in use.", "run-new")
        number = 7 + len(self.runs_by_number)
        fake = FakeKernel(calls=self.calls)
        self.prepare(number, fake)
        fake.run_new(config)
        self.runs_by_number[number] = fake
        return number

    def held(self) -> dict[int, FakeKernel]:
        """Those that hold their devices."""
        return {number: fake for number, fake in self.runs_by_number.items() if not fake.deleted}

    def run_get(self, run: int) -> RunInfo:
        return replace(self.runs_by_number[run].run_get(7), id=run)

    def runs(self) -> list[RunInfo]:
        return [self.run_get(number) for number in self.held()]

    def run_start(self, run: int, start_ns: int = 0) -> None:
        if "run-start" in self.refuse:
            self._called("run-start")
        self.runs_by_number[run].run_start(7, start_ns)

    def run_stop(self, run: int) -> None:
        self.runs_by_number[run].run_stop(7)

    def run_delete(self, run: int, patience: Patience = endless) -> None:
        self.runs_by_number[run].run_delete(7)

    def intervals(self, run: int, since: int) -> list[IntervalRow]:
        return self.runs_by_number[run].intervals(7, since)

    def stats(self, run: int) -> list[StatsCell]:
        return self.runs_by_number[run].stats(7)

    def wait(self, timeout_s: float) -> None:
        for fake in self.held().values():
            if fake.state is not RunState.DONE:
                fake.wait(timeout_s)
