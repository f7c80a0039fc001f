# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel side answers, as plain immutable records. Units are in the names.

Most follow from the contract as they are; those below are put together from several messages.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from spekctl.kernel.gen.spek_records import (
    Backend,
    CellInfo,
    ConfigPart,
    Data,
    Direction,
    MapInfo,
    Metric,
    Mismatch,
    MismatchInfo,
    Phase,
    Reason,
    RunInfo,
    RunState,
    SenseInfo,
    TargetInfo,
    VerifyInfo,
    WorkerInfo,
)

__all__ = [
    "Backend",
    "CellInfo",
    "ConfigPart",
    "Data",
    "Direction",
    "Histogram",
    "IntervalRow",
    "MapInfo",
    "Metric",
    "Mismatch",
    "MismatchInfo",
    "Operation",
    "Phase",
    "Reason",
    "RunInfo",
    "RunState",
    "SenseInfo",
    "StatsCell",
    "TargetInfo",
    "Use",
    "VerifyInfo",
    "WorkerInfo",
]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Times in the buckets of kmod/core/hist.h; see documents.histogram for what a bucket means."""

    bits: int
    counts: dict[int, int]
    sum_ns: int
    min_ns: int
    max_ns: int


@dataclass(frozen=True, slots=True)
class StatsCell:
    """Counters of one phase, stream and direction."""

    phase: Phase
    stream: int
    direction: Direction
    ios: int
    bytes: int
    requests: int
    errors: int
    errors_by_errno: dict[int, int] = field(default_factory=dict)
    histograms: dict[Metric, Histogram] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """A closed report interval."""

    seq: int
    phase: Phase
    start_ns: int
    end_ns: int
    outstanding: int
    backlog: int
    cpu_ns: int
    switches: int
    read: CellInfo
    write: CellInfo
    streams: tuple[tuple[int, int, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the generator (struct spek_op)."""

    at_ns: int
    addr: int
    bytes: int
    replica: int
    stream: int
    asu: int
    arrival: int
    write: int


@dataclass(frozen=True, slots=True)
class Use:
    """What a rail used in an interval; its times add up to the length of the interval."""

    energy_fj: int
    known_ns: int
    gap_ns: int
    lost_ns: int
    pending_ns: int
    samples: int
    min_uw: int
    max_uw: int
