# SPDX-License-Identifier: GPL-2.0
"""Arrivals of a PowerSensor3's sets: which time is uncertain, and which host is only busy."""

from __future__ import annotations

import errno
import random
from collections.abc import Callable
from typing import Any

from lib.daq.build import library

STALE = -errno.ESTALE
MS = 1_000_000
START = 5 * 10**9


def outcomes(
    late_ns: Callable[[int], int], steps: int, losses: frozenset[int] = frozenset()
) -> list[int]:
    """What each call returns; sets come every 10 ms, each that late."""
    ffi, lib = library()
    arrival: Any = ffi.new("struct ps3_arrival *")
    lib.ps3_arrival_start(arrival, START)
    answers: list[int] = []
    now_ns = START
    for step in range(steps):
        # A set that comes late delays those behind it.
        now_ns = max(now_ns, START + step * 10 * MS + late_ns(step))
        answers.append(lib.ps3_arrival_add(arrival, step * 10_000, now_ns, step in losses))
    return answers


def test_a_steady_stream_is_fine_even_if_the_clocks_drift() -> None:
    assert set(outcomes(lambda step: 300_000 + step * 10 * 60, 5000)) == {0}
    assert set(outcomes(lambda step: 300_000 - step * 10 * 60, 5000, frozenset({2500}))) == {0}


def test_a_busy_host_is_fine_as_long_as_it_is_sometimes_in_time() -> None:
    chance = random.Random(3)
    late = [0 if step % 350 == 0 else chance.randrange(10 * MS) for step in range(3000)]
    assert set(outcomes(lambda step: late[step], 3000)) == {0}


def test_sets_that_are_late_from_some_time_on_are_noticed_after_seconds() -> None:
    """A wrap was lost without a sign."""
    answers = outcomes(lambda step: 1_024_000 if step > 1000 else 0, 2000)
    assert answers.count(STALE) == 1
    assert 1400 < answers.index(STALE) < 1700


def test_next_to_a_loss_another_lateness_is_enough() -> None:
    for late_ns in (1_024_000, 50 * MS, -1_024_000):
        late = [2 * MS] * 500 + [2 * MS + late_ns]
        assert outcomes(late.__getitem__, 501, frozenset({500}))[-1] == STALE
    assert outcomes(lambda _: 0, 501, frozenset({500}))[-1] == 0
    assert outcomes(lambda step: 50 * MS if step == 500 else 0, 501)[-1] == 0


def test_a_loss_before_anything_is_known_of_the_host_is_fine() -> None:
    assert outcomes(lambda _: 0, 2, frozenset({0, 1})) == [0, 0]


def test_the_best_arrival_is_the_one_that_is_least_late() -> None:
    ffi, lib = library()
    arrival: Any = ffi.new("struct ps3_arrival *")
    lib.ps3_arrival_start(arrival, START)
    for late in (7, 3, 9):
        lib.ps3_arrival_add(arrival, 1000, START + MS + late, False)
    assert lib.ps3_arrival_take(arrival) == START + 3
    assert lib.ps3_arrival_take(arrival) == 2**63 - 1
    lib.ps3_arrival_add(arrival, 2000, START + 2 * MS + 8, False)
    assert lib.ps3_arrival_take(arrival) == START + 8
