# SPDX-License-Identifier: GPL-2.0
"""Rate curves: every arrival at the first ns at which the cumulative rate reaches its number."""

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.core.spekcore import Arrival, Asu, Generator, Law, Stream, Workload, WorkloadError

Points = Sequence[tuple[int, int]]  # ns and I/Os per 1000 s
NS = 10**9


def workload(points: Points, repeats: int = 0, law: Law = "constant") -> Workload:
    curve = [(at / NS, milli / 1000) for at, milli in points]
    made = Workload([Asu(1 << 30)], [Arrival(law, curve=curve, repeats=repeats)], [Stream()])
    for number, point in enumerate(points):
        made.c.point[number] = point
    return made


def once(points: Points, ns: int) -> Fraction:
    """I/Os that are due from the start of a curve that does not repeat to @ns after it."""
    total = Fraction(0)
    for (start, low), (end, high) in itertools.pairwise(points):
        length = min(end, ns) - start
        if length > 0:
            at_end = low + Fraction((high - low) * length, end - start)
            total += (low + at_end) * length / 2
    last_ns, last = points[-1]
    return (total + last * max(0, ns - last_ns)) / 10**12


def due(points: Points, repeats: int, ns: int) -> Fraction:
    """The same, in whole passes and a part of one if it repeats."""
    period = points[-1][0]
    if not repeats:
        return once(points, ns)
    return ns // period * once(points, period) + once(points, ns % period)


@st.composite
def curves(draw: st.DrawFn) -> tuple[Points, int]:
    lengths = st.sampled_from([0, 1, 999, 10**6, 12_345_678, NS, 3600 * NS])
    steps = draw(st.lists(lengths, min_size=1, max_size=6))
    times = [0]
    for step in steps:
        times.append(times[-1] + step)
    rate = st.one_of(st.just(0), st.integers(0, 10**7), st.sampled_from([1, 10**9, 10**12]))
    points = [(at, draw(rate)) for at in times]
    return points, draw(st.integers(0, 1))


@settings(max_examples=300)
@given(curves(), st.integers(1, 3))
def test_each_arrival_is_at_the_first_ns_that_reaches_its_number(
    drawn: tuple[Points, int], nr_workers: int
) -> None:
    points, repeats = drawn
    made = workload(points, repeats)
    try:
        made.check(nr_workers)
    except WorkloadError as no:
        assert not any(rate for _, rate in points) or repeats, no
        return
    for worker in range(nr_workers):
        ops = Generator(made, 1, worker, nr_workers).ops(40)
        for index, at in enumerate(int(one) for one in ops["at_ns"]):
            number = worker + 1 + index * nr_workers
            assert due(points, repeats, at) >= number, (worker, index, at)
            assert due(points, repeats, at - 1) < number, (worker, index, at)
        if len(ops) < 40 and not repeats:
            # No more come after the last point.
            assert points[-1][1] == 0
            assert due(points, 0, points[-1][0]) < worker + 1 + len(ops) * nr_workers


DAY = [(0, 10**6), (8 * NS, 10**6), (12 * NS, 9 * 10**6), (12 * NS, 2 * 10**6), (24 * NS, 10**6)]


@pytest.mark.parametrize("repeats", [0, 1])
@pytest.mark.parametrize("law", ["constant", "poisson"])
def test_the_backlog_is_that_of_the_curve(law: Law, repeats: int) -> None:
    made = workload(DAY, repeats, law)
    at = Generator(made, 3).ops(200_000)["at_ns"]
    generator = Generator(made, 3)
    for number, now in enumerate((NS, 10 * NS, int(at[-1]))):
        expected = int(np.searchsorted(at, now, side="right")) - number
        assert generator.backlog(now) == pytest.approx(expected, rel=0.02 * (law == "poisson"))
        assert generator.next().at_ns == at[number]


def test_the_backlog_of_a_curve_beyond_any_device_takes_a_bounded_time() -> None:
    """Beyond what is drawn ahead, it follows from the area."""
    points = [(0, 0), (NS, 10**12), (2 * NS, 10**11)]
    for repeats in (0, 1):
        generator = Generator(workload(points, repeats), 1)
        for made, now in enumerate((NS, 3 * NS, 10**6 * NS + 123_456_789)):
            assert generator.backlog(now) == int(due(points, repeats, now)) - made
            generator.next()


BAD: list[tuple[Points, int, Law, str]] = [
    ([(0, 1)], 0, "constant", "A rate curve needs 2 to 256 points."),
    ([(1, 1), (2, 1)], 0, "constant", "The first point of a rate curve must be at time 0."),
    ([(0, 1), (2, 1), (1, 1)], 0, "constant", "must be in the order of their times."),
    ([(0, 1), (10**15 + 1, 1)], 0, "poisson", "A rate curve is longer than 10^15 ns"),
    ([(0, 1), (1, 10**12 + 1)], 0, "poisson", "has a rate above 10^9 I/Os per second."),
    ([(0, 0), (1, 0)], 0, "poisson", "All rates of a rate curve are 0"),
    ([(0, 10**12), (10**6 - 1, 1)], 1, "poisson", "must be 1 ms long or longer."),
    ([(0, 1000), (10**9 - 1, 1000)], 1, "poisson", "must have at least one I/O per pass."),
]


@pytest.mark.parametrize(("points", "repeats", "law", "text"), BAD)
def test_what_is_no_curve_is_refused(points: Points, repeats: int, law: Law, text: str) -> None:
    made = workload(points, repeats, law)
    with pytest.raises(WorkloadError) as no:
        made.check()
    assert (no.value.kind, no.value.index) == ("arrival", 0)
    assert text in no.value.text
