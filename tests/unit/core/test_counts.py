# SPDX-License-Identifier: GPL-2.0
"""Arrival processes with a count: each makes so many operations, and says when they completed."""

import heapq

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.spekcore import NEVER, Arrival, Asu, Generator, Stream, Workload

US, MS = 10**3, 10**6

LAWS = [
    Arrival(depth=4),
    Arrival(depth=4, think_ns=7 * US),
    Arrival(depth=4, rate=10_000),
    Arrival(depth=4, pause_ns=MS, pause_every=3),
    Arrival(depth=4, pause_ns=MS, pause_every=3, pause_counts_completed=1, rate=10_000),
    Arrival(law="poisson", rate=10_000),
    Arrival(law="constant", rate=10_000),
    Arrival(law="poisson", rate=10_000, on_ns=MS, off_ns=MS),
    Arrival(law="constant", curve=[(0, 10_000), (1, 20_000)]),
    Arrival(law="burst", burst_length=4, burst_interval_ns=MS),
]


def counted(loop: Arrival, count: int) -> Arrival:
    return Arrival(**{name: getattr(loop, name) for name in loop.__slots__} | {"count": count})


def workload(*loops: Arrival) -> Workload:
    return Workload([Asu(1 << 30)], loops, [Stream(arrival=i) for i in range(len(loops))])


class Device:
    """It serves all that is outstanding at once, each I/O for a service time of its own."""

    def __init__(self, generator: Generator, service_ns: int = 100 * US) -> None:
        self.generator, self.service_ns = generator, service_ns
        self.outstanding: list[tuple[int, int, int]] = []
        self.made: dict[int, int] = {}
        self.done_ns: dict[int, int] = {}
        self.number = 0

    def issue(self, count: int) -> int:
        """Issue I/Os, and complete those before them. How many there were to issue."""
        for number in range(count):
            while self.outstanding and self.outstanding[0][0] <= self.generator.next_ns:
                self.complete()
            if self.generator.next_ns == NEVER:
                return number
            op = self.generator.next()
            arrival = int(op.arrival)
            self.number += 1
            self.made[arrival] = self.made.get(arrival, 0) + 1
            # Not in their order.
            done = int(op.at_ns) + self.service_ns * (1 + self.number % 3)
            heapq.heappush(self.outstanding, (done, self.number, arrival))
        return count

    def complete(self) -> None:
        done, _, arrival = heapq.heappop(self.outstanding)
        self.done_ns[arrival] = max(done, self.done_ns.get(arrival, 0))
        self.generator.complete(arrival, done)


@pytest.mark.parametrize("loop", LAWS, ids=repr)
@pytest.mark.parametrize("count", [1, 2, 3, 100])
def test_a_process_makes_its_count_and_ends_with_the_last_completion(
    loop: Arrival, count: int
) -> None:
    generator = Generator(workload(counted(loop, count)), 1)
    assert generator.begin_counts() == count
    device = Device(generator)
    assert device.issue(2 * count) == count
    assert device.made == {0: count}
    assert generator.next_ns == NEVER
    assert generator.ended_ns(0) == device.done_ns[0] > 0


@pytest.mark.parametrize("loop", LAWS, ids=repr)
def test_until_the_last_it_makes_what_a_process_without_a_count_makes(loop: Arrival) -> None:
    with_count = Generator(workload(counted(loop, 50)), 1)
    with_count.begin_counts()
    without = Generator(workload(loop), 1)
    ends, lasts = Device(with_count), Device(without)
    for _ in range(50):
        assert with_count.next_ns == without.next_ns
        assert ends.issue(1) == lasts.issue(1) == 1
        assert ends.outstanding == lasts.outstanding
    assert ends.issue(1) == 0
    assert lasts.issue(1) == 1


@pytest.mark.parametrize("loop", LAWS, ids=repr)
def test_processes_end_apart_and_others_continue(loop: Arrival) -> None:
    loops = (counted(loop, 20), counted(loop, 60), loop)
    generator = Generator(workload(*loops), 1)
    assert generator.begin_counts() == 80
    device = Device(generator)
    device.issue(500)
    assert device.made[0] == 20
    assert device.made[1] == 60
    assert device.made[2] == 420
    assert 0 < generator.ended_ns(0) < generator.ended_ns(1)
    assert generator.ended_ns(2) == 0


def test_it_has_not_ended_before_the_last_completion() -> None:
    generator = Generator(workload(counted(LAWS[0], 4)), 1)
    generator.begin_counts()
    device = Device(generator)
    for _ in range(4):
        op = generator.next()
        heapq.heappush(device.outstanding, (int(op.at_ns) + US, len(device.outstanding), 0))
    assert generator.next_ns == NEVER
    for _ in range(4):
        assert generator.ended_ns(0) == 0
        device.complete()
    assert generator.ended_ns(0) == device.done_ns[0]


@pytest.mark.parametrize("loop", LAWS, ids=repr)
def test_what_is_in_flight_at_the_start_counts(loop: Arrival) -> None:
    generator = Generator(workload(counted(loop, 10)), 1)
    device = Device(generator)
    device.issue(25)
    in_flight = len(device.outstanding)
    assert generator.ended_ns(0) == 0
    before = device.made[0]
    assert generator.begin_counts() == max(10, in_flight)
    device.issue(100)
    assert device.made[0] - before == 10 - min(10, in_flight)
    assert generator.ended_ns(0) == device.done_ns[0]


def test_all_that_is_in_flight_counts_even_if_it_is_more() -> None:
    generator = Generator(workload(counted(Arrival(depth=8), 3)), 1)
    for _ in range(8):
        generator.next()
    assert generator.begin_counts() == 8
    for number in range(8):
        assert generator.ended_ns(0) == 0
        generator.complete(0, number + 1)
    assert generator.next_ns == NEVER
    assert generator.ended_ns(0) == 8


def test_a_worker_without_a_part_ends_at_the_start() -> None:
    loops = workload(counted(Arrival(depth=1), 5), Arrival(depth=8))
    generator = Generator(loops, 1, worker=1, nr_workers=2)
    assert generator.begin_counts(1, 2, now_ns=77) == 0
    assert generator.ended_ns(0) == 77
    assert Device(generator).issue(50) == 50


@given(
    count=st.integers(1, 1000),
    workers=st.integers(1, 9),
    depth=st.integers(1, 20),
    law=st.sampled_from(["closed", "poisson", "constant", "burst"]),
)
def test_workers_make_the_count_together(count: int, workers: int, depth: int, law: str) -> None:
    loop = {
        "closed": Arrival(depth=depth, count=count),
        "poisson": Arrival(law="poisson", rate=1000, count=count),
        "constant": Arrival(law="constant", rate=1000, count=count),
        "burst": Arrival(law="burst", burst_length=depth, burst_interval_ns=MS, count=count),
    }[law]
    made = 0
    for worker in range(workers):
        generator = Generator(workload(loop, Arrival(depth=workers)), 1, worker, workers)
        part = generator.begin_counts(worker, workers)
        device = Device(generator)
        device.issue(4 * part + 50)
        assert device.made.get(0, 0) <= part
        # The other process leaves it the time that its rate needs.
        for _ in range(10_000):
            if generator.ended_ns(0):
                break
            device.issue(50)
        assert generator.ended_ns(0)
        assert device.made.get(0, 0) == part
        made += part
    assert made == count


def test_arrivals_beyond_the_count_are_no_backlog() -> None:
    loop = Arrival(law="constant", rate=1000)
    generator = Generator(workload(counted(loop, 10)), 1)
    generator.begin_counts()
    assert generator.backlog(5 * MS) == Generator(workload(loop), 1).backlog(5 * MS) > 0
    assert generator.backlog(1000 * MS) == 10
    device = Device(generator)
    device.issue(4)
    assert generator.backlog(1000 * MS) == 6
    device.issue(6)
    assert generator.backlog(1000 * MS) == 0


def test_an_estimated_backlog_ends_with_the_count() -> None:
    loop = Arrival(law="constant", rate=10**9)
    generator = Generator(workload(counted(loop, 10**8)), 1)
    generator.begin_counts()
    assert generator.backlog(10 * 10**9) == 10**8


def test_a_count_that_has_not_begun_ends_nothing() -> None:
    generator = Generator(workload(counted(Arrival(depth=2), 3)), 1)
    assert Device(generator).issue(100) == 100
    assert generator.ended_ns(0) == 0


def test_more_completions_than_operations_change_nothing() -> None:
    generator = Generator(workload(counted(Arrival(depth=2), 3)), 1)
    generator.begin_counts()
    generator.complete(0, 5)
    assert Device(generator).issue(100) == 3
