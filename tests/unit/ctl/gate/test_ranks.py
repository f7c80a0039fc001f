# SPDX-License-Identifier: GPL-2.0
"""Ranks: the same p as scipy for every outcome, and the same as counting all choices by hand."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import pytest
from scipy import stats

from spekctl.gate import ranks

SIZES = [(n, m) for n in range(1, 9) for m in range(1, 9)]


def samples_with(n: int, m: int, u: int) -> tuple[list[float], list[float]]:
    """Two samples without ties with this U: the number of pairs whose b is the greater."""
    a = [float(2 * index) for index in range(n)]
    b = []
    for place in range(m):
        beaten = min(n, max(0, u - place * n))
        b.append(2 * beaten - 1 + (place + 1) / (m + 2))
    return a, b


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_p_is_that_of_scipy_for_every_u(n: int, m: int) -> None:
    for u in range(n * m + 1):
        a, b = samples_with(n, m, u)
        theirs = stats.mannwhitneyu(b, a, method="exact", alternative="two-sided")
        assert theirs.statistic == u
        assert float(ranks.mann_whitney(a, b)) == pytest.approx(theirs.pvalue, rel=1e-12)


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_choices_are_counted_as_if_one_by_one(n: int, m: int) -> None:
    values = [random.Random(n * 10 + m).randrange(30) for _ in range(n + m)]
    if math.comb(n + m, n) > 3000:
        values = list(range(n + m))
        assert sum(ranks.sums_of_choices(values, n)) == math.comb(n + m, n)
        return
    by_hand = Counter(sum(combination) for combination in itertools.combinations(values, n))
    counted = ranks.sums_of_choices(values, n)
    assert {total: count for total, count in enumerate(counted) if count} == dict(by_hand)


@pytest.mark.parametrize("seed", range(40))
def test_p_with_ties_is_that_of_all_choices(seed: int) -> None:
    draw = random.Random(seed)
    a = [float(draw.randrange(4)) for _ in range(draw.randint(1, 5))]
    b = [float(draw.randrange(4)) for _ in range(draw.randint(1, 5))]
    whole = stats.rankdata([*a, *b])
    sums = [
        sum(whole[list(combination)])
        for combination in itertools.combinations(range(len(whole)), len(a))
    ]
    observed = sum(whole[: len(a)])
    below = sum(rank_sum <= observed for rank_sum in sums)
    above = sum(rank_sum >= observed for rank_sum in sums)
    assert ranks.mann_whitney(a, b) == min(Fraction(1), Fraction(2 * min(below, above), len(sums)))


def test_sides_are_alike() -> None:
    a, b = [3.0, 1.0, 4.0, 1.0], [5.0, 9.0, 2.0, 6.0, 5.0, 3.0]
    assert ranks.mann_whitney(a, b) == ranks.mann_whitney(b, a)


def test_equal_samples_have_p_1() -> None:
    assert ranks.mann_whitney([7.0] * 6, [7.0] * 5) == 1


@pytest.mark.parametrize(("n", "p"), [(3, "0.1"), (4, "0.0286"), (5, "0.00794"), (6, "0.00216")])
def test_smallest_p(n: int, p: str) -> None:
    a, b = samples_with(n, n, n * n)
    assert ranks.mann_whitney(a, b) == ranks.smallest_p(n, n)
    assert float(ranks.smallest_p(n, n)) == pytest.approx(float(p), rel=5e-3)


def test_fewest_runs() -> None:
    assert ranks.fewest_runs(Fraction("0.01")) == 5
    assert ranks.fewest_runs(Fraction("0.05")) == 4
    assert ranks.fewest_runs(Fraction("0.002")) == 7


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("alpha", [Fraction(1, 100), Fraction(1, 20)])
def test_the_interval_holds_what_the_test_does_not_reject(seed: int, alpha: Fraction) -> None:
    draw = random.Random(seed)
    a = [draw.uniform(90, 110) for _ in range(draw.randint(5, 8))]
    b = [draw.uniform(90, 110) for _ in range(draw.randint(5, 8))]
    interval = ranks.shift(a, b, alpha)
    assert interval.low is not None and interval.high is not None
    assert interval.low <= interval.estimate <= interval.high

    def p(ratio: float) -> float:
        scaled = [value / ratio for value in b]
        both = stats.mannwhitneyu(scaled, a, method="exact", alternative="two-sided")
        return float(both.pvalue)

    for edge, outwards in ((interval.low, -1e-9), (interval.high, 1e-9)):
        assert p(1 + edge - outwards) > alpha
        assert p(1 + edge + outwards) <= alpha


def test_the_shift_of_a_scaled_sample_is_its_factor() -> None:
    a = [100.0, 104.0, 97.0, 101.0, 99.0]
    interval = ranks.shift(a, [value * 1.25 for value in a], Fraction(1, 20))
    assert interval.estimate == pytest.approx(0.25)


def test_too_few_observations_have_no_interval() -> None:
    interval = ranks.shift([1.0, 2.0], [3.0, 4.0], Fraction(1, 100))
    assert (interval.low, interval.high) == (None, None)


def test_coverage_is_at_least_what_is_promised() -> None:
    draw = random.Random(5)
    missed = 0
    for _ in range(400):
        a = [draw.lognormvariate(0, 0.05) for _ in range(6)]
        b = [1.1 * draw.lognormvariate(0, 0.05) for _ in range(6)]
        interval = ranks.shift(a, b, Fraction(1, 10))
        assert interval.low is not None and interval.high is not None
        missed += not interval.low <= 0.1 <= interval.high
    # 40 expected at most; the binomial's standard deviation is 6.
    assert missed <= 58


@pytest.mark.parametrize("seed", range(10))
def test_adjusted_p_is_that_of_scipy(seed: int) -> None:
    draw = random.Random(seed)
    ps = [Fraction(draw.randrange(1, 1000), 1000) for _ in range(draw.randint(1, 9))]
    theirs = stats.false_discovery_control([float(p) for p in ps])
    assert [float(p) for p in ranks.adjusted(ps)] == pytest.approx(list(theirs))


def test_many_runs_are_counted_in_time() -> None:
    a = [float(value) for value in range(60)]
    assert ranks.mann_whitney(a, [value + 0.5 for value in a]) > Fraction(1, 2)


@pytest.mark.parametrize(("a", "b"), [([], [1.0]), ([1.0], [])])
def test_an_empty_sample_is_refused(a: list[float], b: list[float]) -> None:
    with pytest.raises(ValueError, match="empty"):
        ranks.mann_whitney(a, b)


def test_values_that_are_not_positive_have_no_ratio() -> None:
    with pytest.raises(ValueError, match="positive"):
        ranks.shift([0.0, 1.0], [1.0, 2.0], Fraction(1, 10))
