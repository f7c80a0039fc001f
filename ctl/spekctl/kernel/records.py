# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel side answers, as plain immutable records. Units are in the names."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum


class RunState(IntEnum):
    """State of a run; the values of the contract (checked against it by a test)."""

    READY = 0
    RUNNING = 1
    DRAINING = 2
    DONE = 3
    OPENING = 4
    ARMED = 5
    FAILED = 6
    CLOSING = 7
    GONE = 8


class Phase(IntEnum):
    """Phase of a run."""

    RAMP = 0
    MEASURE = 1
    DRAIN = 2


class Reason(IntEnum):
    """Why a run ended."""

    NONE = 0
    COMPLETED = 1
    STOPPED = 2
    OWNER_GONE = 3
    DEVICE_GONE = 4
    ERRORS = 5
    SUSPENDED = 6
    LIMITS = 7


class Direction(IntEnum):
    """What an I/O does."""

    READ = 0
    WRITE = 1


class Metric(IntEnum):
    """Which time a histogram counts."""

    RESPONSE = 0
    SERVICE = 1
    SLIP = 2
    RESPONSE_AGE = 3
    SERVICE_AGE = 4


def word(member: IntEnum) -> str:
    """How an enum's member is written for people and in JSON: ``device-gone``."""
    return member.name.lower().replace("_", "-")


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """A worker thread."""

    cpu: int = 0
    pid: int = 0
    cpu_ns: int = 0
    voluntary: int = 0
    involuntary: int = 0
    outstanding: int = 0
    log_written: int = 0
    log_lost: int = 0


@dataclass(frozen=True, slots=True)
class TargetInfo:
    """A claimed device, and what was sent to it in all phases."""

    major: int = 0
    minor: int = 0
    name: str = ""
    diskseq: int = 0
    bytes: int = 0
    logical_block: int = 0
    max_io: int = 0
    backend: str = ""
    backend_reason: str = ""
    polled: int = 0
    reads: int = 0
    read_bytes: int = 0
    writes: int = 0
    write_bytes: int = 0
    refused: int = 0
    map_start: int = 0
    map_bytes: int = 0
    tag_waits: int = 0


@dataclass(frozen=True, slots=True)
class SenseInfo:
    """What SCSI devices said of failed requests; @count: of how many."""

    key: int
    asc: int
    ascq: int
    deferred: int = 0
    count: int = 0


@dataclass(frozen=True, slots=True)
class VerifyInfo:
    """What a run with stamped data has checked, in logical blocks."""

    checked: int = 0
    never_written: int = 0
    uncertain: int = 0
    waits: int = 0
    mismatches: int = 0
    corrupt: int = 0
    misdirected: int = 0
    stale: int = 0
    torn: int = 0
    unwritten: int = 0
    unstamped: int = 0
    foreign: int = 0


@dataclass(frozen=True, slots=True)
class MismatchInfo:
    """A wrong block."""

    kind: str
    target: int
    offset: int
    bytes: int
    at_ns: int
    expected_generation: int
    stamped: int = 0
    intact: int = 0
    zeroes: int = 0
    first: int = 0
    bits: int = 0
    found_seed: int = 0
    found_id: int = 0
    found_generation: int = 0
    found_target: int = 0
    found_offset: int = 0
    found_worker: int = 0
    found_stream: int = 0


@dataclass(frozen=True, slots=True)
class MapPart:
    """States of consecutive grains of a target, 8 bytes each in the machine's order."""

    target: int
    first: int
    states: bytes


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run as the kernel knows it."""

    id: int
    name: str = ""
    state: RunState = RunState.READY
    phase: Phase = Phase.RAMP
    reason: Reason = Reason.NONE
    seed: int = 0
    detached: int = 0
    write: int = 0
    backend: str = "auto"
    polled: int = 0
    data: str = "zero"
    max_outstanding: int = 0
    batch: int = 0
    spin_ns: int = 0
    interval_ns: int = 0
    ramp_ns: int = 0
    ramp_count: int = 0
    time_ns: int = 0
    count: int = 0
    max_errors: int = 0
    started_ns: int = 0
    measure_ns: int = 0
    drain_ns: int = 0
    ended_ns: int = 0
    start_raw_ns: int = 0
    start_real_ns: int = 0
    end_raw_ns: int = 0
    end_real_ns: int = 0
    now_ns: int = 0
    outstanding: int = 0
    backlog: int = 0
    oldest_ns: int = 0
    intervals: int = 0
    errors: int = 0
    first_error: str = ""
    failure: str = ""
    failure_errno: int = 0
    failure_part: str = ""
    failure_index: int = 0
    first_sense: SenseInfo | None = None
    senses: tuple[SenseInfo, ...] = ()
    sense_others: int = 0
    module_version: str = ""
    log_records: int = 0
    log_dir: str = ""
    stamp_id: int = 0
    verify_from: int = 0
    grain_bytes: int = 0
    verify: VerifyInfo | None = None
    workers: tuple[WorkerInfo, ...] = ()
    targets: tuple[TargetInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class Histogram:
    """Times in the buckets of kmod/core/hist.h; see stats.py for what a bucket means."""

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
class CellRow:
    """One direction in one interval."""

    direction: Direction
    ios: int = 0
    bytes: int = 0
    errors: int = 0
    response_sum_ns: int = 0
    response_max_ns: int = 0
    response_p50_ns: int = 0
    response_p90_ns: int = 0
    response_p99_ns: int = 0
    response_p999_ns: int = 0
    service_sum_ns: int = 0
    service_max_ns: int = 0
    service_p50_ns: int = 0
    service_p99_ns: int = 0


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
    read: CellRow
    write: CellRow
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
