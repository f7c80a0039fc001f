# SPDX-License-Identifier: GPL-2.0-or-later
# generated from kmod/load/uapi/spek.yaml, run `make gen`
"""Netlink family spek: limits, words and records of requests."""

from struct import pack
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from spekctl.contract.wire import code, given

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

# How I/O reaches the device.
Backend = Literal["auto", "bio", "mq", "scsi"]

# Arrival law.
Law = Literal["closed", "poisson", "constant", "burst", "trace"]

# Address pattern of a stream.
Pattern = Literal[
    "uniform",
    "sequential",
    "strided",
    "runs",
    "walk",
    "hotband",
    "once",
    "backward",
    "table",
    "trace",
    "write-pointer",
]

# Operations of a stream.
Operation = Literal[
    "transfer",
    "flush",
    "discard",
    "write-zeroes",
    "zone-append",
    "zone-reset",
    "zone-finish",
    "zone-open",
    "zone-close",
]

# Class of I/O priority, as of ioprio_set(2).
Priority = Literal["none", "rt", "be", "idle"]

# Expected lifetime of the data that a stream writes, as of fcntl(2) F_SET_RW_HINT.
WriteHint = Literal["not-set", "none", "short", "medium", "long", "extreme"]

# Variant of the hierarchical reuse random walk.
WalkStyle = Literal["classic", "fixed"]

# Order of the I/Os in a zone of a strided stream.
ZoneOrder = Literal["sequential", "random", "once"]

# Data to write.
Data = Literal["zero", "random", "stamped"]


class WorkerRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Worker of a run."""

    cpu: Annotated[int, Meta(description="CPU the worker is bound to.")]

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("cpu", int(self.cpu), ()),
        )


class TargetRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Target of a run."""

    major: Annotated[int, Meta(description="Device number.")]
    minor: Annotated[int, Meta(description="Device number.")]
    diskseq: Annotated[
        int,
        Meta(
            description=(
                "Sequence number of the disk; differs if the device was replaced since it was "
                "checked."
            )
        ),
    ] = 0
    read_only: Annotated[
        int,
        Meta(
            description=(
                "1 - the device is opened read-only although write is set: a stream that can write "
                "is refused there, and so is a run that may write it under a claim."
            )
        ),
    ] = 0

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("major", int(self.major), ()),
            ("minor", int(self.minor), ()),
            ("diskseq", int(self.diskseq), (0,)),
            ("read_only", int(self.read_only), (0,)),
        )


class ExtentRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Part of an address range on one target."""

    target: Annotated[int, Meta(description="Index of the target.")]
    start: Annotated[int, Meta(description="First byte on it.")]

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("target", int(self.target), ()),
            ("start", int(self.start), ()),
        )


class AsuRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Address range (asu) on one target, or striped over several."""

    name: Annotated[str, Meta(description="Name for readers of requests; the kernel ignores it.")]
    bytes: Annotated[int, Meta(description="Size of the range over all its targets.")]
    extents: Annotated[list[ExtentRequest], Meta(description="One for each target it lies on.")]
    stripe_bytes: Annotated[
        int,
        Meta(description="Stripe unit with several extents, a power of two."),
    ] = 0
    zone_bytes: Annotated[
        int,
        Meta(
            description=(
                "write-pointer - distance from zone to zone of the target, a power of two, at least"
                " the largest block of these streams; the asu has whole zones."
            )
        ),
    ] = 0
    open_zones: Annotated[
        int,
        Meta(
            description=(
                "write-pointer - zones that are written in turn, at least one for each worker."
            )
        ),
    ] = 0

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("name", self.name, ("",)),
            ("bytes", int(self.bytes), ()),
            ("stripe_bytes", int(self.stripe_bytes), (0,)),
            ("extent", [each.attributes() for each in self.extents], ()),
            ("zone_bytes", int(self.zone_bytes), (0,)),
            ("open_zones", int(self.open_zones), (0,)),
        )


class ArrivalRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arrival process; all values are totals over the workers."""

    name: Annotated[str, Meta(description="Name for readers of requests; the kernel ignores it.")]
    law: Law
    depth: Annotated[int, Meta(description="closed - I/Os outstanding over all workers.")] = 0
    think_ns: Annotated[
        int,
        Meta(description="closed - pause between a completion and the next I/O."),
    ] = 0
    rate_milli: Annotated[
        int,
        Meta(
            description=(
                "poisson and constant - I/Os per 1000 s over all workers; closed - at most so many,"
                " without a limit if not given."
            )
        ),
    ] = 0
    burst_length: Annotated[
        int,
        Meta(
            description=(
                "burst - I/Os of a burst over all workers; closed - I/Os that a limited loop may "
                "make at once after a pause, at most 65536; 1 if not given."
            )
        ),
    ] = 0
    burst_interval_ns: Annotated[int, Meta(description="burst - from start to start.")] = 0
    points: Annotated[
        list[tuple[int, int]],
        Meta(
            description=(
                "poisson and constant - 2 to 256 points of a rate curve, in the order of their "
                "times, instead of rate-milli. Between points the rate changes linearly; two at one"
                " time are a jump. All processes have at most 1024."
            )
        ),
    ] = []
    repeats: Annotated[
        int,
        Meta(
            description=(
                "1: the rate curve begins again after its last point; else the last rate stays."
            )
        ),
    ] = 0
    on_ns: Annotated[
        int,
        Meta(
            description=(
                "poisson and constant - mean of on periods, in which I/Os arrive at the rate, 10000"
                " to 10^15, and at least one I/O long. All the time if not given."
            )
        ),
    ] = 0
    off_ns: Annotated[
        int,
        Meta(
            description=(
                "poisson and constant - mean of the off periods between on periods, 10000 to 10^15."
            )
        ),
    ] = 0
    tail_milli: Annotated[
        int,
        Meta(
            description=(
                "Shape of Pareto lengths of on and off periods in thousandths, 1001 to 16000; below"
                " 2000 they have heavy tails. 0: exponential lengths."
            )
        ),
    ] = 0
    pause_ns: Annotated[
        int,
        Meta(
            description=(
                "closed - pause between bursts, at most 10^15: from the completion of a burst's "
                "last outstanding I/O to the next burst. The loop is on one worker then."
            )
        ),
    ] = 0
    pause_every: Annotated[int, Meta(description="closed with pause-ns - I/Os of a burst.")] = 0
    pause_counts_completed: Annotated[
        int,
        Meta(
            description=(
                "closed with pause-every - 1: a burst ends when so many I/Os have completed since "
                "it began or while the one before it drained; else once so many have been issued."
            )
        ),
    ] = 0
    pause_after_ns: Annotated[
        int,
        Meta(
            description=(
                "closed with pause-ns - a burst ends with the first I/O that is due this long after"
                " its start or later, at most 10^15; also with pause-every, whichever comes first."
            )
        ),
    ] = 0
    count: Annotated[
        int,
        Meta(
            description=(
                "I/Os of the measure phase, at most 10^17, shared out over the workers by load; the"
                " process makes no more, and has ended when they have completed. Those in flight at"
                " the start of the phase count. A run whose processes all have counts ends with the"
                " last of them and needs no time-ns; the others end by time. Not with count of the "
                "run or a trace. 0 - no end of its own."
            )
        ),
    ] = 0

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("law", code(Law, self.law), ()),
            ("depth", int(self.depth), (0,)),
            ("think_ns", int(self.think_ns), (0,)),
            ("rate_milli", int(self.rate_milli), (0,)),
            ("burst_length", int(self.burst_length), (0,)),
            ("burst_interval_ns", int(self.burst_interval_ns), (0,)),
            ("point", b"".join(pack("=QQ", *each) for each in self.points), (b"",)),
            ("repeats", int(self.repeats), (0,)),
            ("on_ns", int(self.on_ns), (0,)),
            ("off_ns", int(self.off_ns), (0,)),
            ("tail_milli", int(self.tail_milli), (0,)),
            ("name", self.name, ("",)),
            ("pause_ns", int(self.pause_ns), (0,)),
            ("pause_every", int(self.pause_every), (0,)),
            ("pause_counts_completed", int(self.pause_counts_completed), (0,)),
            ("pause_after_ns", int(self.pause_after_ns), (0,)),
            ("count", int(self.count), (0,)),
        )


class SizeRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Block size and its weight."""

    bytes: Annotated[int, Meta(description="Length of an I/O.")]
    weight: Annotated[int, Meta(description="Share among the sizes of the stream.")]

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("bytes", int(self.bytes), ()),
            ("weight", int(self.weight), ()),
        )


class StreamRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Stream of I/Os."""

    name: Annotated[str, Meta(description="Name for readers of requests; the kernel ignores it.")]
    asu: Annotated[int, Meta(description="Index of its address range.")]
    arrival: Annotated[int, Meta(description="Index of its arrival process.")]
    read_ppm: Annotated[int, Meta(description="Share of reads.")]
    pattern: Pattern
    range_bytes: Annotated[int, Meta(description="Size of the range.")]
    align_bytes: Annotated[
        int,
        Meta(description="Addresses are multiples of this from the start of the asu."),
    ]
    sizes: Annotated[list[SizeRequest], Meta(description="Block sizes with their weights.")]
    weight: Annotated[
        int,
        Meta(description="Share among the streams of the same arrival process; 1 if not given."),
    ] = 1
    replicas: Annotated[
        int,
        Meta(
            description=(
                "Independent copies of the stream's state, each equally likely; SPC-1 - BSUs; 1 if "
                "not given."
            )
        ),
    ] = 1
    range_start: Annotated[
        int,
        Meta(description="First byte of the range, from the start of the asu."),
    ] = 0
    seq_ppm: Annotated[
        int,
        Meta(description="uniform - share of I/Os that continue the one before."),
    ] = 0
    stride_bytes: Annotated[int, Meta(description="strided - from start to start.")] = 0
    run_bytes: Annotated[int, Meta(description="runs - length of a run.")] = 0
    restart_bytes: Annotated[
        int,
        Meta(
            description="runs - length of the part at the start of the range in which runs start."
        ),
    ] = 0
    run_align_bytes: Annotated[
        int,
        Meta(
            description=(
                "runs - start and end of a run are rounded down to multiples of this in the asu, "
                "but never to before the range."
            )
        ),
    ] = 0
    walk_style: WalkStyle = "classic"
    jitter_bytes: Annotated[
        int,
        Meta(
            description=(
                "strided - an I/O starts up to this far after its place, each multiple of "
                "align-bytes equally likely."
            )
        ),
    ] = 0
    parts: Annotated[
        list[tuple[int, int]],
        Meta(
            description=(
                "table - 1 to 256 parts of the range, in order. Together they have all addresses, "
                "multiples of align-bytes, where the largest block fits, and weights that sum to "
                "2^40. All streams have at most 4096."
            )
        ),
    ] = []
    spread: Annotated[
        int,
        Meta(
            description=(
                "table - 1: neighbouring addresses are spread over the range by a permutation; its "
                "start depends on the seed."
            )
        ),
    ] = 0
    operation: Annotated[
        Operation,
        Meta(
            description=(
                "What the stream does; transfer if not given. Others need read-ppm 0 and back end "
                "bio."
            )
        ),
    ] = "transfer"
    fua: Annotated[
        int,
        Meta(
            description=(
                "1: writes have forced unit access, back end bio; not trace, whose records say it."
            )
        ),
    ] = 0
    priority: Annotated[
        Priority,
        Meta(description="Class of the I/O priority, back ends bio and mq; none if not given."),
    ] = "none"
    priority_level: Annotated[
        int,
        Meta(
            description=(
                "Level within the class, 0 is the highest; 0 if not given. Classes rt and be only."
            )
        ),
    ] = 0
    write_hint: Annotated[
        WriteHint,
        Meta(
            description=(
                "Lifetime of the data written, back ends bio and mq, from Linux 6.9 on; not-set if "
                "not given."
            )
        ),
    ] = "not-set"
    own_data: Annotated[
        int,
        Meta(
            description=(
                "1: writes have data of the stream's own, as the next three say, and not those of "
                "the run; not with stamped data."
            )
        ),
    ] = 0
    compressible_ppm: Annotated[
        int,
        Meta(
            description=(
                "own data - share of each block of 4096 bytes, counted from the start of the I/O, "
                "that is fill; the rest is random. 0 if not given."
            )
        ),
    ] = 0
    duplicate_ppm: Annotated[
        int,
        Meta(
            description=(
                "own data - share of the blocks that are one of 64 blocks which all workers share; "
                "the others are unique. 0 if not given."
            )
        ),
    ] = 0
    fill: Annotated[
        str,
        Meta(
            description=(
                "own data - bytes that the fill repeats, from its start in each block on; zeroes if"
                " not given."
            )
        ),
    ] = ""
    atomic: Annotated[
        int,
        Meta(
            description=(
                "1: writes are atomic, from Linux 6.11 on: a device keeps all of a write or "
                "nothing. Block sizes are powers of two within the device's limits, addresses are "
                "multiples of them."
            )
        ),
    ] = 0
    zone_size_bytes: Annotated[
        int,
        Meta(
            description=(
                "strided - bytes of the I/Os in a zone before they move on to the next one, which "
                "starts a stride after it. Not with jitter-bytes; zones have one I/O if not given."
            )
        ),
    ] = 0
    zone_range_bytes: Annotated[
        int,
        Meta(
            description=(
                "strided with zone-size-bytes - length of the part of a zone in which I/Os start; "
                "sequential I/Os that have passed it start over in the zone. zone-size-bytes if not"
                " given."
            )
        ),
    ] = 0
    zone_order: Annotated[
        ZoneOrder,
        Meta(
            description=(
                "strided with zone-size-bytes - order of the I/Os in a zone; sequential if not "
                "given."
            )
        ),
    ] = "sequential"

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("name", self.name, ("",)),
            ("asu", int(self.asu), ()),
            ("arrival", int(self.arrival), ()),
            ("weight", int(self.weight), (1,)),
            ("replicas", int(self.replicas), (1,)),
            ("read_ppm", int(self.read_ppm), ()),
            ("pattern", code(Pattern, self.pattern), ()),
            ("range_start", int(self.range_start), (0,)),
            ("range_bytes", int(self.range_bytes), ()),
            ("align_bytes", int(self.align_bytes), ()),
            ("seq_ppm", int(self.seq_ppm), (0,)),
            ("stride_bytes", int(self.stride_bytes), (0,)),
            ("run_bytes", int(self.run_bytes), (0,)),
            ("restart_bytes", int(self.restart_bytes), (0,)),
            ("run_align_bytes", int(self.run_align_bytes), (0,)),
            ("walk_style", code(WalkStyle, self.walk_style), (0,)),
            ("jitter_bytes", int(self.jitter_bytes), (0,)),
            ("part", b"".join(pack("=QQ", *each) for each in self.parts), (b"",)),
            ("spread", int(self.spread), (0,)),
            ("size", [each.attributes() for each in self.sizes], ()),
            ("operation", code(Operation, self.operation), (0,)),
            ("fua", int(self.fua), (0,)),
            ("priority", code(Priority, self.priority), (0,)),
            ("priority_level", int(self.priority_level), (0,)),
            ("write_hint", code(WriteHint, self.write_hint), (0,)),
            ("own_data", int(self.own_data), (0,)),
            ("compressible_ppm", int(self.compressible_ppm), (0,)),
            ("duplicate_ppm", int(self.duplicate_ppm), (0,)),
            ("fill", bytes.fromhex(self.fill), (b"",)),
            ("atomic", int(self.atomic), (0,)),
            ("zone_size_bytes", int(self.zone_size_bytes), (0,)),
            ("zone_range_bytes", int(self.zone_range_bytes), (0,)),
            ("zone_order", code(ZoneOrder, self.zone_order), (0,)),
        )


def run_attributes(config: Any) -> dict[str, Any]:
    """The attributes, without those that have their default."""
    return given(
        ("name", config.name, ()),
        ("seed", int(config.seed), ()),
        ("detached", int(config.detached), (0,)),
        ("write", int(config.write), (0,)),
        ("backend", code(Backend, config.backend), (0,)),
        ("polled", int(config.polled), (0,)),
        ("data", code(Data, config.data), (0,)),
        ("max_outstanding", int(config.max_outstanding), ()),
        ("batch", int(config.batch), (0, 16)),
        ("spin_ns", int(config.spin_ns), (0,)),
        ("interval_ns", int(config.interval_ns), (0,)),
        ("ramp_ns", int(config.ramp_ns), (0,)),
        ("ramp_count", int(config.ramp_count), (0,)),
        ("time_ns", int(config.time_ns), (0,)),
        ("count", int(config.count), (0,)),
        ("max_errors", int(config.max_errors), (0,)),
        ("log_records", int(config.log_records), (0,)),
        ("stamp_id", int(config.stamp_id), (0,)),
        ("verify_from", int(config.verify_from), (0,)),
        ("grain_bytes", int(config.grain_bytes), (0,)),
        ("trace_records", int(config.trace_records), (0,)),
        ("verify_newer", int(config.verify_newer), (0,)),
        ("verify_atomic", int(config.verify_atomic), (0,)),
    )


class ClaimRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Claim on devices for several runs."""

    targets: Annotated[list[TargetRequest], Meta(description="One for each device, in order.")]
    write: Annotated[
        int,
        Meta(
            description=(
                "1 - runs under the claim may write; without it the devices are opened read-only, "
                "and runs that may write refused."
            )
        ),
    ] = 0

    def attributes(self) -> dict[str, Any]:
        """The attributes, without those that have their default."""
        return given(
            ("write", int(self.write), (0,)),
            ("target", [each.attributes() for each in self.targets], ()),
        )
