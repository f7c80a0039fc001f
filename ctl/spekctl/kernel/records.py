# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's answers as plain immutable records. Units are in the names.

Most follow from the contract as they are; those below are put together from several messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from spekctl.kernel.gen.spek_prober_records import FeedState, ProbeState
from spekctl.kernel.gen.spek_records import (
    ArrivalEndInfo,
    Backend,
    ClaimInfo,
    ClaimState,
    ConfigPart,
    Data,
    Direction,
    MapInfo,
    Metric,
    Mismatch,
    MismatchInfo,
    OpRecord,
    Phase,
    Reason,
    ReplayInfo,
    RunInfo,
    RunState,
    SenseInfo,
    TargetInfo,
    VerifyInfo,
    WorkerInfo,
)
from spekctl.workload.config import Resolved

__all__ = [
    "ArrivalEndInfo",
    "Backend",
    "Cells",
    "ClaimInfo",
    "ClaimState",
    "ConfigPart",
    "Data",
    "Direction",
    "FeedState",
    "Histogram",
    "IntervalCell",
    "IntervalRow",
    "MapInfo",
    "Metric",
    "Mismatch",
    "MismatchInfo",
    "OpRecord",
    "Phase",
    "ProbeCounters",
    "ProbeState",
    "Reason",
    "ReplayInfo",
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


class IntervalCell(Resolved, frozen=True):
    """One direction in one interval. Percentiles are null in the sum of several hosts: they cannot
    be added up."""

    ios: int
    bytes: int
    errors: int
    response_sum_ns: int
    response_max_ns: int
    response_p50_ns: int | None
    response_p90_ns: int | None
    response_p99_ns: int | None
    response_p999_ns: int | None
    service_sum_ns: int
    service_max_ns: int
    service_p50_ns: int | None
    service_p99_ns: int | None


# Coverage of an interval that has everything that the workers did in its time.
COVERS_ALL = 1_000_000


class IntervalRow(Resolved, frozen=True):
    """A report interval that has ended; results add its power."""

    seq: int
    phase: Phase
    start_ns: int
    end_ns: int
    outstanding: Annotated[int, Meta(description="At its end.")]
    backlog: Annotated[int, Meta(description="Arrivals due and not issued, at its end.")]
    worker_cpu_ns: Annotated[
        int | None,
        Meta(
            description="CPU time of the workers; null: the interval is shorter than 10 ticks of"
            " the kernel, which accounts for it at ticks."
        ),
    ]
    worker_switches: Annotated[int, Meta(description="Context switches of the workers.")]
    read: IntervalCell
    write: IntervalCell
    streams: Annotated[
        list[tuple[int, int, int, int]],
        Meta(description="Per stream: reads, bytes read, writes, bytes written."),
    ]
    coverage_ppm: Annotated[
        int,
        Meta(
            description="Share of the workers' time whose I/Os are in the interval, in millionths."
            " Below 1000000, a worker was blocked for long; what it counted makes another interval"
            " with these times."
        ),
    ] = COVERS_ALL


# Share of the report interval below which the rate of a remainder is noise.
SLIVER = 0.1
# Share of the workers' time below which the rate of an interval is not that of all workers.
_COVERED_PPM = 990_000


def is_covered(row: IntervalRow) -> bool:
    """Whether an interval has the I/Os of all workers."""
    return row.coverage_ppm >= _COVERED_PPM


def whole_ns(rows: Sequence[IntervalRow], interval_ns: int) -> int:
    """Length of a whole interval of a run, which may be shorter than its report interval."""
    longest = max((row.end_ns - row.start_ns for row in rows), default=1)
    return max(1, min(longest, interval_ns or longest))


def row_tells_rate(row: IntervalRow, whole_ns: float) -> bool:
    """As tells_rate(), of an interval that has the I/Os of all workers."""
    return is_covered(row) and tells_rate(row.phase, row.end_ns - row.start_ns, whole_ns)


def tells_rate(phase: str, length_ns: float, whole_ns: float) -> bool:
    """Whether I/Os per second of an interval say how fast the device was. @whole_ns: length of the
    report interval.

    In the drain nothing is issued: what was outstanding takes as long as the slowest of it, so the
    quotient is below the rate of any device whose response times vary. Where a phase is no multiple
    of the interval, a remainder is left; in one of a few ms it is chance whether an I/O completes.
    """
    return phase != Phase.DRAIN and length_ns >= SLIVER * whole_ns


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


Cells = Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class ProbeCounters:
    """The probe and its latest row.

    @tables: counters and levels by table (cpu, task, memory, net, disk, power), entity (CPU, thread
    id, total, interface, disk, FEED/RAIL) and column; times in ns, energy in nJ modulo 2^64; None:
    not available. Without a row there is no table.
    @levels: by table the columns that are no counters
    """

    probe: int
    owner: str
    state: ProbeState
    rows: int
    missed: int
    tables: Mapping[str, Mapping[str, Cells]] = field(default_factory=dict)
    levels: Mapping[str, frozenset[str]] = field(default_factory=dict)
