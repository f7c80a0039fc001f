# SPDX-License-Identifier: GPL-2.0
"""Rate curves: every arrival at the first ns at which the cumulative rate reaches its number."""

import bisect
import itertools
import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lib.core.spekcore import (
    NEVER,
    Arrival,
    Asu,
    Generator,
    Law,
    Stream,
    Workload,
    WorkloadError,
    library,
)

Points = Sequence[tuple[int, int]]  # ns and I/Os per 1000 s
NS = 10**9


def workload(points: Points, repeats: int = 0, law: Law = "constant") -> Workload:
    curve = [(at / NS, milli / 1000) for at, milli in points]
    curved = Workload([Asu(1 << 30)], [Arrival(law, curve=curve, repeats=repeats)], [Stream()])
    for number, point in enumerate(points):
        curved.c.point[number] = point
    return curved


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
    curved = workload(points, repeats)
    try:
        curved.check(nr_workers)
    except WorkloadError as no:
        assert not any(rate for _, rate in points) or repeats, no
        return
    for worker in range(nr_workers):
        ops = Generator(curved, 1, worker, nr_workers).ops(40)
        for index, at in enumerate(int(ns) for ns in ops["at_ns"]):
            number = worker + 1 + index * nr_workers
            assert due(points, repeats, at) >= number, (worker, index, at)
            assert due(points, repeats, at - 1) < number, (worker, index, at)
        if len(ops) < 40 and not repeats:
            # No more come after the last point.
            assert points[-1][1] == 0
            assert due(points, 0, points[-1][0]) < worker + 1 + len(ops) * nr_workers


class Area:
    """The exact area under a curve, in whole numbers: the definition, without an inverse."""

    def __init__(self, points: Points, repeats: int) -> None:
        self.points, self.repeats = points, repeats
        self.starts = [at for at, _ in points]
        self.before = [0]
        for (start, low), (end, high) in itertools.pairwise(points):
            self.before.append(self.before[-1] + (low + high) * (end - start))

    def reaches(self, ns: int, target: int) -> bool:
        """Whether the area from the start to @ns after it is at least @target."""
        if self.repeats:
            target -= ns // self.starts[-1] * self.before[-1]
            ns %= self.starts[-1]
        number = bisect.bisect_right(self.starts, ns) - 1
        into, rate = ns - self.starts[number], self.points[number][1]
        target -= self.before[number]
        if number + 1 == len(self.points):
            return 2 * rate * into >= target
        length = self.starts[number + 1] - self.starts[number]
        change = self.points[number + 1][1] - rate
        return 2 * rate * into * length + change * into * into >= target * length


def check_times(points: Points, repeats: int, gaps: Sequence[int], start_ns: int = 0) -> None:
    """Every arrival must be at the first ns that reaches the sum of the gaps so far."""
    ffi, lib = library()
    stored = ffi.new("struct spek_point[]", points)
    curve = ffi.new("struct spek_curve *", [stored, len(points), repeats, start_ns])
    areas = ffi.new("struct spek_area[]", [divmod(gap, 2**64) for gap in gaps])
    times = ffi.new("u64[]", len(gaps))
    nr_times = lib.shim_curve_times(curve, areas, len(gaps), times)
    area, target = Area(points, repeats), 0
    for number, (gap, at) in enumerate(zip(gaps, times, strict=True)):
        target += gap
        if number == nr_times:
            last, period = NEVER - 1 - start_ns, points[-1][0]
            assert not area.reaches(
                min(last // period, 2**32) * period if repeats else last, target
            )
            return
        assert area.reaches(at - start_ns, target), (number, at)
        assert at == start_ns or not area.reaches(at - start_ns - 1, target), (number, at)


@st.composite
def extreme_curves(draw: st.DrawFn) -> tuple[Points, int]:
    """Of all rates and lengths that a checked workload may have."""
    magnitudes = st.integers(0, 50).flatmap(lambda bits: st.integers(0, 2**bits))
    steps = draw(st.lists(magnitudes, min_size=1, max_size=6))
    times = list(itertools.accumulate(steps, initial=0))
    times = [min(at, 10**15) for at in times]
    rates = st.one_of(magnitudes.map(lambda rate: min(rate, 10**12)), st.sampled_from([0, 10**12]))
    points = [(at, draw(rates)) for at in times]
    enough = times[-1] >= 10**6 and Area(points, 0).before[-1] >= 2 * 10**12
    assume(any(rate for _, rate in points))
    return points, draw(st.integers(0, 1)) if enough else 0


@settings(max_examples=1500)
@given(
    extreme_curves(),
    st.integers(0, 66),
    st.none() | st.integers(0, 2**32),
    st.sampled_from([0, 1, NS, 2**62]),
)
def test_times_are_those_of_the_exact_inverse(
    drawn: tuple[Points, int], fineness: int, seed: int | None, start_ns: int
) -> None:
    """Equal or random gaps from a fraction of the whole area: a series spans few or many."""
    points, repeats = drawn
    unit = max(Area(points, repeats).before[-1], 2**40) >> fineness
    gaps = [unit] * 200
    if seed is not None:
        rng = random.Random(seed)
        gaps = [int(unit * rng.expovariate(1)) for _ in gaps]
    check_times(points, repeats, gaps, start_ns)


SLOPES = {
    "hours": [(0, 10**6), (1800 * NS, 2 * 10**7), (3600 * NS, 10**6)],
    "a second": [(0, 0), (NS, 10**7), (2 * NS, 0)],
    "up and down": [(0, 10**12), (NS // 100, 10**9), (NS // 50, 10**12)],
    "plateau": [(0, 10**7), (NS, 10**7), (NS, 3 * 10**6), (2 * NS, 3 * 10**6)],
    "11 days": [(0, 10**7), (10**15, 10**4)],
}


@pytest.mark.parametrize("name", SLOPES)
@pytest.mark.parametrize("workers", [1, 7, 1000])
def test_long_sequences_are_those_of_the_exact_inverse(name: str, workers: int) -> None:
    rng = random.Random(workers)
    mean = 2 * 10**12 * workers
    check_times(SLOPES[name], 1, [mean] * 10_000)
    check_times(SLOPES[name], 0, [int(mean * rng.expovariate(1)) for _ in range(10_000)])


@pytest.mark.parametrize("start_ns", [0, 10**18])
def test_a_curve_that_repeats_ends_with_time(start_ns: int) -> None:
    points = [(0, 10), (10**15, 10)]
    check_times(points, 1, [Area(points, 1).before[-1]] * 20_000, start_ns)


DAY = [(0, 10**6), (8 * NS, 10**6), (12 * NS, 9 * 10**6), (12 * NS, 2 * 10**6), (24 * NS, 10**6)]


@pytest.mark.parametrize("repeats", [0, 1])
@pytest.mark.parametrize("law", ["constant", "poisson"])
def test_the_backlog_is_that_of_the_curve(law: Law, repeats: int) -> None:
    curved = workload(DAY, repeats, law)
    at = Generator(curved, 3).ops(200_000)["at_ns"]
    generator = Generator(curved, 3)
    for number, now in enumerate((NS, 10 * NS, int(at[-1]))):
        expected = int(np.searchsorted(at, now, side="right")) - number
        assert generator.backlog(now) == pytest.approx(expected, rel=0.02 * (law == "poisson"))
        assert generator.next().at_ns == at[number]


def test_the_backlog_of_a_curve_beyond_any_device_takes_a_bounded_time() -> None:
    """Beyond what is drawn ahead, it follows from the area."""
    points = [(0, 0), (NS, 10**12), (2 * NS, 10**11)]
    for repeats in (0, 1):
        generator = Generator(workload(points, repeats), 1)
        for arrived, now in enumerate((NS, 3 * NS, 10**6 * NS + 123_456_789)):
            assert generator.backlog(now) == int(due(points, repeats, now)) - arrived
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
    curved = workload(points, repeats, law)
    with pytest.raises(WorkloadError) as no:
        curved.check()
    assert (no.value.kind, no.value.index) == ("arrival", 0)
    assert text in no.value.text
