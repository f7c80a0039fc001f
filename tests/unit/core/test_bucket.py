# SPDX-License-Identifier: GPL-2.0
"""Closed loops with a limit of their rate: a token bucket."""

import pytest
from lib.core.spekcore import Arrival, Asu, Generator, Stream, Workload

NS = 10**9


def limited(rate: float, burst: int = 0, depth: int = 8, think_ns: int = 0) -> Workload:
    loop = Arrival(depth=depth, think_ns=think_ns, rate=rate, burst_length=burst)
    return Workload([Asu(1 << 30)], [loop], [Stream()])


def test_a_fast_device_is_held_at_the_limit() -> None:
    at = Generator(limited(3), 1).ops(3001)["at_ns"].tolist()
    # Whole ns, never too early, and no drift.
    assert at == [-(-number * NS // 3) for number in range(3001)]


@pytest.mark.parametrize("burst", [1, 2, 5, 100])
def test_after_a_pause_a_burst_follows_at_once(burst: int) -> None:
    generator = Generator(limited(1000, burst, depth=200), 1)
    step, pause = 10**6, 10**9
    first = [int(generator.next().at_ns) for _ in range(burst + 3)]
    assert first == [*([0] * burst), step, 2 * step, 3 * step]
    for _ in range(200 - burst - 3):
        generator.next()
    # All 200 are out; they complete after a pause in which the bucket fills.
    now = 200 * step + pause
    for _ in range(200):
        generator.complete(0, now)
    again = [int(generator.next().at_ns) - now for _ in range(burst + 2)]
    assert again == [*([0] * burst), step, 2 * step]


def test_a_slow_device_is_not_held() -> None:
    """Completions come later than tokens: the loop is as without a limit."""
    slow, free = Generator(limited(1000, depth=1), 1), Generator(limited(0, depth=1), 1)
    for number in range(100):
        for generator in (slow, free):
            assert generator.next().at_ns == number * 2_000_000
            generator.complete(0, (number + 1) * 2_000_000)


def test_a_pause_and_a_limit_go_together() -> None:
    at = Generator(limited(1000, depth=1, think_ns=3 * 10**6), 1).ops(10)["at_ns"].tolist()
    assert at == [number * 3 * 10**6 for number in range(10)]
    at = Generator(limited(100, depth=1, think_ns=3 * 10**6), 1).ops(10)["at_ns"].tolist()
    assert at == [number * 10**7 for number in range(10)]


@pytest.mark.parametrize("nr_workers", [2, 3])
def test_workers_share_the_limit_in_turn(nr_workers: int) -> None:
    workload = limited(1000, depth=32)
    at = [Generator(workload, 1, worker, nr_workers).ops(100)["at_ns"] for worker in
          range(nr_workers)]  # fmt: skip
    together = sorted(int(at_ns) for part in at for at_ns in part)
    assert together == [number * 10**6 for number in range(100 * nr_workers)]


def test_beside_another_process() -> None:
    workload = Workload(
        [Asu(1 << 30)],
        [Arrival(depth=4, rate=1000), Arrival("constant", rate=500)],
        [Stream(), Stream(arrival=1)],
    )
    ops = Generator(workload, 1).ops(1500)
    assert (ops["at_ns"][1:] >= ops["at_ns"][:-1]).all()
    assert (ops["arrival"] == 0).sum() == pytest.approx(1000, abs=2)
