# SPDX-License-Identifier: GPL-2.0-or-later
"""The surroundings of a run: its request and its interruption."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from spekctl.block.device import Device
from spekctl.block.zones import Zone
from spekctl.errors import ExitCode
from spekctl.log.place import Place
from spekctl.power.course import BESIDE_LOADS, Pace
from spekctl.run.rights import OWN, Rights
from spekctl.run.start import StartAt
from spekctl.workload.config import RunConfig
from spekctl.workload.endings import Steady, Threshold
from spekctl.workload.model import WorkloadFile
from spekctl.workload.options import Options

if TYPE_CHECKING:
    from spekctl.run.replay import Replay


@dataclass(frozen=True, slots=True)
class Request:
    """The request of `spekctl run`."""

    workload: WorkloadFile
    config: RunConfig
    devices: Sequence[Device]
    write_allowed: bool = False
    destroy: Sequence[str] = ()
    command: Sequence[str] = ()
    remarks: Sequence[str] = ()
    log: Place | None = None  # together with config.log_records
    slices: bool = False  # the result has response times over time
    service_slices: bool = False  # its slices have service times as well
    power_states: Pace | None = BESIDE_LOADS  # of looks at the disks; None: no looks
    start_at: StartAt | None = None  # None: at once
    replay: Replay | None = None
    until: Steady | None = None
    stop_when: Sequence[Threshold] = ()
    verify_state: Path | None = None  # where to keep what was written; config.data is stamped
    state_on: Device | None = None  # for the log of what was acknowledged; as verify_state
    rights: Rights = OWN
    options: Options | None = None  # that it was built of
    # The configuration for the zones of its devices, if its counts depend on these.
    on_zones: Callable[[Sequence[Sequence[Zone]]], RunConfig] | None = None

    @property
    def length_ns(self) -> int:
        """Expected time without draining; 0: it ends by its amount, the time is not known."""
        return self.config.ramp_ns + self.config.time_ns

    def start_ns(self) -> int:
        """CLOCK_MONOTONIC of the start, by the current clocks; 0: at once."""
        return self.start_at.mono_ns() if self.start_at is not None else 0


@dataclass(slots=True)
class Interrupts:
    """SIGINT and SIGTERM, polled between two steps. @again: what a second one is good for."""

    count: int = 0
    signum: int = 0
    again: str = "press Ctrl-C again to exit without waiting for outstanding I/O"
    _before: dict[int, object] = field(default_factory=dict)

    def __enter__(self) -> Interrupts:
        for signum in (signal.SIGINT, signal.SIGTERM):
            self._before[signum] = signal.signal(signum, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for signum, handler in self._before.items():
            signal.signal(signum, handler)  # type: ignore[arg-type]

    def _note(self, signum: int, frame: FrameType | None) -> None:
        self.interrupt(signum)

    def interrupt(self, signum: int) -> None:
        """As this signal; for threads, which have no signals of their own."""
        self.count += 1
        self.signum = self.signum or signum

    @property
    def exit_code(self) -> ExitCode:
        """The exit code for the signal that interrupted the program."""
        return ExitCode.TERMINATED if self.signum == signal.SIGTERM else ExitCode.INTERRUPTED
