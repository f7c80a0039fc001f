# SPDX-License-Identifier: GPL-2.0
"""The clock's line under the arrivals, against a search in exact arithmetic."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.daq.build import failure, library

SECOND = 10**9
MS = 10**6


class Clock:
    """struct daq_clock."""

    def __init__(
        self,
        period: Fraction,
        *,
        window_ns: int = 60 * SECOND,
        settle_ns: int = 0,
        max_ppm: int = 200,
    ) -> None:
        self.ffi, self.lib = library()
        self.clock = self.ffi.new("struct daq_clock *")
        config = self.ffi.new("struct daq_clock_config *")
        config.period_num, config.period_den = period.numerator, period.denominator
        config.window_ns, config.settle_ns, config.max_ppm = window_ns, settle_ns, max_ppm
        error = self.ffi.new("struct daq_error *")
        if self.lib.daq_clock_init(self.clock, config, error):
            raise ValueError(failure(error))

    def arrive(self, scan: int, at_ns: int) -> int:
        return int(self.lib.daq_clock_arrival(self.clock, scan, at_ns))

    def at(self, scan: int, delay_ns: int = 0) -> int:
        return int(self.lib.daq_clock_at(self.clock, scan, delay_ns))

    @property
    def drift_ppb(self) -> int:
        return int(self.lib.daq_clock_drift_ppb(self.clock))

    @property
    def residual_ns(self) -> int:
        return int(self.lib.daq_clock_residual_ns(self.clock))

    @property
    def is_settled(self) -> bool:
        return bool(self.lib.daq_clock_is_settled(self.clock))


def best_line(points: list[tuple[int, int]], limit: Fraction) -> tuple[Fraction, Fraction]:
    """(height at the mean scan, slope) of the highest line under all points with |slope| <= limit.

    The height of the line that touches the points from below is concave in its slope, so the best
    slope is that of a pair of points, or the limit.
    """
    mean = Fraction(sum(scan for scan, _ in points), len(points))

    def height(slope: Fraction) -> Fraction:
        return min(late - slope * (scan - mean) for scan, late in points)

    slopes = {-limit, limit, Fraction(0)}
    for (k1, y1), (k2, y2) in itertools.combinations(points, 2):
        slope = Fraction(y2 - y1, k2 - k1)
        if abs(slope) <= limit:
            slopes.add(slope)
    return max((height(slope), slope) for slope in slopes)


@settings(max_examples=300, deadline=None)
@given(
    st.fractions(min_value=1000, max_value=5 * MS, max_denominator=48_000),
    st.lists(st.tuples(st.integers(1, 200), st.integers(0, 5 * MS)), min_size=1, max_size=25),
    st.sampled_from([0, 50, 200, 1000]),
)
def test_the_line_is_the_highest_under_all_arrivals(
    period: Fraction, steps: list[tuple[int, int]], max_ppm: int
) -> None:
    clock = Clock(period, window_ns=3600 * SECOND, max_ppm=max_ppm)
    points = []
    scan = 0
    for step, delay in steps:
        scan += step
        schedule = scan * period.numerator // period.denominator
        assert clock.arrive(scan, schedule + SECOND + delay) == 0
        points.append((scan, SECOND + delay))
    limit = period * max_ppm / 10**6
    height, _ = best_line(points, limit)
    mean = Fraction(sum(scan for scan, _ in points), len(points))

    # The line as the clock has it, by two scans far apart; integers round, by 2 ns each.
    far = 10**6
    low, high = clock.at(0), clock.at(far)
    slope = Fraction(high - low, far) - period
    for k, late in points:
        assert clock.at(k) <= k * period + late + 2, "no arrival is below the line"
    assert abs(slope) <= limit + Fraction(4, far)
    assert abs(low + slope * mean - height) <= 4 + mean * Fraction(4, far)


def arrivals(
    clock: Clock, *, scans: range, period: Fraction, drift_ppm: int, delay: random.Random
) -> None:
    """Blocks of 25 scans over a bus with 1 ms frames and now and then a hold-up."""
    for scan in scans[::25]:
        taken = SECOND + scan * period * (10**6 + drift_ppm) / 10**6
        held_up = delay.uniform(0, 40 * MS) if delay.random() < 0.05 else 0
        assert clock.arrive(scan, int(taken + delay.uniform(0, MS) + held_up)) == 0


@pytest.mark.parametrize("drift_ppm", [-100, 0, 30, 100])
def test_drift_is_found_within_a_few_ppm(drift_ppm: int) -> None:
    period = Fraction(48_000, 48)  # 1 kHz of a 48 MHz clock
    clock = Clock(period * 1000)
    period *= 1000
    arrivals(
        clock, scans=range(1, 60_000), period=period, drift_ppm=drift_ppm, delay=random.Random(7)
    )
    assert clock.drift_ppb == pytest.approx(drift_ppm * 1000, abs=2000)
    assert clock.residual_ns < MS // 2
    for scan in (1, 30_000, 60_000):
        taken = SECOND + scan * period * (10**6 + drift_ppm) / 10**6
        assert 0 <= clock.at(scan) - taken + 1 < 200_000


def test_what_has_left_the_window_is_forgotten() -> None:
    period = Fraction(MS)
    clock = Clock(period, window_ns=2 * SECOND)
    for scan in range(1, 1000, 10):
        clock.arrive(scan, scan * MS)
    # From here on everything takes 5 ms longer, for good.
    for scan in range(1001, 6000, 10):
        clock.arrive(scan, scan * MS + 5 * MS)
    assert clock.at(6000) == pytest.approx(6000 * MS + 5 * MS, abs=1000)
    assert abs(clock.drift_ppb) < 1000


def test_the_window_is_bounded_whatever_arrives() -> None:
    # A parabola: every point is on the hull.
    clock = Clock(Fraction(MS), window_ns=3600 * SECOND)
    for scan in range(1, 20_000):
        assert clock.arrive(scan, SECOND + scan * MS + scan * scan // 1000) == 0
    assert clock.at(20_000) > clock.at(19_000)


def test_a_gap_longer_than_the_window_begins_anew() -> None:
    clock = Clock(Fraction(MS), window_ns=SECOND)
    for scan in range(1, 500):
        clock.arrive(scan, scan * MS)
    for scan in range(100_000, 100_500):
        clock.arrive(scan, scan * MS + 3 * MS)
    assert clock.at(100_500) == 100_503 * MS


def test_nothing_is_mapped_before_the_clock_has_settled() -> None:
    clock = Clock(Fraction(MS), settle_ns=100 * MS)
    clock.arrive(5, 5 * MS)
    clock.arrive(104, 104 * MS)
    assert not clock.is_settled
    clock.arrive(105, 105 * MS)
    assert clock.is_settled


def test_scans_go_forward_only() -> None:
    clock = Clock(Fraction(MS))
    assert clock.arrive(10, 10 * MS) == 0
    assert clock.arrive(10, 11 * MS) < 0
    assert clock.arrive(9, 12 * MS) < 0
    assert clock.arrive(1 << 48, 13 * MS) < 0


def test_a_channels_delay_is_added() -> None:
    clock = Clock(Fraction(MS))
    clock.arrive(1, 7 * MS)
    assert clock.at(1, 260_000) - clock.at(1) == 260_000


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"window_ns": 0}, "window"),
        ({"window_ns": SECOND, "settle_ns": 2 * SECOND}, "window"),
        ({"max_ppm": 200_000}, "drift"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Clock(Fraction(MS), **change)


def test_a_period_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="can't be zero"):
        Clock(Fraction(0))
