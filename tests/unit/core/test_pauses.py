# SPDX-License-Identifier: GPL-2.0
"""Closed loops that pause between bursts, on a device with a service time."""

import heapq
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.spekcore import NEVER, Arrival, Asu, Generator, Stream, Workload

US, MS = 10**3, 10**6
SERVICE, PAUSE = 100 * US, 10 * MS


def workload(loop: Arrival, others: tuple[Arrival, ...] = ()) -> Workload:
    loops = [loop, *others]
    return Workload([Asu(1 << 30)], loops, [Stream(arrival=i) for i in range(len(loops))])


def issued(generator: Generator, count: int, service_ns: int = SERVICE) -> list[tuple[int, int]]:
    """(time, arrival process) of the first I/Os of a device that serves all that is outstanding
    at once, each for @service_ns."""
    outstanding: list[tuple[int, int, int]] = []
    times: list[tuple[int, int]] = []
    while len(times) < count:
        if outstanding and outstanding[0][0] <= generator.next_ns:
            done_ns, _, arrival = heapq.heappop(outstanding)
            generator.complete(arrival, done_ns)
            continue
        assert generator.next_ns != NEVER
        op = generator.next()
        times.append((int(op.at_ns), int(op.arrival)))
        heapq.heappush(outstanding, (int(op.at_ns) + service_ns, len(times), int(op.arrival)))
    return times


def times_of(loop: Arrival, count: int, service_ns: int = SERVICE) -> list[int]:
    return [at for at, _ in issued(Generator(workload(loop), 1), count, service_ns)]


def bursts(times: list[int], pause_ns: int = PAUSE) -> list[int]:
    """I/Os of each burst but the last, which may be incomplete."""
    lengths = [1]
    for before, at in pairwise(times):
        if at - before >= pause_ns:
            lengths.append(0)
        lengths[-1] += 1
    return lengths[:-1]


def every(number: int, depth: int = 1, completed: bool = False) -> Arrival:
    return Arrival(
        depth=depth, pause_ns=PAUSE, pause_every=number, pause_counts_completed=int(completed)
    )


@pytest.mark.parametrize("completed", [False, True])
@pytest.mark.parametrize("number", [1, 2, 16])
def test_throughput_at_depth_1_is_that_of_bursts_and_pauses(number: int, completed: bool) -> None:
    """number I/Os in number * SERVICE + PAUSE."""
    at = times_of(every(number, completed=completed), 20 * number)
    period = number * SERVICE + PAUSE
    assert at == [
        burst * period + place * SERVICE for burst in range(20) for place in range(number)
    ]


@given(
    number=st.integers(1, 40),
    depth=st.integers(1, 20),
    service=st.integers(0, MS),
    pause=st.integers(1, PAUSE),
    think=st.sampled_from([0, 7 * US]),
)
def test_a_pause_follows_each_burst_once_it_has_completed(
    number: int, depth: int, service: int, pause: int, think: int
) -> None:
    loop = Arrival(depth=depth, think_ns=think, pause_ns=pause, pause_every=number)
    ready, resume = [0] * depth, 0
    expected: list[int] = []
    for place in range(5 * number):
        if place and place % number == 0:
            resume = max(expected) + service + pause
        expected.append(max(heapq.heappop(ready), resume))
        heapq.heappush(ready, expected[-1] + service + think)
    assert times_of(loop, 5 * number, service) == expected


def test_bursts_of_a_deep_loop_have_exactly_their_number() -> None:
    assert bursts(times_of(every(16, depth=32), 200)) == [16] * 12
    assert bursts(times_of(every(50, depth=8), 500)) == [50] * 9


def test_counting_completed_ios_lengthens_the_first_burst_by_what_is_outstanding() -> None:
    """As fio: what completes while a burst drains counts towards the next."""
    # Distinct completion times: a device that serves one after the other.
    generator = Generator(workload(every(16, depth=4, completed=True)), 1)
    at, busy_ns, queue = list[int](), 0, list[int]()
    while len(at) < 100:
        if queue and queue[0] <= generator.next_ns:
            generator.complete(0, queue.pop(0))
            continue
        op = generator.next()
        at.append(int(op.at_ns))
        busy_ns = max(busy_ns, at[-1]) + SERVICE
        queue.append(busy_ns)
    assert bursts(at) == [16 + 3, *[16] * 5]


def test_a_burst_is_at_least_an_io_long() -> None:
    """More complete while a burst drains than the next has: fio issues an I/O, and pauses."""
    lengths = bursts(times_of(every(2, depth=8, completed=True), 100))
    assert min(lengths) == 1


def test_a_burst_ends_by_time() -> None:
    loop = Arrival(depth=1, pause_ns=PAUSE, pause_after_ns=5 * MS)
    at = times_of(loop, 300)
    # I/Os 0 to 50: the one that is due after 5 ms is the last of its burst.
    assert bursts(at) == [51] * 5
    assert at[51] == 50 * SERVICE + SERVICE + PAUSE


def test_the_earlier_of_number_and_time_ends_a_burst() -> None:
    both = Arrival(depth=1, pause_ns=PAUSE, pause_every=20, pause_after_ns=5 * MS)
    assert bursts(times_of(both, 100)) == [20] * 4
    assert bursts(times_of(both, 100, service_ns=MS)) == [6] * 16


def test_a_limit_holds_within_a_burst() -> None:
    loop = Arrival(depth=4, rate=1000, pause_ns=PAUSE, pause_every=3)
    at = times_of(loop, 9)
    assert at[:3] == [0, MS, 2 * MS]
    resume = 2 * MS + SERVICE + PAUSE
    # The token has come back in the pause.
    assert at[3:6] == [resume, resume + MS, resume + 2 * MS]


def test_another_loop_goes_on_in_a_pause() -> None:
    generator = Generator(workload(every(4, depth=2), (Arrival(depth=1),)), 1)
    times = issued(generator, 1000)
    alone = [at for at, arrival in times if arrival == 0]
    beside = [at for at, arrival in times if arrival == 1]
    assert bursts(alone) == [4] * len(bursts(alone))
    assert len(alone) > 20
    assert beside == [number * SERVICE for number in range(len(beside))]


def test_a_loop_with_pauses_is_on_a_single_worker() -> None:
    loop = workload(every(16, depth=8))
    generators = [Generator(loop, 1, worker, 3) for worker in range(3)]
    assert [generator.next_ns == NEVER for generator in generators] == [False, True, True]
    assert issued(generators[0], 50) == issued(Generator(loop, 1), 50)


def test_a_loop_without_pauses_draws_as_before() -> None:
    """The same I/Os, pauses or not: only their times differ."""
    plain = Generator(workload(Arrival(depth=8)), 7).ops(100)
    paused = Generator(workload(every(3, depth=8)), 7).ops(100)
    assert (plain["addr"] == paused["addr"]).all()
    assert (plain["at_ns"] == 0).all()
    assert int(paused["at_ns"][-1]) == 33 * PAUSE
