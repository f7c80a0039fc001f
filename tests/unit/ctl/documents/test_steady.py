# SPDX-License-Identifier: GPL-2.0
"""Steady state by range and slope, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.documents.steady import Criteria, judge, slope_of

DEFAULT = Criteria()
SERIES = st.lists(st.floats(1, 1e9), min_size=2, max_size=40)


@given(SERIES)
def test_the_slope_is_that_of_the_least_squares_line(values: list[float]) -> None:
    expected = np.polyfit(np.arange(len(values)), values, 1)[0]
    assert slope_of(values) == pytest.approx(expected, rel=1e-6, abs=1e-6 * max(values))


@pytest.mark.parametrize("slope", [-3.0, 0.0, 0.5, 17.0])
def test_a_line_has_its_own_slope(slope: float) -> None:
    values = [1000 + slope * at for at in range(5)]
    window = judge("iops", values, DEFAULT)
    assert window.slope == pytest.approx(slope)
    assert window.average == pytest.approx(1000 + 2 * slope)
    # On a line the excursion is the range.
    assert window.range == pytest.approx(4 * abs(slope) / window.average)
    assert window.excursion == pytest.approx(window.range)


@pytest.mark.parametrize(
    ("values", "steady"),
    [
        # A line of +-5 % has an excursion of 10 %; the limits themselves are steady.
        ([95, 97.5, 100, 102.5, 105], True),
        ([94.9, 97.5, 100, 102.5, 105.1], False),
        # A range of 20 % without any slope.
        ([100, 90, 110, 90, 100], False),
        ([102, 90, 110, 96, 102], True),
        # A range of more than 20 % by one round alone.
        ([100, 100, 121, 100, 100], False),
        ([100, 100, 119, 100, 100], True),
        # Falling: the sign of the slope does not matter.
        ([106, 103, 100, 97, 94], False),
        ([0, 0, 0, 0, 0], False),
        ([100, 100, 100, 100], False),
        ([], False),
    ],
)
def test_both_limits_count(values: list[float], steady: bool) -> None:
    assert judge("iops", values, DEFAULT).steady is steady


def test_only_the_last_rounds_are_judged() -> None:
    window = judge("iops", [500, 300, 200, 100, 101, 100, 99, 100], DEFAULT, before=2)
    assert window.steady and window.values == [100, 101, 100, 99, 100]
    assert (window.first, window.last) == (6, 10)


@given(st.floats(1, 1e6), st.floats(0.05, 0.9))
def test_a_decaying_series_becomes_steady_at_the_round_that_its_form_says(
    level: float, ratio: float
) -> None:
    """level x (1 + 3 x ratio^n): steady in the first window that keeps both limits."""
    values = [level * (1 + 3 * ratio**at) for at in range(120)]
    first = next(count for count in range(1, 120) if judge("iops", values[:count], DEFAULT).steady)
    for count in (first - 1, first):
        window = np.array(values[max(0, count - 5) : count])
        mean = window.mean()
        fit = np.polyfit(np.arange(len(window)), window, 1)[0]
        kept = bool(np.ptp(window) <= 0.2 * mean and abs(fit) * 4 <= 0.1 * mean)
        assert (kept and len(window) == 5) is (count == first)
