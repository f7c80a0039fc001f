# SPDX-License-Identifier: GPL-2.0-or-later
"""Two samples compared by ranks, exactly: the Mann-Whitney test and the Hodges-Lehmann interval.

The null distribution is that of the sum of ranks of a sample when every choice of the observations
is as likely as any other. It is counted, not approximated, with equal observations sharing their
mean rank (so that ranks are counted in halves). Sources: Mann and Whitney 1947, Hodges and Lehmann
1963, Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, chapter 4.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


def sums_of_choices(values: Sequence[int], size: int) -> list[int]:
    """How many choices of @size of the @values (not negative) have each sum, from sum 0 on.

    A row of counts is one whole number with a field for each sum, wide enough for all choices
    together, so that Python adds whole rows.
    """
    width = -(-math.comb(len(values), size).bit_length() // 8)  # bytes
    rows = [1] + [0] * size
    for taken, value in enumerate(values, start=1):
        for chosen in range(min(size, taken), max(0, size - len(values) + taken - 1), -1):
            rows[chosen] += rows[chosen - 1] << (value * width * 8)
    fields = -(-rows[size].bit_length() // (width * 8))
    row = rows[size].to_bytes(fields * width, "little")
    return [
        int.from_bytes(row[at : at + width], "little") for at in range(0, fields * width, width)
    ]


def whole_ranks(values: Sequence[float]) -> list[int]:
    """The rank of each value, from 0 on; if any are equal, twice the rank, as equal values share
    the mean of their ranks."""
    order = sorted(values)
    first = {value: index for index, value in reversed(list(enumerate(order)))}
    last = {value: index for index, value in enumerate(order)}
    if len(first) == len(values):
        return [first[value] for value in values]
    return [first[value] + last[value] for value in values]


def mann_whitney(a: Sequence[float], b: Sequence[float]) -> Fraction:
    """Two-sided p of the hypothesis that both samples come from one distribution, exactly.

    Twice the smaller tail, at most 1; the tails include the observed sum of ranks.
    """
    if not a or not b:
        raise ValueError("a sample is empty")
    few, many = sorted((a, b), key=len)
    ranks = whole_ranks([*few, *many])
    counts = sums_of_choices(ranks, len(few))
    observed = sum(ranks[: len(few)])
    below, above = sum(counts[: observed + 1]), sum(counts[observed:])
    return min(Fraction(1), 2 * Fraction(min(below, above), sum(counts)))


def smallest_p(n: int, m: int) -> Fraction:
    """The smallest two-sided p that samples of these sizes can have."""
    return min(Fraction(1), Fraction(2, math.comb(n + m, n)))


def fewest_runs(alpha: Fraction) -> int:
    """Runs per side from which p can be less than @alpha."""
    count = 1
    while smallest_p(count, count) >= alpha:
        count += 1
    return count


@dataclass(frozen=True, slots=True)
class Shift:
    """By what factor b exceeds a, less one: the estimate, and an interval of the confidence."""

    estimate: float
    low: float | None  # None: too few observations for a bound of this confidence
    high: float | None


def shift(a: Sequence[float], b: Sequence[float], alpha: Fraction) -> Shift:
    """The Hodges-Lehmann shift between logarithms, as a ratio: the median of all b/a, and between
    which of them the true ratio lies with a confidence of at least 1 - @alpha.

    The values are positive. The interval holds the ratios that the test does not reject.
    """
    if min(*a, *b) <= 0:
        raise ValueError("ratios need positive values")
    ratios = sorted(right / left for left in a for right in b)
    n, m = len(a), len(b)
    # Sums of ranks of n + m distinct values, from the smallest: U is counted from 0.
    counts = sums_of_choices(range(n + m), min(n, m))[math.comb(min(n, m), 2) :]
    total, reached, cut = sum(counts), 0, 0
    while reached + counts[cut] <= alpha / 2 * total:
        reached += counts[cut]
        cut += 1
    estimate = statistics.median(ratios) - 1
    if cut == 0:
        return Shift(estimate, None, None)
    return Shift(estimate, ratios[cut - 1] - 1, ratios[n * m - cut] - 1)


def adjusted(ps: Sequence[Fraction]) -> list[Fraction]:
    """p values of several hypotheses, adjusted to bound the share of false discoveries
    (Benjamini and Hochberg 1995)."""
    order = sorted(range(len(ps)), key=lambda index: ps[index], reverse=True)
    corrected = list(ps)
    least = Fraction(1)
    for position, index in enumerate(order):
        least = min(least, ps[index] * len(ps) / (len(ps) - position))
        corrected[index] = least
    return corrected
