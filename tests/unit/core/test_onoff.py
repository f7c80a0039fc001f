# SPDX-License-Identifier: GPL-2.0
"""On and off periods: the arrivals of a law, moved by the off periods before them."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from lib.core.spekcore import Arrival, Asu, Generator, Law, Stream, Workload, WorkloadError, periods

MS = 10**6
NS = 10**9
PERIODS = 5000
TAILS = pytest.mark.parametrize("tail_milli", [0, 1001, 1500, 16_000])


def process(law: Law = "constant", tail_milli: int = 1500, rate: float = 12_345.678) -> Arrival:
    return Arrival(law, rate=rate, on_ns=7 * MS, off_ns=11 * MS, tail_milli=tail_milli)


def workload(arrival: Arrival) -> Workload:
    return Workload([Asu(1 << 30)], [arrival], [Stream()])


def moved(pausing: Workload, seed: int, times: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Times of a process that does not pause, with the off periods inserted."""
    on_ns, off_ns = periods(pausing, seed, PERIODS)
    before = np.searchsorted(np.cumsum(on_ns), times, side="right")
    assert before.max() < PERIODS
    moved_ns: npt.NDArray[np.uint64] = times + np.concatenate([[0], np.cumsum(off_ns)])[
        before
    ].astype(np.uint64)
    return moved_ns


@TAILS
@pytest.mark.parametrize("law", ["constant", "poisson"])
@pytest.mark.parametrize("nr_workers", [1, 3])
def test_all_workers_pause_in_the_same_periods(law: Law, nr_workers: int, tail_milli: int) -> None:
    pausing = workload(process(law, tail_milli))
    plain = workload(Arrival(law, rate=12_345.678))
    for worker in range(nr_workers):
        at = Generator(pausing, 5, worker, nr_workers).ops(50_000)["at_ns"]
        steady = Generator(plain, 5, worker, nr_workers).ops(50_000)["at_ns"]
        assert (at == moved(pausing, 5, steady)).all()


def test_rates_that_need_a_scale_of_their_own_pause_too() -> None:
    slow = Arrival("poisson", rate=0.1, on_ns=100 * NS, off_ns=1000 * NS, tail_milli=1200)
    plain = replace(slow, on_ns=0, off_ns=0, tail_milli=0)
    steady = Generator(workload(plain), 1).ops(10_000)["at_ns"]
    paused = Generator(workload(slow), 1).ops(10_000)["at_ns"]
    assert (paused == moved(workload(slow), 1, steady)).all()


def test_periods_follow_from_seed_and_process() -> None:
    pausing = Workload([Asu(1 << 30)], [process(), process()], [Stream(), Stream(arrival=1)])
    first = periods(pausing, 1, 100)
    assert (first[0] == periods(pausing, 1, 100)[0]).all()
    for another in (periods(pausing, 2, 100), periods(pausing, 1, 100, arrival=1)):
        assert not np.isin(another[0], first[0]).any() and not np.isin(another[1], first[1]).any()


@TAILS
@pytest.mark.parametrize("law", ["constant", "poisson"])
def test_the_backlog_is_what_has_arrived(law: Law, tail_milli: int) -> None:
    pausing = workload(process(law, tail_milli))
    at = Generator(pausing, 3).ops(200_000)["at_ns"]
    generator = Generator(pausing, 3)
    for number, now in enumerate(int(at[index]) + 1 for index in (0, 999, 50_000, 199_998)):
        assert generator.backlog(now) == int(np.searchsorted(at, now, side="right")) - number
        generator.next()


@TAILS
def test_the_backlog_beyond_what_is_drawn_ahead_is_that_of_the_periods(tail_milli: int) -> None:
    """Exact at a constant rate: every boundary of a period, the ns before and the ns after."""
    pausing = workload(process("constant", tail_milli, rate=1e9))
    on_ns, off_ns = (lengths.astype(np.int64) for lengths in periods(pausing, 3, 300))
    starts = np.concatenate([[0], np.cumsum(on_ns + off_ns)[:-1]])
    spent = np.concatenate([[0], np.cumsum(on_ns)[:-1]])
    generator = Generator(pausing, 3)
    for index in range(1, 300, 43):
        for now in (starts[index] - 1, starts[index], starts[index] + on_ns[index] // 2):
            due = spent[index] + max(0, now - starts[index] + 1)
            assert generator.backlog(int(now)) == due
        end = starts[index] + on_ns[index]
        for now in (end - 1, end, end + off_ns[index] // 2):
            assert generator.backlog(int(now)) == spent[index] + on_ns[index]


@pytest.mark.parametrize("law", ["constant", "poisson"])
def test_the_backlog_of_many_periods_takes_a_bounded_time(law: Law) -> None:
    """After a few thousand periods it is the mean that is expected."""
    pausing = workload(process(law, tail_milli=3000, rate=1e9))
    hours = 24 * 3600 * NS
    assert Generator(pausing, 3).backlog(hours) == pytest.approx(hours * 7 / 18, rel=0.001)


def test_an_off_period_beyond_64_bits_is_the_end() -> None:
    pausing = workload(replace(process(), rate=10**6, off_ns=10**15))
    (first, *_), _ = periods(pausing, 1, 1)
    at = Generator(pausing, 1, start_ns=2**64 - 10**12).ops(1_000_000)["at_ns"]
    assert len(at) == -(-int(first) // 1000)


GOOD = process()
BAD = {
    "A tail is given": replace(GOOD, on_ns=0, off_ns=0),
    "on periods or off periods only": replace(GOOD, off_ns=0),
    "it needs both": replace(GOOD, on_ns=0),
    "law poisson or constant": Arrival(depth=1, on_ns=MS, off_ns=MS),
    "without a rate curve": Arrival("poisson", curve=[(0, 1), (1, 1)], on_ns=MS, off_ns=MS),
    "must last 10000 to": replace(GOOD, off_ns=9999),
    "10^15 ns": replace(GOOD, on_ns=10**15 + 1),
    "a shape of 1.001 to 16": replace(GOOD, tail_milli=1000),
    "shape of 1.001 to 16.": replace(GOOD, tail_milli=16_001),
    "at least one I/O on average": replace(GOOD, rate=142.857),
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_on_and_off_is_refused(text: str) -> None:
    with pytest.raises(WorkloadError) as no:
        workload(BAD[text]).check()
    assert (no.value.kind, no.value.index) == ("arrival", 0)
    assert text in no.value.text


def test_an_on_period_of_one_io_is_enough() -> None:
    workload(replace(GOOD, rate=142.858)).check()


def test_a_worker_with_next_to_nothing_of_an_on_period_is_refused() -> None:
    """Its next arrival could be any number of periods away."""
    walk = Stream("walk", weight=10**9, read_ppm=500_000)
    for weight, refused in ((10**7, False), (10**6, True)):
        streams = [walk, Stream(weight=weight)]
        pausing = Workload([Asu(1 << 30)], [replace(process("poisson"), rate=143)], streams)
        pausing.check()
        if refused:
            with pytest.raises(WorkloadError, match=r"less than 0\.001 I/Os of an on period"):
                pausing.check(2)
        else:
            pausing.check(2)
            assert len(Generator(pausing, 1, 1, 2).ops(1000)) == 1000
