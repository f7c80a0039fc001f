# SPDX-License-Identifier: GPL-2.0-or-later
"""Workload + options + devices -> RunConfig: percentages become bytes, names become indices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import cast

import msgspec

from spekctl import units
from spekctl.errors import UsageError, at
from spekctl.workload import curves, onoff, passes, rates, zoned
from spekctl.workload.config import (
    ResolvedArrival,
    ResolvedAsu,
    ResolvedSize,
    ResolvedStream,
    RunConfig,
    numbers_of,
    written_by,
)
from spekctl.workload.fields import LIMITS
from spekctl.workload.layout import Target as Target
from spekctl.workload.layout import capacities_of, place_asus
from spekctl.workload.meaning import (
    arrivals_of,
    data_of,
    fraction_or_bytes,
    members_of,
    priority_of,
    rate_milli,
    read_ppm,
    replays,
    size_weights,
    weights_of,
)
from spekctl.workload.model import Arrival, RunDefaults, Stream, WorkloadFile
from spekctl.workload.options import AUTO, OPTIONS, flag_of, setting
from spekctl.workload.options import Options as Options
from spekctl.workload.pauses import pauses_of
from spekctl.workload.rules import check_limits
from spekctl.workload.values import (
    DEPTH_MAX,
    POINTS_IN_ALL,
    SECTOR,
    TABLES,
    TARGETS_MAX,
    ZONE_COMMANDS,
    CorePattern,
    WalkStyle,
)

# An open loop needs room for what piles up; this bounds its number and its memory.
OPEN_LOOP_OUTSTANDING = 1024
OPEN_LOOP_BUFFER_BYTES = 256 << 20
# What ends the measure phase, each instead of the others.
ENDS = ("time_ns", "count", "passes")  # any overrides all of the file


def resolve(workload: WorkloadFile, options: Options, targets: Sequence[Target]) -> RunConfig:
    """Turn a workload into numbers for these devices. Raises UsageError with one sentence."""
    if replays(workload):
        raise UsageError(
            f"{workload.workload.name} replays a trace, whose numbers follow from reading it;"
            " spekctl run does that, also with --dry-run"
        )
    workload = rates.expanded(workload)
    _check_options(workload, options)
    _check_targets(workload, targets, options)
    workload = zoned.in_bytes(workload, targets)
    style_fixed = _walk_style(workload, options) == "fixed"
    cpus = cpus_of(options)
    asus = place_asus(workload, options.stripe_bytes, targets, style_fixed, len(cpus))
    arrivals, replicas = _arrivals(workload, options)
    streams = _streams(workload, asus, replicas, targets, options)
    zones = capacities_of(asus, targets)
    arrivals = _with_ends(workload, options, arrivals, streams, len(cpus), zones)
    time_ns, count = _length(workload, options, arrivals, streams, len(cpus), zones)
    ramp_ns, ramp_count = _ramp(workload, options)
    run = workload.run
    writes = any(stream.read_ppm < 1_000_000 for stream in streams)
    _check_verify(workload, options, is_reading=not writes)
    for stream in streams:
        if options.verify and stream.own_data:
            raise UsageError(
                f"stream '{stream.name}': --verify writes its own data: remove 'compressible',"
                " 'duplicate' and 'fill'"
            )
    return RunConfig(
        name=workload.workload.name,
        seed=options.seed,
        write=writes and options.write,
        backend=options.backend,
        polled=options.polled,
        data="stamped" if options.verify else setting("data", options, run),
        max_outstanding=max_outstanding(workload, options, arrivals, streams),
        batch=setting("batch", options, run) or 0,
        spin_ns=options.spin_ns,
        interval_ns=setting("interval_ns", options, run),
        ramp_ns=ramp_ns,
        ramp_count=ramp_count,
        time_ns=time_ns,
        count=count,
        max_errors=options.max_errors,
        cpus=cpus,
        targets=numbers_of(targets, writes and options.write, written_by(streams, asus)),
        asus=asus,
        arrivals=arrivals,
        streams=streams,
        detached=options.detached,
    )


def check_load(workload: WorkloadFile, options: Options) -> None:
    """Refuse what resolve() refuses whatever the devices are, of a workload that replays no trace:
    for runs whose devices are not known yet."""
    expanded = rates.expanded(workload)
    _check_options(expanded, options)
    _check_stripe(options)
    _arrivals(expanded, options)
    _check_verify(workload, options, is_reading=_only_reads(workload))


def _only_reads(workload: WorkloadFile) -> bool:
    return all(read_ppm(stream) == 1_000_000 for stream in workload.stream)


def _check_verify(workload: WorkloadFile, options: Options, is_reading: bool) -> None:
    if options.verify and is_reading:
        raise UsageError(
            f"{workload.workload.name} only reads, so --verify has nothing to compare with; it"
            " needs a workload that writes"
        )


def _check_options(workload: WorkloadFile, options: Options) -> None:
    chosen = [
        f"--{name}" for name in ("bsu", "rate", "depth") if getattr(options, name) is not None
    ]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} exclude each other: each sets the load")
    for name in OPTIONS:
        if name in LIMITS:
            check_limits(name, getattr(options, name), flag_of(name))
    if options.depth is not None and options.iops_per_bsu is not None:
        raise UsageError("--depth and --iops-per-bsu exclude each other: a closed loop has no rate")
    if options.rate is not None:
        with at("--rate"):
            rate_milli(options.rate)
    if options.time_ns == 0:
        raise UsageError("--time must be more than 0")
    if options.count is not None and options.passes is not None:
        raise UsageError("--count and --passes exclude each other")
    if options.passes is not None:
        _check_passes(workload)
        with at("--passes"):
            passes.exact(options.passes)
    if options.ramp_ns is not None and options.ramp_count is not None:
        raise UsageError("--ramp and --ramp-count exclude each other")
    if options.verify and options.data is not None:
        raise UsageError("--verify writes its own data, so it excludes --data")
    if options.verify and options.detached:
        raise UsageError(
            "--verify reads everything back at the end; it cannot be combined with --detach"
        )
    header = workload.workload
    if header.scale != "bsu":
        for name in ("bsu", "iops_per_bsu"):
            if getattr(options, name) is not None:
                raise UsageError(
                    f"{header.name} does not scale by BSU, so --{name.replace('_', '-')} means"
                    " nothing for it; use --rate or --depth"
                )
    if options.hrrw and not any(stream.pattern == "walk" for stream in workload.stream):
        raise UsageError(f"{header.name} has no random walk, so --hrrw has no effect")


def _check_targets(workload: WorkloadFile, targets: Sequence[Target], options: Options) -> None:
    if not targets:
        raise UsageError("no device given; name one with --device")
    if len(targets) > TARGETS_MAX:
        raise UsageError(f"{len(targets)} devices given; at most {TARGETS_MAX} are allowed")
    _check_stripe(options)
    seen: dict[tuple[int, int], str] = {}
    for target in targets:
        number = (target.major, target.minor)
        if number in seen:
            raise UsageError(f"{seen[number]} and {target.path} are the same device")
        seen[number] = target.path
    own = {asu.device for asu in workload.asu}
    striped = [target for target in targets if target.path not in own]
    for target in striped:
        if len(striped) > 1 and options.stripe_bytes % target.logical_block:
            raise UsageError(
                f"--stripe {options.stripe_bytes} is not a multiple of the logical block of"
                f" {target.path}, {target.logical_block} bytes"
            )


def _check_passes(workload: WorkloadFile) -> None:
    if workload.workload.scale == "bsu":
        raise UsageError(
            f"{workload.workload.name} scales by BSU, each with streams of its own over the same"
            " ranges, so passes has no meaning for it; use count or time"
        )


def _check_stripe(options: Options) -> None:
    stripe = options.stripe_bytes
    if stripe < 512 or stripe & (stripe - 1) or stripe > 1 << 30:
        raise UsageError("--stripe must be a power of two from 512 bytes to 1 GiB")


def _walk_style(workload: WorkloadFile, options: Options) -> WalkStyle:
    if options.hrrw:
        return options.hrrw
    styles = {stream.walk or "classic" for stream in workload.stream if stream.pattern == "walk"}
    return "fixed" if styles == {"fixed"} else "classic"


# --- arrivals ------------------------------------------------------------------------------------


def _arrivals(workload: WorkloadFile, options: Options) -> tuple[list[ResolvedArrival], int]:
    """The arrival processes under the load that the options ask for, and the BSUs."""
    header = workload.workload
    if header.scale == "bsu":
        if options.depth is not None:
            return [ResolvedArrival(name="bsu", law="closed", depth=options.depth)], 1
        per_bsu = options.iops_per_bsu or header.iops_per_bsu
        if options.rate is not None:
            raise UsageError(
                f"the rate of {header.name} is set by --bsu: one BSU is {per_bsu} I/Os per second,"
                f" so about --bsu {max(1, round(options.rate / per_bsu))}"
            )
        if options.bsu is None:
            raise UsageError(
                f"{header.name} needs its load: --bsu N, where one BSU is {per_bsu} I/Os per"
                " second (or --depth N for a closed loop)"
            )
        milli = rate_milli(options.bsu * per_bsu)
        return [ResolvedArrival(name="bsu", law="poisson", rate_milli=milli)], options.bsu
    arrivals = [_arrival(arrival) for arrival in arrivals_of(workload)]
    points = sum(len(arrival.points) for arrival in arrivals)
    if points > POINTS_IN_ALL:
        raise UsageError(
            f"the rate curves have {points} points together; at most {POINTS_IN_ALL} are allowed"
        )
    if options.depth is not None:
        if len(arrivals) > 1:
            raise UsageError(
                f"{header.name} has {len(arrivals)} arrival processes; --depth cannot say which"
            )
        only = arrivals[0]
        if only.law != "closed":
            only = ResolvedArrival(name=only.name, law="closed")
        arrivals = [msgspec.structs.replace(only, depth=options.depth)]
    if options.rate is not None:
        arrivals = _at_rate(header.name, arrivals, options.rate)
    return arrivals, 1


def _arrival(arrival: Arrival) -> ResolvedArrival:
    with at(f"arrival '{arrival.name}'"):
        if arrival.law == "closed":
            return ResolvedArrival(
                name=arrival.name,
                law="closed",
                depth=arrival.depth or 1,
                think_ns=units.parse_duration_ns(arrival.think) if arrival.think else 0,
                rate_milli=rate_milli(arrival.limit) if arrival.limit is not None else 0,
                burst_length=arrival.burst or 0,
                **pauses_of(arrival)._asdict(),
            )
        if arrival.law == "burst":
            assert arrival.length is not None and arrival.interval is not None
            interval_ns = units.parse_duration_ns(arrival.interval)
            if interval_ns == 0:
                return ResolvedArrival(name=arrival.name, law="closed", depth=arrival.length)
            return ResolvedArrival(
                name=arrival.name,
                law="burst",
                burst_length=arrival.length,
                burst_interval_ns=interval_ns,
            )
        if points := curves.points_of(arrival):
            return ResolvedArrival(
                name=arrival.name,
                law=arrival.law,
                points=points,
                repeats=int(curves.repeats(arrival)),
            )
        assert arrival.rate is not None
        periods = onoff.periods_of(arrival)
        return ResolvedArrival(
            name=arrival.name,
            law=arrival.law,
            rate_milli=rate_milli(arrival.rate),
            on_ns=periods.on_ns,
            off_ns=periods.off_ns,
            tail_milli=periods.tail_milli,
        )


def _at_rate(name: str, arrivals: list[ResolvedArrival], rate: float) -> list[ResolvedArrival]:
    """The same processes with this total rate; a closed loop becomes Poisson."""
    total = Fraction(rate_milli(rate))
    if len(arrivals) == 1 and arrivals[0].law == "closed":
        return [ResolvedArrival(name=arrivals[0].name, law="poisson", rate_milli=int(total))]
    if any(arrival.law == "closed" for arrival in arrivals):
        raise UsageError(
            f"{name} has {len(arrivals)} arrival processes, not all with a rate; --rate cannot say"
            " which"
        )
    rates = [_milli(arrival) for arrival in arrivals]
    scale = total / sum(rates, Fraction(0))
    scaled: list[ResolvedArrival] = []
    for arrival, milli in zip(arrivals, rates, strict=True):
        if arrival.law == "burst":
            interval_ns = round(arrival.burst_length * 10**12 / (milli * scale))
            scaled.append(
                ResolvedArrival(
                    name=arrival.name,
                    law="burst",
                    burst_length=arrival.burst_length,
                    burst_interval_ns=max(1, interval_ns),
                )
            )
        elif arrival.points:
            points = curves.scaled(arrival.points, scale)
            scaled.append(msgspec.structs.replace(arrival, points=points))
        else:
            on_milli = max(1, round(arrival.rate_milli * scale))
            with at(f"arrival '{arrival.name}'"):
                onoff.check_rate(on_milli, arrival.on_ns)
            scaled.append(msgspec.structs.replace(arrival, rate_milli=on_milli))
    return scaled


def _milli(arrival: ResolvedArrival) -> Fraction:
    if arrival.law == "burst":
        return Fraction(arrival.burst_length * 10**12, arrival.burst_interval_ns)
    if arrival.points:
        return curves.mean_milli(arrival.points, bool(arrival.repeats))
    return arrival.rate_milli * arrival.on_share


# --- streams -------------------------------------------------------------------------------------


def _streams(
    workload: WorkloadFile,
    asus: list[ResolvedAsu],
    replicas: int,
    targets: Sequence[Target],
    options: Options,
) -> list[ResolvedStream]:
    asu_index = {asu.name: index for index, asu in enumerate(asus)}
    names = (
        ["bsu"]
        if workload.workload.scale == "bsu"
        else [arrival.name for arrival in arrivals_of(workload)]
    )
    weights: dict[str, int] = {}
    for name in names:
        members = [stream for stream in workload.stream if (stream.arrival or names[0]) == name]
        shares = [(stream.name, stream.share) for stream in members]
        weighed = weights_of(shares, "the shares of the streams")
        weights.update(
            {stream.name: weight for stream, weight in zip(members, weighed, strict=True)}
        )
    style = _walk_style(workload, options)
    tables = sum(stream.pattern in TABLES for stream in workload.stream)
    resolved = []
    for stream in workload.stream:
        with at(f"stream '{stream.name}'"):
            index = asu_index[stream.asu] if stream.asu else 0
            resolved.append(
                _stream(
                    stream,
                    index,
                    asus[index].bytes,
                    names.index(stream.arrival) if stream.arrival else 0,
                    weights[stream.name],
                    replicas * (stream.replicas or 1),
                    style if options.hrrw or stream.walk is None else stream.walk,
                    [targets[extent.target] for extent in asus[index].extents],
                    tables,
                )
            )
    return resolved


def _stream(
    stream: Stream,
    asu: int,
    asu_bytes: int,
    arrival: int,
    weight: int,
    replicas: int,
    style: WalkStyle,
    targets: Sequence[Target],
    tables: int,
) -> ResolvedStream:
    priority, level = priority_of(stream)
    if stream.operation == "flush":
        return msgspec.structs.replace(
            _flush(stream.name, asu, asu_bytes, arrival, weight, replicas, targets),
            priority=priority,
            priority_level=level,
        )
    if stream.operation in ZONE_COMMANDS:
        # Like a flush: the kernel takes a block for what the command doesn't have.
        sizes = [(max([SECTOR, *(target.logical_block for target in targets)]), 1)]
    else:
        sizes = size_weights(stream)
    over = stream.fixed if style == "fixed" else None
    align_text = over.align if over and over.align is not None else stream.align
    members = members_of(stream)
    stride_bytes, jitter_bytes = members.get("stride_bytes", 0), members.get("jitter_bytes", 0)
    align = (
        units.parse_size(align_text)
        if align_text is not None
        else reduce(math.gcd, (size for size, _ in sizes), math.gcd(stride_bytes, jitter_bytes))
    )
    run_align_text = over.run_align if over and over.run_align is not None else stream.run_align
    for target in targets:
        for what, value in (("block size", min(size for size, _ in sizes)), ("align", align)):
            if value % target.logical_block:
                raise UsageError(
                    f"its {what}, {units.format_bytes(value)}, is not a multiple of the logical"
                    f" block of {target.path}, {target.logical_block} bytes"
                )

    def within(key: str, value: int | str) -> int:
        """Bytes of the asu: a percentage is rounded down to align, bytes must be a multiple."""
        amount = fraction_or_bytes(value)
        if isinstance(amount, Fraction):
            return int(asu_bytes * amount) // align * align
        if amount % align:
            raise UsageError(
                f"{key} = {value} is not a multiple of its align, {units.format_bytes(align)}"
            )
        if amount > asu_bytes:
            raise UsageError(
                f"{key} = {value} is beyond its asu, which has {units.format_bytes(asu_bytes)}"
            )
        return amount

    start = within("start", stream.start)
    room = asu_bytes - start
    span = room // align * align if stream.range is None else within("range", stream.range)
    if span > room:
        raise UsageError(
            f"its range ends at {units.format_bytes(start + span)}, beyond its asu, which has"
            f" {units.format_bytes(asu_bytes)}"
        )
    largest = max(size for size, _ in sizes)
    if largest > span:
        there = room if stream.range is None else span
        raise UsageError(
            f"its largest block, {units.format_bytes(largest)}, does not fit into its range of"
            f" {units.format_bytes(there)}"
        )
    parts: list[tuple[int, int]] = []
    if stream.pattern in TABLES:
        parts = _parts(stream, (span - largest) // align + 1, span, align, tables)
    run_bytes = restart_bytes = 0
    if stream.pattern == "runs":
        assert stream.run_length is not None
        run_bytes = within("run_length", stream.run_length)
        if run_bytes > span:
            raise UsageError(
                f"its run_length, {units.format_bytes(run_bytes)}, does not fit into its range of"
                f" {units.format_bytes(span)}"
            )
        restart_bytes = (
            max(span - run_bytes, align)
            if stream.restart is None
            else within("restart", stream.restart)
        )
        if stream.restart is not None and restart_bytes + run_bytes > span:
            raise UsageError(
                f"restart and run_length together, {units.format_bytes(restart_bytes + run_bytes)},"
                f" do not fit into its range of {units.format_bytes(span)}"
            )
    data = data_of(stream)
    return ResolvedStream(
        name=stream.name,
        asu=asu,
        arrival=arrival,
        weight=weight,
        replicas=replicas,
        read_ppm=read_ppm(stream),
        pattern="table" if stream.pattern in TABLES else cast(CorePattern, stream.pattern),
        range_start=start,
        range_bytes=span,
        align_bytes=align,
        sizes=[ResolvedSize(bytes=size, weight=share) for size, share in sizes],
        run_bytes=run_bytes,
        restart_bytes=restart_bytes,
        run_align_bytes=(
            0
            if stream.pattern != "runs"
            else units.parse_size(run_align_text)
            if run_align_text is not None
            else align
        ),
        walk_style=style if stream.pattern == "walk" else "classic",
        parts=parts,
        spread=int(_is_spread(stream)),
        operation=stream.operation,
        priority=priority,
        priority_level=level,
        own_data=int(data is not None),
        compressible_ppm=data.compressible_ppm if data else 0,
        duplicate_ppm=data.duplicate_ppm if data else 0,
        fill=data.fill.hex() if data else "",
        **members,
    )


def _flush(
    name: str,
    asu: int,
    asu_bytes: int,
    arrival: int,
    weight: int,
    replicas: int,
    targets: Sequence[Target],
) -> ResolvedStream:
    """A stream of flushes; the kernel takes its block for what a flush doesn't have."""
    block = max([SECTOR, *(target.logical_block for target in targets)])
    return ResolvedStream(
        name=name,
        asu=asu,
        arrival=arrival,
        weight=weight,
        replicas=replicas,
        read_ppm=0,
        pattern="uniform",
        range_start=0,
        range_bytes=asu_bytes // block * block,
        align_bytes=block,
        sizes=[ResolvedSize(bytes=block, weight=1)],
        operation="flush",
    )


def _is_spread(stream: Stream) -> bool:
    """True if the frequent addresses of a stream are spread over its range."""
    if stream.spread is not None:
        return stream.spread
    return stream.pattern in ("zipf", "pareto") and stream.center is None


def _parts(stream: Stream, slots: int, span: int, align: int, tables: int) -> list[tuple[int, int]]:
    """The table of a stream whose range has @slots addresses, one of @tables."""
    from spekctl.workload import laws

    most = laws.SPREAD_SLOTS_MAX if _is_spread(stream) else laws.SLOTS_MAX
    if slots > most:
        raise UsageError(
            f"its range has {slots} addresses, and pattern {stream.pattern} can have {most}"
            + (" if they are spread" if _is_spread(stream) else "")
            + "; give it a larger align or a smaller range"
        )
    # One part of a table is cut in two where it is moved beyond the end of the range.
    budget = min(laws.PARTS_MAX, laws.PARTS_IN_ALL // tables) - 1
    center = units.parse_percent(stream.center) if stream.center is not None else None
    if stream.pattern == "normal":
        assert stream.deviation is not None
        deviation = float(units.parse_percent(stream.deviation))
        width = float(units.parse_percent(stream.width or "0%"))
        middle = 0.5 if center is None else float(center)
        return laws.normal(slots, deviation, middle, budget, width)
    if stream.pattern == "zoned":
        if len(stream.zones) > budget:
            raise UsageError(f"it has {len(stream.zones)} zones, and there is room for {budget}")
        return laws.zoned(slots, _zones(stream, slots, span, align))
    if stream.pattern == "zipf":
        assert stream.theta is not None
        parts = laws.zipf(slots, stream.theta, budget)
    else:
        assert stream.h is not None
        parts = laws.pareto(slots, stream.h, budget)
    return laws.rotated(parts, int(center * slots) % slots) if center else parts


def _zones(stream: Stream, slots: int, span: int, align: int) -> list[tuple[Fraction, int]]:
    """The zones of a stream: share, and the address after the last one."""
    zones: list[tuple[Fraction, int]] = []
    share_of_range = Fraction(0)
    for number, zone in enumerate(stream.zones, start=1):
        size = fraction_or_bytes(zone.size)
        if isinstance(size, int):
            if size % align:
                raise UsageError(
                    f"the size of zone {number}, {zone.size}, is not a multiple of its align,"
                    f" {units.format_bytes(align)}"
                )
            size = Fraction(size, span)
        share_of_range += size
        if share_of_range > 1:
            raise UsageError(
                f"zone {number} ends beyond its range, which has {units.format_bytes(span)}"
            )
        # An I/O starts in its zone: the last of them is the last of the range.
        end = slots if share_of_range == 1 else min(slots, int(share_of_range * span) // align)
        zones.append((units.parse_percent(zone.share), end))
    return zones


# --- the rest ------------------------------------------------------------------------------------


def _with_ends(
    workload: WorkloadFile,
    options: Options,
    arrivals: list[ResolvedArrival],
    streams: Sequence[ResolvedStream],
    workers: int,
    zones: Sequence[Sequence[int]],
) -> list[ResolvedArrival]:
    """The processes with their counts, which what ends the run on the command line overrides."""
    if not workload.arrival or any(getattr(options, name) is not None for name in ENDS):
        return arrivals
    counted: list[ResolvedArrival] = []
    for place, (written, arrival) in enumerate(zip(workload.arrival, arrivals, strict=True)):
        count = written.count or 0
        if written.passes is not None:
            with at(f"arrival '{written.name}'"):
                count = passes.count_of_process(
                    *(written.passes, place, arrivals, streams), workers, zones
                )
        counted.append(msgspec.structs.replace(arrival, count=count))
    return counted


def _length(
    workload: WorkloadFile,
    options: Options,
    arrivals: Sequence[ResolvedArrival],
    streams: Sequence[ResolvedStream],
    workers: int,
    zones: Sequence[Sequence[int]],
) -> tuple[int, int]:
    """(time_ns, count): the measure phase ends at the first of them that is not 0; the count of
    what is given in passes."""
    given = any(getattr(options, name) is not None for name in ENDS)
    run = RunDefaults() if given else workload.run
    amount, number = setting("count", options, run), setting("passes", options, run)
    has_time = options.time_ns is not None or run.time is not None
    if amount is None and number is None:
        if not has_time and all(arrival.count for arrival in arrivals):
            return 0, 0
        return setting("time_ns", options, run), 0
    time_ns = setting("time_ns", options, run) if has_time else 0
    if number is None:
        return time_ns, amount
    _check_passes(workload)
    return time_ns, passes.count_of(number, arrivals, streams, workers, zones)


def _ramp(workload: WorkloadFile, options: Options) -> tuple[int, int]:
    """(ramp_ns, ramp_count), of which one is 0. What the command line sets of either overrides the
    file's setting of both."""
    given = options.ramp_ns is not None or options.ramp_count is not None
    run = RunDefaults() if given else workload.run
    amount = setting("ramp_count", options, run)
    if amount is not None:
        return 0, amount
    return setting("ramp_ns", options, run) or 0, 0


def max_outstanding(
    workload: WorkloadFile,
    options: Options,
    arrivals: list[ResolvedArrival],
    streams: list[ResolvedStream],
) -> int:
    """I/Os that may be outstanding: what is given, or what the arrivals need."""
    given: int | None = setting("max_outstanding", options, workload.run)
    if given is not None:
        return given
    total = sum(arrival.depth for arrival in arrivals)
    if any(arrival.law != "closed" for arrival in arrivals):
        largest = max(size.bytes for stream in streams for size in stream.sizes)
        burst = max(arrival.burst_length for arrival in arrivals)
        room = min(OPEN_LOOP_OUTSTANDING, max(64, OPEN_LOOP_BUFFER_BYTES // largest))
        total += max(room, burst)
    if total > DEPTH_MAX:
        raise UsageError(
            f"the workload wants {total} I/Os outstanding; at most {DEPTH_MAX} are allowed"
        )
    return total


def cpus_of(options: Options) -> list[int]:
    """CPU of each worker."""
    available = list(options.available_cpus)
    # Those near devices are of the machine that has them.
    listed = None if options.cpus == AUTO else options.cpus
    if listed is not None:
        missing = [cpu for cpu in listed if cpu not in available]
        if missing:
            raise UsageError(
                f"CPU {missing[0]} is offline or not allowed to spekctl;"
                f" it may use {units.format_cpu_list(available)}"
            )
        chosen = list(listed)
    else:
        chosen = available
    wanted = options.workers
    if wanted is None:
        wanted = len(chosen) if listed is not None else 1
    if wanted > len(chosen):
        source = "--cpus names" if listed is not None else "spekctl may use"
        raise UsageError(
            f"--workers {wanted} needs as many CPUs, but {source} {units.format_cpu_list(chosen)}"
        )
    return chosen[:wanted]
