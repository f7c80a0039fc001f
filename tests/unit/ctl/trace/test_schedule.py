# SPDX-License-Identifier: GPL-2.0
"""The feed of a replay: absolute times that drift nowhere, fixed blocks, everything counted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.traces import batch

from spekctl.errors import UsageError
from spekctl.trace.columns import Batch, Op, concatenated
from spekctl.trace.mapping import AsIs, Target
from spekctl.trace.schedule import Block, Pace, Schedule, Timing

DAY_NS = 86_400 * 10**9


def read(count: int, gap_ns: int = 1000) -> Batch:
    return batch([(at * gap_ns, 0, at % 100 * 4096, 4096, Op.READ) for at in range(count)])


def scheduled(trace: list[Batch], timing: Timing, rows: int = 7) -> tuple[list[Block], Schedule]:
    schedule = Schedule(trace, AsIs([Target(1 << 30)], [0, 0]), timing)
    return list(schedule.blocks(rows)), schedule


def column(blocks: list[Block], name: str) -> list[int]:
    return [value for block in blocks for value in getattr(block, name).tolist()]


@given(
    st.lists(st.integers(0, 400 * DAY_NS), min_size=1, max_size=30),
    st.decimals("0.001", "1000", places=4),
)
def test_a_speed_divides_times_exactly(times: list[int], speed: object) -> None:
    trace = batch([(at, 0, 0, 512, Op.READ) for at in sorted(times)])
    blocks, _ = scheduled([trace], Timing.at_speed(str(speed)))
    exact = Fraction(str(speed))
    assert column(blocks, "at_ns") == [int(at / exact) for at in sorted(times)]


@given(st.integers(1, 10**12), st.lists(st.integers(0, 40), max_size=5))
def test_a_rate_has_no_drift(milli: int, sizes: list[int]) -> None:
    blocks, _ = scheduled([read(size) for size in sizes], Timing.at_rate(f"{milli / 1000:.3f}"))
    rate = Fraction(f"{milli / 1000:.3f}")
    expected = [int(number * 10**9 / rate) for number in range(sum(sizes))]
    assert column(blocks, "at_ns") == expected


def test_a_rate_of_a_long_replay_is_still_exact() -> None:
    timing = Timing.at_rate("333.333")
    first = 10**10
    assert timing.due_ns(np.zeros(1), first).tolist() == [first * 10**12 // 333333]


def test_bursts_keep_their_proportions_at_a_rate() -> None:
    trace = batch([(at, 0, 0, 512, Op.READ) for at in (0, 10, 20, 10**9)])
    blocks, _ = scheduled([trace], Timing.at_rate("300").with_bursts(4, 10**9))
    assert column(blocks, "at_ns") == [0, 0, 0, 10**7]
    blocks, _ = scheduled([trace], Timing.at_rate("0.3").with_bursts(4, 10**9))
    assert column(blocks, "at_ns") == [0, 100, 200, 10**10]


@given(st.lists(st.integers(0, 50), max_size=8), st.integers(1, 60))
def test_think_times_are_the_gaps_of_the_trace(sizes: list[int], rows: int) -> None:
    # Each batch goes on where the one before it ended.
    times = np.cumsum(np.arange(sum(sizes), dtype=np.uint64)).tolist()
    parts, first = [], 0
    for size in sizes:
        part_times = times[first : first + size]
        parts.append(batch([(at, 0, 0, 4096, Op.READ) for at in part_times]))
        first += size
    blocks, _ = scheduled([part for part in parts if len(part)], Timing.closed(2, True), rows)
    assert column(blocks, "at_ns") == list(range(len(times)))


@given(
    st.lists(st.integers(0, 400 * DAY_NS), min_size=1, max_size=30).map(sorted),
    st.integers(1, 400 * DAY_NS),
    st.integers(1, 9),
)
def test_idle_times_beyond_the_limit_are_cut_to_it(times: list[int], limit: int, rows: int) -> None:
    timing = replace(Timing.at_speed("1"), max_idle_ns=limit)
    trace = batch([(at, at % 2, 0, 512, Op.READ) for at in times])
    blocks, schedule = scheduled([trace], timing, rows)
    due = column(blocks, "at_ns")
    recorded = np.diff([0, *times]).tolist()
    # Shorter ones are as they were, and the order is kept.
    assert np.diff([0, *due]).tolist() == [min(gap, limit) for gap in recorded]
    assert schedule.adjusted.idles == sum(gap > limit for gap in recorded)
    assert schedule.adjusted.idle_ns == times[-1] - due[-1]
    # Think times are the same gaps.
    closed = replace(Timing.closed(2, True), max_idle_ns=limit)
    blocks, _ = scheduled([trace], closed, rows)
    assert column(blocks, "at_ns") == [min(gap, limit) for gap in recorded]


def test_a_speed_divides_what_is_left_of_idle_times() -> None:
    timing = replace(Timing.at_speed("2"), max_idle_ns=1000)
    trace = batch([(at, 0, 0, 512, Op.READ) for at in (0, 10, 5010, 5020)])
    blocks, _ = scheduled([trace], timing)
    assert column(blocks, "at_ns") == [0, 5, 505, 510]


def test_a_closed_loop_has_no_times() -> None:
    timing = Timing.closed(8)
    blocks, _ = scheduled([read(10)], timing)
    assert column(blocks, "at_ns") == [0] * 10
    assert (timing.pace, timing.depth) == (Pace.CLOSED, 8)


@given(st.lists(st.integers(0, 50), max_size=8), st.integers(1, 60))
def test_blocks_have_at_most_so_many_records_and_all_in_order(sizes: list[int], rows: int) -> None:
    parts = [read(size) for size in sizes]
    blocks, _ = scheduled(parts, Timing(), rows)
    assert all(0 < len(block) <= rows for block in blocks)
    whole = concatenated(parts) if parts else read(0)
    assert column(blocks, "at_ns") == whole.at_ns.tolist()
    assert column(blocks, "index") == list(range(len(whole)))


def test_what_is_changed_or_left_out_is_counted() -> None:
    trace = batch(
        [
            (0, 0, 0, 0, Op.READ),
            (1, 0, 100, 512, Op.WRITE),
            (2, 1, 0, 0, Op.FLUSH),
            (3, 0, 1 << 30, 512, Op.READ),
            (4, 1, 4096, 4096, Op.DISCARD),
        ]
    )
    blocks, schedule = scheduled([trace, trace], Timing())
    adjusted = schedule.adjusted
    assert (adjusted.given, adjusted.empty, adjusted.beyond, adjusted.grown) == (10, 2, 2, 2)
    assert column(blocks, "index") == [1, 2, 4, 6, 7, 9]
    assert column(blocks, "offset_bytes") == [0, 0, 4096] * 2
    assert column(blocks, "bytes") == [1024, 0, 4096] * 2
    assert column(blocks, "op") == [Op.WRITE, Op.FLUSH, Op.DISCARD] * 2


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Timing.at_speed("fast"), "'fast' is not a speed"),
        (lambda: Timing.at_speed("0"), "a speed must be 1e-06 to 1e+06, not 0"),
        (lambda: Timing.at_speed("1/0"), "'1/0' is not a speed"),
        (lambda: Timing.at_rate("-3"), "'-3' is not a rate"),
        (lambda: Timing.at_rate("nan"), "'nan' is not a rate"),
        (lambda: Timing.at_rate("1e400"), "'1e400' is not a rate"),
        (lambda: Timing.at_rate("9" * 99), "a rate must be 0.001 to 1e+09"),
        (lambda: Timing.closed(0), "a depth of at least 1, not 0"),
        (lambda: Timing.at_rate("5").with_bursts(1, 0), "have no times"),
        (lambda: Timing.at_speed("0.000001").due_ns(np.array([2**63], np.uint64), 0), "584 years"),
    ],
)
def test_wrong_timings_get_a_sentence(call: object, sentence: str) -> None:
    assert callable(call)
    with pytest.raises(UsageError) as caught:
        call()
    assert sentence in caught.value.message
