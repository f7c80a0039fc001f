# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the request of a run that replays a trace.

The trace is read once, to check that all of it can be replayed on the devices; the feeder
(replay.py) reads it again. Other streams of the workload are resolved as if there were no trace.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import msgspec
import numpy as np

from spekctl import recorded, units
from spekctl.block import provisioning
from spekctl.block.device import Device
from spekctl.errors import UsageError
from spekctl.run import replay, until
from spekctl.run.job import Request
from spekctl.run.placing import near_devices
from spekctl.run.replay import LeftOut, Replay
from spekctl.run.targets import Room, check_apart, check_paths, moved, targets_of
from spekctl.trace import mapping
from spekctl.trace.columns import Batch, Op
from spekctl.trace.mapping import Mapper, Survey
from spekctl.trace.part import Part
from spekctl.trace.schedule import Pace, Schedule, Timing
from spekctl.trace.sharing import sharing
from spekctl.trace.trace import Trace, open_trace
from spekctl.workload import meaning
from spekctl.workload.config import (
    Extent,
    ResolvedArrival,
    ResolvedAsu,
    ResolvedSize,
    ResolvedStream,
    RunConfig,
    numbers_of,
    written_by,
)
from spekctl.workload.model import Header, RunDefaults, Stream, TraceSource, WorkloadFile
from spekctl.workload.options import OPTIONS, Options, flag_of, setting
from spekctl.workload.resolve import cpus_of, max_outstanding, resolve
from spekctl.workload.rules import max_idle_ns
from spekctl.workload.values import (
    ARRIVALS_MAX,
    ASUS_MAX,
    DEPTH_MAX,
    IO_BYTES_MAX,
    NAME_LEN_MAX,
    STREAMS_MAX,
    Map,
    Operation,
)

REPLAYED = (Op.READ, Op.WRITE, Op.FLUSH, Op.DISCARD)
_NOT_OF_TRACES = (
    *("bsu", "iops_per_bsu", "depth", "count", "passes", "ramp_count", "polled", "verify"),
)
# These have a meaning for streams beside it.
_NOT_OF_TRACES_ALONE = ("hrrw", "stripe_bytes")


@dataclass(slots=True)
class Look:
    """What a first reading of a trace found.

    @ops: records of each operation, without those of no bytes
    @empty: records of no bytes, which are left out
    @largest: bytes of the largest read or write
    """

    survey: Survey
    ops: list[int]
    empty: int = 0
    largest: int = 0

    def writes(self) -> int:
        """Records that change the device, flushes included."""
        return sum(self.ops) - self.ops[Op.READ]


def look_at(trace: Trace, ranges: bool) -> Look:
    """Read a trace once; UsageError if it has nothing to replay."""
    ops = np.zeros(len(Op), np.int64)
    empty = largest = 0

    def counted() -> Iterator[Batch]:
        nonlocal ops, empty, largest
        for batch in trace.batches():
            without = mapping.is_empty(batch)
            ops += np.bincount(batch.op[~without], minlength=len(Op))
            empty += int(without.sum())
            moves = batch.bytes[batch.op <= Op.WRITE]
            largest = max(largest, int(moves.max()) if len(moves) else 0)
            yield batch

    survey = mapping.survey(counted(), ranges)
    if not survey.records:
        first = trace.faults.first
        why = f": {trace.faults.bad:,} are unreadable, the first {first.text}" if first else ""
        raise UsageError(f"{trace.name} has no records to replay{why}")
    if not ops.any():
        raise UsageError(f"{trace.name} has no records to replay: all are of no bytes")
    if largest > IO_BYTES_MAX:
        raise UsageError(
            f"{trace.name} has a request of {units.format_bytes(largest)}; at most"
            f" {units.format_bytes(IO_BYTES_MAX)} can be replayed"
        )
    return Look(survey, ops.tolist(), empty, largest)


def whole_targets(targets: Sequence[mapping.Target]) -> list[mapping.Target]:
    """Records become whole blocks of the coarsest target, also at the ends of the others."""
    block = max(target.block_bytes for target in targets)
    return [mapping.Target(target.bytes // block * block, block) for target in targets]


def mapper_of(trace: Trace, look: Look, targets: Sequence[mapping.Target], name: str) -> Mapper:
    """How the trace's devices lie on the targets; UsageError if they do not fit."""
    sizes = look.survey.sizes()
    target_of = mapping.targets_in_turn(len(sizes), len(targets))
    if name == "wrap":
        return mapping.Wrap(targets, target_of)
    if name == "scale":
        return mapping.Scale(targets, target_of, sizes)
    if name == "concatenate":
        return mapping.concatenate(sizes, targets, target_of)
    if name == "pack":
        return mapping.pack(look.survey.touched, targets, target_of)
    mapper = mapping.AsIs(targets, target_of)
    ends = look.survey.ends
    if any(end > targets[target_of[device]].bytes for device, end in ends.items()):
        mapping.check_all_fit(trace.batches(), mapper)
    return mapper


def discards(device: Device) -> bool:
    """True if the device supports discards."""
    queue = device.sysfs / "queue"
    if not queue.is_dir():
        queue = device.sysfs.parent / "queue"
    try:
        return int((queue / "discard_max_bytes").read_text()) > 0
    except (OSError, ValueError):
        return False


def workload_of(source: TraceSource) -> WorkloadFile:
    """The workload behind --trace: one stream that replays it."""
    name = Path(source.files[0]).name
    return WorkloadFile(
        workload=Header(name=_name(name), summary=recorded.text(f"the trace {name}")),
        stream=[Stream(name="trace", pattern="trace", trace=source)],
    )


def timing_of(source: TraceSource, rate: float | None) -> Timing:
    """When the requests are due; @rate: of the command line, in place of the workload's."""
    if rate is not None:
        source = msgspec.structs.replace(source, rate=rate)
    limit_ns = max_idle_ns(source)
    return dataclasses.replace(_pace_of(source, rate), max_idle_ns=limit_ns)


def _pace_of(source: TraceSource, rate: float | None) -> Timing:
    if rate is None:
        rate = source.rate
        if source.closed is not None:
            return Timing.closed(source.closed, source.think)
        if source.speed is not None:
            return Timing.at_speed(_decimal(source.speed))
    return Timing.at_speed("1") if rate is None else Timing.at_rate(f"{rate:.3f}")


def _decimal(number: int | float | str) -> str:
    """A number without an exponent."""
    return number if isinstance(number, str) else f"{Decimal(repr(number)):f}"


def check_options(name: str, options: Options, alone: bool) -> None:
    """Refuse what has no meaning for a trace; @alone: there are no other streams."""
    plain = Options()
    if options.detached:
        raise UsageError(f"{name} replays a trace, which has to be fed: remove --detach")
    if options.rate is not None and not alone:
        raise UsageError(
            f"{name} replays a trace beside other streams, so --rate is ambiguous: set the rate of"
            " the trace or of an arrival with --set"
        )
    for key in (*_NOT_OF_TRACES, *(_NOT_OF_TRACES_ALONE if alone else ())):
        if getattr(options, key) != getattr(plain, key):
            raise UsageError(
                f"{name} replays a trace, which has its own requests: remove {flag_of(key)}"
            )


def build(
    workload: WorkloadFile,
    devices: Sequence[Device],
    given: Options,
    destroy: Sequence[str] = (),
    part: Part | None = None,
    trace: Trace | None = None,
    can_discard: bool | None = None,
) -> Request:
    """The request of a run of a workload that replays a trace; reads the trace once. @part: what
    these devices have of the targets of several machines; None: they are the targets. @trace: the
    trace; None: that of the workload's files. @can_discard: whether the devices support discards;
    None: sysfs tells."""
    check_apart(devices)
    options, placed = near_devices(given, devices)
    name = workload.workload.name
    others = meaning.beside_trace(workload)
    check_options(name, options, not others)
    (stream,) = (candidate for candidate in workload.stream if candidate.pattern == "trace")
    source = stream.trace
    assert source is not None
    trace = trace or open_trace([Path(path) for path in source.files])
    timing = timing_of(source, options.rate)
    look = look_at(trace, source.map == "pack")
    notes = list(trace.faults.notes)
    if part is None:
        targets = whole_targets(
            [mapping.Target(device.bytes, device.logical_block) for device in devices]
        )
    else:
        targets = whole_targets(part.targets)
        part.check(mapping.targets_in_turn(len(look.survey.sizes()), len(targets)))
    mapper = mapper_of(trace, look, targets, source.map)
    cpus = cpus_of(options)
    if timing.pace is Pace.CLOSED and timing.depth < len(cpus):
        raise UsageError(f"--closed {timing.depth} is less than one I/O for each worker")
    without = {op: f"{op.text} is not replayed" for op in Op if op not in REPLAYED}
    if can_discard is None:
        can_discard = all(discards(device) for device in devices)
    if not can_discard:
        without[Op.DISCARD] = "the device has no discards"
    _check_left(trace, look, without)
    if source.bursts:
        records = sum(count for op, count in zip(Op, look.ops, strict=True) if op not in without)
        timing = timing.with_bursts(records, look.survey.span_ns)
    company = None
    if others:
        remainder = msgspec.structs.replace(workload, stream=others)
        # Other machines have the rest of the devices, for these streams as for the trace.
        rooms = [Room(piece.start, piece.bytes) for piece in part.own] if part is not None else []
        company = moved(resolve(remainder, options, targets_of(devices, rooms)), rooms)
    config = _config(workload, look, timing, options, devices, cpus, Op.DISCARD in without, company)
    check_paths(devices, config)
    until.check(options.until, options.stop_when or (), config)
    waits = source.closed is not None and not source.think
    block = targets[0].block_bytes

    def schedule(left_out: LeftOut) -> Schedule:
        own = part.of if part is not None else None
        return Schedule(trace.batches(), mapper, timing, block, left_out, own=own)

    if part is not None:
        part.check_records(schedule(LeftOut(without)).blocks(replay.BLOCK))
    left_out = LeftOut(without)
    request = Replay(
        trace,
        schedule(left_out),
        source.map,
        look.survey.records,
        len(cpus),
        sharing(
            schedule(LeftOut(without)).blocks(replay.BLOCK),
            len(cpus),
            [device.bytes for device in devices],
            source.share,
        ),
        source.share,
        left_out,
        len(company.asus) if company else 0,
        part is not None,
    )
    return Request(
        workload=workload,
        config=config,
        devices=devices,
        write_allowed=options.write,
        destroy=destroy,
        command=recorded.command(),
        remarks=[
            *placed,
            *_remarks(look, without, config, options),
            # Of the first reading, which has been through all files.
            *notes,
            *until.remarks(options.until, config, waits),
            *provisioning.remarks(devices, config.streams),
            *_overlaid(len(look.survey.ends), len(targets), source.map),
        ],
        replay=request,
        until=until.chosen(options.until, config, waits),
        stop_when=options.stop_when or (),
    )


def _check_left(trace: Trace, look: Look, without: dict[Op, str]) -> None:
    """UsageError if all records of the trace are left out."""
    has = [op for op in Op if look.ops[op]]
    if all(op in without for op in has):
        reasons = [without[op] for op in has]
        if look.empty:
            reasons.append("requests of no bytes are left out")
        raise UsageError(
            f"{trace.name} has no requests that can be replayed: {', '.join(reasons)};"
            f" allowed are {', '.join(op.text for op in Op if op not in without)}"
        )


def _remarks(look: Look, without: dict[Op, str], config: RunConfig, options: Options) -> list[str]:
    texts = [
        f"{look.ops[op]:,} records are left out: {why}"
        for op, why in without.items()
        if look.ops[op]
    ]
    if look.empty:
        texts.append(f"{look.empty:,} records are left out: they have no bytes")
    if options.write and not config.writes:
        who = "the trace" if len(config.arrivals) == 1 else config.name
        texts.append(f"{who} only reads, so the devices are opened read-only")
    return texts


def _overlaid(volumes: int, devices: int, map_: Map) -> Iterator[str]:
    """Says it where devices of the trace get the same addresses."""
    if volumes > devices and map_ in ("as-is", "wrap", "scale"):
        yield (
            f"the trace has {volumes} devices, which overlap on {devices} of the replay;"
            " --map concatenate keeps them apart"
        )


def _config(
    workload: WorkloadFile,
    look: Look,
    timing: Timing,
    options: Options,
    devices: Sequence[Device],
    cpus: list[int],
    no_discards: bool,
    company: RunConfig | None,
) -> RunConfig:
    block = max(device.logical_block for device in devices)
    # Records grow to whole blocks of the devices at both ends.
    largest = min(-(-max(look.largest, 1) // block) * block + block, IO_BYTES_MAX)
    closed = timing.pace is Pace.CLOSED
    run = workload.run
    if closed and timing.depth > DEPTH_MAX:
        raise UsageError(f"--closed is at most {DEPTH_MAX}")
    # The trace comes last: what a stream draws depends on its number and that of its arrivals, so
    # that the others draw what they draw without the trace.
    asus = list(company.asus) if company else []
    arrivals = list(company.arrivals) if company else []
    streams = list(company.streams) if company else []
    arrival = ResolvedArrival(
        name="trace", law="closed" if closed else "trace", depth=timing.depth if closed else 0
    )
    for index, device in enumerate(devices):
        suffix = f"-{index + 1}" if len(devices) > 1 else ""
        for operation, read_ppm in _streams_of(look, no_discards):
            name = "trace" if operation == "transfer" else operation
            stream = _stream(name + suffix, len(asus), operation, read_ppm, device, block, largest)
            streams.append(msgspec.structs.replace(stream, arrival=len(arrivals)))
        asus.append(
            ResolvedAsu(
                name=f"target-{index + 1}" if company or len(devices) > 1 else "all",
                bytes=device.bytes,
                stripe_bytes=0,
                extents=[Extent(index, 0)],
            )
        )
    arrivals.append(arrival)
    for kind, names, most in (
        ("asu", [asu.name for asu in asus], ASUS_MAX),
        ("arrival", [arrival.name for arrival in arrivals], ARRIVALS_MAX),
        ("stream", [stream.name for stream in streams], STREAMS_MAX),
    ):
        _check_sections(kind, names, most)
    writes = any(stream.read_ppm < 1_000_000 for stream in streams)
    return RunConfig(
        name=workload.workload.name,
        seed=options.seed,
        write=writes,
        # The only back end that has flushes, discards and FUA as well.
        backend="bio" if options.backend == "auto" else options.backend,
        polled=False,
        data=setting("data", options, run),
        max_outstanding=max(max_outstanding(workload, options, arrivals, streams), len(cpus)),
        spin_ns=options.spin_ns or 0,
        interval_ns=setting("interval_ns", options, run),
        ramp_ns=_without_fallback("ramp_ns", options, run),
        ramp_count=0,
        time_ns=_without_fallback("time_ns", options, run),
        count=0,
        max_errors=options.max_errors or 0,
        cpus=cpus,
        targets=numbers_of(devices, writes, written_by(streams, asus)),
        asus=asus,
        arrivals=arrivals,
        streams=streams,
        batch=setting("batch", options, run) or 0,
        trace_records=replay.RING_RECORDS,
    )


def _check_sections(kind: str, names: list[str], most: int) -> None:
    """What the trace needs beside the sections of the workload."""
    if len(names) > most:
        raise UsageError(
            f"the workload and its trace have {len(names)} {kind}s together; at most {most} are"
            " allowed"
        )
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{kind} '{name}': the replay uses this name itself; choose another")


def _without_fallback(name: str, options: Options, run: RunDefaults) -> int:
    """A time of the command line or of the file; 0: of neither, since the trace says it."""
    given = getattr(options, name) is not None or getattr(run, OPTIONS[name].key) is not None
    return int(setting(name, options, run)) if given else 0


def _streams_of(look: Look, no_discards: bool) -> Iterator[tuple[Operation, int]]:
    """Operations that the trace has, each with its share of reads."""
    reads, writes = look.ops[Op.READ], look.ops[Op.WRITE]
    if reads + writes:
        share = round(1_000_000 * reads / (reads + writes))
        # Both directions, however rare one of them is.
        low, high = (1 if reads else 0), (999_999 if writes else 1_000_000)
        yield "transfer", min(max(share, low), high)
    if look.ops[Op.FLUSH]:
        yield "flush", 0
    if look.ops[Op.DISCARD] and not no_discards:
        yield "discard", 0


def _stream(
    name: str,
    asu: int,
    operation: Operation,
    read_ppm: int,
    device: Device,
    block: int,
    largest: int,
) -> ResolvedStream:
    return ResolvedStream(
        name=name,
        asu=asu,
        arrival=0,
        weight=1,
        replicas=1,
        read_ppm=read_ppm,
        pattern="trace",
        range_start=0,
        range_bytes=device.bytes // block * block,
        align_bytes=block,
        sizes=[ResolvedSize(largest if operation == "transfer" else block, 1)],
        operation=operation,
    )


def _name(file: str) -> str:
    """The trace's file as the name of a workload."""
    kept = "".join(
        character if character.isascii() and (character.isalnum() or character in "._-") else "-"
        for character in file
    )
    return ("trace-" + kept)[:NAME_LEN_MAX]
