# SPDX-License-Identifier: GPL-2.0-or-later
"""An end by place: after how many I/Os the range of a run has been passed so many times.

The kernel ends a phase by a number of I/Os. It follows from the ranges, which are known when the
devices are. Of each arrival process

    I/Os of a pass = bytes of its ranges / bytes that an I/O takes of them, on average

where a range that several streams share counts once. Streams in an order take whole blocks, as the
kernel does where it begins again: a rest at the end of the range that is smaller is left out. An
I/O of a strided stream takes a stride, and the I/Os of a zone take one together. Flushes take
nothing, so they add to the I/Os. The run ends after the I/Os of all its processes together.

At write pointers a pass is the capacity of all zones, as if they were empty, and only writes count.
The last write to a zone is shortened to the space left, so each zone counts in whole writes; with
several sizes, it counts in as many writes as fill it on average.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from spekctl import units
from spekctl.errors import UsageError, at
from spekctl.workload.config import ResolvedArrival, ResolvedStream
from spekctl.workload.values import COUNT_MAX, ZONE_COMMANDS

# Their next address follows from the one before, up to the end of the range.
IN_ORDER = ("sequential", "backward", "once", "strided")


ZERO = Fraction(0)


def exact(passes: float) -> Fraction:
    """The number as it was written: 0.1 is a tenth."""
    if not math.isfinite(passes) or passes <= 0:
        raise UsageError(f"it is a number above 0, not {passes:g}")
    if passes > units.U64_MAX:
        # A pass has one I/O at least, so no device makes this valid.
        raise UsageError(f"{passes:g} I/Os are too many; at most {units.U64_MAX} are allowed")
    return Fraction(str(passes))


def count_of(
    passes: float,
    arrivals: Sequence[ResolvedArrival],
    streams: Sequence[ResolvedStream],
    workers: int,
    capacities: Sequence[Sequence[int]],
) -> int:
    """The number of I/Os after which the ranges of @streams have been passed @passes times.
    @capacities: see layout.capacities_of()"""
    with at("passes"):
        total = sum(
            (_of_process(_members(place, streams), capacities) for place in range(len(arrivals))),
            ZERO,
        )
        count = _rounded(exact(passes) * total)
        _check_workers(arrivals, streams, workers, count)
        for place, arrival in enumerate(arrivals):
            _check_zones(arrival, _members(place, streams), workers, capacities)
        if count > units.U64_MAX:
            raise UsageError(f"{count} I/Os are too many; at most {units.U64_MAX} are allowed")
    return count


def count_of_process(
    passes: float,
    place: int,
    arrivals: Sequence[ResolvedArrival],
    streams: Sequence[ResolvedStream],
    workers: int,
    capacities: Sequence[Sequence[int]],
) -> int:
    """The number of I/Os after which one process has passed its ranges @passes times; @place: its
    index among @arrivals."""
    with at("passes"):
        members = _members(place, streams)
        count = _rounded(exact(passes) * _of_process(members, capacities))
        _check_workers([arrivals[place]], members, workers, count)
        _check_zones(arrivals[place], members, workers, capacities)
        if count > COUNT_MAX:
            raise UsageError(f"{count} I/Os are too many; at most {COUNT_MAX} are allowed")
    return count


def _members(place: int, streams: Sequence[ResolvedStream]) -> list[ResolvedStream]:
    return [stream for stream in streams if stream.arrival == place and stream.weight]


def _rounded(ios: Fraction) -> int:
    """Whole I/Os: the last one may be of the pass in part only."""
    return math.ceil(ios)


def _of_process(members: Sequence[ResolvedStream], capacities: Sequence[Sequence[int]]) -> Fraction:
    """I/Os of a pass through the ranges of an arrival process."""
    for stream in members:
        if stream.operation in ZONE_COMMANDS:
            raise UsageError(f"stream '{stream.name}' has zone commands, which pass no range")
    data = [stream for stream in members if stream.operation != "flush"]
    if members and not data:
        raise UsageError(f"stream '{members[0].name}' only flushes, which passes no range")
    ranges: dict[tuple[int, int, int], set[int]] = {}
    for stream in data:
        if stream.pattern == "write-pointer":
            continue
        ranges.setdefault((stream.asu, stream.range_start, stream.range_bytes), set()).add(
            _passed(stream)
        )
    # Streams that round one range differently pass all of it.
    size = Fraction(
        sum(min(lengths) if len(lengths) == 1 else key[2] for key, lengths in ranges.items())
    )
    for asu, writers in _writers(data).items():
        size += sum(_whole_writes(writers, capacities[asu]), ZERO)
    taken = sum(stream.weight * _step(stream) for stream in data)
    weight = sum(stream.weight for stream in members)
    if members and not taken:
        raise UsageError(
            f"stream '{data[0].name}' only reads below write pointers, which passes no range"
        )
    return size * weight / taken if taken else ZERO


def _writers(streams: Sequence[ResolvedStream]) -> dict[int, list[ResolvedStream]]:
    """The streams that write at write pointers, by their asus."""
    writers: dict[int, list[ResolvedStream]] = {}
    for stream in streams:
        if stream.pattern == "write-pointer" and stream.read_ppm < 1_000_000:
            writers.setdefault(stream.asu, []).append(stream)
    return writers


def _whole_writes(
    writers: Sequence[ResolvedStream], capacities: Sequence[int]
) -> Sequence[Fraction]:
    """Bytes of the writes that fill each zone, the last of which is counted in full: exact for one
    block size, a mean for several."""
    if not any(capacities):
        raise UsageError(f"no zone of stream '{writers[0].name}' can be written at its pointer")
    lengths = {size.bytes for stream in writers for size in stream.sizes}
    if len(lengths) > 1:
        over = _mean_cut(writers)
        return [capacity + over if capacity else ZERO for capacity in capacities]
    (length,) = lengths
    return [Fraction(-(-capacity // length) * length) for capacity in capacities]


def _mean_cut(writers: Sequence[ResolvedStream]) -> Fraction:
    """Mean bytes cut off the write that fills a zone. The larger a write, the likelier it reaches
    the end of the zone, and the space left there is any multiple of the sizes' greatest common
    divisor with equal probability. Assumes many writes in a zone."""
    shares: dict[int, Fraction] = {}
    for stream in writers:
        writes = stream.weight * Fraction(1_000_000 - stream.read_ppm, 1_000_000)
        weights = sum(size.weight for size in stream.sizes)
        for size in stream.sizes:
            share = writes * Fraction(size.weight, weights)
            shares[size.bytes] = shares.get(size.bytes, ZERO) + share
    unit = math.gcd(*shares)
    squares = sum((length * (length - unit) * share for length, share in shares.items()), ZERO)
    return squares / (2 * sum((length * share for length, share in shares.items()), ZERO))


def _step(stream: ResolvedStream) -> Fraction:
    """Bytes of the range that an I/O takes on average."""
    total = sum(size.bytes * size.weight for size in stream.sizes)
    mean = Fraction(total, sum(size.weight for size in stream.sizes))
    if stream.pattern == "strided":
        sizes = [(size.bytes, size.weight) for size in stream.sizes]
        return stream.stride_bytes / ios_of_zone(stream.zone_size_bytes, sizes)
    if stream.pattern == "write-pointer":
        return mean * (1_000_000 - stream.read_ppm) / 1_000_000
    return mean


def ios_of_zone(zone: int, sizes: Sequence[tuple[int, int | Fraction]]) -> Fraction:
    """I/Os of a strided stream in a zone of @zone bytes, 0: in one that has a single I/O; @sizes:
    bytes with weights. Exact for one block size, a mean for several: the last I/O exceeds the zone
    by the mean excess of renewal theory, which assumes many I/Os in a zone."""
    if not zone:
        return Fraction(1)
    if len(sizes) == 1:
        return Fraction(math.ceil(Fraction(zone, sizes[0][0])))
    weights = sum((Fraction(weight) for _, weight in sizes), ZERO)
    mean = sum((size * weight / weights for size, weight in sizes), ZERO)
    square = sum((size**2 * weight / weights for size, weight in sizes), ZERO)
    unit = math.gcd(*(size for size, _ in sizes))
    wanted = math.ceil(Fraction(zone, unit)) * unit
    return max(Fraction(1), (wanted + square / (2 * mean) - Fraction(unit, 2)) / mean)


def _reach(stream: ResolvedStream) -> int:
    """Bytes from a place in the grid of strides to the end of the last byte that its I/Os reach, as
    spek_gap_reach() of kmod/load/core/gaps.c has them for zones."""
    size = max(size.bytes for size in stream.sizes)
    if not stream.zone_size_bytes:
        return size + stream.jitter_bytes
    length = stream.zone_range_bytes or stream.zone_size_bytes
    if stream.zone_order != "sequential":
        return length
    steps = (min(length, stream.zone_size_bytes) - 1) // stream.align_bytes
    return steps * stream.align_bytes + size


def _passed(stream: ResolvedStream) -> int:
    """Bytes of the range that its I/Os can take in one pass."""
    if stream.pattern not in IN_ORDER or len(stream.sizes) > 1:
        return stream.range_bytes
    return int(_blocks(stream, stream.range_bytes) * _step(stream))


def _blocks(stream: ResolvedStream, span: int) -> int:
    """I/Os from the start of a range of @span bytes to its end, of a stream in an order."""
    size = max(size.bytes for size in stream.sizes)
    if stream.pattern == "strided":
        places = (span - _reach(stream)) // stream.stride_bytes + 1
        return places * int(stream.stride_bytes / _step(stream))
    return span // size


def blocks_of_parts(stream: ResolvedStream, parts: int) -> list[int]:
    """I/Os of a pass in each of @parts of the range, as kmod/load/core/sequential.c cuts it."""
    unit = stream.stride_bytes if stream.pattern == "strided" else int(_step(stream))
    cuts = [stream.range_bytes // unit * part // parts * unit for part in range(parts)]
    return [
        max(0, _blocks(stream, end - start)) for start, end in pairwise([*cuts, stream.range_bytes])
    ]


def _check_workers(
    arrivals: Sequence[ResolvedArrival], streams: Sequence[ResolvedStream], workers: int, count: int
) -> None:
    """Refuse passes that workers would not finish together. Each worker has a part of the range;
    for whole passes it does the I/Os of its part. Other numbers are divided by load: workers reach
    the same share of their parts only if parts and loads are equal."""
    if workers == 1 or len(streams) > 1 or streams[0].pattern not in IN_ORDER:
        return
    (stream,), (arrival,) = streams, arrivals
    load, active = _active(arrival, workers)
    if active == 1:
        return
    blocks = _blocks(stream, stream.range_bytes)
    by_parts = len(stream.sizes) == 1 and not count % blocks
    if by_parts and sum(blocks_of_parts(stream, active)) == blocks:
        return
    part, rest = divmod(stream.range_bytes, active)
    uneven = len(stream.sizes) > 1 or rest or part % stream.align_bytes or load % active
    if uneven or count % active or _blocks(stream, part) * active != blocks:
        raise UsageError(
            f"--passes on {active} workers needs one block size, whole passes and I/Os that stay"
            " within a worker's part, or else a depth and a number of blocks that are multiples of"
            f" {active}; use one worker"
        )


def _active(arrival: ResolvedArrival, workers: int) -> tuple[int, int]:
    """The load that is shared out to workers, and how many of these have any of it."""
    load = {"closed": arrival.depth, "burst": arrival.burst_length}.get(arrival.law, workers)
    if arrival.pause_ns:
        return load, 1
    # Fewer than there are workers: each has one, and the other workers nothing.
    return load, min(load, workers)


def _check_zones(
    arrival: ResolvedArrival,
    members: Sequence[ResolvedStream],
    workers: int,
    capacities: Sequence[Sequence[int]],
) -> None:
    """Workers have zones of their own: these are passed together only if they hold the same."""
    load, active = _active(arrival, workers)
    if active == 1:
        return
    for asu, writers in _writers(members).items():
        zones = _whole_writes(writers, capacities[asu])
        each, rest = divmod(len(zones), active)
        # The first ones have a zone more each.
        starts = [each * worker + min(worker, rest) for worker in range(active + 1)]
        parts = {sum(zones[start:end]) for start, end in pairwise(starts)}
        if len(parts) > 1 or load % active:
            raise UsageError(
                f"each of {active} workers writes zones of its own, and they come to the ends of"
                f" these together only if they hold the same and the depth is a multiple of"
                f" {active}; use one worker"
            )
