# SPDX-License-Identifier: GPL-2.0
"""The loads of paper 004: stand-ins for its two traces, or the traces themselves from files.

A stand-in has what is published of its trace; the remainder is assumed, and both are stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.paper004.sim import BLOCK, NS, READ, REQUESTS, WRITE

from spekctl import recorded
from spekctl.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

GB = 10**9
MB = 10**6
DAY_NS = 86_400 * NS
MOST_BLOCKS = 256
TRACES = ("cello99", "websearch")


@dataclass(frozen=True, slots=True)
class Load:
    """A trace: what is published of it, and what its stand-in assumes."""

    key: str
    name: str
    known: str
    assumed: str


CELLO = Load(
    "cello99",
    "cello99-like",
    "writes prevail; the data of a day are less than 30 GB (paper 004)",
    "60 % writes; 4, 8, 16, 64 KiB in 10, 70, 10, 10 %; 30 % continue the request before; the"
    " others by Zipf's law (exponent 1) over 30 GB, which are pieces of 8 MiB all over the array;"
    " original timing: bursts of 200 requests on average at 100/s, 10/s in all",
)
WEBSEARCH = Load(
    "websearch",
    "WebSearch-like",
    "reads only, 8 to 32 KiB with a mean of 15 KiB, no sequences, about 300/s, three address spaces"
    " of 16.7 GB in equal parts; an LRU cache of 100, 512, 1024 MB hits .008, .046, .213",
    "uniform over 12.5 GB of these, which gives the first two hit ratios; 14 % repeat what was read"
    " 530 to 1000 MB before, which gives the third; Poisson",
)
LOADS = {load.key: load for load in (CELLO, WEBSEARCH)}
_WEB_SPACE = 32_600_000 * 512 // BLOCK  # from the largest addresses seen
_WEB_SPACES = 3
_WEB_SIZES = (2, 3, 4, 4, 4, 4, 4, 6, 8)  # blocks; 15.4 KiB on average
_WEB_UNIT = 8
_WEB_DATA = 12.5 * GB
_WEB_REPEATS = 0.14
_WEB_REPEAT_BYTES = (530 * MB, 1000 * MB)
_CELLO_SIZES, _CELLO_SHARES = (1, 2, 4, 16), (0.1, 0.7, 0.1, 0.1)
_CELLO_DATA = 30 * GB
_CELLO_PIECE = 8 * 2**20 // BLOCK
_BURST, _BURST_RATE, _CELLO_RATE, _WEB_RATE = 200, 100, 10, 300


def arrivals(key: str, count: int, rate: float | None, seed: int) -> NDArray[np.uint64]:
    """Times of requests: Poisson at @rate, or the stand-in's own timing."""
    generator = np.random.default_rng([seed, 1])
    if rate is not None or key == "websearch":
        gaps = generator.exponential(NS / (rate or _WEB_RATE), count)
    else:
        gaps = generator.exponential(NS / _BURST_RATE, count)
        pause = _BURST * (1 / _CELLO_RATE - 1 / _BURST_RATE)
        ends = generator.random(count) < 1 / _BURST
        gaps[ends] += generator.exponential(pause * NS, int(ends.sum()))
    return np.cumsum(gaps).astype(np.uint64)


def stand_in(key: str, raid_blocks: int, count: int, rate: float | None, seed: int) -> Any:
    """Requests like those of a trace. The same places whatever the rate."""
    make = _websearch if key == "websearch" else _cello
    requests = make(raid_blocks, count, np.random.default_rng([seed, 2]))
    requests["arrival_ns"] = arrivals(key, count, rate, seed)
    return requests


def _scattered(numbers: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Numbers below @size as others, each of its own, that are anywhere there."""
    step = 0.6180339887 * size
    factor = int(step) | 1
    while np.gcd(factor, size) != 1:
        factor += 2
    return np.asarray(numbers * factor % size, np.int64)


def _websearch(raid_blocks: int, count: int, generator: np.random.Generator) -> Any:
    requests = np.zeros(count, REQUESTS)
    units = int(_WEB_DATA / (_WEB_UNIT * BLOCK))
    all_units = _WEB_SPACES * _WEB_SPACE // _WEB_UNIT
    block = _scattered(generator.integers(0, units, count), all_units) * _WEB_UNIT
    size = generator.choice(_WEB_SIZES, count)
    mean = float(np.mean(_WEB_SIZES)) * BLOCK
    nearest, farthest = (round(each / mean) for each in _WEB_REPEAT_BYTES)
    back = generator.integers(nearest, farthest, count)
    repeats = generator.random(count) < _WEB_REPEATS
    for index in np.flatnonzero(repeats):
        before = index - back[index]
        if before >= 0:
            block[index], size[index] = block[before], size[before]
    requests["block"] = block % (raid_blocks - MOST_BLOCKS)
    requests["blocks"] = size
    return requests


def _cello(raid_blocks: int, count: int, generator: np.random.Generator) -> Any:
    requests = np.zeros(count, REQUESTS)
    pieces = int(_CELLO_DATA / (_CELLO_PIECE * BLOCK))
    places = pieces * _CELLO_PIECE // 2
    # Zipf's law with exponent 1: the logarithm of the rank is uniform.
    rank = np.minimum(places ** generator.random(count), places - 1).astype(np.int64)
    place = _scattered(rank, places) * 2
    piece = _scattered(place // _CELLO_PIECE, (raid_blocks - MOST_BLOCKS) // _CELLO_PIECE)
    block = piece * _CELLO_PIECE + place % _CELLO_PIECE
    size = generator.choice(_CELLO_SIZES, count, p=_CELLO_SHARES)
    follows = generator.random(count) < 0.3
    write = generator.random(count) < 0.6
    for index in range(1, count):
        if follows[index]:
            block[index] = block[index - 1] + size[index - 1]
            write[index] = write[index - 1]
    requests["block"] = block % (raid_blocks - MOST_BLOCKS)
    requests["blocks"] = size
    requests["op"] = np.where(write, WRITE, READ)
    return requests


def from_files(
    load: Load, paths: Sequence[Path], raid_blocks: int, count: int, rate: float | None, seed: int
) -> tuple[Load, Any]:
    """The first @count reads and writes of a real trace, in blocks of 4 KiB.

    Address spaces follow each other on the array, each with an equal part of it; addresses beyond
    are folded. Longer requests than 1 MiB are cut.
    """
    from spekctl.trace.columns import Op
    from spekctl.trace.trace import open_trace

    trace = open_trace(list(paths))
    requests = np.zeros(count, REQUESTS)
    taken = folded = cut = 0
    spaces: int | None = None
    for batch in trace.batches():
        media = batch.take(
            ((batch.op == Op.READ) | (batch.op == Op.WRITE)) & (batch.bytes > 0)
        ).take(slice(0, count - taken))
        spaces = max(1, len(trace.devices.names))
        part = raid_blocks // spaces - MOST_BLOCKS
        here = slice(taken, taken + len(media))
        first = (media.offset_bytes // BLOCK).astype(np.int64)
        blocks = -(-media.end_bytes.astype(np.int64) // BLOCK) - first
        folded += int((first >= part).sum())
        cut += int((blocks > MOST_BLOCKS).sum())
        requests["arrival_ns"][here] = media.at_ns
        requests["block"][here] = first % part + media.device.astype(np.int64) * part
        requests["blocks"][here] = np.minimum(blocks, MOST_BLOCKS)
        requests["op"][here] = np.where(media.op == Op.WRITE, WRITE, READ)
        taken += len(media)
        if taken == count:
            break
    if taken < 2:
        raise UsageError(f"{trace.name} has {taken} reads and writes; at least 2 are needed")
    requests = requests[:taken]
    if rate is None:
        requests["arrival_ns"] -= requests["arrival_ns"][0]
    else:
        requests["arrival_ns"] = arrivals(load.key, taken, rate, seed)
    stated = Load(
        load.key,
        f"{load.key} trace",
        recorded.text(f"the first {taken:,} reads and writes of {trace.name}"),
        f"{spaces} address spaces, each on an equal part of the array; {folded / taken:.1%} of the"
        f" addresses are folded, {cut / taken:.1%} of the requests cut to 1 MiB",
    )
    return stated, requests


def footprint_of_days(requests: Any) -> list[tuple[int, float, float]]:
    """Of each day: number, GB of distinct blocks, and GB that the day before had not."""
    days = requests["arrival_ns"] // np.uint64(DAY_NS)
    result = []
    before: NDArray[Any] = np.zeros(0, np.uint64)
    for day in np.unique(days):
        mine = requests[days == day]
        offsets = np.arange(int(mine["blocks"].sum()), dtype=np.int64) - np.repeat(
            np.cumsum(mine["blocks"].astype(np.int64)) - mine["blocks"], mine["blocks"]
        )
        blocks = np.unique(np.repeat(mine["block"].astype(np.int64), mine["blocks"]) + offsets)
        fresh = np.setdiff1d(blocks, before, assume_unique=True)
        result.append((int(day), len(blocks) * BLOCK / GB, len(fresh) * BLOCK / GB))
        before = blocks
    return result


def lru_hit_ratio(requests: Any, cache_bytes: float) -> float:
    """Share of requests all of whose blocks an LRU cache has."""
    from collections import OrderedDict

    room = int(cache_bytes / BLOCK)
    cache: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for first, count in zip(requests["block"].tolist(), requests["blocks"].tolist(), strict=True):
        blocks = range(first, first + count)
        hits += all(block in cache for block in blocks)
        for block in blocks:
            cache[block] = None
            cache.move_to_end(block)
        while len(cache) > room:
            cache.popitem(last=False)
    return hits / len(requests)
