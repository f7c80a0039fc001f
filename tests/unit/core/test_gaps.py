# SPDX-License-Identifier: GPL-2.0
"""Strided streams whose I/Os stay in a zone for a while, against the same rules in other words."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.core.spekcore import BLOCK, Arrival, Asu, Generator, Ops, Stream, Workload, library

_, LIB = library()
SEQUENTIAL, RANDOM, ONCE = range(3)


def generated(stream: Stream, count: int, worker: int = 0, workers: int = 1, seed: int = 1) -> Ops:
    workload = Workload([Asu(1 << 40)], [Arrival(depth=workers)], [stream])
    workload.check(workers)
    return Generator(workload, seed, worker, workers).ops(count)


def zoned(**keys: Any) -> Stream:
    """Sizes in blocks."""
    scaled = ("range_start", "range_bytes", "stride_bytes", "zone_size_bytes", "zone_range_bytes")
    return Stream(
        "strided",
        **{key: value * BLOCK if key in scaled else value for key, value in keys.items()},
    )


def blocks_of(stream: Stream, count: int) -> list[int]:
    return [int(place) // BLOCK for place in generated(stream, count)["addr"]]


def test_ios_move_on_when_a_zone_has_its_bytes() -> None:
    stream = zoned(range_bytes=30, stride_bytes=10, zone_size_bytes=3)
    assert blocks_of(stream, 11) == [0, 1, 2, 10, 11, 12, 20, 21, 22, 0, 1]


def test_ios_that_have_passed_the_range_of_a_zone_start_over_in_it() -> None:
    stream = zoned(range_bytes=20, stride_bytes=10, zone_size_bytes=5, zone_range_bytes=2)
    assert blocks_of(stream, 12) == [0, 1, 0, 1, 0, 10, 11, 10, 11, 10, 0, 1]


def test_a_zone_that_its_last_io_exceeds_has_one_io_more() -> None:
    stream = zoned(range_bytes=24, stride_bytes=10, zone_size_bytes=3, sizes=2 * BLOCK)
    assert blocks_of(stream, 7) == [0, 2, 10, 12, 20, 22, 0]


def test_a_zone_that_does_not_fit_is_left_out() -> None:
    stream = zoned(range_bytes=22, stride_bytes=10, zone_size_bytes=3)
    assert blocks_of(stream, 7) == [0, 1, 2, 10, 11, 12, 0]
    # Random I/Os need the range, however few they are.
    few = zoned(
        range_bytes=29, stride_bytes=10, zone_size_bytes=1, zone_range_bytes=9, zone_order=RANDOM
    )
    assert [place // 10 for place in blocks_of(few, 4)] == [0, 1, 2, 0]


@pytest.mark.parametrize("blocks", [1, 2, 7, 16, 1023, 1024, 1025, 5000])
def test_every_block_of_a_zone_is_touched_once_before_any_is_again(blocks: int) -> None:
    """In few blocks and in many, which are two ways to draw an order."""
    size = 2 * blocks + blocks // 2
    stream = zoned(
        range_bytes=2 * blocks + 10,
        stride_bytes=blocks + 10,
        zone_size_bytes=max(1, size),
        zone_range_bytes=blocks,
        zone_order=ONCE,
    )
    places = blocks_of(stream, 4 * size)
    orders = []
    for visit in range(4):
        zone = visit % 2 * (blocks + 10)
        inside = [place - zone for place in places[visit * size : (visit + 1) * size]]
        for first in range(0, size, blocks):
            order = inside[first : first + blocks]
            assert len(set(order)) == len(order) and set(order) <= set(range(blocks))
            orders += [tuple(order)] if len(order) == blocks else []
    if blocks >= 16:
        assert len(set(orders)) == len(orders) == 8


def test_random_ios_are_anywhere_in_the_zone_at_multiples_of_the_alignment() -> None:
    stream = Stream(
        "strided",
        {1536: 1, 4096: 1},
        align_bytes=512,
        range_bytes=1 << 20,
        stride_bytes=64 << 10,
        zone_size_bytes=32 << 10,
        zone_range_bytes=8 << 10,
        zone_order=RANDOM,
    )
    ops = generated(stream, 20_000)
    inside = ops["addr"] % (64 << 10)
    for size in (1536, 4096):
        assert set(inside[ops["bytes"] == size]) == set(range(0, (8 << 10) - size + 1, 512))


@st.composite
def streams(draw: st.DrawFn) -> Stream:
    order = draw(st.sampled_from([SEQUENTIAL, RANDOM, ONCE]))
    number = 1 if order == ONCE else 3
    mix = {512 * draw(st.integers(1, 6)): draw(st.integers(1, 3)) for _ in range(number)}
    length = max(mix) + 512 * draw(st.integers(0, 60))
    return Stream(
        "strided",
        mix,
        align_bytes=512,
        range_start=512 * draw(st.integers(0, 9)),
        range_bytes=512 * draw(st.integers(600, 2000)),
        stride_bytes=512 * draw(st.integers(1, 80)),
        zone_size_bytes=draw(st.integers(1, 50_000)),
        zone_range_bytes=draw(st.sampled_from([0, length])) if order == SEQUENTIAL else length,
        zone_order=order,
        read_ppm=300_000,
    )


@settings(max_examples=300, deadline=None)
@given(streams(), st.integers(0, 2**64 - 1))
def test_places_follow_from_the_sizes_and_the_zones(stream: Stream, seed: int) -> None:
    """Zone by zone, with the sizes as they were drawn."""
    ops = generated(stream, 600, seed=seed)
    length = stream.zone_range_bytes or stream.zone_size_bytes
    largest = max(size for size, _ in stream.size_weights())
    reach = length
    if stream.zone_order == SEQUENTIAL:
        reach = (min(length, stream.zone_size_bytes) - 1) // 512 * 512 + largest
    zones = (stream.range_bytes - reach) // stream.stride_bytes + 1
    number = done = place = 0
    for op in ops:
        addr, size = int(op["addr"]), int(op["bytes"])
        if done >= stream.zone_size_bytes:
            number, done, place = number + 1, 0, 0
        start = stream.range_start + number % zones * stream.stride_bytes
        if stream.zone_order == SEQUENTIAL:
            place = 0 if place >= length else place
            assert addr == start + place
            place += size
        else:
            assert start <= addr <= start + length - size
            unit = size if stream.zone_order == ONCE else 512
            assert (addr - start) % unit == 0
        done += size


@pytest.mark.parametrize("order", [SEQUENTIAL, RANDOM, ONCE])
@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_workers_together_pass_each_zone_once(order: int, workers: int) -> None:
    stream = zoned(range_bytes=1000, stride_bytes=10, zone_size_bytes=4, zone_order=order)
    workload = Workload([Asu(1 << 40)], [Arrival(depth=workers)], [stream])
    visits: Counter[int] = Counter()
    for worker in range(workers):
        count = int(LIB.spek_share_count_load(workload.c, 0, 0, worker, workers))
        ops = generated(stream, count, worker, workers)
        visits.update(int(place) // BLOCK // 10 for place in ops["addr"])
    assert visits == dict.fromkeys(range(100), 4)


def test_a_replica_has_zones_of_its_own() -> None:
    stream = zoned(
        range_bytes=1000, stride_bytes=10, zone_size_bytes=4, replicas=4, zone_order=ONCE
    )
    ops = generated(stream, 4000)
    for replica in range(4):
        mine = ops[ops["replica"] == replica]["addr"] // BLOCK
        zones = [zone for zone, _ in groupby(int(place) // 10 for place in mine)]
        assert zones == [replica * 25 + visit % 25 for visit in range(len(zones))]


def test_the_kinds_of_an_io_share_the_zone() -> None:
    """A read and a write after each other are in the same zone, whichever completes it."""
    stream = zoned(range_bytes=100, stride_bytes=10, zone_size_bytes=4, read_ppm=500_000)
    ops = generated(stream, 400)
    assert list(ops["addr"] // BLOCK) == [10 * (i // 4 % 10) + i % 4 for i in range(400)]
    assert 100 < np.count_nonzero(ops["write"]) < 300
