# SPDX-License-Identifier: GPL-2.0
"""Idle time and iowait, between which the kernel moves periods, as counters that only grow."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.railcore import library

MASK = 2**64 - 1


@pytest.fixture(scope="module")
def idle() -> Any:
    return library("-fsanitize=undefined", "-fno-sanitize-recover=all")


def reported(idle: Any, readings: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The two cells after each reading of idle time and iowait."""
    ffi, lib = idle
    cells = ffi.new("u64[2]")
    rows = []
    for raw_idle, raw_iowait in readings:
        lib.spek_idle_read(cells, cells + 1, raw_idle & MASK, raw_iowait & MASK)
        rows.append((cells[0], cells[1]))
    return rows


@pytest.mark.parametrize(
    ("readings", "rows"),
    [
        # Nothing moves: the cells are the readings.
        ([(100, 10), (150, 10), (150, 40)], [(100, 10), (150, 10), (150, 40)]),
        # A period of 100 moves to iowait: only the 10 that passed are reported, as iowait.
        ([(500, 10), (400, 120)], [(500, 10), (500, 20)]),
        # ...and back and forth.
        ([(500, 0), (400, 110), (520, 0), (400, 130)], [(500, 0), (500, 10), (510, 10), (510, 20)]),
        # The lagging counter catches up out of the time that passes.
        ([(500, 0), (400, 110), (400, 140), (450, 150)],
         [(500, 0), (500, 10), (500, 40), (500, 100)]),
        # A reading that was too high is waited for.
        ([(500, 0), (900, 0), (600, 0), (950, 0)], [(500, 0), (900, 0), (900, 0), (950, 0)]),
        # A CPU that was offline: the base may make a reading negative.
        ([(-5, 0), (20, 0)], [(0, 0), (20, 0)]),
    ],
)  # fmt: skip
def test_a_period_that_moves_is_counted_once(
    idle: Any, readings: list[tuple[int, int]], rows: list[tuple[int, int]]
) -> None:
    assert reported(idle, readings) == rows


@given(st.lists(st.tuples(st.integers(0, 10**9), st.booleans()), min_size=1))
def test_both_together_are_the_time_an_idle_cpu_was_idle(
    idle: Any, steps: list[tuple[int, bool]]
) -> None:
    """A CPU idle all the time, whose only waiter comes and goes on another CPU."""
    now, readings = 0, []
    for passed, waits in steps:
        now += passed
        readings.append((0, now) if waits else (now, 0))
    rows = reported(idle, readings)
    assert [sum(cells) for cells in rows] == [sum(cells) for cells in readings]
    assert all(b[0] >= a[0] and b[1] >= a[1] for a, b in pairwise(rows))
