# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress of a run: the figures of each interval, and the elapsed and remaining time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from spekctl.kernel.records import (
    IntervalCell,
    IntervalRow,
    Phase,
    RunInfo,
    RunState,
    row_tells_rate,
)


@dataclass(frozen=True, slots=True)
class DirectionFigures:
    """One direction in one interval."""

    ios: int
    iops: float
    mib_per_s: float
    p50_ns: int
    p99_ns: int
    max_ns: int


@dataclass(frozen=True, slots=True)
class MachineFigures:
    """The whole machine in one interval, from the prober; shares of all CPUs."""

    user: float
    system: float
    irq: float
    idle: float
    switches_per_io: float | None
    interrupts_per_io: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one interval."""

    at_s: float
    phase: Phase
    read: DirectionFigures
    write: DirectionFigures
    outstanding: int
    backlog: int
    errors: int
    worker_cpu: float | None
    worker_switches_per_io: float | None
    machine: MachineFigures | None
    watts: float | None = None
    streams: tuple[float, ...] = ()  # IOPS of each, both directions
    rated: bool = True  # its rates say how fast the device was

    @property
    def iops(self) -> float:
        """Both directions."""
        return self.read.iops + self.write.iops

    @property
    def mib_per_s(self) -> float:
        """Both directions."""
        return self.read.mib_per_s + self.write.mib_per_s


@dataclass(frozen=True, slots=True)
class Clock:
    """Progress of a run."""

    phase: Phase
    state: RunState
    elapsed_s: float
    left_s: float | None
    share: float | None
    starts_in_s: float | None = None  # of an armed run


def figures_of(
    row: IntervalRow,
    started_ns: int,
    workers: int,
    machine: MachineFigures | None = None,
    watts: float | None = None,
    interval_ns: int = 0,
) -> Figures:
    """The figures of a closed interval. @interval_ns: length of a whole one."""
    seconds = max(row.end_ns - row.start_ns, 1) / 1e9
    ios = row.read.ios + row.write.ios
    return Figures(
        at_s=(row.end_ns - started_ns) / 1e9,
        phase=row.phase,
        read=_direction(row.read, seconds),
        write=_direction(row.write, seconds),
        outstanding=row.outstanding,
        backlog=row.backlog,
        errors=row.read.errors + row.write.errors,
        worker_cpu=row.worker_cpu_ns / 1e9 / seconds / max(workers, 1)
        if row.worker_cpu_ns is not None
        else None,
        worker_switches_per_io=row.worker_switches / ios if ios else None,
        machine=machine,
        watts=watts,
        streams=tuple((reads + writes) / seconds for reads, _, writes, _ in row.streams),
        rated=row_tells_rate(row, interval_ns),
    )


def _direction(cell: IntervalCell, seconds: float) -> DirectionFigures:
    return DirectionFigures(
        ios=cell.ios,
        iops=cell.ios / seconds,
        mib_per_s=cell.bytes / seconds / (1 << 20),
        p50_ns=cell.response_p50_ns or 0,
        p99_ns=cell.response_p99_ns or 0,
        max_ns=cell.response_max_ns,
    )


def clock_of(info: RunInfo, measured_ios: int = 0) -> Clock:
    """Progress of the run towards its end by time or by completed I/Os, the nearer one."""
    now = info.ended_ns or info.now_ns
    if info.state is RunState.ARMED:
        starts_in_s = max(0, info.started_ns - now) / 1e9
        return Clock(info.phase, info.state, 0.0, None, 0.0, starts_in_s)
    elapsed_s = max(0, now - info.started_ns) / 1e9 if info.started_ns else 0.0
    left_s: float | None = None
    share: float | None = None
    if info.state in (RunState.DRAINING, RunState.DONE):
        left_s, share = 0.0, 1.0
    else:
        if info.time_ns and info.measure_ns:
            done_s, total_s = (now - info.measure_ns) / 1e9, info.time_ns / 1e9
            left_s = max(0.0, total_s - done_s)
        elif info.time_ns and not info.ramp_count:
            left_s = max(0.0, (info.ramp_ns + info.time_ns) / 1e9 - elapsed_s)
        if left_s is not None:
            share = elapsed_s / (elapsed_s + left_s) if elapsed_s + left_s else 0.0
        if info.count and info.measure_ns:
            counted = min(1.0, measured_ios / info.count)
            spent_s = (now - info.measure_ns) / 1e9
            by_count_s = spent_s * (1 - counted) / counted if counted else None
            if left_s is None or (by_count_s is not None and by_count_s < left_s):
                left_s, share = by_count_s, counted
    return Clock(info.phase, info.state, elapsed_s, left_s, share)


class Progress(Protocol):
    """Shows the progress of a run."""

    def note(self, text: str) -> None:
        """Show a sentence."""

    def show(self, clock: Clock, news: list[Figures]) -> None:
        """Called several times a second; @news are intervals that were closed since."""

    def close(self) -> None:
        """The run is over."""
