# SPDX-License-Identifier: GPL-2.0-or-later
# generated from kmod/load/uapi/spek.yaml, run `make gen`
# mypy: disable-error-code="import-untyped, import-not-found, misc"
"""Netlink family spek: constants, enums and message classes for pyroute2."""

from enum import IntEnum
from typing import Any, ClassVar

from pyroute2.netlink import NLA_F_NESTED, genlmsg, nla

from spekctl.kernel.gen import spek_records as records

FAMILY = "spek"
VERSION = 1
GROUP_RUNS = "runs"
MAX_STREAMS = 64
MAX_SIZES = 64
MAX_ARRIVALS = 16
MAX_ASUS = 16
MAX_TARGETS = 16
MAX_WORKERS = 256
SECTOR = 512
MAX_NAME = 31
MAX_RUN_NAME = 63
MAX_DEPTH = 65536
MAX_BATCH = 256
MAX_IO_BYTES = 16777216
MAX_PARTS = 256
MAX_PARTS_IN_ALL = 4096
TABLE_WEIGHT = 1099511627776
MAX_POINTS = 256
MAX_POINTS_IN_ALL = 1024
MAX_RATE_MILLI = 1000000000000
MAX_WAIT_NS = 1000000000000000
MAX_TAIL_MILLI = 16000
MAX_FILL = 64
MAX_SENSES = 16
MAX_MISMATCHES = 64
MAP_STATES = 4000
TRACE_BATCH = 2000
TRACE_FUA = 1
TRACE_PREFLUSH = 2


class Cmd(IntEnum):
    """Commands."""

    RUN_NEW = 1
    RUN_GET = 2
    RUN_START = 3
    RUN_STOP = 4
    RUN_DEL = 5
    STATS_GET = 6
    INTERVAL_GET = 7
    OP_GET = 8
    RUN_NTF = 9
    MISMATCH_GET = 10
    MAP_GET = 11
    MAP_SET = 12
    TRACE_FEED = 13
    TRACE_END = 14
    CLAIM_NEW = 15
    CLAIM_GET = 16
    CLAIM_DEL = 17
    CLAIM_NTF = 18


class RunState(IntEnum):
    """State of a run."""

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
    """Phase of a run; every I/O is counted in the phase in which it completed."""

    RAMP = 0
    MEASURE = 1
    DRAIN = 2


class ConfigPart(IntEnum):
    """Part of a configuration that a refusal is about."""

    RUN = 0
    TARGET = 1
    WORKER = 2
    STREAM = 3
    ASU = 4
    ARRIVAL = 5
    CLAIM = 6


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
    FEEDER_GONE = 8
    SHUTDOWN = 9
    CPU_OFFLINE = 10


class Backend(IntEnum):
    """How I/O reaches the device."""

    AUTO = 0
    BIO = 1
    MQ = 2
    SCSI = 3


class Law(IntEnum):
    """Arrival law."""

    CLOSED = 0
    POISSON = 1
    CONSTANT = 2
    BURST = 3
    TRACE = 4


class Pattern(IntEnum):
    """Address pattern of a stream."""

    UNIFORM = 0
    SEQUENTIAL = 1
    STRIDED = 2
    RUNS = 3
    WALK = 4
    HOTBAND = 5
    ONCE = 6
    BACKWARD = 7
    TABLE = 8
    TRACE = 9
    WRITE_POINTER = 10


class Operation(IntEnum):
    """Operations of a stream."""

    TRANSFER = 0
    FLUSH = 1
    DISCARD = 2
    WRITE_ZEROES = 3
    ZONE_APPEND = 4
    ZONE_RESET = 5
    ZONE_FINISH = 6
    ZONE_OPEN = 7
    ZONE_CLOSE = 8


class Priority(IntEnum):
    """Class of I/O priority, as of ioprio_set(2)."""

    NONE = 0
    RT = 1
    BE = 2
    IDLE = 3


class WriteHint(IntEnum):
    """Expected lifetime of the data that a stream writes, as of fcntl(2) F_SET_RW_HINT."""

    NOT_SET = 0
    NONE = 1
    SHORT = 2
    MEDIUM = 3
    LONG = 4
    EXTREME = 5


class TraceOp(IntEnum):
    """Operation of a record of a trace."""

    READ = 0
    WRITE = 1
    FLUSH = 2
    DISCARD = 3


class WalkStyle(IntEnum):
    """Variant of the hierarchical reuse random walk."""

    CLASSIC = 0
    FIXED = 1


class ZoneOrder(IntEnum):
    """Order of the I/Os in a zone of a strided stream."""

    SEQUENTIAL = 0
    RANDOM = 1
    ONCE = 2


class Data(IntEnum):
    """Data to write."""

    ZERO = 0
    RANDOM = 1
    STAMPED = 2


class Mismatch(IntEnum):
    """What is wrong with a block of a run with stamped data."""

    CORRUPT = 0
    MISDIRECTED = 1
    STALE = 2
    TORN = 3
    UNWRITTEN = 4
    UNSTAMPED = 5
    FOREIGN = 6


class Direction(IntEnum):
    """Direction."""

    READ = 0
    WRITE = 1


class Metric(IntEnum):
    """What a histogram counts."""

    RESPONSE = 0
    SERVICE = 1
    SLIP = 2
    RESPONSE_AGE = 3
    SERVICE_AGE = 4


class ClaimState(IntEnum):
    """State of a claim."""

    READY = 0
    OPENING = 1
    FAILED = 2
    CLOSING = 3
    GONE = 4


class WorkerNla(nla):
    """Attributes of the set worker, as a nest."""

    prefix = "SPEK_A_WORKER_"
    nla_map = (
        (1, "SPEK_A_WORKER_PAD", "none", 0),
        (2, "SPEK_A_WORKER_INDEX", "uint32", 0),
        (3, "SPEK_A_WORKER_CPU", "uint32", 0),
        (4, "SPEK_A_WORKER_PID", "uint32", 0),
        (5, "SPEK_A_WORKER_CPU_NS", "uint64", 0),
        (6, "SPEK_A_WORKER_VOLUNTARY", "uint64", 0),
        (7, "SPEK_A_WORKER_INVOLUNTARY", "uint64", 0),
        (8, "SPEK_A_WORKER_OUTSTANDING", "uint32", 0),
        (9, "SPEK_A_WORKER_LOG_WRITTEN", "uint64", 0),
        (10, "SPEK_A_WORKER_LOG_LOST", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "index": "SPEK_A_WORKER_INDEX",
        "cpu": "SPEK_A_WORKER_CPU",
        "pid": "SPEK_A_WORKER_PID",
        "cpu_ns": "SPEK_A_WORKER_CPU_NS",
        "voluntary": "SPEK_A_WORKER_VOLUNTARY",
        "involuntary": "SPEK_A_WORKER_INVOLUNTARY",
        "outstanding": "SPEK_A_WORKER_OUTSTANDING",
        "log_written": "SPEK_A_WORKER_LOG_WRITTEN",
        "log_lost": "SPEK_A_WORKER_LOG_LOST",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {}


class TargetNla(nla):
    """Attributes of the set target, as a nest."""

    prefix = "SPEK_A_TARGET_"
    nla_map = (
        (1, "SPEK_A_TARGET_PAD", "none", 0),
        (2, "SPEK_A_TARGET_MAJOR", "uint32", 0),
        (3, "SPEK_A_TARGET_MINOR", "uint32", 0),
        (4, "SPEK_A_TARGET_NAME", "asciiz", 0),
        (5, "SPEK_A_TARGET_DISKSEQ", "uint64", 0),
        (6, "SPEK_A_TARGET_BYTES", "uint64", 0),
        (7, "SPEK_A_TARGET_LOGICAL_BLOCK", "uint32", 0),
        (8, "SPEK_A_TARGET_MAX_IO", "uint32", 0),
        (9, "SPEK_A_TARGET_BACKEND", "uint32", 0),
        (10, "SPEK_A_TARGET_BACKEND_REASON", "asciiz", 0),
        (11, "SPEK_A_TARGET_POLLED", "uint32", 0),
        (12, "SPEK_A_TARGET_READS", "uint64", 0),
        (13, "SPEK_A_TARGET_READ_BYTES", "uint64", 0),
        (14, "SPEK_A_TARGET_WRITES", "uint64", 0),
        (15, "SPEK_A_TARGET_WRITE_BYTES", "uint64", 0),
        (16, "SPEK_A_TARGET_REFUSED", "uint64", 0),
        (17, "SPEK_A_TARGET_MAP_START", "uint64", 0),
        (18, "SPEK_A_TARGET_MAP_BYTES", "uint64", 0),
        (19, "SPEK_A_TARGET_TAG_WAITS", "uint64", 0),
        (20, "SPEK_A_TARGET_DISCARDS", "uint64", 0),
        (21, "SPEK_A_TARGET_DISCARD_BYTES", "uint64", 0),
        (22, "SPEK_A_TARGET_FLUSHES", "uint64", 0),
        (23, "SPEK_A_TARGET_ZONE_APPENDS", "uint64", 0),
        (24, "SPEK_A_TARGET_ZONE_RESETS", "uint64", 0),
        (25, "SPEK_A_TARGET_ZONE_FINISHES", "uint64", 0),
        (26, "SPEK_A_TARGET_ZONE_OPENS", "uint64", 0),
        (27, "SPEK_A_TARGET_ZONE_CLOSES", "uint64", 0),
        (28, "SPEK_A_TARGET_ZONE_MISPLACED", "uint64", 0),
        (29, "SPEK_A_TARGET_OPENS", "uint32", 0),
        (30, "SPEK_A_TARGET_READ_ONLY", "uint32", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "major": "SPEK_A_TARGET_MAJOR",
        "minor": "SPEK_A_TARGET_MINOR",
        "name": "SPEK_A_TARGET_NAME",
        "diskseq": "SPEK_A_TARGET_DISKSEQ",
        "bytes": "SPEK_A_TARGET_BYTES",
        "logical_block": "SPEK_A_TARGET_LOGICAL_BLOCK",
        "max_io": "SPEK_A_TARGET_MAX_IO",
        "backend": "SPEK_A_TARGET_BACKEND",
        "backend_reason": "SPEK_A_TARGET_BACKEND_REASON",
        "polled": "SPEK_A_TARGET_POLLED",
        "reads": "SPEK_A_TARGET_READS",
        "read_bytes": "SPEK_A_TARGET_READ_BYTES",
        "writes": "SPEK_A_TARGET_WRITES",
        "write_bytes": "SPEK_A_TARGET_WRITE_BYTES",
        "refused": "SPEK_A_TARGET_REFUSED",
        "map_start": "SPEK_A_TARGET_MAP_START",
        "map_bytes": "SPEK_A_TARGET_MAP_BYTES",
        "tag_waits": "SPEK_A_TARGET_TAG_WAITS",
        "discards": "SPEK_A_TARGET_DISCARDS",
        "discard_bytes": "SPEK_A_TARGET_DISCARD_BYTES",
        "flushes": "SPEK_A_TARGET_FLUSHES",
        "zone_appends": "SPEK_A_TARGET_ZONE_APPENDS",
        "zone_resets": "SPEK_A_TARGET_ZONE_RESETS",
        "zone_finishes": "SPEK_A_TARGET_ZONE_FINISHES",
        "zone_opens": "SPEK_A_TARGET_ZONE_OPENS",
        "zone_closes": "SPEK_A_TARGET_ZONE_CLOSES",
        "zone_misplaced": "SPEK_A_TARGET_ZONE_MISPLACED",
        "opens": "SPEK_A_TARGET_OPENS",
        "read_only": "SPEK_A_TARGET_READ_ONLY",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {
        "backend": records.Backend,
    }


class ExtentNla(nla):
    """Attributes of the set extent, as a nest."""

    prefix = "SPEK_A_EXTENT_"
    nla_map = (
        (1, "SPEK_A_EXTENT_PAD", "none", 0),
        (2, "SPEK_A_EXTENT_TARGET", "uint32", 0),
        (3, "SPEK_A_EXTENT_START", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "target": "SPEK_A_EXTENT_TARGET",
        "start": "SPEK_A_EXTENT_START",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {}


class AsuNla(nla):
    """Attributes of the set asu, as a nest."""

    nest_extent = ExtentNla
    prefix = "SPEK_A_ASU_"
    nla_map = (
        (1, "SPEK_A_ASU_PAD", "none", 0),
        (2, "SPEK_A_ASU_NAME", "asciiz", 0),
        (3, "SPEK_A_ASU_BYTES", "uint64", 0),
        (4, "SPEK_A_ASU_STRIPE_BYTES", "uint32", 0),
        (5, "SPEK_A_ASU_EXTENT", "nest_extent", NLA_F_NESTED),
        (6, "SPEK_A_ASU_ZONE_BYTES", "uint64", 0),
        (7, "SPEK_A_ASU_OPEN_ZONES", "uint32", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "name": "SPEK_A_ASU_NAME",
        "bytes": "SPEK_A_ASU_BYTES",
        "stripe_bytes": "SPEK_A_ASU_STRIPE_BYTES",
        "extent": "SPEK_A_ASU_EXTENT",
        "zone_bytes": "SPEK_A_ASU_ZONE_BYTES",
        "open_zones": "SPEK_A_ASU_OPEN_ZONES",
    }
    multi: ClassVar[dict[str, str]] = {
        "extent": "extents",
    }
    enums: ClassVar[dict[str, Any]] = {}


class ArrivalNla(nla):
    """Attributes of the set arrival, as a nest."""

    prefix = "SPEK_A_ARRIVAL_"
    nla_map = (
        (1, "SPEK_A_ARRIVAL_PAD", "none", 0),
        (2, "SPEK_A_ARRIVAL_LAW", "uint32", 0),
        (3, "SPEK_A_ARRIVAL_DEPTH", "uint32", 0),
        (4, "SPEK_A_ARRIVAL_THINK_NS", "uint64", 0),
        (5, "SPEK_A_ARRIVAL_RATE_MILLI", "uint64", 0),
        (6, "SPEK_A_ARRIVAL_BURST_LENGTH", "uint32", 0),
        (7, "SPEK_A_ARRIVAL_BURST_INTERVAL_NS", "uint64", 0),
        (8, "SPEK_A_ARRIVAL_POINT", "cdata", 0),
        (9, "SPEK_A_ARRIVAL_REPEATS", "uint32", 0),
        (10, "SPEK_A_ARRIVAL_ON_NS", "uint64", 0),
        (11, "SPEK_A_ARRIVAL_OFF_NS", "uint64", 0),
        (12, "SPEK_A_ARRIVAL_TAIL_MILLI", "uint32", 0),
        (13, "SPEK_A_ARRIVAL_NAME", "asciiz", 0),
        (14, "SPEK_A_ARRIVAL_PAUSE_NS", "uint64", 0),
        (15, "SPEK_A_ARRIVAL_PAUSE_EVERY", "uint32", 0),
        (16, "SPEK_A_ARRIVAL_PAUSE_COUNTS_COMPLETED", "uint32", 0),
        (17, "SPEK_A_ARRIVAL_PAUSE_AFTER_NS", "uint64", 0),
        (18, "SPEK_A_ARRIVAL_COUNT", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "law": "SPEK_A_ARRIVAL_LAW",
        "depth": "SPEK_A_ARRIVAL_DEPTH",
        "think_ns": "SPEK_A_ARRIVAL_THINK_NS",
        "rate_milli": "SPEK_A_ARRIVAL_RATE_MILLI",
        "burst_length": "SPEK_A_ARRIVAL_BURST_LENGTH",
        "burst_interval_ns": "SPEK_A_ARRIVAL_BURST_INTERVAL_NS",
        "point": "SPEK_A_ARRIVAL_POINT",
        "repeats": "SPEK_A_ARRIVAL_REPEATS",
        "on_ns": "SPEK_A_ARRIVAL_ON_NS",
        "off_ns": "SPEK_A_ARRIVAL_OFF_NS",
        "tail_milli": "SPEK_A_ARRIVAL_TAIL_MILLI",
        "name": "SPEK_A_ARRIVAL_NAME",
        "pause_ns": "SPEK_A_ARRIVAL_PAUSE_NS",
        "pause_every": "SPEK_A_ARRIVAL_PAUSE_EVERY",
        "pause_counts_completed": "SPEK_A_ARRIVAL_PAUSE_COUNTS_COMPLETED",
        "pause_after_ns": "SPEK_A_ARRIVAL_PAUSE_AFTER_NS",
        "count": "SPEK_A_ARRIVAL_COUNT",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {
        "law": records.Law,
    }


class SizeNla(nla):
    """Attributes of the set size, as a nest."""

    prefix = "SPEK_A_SIZE_"
    nla_map = (
        (1, "SPEK_A_SIZE_BYTES", "uint32", 0),
        (2, "SPEK_A_SIZE_WEIGHT", "uint32", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "bytes": "SPEK_A_SIZE_BYTES",
        "weight": "SPEK_A_SIZE_WEIGHT",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {}


class StreamNla(nla):
    """Attributes of the set stream, as a nest."""

    nest_size = SizeNla
    prefix = "SPEK_A_STREAM_"
    nla_map = (
        (1, "SPEK_A_STREAM_PAD", "none", 0),
        (2, "SPEK_A_STREAM_NAME", "asciiz", 0),
        (3, "SPEK_A_STREAM_ASU", "uint32", 0),
        (4, "SPEK_A_STREAM_ARRIVAL", "uint32", 0),
        (5, "SPEK_A_STREAM_WEIGHT", "uint32", 0),
        (6, "SPEK_A_STREAM_REPLICAS", "uint32", 0),
        (7, "SPEK_A_STREAM_READ_PPM", "uint32", 0),
        (8, "SPEK_A_STREAM_PATTERN", "uint32", 0),
        (9, "SPEK_A_STREAM_RANGE_START", "uint64", 0),
        (10, "SPEK_A_STREAM_RANGE_BYTES", "uint64", 0),
        (11, "SPEK_A_STREAM_ALIGN_BYTES", "uint32", 0),
        (12, "SPEK_A_STREAM_SEQ_PPM", "uint32", 0),
        (13, "SPEK_A_STREAM_STRIDE_BYTES", "uint64", 0),
        (14, "SPEK_A_STREAM_RUN_BYTES", "uint64", 0),
        (15, "SPEK_A_STREAM_RESTART_BYTES", "uint64", 0),
        (16, "SPEK_A_STREAM_RUN_ALIGN_BYTES", "uint32", 0),
        (17, "SPEK_A_STREAM_WALK_STYLE", "uint32", 0),
        (18, "SPEK_A_STREAM_JITTER_BYTES", "uint64", 0),
        (19, "SPEK_A_STREAM_PART", "cdata", 0),
        (20, "SPEK_A_STREAM_SPREAD", "uint32", 0),
        (21, "SPEK_A_STREAM_SIZE", "nest_size", NLA_F_NESTED),
        (22, "SPEK_A_STREAM_OPERATION", "uint32", 0),
        (23, "SPEK_A_STREAM_FUA", "uint32", 0),
        (24, "SPEK_A_STREAM_PRIORITY", "uint32", 0),
        (25, "SPEK_A_STREAM_PRIORITY_LEVEL", "uint32", 0),
        (26, "SPEK_A_STREAM_WRITE_HINT", "uint32", 0),
        (27, "SPEK_A_STREAM_OWN_DATA", "uint32", 0),
        (28, "SPEK_A_STREAM_COMPRESSIBLE_PPM", "uint32", 0),
        (29, "SPEK_A_STREAM_DUPLICATE_PPM", "uint32", 0),
        (30, "SPEK_A_STREAM_FILL", "cdata", 0),
        (31, "SPEK_A_STREAM_ATOMIC", "uint32", 0),
        (32, "SPEK_A_STREAM_ZONE_SIZE_BYTES", "uint64", 0),
        (33, "SPEK_A_STREAM_ZONE_RANGE_BYTES", "uint64", 0),
        (34, "SPEK_A_STREAM_ZONE_ORDER", "uint32", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "name": "SPEK_A_STREAM_NAME",
        "asu": "SPEK_A_STREAM_ASU",
        "arrival": "SPEK_A_STREAM_ARRIVAL",
        "weight": "SPEK_A_STREAM_WEIGHT",
        "replicas": "SPEK_A_STREAM_REPLICAS",
        "read_ppm": "SPEK_A_STREAM_READ_PPM",
        "pattern": "SPEK_A_STREAM_PATTERN",
        "range_start": "SPEK_A_STREAM_RANGE_START",
        "range_bytes": "SPEK_A_STREAM_RANGE_BYTES",
        "align_bytes": "SPEK_A_STREAM_ALIGN_BYTES",
        "seq_ppm": "SPEK_A_STREAM_SEQ_PPM",
        "stride_bytes": "SPEK_A_STREAM_STRIDE_BYTES",
        "run_bytes": "SPEK_A_STREAM_RUN_BYTES",
        "restart_bytes": "SPEK_A_STREAM_RESTART_BYTES",
        "run_align_bytes": "SPEK_A_STREAM_RUN_ALIGN_BYTES",
        "walk_style": "SPEK_A_STREAM_WALK_STYLE",
        "jitter_bytes": "SPEK_A_STREAM_JITTER_BYTES",
        "part": "SPEK_A_STREAM_PART",
        "spread": "SPEK_A_STREAM_SPREAD",
        "size": "SPEK_A_STREAM_SIZE",
        "operation": "SPEK_A_STREAM_OPERATION",
        "fua": "SPEK_A_STREAM_FUA",
        "priority": "SPEK_A_STREAM_PRIORITY",
        "priority_level": "SPEK_A_STREAM_PRIORITY_LEVEL",
        "write_hint": "SPEK_A_STREAM_WRITE_HINT",
        "own_data": "SPEK_A_STREAM_OWN_DATA",
        "compressible_ppm": "SPEK_A_STREAM_COMPRESSIBLE_PPM",
        "duplicate_ppm": "SPEK_A_STREAM_DUPLICATE_PPM",
        "fill": "SPEK_A_STREAM_FILL",
        "atomic": "SPEK_A_STREAM_ATOMIC",
        "zone_size_bytes": "SPEK_A_STREAM_ZONE_SIZE_BYTES",
        "zone_range_bytes": "SPEK_A_STREAM_ZONE_RANGE_BYTES",
        "zone_order": "SPEK_A_STREAM_ZONE_ORDER",
    }
    multi: ClassVar[dict[str, str]] = {
        "size": "sizes",
    }
    enums: ClassVar[dict[str, Any]] = {
        "pattern": records.Pattern,
        "walk_style": records.WalkStyle,
        "operation": records.Operation,
        "priority": records.Priority,
        "write_hint": records.WriteHint,
        "zone_order": records.ZoneOrder,
    }


class SenseNla(nla):
    """Attributes of the set sense, as a nest."""

    prefix = "SPEK_A_SENSE_"
    nla_map = (
        (1, "SPEK_A_SENSE_PAD", "none", 0),
        (2, "SPEK_A_SENSE_KEY", "uint32", 0),
        (3, "SPEK_A_SENSE_ASC", "uint32", 0),
        (4, "SPEK_A_SENSE_ASCQ", "uint32", 0),
        (5, "SPEK_A_SENSE_DEFERRED", "uint32", 0),
        (6, "SPEK_A_SENSE_COUNT", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "key": "SPEK_A_SENSE_KEY",
        "asc": "SPEK_A_SENSE_ASC",
        "ascq": "SPEK_A_SENSE_ASCQ",
        "deferred": "SPEK_A_SENSE_DEFERRED",
        "count": "SPEK_A_SENSE_COUNT",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {}


class VerifyNla(nla):
    """Attributes of the set verify, as a nest."""

    prefix = "SPEK_A_VERIFY_"
    nla_map = (
        (1, "SPEK_A_VERIFY_PAD", "none", 0),
        (2, "SPEK_A_VERIFY_CHECKED", "uint64", 0),
        (3, "SPEK_A_VERIFY_NEVER_WRITTEN", "uint64", 0),
        (4, "SPEK_A_VERIFY_UNCERTAIN", "uint64", 0),
        (5, "SPEK_A_VERIFY_WAITS", "uint64", 0),
        (6, "SPEK_A_VERIFY_MISMATCHES", "uint64", 0),
        (7, "SPEK_A_VERIFY_CORRUPT", "uint64", 0),
        (8, "SPEK_A_VERIFY_MISDIRECTED", "uint64", 0),
        (9, "SPEK_A_VERIFY_STALE", "uint64", 0),
        (10, "SPEK_A_VERIFY_TORN", "uint64", 0),
        (11, "SPEK_A_VERIFY_UNWRITTEN", "uint64", 0),
        (12, "SPEK_A_VERIFY_UNSTAMPED", "uint64", 0),
        (13, "SPEK_A_VERIFY_FOREIGN", "uint64", 0),
        (14, "SPEK_A_VERIFY_DISCARDED", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "checked": "SPEK_A_VERIFY_CHECKED",
        "never_written": "SPEK_A_VERIFY_NEVER_WRITTEN",
        "uncertain": "SPEK_A_VERIFY_UNCERTAIN",
        "waits": "SPEK_A_VERIFY_WAITS",
        "mismatches": "SPEK_A_VERIFY_MISMATCHES",
        "corrupt": "SPEK_A_VERIFY_CORRUPT",
        "misdirected": "SPEK_A_VERIFY_MISDIRECTED",
        "stale": "SPEK_A_VERIFY_STALE",
        "torn": "SPEK_A_VERIFY_TORN",
        "unwritten": "SPEK_A_VERIFY_UNWRITTEN",
        "unstamped": "SPEK_A_VERIFY_UNSTAMPED",
        "foreign": "SPEK_A_VERIFY_FOREIGN",
        "discarded": "SPEK_A_VERIFY_DISCARDED",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {}


class ReplayNla(nla):
    """Attributes of the set replay, as a nest."""

    prefix = "SPEK_A_REPLAY_"
    nla_map = (
        (1, "SPEK_A_REPLAY_PAD", "none", 0),
        (2, "SPEK_A_REPLAY_FED", "uint64", 0),
        (3, "SPEK_A_REPLAY_ISSUED", "uint64", 0),
        (4, "SPEK_A_REPLAY_ENDED", "uint32", 0),
        (5, "SPEK_A_REPLAY_UNDERRUNS", "uint64", 0),
        (6, "SPEK_A_REPLAY_UNDERRUN_NS", "uint64", 0),
        (7, "SPEK_A_REPLAY_UNDERRUN_FIRST_NS", "uint64", 0),
        (8, "SPEK_A_REPLAY_UNDERRUN_LAST_NS", "uint64", 0),
        (9, "SPEK_A_REPLAY_DRY_NS", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "fed": "SPEK_A_REPLAY_FED",
        "issued": "SPEK_A_REPLAY_ISSUED",
        "ended": "SPEK_A_REPLAY_ENDED",
        "underruns": "SPEK_A_REPLAY_UNDERRUNS",
        "underrun_ns": "SPEK_A_REPLAY_UNDERRUN_NS",
        "underrun_first_ns": "SPEK_A_REPLAY_UNDERRUN_FIRST_NS",
        "underrun_last_ns": "SPEK_A_REPLAY_UNDERRUN_LAST_NS",
        "dry_ns": "SPEK_A_REPLAY_DRY_NS",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {}


class ArrivalEndNla(nla):
    """Attributes of the set arrival-end, as a nest."""

    prefix = "SPEK_A_ARRIVAL_END_"
    nla_map = (
        (1, "SPEK_A_ARRIVAL_END_PAD", "none", 0),
        (2, "SPEK_A_ARRIVAL_END_AT_NS", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "at_ns": "SPEK_A_ARRIVAL_END_AT_NS",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {}


class ErrorNla(nla):
    """Attributes of the set error, as a nest."""

    prefix = "SPEK_A_ERROR_"
    nla_map = (
        (1, "SPEK_A_ERROR_PAD", "none", 0),
        (2, "SPEK_A_ERROR_STATUS", "uint32", 0),
        (3, "SPEK_A_ERROR_COUNT", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "status": "SPEK_A_ERROR_STATUS",
        "count": "SPEK_A_ERROR_COUNT",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {}


class CellNla(nla):
    """Attributes of the set cell, as a nest."""

    prefix = "SPEK_A_CELL_"
    nla_map = (
        (1, "SPEK_A_CELL_PAD", "none", 0),
        (2, "SPEK_A_CELL_DIRECTION", "uint32", 0),
        (3, "SPEK_A_CELL_IOS", "uint64", 0),
        (4, "SPEK_A_CELL_BYTES", "uint64", 0),
        (5, "SPEK_A_CELL_ERRORS", "uint64", 0),
        (6, "SPEK_A_CELL_RESPONSE_SUM_NS", "uint64", 0),
        (7, "SPEK_A_CELL_RESPONSE_MAX_NS", "uint64", 0),
        (8, "SPEK_A_CELL_RESPONSE_P50_NS", "uint64", 0),
        (9, "SPEK_A_CELL_RESPONSE_P90_NS", "uint64", 0),
        (10, "SPEK_A_CELL_RESPONSE_P99_NS", "uint64", 0),
        (11, "SPEK_A_CELL_RESPONSE_P999_NS", "uint64", 0),
        (12, "SPEK_A_CELL_SERVICE_SUM_NS", "uint64", 0),
        (13, "SPEK_A_CELL_SERVICE_MAX_NS", "uint64", 0),
        (14, "SPEK_A_CELL_SERVICE_P50_NS", "uint64", 0),
        (15, "SPEK_A_CELL_SERVICE_P99_NS", "uint64", 0),
        (16, "SPEK_A_CELL_RESPONSE_SUM_HIGH", "uint64", 0),
        (17, "SPEK_A_CELL_SERVICE_SUM_HIGH", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "direction": "SPEK_A_CELL_DIRECTION",
        "ios": "SPEK_A_CELL_IOS",
        "bytes": "SPEK_A_CELL_BYTES",
        "errors": "SPEK_A_CELL_ERRORS",
        "response_sum_ns": "SPEK_A_CELL_RESPONSE_SUM_NS",
        "response_max_ns": "SPEK_A_CELL_RESPONSE_MAX_NS",
        "response_p50_ns": "SPEK_A_CELL_RESPONSE_P50_NS",
        "response_p90_ns": "SPEK_A_CELL_RESPONSE_P90_NS",
        "response_p99_ns": "SPEK_A_CELL_RESPONSE_P99_NS",
        "response_p999_ns": "SPEK_A_CELL_RESPONSE_P999_NS",
        "service_sum_ns": "SPEK_A_CELL_SERVICE_SUM_NS",
        "service_max_ns": "SPEK_A_CELL_SERVICE_MAX_NS",
        "service_p50_ns": "SPEK_A_CELL_SERVICE_P50_NS",
        "service_p99_ns": "SPEK_A_CELL_SERVICE_P99_NS",
        "response_sum_high": "SPEK_A_CELL_RESPONSE_SUM_HIGH",
        "service_sum_high": "SPEK_A_CELL_SERVICE_SUM_HIGH",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {
        "direction": records.Direction,
    }


class RunMsg(genlmsg):
    """Attributes of the set run, as a message."""

    nest_arrival = ArrivalNla
    nest_arrival_end = ArrivalEndNla
    nest_asu = AsuNla
    nest_replay = ReplayNla
    nest_sense = SenseNla
    nest_stream = StreamNla
    nest_target = TargetNla
    nest_verify = VerifyNla
    nest_worker = WorkerNla
    prefix = "SPEK_A_RUN_"
    nla_map = (
        (1, "SPEK_A_RUN_PAD", "none", 0),
        (2, "SPEK_A_RUN_ID", "uint32", 0),
        (3, "SPEK_A_RUN_NAME", "asciiz", 0),
        (4, "SPEK_A_RUN_STATE", "uint32", 0),
        (5, "SPEK_A_RUN_PHASE", "uint32", 0),
        (6, "SPEK_A_RUN_REASON", "uint32", 0),
        (7, "SPEK_A_RUN_SEED", "uint64", 0),
        (8, "SPEK_A_RUN_DETACHED", "uint32", 0),
        (9, "SPEK_A_RUN_WRITE", "uint32", 0),
        (10, "SPEK_A_RUN_BACKEND", "uint32", 0),
        (11, "SPEK_A_RUN_POLLED", "uint32", 0),
        (12, "SPEK_A_RUN_DATA", "uint32", 0),
        (13, "SPEK_A_RUN_MAX_OUTSTANDING", "uint32", 0),
        (14, "SPEK_A_RUN_BATCH", "uint32", 0),
        (15, "SPEK_A_RUN_SPIN_NS", "uint64", 0),
        (16, "SPEK_A_RUN_INTERVAL_NS", "uint64", 0),
        (17, "SPEK_A_RUN_RAMP_NS", "uint64", 0),
        (18, "SPEK_A_RUN_RAMP_COUNT", "uint64", 0),
        (19, "SPEK_A_RUN_TIME_NS", "uint64", 0),
        (20, "SPEK_A_RUN_COUNT", "uint64", 0),
        (21, "SPEK_A_RUN_MAX_ERRORS", "uint64", 0),
        (22, "SPEK_A_RUN_WORKER", "nest_worker", NLA_F_NESTED),
        (23, "SPEK_A_RUN_TARGET", "nest_target", NLA_F_NESTED),
        (24, "SPEK_A_RUN_ASU", "nest_asu", NLA_F_NESTED),
        (25, "SPEK_A_RUN_ARRIVAL", "nest_arrival", NLA_F_NESTED),
        (26, "SPEK_A_RUN_STREAM", "nest_stream", NLA_F_NESTED),
        (27, "SPEK_A_RUN_STARTED_NS", "uint64", 0),
        (28, "SPEK_A_RUN_MEASURE_NS", "uint64", 0),
        (29, "SPEK_A_RUN_DRAIN_NS", "uint64", 0),
        (30, "SPEK_A_RUN_ENDED_NS", "uint64", 0),
        (31, "SPEK_A_RUN_START_RAW_NS", "uint64", 0),
        (32, "SPEK_A_RUN_START_REAL_NS", "uint64", 0),
        (33, "SPEK_A_RUN_END_RAW_NS", "uint64", 0),
        (34, "SPEK_A_RUN_END_REAL_NS", "uint64", 0),
        (35, "SPEK_A_RUN_NOW_NS", "uint64", 0),
        (36, "SPEK_A_RUN_OUTSTANDING", "uint32", 0),
        (37, "SPEK_A_RUN_BACKLOG", "uint64", 0),
        (38, "SPEK_A_RUN_OLDEST_NS", "uint64", 0),
        (39, "SPEK_A_RUN_INTERVALS", "uint64", 0),
        (40, "SPEK_A_RUN_ERRORS", "uint64", 0),
        (41, "SPEK_A_RUN_FIRST_ERROR", "asciiz", 0),
        (42, "SPEK_A_RUN_MODULE_VERSION", "asciiz", 0),
        (43, "SPEK_A_RUN_LOG_RECORDS", "uint32", 0),
        (44, "SPEK_A_RUN_LOG_DIR", "asciiz", 0),
        (45, "SPEK_A_RUN_FIRST_SENSE", "nest_sense", NLA_F_NESTED),
        (46, "SPEK_A_RUN_SENSE", "nest_sense", NLA_F_NESTED),
        (47, "SPEK_A_RUN_SENSE_OTHERS", "uint64", 0),
        (48, "SPEK_A_RUN_STAMP_ID", "uint64", 0),
        (49, "SPEK_A_RUN_VERIFY_FROM", "uint32", 0),
        (50, "SPEK_A_RUN_GRAIN_BYTES", "uint32", 0),
        (51, "SPEK_A_RUN_VERIFY", "nest_verify", NLA_F_NESTED),
        (52, "SPEK_A_RUN_START_NS", "uint64", 0),
        (53, "SPEK_A_RUN_FAILURE_ERRNO", "uint32", 0),
        (54, "SPEK_A_RUN_FAILURE", "asciiz", 0),
        (55, "SPEK_A_RUN_FAILURE_PART", "uint32", 0),
        (56, "SPEK_A_RUN_FAILURE_INDEX", "uint32", 0),
        (57, "SPEK_A_RUN_TRACE_RECORDS", "uint32", 0),
        (58, "SPEK_A_RUN_REPLAY", "nest_replay", NLA_F_NESTED),
        (59, "SPEK_A_RUN_CLAIM", "uint32", 0),
        (60, "SPEK_A_RUN_ARRIVAL_END", "nest_arrival_end", NLA_F_NESTED),
        (61, "SPEK_A_RUN_VERIFY_NEWER", "uint32", 0),
        (62, "SPEK_A_RUN_VERIFY_ATOMIC", "uint32", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "id": "SPEK_A_RUN_ID",
        "name": "SPEK_A_RUN_NAME",
        "state": "SPEK_A_RUN_STATE",
        "phase": "SPEK_A_RUN_PHASE",
        "reason": "SPEK_A_RUN_REASON",
        "seed": "SPEK_A_RUN_SEED",
        "detached": "SPEK_A_RUN_DETACHED",
        "write": "SPEK_A_RUN_WRITE",
        "backend": "SPEK_A_RUN_BACKEND",
        "polled": "SPEK_A_RUN_POLLED",
        "data": "SPEK_A_RUN_DATA",
        "max_outstanding": "SPEK_A_RUN_MAX_OUTSTANDING",
        "batch": "SPEK_A_RUN_BATCH",
        "spin_ns": "SPEK_A_RUN_SPIN_NS",
        "interval_ns": "SPEK_A_RUN_INTERVAL_NS",
        "ramp_ns": "SPEK_A_RUN_RAMP_NS",
        "ramp_count": "SPEK_A_RUN_RAMP_COUNT",
        "time_ns": "SPEK_A_RUN_TIME_NS",
        "count": "SPEK_A_RUN_COUNT",
        "max_errors": "SPEK_A_RUN_MAX_ERRORS",
        "worker": "SPEK_A_RUN_WORKER",
        "target": "SPEK_A_RUN_TARGET",
        "asu": "SPEK_A_RUN_ASU",
        "arrival": "SPEK_A_RUN_ARRIVAL",
        "stream": "SPEK_A_RUN_STREAM",
        "started_ns": "SPEK_A_RUN_STARTED_NS",
        "measure_ns": "SPEK_A_RUN_MEASURE_NS",
        "drain_ns": "SPEK_A_RUN_DRAIN_NS",
        "ended_ns": "SPEK_A_RUN_ENDED_NS",
        "start_raw_ns": "SPEK_A_RUN_START_RAW_NS",
        "start_real_ns": "SPEK_A_RUN_START_REAL_NS",
        "end_raw_ns": "SPEK_A_RUN_END_RAW_NS",
        "end_real_ns": "SPEK_A_RUN_END_REAL_NS",
        "now_ns": "SPEK_A_RUN_NOW_NS",
        "outstanding": "SPEK_A_RUN_OUTSTANDING",
        "backlog": "SPEK_A_RUN_BACKLOG",
        "oldest_ns": "SPEK_A_RUN_OLDEST_NS",
        "intervals": "SPEK_A_RUN_INTERVALS",
        "errors": "SPEK_A_RUN_ERRORS",
        "first_error": "SPEK_A_RUN_FIRST_ERROR",
        "module_version": "SPEK_A_RUN_MODULE_VERSION",
        "log_records": "SPEK_A_RUN_LOG_RECORDS",
        "log_dir": "SPEK_A_RUN_LOG_DIR",
        "first_sense": "SPEK_A_RUN_FIRST_SENSE",
        "sense": "SPEK_A_RUN_SENSE",
        "sense_others": "SPEK_A_RUN_SENSE_OTHERS",
        "stamp_id": "SPEK_A_RUN_STAMP_ID",
        "verify_from": "SPEK_A_RUN_VERIFY_FROM",
        "grain_bytes": "SPEK_A_RUN_GRAIN_BYTES",
        "verify": "SPEK_A_RUN_VERIFY",
        "start_ns": "SPEK_A_RUN_START_NS",
        "failure_errno": "SPEK_A_RUN_FAILURE_ERRNO",
        "failure": "SPEK_A_RUN_FAILURE",
        "failure_part": "SPEK_A_RUN_FAILURE_PART",
        "failure_index": "SPEK_A_RUN_FAILURE_INDEX",
        "trace_records": "SPEK_A_RUN_TRACE_RECORDS",
        "replay": "SPEK_A_RUN_REPLAY",
        "claim": "SPEK_A_RUN_CLAIM",
        "arrival_end": "SPEK_A_RUN_ARRIVAL_END",
        "verify_newer": "SPEK_A_RUN_VERIFY_NEWER",
        "verify_atomic": "SPEK_A_RUN_VERIFY_ATOMIC",
    }
    multi: ClassVar[dict[str, str]] = {
        "worker": "workers",
        "target": "targets",
        "asu": "asus",
        "arrival": "arrivals",
        "stream": "streams",
        "sense": "senses",
        "arrival_end": "arrival_ends",
    }
    enums: ClassVar[dict[str, Any]] = {
        "state": records.RunState,
        "phase": records.Phase,
        "reason": records.Reason,
        "backend": records.Backend,
        "data": records.Data,
        "failure_part": records.ConfigPart,
    }


class MismatchMsg(genlmsg):
    """Attributes of the set mismatch, as a message."""

    prefix = "SPEK_A_MISMATCH_"
    nla_map = (
        (1, "SPEK_A_MISMATCH_PAD", "none", 0),
        (2, "SPEK_A_MISMATCH_RUN", "uint32", 0),
        (3, "SPEK_A_MISMATCH_KIND", "uint32", 0),
        (4, "SPEK_A_MISMATCH_TARGET", "uint32", 0),
        (5, "SPEK_A_MISMATCH_OFFSET", "uint64", 0),
        (6, "SPEK_A_MISMATCH_BYTES", "uint32", 0),
        (7, "SPEK_A_MISMATCH_AT_NS", "uint64", 0),
        (8, "SPEK_A_MISMATCH_EXPECTED_GENERATION", "uint64", 0),
        (9, "SPEK_A_MISMATCH_STAMPED", "uint32", 0),
        (10, "SPEK_A_MISMATCH_INTACT", "uint32", 0),
        (11, "SPEK_A_MISMATCH_ZEROES", "uint32", 0),
        (12, "SPEK_A_MISMATCH_FIRST", "uint32", 0),
        (13, "SPEK_A_MISMATCH_BITS", "uint32", 0),
        (14, "SPEK_A_MISMATCH_FOUND_SEED", "uint64", 0),
        (15, "SPEK_A_MISMATCH_FOUND_ID", "uint64", 0),
        (16, "SPEK_A_MISMATCH_FOUND_GENERATION", "uint64", 0),
        (17, "SPEK_A_MISMATCH_FOUND_TARGET", "uint32", 0),
        (18, "SPEK_A_MISMATCH_FOUND_OFFSET", "uint64", 0),
        (19, "SPEK_A_MISMATCH_FOUND_WORKER", "uint32", 0),
        (20, "SPEK_A_MISMATCH_FOUND_STREAM", "uint32", 0),
        (21, "SPEK_A_MISMATCH_EXPECTED_ZEROES", "uint32", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "run": "SPEK_A_MISMATCH_RUN",
        "kind": "SPEK_A_MISMATCH_KIND",
        "target": "SPEK_A_MISMATCH_TARGET",
        "offset": "SPEK_A_MISMATCH_OFFSET",
        "bytes": "SPEK_A_MISMATCH_BYTES",
        "at_ns": "SPEK_A_MISMATCH_AT_NS",
        "expected_generation": "SPEK_A_MISMATCH_EXPECTED_GENERATION",
        "stamped": "SPEK_A_MISMATCH_STAMPED",
        "intact": "SPEK_A_MISMATCH_INTACT",
        "zeroes": "SPEK_A_MISMATCH_ZEROES",
        "first": "SPEK_A_MISMATCH_FIRST",
        "bits": "SPEK_A_MISMATCH_BITS",
        "found_seed": "SPEK_A_MISMATCH_FOUND_SEED",
        "found_id": "SPEK_A_MISMATCH_FOUND_ID",
        "found_generation": "SPEK_A_MISMATCH_FOUND_GENERATION",
        "found_target": "SPEK_A_MISMATCH_FOUND_TARGET",
        "found_offset": "SPEK_A_MISMATCH_FOUND_OFFSET",
        "found_worker": "SPEK_A_MISMATCH_FOUND_WORKER",
        "found_stream": "SPEK_A_MISMATCH_FOUND_STREAM",
        "expected_zeroes": "SPEK_A_MISMATCH_EXPECTED_ZEROES",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {
        "kind": records.Mismatch,
    }


class TraceMsg(genlmsg):
    """Attributes of the set trace, as a message."""

    prefix = "SPEK_A_TRACE_"
    nla_map = (
        (1, "SPEK_A_TRACE_PAD", "none", 0),
        (2, "SPEK_A_TRACE_RUN", "uint32", 0),
        (3, "SPEK_A_TRACE_WORKER", "uint32", 0),
        (4, "SPEK_A_TRACE_RECORDS", "cdata", 0),
        (5, "SPEK_A_TRACE_ACCEPTED", "uint32", 0),
        (6, "SPEK_A_TRACE_ROOM", "uint32", 0),
        (7, "SPEK_A_TRACE_COUNT", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "run": "SPEK_A_TRACE_RUN",
        "worker": "SPEK_A_TRACE_WORKER",
        "records": "SPEK_A_TRACE_RECORDS",
        "accepted": "SPEK_A_TRACE_ACCEPTED",
        "room": "SPEK_A_TRACE_ROOM",
        "count": "SPEK_A_TRACE_COUNT",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {}


class MapMsg(genlmsg):
    """Attributes of the set map, as a message."""

    prefix = "SPEK_A_MAP_"
    nla_map = (
        (1, "SPEK_A_MAP_PAD", "none", 0),
        (2, "SPEK_A_MAP_RUN", "uint32", 0),
        (3, "SPEK_A_MAP_TARGET", "uint32", 0),
        (4, "SPEK_A_MAP_FIRST", "uint64", 0),
        (5, "SPEK_A_MAP_STATES", "cdata", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "run": "SPEK_A_MAP_RUN",
        "target": "SPEK_A_MAP_TARGET",
        "first": "SPEK_A_MAP_FIRST",
        "states": "SPEK_A_MAP_STATES",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {}


class StatsMsg(genlmsg):
    """Attributes of the set stats, as a message."""

    nest_error = ErrorNla
    prefix = "SPEK_A_STATS_"
    nla_map = (
        (1, "SPEK_A_STATS_PAD", "none", 0),
        (2, "SPEK_A_STATS_RUN", "uint32", 0),
        (3, "SPEK_A_STATS_PHASE", "uint32", 0),
        (4, "SPEK_A_STATS_STREAM", "uint32", 0),
        (5, "SPEK_A_STATS_DIRECTION", "uint32", 0),
        (6, "SPEK_A_STATS_IOS", "uint64", 0),
        (7, "SPEK_A_STATS_BYTES", "uint64", 0),
        (8, "SPEK_A_STATS_REQUESTS", "uint64", 0),
        (9, "SPEK_A_STATS_ERRORS", "uint64", 0),
        (10, "SPEK_A_STATS_ERROR", "nest_error", NLA_F_NESTED),
        (11, "SPEK_A_STATS_METRIC", "uint32", 0),
        (12, "SPEK_A_STATS_SUM_NS", "uint64", 0),
        (13, "SPEK_A_STATS_MIN_NS", "uint64", 0),
        (14, "SPEK_A_STATS_MAX_NS", "uint64", 0),
        (15, "SPEK_A_STATS_HIST_BITS", "uint32", 0),
        (16, "SPEK_A_STATS_HIST_FIRST", "uint32", 0),
        (17, "SPEK_A_STATS_HIST", "cdata", 0),
        (18, "SPEK_A_STATS_SUM_HIGH", "uint64", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "run": "SPEK_A_STATS_RUN",
        "phase": "SPEK_A_STATS_PHASE",
        "stream": "SPEK_A_STATS_STREAM",
        "direction": "SPEK_A_STATS_DIRECTION",
        "ios": "SPEK_A_STATS_IOS",
        "bytes": "SPEK_A_STATS_BYTES",
        "requests": "SPEK_A_STATS_REQUESTS",
        "errors": "SPEK_A_STATS_ERRORS",
        "error": "SPEK_A_STATS_ERROR",
        "metric": "SPEK_A_STATS_METRIC",
        "sum_ns": "SPEK_A_STATS_SUM_NS",
        "min_ns": "SPEK_A_STATS_MIN_NS",
        "max_ns": "SPEK_A_STATS_MAX_NS",
        "hist_bits": "SPEK_A_STATS_HIST_BITS",
        "hist_first": "SPEK_A_STATS_HIST_FIRST",
        "hist": "SPEK_A_STATS_HIST",
        "sum_high": "SPEK_A_STATS_SUM_HIGH",
    }
    multi: ClassVar[dict[str, str]] = {
        "error": "error",
    }
    enums: ClassVar[dict[str, Any]] = {
        "phase": records.Phase,
        "direction": records.Direction,
        "metric": records.Metric,
    }


class IntervalMsg(genlmsg):
    """Attributes of the set interval, as a message."""

    nest_cell = CellNla
    prefix = "SPEK_A_INTERVAL_"
    nla_map = (
        (1, "SPEK_A_INTERVAL_PAD", "none", 0),
        (2, "SPEK_A_INTERVAL_RUN", "uint32", 0),
        (3, "SPEK_A_INTERVAL_SINCE", "uint64", 0),
        (4, "SPEK_A_INTERVAL_SEQ", "uint64", 0),
        (5, "SPEK_A_INTERVAL_DROPPED", "uint64", 0),
        (6, "SPEK_A_INTERVAL_PHASE", "uint32", 0),
        (7, "SPEK_A_INTERVAL_START_NS", "uint64", 0),
        (8, "SPEK_A_INTERVAL_END_NS", "uint64", 0),
        (9, "SPEK_A_INTERVAL_OUTSTANDING", "uint32", 0),
        (10, "SPEK_A_INTERVAL_BACKLOG", "uint64", 0),
        (11, "SPEK_A_INTERVAL_CPU_NS", "uint64", 0),
        (12, "SPEK_A_INTERVAL_SWITCHES", "uint64", 0),
        (13, "SPEK_A_INTERVAL_CELL", "nest_cell", NLA_F_NESTED),
        (14, "SPEK_A_INTERVAL_STREAMS", "cdata", 0),
        (15, "SPEK_A_INTERVAL_COVERAGE_PPM", "uint32", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "run": "SPEK_A_INTERVAL_RUN",
        "since": "SPEK_A_INTERVAL_SINCE",
        "seq": "SPEK_A_INTERVAL_SEQ",
        "dropped": "SPEK_A_INTERVAL_DROPPED",
        "phase": "SPEK_A_INTERVAL_PHASE",
        "start_ns": "SPEK_A_INTERVAL_START_NS",
        "end_ns": "SPEK_A_INTERVAL_END_NS",
        "outstanding": "SPEK_A_INTERVAL_OUTSTANDING",
        "backlog": "SPEK_A_INTERVAL_BACKLOG",
        "cpu_ns": "SPEK_A_INTERVAL_CPU_NS",
        "switches": "SPEK_A_INTERVAL_SWITCHES",
        "cell": "SPEK_A_INTERVAL_CELL",
        "streams": "SPEK_A_INTERVAL_STREAMS",
        "coverage_ppm": "SPEK_A_INTERVAL_COVERAGE_PPM",
    }
    multi: ClassVar[dict[str, str]] = {
        "cell": "cells",
    }
    enums: ClassVar[dict[str, Any]] = {
        "phase": records.Phase,
    }


class OpMsg(genlmsg):
    """Attributes of the set op, as a message."""

    prefix = "SPEK_A_OP_"
    nla_map = (
        (1, "SPEK_A_OP_PAD", "none", 0),
        (2, "SPEK_A_OP_RUN", "uint32", 0),
        (3, "SPEK_A_OP_WORKER", "uint32", 0),
        (4, "SPEK_A_OP_COUNT", "uint64", 0),
        (5, "SPEK_A_OP_FIRST", "uint64", 0),
        (6, "SPEK_A_OP_OPS", "cdata", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "run": "SPEK_A_OP_RUN",
        "worker": "SPEK_A_OP_WORKER",
        "count": "SPEK_A_OP_COUNT",
        "first": "SPEK_A_OP_FIRST",
        "ops": "SPEK_A_OP_OPS",
    }
    multi: ClassVar[dict[str, str]] = {}
    enums: ClassVar[dict[str, Any]] = {}


class ClaimMsg(genlmsg):
    """Attributes of the set claim, as a message."""

    nest_target = TargetNla
    prefix = "SPEK_A_CLAIM_"
    nla_map = (
        (1, "SPEK_A_CLAIM_ID", "uint32", 0),
        (2, "SPEK_A_CLAIM_STATE", "uint32", 0),
        (3, "SPEK_A_CLAIM_WRITE", "uint32", 0),
        (4, "SPEK_A_CLAIM_TARGET", "nest_target", NLA_F_NESTED),
        (5, "SPEK_A_CLAIM_RUNS", "uint32", 0),
        (6, "SPEK_A_CLAIM_FAILURE_ERRNO", "uint32", 0),
        (7, "SPEK_A_CLAIM_FAILURE", "asciiz", 0),
        (8, "SPEK_A_CLAIM_FAILURE_INDEX", "uint32", 0),
        (9, "SPEK_A_CLAIM_OWNER_PID", "uint32", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "id": "SPEK_A_CLAIM_ID",
        "state": "SPEK_A_CLAIM_STATE",
        "write": "SPEK_A_CLAIM_WRITE",
        "target": "SPEK_A_CLAIM_TARGET",
        "runs": "SPEK_A_CLAIM_RUNS",
        "failure_errno": "SPEK_A_CLAIM_FAILURE_ERRNO",
        "failure": "SPEK_A_CLAIM_FAILURE",
        "failure_index": "SPEK_A_CLAIM_FAILURE_INDEX",
        "owner_pid": "SPEK_A_CLAIM_OWNER_PID",
    }
    multi: ClassVar[dict[str, str]] = {
        "target": "targets",
    }
    enums: ClassVar[dict[str, Any]] = {
        "state": records.ClaimState,
    }


MESSAGES: dict[int, Any] = {
    Cmd.RUN_NEW: RunMsg,
    Cmd.RUN_GET: RunMsg,
    Cmd.RUN_START: RunMsg,
    Cmd.RUN_STOP: RunMsg,
    Cmd.RUN_DEL: RunMsg,
    Cmd.STATS_GET: StatsMsg,
    Cmd.INTERVAL_GET: IntervalMsg,
    Cmd.OP_GET: OpMsg,
    Cmd.RUN_NTF: RunMsg,
    Cmd.MISMATCH_GET: MismatchMsg,
    Cmd.MAP_GET: MapMsg,
    Cmd.MAP_SET: MapMsg,
    Cmd.TRACE_FEED: TraceMsg,
    Cmd.TRACE_END: TraceMsg,
    Cmd.CLAIM_NEW: ClaimMsg,
    Cmd.CLAIM_GET: ClaimMsg,
    Cmd.CLAIM_DEL: ClaimMsg,
    Cmd.CLAIM_NTF: ClaimMsg,
}
