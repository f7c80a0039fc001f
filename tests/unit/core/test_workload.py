"""Every reason to refuse a workload has a sentence, and every sentence has a case here."""

import errno
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from lib.core.build import GENERATOR
from lib.core.spekcore import (
    BLOCK,
    PATTERN_CODES,
    SMIX,
    Arrival,
    Asu,
    Generator,
    Law,
    Pattern,
    Stream,
    Workload,
    WorkloadError,
    library,
    spc1,
)

FFI, LIB = library()
MIB, GIB = 1 << 20, 1 << 30
ASU = Asu(GIB)
CLOSED = Arrival(depth=4)
RUNS = Stream("runs", SMIX, restart_bytes=GIB // 2, run_bytes=GIB // 4, run_align_bytes=16 * BLOCK)
STRIDED = Stream("strided", stride_bytes=16 * BLOCK)
ZONED = replace(STRIDED, zone_size_bytes=8 * BLOCK)
ZONE_KEYS: list[dict[str, Any]] = [
    {"zone_size_bytes": 1},
    {"zone_range_bytes": 1},
    {"zone_order": 1},
]
SLOTS = GIB // BLOCK


def table(parts: list[tuple[int, int]], **more: Any) -> Stream:
    return Stream("table", parts=parts, **more)


FLAT = table([(SLOTS, 2**40)])
STRIPED = Asu(16 * MIB, 64 << 10, [(0, 0), (1, 0)])


CURVE = [(0, 1), (1, 1)]
BEYOND: list[dict[str, Any]] = [{"compressible_ppm": 1_000_001}, {"duplicate_ppm": 1_000_001}]
OWN: list[dict[str, Any]] = [{"compressible_ppm": 1}, {"duplicate_ppm": 1}, {"fill": b"x"}]


def one(stream: Stream, asu: Asu = ASU, arrival: Arrival = CLOSED) -> Workload:
    return Workload([asu], [arrival], [stream])


def changed(workload: Workload, change: Callable[[Any], None]) -> Workload:
    """With numbers that the Python types cannot say."""
    change(workload.c)
    return workload


def set_to(path: str, value: int) -> Callable[[Any], None]:
    def change(c: Any) -> None:
        *parents, last = path.split(".")
        for name in parents:
            c = c[int(name)] if name.isdigit() else getattr(c, name)
        setattr(c, last, value)

    return change


def raw(path: str, value: int, stream: Stream | None = None, arrival: Arrival = CLOSED) -> Workload:
    return changed(one(stream or Stream(), arrival=arrival), set_to(path, value))


INVALID, RANGE = errno.EINVAL, errno.ERANGE
TRACE_LAW = get_args(Law).index("trace")
POISSON, CONSTANT = Arrival("poisson", rate=1), Arrival("constant", rate=1)
BURST = Arrival("burst", burst_length=1, burst_interval_ns=1)
# Member of an arrival process: laws, beside trace, that it is not for; how the refusal begins
OF_OTHER_LAWS = {
    "depth": (
        [POISSON, CONSTANT, BURST],
        "A depth is given for an arrival process whose law is not closed.",
    ),
    "think_ns": (
        [POISSON, CONSTANT, BURST],
        "A think time is given for an arrival process whose law is not closed.",
    ),
    **{
        name: (
            [POISSON, CONSTANT, BURST],
            "A pause is given for an arrival process whose law is not closed.",
        )
        for name in ("pause_ns", "pause_every", "pause_counts_completed", "pause_after_ns")
    },
    "rate_milli": (
        [BURST],
        "A rate is given for an arrival process whose law is burst or trace.",
    ),
    "burst_length": (
        [POISSON, CONSTANT],
        "A burst is given for an arrival process whose law is neither burst nor closed.",
    ),
    "burst_interval_ns": (
        [CLOSED, POISSON, CONSTANT],
        "An interval between bursts is given for an arrival process whose law is not burst.",
    ),
}

# Keys of pauses, errno, how the refusal begins
_PAUSE_LONG, _PAUSE_HALF = "The pauses of a closed loop or the time", "Pauses of a closed loop need"
PAUSES: list[tuple[dict[str, Any], int, str]] = [
    ({"pause_ns": 10**15 + 1, "pause_every": 1}, RANGE, _PAUSE_LONG),
    ({"pause_ns": 1, "pause_after_ns": 10**15 + 1}, RANGE, _PAUSE_LONG),
    ({"pause_ns": 1}, INVALID, _PAUSE_HALF),
    ({"pause_every": 1}, INVALID, _PAUSE_HALF),
    ({"pause_after_ns": 1}, INVALID, _PAUSE_HALF),
    ({"pause_ns": 1, "pause_every": 1, "pause_counts_completed": 2}, RANGE, "Whether pauses count"),
    (
        {"pause_ns": 1, "pause_after_ns": 1, "pause_counts_completed": 1},
        *(INVALID, "Pauses count completed I/Os but have no number"),
    ),
]

KINDS = {"w": "run", "a": "asu", "r": "arrival", "s": "stream"}

# workload, workers, errno, kind, index, how the sentence begins
CASES: list[tuple[Workload, int, int, str, int, str]] = [
    (one(Stream()), 0, RANGE, "w", 0, "A run needs 1 to 256 workers."),
    (one(Stream()), 257, RANGE, "w", 0, "A run needs 1 to 256 workers."),
    (raw("nr_asus", 0), 1, RANGE, "w", 0, "A workload needs 1 to 16 address ranges."),
    (raw("nr_asus", 17), 1, RANGE, "w", 0, "A workload needs 1 to 16 address ranges."),
    (raw("nr_arrivals", 0), 1, RANGE, "w", 0, "A workload needs 1 to 16 arrival processes."),
    (raw("nr_arrivals", 17), 1, RANGE, "w", 0, "A workload needs 1 to 16 arrival processes."),
    (raw("nr_streams", 0), 1, RANGE, "w", 0, "A workload needs 1 to 64 streams."),
    (raw("nr_streams", 65), 1, RANGE, "w", 0, "A workload needs 1 to 64 streams."),
    # address ranges
    (raw("asu.0.bytes", 0), 1, INVALID, "a", 0, "An address range is empty: its"),
    (raw("asu.0.bytes", GIB + 1), 1, INVALID, "a", 0, "The size of an address range is not a"),
    (raw("asu.0.bytes", 2**63), 1, RANGE, "a", 0, "An address range is larger than 4 EiB."),
    (raw("asu.0.nr_extents", 0), 1, RANGE, "a", 0, "An address range needs 1 to 16 extents."),
    (raw("asu.0.nr_extents", 17), 1, RANGE, "a", 0, "An address range needs 1 to 16 extents."),
    (raw("asu.0.stripe_bytes", 4096), 1, INVALID, "a", 0, "A stripe unit is given for an addr"),
    (one(Stream(), replace(STRIPED, stripe_bytes=0)), 1, INVALID, "a", 0, "The stripe unit must"),
    (one(Stream(), replace(STRIPED, stripe_bytes=256)), 1, INVALID, "a", 0, "The stripe unit m"),
    (one(Stream(), replace(STRIPED, stripe_bytes=3 << 10)), 1, INVALID, "a", 0, "The stripe un"),
    (one(Stream(), replace(STRIPED, bytes=16 * MIB + 512)), 1, INVALID, "a", 0, "The size of a "),
    (raw("asu.0.extent.0.target", 16), 1, RANGE, "a", 0, "An address range lies on a target n"),
    (raw("asu.0.extent.0.start", 100), 1, INVALID, "a", 0, "The start of an address range on i"),
    (raw("asu.0.extent.0.start", 2**63), 1, RANGE, "a", 0, "An address range starts beyond 4 E"),
    (
        one(Stream(), replace(STRIPED, extents=[(0, 0), (0, 8 * MIB - 512)])),
        *(1, INVALID, "a", 0, "Two extents of one address range overlap on their target."),
    ),
    # arrival processes
    (one(Stream(), arrival=Arrival(depth=0)), 1, RANGE, "r", 0, "The depth of a closed loop mus"),
    (one(Stream(), arrival=Arrival(depth=65537)), 1, RANGE, "r", 0, "The depth of a closed loop"),
    (
        one(Stream(), arrival=Arrival(depth=1, think_ns=10**15 + 1)),
        *(1, RANGE, "r", 0, "The think time of a closed loop is longer than"),
    ),
    *[
        (one(Stream(), arrival=Arrival(depth=1, **given)), 1, code, "r", 0, text)
        for given, code, text in PAUSES
    ],
    (
        one(Stream(), arrival=Arrival(depth=1, count=10**17 + 1)),
        *(1, RANGE, "r", 0, "The count of an arrival process is above 10^17 I/Os."),
    ),
    (
        raw("arrival.0.law", TRACE_LAW, Stream("trace"), Arrival(count=5)),
        *(1, INVALID, "r", 0, "An arrival process that replays a trace has a count: it ends"),
    ),
    (one(Stream(), arrival=Arrival("poisson")), 1, RANGE, "r", 0, "The rate of an open loop must"),
    (one(Stream(), arrival=Arrival("constant")), 1, RANGE, "r", 0, "The rate of an open loop mus"),
    (
        one(Stream(), arrival=Arrival("poisson", rate=2e9)),
        *(1, RANGE, "r", 0, "The rate of an open loop must be 0.001 to 10^9 I/Os per second."),
    ),
    (
        one(Stream(), arrival=Arrival(depth=1, rate=2e9)),
        *(1, RANGE, "r", 0, "The limit of a closed loop is above 10^9 I/Os per second."),
    ),
    (
        one(Stream(), arrival=Arrival(depth=1, burst_length=2)),
        *(1, INVALID, "r", 0, "A burst is given for a closed loop without a limit of its rate."),
    ),
    (
        one(Stream(), arrival=Arrival(depth=1, rate=1, burst_length=65537)),
        *(1, RANGE, "r", 0, "The burst of a closed loop must be at most 65536 I/Os."),
    ),
    (
        one(Stream(), arrival=Arrival("poisson", curve=CURVE, repeats=2)),
        *(1, RANGE, "r", 0, "Whether a rate curve repeats must be 0 or 1."),
    ),
    (
        one(Stream(), arrival=Arrival(depth=1, repeats=1)),
        *(1, INVALID, "r", 0, "An arrival process without a rate curve can't repeat one."),
    ),
    (
        one(Stream(), arrival=Arrival(depth=1, curve=CURVE)),
        *(1, INVALID, "r", 0, "A rate curve is given for an arrival process whose law is neither"),
    ),
    (
        one(Stream(), arrival=Arrival("poisson", rate=1, curve=CURVE)),
        *(1, INVALID, "r", 0, "An arrival process has both a rate and a rate curve: leave one out"),
    ),
    (
        changed(
            one(Stream(), arrival=Arrival("poisson", curve=CURVE)),
            set_to("arrival.0.first_point", 1),
        ),
        *(1, INVALID, "r", 0, "A rate curve has points that the workload does not have."),
    ),
    (
        changed(one(Stream()), set_to("nr_points", 1025)),
        *(1, RANGE, "w", 0, "The rate curves of a workload have more than 1024 points together."),
    ),
    (
        one(Stream(), arrival=Arrival("burst", burst_interval_ns=1)),
        *(1, RANGE, "r", 0, "A burst has no I/Os: it needs at least 1."),
    ),
    (
        one(Stream(), arrival=Arrival("burst", burst_length=1)),
        *(1, RANGE, "r", 0, "The interval between bursts must be 1 to 10^15 ns;"),
    ),
    *(
        (
            changed(one(Stream(), arrival=arrival), set_to(f"arrival.0.{name}", 1)),
            *(1, INVALID, "r", 0, sentence),
        )
        for name, (arrivals, sentence) in OF_OTHER_LAWS.items()
        for arrival in arrivals
    ),
    *(
        (
            changed(
                raw("arrival.0.law", TRACE_LAW, arrival=Arrival()), set_to(f"arrival.0.{name}", 1)
            ),
            *(1, INVALID, "r", 0, sentence),
        )
        for name, (_arrivals, sentence) in OF_OTHER_LAWS.items()
    ),
    (raw("arrival.0.law", 5), 1, INVALID, "r", 0, "An arrival process has an unknown law."),
    (
        Workload([ASU], [CLOSED, CLOSED], [Stream()]),
        *(1, INVALID, "r", 1, "No stream uses an arrival process."),
    ),
    # streams
    (one(Stream(asu=1)), 1, INVALID, "s", 0, "A stream names an address range that does not"),
    (
        Workload([ASU], [CLOSED], [Stream(), Stream(arrival=1)]),
        *(1, INVALID, "s", 1, "A stream names an arrival process that does not exist."),
    ),
    (one(Stream(weight=0)), 1, INVALID, "s", 0, "A stream has weight 0: leave it out or give"),
    (one(Stream(replicas=0)), 1, INVALID, "s", 0, "A stream has no replica: it needs at "),
    (one(Stream(read_ppm=1_000_001)), 1, RANGE, "s", 0, "The share of reads is larger than 100"),
    (one(Stream(align_bytes=0)), 1, INVALID, "s", 0, "The alignment of a stream is not a multi"),
    (one(Stream(align_bytes=1000)), 1, INVALID, "s", 0, "The alignment of a stream is not a mu"),
    (raw("stream.0.range_bytes", 0), 1, INVALID, "s", 0, "The range of a stream is empty: "),
    (one(Stream(range_bytes=GIB + 512)), 1, RANGE, "s", 0, "The range of a stream ends beyond"),
    (
        one(Stream(range_start=2 * GIB, range_bytes=BLOCK)),
        *(1, RANGE, "s", 0, "The range of a stream ends beyond its address range."),
    ),
    (
        one(Stream(range_start=BLOCK, range_bytes=2**64 - BLOCK)),
        *(1, RANGE, "s", 0, "The range of a stream ends beyond its address range."),
    ),
    (one(Stream(range_start=512)), 1, INVALID, "s", 0, "The start of a stream's range is not a"),
    (raw("stream.0.nr_sizes", 0), 1, RANGE, "s", 0, "A stream needs 1 to 64 block sizes."),
    (raw("stream.0.nr_sizes", 65), 1, RANGE, "s", 0, "A stream needs 1 to 64 block sizes."),
    (one(Stream(sizes=0)), 1, INVALID, "s", 0, "A block size is not a multiple of 512 bytes."),
    (one(Stream(sizes=1000)), 1, INVALID, "s", 0, "A block size is not a multiple of 512 byt"),
    (one(Stream(sizes=16 * MIB + 512)), 1, RANGE, "s", 0, "A block size is larger than 16 MiB"),
    (one(Stream(sizes={BLOCK: 0})), 1, INVALID, "s", 0, "A block size has weight 0: leave it o"),
    (
        one(Stream(sizes=2 * BLOCK, range_bytes=BLOCK)),
        *(1, RANGE, "s", 0, "A block size is larger than the range of its stream."),
    ),
    # parameters of other patterns
    (one(replace(RUNS, seq_ppm=1)), 1, INVALID, "s", 0, "A share of sequential I/Os is given fo"),
    (one(Stream(stride_bytes=BLOCK)), 1, INVALID, "s", 0, "A stride is given for a stream whose"),
    (one(Stream(jitter_bytes=BLOCK)), 1, INVALID, "s", 0, "A jitter is given for a stream whose"),
    *(
        (one(replace(stream, **key)), 1, INVALID, "s", 0, "Zones with a stride are given for")
        for stream in (Stream(), Stream("sequential"), RUNS)
        for key in ZONE_KEYS
    ),
    (one(Stream(run_bytes=BLOCK)), 1, INVALID, "s", 0, "Run parameters are given for a stream w"),
    (one(Stream(restart_bytes=BLOCK)), 1, INVALID, "s", 0, "Run parameters are given for a stre"),
    (one(Stream(run_align_bytes=BLOCK)), 1, INVALID, "s", 0, "Run parameters are given for a st"),
    (
        one(Stream(parts=[(1, 2**40)])),
        1,
        INVALID,
        "s",
        0,
        "Parts of a table are given for a stream",
    ),
    (one(Stream("once", spread=1)), 1, INVALID, "s", 0, "Parts of a table are given for a stream"),
    (one(Stream(walk_style="fixed")), 1, INVALID, "s", 0, "A walk style is given for a stream w"),
    # operations
    (one(Stream(operation=9)), 1, INVALID, "s", 0, "A stream has an unknown operation."),
    (one(Stream(operation=1)), 1, INVALID, "s", 0, "A stream whose operation is not transfer"),
    (
        one(Stream(operation=2, read_ppm=1)),
        *(1, INVALID, "s", 0, "A stream whose operation is not transfer has a share of reads"),
    ),
    (
        one(Stream("sequential", operation=1, read_ppm=0)),
        *(1, INVALID, "s", 0, "A flush has no address: a stream of flushes needs"),
    ),
    (
        one(Stream(operation=1, read_ppm=0, seq_ppm=1)),
        *(1, INVALID, "s", 0, "A flush has no address: a stream of flushes needs"),
    ),
    (one(Stream(fua=2, read_ppm=0)), 1, RANGE, "s", 0, "Forced unit access of a stream must be 0"),
    (one(Stream(fua=1)), 1, INVALID, "s", 0, "Forced unit access is given for a stream that has"),
    (
        one(Stream(fua=1, operation=3, read_ppm=0)),
        *(1, INVALID, "s", 0, "Forced unit access is given for a stream that has no writes of"),
    ),
    (
        one(Stream(operation=5, read_ppm=0)),
        *(1, INVALID, "s", 0, "Zone operations are given for a stream whose pattern is not"),
    ),
    (
        one(Stream("write-pointer", operation=1, read_ppm=0)),
        *(1, INVALID, "s", 0, "A stream at write pointers has reads, writes or zone operations"),
    ),
    # hints
    (one(Stream(priority=4)), 1, INVALID, "s", 0, "A stream has an unknown class of I/O priority"),
    (
        one(Stream(priority=1, priority_level=8)),
        *(1, RANGE, "s", 0, "The level of an I/O priority must be 0 to 7."),
    ),
    *[
        (one(Stream(priority=name, priority_level=1)), 1, INVALID, "s", 0, "A level of I/O prior")
        for name in (0, 3)
    ],
    (one(Stream(write_hint=6, read_ppm=0)), 1, INVALID, "s", 0, "A stream has an unknown write h"),
    (one(Stream(write_hint=1)), 1, INVALID, "s", 0, "A write hint is given for a stream that has"),
    (
        one(Stream(write_hint=1, read_ppm=0, operation=2)),
        *(1, INVALID, "s", 0, "A write hint is given for a stream that has no writes of data."),
    ),
    # atomic writes
    (raw("stream.0.atomic", 2), 1, RANGE, "s", 0, "Atomic writes of a stream must be 0 or 1."),
    *[
        (one(stream), 1, INVALID, "s", 0, "Atomic writes are given for a stre")
        for stream in (Stream(atomic=1), Stream(atomic=1, read_ppm=0, operation=2))
    ],
    (
        one(Stream("write-pointer", atomic=1, read_ppm=0)),
        *(1, INVALID, "s", 0, "Traces and writes at write pointers cannot be atomic"),
    ),
    *[
        (one(stream), 1, INVALID, "s", 0, "Atomic writes need bloc")
        for stream in (
            Stream(atomic=1, read_ppm=0, sizes=3 * 4096),
            Stream(atomic=1, read_ppm=0, sizes=8192, align_bytes=4096),
        )
    ],
    # data
    (raw("stream.0.own_data", 2), 1, RANGE, "s", 0, "Own data of a stream must be 0 or 1."),
    *[
        (one(Stream(read_ppm=0, own_data=1, **given)), 1, RANGE, "s", 0, "A share of compressible")
        for given in BEYOND
    ],
    (
        raw("stream.0.fill_bytes", 65),
        *(1, RANGE, "s", 0, "The fill of compressible data must be at most 64 bytes."),
    ),
    *[
        (one(Stream(read_ppm=0, **given)), 1, INVALID, "s", 0, "Compressible or duplicate data or")
        for given in OWN
    ],
    (one(Stream(own_data=1)), 1, INVALID, "s", 0, "Own data are given for a stream that has no w"),
    (
        one(Stream(own_data=1, read_ppm=0, operation=2)),
        *(1, INVALID, "s", 0, "Own data are given for a stream that has no writes of data."),
    ),
    (
        one(Stream(read_ppm=0, own_data=1, compressible_ppm=1_000_000, duplicate_ppm=1)),
        *(1, INVALID, "s", 0, "A share of duplicate data is given for a stream whose data are all"),
    ),
    (
        one(Stream(read_ppm=0, own_data=1, fill=b"x")),
        *(1, INVALID, "s", 0, "A fill is given for a stream without compressible data."),
    ),
    # patterns
    (
        raw("stream.0.pattern", len(PATTERN_CODES)),
        1,
        INVALID,
        "s",
        0,
        "A stream has an unknown address pattern.",
    ),
    (
        one(Stream("hotband", range_bytes=999_936, align_bytes=512, sizes=512)),
        *(1, RANGE, "s", 0, "A hot band is too small: its range must have 1000000 bytes or more."),
    ),
    (one(Stream(seq_ppm=1_000_001)), 1, RANGE, "s", 0, "The share of sequential I/Os is larger"),
    (
        one(Stream(sizes=512, seq_ppm=1)),
        *(1, INVALID, "s", 0, "With a share of sequential I/Os every block size must be a multi"),
    ),
    (one(Stream("sequential", 512)), 1, INVALID, "s", 0, "Every block size of a sequential or b"),
    (
        one(Stream("sequential", {BLOCK: 1, MIB: 1}, range_bytes=2 * MIB)),
        *(3, RANGE, "s", 0, "The range of a sequential or backward stream is too small: each w"),
    ),
    (
        one(Stream("sequential", range_bytes=10 * BLOCK), arrival=Arrival("constant", rate=1)),
        *(11, RANGE, "s", 0, "The range of a sequential or backward stream is too small: each w"),
    ),
    (one(Stream("strided")), 1, INVALID, "s", 0, "The stride must be a multiple of the stream's"),
    (one(replace(STRIDED, stride_bytes=512)), 1, INVALID, "s", 0, "The stride must be a multipl"),
    (one(replace(STRIDED, stride_bytes=2 * GIB)), 1, RANGE, "s", 0, "The stride is larger than "),
    (one(replace(STRIDED, stride_bytes=GIB)), 1, RANGE, "s", 0, "The range of a strided stream "),
    (
        one(replace(STRIDED, range_bytes=64 * BLOCK)),
        *(4, RANGE, "s", 0, "The range of a strided stream is too small: each worker's part of i"),
    ),
    (one(replace(STRIDED, jitter_bytes=512)), 1, INVALID, "s", 0, "The jitter of a strided stream"),
    (one(replace(STRIDED, jitter_bytes=2**64 - BLOCK)), 1, RANGE, "s", 0, "The jitter is larger "),
    (
        one(replace(STRIDED, range_bytes=18 * BLOCK, jitter_bytes=2 * BLOCK)),
        *(1, RANGE, "s", 0, "The range of a strided stream is too small: each worker's part of i"),
    ),
    (one(replace(STRIDED, zone_range_bytes=1)), 1, INVALID, "s", 0, "A range or an order of zones"),
    (one(replace(STRIDED, zone_order=1)), 1, INVALID, "s", 0, "A range or an order of zones is g"),
    (one(replace(ZONED, zone_order=3)), 1, INVALID, "s", 0, "A strided stream has an unknown ord"),
    (one(replace(ZONED, jitter_bytes=BLOCK)), 1, INVALID, "s", 0, "A strided stream has a jitter "),
    (one(replace(ZONED, zone_size_bytes=GIB + 1)), 1, RANGE, "s", 0, "A zone is larger than the r"),
    (one(replace(ZONED, zone_range_bytes=GIB + 1)), 1, RANGE, "s", 0, "A zone is larger than the "),
    (one(replace(ZONED, sizes=512)), 1, INVALID, "s", 0, "Every block size of a strided stream w"),
    (
        one(replace(ZONED, sizes=512, zone_order=2)),
        *(1, INVALID, "s", 0, "Every block size of a strided stream with zones must be a multiple"),
    ),
    (
        one(replace(ZONED, sizes={BLOCK: 1, 2 * BLOCK: 1}, zone_order=2)),
        *(1, INVALID, "s", 0, "Zones whose blocks are touched once need one block size."),
    ),
    *(
        (
            one(replace(ZONED, sizes=2 * BLOCK, zone_range_bytes=2 * BLOCK - 1, zone_order=order)),
            *(
                1,
                RANGE,
                "s",
                0,
                "The zones of a strided stream have no room for its largest block.",
            ),
        )
        for order in (1, 2)
    ),
    (
        one(replace(ZONED, range_bytes=24 * BLOCK - 1)),
        *(1, RANGE, "s", 0, "The range of a strided stream is too small: each worker's part of i"),
    ),
    (
        one(replace(ZONED, sizes=4 * BLOCK, zone_size_bytes=5 * BLOCK, range_bytes=23 * BLOCK)),
        *(1, RANGE, "s", 0, "The range of a strided stream is too small: each worker's part of i"),
    ),
    (one(Stream("backward", 512)), 1, INVALID, "s", 0, "Every block size of a sequential or b"),
    (
        one(Stream("backward", range_bytes=10 * BLOCK), arrival=Arrival("constant", rate=1)),
        *(11, RANGE, "s", 0, "The range of a sequential or backward stream is too small: each w"),
    ),
    (one(Stream("once", 512)), 1, INVALID, "s", 0, "A stream that touches every block once needs "),
    (
        one(Stream("once", {BLOCK: 1, MIB: 1})),
        *(1, INVALID, "s", 0, "A stream that touches every block once needs one block size, a mu"),
    ),
    (
        one(Stream("once", range_bytes=10 * BLOCK), arrival=Arrival("constant", rate=1)),
        *(11, RANGE, "s", 0, "The range of a stream that touches every block once is too small: "),
    ),
    # tables
    (one(table([])), 1, RANGE, "s", 0, "A table needs 1 to 256 parts."),
    (one(table([(4, 2**32)] * 257)), 1, RANGE, "s", 0, "A table needs 1 to 256 parts."),
    (one(table([(SLOTS, 2**40)], spread=2)), 1, RANGE, "s", 0, "The spread of a table must be 0 o"),
    (raw("nr_parts", 4097), 1, RANGE, "w", 0, "The tables of a workload have more than 4096 part"),
    (
        raw("stream.0.first_part", 1, FLAT),
        1,
        INVALID,
        "s",
        0,
        "A table has parts that the workload",
    ),
    (raw("stream.0.first_part", 2**32 - 1, FLAT), 1, INVALID, "s", 0, "A table has parts that the"),
    (
        raw("stream.0.nr_parts", 2, FLAT),
        1,
        INVALID,
        "s",
        0,
        "A table has parts that the workload d",
    ),
    (one(table([(SLOTS, 2**40), (0, 0)])), 1, INVALID, "s", 0, "A part of a table is empty: it n"),
    *(
        (one(table(parts)), 1, INVALID, "s", 0, "The parts of a table must have all addresses of")
        for parts in (
            [(SLOTS - 1, 2**40)],
            [(SLOTS + 1, 2**40)],
            [(SLOTS, 2**40 - 1)],
            [(SLOTS, 2**40 + 1)],
            [(SLOTS, 0)],
            [(2**64 - 1, 2**39), (SLOTS + 1, 2**39)],
            [(SLOTS // 2, 2**64 - 1), (SLOTS // 2, 2**40 + 1)],
        )
    ),
    (
        one(table([(2**40 + 1, 2**40)]), Asu(2**52 + BLOCK)),
        *(1, RANGE, "s", 0, "The range of a stream with a table is too large: it has more than 2^"),
    ),
    (
        one(table([(2**32 + 1, 2**40)], spread=1), Asu(2**44 + BLOCK)),
        *(1, RANGE, "s", 0, "The range of a table that is spread is too large: it has more than 2"),
    ),
    (one(replace(RUNS, sizes=512)), 1, INVALID, "s", 0, "Every block size of a stream of runs m"),
    (one(replace(RUNS, run_align_bytes=0)), 1, INVALID, "s", 0, "The alignment of runs must be "),
    (one(replace(RUNS, run_align_bytes=512)), 1, INVALID, "s", 0, "The alignment of runs must b"),
    (
        one(replace(RUNS, run_align_bytes=3 * BLOCK)),
        *(1, INVALID, "s", 0, "The alignment of runs must be the stream's alignment times a powe"),
    ),
    (one(replace(RUNS, run_bytes=GIB)), 1, RANGE, "s", 0, "The restart zone of a stream of runs"),
    (one(replace(RUNS, run_bytes=2 * GIB)), 1, RANGE, "s", 0, "The restart zone of a stream of "),
    (
        one(replace(RUNS, restart_bytes=512)),
        *(1, RANGE, "s", 0, "The restart zone of a stream of runs is smaller than its alignment."),
    ),
    (
        one(replace(RUNS, run_bytes=32 * BLOCK - 512)),
        *(1, RANGE, "s", 0, "A run is too short: it must hold the largest block and the alignmen"),
    ),
    (raw("stream.0.walk_style", 2, Stream("walk")), 1, INVALID, "s", 0, "A walk has an unknown s"),
    (one(Stream("walk", 2 * BLOCK)), 1, INVALID, "s", 0, "A walk moves by single blocks: it nee"),
    (one(Stream("walk", {BLOCK: 1, MIB: 1})), 1, INVALID, "s", 0, "A walk moves by single block"),
    (
        one(Stream("walk", range_bytes=4 * MIB - BLOCK)),
        *(1, RANGE, "s", 0, "The hot spot of a classic walk is too small: its smallest step span"),
    ),
    (
        one(Stream("walk", range_bytes=2 * MIB - BLOCK, walk_style="fixed")),
        *(1, RANGE, "s", 0, "The hot spot of a fixed walk is too small: its smallest step spans "),
    ),
    (
        one(Stream("walk", 512, align_bytes=512), Asu(2**32 * 8 * 512)),
        *(1, RANGE, "s", 0, "The hot spot of a walk is too large: it has 2^32 leaves of 8 blocks"),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{c[3]}-{c[5][:40]}" for c in CASES])
def test_refusal(case: tuple[Workload, int, int, str, int, str]) -> None:
    workload, workers, err, kind, index, text = case
    with pytest.raises(WorkloadError) as refusal:
        workload.check(workers)
    no = refusal.value
    assert no.text.startswith(text)
    assert (no.errno, no.kind, no.index) == (err, KINDS[kind], index)


def sentences() -> set[str]:
    source = (GENERATOR.folder / "workload.c").read_text()
    return set(re.findall(r'spek_refuse_part\(refusal, -E\w+,\s*"([^"]*)"\)', source))


def test_every_sentence_has_a_case() -> None:
    tried = {sentence for sentence in sentences() if any(sentence.startswith(c[5]) for c in CASES)}
    assert sentences() - tried == set()


def test_every_refusal_is_one_whole_sentence() -> None:
    source = (GENERATOR.folder / "workload.c").read_text()
    assert len(re.findall(r"return spek_refuse_part\(", source)) >= len(sentences()) > 40
    for sentence in sentences():
        assert re.fullmatch(r"[A-Z].*[^.]\.", sentence), sentence


GOOD = [
    one(Stream()),
    one(Stream(sizes=BLOCK, range_bytes=BLOCK)),
    one(Stream(sizes=512)),
    one(Stream(sizes={512: 1, 16 * MIB: 2**32 - 1}, align_bytes=512)),
    one(Stream(sizes=[(BLOCK, 1)] * 64)),
    one(Stream(), STRIPED),
    one(Stream(), replace(STRIPED, extents=[(0, 0), (0, 8 * MIB)])),
    one(Stream(), arrival=Arrival("poisson", rate=0.001)),
    one(Stream(), arrival=Arrival("constant", rate=1e9)),
    one(Stream(), arrival=Arrival("burst", burst_length=2**32 - 1, burst_interval_ns=10**15)),
    one(RUNS),
    one(replace(RUNS, run_bytes=32 * BLOCK)),
    one(STRIDED),
    one(replace(STRIDED, jitter_bytes=BLOCK, range_bytes=18 * BLOCK)),
    one(replace(ZONED, range_bytes=24 * BLOCK)),
    one(replace(ZONED, sizes=4 * BLOCK, zone_size_bytes=5 * BLOCK, range_bytes=24 * BLOCK)),
    one(replace(ZONED, zone_size_bytes=2**64 - 1, zone_range_bytes=1)),
    one(replace(ZONED, sizes=512, zone_size_bytes=1, zone_range_bytes=512, zone_order=1)),
    one(replace(ZONED, zone_range_bytes=BLOCK, zone_order=2, range_bytes=17 * BLOCK)),
    one(Stream("backward", range_bytes=BLOCK)),
    one(Stream("once", range_bytes=BLOCK)),
    one(FLAT),
    one(table([(1, 0), (SLOTS - 1, 2**40)], spread=1)),
    one(table([(1, 2**32)] * 256, range_bytes=256 * BLOCK)),
    one(table([(1, 2**40)], range_bytes=BLOCK, spread=1)),
    one(table([(2**40, 2**40)]), Asu(2**52)),
    one(table([(2**32, 2**40)], spread=1), Asu(2**44)),
    one(Stream("once", 512, align_bytes=512), Asu(2**62)),
    one(Stream("walk", range_bytes=4 * MIB)),
    one(Stream("walk", range_bytes=2 * MIB, walk_style="fixed")),
    one(Stream("sequential", range_bytes=10 * BLOCK)),
    spc1(1, 20480, 4551),
    spc1(1, 10240, 2275, "fixed"),
    spc1(60000),
]


@pytest.mark.parametrize("workload", GOOD)
def test_the_last_allowed_value_is_allowed(workload: Workload) -> None:
    workload.check(1)
    assert len(Generator(workload, 1).ops(100)) == 100


def test_spc1_below_its_smallest_asu_is_refused_with_the_reason() -> None:
    with pytest.raises(WorkloadError, match=r"smallest step spans 128 leaves.* ASU of 80 MiB"):
        spc1(1, 20479, 4551).check()
    with pytest.raises(WorkloadError, match=r"smallest step spans 64 leaves.* ASU of 40 MiB"):
        spc1(1, 10239, 2275, "fixed").check()


def test_a_sequential_range_may_be_enough_for_few_workers_only() -> None:
    stream = Stream("sequential", range_bytes=10 * BLOCK)
    workload = one(stream, arrival=Arrival("constant", rate=1))
    workload.check(10)
    # four I/Os outstanding employ four workers
    one(stream).check(11)
    with pytest.raises(WorkloadError, match="each worker's part"):
        workload.check(11)


def test_largest_block_and_writing() -> None:
    read, write = Stream(sizes={BLOCK: 1, MIB: 1}), Stream(sizes=512, read_ppm=999_999)
    workload = Workload([ASU], [CLOSED], [read, write])
    assert LIB.spek_workload_max_bytes(workload.c) == MIB
    assert LIB.spek_workload_writes(workload.c)
    assert not LIB.spek_workload_writes(one(read).c)


# enum spek_op_flags
FUA, FLUSH, DISCARD, WRITE_ZEROES = 1, 4, 8, 16


@pytest.mark.parametrize("pattern", ["uniform", "sequential", "once", "backward"])
@pytest.mark.parametrize(("operation", "kind"), [(2, DISCARD), (3, WRITE_ZEROES)])
def test_operations_without_data_have_the_addresses_of_their_pattern(
    pattern: Pattern, operation: int, kind: int
) -> None:
    bare = Generator(one(Stream(pattern, operation=operation, read_ppm=0)), seed=7).ops(1000)
    plain = Generator(one(Stream(pattern, read_ppm=0)), seed=7).ops(1000)

    assert set(bare["kind"].tolist()) == {kind}
    assert (bare["write"] == 1).all()
    for field in ("addr", "bytes", "at_ns", "replica"):
        assert (bare[field] == plain[field]).all()


def test_a_flush_has_neither_address_nor_length() -> None:
    flush = Stream(operation=1, read_ppm=0, range_start=BLOCK, weight=1)
    workload = Workload([ASU], [CLOSED], [Stream(read_ppm=500_000, weight=3), flush])
    ops = Generator(workload, seed=7).ops(100_000)

    flushes = ops[ops["stream"] == 1]
    assert 24_000 < len(flushes) < 26_000
    assert set(flushes["kind"].tolist()) == {FLUSH}
    assert not flushes["addr"].any() and not flushes["bytes"].any()
    assert (flushes["write"] == 1).all()
    assert not ops[ops["stream"] == 0]["kind"].any()


def test_only_writes_have_forced_unit_access() -> None:
    ops = Generator(one(Stream(read_ppm=300_000, fua=1)), seed=7).ops(10_000)
    assert (ops["kind"] == np.where(ops["write"] == 1, FUA, 0)).all()
    assert 6_700 < int(ops["write"].sum()) < 7_300
