# SPDX-License-Identifier: GPL-2.0-or-later
"""The workload file as it is written: one struct for each TOML table.

These structs are the single source of ``workloads/schema.json``; what a field means is said here,
or in ``options.py`` if it is an option as well: for people, and of a stream's key also which
patterns have it and which member of the kernel's stream it becomes (Key). What the structs can't
say (sums, combinations) is checked in ``rules.py``; what needs the devices, such as how percentages
become bytes, is in ``resolve.py``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import Meta

from spekctl.units import DURATION_PATTERN, PERCENT_PATTERN
from spekctl.workload.fields import (
    PERCENT,
    SIZE,
    WEIGHT,
    ZONES,
    Key,
    Name,
    as_option,
    bounded,
    either,
    ppm,
    text,
    tidy,
    whole_blocks,
)
from spekctl.workload.options import OPTIONS
from spekctl.workload.values import (
    ARRIVALS_MAX,
    ASUS_MAX,
    COUNT_MAX,
    DEPTH_MAX,
    FILL_PATTERN,
    OPEN_ZONES_MAX,
    POINTS_MAX,
    PRIORITY_PATTERN,
    STREAMS_MAX,
    TAIL_MAX,
    TAIL_MIN,
    THETA_MAX,
    ZONES_MAX,
    Data,
    Law,
    Map,
    Operation,
    Pattern,
    Share,
    WalkStyle,
)


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, dict=True):
    """Base of everything that is read from a workload file.

    A table does not change, so what follows from its fields is remembered with it (once.py).
    """


class Header(Table, frozen=True):
    """[workload]: name and description."""

    name: Annotated[Name, text("Name of the workload; the file is called NAME.toml.")]
    summary: Annotated[str, text("One line for `spekctl workloads`.")]
    doc: Annotated[str, text("What it models and how to use it.")] = ""
    scale: Annotated[
        Literal["none", "bsu"],
        text(
            "bsu: the load is set by --bsu N; the rate is N times iops_per_bsu and every stream"
            " exists once for each BSU."
        ),
    ] = "none"
    iops_per_bsu: Annotated[
        int, bounded("I/Os per second of one BSU, unless --iops-per-bsu is given.", "iops_per_bsu")
    ] = 50


class RunDefaults(Table, frozen=True):
    """[run]: defaults for options of `spekctl run`."""

    time: Annotated[str | None, as_option("time_ns")] = None
    count: Annotated[int | None, as_option("count")] = None
    passes: Annotated[
        int | float | None,
        either(OPTIONS["passes"].help, {"type": "number", "exclusiveMinimum": 0}),
    ] = None
    ramp: Annotated[str | None, as_option("ramp_ns")] = None
    ramp_count: Annotated[int | None, as_option("ramp_count")] = None
    interval: Annotated[str | None, as_option("interval_ns")] = None
    max_outstanding: Annotated[int | None, as_option("max_outstanding")] = None
    batch: Annotated[int | None, as_option("batch")] = None
    data: Annotated[Data | None, as_option("data")] = None


class FixedAsu(Table, frozen=True):
    """Fields of this asu that differ under --hrrw fixed."""

    min: Annotated[int | str | None, either("Smallest usable size.", *SIZE)] = None


class Asu(Table, frozen=True):
    """[[asu]]: a range of addresses on a device of its own, or striped over the run's others."""

    name: Name
    size: Annotated[
        int | str,
        either(
            "Size: of the capacity (45%), in bytes (10GiB), or in zones of its device (8z).",
            *SIZE,
            PERCENT,
            ZONES,
        ),
    ] = "100%"
    start: Annotated[
        int | str | None,
        either("First byte; by default right after the asu before it.", *SIZE, PERCENT, ZONES),
    ] = None
    block: Annotated[
        int | str,
        either("A size given in per cent is rounded down to a multiple of this.", *SIZE),
    ] = "4KiB"
    min: Annotated[
        int | str | None,
        either("A smaller asu is refused, with the capacity that would be needed.", *SIZE),
    ] = None
    fixed: Annotated[FixedAsu | None, text("What is different under --hrrw fixed.")] = None
    device: Annotated[
        str | None,
        text(
            "Path of the device that the asu is on, which its per cent are of; by default it is"
            " striped over the devices of the run that no asu has. --device NAME=DEV sets it. On"
            " the hosts of a plan it is one of their devices, named as there: /dev/..., wwn:...,"
            " serial:... or nqn:..."
        ),
    ] = None


class RatePoint(Table, frozen=True):
    """One point of a rate curve."""

    at: Annotated[str, text("Time from the start of the run.", DURATION_PATTERN)]
    rate: Annotated[int | float, either("I/Os per second.", {"type": "number", "minimum": 0})]


class Arrival(Table, frozen=True):
    """[[arrival]]: when I/Os arrive. All numbers are totals over the workers of the run."""

    name: Name
    law: Annotated[
        Law,
        text(
            "closed: depth I/Os outstanding, the next one think after a completion."
            " poisson: exponential gaps. constant: equal gaps."
            " burst: length I/Os at once, every interval."
            " trace: as recorded; only in results of --trace."
        ),
    ] = "closed"
    depth: Annotated[int | None, bounded("closed: I/Os outstanding.", "depth")] = None
    think: Annotated[
        str | None,
        text("closed: pause between a completion and the next I/O.", DURATION_PATTERN),
    ] = None
    pause: Annotated[
        str | None,
        text(
            "closed: pause between bursts, from the completion of a burst's last outstanding I/O to"
            " the next burst. With 'pause_every', 'pause_after' or both, whichever comes first. The"
            " loop is on one worker.",
            DURATION_PATTERN,
        ),
    ] = None
    pause_every: Annotated[
        int | None,
        bounded("closed with a pause: I/Os of a burst.", "pause_every"),
    ] = None
    pause_counts: Annotated[
        Literal["issued", "completed"] | None,
        text(
            "With pause_every. issued, the default: a burst has so many I/Os. completed: it ends"
            " when so many have completed since it began or while the burst before it drained, so"
            " that the first burst is longer by what is outstanding then."
        ),
    ] = None
    pause_after: Annotated[
        str | None,
        text(
            "closed with a pause: a burst ends with the first I/O that is due this long after its"
            " start or later.",
            DURATION_PATTERN,
        ),
    ] = None
    count: Annotated[
        int | None,
        text(
            "It makes so many I/Os in the measure phase, and ends when they have completed. The run"
            " ends with the last process that has an end, by its time if any has none.",
            minimum=1,
            maximum=COUNT_MAX,
        ),
    ] = None
    passes: Annotated[
        int | float | None,
        either(
            "As count: as many I/Os as pass the ranges of its streams so many times.",
            {"type": "number", "exclusiveMinimum": 0},
        ),
    ] = None
    limit: Annotated[
        int | float | None,
        either(
            "closed: at most so many I/Os per second, by a token bucket.",
            {"type": "number", "exclusiveMinimum": 0},
        ),
    ] = None
    burst: Annotated[
        int | None,
        bounded("closed with a limit: I/Os that may follow a pause at once, default 1.", "burst"),
    ] = None
    rate: Annotated[
        int | float | None,
        either(
            "poisson, constant: I/Os per second; shape ramp: at the start; diurnal: the mean.",
            {"type": "number", "exclusiveMinimum": 0},
        ),
    ] = None
    curve: Annotated[
        list[RatePoint],
        text(
            "poisson, constant: the rate over time instead of 'rate': it changes linearly from"
            " point to point; two points at one time are a jump.",
            maxItems=POINTS_MAX,
        ),
    ] = []
    repeat: Annotated[
        bool | None,
        text(
            "The curve begins again after its last point; else it keeps the last rate. By default"
            " true for shape diurnal only."
        ),
    ] = None
    shape: Annotated[
        Literal["ramp", "diurnal"] | None,
        text(
            "poisson, constant: a curve without points. ramp: from 'rate' to 'to' within 'period'."
            " diurnal: a wave around 'rate', from its lowest point on, once per 'period'."
        ),
    ] = None
    to: Annotated[
        int | float | None,
        either("ramp: I/Os per second at its end.", {"type": "number", "minimum": 0}),
    ] = None
    period: Annotated[
        str | None,
        text("ramp: its length. diurnal: length of a wave, default 24h.", DURATION_PATTERN),
    ] = None
    swing: Annotated[
        str | None,
        text(
            "diurnal: how far the rate goes above and below the mean, default 50%.",
            PERCENT_PATTERN,
        ),
    ] = None
    on: Annotated[
        str | None,
        text(
            "poisson, constant: mean length of on periods, in which I/Os arrive at 'rate'. With"
            " 'off'.",
            DURATION_PATTERN,
        ),
    ] = None
    off: Annotated[
        str | None,
        text("Mean length of the off periods between on periods. With 'on'.", DURATION_PATTERN),
    ] = None
    tail: Annotated[
        int | float | None,
        either(
            "on and off: shape of Pareto lengths, at most 2^20 times the shortest one; below 2 they"
            " have heavy tails. By default lengths are exponential.",
            {"type": "number", "minimum": TAIL_MIN, "maximum": TAIL_MAX},
        ),
    ] = None
    length: Annotated[int | None, bounded("burst: I/Os of a burst.", "length")] = None
    interval: Annotated[
        str | None,
        text(
            "burst: from the start of a burst to the start of the next; 0 means without a"
            " pause, which is a closed loop of depth length.",
            DURATION_PATTERN,
        ),
    ] = None


class SizeShare(Table, frozen=True):
    """One entry of a mix of block sizes."""

    size: Annotated[int | str, either("Block size, a multiple of 512 bytes.", *SIZE)]
    share: Annotated[
        int | str,
        either(
            "How often: a percentage (then all of the mix are, and sum to 100%) or a weight.",
            PERCENT,
            WEIGHT,
        ),
    ]


class Zone(Table, frozen=True):
    """One entry of the zones of a stream."""

    share: Annotated[
        str, text("Share of the I/Os; those of all zones sum to 100%.", PERCENT_PATTERN)
    ]
    size: Annotated[
        int | str,
        either("Size: of the range of the stream (10%) or in bytes.", *SIZE, PERCENT),
    ]


class FixedStream(Table, frozen=True):
    """Fields of this stream that differ under --hrrw fixed."""

    align: Annotated[int | str | None, either("As align of the stream.", *SIZE)] = None
    run_align: Annotated[int | str | None, either("As run_align of the stream.", *SIZE)] = None


class TraceSource(Table, frozen=True):
    """trace: the recorded requests of a stream with pattern trace."""

    files: Annotated[
        list[str],
        text(
            "Files of the trace, in any format that `spekctl trace` reads; a relative path is from"
            " the folder of the workload file.",
            minItems=1,
        ),
    ]
    speed: Annotated[
        int | float | str | None,
        either(
            "Requests are due at their recorded times, this many times as fast; default 1.",
            {"type": "number", "exclusiveMinimum": 0},
            {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?$"},
        ),
    ] = None
    rate: Annotated[
        int | float | None,
        either(
            "Requests are due at equal gaps, so many per second.",
            {"type": "number", "exclusiveMinimum": 0},
        ),
    ] = None
    bursts: Annotated[
        bool,
        text(
            "rate: so many per second on average: gaps keep their proportions, as with a speed of"
            " the ratio of the rates."
        ),
    ] = False
    closed: Annotated[
        int | None,
        text(
            "So many requests are outstanding, whatever their times are.",
            minimum=1,
            maximum=DEPTH_MAX,
        ),
    ] = None
    think: Annotated[
        bool,
        text(
            "closed: requests have think times: each waits, after the completion that makes room"
            " for it, as long as it came after the request before it in the trace."
        ),
    ] = False
    max_idle: Annotated[
        str | None,
        text(
            "Longest time between successive requests, over all devices of the trace and as"
            " recorded, before 'speed': longer ones are cut to it. Not with rate, nor with closed"
            " without think, which have no idle times.",
            DURATION_PATTERN,
        ),
    ] = None
    map: Annotated[
        Map,
        text(
            "as-is: addresses stay, and a trace that reaches beyond the devices is refused. wrap:"
            " modulo the size. scale: stretched or shrunk. concatenate: devices of the trace one"
            " after the other. pack: without what is never touched."
        ),
    ] = "as-is"
    share: Annotated[
        Share,
        text(
            "How several workers share the trace; requests that overlap always have the same one."
            " address: an equal part of the addresses for each. time: in turn."
        ),
    ] = "address"


class Stream(Table, frozen=True):
    """[[stream]]: one source of I/O."""

    name: Name
    asu: Annotated[str | None, text("Name of its asu; by default the first.")] = None
    arrival: Annotated[str | None, text("Name of its arrival process; by default the first.")] = (
        None
    )
    share: Annotated[
        int | str,
        either(
            "Share of the I/Os of its arrival process: a percentage (then all streams of that"
            " process have one, and they sum to 100%) or a weight.",
            PERCENT,
            WEIGHT,
        ),
    ] = 1
    rate: Annotated[
        int | float | None,
        either(
            "I/Os per second of an arrival process of its own, Poisson: instead of arrival and"
            " share.",
            {"type": "number", "exclusiveMinimum": 0},
        ),
    ] = None
    read_rate: Annotated[
        int | float | None,
        either(
            "Reads per second: reads and writes are two arrival processes of their own, Poisson,"
            " and two streams, NAME-read and NAME-write. With write_rate.",
            {"type": "number", "exclusiveMinimum": 0},
        ),
    ] = None
    write_rate: Annotated[
        int | float | None,
        either("Writes per second, as read_rate.", {"type": "number", "exclusiveMinimum": 0}),
    ] = None
    read: Annotated[
        str | None,
        text("Share of reads, by default 100%; the rest are writes.", PERCENT_PATTERN),
    ] = None
    operation: Annotated[
        Operation,
        text(
            "transfer: reads and writes. flush: flushes of the device's write cache. discard:"
            " discards. write-zeroes: writes of zeroes that carry no data; the blocks stay"
            " allocated. zone-append: writes whose place in a zone the device chooses. zone-reset,"
            " zone-finish, zone-open, zone-close: commands on whole zones. Those of zones need"
            " pattern write-pointer; all but transfer need --write and back end bio."
        ),
    ] = "transfer"
    fua: Annotated[
        bool,
        text(
            "Writes have forced unit access (FUA): back end bio.",
            key=Key(writes=True, member="fua"),
        ),
    ] = False
    priority: Annotated[
        str | None,
        text(
            "I/O priority, back ends bio and mq: rt:LEVEL (real time), be:LEVEL (best effort),"
            " level 0 (highest) to 7, default 4, or idle; by default that of the worker's thread.",
            PRIORITY_PATTERN,
        ),
    ] = None
    write_hint: Annotated[
        Literal["none", "short", "medium", "long", "extreme"] | None,
        text(
            "Expected lifetime of the data written, a hint for the device: back ends bio and mq,"
            " Linux 6.9 and later.",
            key=Key(writes=True, member="write_hint", parse=str),
        ),
    ] = None
    atomic: Annotated[
        bool,
        text(
            "Writes are atomic: a device keeps all of a write or nothing. Block sizes are powers of"
            " two within the device's limits, addresses multiples of them; Linux 6.11 and later.",
            key=Key(writes=True, member="atomic"),
        ),
    ] = False
    compressible: Annotated[
        str | None,
        text(
            "Share of each 4 KiB of the data written that is fill; the rest is random. By default"
            " 100% with fill, 0% with duplicate; without the three the stream writes data of the"
            " run.",
            PERCENT_PATTERN,
            key=Key(writes=True),
        ),
    ] = None
    duplicate: Annotated[
        str | None,
        text(
            "Share of the 4 KiB blocks written that are one of 64 blocks; the others are unique.",
            PERCENT_PATTERN,
            key=Key(writes=True),
        ),
    ] = None
    fill: Annotated[
        str | None,
        text(
            "1 to 64 bytes in hexadecimal, 0xdeadbeef, that compressible data repeat; by default"
            " zeroes.",
            FILL_PATTERN,
            key=Key(writes=True),
        ),
    ] = None
    size: Annotated[int | str | None, either("The block size, if there is one.", *SIZE)] = None
    sizes: Annotated[
        list[SizeShare], text("The block sizes with their shares, if there are several.")
    ] = []
    pattern: Annotated[
        Pattern,
        text(
            "uniform: anywhere in the range. sequential: one after the other, then from the"
            " start again. strided: an I/O, or a zone of several, every stride bytes. runs:"
            " sequential runs that start at random places. walk: hierarchical reuse random walk"
            " over a hot spot. hotband: random, low addresses of the range far more often than high"
            " ones. once: every block of the range once per pass, in random order. backward: one"
            " before the other, from the end. zipf, pareto: random, few addresses far more often"
            " than the others. normal: random around a center. zoned: random, with shares of the"
            " I/Os for parts of the range."
            " write-pointer: writes at the write pointers of a zoned device, open_zones zones in"
            " turn, full ones being reset when they are written again; reads below the pointers."
            " trace: as recorded in 'trace', on whole devices; the run ends with the trace."
        ),
    ] = "uniform"
    trace: Annotated[
        TraceSource | None, text("trace: what is replayed, and how.", key=Key(("trace",)))
    ] = None
    start: Annotated[
        int | str,
        either(
            "First byte of its range within the asu, in bytes, per cent, or zones of the device"
            " (8z).",
            *SIZE,
            PERCENT,
            ZONES,
        ),
    ] = 0
    range: Annotated[
        int | str | None,
        either(
            "Size of its range, in bytes, per cent of the asu, or zones of the device; by default"
            " up to the end.",
            *SIZE,
            PERCENT,
            ZONES,
        ),
    ] = None
    align: Annotated[
        int | str | None,
        either(
            "Addresses are multiples of this from the start of the asu; by default the greatest"
            " common divisor of the block sizes.",
            *SIZE,
        ),
    ] = None
    sequential: Annotated[
        str | None,
        text(
            "uniform: share of I/Os that continue the one before.",
            PERCENT_PATTERN,
            key=Key(("uniform",), member="seq_ppm", parse=ppm),
        ),
    ] = None
    stride: Annotated[
        int | str | None,
        either(
            "strided: from start to start of the I/Os or of the zones.",
            *SIZE,
            key=Key(("strided",), member="stride_bytes", parse=whole_blocks),
        ),
    ] = None
    jitter: Annotated[
        int | str | None,
        either(
            "strided: an I/O starts up to this far after its place, anywhere with equal chance.",
            *SIZE,
            key=Key(("strided",), member="jitter_bytes", parse=whole_blocks),
        ),
    ] = None
    zone_size: Annotated[
        int | str | None,
        either(
            "strided: each stride begins with a zone of several I/Os, of so many bytes together;"
            " the first I/O that reaches them is the last one. Not with jitter.",
            *SIZE,
            key=Key(("strided",), member="zone_size_bytes", parse=whole_blocks),
        ),
    ] = None
    zone_range: Annotated[
        int | str | None,
        either(
            "strided with zone_size: length of the zones, in which sequential I/Os start over if"
            " zone_size is larger; by default zone_size.",
            *SIZE,
            key=Key(("strided",), member="zone_range_bytes", parse=whole_blocks),
        ),
    ] = None
    zone_order: Annotated[
        Literal["sequential", "random", "once"] | None,
        text(
            "strided with zone_size: order of the I/Os in a zone. sequential: one after the other,"
            " the default. random: anywhere in the zone. once: every block of the zone once before"
            " any is repeated, in random order.",
            key=Key(("strided",), member="zone_order", parse=str),
        ),
    ] = None
    theta: Annotated[
        int | float | None,
        either(
            "zipf: the k-th most frequent address has probability proportional to k^-theta.",
            {"type": "number", "exclusiveMinimum": 0, "maximum": THETA_MAX},
            key=Key(("zipf",)),
        ),
    ] = None
    h: Annotated[
        int | float | None,
        either(
            "pareto: a share h of the addresses has a share 1 - h of the I/Os, and so on in it.",
            {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            key=Key(("pareto",)),
        ),
    ] = None
    deviation: Annotated[
        str | None,
        text("normal: standard deviation, of the range.", PERCENT_PATTERN, key=Key(("normal",))),
    ] = None
    width: Annotated[
        str | None,
        text(
            "normal: width of a uniform distribution, of the range: an address is the sum of a"
            " normally and a uniformly distributed part; default 0%.",
            PERCENT_PATTERN,
            key=Key(("normal",)),
        ),
    ] = None
    center: Annotated[
        str | None,
        text(
            "Place in the range: normal: of the mean, default 50%; zipf, pareto: of the most"
            " frequent address, from which the others follow, the end wrapping around.",
            PERCENT_PATTERN,
            key=Key(("zipf", "pareto", "normal")),
        ),
    ] = None
    spread: Annotated[
        bool | None,
        text(
            "zipf, pareto, normal: frequent addresses are spread over the range; by default true"
            " for zipf and pareto without a center, false for the rest.",
            key=Key(("zipf", "pareto", "normal")),
        ),
    ] = None
    zones: Annotated[
        list[Zone],
        text(
            "zoned: the zones from the start of the range on.",
            maxItems=ZONES_MAX,
            key=Key(("zoned",)),
        ),
    ] = []
    open_zones: Annotated[
        int | None,
        text(
            "write-pointer: zones that are written in turn, the same in all streams of an asu; by"
            " default one per worker.",
            minimum=1,
            maximum=OPEN_ZONES_MAX,
            key=Key(("write-pointer",)),
        ),
    ] = None
    run_length: Annotated[
        int | str | None,
        either(
            "runs: length of a run, in bytes or per cent of the asu.",
            *SIZE,
            PERCENT,
            key=Key(("runs",)),
        ),
    ] = None
    restart: Annotated[
        int | str | None,
        either(
            "runs: a run starts in the first so many bytes (or per cent of the asu) of the range;"
            " by default wherever a whole run fits.",
            *SIZE,
            PERCENT,
            key=Key(("runs",)),
        ),
    ] = None
    run_align: Annotated[
        int | str | None,
        either("runs: start and end of a run are rounded down to this.", *SIZE, key=Key(("runs",))),
    ] = None
    replicas: Annotated[
        int | None,
        bounded(
            "runs: runs that are under way at the same time, each with a place of its own; an I/O"
            " continues one of them at random. Default 1.",
            "replicas",
            key=Key(("runs",)),
        ),
    ] = None
    walk: Annotated[
        WalkStyle | None,
        text(
            "walk: variant of the walk, unless --hrrw is given; default classic.",
            key=Key(("walk",)),
        ),
    ] = None
    fixed: Annotated[FixedStream | None, text("What is different under --hrrw fixed.")] = None


# Keys of a stream that mean more than their text.
KEYS: dict[str, Key] = {
    name: meta.extra["key"]
    for name, hint in get_type_hints(Stream, include_extras=True).items()
    for meta in getattr(hint, "__metadata__", ())
    if isinstance(meta, Meta) and meta.extra and "key" in meta.extra
}


class WorkloadFile(Table, frozen=True):
    """A workload: named streams of I/O on named ranges of addresses."""

    workload: Header
    stream: Annotated[list[Stream], text("The streams.", minItems=1, maxItems=STREAMS_MAX)]
    asu: Annotated[
        list[Asu],
        text("The address ranges; by default one, 'all', of 100%.", maxItems=ASUS_MAX),
    ] = []
    arrival: Annotated[
        list[Arrival],
        text(
            "The arrival processes; by default one closed loop of depth 1.", maxItems=ARRIVALS_MAX
        ),
    ] = []
    run: Annotated[RunDefaults, text("Defaults for options of the run.")] = RunDefaults()


def json_schema() -> dict[str, Any]:
    """JSON Schema of a workload file, for editors and validators."""
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "spek workload file",
        **msgspec.json.schema(WorkloadFile),
    }
    tidy(schema)
    return schema
