# SPDX-License-Identifier: GPL-2.0-or-later
"""Follows runs, look by look, until they end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spekctl.kernel.client import Kernel
from spekctl.kernel.records import IntervalRow, Phase, RunInfo, RunState
from spekctl.run.collector import Collector, Look
from spekctl.run.ending import POLL_S
from spekctl.run.job import Interrupts
from spekctl.run.progress import Progress, clock_of, figures_of

POLL_MIN_S = 0.25


class Followed(Protocol):
    """A run that is followed."""

    def step(self) -> bool:
        """Look at the run; True if it is over, or no longer followed."""

    def pause_s(self) -> float:
        """Time until the next look."""

    def wait(self, timeout_s: float) -> None:
        """Wait until a run of this kernel changes."""


def follow(runs: Sequence[Followed]) -> None:
    """Step runs of one kernel in turn until all are over."""
    left = list(runs)
    while left := [run for run in left if not run.step()]:
        left[0].wait(min(run.pause_s() for run in left))


class Follower:
    """The looks at a run.

    An owned run is stopped by its collectors and by the first Ctrl-C; the second one stops waiting
    for the devices, and the kernel ends the run by itself. A run that is only watched is left alone
    by both.
    """

    def __init__(
        self,
        kernel: Kernel,
        run: int,
        progress: Progress,
        interrupts: Interrupts,
        collectors: Sequence[Collector] = (),
        *,
        owned: bool,
    ) -> None:
        self.rows: list[IntervalRow] = []
        self._kernel = kernel
        self._run = run
        self._progress = progress
        self._interrupts = interrupts
        self._collectors = collectors
        self._owned = owned
        self._info: RunInfo | None = None
        self._measured = 0
        self._stopping = False
        self._told: dict[Collector, str] = {}

    @property
    def info(self) -> RunInfo:
        """The run at the last look."""
        assert self._info is not None
        return self._info

    def step(self) -> bool:
        """Look at the run; True if it is over, or no longer followed."""
        self._info = info = self._kernel.run_get(self._run)
        due = info.intervals > self._next_seq()
        # Before the rows: see Slices.take().
        needed = due and any(collector.needs_cells for collector in self._collectors)
        cells = self._kernel.stats(self._run) if needed else []
        news = self._new_rows(info) if due else []
        self._measured += sum(
            row.read.ios + row.write.ios for row in news if row.phase is Phase.MEASURE
        )
        look = Look(info, self.rows, news, cells)
        for collector in self._collectors:
            collector.take(look)
        self._show(look)
        return self._is_over(info)

    def pause_s(self) -> float:
        """Until the next look: about once in an interval. The end of the run wakes us up anyway,
        and every look costs CPU time that the run could be using."""
        interval_ns = self.info.interval_ns
        return max(POLL_MIN_S, min(POLL_S, interval_ns / 1e9)) if interval_ns else POLL_S

    def wait(self, timeout_s: float) -> None:
        """Wait until a run of this kernel changes."""
        self._kernel.wait(timeout_s)

    def _show(self, look: Look) -> None:
        info = look.info
        figures = [
            figures_of(
                row,
                info.started_ns,
                len(info.workers),
                next(filter(None, (each.machine(row) for each in self._collectors)), None),
                self._watts(row),
                min(info.interval_ns, info.time_ns or info.interval_ns),
            )
            for row in look.news
        ]
        self._progress.show(clock_of(info, self._measured), figures)
        for collector in self._collectors:
            trouble = collector.trouble()
            if trouble and trouble != self._told.get(collector):
                self._told[collector] = trouble
                self._progress.note(trouble)

    def _watts(self, row: IntervalRow) -> float | None:
        for collector in self._collectors:
            watts = collector.watts(row)
            if watts is not None:
                return watts
        return None

    def _is_over(self, info: RunInfo) -> bool:
        """Stop the run if it has to end."""
        count = self._interrupts.count
        if info.state is RunState.DONE or (count and not self._owned):
            return True
        reasons = (collector.stop_reason() for collector in self._collectors)
        reason = next(filter(None, reasons), "")
        if count and not self._stopping:
            self._stop("; ".join(filter(None, ("stopping", self._interrupts.again))))
        elif reason and not self._stopping:
            self._stop(f"stopping: {reason}")
        elif count > 1:
            self._progress.note(
                f"leaving; {info.outstanding} I/Os are still outstanding; the kernel ends the"
                " run when they complete"
            )
            return True
        return False

    def _stop(self, text: str) -> None:
        self._stopping = True
        self._progress.note(text)
        self._kernel.run_stop(self._run)

    def _new_rows(self, info: RunInfo) -> list[IntervalRow]:
        """The intervals closed since the last look."""
        since = self._next_seq()
        news = [row for row in self._kernel.intervals(info.id, since) if row.seq >= since]
        self.rows += news
        return news

    def _next_seq(self) -> int:
        return self.rows[-1].seq + 1 if self.rows else 0
