# SPDX-License-Identifier: GPL-2.0-or-later
# generated from kmod/load/uapi/spek.yaml, run `make gen`
"""Netlink family spek: enums as words, answers as records."""

from collections.abc import Iterable
from dataclasses import dataclass
from struct import iter_unpack, pack
from typing import NamedTuple

from spekctl.kernel.coded import Coded

# Some records have a field called bytes.
Binary = bytes


class RunState(Coded):
    """State of a run."""

    READY = "ready"
    RUNNING = "running"
    DRAINING = "draining"
    DONE = "done"
    OPENING = "opening"
    ARMED = "armed"
    FAILED = "failed"
    CLOSING = "closing"
    GONE = "gone"


class Phase(Coded):
    """Phase of a run; every I/O is counted in the phase in which it completed."""

    RAMP = "ramp"
    MEASURE = "measure"
    DRAIN = "drain"


class ConfigPart(Coded):
    """Part of a configuration that a refusal is about."""

    RUN = "run"
    TARGET = "target"
    WORKER = "worker"
    STREAM = "stream"
    ASU = "asu"
    ARRIVAL = "arrival"
    CLAIM = "claim"


class Reason(Coded):
    """Why a run ended."""

    NONE = "none"
    COMPLETED = "completed"
    STOPPED = "stopped"
    OWNER_GONE = "owner-gone"
    DEVICE_GONE = "device-gone"
    ERRORS = "errors"
    SUSPENDED = "suspended"
    LIMITS = "limits"
    FEEDER_GONE = "feeder-gone"
    SHUTDOWN = "shutdown"
    CPU_OFFLINE = "cpu-offline"


class Backend(Coded):
    """How I/O reaches the device."""

    AUTO = "auto"
    BIO = "bio"
    MQ = "mq"
    SCSI = "scsi"


class Law(Coded):
    """Arrival law."""

    CLOSED = "closed"
    POISSON = "poisson"
    CONSTANT = "constant"
    BURST = "burst"
    TRACE = "trace"


class Pattern(Coded):
    """Address pattern of a stream."""

    UNIFORM = "uniform"
    SEQUENTIAL = "sequential"
    STRIDED = "strided"
    RUNS = "runs"
    WALK = "walk"
    HOTBAND = "hotband"
    ONCE = "once"
    BACKWARD = "backward"
    TABLE = "table"
    TRACE = "trace"
    WRITE_POINTER = "write-pointer"


class Operation(Coded):
    """Operations of a stream."""

    TRANSFER = "transfer"
    FLUSH = "flush"
    DISCARD = "discard"
    WRITE_ZEROES = "write-zeroes"
    ZONE_APPEND = "zone-append"
    ZONE_RESET = "zone-reset"
    ZONE_FINISH = "zone-finish"
    ZONE_OPEN = "zone-open"
    ZONE_CLOSE = "zone-close"


class Priority(Coded):
    """Class of I/O priority, as of ioprio_set(2)."""

    NONE = "none"
    RT = "rt"
    BE = "be"
    IDLE = "idle"


class WriteHint(Coded):
    """Expected lifetime of the data that a stream writes, as of fcntl(2) F_SET_RW_HINT."""

    NOT_SET = "not-set"
    NONE = "none"
    SHORT = "short"
    MEDIUM = "medium"
    LONG = "long"
    EXTREME = "extreme"


class WalkStyle(Coded):
    """Variant of the hierarchical reuse random walk."""

    CLASSIC = "classic"
    FIXED = "fixed"


class ZoneOrder(Coded):
    """Order of the I/Os in a zone of a strided stream."""

    SEQUENTIAL = "sequential"
    RANDOM = "random"
    ONCE = "once"


class Data(Coded):
    """Data to write."""

    ZERO = "zero"
    RANDOM = "random"
    STAMPED = "stamped"


class Mismatch(Coded):
    """What is wrong with a block of a run with stamped data."""

    CORRUPT = "corrupt"
    MISDIRECTED = "misdirected"
    STALE = "stale"
    TORN = "torn"
    UNWRITTEN = "unwritten"
    UNSTAMPED = "unstamped"
    FOREIGN = "foreign"


class Direction(Coded):
    """Direction."""

    READ = "read"
    WRITE = "write"


class Metric(Coded):
    """What a histogram counts."""

    RESPONSE = "response"
    SERVICE = "service"
    SLIP = "slip"
    RESPONSE_AGE = "response-age"
    SERVICE_AGE = "service-age"


class ClaimState(Coded):
    """State of a claim."""

    READY = "ready"
    OPENING = "opening"
    FAILED = "failed"
    CLOSING = "closing"
    GONE = "gone"


# One I/O in the log of a run, in the machine's byte order.
LOG_RECORD_BYTES = 48
LOG_RECORD_FORMAT = "=QQQQIIHHBBBB"
LOG_RECORD = (
    ("at_ns", "u8"),
    ("issue_ns", "u8"),
    ("done_ns", "u8"),
    ("addr", "u8"),
    ("bytes", "u4"),
    ("replica", "u4"),
    ("stream", "u2"),
    ("worker", "u2"),
    ("asu", "u1"),
    ("write", "u1"),
    ("phase", "u1"),
    ("error", "u1"),
)


class IntervalStream(NamedTuple):
    """What one stream did in a closed interval, in the machine's byte order."""

    reads: int
    read_bytes: int
    writes: int
    write_bytes: int

    @staticmethod
    def unpack(data: Binary) -> "list[IntervalStream]":
        """The records of an attribute."""
        return [IntervalStream(*row) for row in iter_unpack("=QQQQ", data)]


class OpRecord(NamedTuple):
    """One operation that a worker generates, in the machine's byte order."""

    at_ns: int
    addr: int
    bytes: int
    replica: int
    stream: int
    asu: int
    arrival: int
    write: int

    @staticmethod
    def unpack(data: Binary) -> "list[OpRecord]":
        """The records of an attribute."""
        return [OpRecord(*row) for row in iter_unpack("=QQIIHHHH", data)]


# A part of the range of a stream with a table, in the machine's byte order.
TABLE_PART_BYTES = 16
TABLE_PART_FORMAT = "=QQ"
TABLE_PART = (
    ("slots", "u8"),
    ("weight", "u8"),
)


# A point of a rate curve, in the machine's byte order.
RATE_POINT_BYTES = 16
RATE_POINT_FORMAT = "=QQ"
RATE_POINT = (
    ("at_ns", "u8"),
    ("rate_milli", "u8"),
)


class TraceRecord(NamedTuple):
    """One request of a trace, in the machine's byte order."""

    at_ns: int
    addr: int
    bytes: int
    asu: int
    op: int
    flags: int

    @staticmethod
    def pack(records: "Iterable[TraceRecord]") -> Binary:
        """The value of an attribute."""
        return b"".join(pack("=QQIHBB", *row) for row in records)


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """Worker of a run."""

    index: int = 0
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
    """Target of a run."""

    major: int = 0
    minor: int = 0
    name: str = ""
    diskseq: int = 0
    bytes: int = 0
    logical_block: int = 0
    max_io: int = 0
    backend: Backend = Backend.AUTO
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
    discards: int = 0
    discard_bytes: int = 0
    flushes: int = 0
    zone_appends: int = 0
    zone_resets: int = 0
    zone_finishes: int = 0
    zone_opens: int = 0
    zone_closes: int = 0
    zone_misplaced: int = 0
    opens: int = 0
    read_only: int = 0


@dataclass(frozen=True, slots=True)
class SenseInfo:
    """Attributes of the set sense in an answer."""

    key: int = 0
    asc: int = 0
    ascq: int = 0
    deferred: int = 0
    count: int = 0


@dataclass(frozen=True, slots=True)
class VerifyInfo:
    """Attributes of the set verify in an answer."""

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
    discarded: int = 0


@dataclass(frozen=True, slots=True)
class ReplayInfo:
    """Attributes of the set replay in an answer."""

    fed: int = 0
    issued: int = 0
    ended: int = 0
    underruns: int = 0
    underrun_ns: int = 0
    underrun_first_ns: int = 0
    underrun_last_ns: int = 0
    dry_ns: int = 0


@dataclass(frozen=True, slots=True)
class ArrivalEndInfo:
    """When an arrival process ended."""

    at_ns: int = 0


@dataclass(frozen=True, slots=True)
class RunInfo:
    """Attributes of the set run in an answer."""

    id: int = 0
    name: str = ""
    state: RunState = RunState.READY
    phase: Phase = Phase.RAMP
    reason: Reason = Reason.NONE
    seed: int = 0
    detached: int = 0
    write: int = 0
    backend: Backend = Backend.AUTO
    polled: int = 0
    data: Data = Data.ZERO
    max_outstanding: int = 0
    batch: int = 0
    spin_ns: int = 0
    interval_ns: int = 0
    ramp_ns: int = 0
    ramp_count: int = 0
    time_ns: int = 0
    count: int = 0
    max_errors: int = 0
    workers: tuple[WorkerInfo, ...] = ()
    targets: tuple[TargetInfo, ...] = ()
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
    module_version: str = ""
    log_records: int = 0
    log_dir: str = ""
    first_sense: SenseInfo | None = None
    senses: tuple[SenseInfo, ...] = ()
    sense_others: int = 0
    stamp_id: int = 0
    verify_from: int = 0
    grain_bytes: int = 0
    verify: VerifyInfo | None = None
    failure_errno: int = 0
    failure: str = ""
    failure_part: ConfigPart = ConfigPart.RUN
    failure_index: int = 0
    trace_records: int = 0
    replay: ReplayInfo | None = None
    claim: int = 0
    arrival_ends: tuple[ArrivalEndInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class MismatchInfo:
    """Attributes of the set mismatch in an answer."""

    run: int = 0
    kind: Mismatch = Mismatch.CORRUPT
    target: int = 0
    offset: int = 0
    bytes: int = 0
    at_ns: int = 0
    expected_generation: int = 0
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
    expected_zeroes: int = 0


@dataclass(frozen=True, slots=True)
class TraceInfo:
    """Attributes of the set trace in an answer."""

    accepted: int = 0
    room: int = 0


@dataclass(frozen=True, slots=True)
class MapInfo:
    """Attributes of the set map in an answer."""

    run: int = 0
    target: int = 0
    first: int = 0
    states: Binary = b""


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """Attributes of the set error in an answer."""

    status: int = 0
    count: int = 0


@dataclass(frozen=True, slots=True)
class StatsInfo:
    """Attributes of the set stats in an answer."""

    run: int = 0
    phase: Phase = Phase.RAMP
    stream: int = 0
    direction: Direction = Direction.READ
    ios: int = 0
    bytes: int = 0
    requests: int = 0
    errors: int = 0
    error: tuple[ErrorInfo, ...] = ()
    metric: Metric = Metric.RESPONSE
    sum_ns: int = 0
    min_ns: int = 0
    max_ns: int = 0
    hist_bits: int = 0
    hist_first: int = 0
    hist: Binary = b""
    sum_high: int = 0


@dataclass(frozen=True, slots=True)
class CellInfo:
    """Attributes of the set cell in an answer."""

    direction: Direction = Direction.READ
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
    response_sum_high: int = 0
    service_sum_high: int = 0


@dataclass(frozen=True, slots=True)
class IntervalInfo:
    """Attributes of the set interval in an answer."""

    run: int = 0
    seq: int = 0
    dropped: int = 0
    phase: Phase = Phase.RAMP
    start_ns: int = 0
    end_ns: int = 0
    outstanding: int = 0
    backlog: int = 0
    cpu_ns: int = 0
    switches: int = 0
    cells: tuple[CellInfo, ...] = ()
    streams: Binary = b""
    coverage_ppm: int = 0


@dataclass(frozen=True, slots=True)
class OpInfo:
    """Attributes of the set op in an answer."""

    run: int = 0
    worker: int = 0
    first: int = 0
    ops: Binary = b""


@dataclass(frozen=True, slots=True)
class ClaimInfo:
    """Claim on devices for several runs."""

    id: int = 0
    state: ClaimState = ClaimState.READY
    write: int = 0
    targets: tuple[TargetInfo, ...] = ()
    runs: int = 0
    failure_errno: int = 0
    failure: str = ""
    failure_index: int = 0
    owner_pid: int = 0
