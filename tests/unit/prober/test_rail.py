"""Energy of a rail: exact, over any boundaries, against fractions."""

from __future__ import annotations

import math
import random
import subprocess
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.build import PROBER, SANITIZERS
from lib.core.railcore import Point, Rail, Reference, feed, library

# One rounding, of the last quotient within a segment, at each end of an interval.
ROUNDING = Fraction(2, 2 * 10**15)
LARGEST_UW = 10**12
LARGEST_STEP_NS = 3600 * 10**9
DRIVER = Path(__file__).with_name("rail_driver.c")


@pytest.fixture(scope="module", params=["-DNOTHING", "-U__SIZEOF_INT128__"])
def lib(request: pytest.FixtureRequest) -> Any:
    return library(request.param)


# ---- any samples, any intervals ----

STEPS = st.one_of(
    st.just(0), st.integers(1, 10), st.integers(1, 10**10), st.integers(1, LARGEST_STEP_NS)
)
POWERS = st.one_of(st.integers(-10, 10), st.integers(-LARGEST_UW, LARGEST_UW))
SAMPLES = st.lists(st.tuples(STEPS, POWERS, st.booleans() | st.just(False)), max_size=150)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Point], list[tuple[int, int]]]:
    at_ns = draw(st.integers(0, 2**60))
    points = []
    for step, power, gap in draw(SAMPLES):
        at_ns += step
        points.append(Point(at_ns, power, gap))
    first = points[0].at_ns if points else 0
    inside = st.integers(max(0, first - 10**6), at_ns + 10**6)
    at_sample = st.sampled_from([point.at_ns for point in points]) if points else inside
    ends = draw(st.lists(st.tuples(inside | at_sample, inside | at_sample), max_size=10))
    return points, [(min(pair), max(pair)) for pair in ends if pair[0] != pair[1]]


def assert_same(rail: Rail, reference: Reference, interval: tuple[int, int], ended: bool) -> None:
    got = rail.use(*interval, ended)
    expected = reference.use(*interval, kept=rail.c.capacity, ended=ended)
    assert abs(got.joules - expected.joules) <= ROUNDING
    times = ("known_ns", "gap_ns", "lost_ns", "pending_ns", "samples")
    assert [getattr(got, name) for name in times] == [getattr(expected, name) for name in times]
    assert got.known_ns + got.gap_ns + got.lost_ns + got.pending_ns == interval[1] - interval[0]
    # power between samples is cut off to a whole microwatt
    assert abs(got.min_uw - expected.min_uw) <= 1
    assert abs(got.max_uw - expected.max_uw) <= 1


@given(history=histories(), max_step=st.integers(1, LARGEST_STEP_NS), ended=st.booleans())
def test_any_interval_is_what_fractions_say(
    lib: Any, history: Any, max_step: int, ended: bool
) -> None:
    points, intervals = history
    rail, reference = Rail(lib, 64, max_step), Reference(max_step)
    assert feed(rail, points) == feed(reference, points) == [True] * len(points)

    for interval in intervals:
        assert_same(rail, reference, interval, ended)


@given(history=histories(), draw=st.randoms(use_true_random=False))
def test_late_samples_and_marks(lib: Any, history: Any, draw: random.Random) -> None:
    points, intervals = history
    rail, reference = Rail(lib, 128), Reference(10**10)
    for point in points:
        at_ns = point.at_ns + draw.randint(-(10**6), 10**6)
        if at_ns >= 0:
            assert rail.push(at_ns, point.power_uw) == reference.push(at_ns, point.power_uw)
        if draw.random() < 0.2:
            for tracker in (rail, reference):
                tracker.mark(point.at_ns + 1000)

    for interval in intervals:
        assert_same(rail, reference, interval, ended=False)


@given(history=histories())
def test_adjacent_intervals_add_up_exactly(lib: Any, history: Any) -> None:
    points, intervals = history
    rail = Rail(lib, 192)
    feed(rail, points)
    cuts = sorted({end for interval in intervals for end in interval})
    if len(cuts) < 2:
        return
    parts = [rail.use(*pair) for pair in pairwise(cuts)]
    whole = rail.use(cuts[0], cuts[-1])

    assert sum((part.joules for part in parts), Fraction(0)) == whole.joules
    assert sum(part.known_ns for part in parts) == whole.known_ns
    assert sum(part.samples for part in parts) == whole.samples


@given(history=histories())
def test_total_up_to_a_time_is_the_interval_from_the_first_sample(lib: Any, history: Any) -> None:
    points, intervals = history
    rail = Rail(lib, 192)
    feed(rail, points)
    for at_ns in (end for interval in intervals for end in interval):
        error, energy, known, gap = rail.total(at_ns)
        if not points or (at_ns < points[0].at_ns):
            assert error < 0
        elif at_ns > points[-1].at_ns:
            assert error < 0
            assert rail.total(at_ns, ended=True)[0] == 0
        elif at_ns > points[0].at_ns:
            use = rail.use(points[0].at_ns, at_ns)
            assert (error, energy, known, gap) == (0, use.joules, use.known_ns, use.gap_ns)


# ---- known waveforms ----

LSB_UW = 4000  # of 12 V: 16 bits over a transducer's 5 V and 18 A
MS = 10**6


def wave(shape: str, at_s: float) -> float:
    """Watts of a disk that spins at 5 W."""
    shapes = {
        "constant": 5.0,
        "ramp": 2.0 + 0.3 * at_s,
        "sine": 5.0 + 2.0 * math.sin(2 * math.pi * 3.7 * at_s),
        "square": 9.0 if int(at_s * 4) % 2 else 3.0,
    }
    return shapes[shape]


def energy_of(shape: str, from_s: float, to_s: float) -> float:
    """The integral in closed form; the square wave's is a sum."""
    if shape == "constant":
        return 5.0 * (to_s - from_s)
    if shape == "ramp":
        return 2.0 * (to_s - from_s) + 0.15 * (to_s**2 - from_s**2)
    if shape == "sine":
        turn = 2 * math.pi * 3.7
        return 5.0 * (to_s - from_s) + 2.0 / turn * (
            math.cos(turn * from_s) - math.cos(turn * to_s)
        )
    cuts = [from_s, *[n / 4 for n in range(1, 40) if from_s < n / 4 < to_s], to_s]
    return sum(wave(shape, (a + b) / 2) * (b - a) for a, b in pairwise(cuts))


@pytest.mark.parametrize("shape", ["constant", "ramp", "sine", "square"])
@pytest.mark.parametrize("shift_ns", [0, 100_000, -100_000])
def test_known_waveform_gives_known_joules(lib: Any, shape: str, shift_ns: int) -> None:
    """At 1 kHz, as an ADC of 16 bits sees it, between boundaries that suit no sample; and
    with time stamps off by a tenth of a sample, which the feed states as its uncertainty."""
    rail = Rail(lib, 8192)
    start = 10**12
    for n in range(8001):
        power = round(wave(shape, n / 1000) * 1e6 / LSB_UW) * LSB_UW
        assert rail.push(start + n * MS + shift_ns, power)

    draw = random.Random(f"{shape}{shift_ns}")
    for _ in range(200):
        from_s, to_s = sorted(draw.uniform(0.01, 7.9) for _ in range(2))
        if to_s - from_s < 0.25:
            continue
        use = rail.use(start + int(from_s * 1e9), start + int(to_s * 1e9))
        expected = energy_of(shape, from_s, to_s)
        assert abs(float(use.joules) - expected) <= 0.005 * expected + LSB_UW / 1e6 * (
            to_s - from_s
        )
        assert use.known_ns == int(to_s * 1e9) - int(from_s * 1e9)


def test_a_step_is_two_samples_of_equal_time(lib: Any) -> None:
    rail = Rail(lib)
    feed(rail, [Point(0, 10**6), Point(MS, 10**6), Point(MS, 9 * 10**6), Point(2 * MS, 9 * 10**6)])

    assert rail.use(0, 2 * MS).joules == Fraction(10, 1000)
    before, after = rail.use(0, MS), rail.use(MS, 2 * MS)
    assert (before.min_uw, before.max_uw, before.joules) == (10**6, 10**6, Fraction(1, 1000))
    assert (after.min_uw, after.max_uw, after.joules) == (9 * 10**6, 9 * 10**6, Fraction(9, 1000))


def test_a_century_at_a_kilowatt_does_not_overflow(lib: Any) -> None:
    rail = Rail(lib, 64, LARGEST_STEP_NS)
    hours = 24 * 365 * 100
    for n in range(hours + 1):
        rail.push(n * LARGEST_STEP_NS, 10**9)

    assert rail.total(hours * LARGEST_STEP_NS)[:2] == (0, Fraction(1000 * 3600 * hours))


# ---- how it is compiled ----


def test_clean_under_sanitizers_for_any_input() -> None:
    """Noise as commands: samples within the contract's limits, questions within none."""
    binary = PROBER.build("rail-driver", SANITIZERS, [DRIVER])
    draw = random.Random(11)
    for size in (0, 100, 20_000, 300_000):
        result = subprocess.run(
            [binary], input=draw.randbytes(size), capture_output=True, check=False
        )
        assert result.returncode == 0, result.stderr.decode()
        assert int(result.stdout) >= size // 100
