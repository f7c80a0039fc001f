# SPDX-License-Identifier: GPL-2.0-or-later
"""What is collected beside the load of a run: the prober, a log, slices and others.

A collector is opened under the claim, before the run starts, and sees every look at the run. After
the run it fills its own part of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from spekctl.documents.device import TargetFacts
from spekctl.documents.disk_states import DiskStates
from spekctl.documents.nvme import NvmeDrive
from spekctl.documents.power import Metered
from spekctl.documents.result import Plan, Result
from spekctl.documents.result_parts import (
    EndingResult,
    LogResult,
    ProberResult,
    ReplayResult,
    Slice,
)
from spekctl.documents.verification import VerifyResult
from spekctl.kernel.client import Kernel
from spekctl.kernel.records import IntervalRow, RunInfo, StatsCell
from spekctl.run.job import Interrupts, Request
from spekctl.run.progress import MachineFigures, Progress


@dataclass(frozen=True, slots=True)
class Claimed:
    """A run that holds its devices, READY."""

    kernel: Kernel
    info: RunInfo
    request: Request
    facts: Sequence[TargetFacts]
    progress: Progress
    interrupts: Interrupts


@dataclass(frozen=True, slots=True)
class Look:
    """A look at a run."""

    info: RunInfo
    rows: Sequence[IntervalRow]  # all intervals so far
    news: Sequence[IntervalRow]  # those closed since the last look
    # The sums, read before the rows, if an interval was closed and a collector needs them.
    cells: Sequence[StatsCell] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """A run after its end, or when the wait for that was given up."""

    plan: Plan
    info: RunInfo
    rows: Sequence[IntervalRow]
    cells: Sequence[StatsCell]


@dataclass(slots=True)
class Sections:
    """The parts of a result that collectors fill."""

    prober: ProberResult | None = None
    metered: Metered | None = None  # None: no prober
    log: LogResult | None = None
    verify: VerifyResult | None = None
    replay: ReplayResult | None = None
    ending: EndingResult | None = None
    slices: list[Slice] | None = None
    power_states: list[DiskStates] | None = None
    nvme: list[NvmeDrive] | None = None
    remarks: list[str] = field(default_factory=list)


class Collector:
    """By default it collects nothing."""

    needs_cells = False  # Look.cells

    def arm(self, claimed: Claimed) -> str:
        """Open everything before the start; what is missing, as a remark in the result. A SpekError
        calls the run off."""
        return ""

    def take(self, look: Look) -> None:
        """Called at every look, the last one included."""

    def machine(self, row: IntervalRow) -> MachineFigures | None:
        """The machine in one of the intervals just taken."""
        return None

    def watts(self, row: IntervalRow) -> float | None:
        """Power in one of the intervals just taken, as far as it is known."""
        return None

    def trouble(self) -> str:
        """Why collecting ended before the run, as a sentence; empty if it did not."""
        return ""

    def stop_reason(self) -> str:
        """Why the run has to end now, as a sentence; empty if it may continue."""
        return ""

    def ended(self) -> None:
        """The run is over; nothing has been read since the last look."""

    def conclude(self, ended: Ended, sections: Sections) -> None:
        """End collecting, and fill the section of the result."""

    def deliver(self, result: Result) -> None:
        """The result is complete, and the run still in the kernel."""

    def close(self) -> None:
        """Release everything, also after a failure; a second call does nothing."""
