# SPDX-License-Identifier: GPL-2.0
"""The search for the highest load that is served."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.campaigns.search import Bracket, Search, bracket_of, lower


def carry_out(search: Search, level: int) -> dict[int, bool]:
    """Measure a device that serves every load up to @level."""
    tried: dict[int, bool] = {}
    while (load := search.next_load(bracket_of(tried))) is not None:
        assert load not in tried
        tried[load] = load <= level
    return tried


@given(st.integers(1, 5000), st.integers(1, 100))
def test_it_finds_the_level(level: int, start: int) -> None:
    tried = carry_out(Search(start, 10**6, 0), level)
    assert bracket_of(tried) == Bracket(level, level + 1)
    most = max(level, start)
    assert len(tried) <= 2 * math.ceil(math.log2(2 * most)) + 2


@given(st.integers(1, 10**5), st.floats(0, 20))
def test_it_is_as_exact_as_it_has_to_be(level: int, percent: float) -> None:
    bracket = bracket_of(carry_out(Search(1, 10**6, percent), level))
    assert bracket.good <= level
    assert bracket.width <= max(1, bracket.good * percent / 100)


@given(st.integers(1, 200))
def test_it_ends_where_the_user_says(most: int) -> None:
    tried = carry_out(Search(1, most, 0), 10**9)
    assert bracket_of(tried) == Bracket(most, None) and max(tried) == most


def test_a_device_that_serves_nothing_ends_it() -> None:
    tried = carry_out(Search(8, 100, 0), 0)
    assert bracket_of(tried) == Bracket(0, 1) and list(tried) == [8, 4, 2, 1]


@given(st.integers(0, 300), st.integers(1, 20))
def test_no_load_below_the_least_is_tried(level: int, least: int) -> None:
    search = Search(10 * least, 10**4, 0, least)
    tried = carry_out(search, level)
    assert min(tried) >= least
    expected = Bracket(level, level + 1) if level >= least else Bracket(0, least)
    assert bracket_of(tried) == expected
    assert search.points_left(expected) == 0


@given(st.integers(0, 300), st.floats(0, 10))
def test_the_points_left_are_right_once_a_load_is_too_much(level: int, percent: float) -> None:
    search = Search(1, 10**4, percent)
    tried: dict[int, bool] = {}
    for load, fine in carry_out(search, level).items():
        bracket = bracket_of(tried)
        left = search.points_left(bracket)
        tried[load] = fine
        after = search.points_left(bracket_of(tried))
        if bracket.bad is not None:
            assert after <= left - 1
        assert left >= 1
    assert search.points_left(bracket_of(tried)) == 0


@pytest.mark.parametrize(
    ("level", "percent", "less"), [(100, 5, 95), (10, 5, 9), (2, 5, 1), (1, 5, 1), (1000, 2.5, 975)]
)
def test_a_level_is_lowered_by_its_share(level: int, percent: float, less: int) -> None:
    assert lower(level, percent) == less
