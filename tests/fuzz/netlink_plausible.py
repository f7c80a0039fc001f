# SPDX-License-Identifier: GPL-2.0
"""What makes a request plausible: values that get past the checks, set by set.

The specs say what types and limits attributes have, but not that a burst needs a length. A
request of random values would never get past the first check, and what comes behind would
never be fuzzed. So for each set there are variants: attributes with how often they are there
(in 256ths), how many times, and values that go together. Everything else, wrong values above
all, is the mutations' part (netlink/mutate.c) and follows from the specs alone.
"""

from __future__ import annotations

from dataclasses import dataclass

MS, SECOND, MIB = 10**6, 10**9, 1 << 20
ALWAYS, MOSTLY, OFTEN, SOMETIMES, RARELY = 256, 200, 128, 48, 6
DISK_BYTES = 16 * MIB

# Values that are known only when the request is made (enum source in netlink/fuzz.h).
DYNAMIC = (
    "run", "probe", "feed", "drive", "replay", "major", "minor", "protected-minor", "near-now",
    "samples", "intervals", "pid", "states", "parts", "zones", "seek-points", "records", "fed",
)  # fmt: skip


@dataclass(frozen=True)
class Field:
    """An attribute of a variant.

    @values: one of them; "@x" stands for a source of DYNAMIC; none: a nest
    @at_most: times that it comes, at least once
    @variants: of a nest that is not any of its set
    """

    name: str
    values: tuple[int | str, ...] = ()
    often: int = ALWAYS
    at_most: int = 1
    variants: tuple[Variant, ...] = ()


Variant = tuple[Field, ...]

# Numbers of claims: those of the first 32.
_CLAIMS = tuple(range(1, 33))
_FIRST = (*(0,) * 15, 1)  # mostly there is no second one
_RATES = (1000, 100_000, 10**6, 10**7) * 4
_RUN = (
    Field("name", ("fuzz", "a", "x" * 63)),
    Field("seed", (0, 1, 2**64 - 1)),
    Field("max-outstanding", (1, 4, 4, 32, 32, 256)),
    Field("worker", at_most=3),
    Field("target"),
    Field("target", often=RARELY),
    Field("asu"),
    Field("asu", often=RARELY),
    Field("arrival"),
    Field("arrival", often=RARELY),
    Field("stream", at_most=4),
    Field("detached", (0, 1), SOMETIMES),
    Field("claim", _CLAIMS, RARELY),
    Field("write", (1, 1, 1, 1, 1, 1, 1, 0)),
    Field("backend", (0, 1, 2, 3), OFTEN),
    Field("polled", (0, 0, 0, 1), SOMETIMES),
    Field("data", (0, 1, 2, 2), OFTEN),
    Field("batch", (1, 16, 256), SOMETIMES),
    Field("spin-ns", (0, 1000, 50_000, 10 * MS), SOMETIMES),
    Field("interval-ns", (0, MS, 10 * MS, SECOND), OFTEN),
    Field("max-errors", (0, 1, 2**64 - 1), SOMETIMES),
    Field("log-records", (1, 1024, 65536), SOMETIMES),
)
_STREAM = (
    Field("name", ("s", "y" * 31), SOMETIMES),
    Field("asu", _FIRST),
    Field("arrival", _FIRST),
    Field("weight", (1, 7, 2**32 - 1), SOMETIMES),
    Field("replicas", (1, 2, 50, 1000), SOMETIMES),
    Field("read-ppm", (1_000_000, 1_000_000, 700_000, 0)),
    Field("range-start", (0, 0, 0, 4096), SOMETIMES),
    Field("align-bytes", (512, 4096, 4096)),
    Field("range-bytes", (65536, MIB, 8 * MIB, DISK_BYTES)),
    Field("size", at_most=3),
    Field("operation", (1, 2, 3, 4, 5, 6, 7, 8), RARELY),
    Field("fua", (1,), RARELY),
    Field("priority", (1, 2, 3), RARELY),
    Field("priority-level", (1, 7), RARELY),
    Field("write-hint", (1, 5), RARELY),
    Field("own-data", (1,), RARELY),
    Field("compressible-ppm", (1, 500_000, 1_000_000), RARELY),
    Field("duplicate-ppm", (1, 500_000), RARELY),
    Field("fill", ("f", "xyz", "f" * 63), RARELY),
    Field("atomic", (1,), RARELY),
)


_CHECKED = (
    *(field for field in _RUN if field.name not in ("data", "write", "detached", "polled")),
    Field("data", (2,)),
    Field("write", (1,)),
)


# Little may vary if any trace is to be replayed; mostly reads, of a disk that no run has to itself.
_TRACE_STREAM = (
    Field("pattern", (9,)),
    Field("asu", (0,)),
    Field("arrival", (0,)),
    Field("align-bytes", (512,)),
    Field("range-bytes", (8 * MIB,)),
    Field("size", variants=((Field("bytes", (4096, 65536)), Field("weight", (1,))),)),
)
_READS, _BOTH = Field("read-ppm", (1_000_000,)), Field("read-ppm", (500_000,))
_NONE = Field("read-ppm", (0,))


def _replay(write: int, *streams: Variant) -> Variant:
    kept = ("name", "seed", "max-outstanding", "worker", "backend", "interval-ns", "log-records")
    return (
        *(field for field in _RUN if field.name in kept),
        Field(
            "target",
            variants=(
                (
                    Field("major", ("@major",)),
                    Field("minor", ("@minor",) if write else ("@protected-minor",)),
                ),
            ),
        ),
        Field("detached", (1,), SOMETIMES),
        Field("write", (write,)),
        Field("asu", variants=((Field("bytes", (8 * MIB, DISK_BYTES)), Field("extent")),)),
        Field("trace-records", (1024, 1024, 4096, 65536)),
        # Always: in a closed loop records have think times of up to a second each.
        Field("time-ns", (20 * MS, SECOND, 4 * SECOND, 60 * SECOND)),
        Field(
            "arrival",
            variants=((Field("law", (4,)),), (Field("law", (0,)), Field("depth", (4, 32)))),
        ),
        *(Field("stream", variants=((*_TRACE_STREAM, *stream),)) for stream in streams),
    )


def _mixed(write: int, trace: Variant, share: Field) -> Variant:
    """A replay beside one or two generated streams, which have an arrival process of their own."""
    kept = ("name", "weight", "align-bytes", "size")
    beside = Field(
        "stream",
        variants=(
            (
                *(field for field in _STREAM if field.name in kept),
                Field("asu", (0,)),
                Field("arrival", (1,)),
                Field("range-bytes", (MIB, 8 * MIB)),
                Field("pattern", (0, 1, 6)),
                share,
            ),
        ),
        at_most=2,
    )
    return (*_replay(write, trace), Field("arrival"), beside)


def _pattern(number: int, *more: Field) -> Variant:
    return (*_STREAM, Field("pattern", (number,)), *more)


_DRIVE = (
    Field("heads", (1, 2, 4, 6)),
    Field("zones", ("@zones",)),
    Field("seek-points", ("@seek-points",)),
    Field("period-ps", (10**9, 8_333_333_333, 10**12)),
    Field("max-fall-ppm", (0, 400_000, 10**6), SOMETIMES),
    Field("name", ("d", "n" * 31), SOMETIMES),
    Field("vendor", ("FUZZ", "v" * 8), SOMETIMES),
    Field("product", ("A DISK", "p" * 16), SOMETIMES),
    Field("revision", ("1", "9999"), SOMETIMES),
    Field("serial", ("a", "b", "s" * 20), RARELY),
    Field("layout", (0, 1), SOMETIMES),
    Field("phase", (0, 2**63), SOMETIMES),
    Field("head-switch-ns", (0, MS), SOMETIMES),
    Field("settle-ns", (0, MS), SOMETIMES),
    Field("overhead-ns", (0, MS), SOMETIMES),
    Field("seek-scale", (0, 128, 256), SOMETIMES),
    Field("rotation-scale", (0, 128, 256), SOMETIMES),
    Field("zero-latency", (0, 1), SOMETIMES),
    Field("policy", (0, 1, 2, 3), OFTEN),
    Field("window", (1, 4, 2**32 - 1), SOMETIMES),
    Field("max-wait-ns", (0, MS, SECOND), SOMETIMES),
    Field("queue-depth", (1, 32, 256), SOMETIMES),
    Field("spin-ns", (0, 20_000, 200_000), SOMETIMES),
    Field("condition-power", (), SOMETIMES, at_most=3),
    Field("hold-uw", (0, 2_000_000), SOMETIMES),
    Field("seek-uw", (0, 4_675_000), SOMETIMES),
    Field("read-uw", (0, 10**9), SOMETIMES),
    Field("starting-ns", (0, MS), SOMETIMES),
    Field("stopping-ns", (0, MS), SOMETIMES),
    Field("store", (0, 1), SOMETIMES),
    Field("store-bytes", (0, 1, MIB), SOMETIMES),
    Field("fixed-ata-sense", (0, 1), SOMETIMES),
)


_PROTECTED = (Field("major", ("@major",)), Field("minor", ("@protected-minor",)))

VARIANTS: dict[str, dict[str, list[Variant]]] = {
    "spek": {
        "run-new": [
            (*_RUN, Field("time-ns", (MS, MS, 5 * MS, 20 * MS, 3600 * SECOND))),
            (*_RUN, Field("count", (1, 10, 100, 1000))),
            (*_RUN, Field("count", (1000,)), Field("ramp-count", (0, 10))),
            (*_RUN, Field("time-ns", (50 * MS,)), Field("ramp-ns", (0, MS, 20 * MS))),
            # stamped ones
            (*_CHECKED, Field("count", (100, 1000)), Field("grain-bytes", (512, 4096), OFTEN)),
            (*_CHECKED, Field("count", (100,)), Field("stamp-id", (1, 2**63), OFTEN)),
            (*_CHECKED, Field("count", (100,)), Field("verify-newer", (0, 1))),
            (*_CHECKED, Field("count", (100,)), Field("verify-atomic", (0, 1))),
            (*_CHECKED, Field("count", (100,)), Field("verify-from", ("@run",))),
            *(_replay(0, (_READS,)),) * 4,
            _replay(1, (_BOTH,)),
            _replay(1, (_BOTH,), (_NONE, Field("operation", (1,)))),
            _replay(1, (_NONE,), (_NONE, Field("operation", (2,)))),
            *(_mixed(0, (_READS,), _READS),) * 2,
            _mixed(1, (_BOTH,), Field("read-ppm", (1_000_000, 500_000, 0))),
        ],
        "run-get": [(Field("id", ("@run",)),)],
        "run-start": [
            (Field("id", ("@run", "@replay")),),
            # late, or armed for a while
            (Field("id", ("@run",)), Field("start-ns", ("@near-now",))),
        ],
        "run-stop": [(Field("id", ("@run",)),)],
        "run-del": [(Field("id", ("@run",)),)],
        "stats-get": [(Field("run", ("@run",)),)],
        "interval-get": [
            (Field("run", ("@run",)), Field("since", (0, 1, 7, 2**64 - 1), OFTEN)),
        ],
        "op-get": [
            (
                Field("run", ("@run",)),
                Field("worker", (0, 0, 1, 255), MOSTLY),
                Field("count", (0, 1, 100, 5000), MOSTLY),
            ),
        ],
        "mismatch-get": [(Field("run", ("@run",)),)],
        "map-get": [(Field("run", ("@run",)),)],
        "map-set": [
            (
                Field("run", ("@run",)),
                Field("target", (0, 0, 0, 1)),
                Field("first", (0, 0, 1, 4096, 2**64 - 1)),
                Field("states", ("@states",)),
            ),
        ],
        "trace-feed": [
            (
                Field("run", (*("@replay",) * 7, "@run")),
                Field("worker", (*(0,) * 7, 1)),
                Field("records", ("@records",)),
            ),
        ],
        "trace-end": [(Field("run", ("@replay", "@run")), Field("count", ("@fed",)))],
        # Claims of the disk that no run may write to, as those of the others would keep runs off.
        "claim-new": [
            (
                Field("target", variants=(_PROTECTED,)),
                Field("write", (0, 1), OFTEN),
            )
        ],
        "claim-get": [(Field("id", _CLAIMS),)],
        "claim-del": [(Field("id", _CLAIMS),)],
        "worker": [(Field("cpu", (0, 1)),)],
        "target": [
            (Field("major", ("@major",)), Field("minor", ("@minor",))),
            (Field("major", ("@major",)), Field("minor", ("@minor",)), Field("diskseq", (0, 1))),
        ],
        "asu": [
            *(
                (
                    Field("name", ("all",), SOMETIMES),
                    Field("bytes", (*(DISK_BYTES,) * 7, 8 * MIB)),
                    Field("extent"),
                ),
            )
            * 7,
            (
                Field("bytes", (8 * MIB, 16 * MIB)),
                Field("stripe-bytes", (4096, 65536, MIB)),
                Field("extent", at_most=3),
            ),
            (
                Field("bytes", (8 * MIB, DISK_BYTES)),
                Field("zone-bytes", (4096, MIB, 4 * MIB, 3 * MIB)),
                Field("open-zones", (1, 2, 3, 2**32 - 1)),
                Field("extent"),
            ),
        ],
        "extent": [(Field("target", _FIRST), Field("start", (*(0,) * 15, MIB)))],
        "arrival": [
            (
                Field("law", (0,)),
                Field("depth", (1, 4, 32, 300)),
                Field("think-ns", (0, 1000, SECOND), SOMETIMES),
                Field("rate-milli", _RATES, RARELY),
                Field("burst-length", (1, 32, 65536), RARELY),
            ),
            (
                Field("law", (0,)),
                Field("depth", (1, 4, 32, 300)),
                Field("pause-ns", (1, 1000, MS, 10**15, 2**64 - 1)),
                Field("pause-every", (1, 3, 16, 2**32 - 1), OFTEN),
                Field("pause-counts-completed", (0, 1), SOMETIMES),
                Field("pause-after-ns", (1, MS, SECOND), SOMETIMES),
                Field("count", (1, 100, 10**17, 10**17 + 1), SOMETIMES),
                Field("rate-milli", _RATES, RARELY),
            ),
            (Field("law", (1,)), Field("rate-milli", (*_RATES, 10**15, 2**64 - 1))),
            (Field("law", (2,)), Field("rate-milli", (*_RATES, 10**15))),
            (
                Field("law", (1, 2)),
                Field("rate-milli", (10**6, *_RATES)),
                Field("on-ns", (MS, SECOND, 9999, 2**64 - 1)),
                Field("off-ns", (MS, SECOND, 10000, 10**15), OFTEN),
                Field("tail-milli", (1001, 1500, 3000, 16000), OFTEN),
            ),
            (
                Field("law", (3,)),
                Field("burst-length", (1, 8, 1000, 2**32 - 1)),
                Field("burst-interval-ns", (1, 1000, MS, SECOND)),
            ),
        ],
        "size": [(Field("bytes", (512, 4096, 4096, 16384, 65536)), Field("weight", (1, 3)))],
        "stream": [
            _pattern(0, Field("seq-ppm", (0, 500_000, 1_000_000), OFTEN)),
            _pattern(1),
            _pattern(
                2,
                Field("stride-bytes", (4096, 65536, MIB)),
                Field("jitter-bytes", (0, 4096, MIB), SOMETIMES),
            ),
            _pattern(
                2,
                Field("stride-bytes", (65536, MIB)),
                Field("zone-size-bytes", (4096, 20000, MIB)),
                Field("zone-range-bytes", (0, 4096, 65536), SOMETIMES),
                Field("zone-order", (0, 1, 2), OFTEN),
            ),
            _pattern(
                3,
                Field("run-bytes", (4096, 65536)),
                Field("restart-bytes", (65536, MIB), OFTEN),
                Field("run-align-bytes", (512, 4096, 8192), SOMETIMES),
            ),
            _pattern(4, Field("walk-style", (0, 1), OFTEN)),
            _pattern(5),
            _pattern(6),
            _pattern(7),
            _pattern(8, Field("part", ("@parts",)), Field("spread", (0, 1), SOMETIMES)),
            _pattern(10),
        ],
    },
    "spek_prober": {
        "probe-start": [
            (
                Field("interval-ns", (MS, 10 * MS, SECOND, 3600 * SECOND)),
                Field("ring-rows", (2, 16, 4096), OFTEN),
                Field("detached", (0, 1), SOMETIMES),
                Field("task", (), SOMETIMES, at_most=3),
            ),
        ],
        "probe-stop": [(Field("id", ("@probe",)),)],
        "probe-del": [(Field("id", ("@probe",)),)],
        "probe-get": [()],
        "sample-get": [
            (
                Field("probe", ("@probe",), OFTEN),
                Field("since", (0, 1, 100, 2**64 - 1), OFTEN),
                Field("hold", (0, 1), OFTEN),
            ),
        ],
        "feed-open": [
            (
                Field("name", ("f0", "f1", "f2", "f3", "f4", "f5", "z" * 31)),
                Field("source", ("fuzz",)),
                Field("history", (64, 1024), OFTEN),
                Field("max-step-ns", (1, MS, SECOND, 3600 * SECOND), OFTEN),
                Field("uncertainty-ns", (0, MS), SOMETIMES),
                Field("rail", at_most=4),
            ),
        ],
        "feed-push": [(Field("id", ("@feed",)), Field("samples", ("@samples",)))],
        "feed-mark": [
            (
                Field("id", ("@feed",)),
                Field("until-ns", ("@near-now",), OFTEN),
                Field("uncertainty-ns", (0, MS), SOMETIMES),
                Field("drift-ppb", (0, 1000, 2**64 - 1000), SOMETIMES),
                Field("residual-ns", (0, MS), SOMETIMES),
                Field("overflows", (0, 1), SOMETIMES),
                Field("lost", (0, 1), SOMETIMES),
            ),
        ],
        "feed-close": [(Field("id", ("@feed",)),)],
        "feed-get": [(Field("id", ("@feed",), OFTEN),)],
        "energy-get": [(Field("feed", ("@feed",), OFTEN), Field("intervals", ("@intervals",)))],
        "task": [(Field("pid", ("@pid",)),)],
        "rail": [
            (
                Field("name", ("r0", "r1", "r2", "r3", "r4", "r5", "r6")),
                Field("lsb-nw", (0, 1), SOMETIMES),
            ),
        ],
    },
}

VARIANTS["spek_drive"] = {
    "drive-new": [
        _DRIVE,
        (*_DRIVE, Field("arms", (1, 2, 4)), Field("split", (0, 1), OFTEN)),
        (*_DRIVE, Field("arms", (4,)), Field("channels", (1, 2)), Field("moving", (2, 4))),
        (*_DRIVE, Field("stacks", (2,)), Field("arms", (2, 4))),
        (
            *_DRIVE,
            Field("cache-segments", (1, 16)),
            Field("segment-sectors", (64, 1024)),
            Field("ahead-sectors", (0, 64), OFTEN),
            Field("write-cache-sectors", (0, 4096), OFTEN),
            Field("hit-ns", (0, 1000), OFTEN),
        ),
    ],
    "drive-get": [(Field("id", ("@drive",)),)],
    "drive-del": [(Field("id", ("@drive",)),)],
    "drive-stats": [(Field("id", ("@drive",)),)],
    "drive-set": [
        (
            Field("id", ("@drive",)),
            Field("clear-faults", (0, 1), OFTEN),
            Field("fault", (), OFTEN, at_most=3),
        ),
    ],
    "condition-power": [
        (
            Field("condition", (0, 1, 2, 3, 4, 5)),
            Field("uw-v5", (0, 3_000_000), OFTEN),
            Field("uw-v12", (0, 6_000_000), OFTEN),
        ),
    ],
    "fault": [
        (
            Field("kind", (0, 1)),
            Field("lba", (0, 8, 1000, 2**40)),
            Field("sectors", (1, 8), OFTEN),
            Field("delay-ns", (0, MS), SOMETIMES),
        ),
        (Field("kind", (2, 3)), Field("number", (0, 1)), Field("delay-ns", (0, MS), SOMETIMES)),
        (Field("kind", (4,)), Field("delay-ns", (0, MS))),
        (Field("kind", (6, 7)),),
    ],
}

# How often an operation of a family is asked for, in relation to the others; what is not here: 4.
# Few drives are made: udev works for seconds on each in a guest of the debug kernel.
WEIGHTS = {
    "run-new": 20, "run-get": 10, "run-start": 14, "run-stop": 6, "run-del": 8, "stats-get": 6,
    "interval-get": 6, "op-get": 6, "trace-feed": 14, "trace-end": 6, "run-ntf": 1,
    "claim-new": 1, "claim-get": 4, "claim-del": 4, "claim-ntf": 1,
    "probe-ntf": 1, "probe-start": 10, "probe-stop": 8, "probe-del": 8, "feed-open": 6,
    "feed-push": 14, "drive-new": 2, "drive-get": 30, "drive-del": 4, "drive-stats": 30,
    "drive-set": 60, "drive-ntf": 2,
}  # fmt: skip
