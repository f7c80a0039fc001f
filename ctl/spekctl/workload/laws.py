# SPDX-License-Identifier: GPL-2.0-or-later
"""Distributions of addresses as tables: the parts of a range with the weights of their I/Os.

A range has N addresses, 0 to N - 1. A law is its distribution function F: F(n) is the probability
that an I/O goes to one of the first n addresses.

zipf      address k - 1 has probability proportional to k ** -theta
pareto    F(n) = (n / N) ** (log(1 - h) / log(h)): the first share h of the addresses has the share
          1 - h of the I/Os, and so on within it
normal    the normal distribution with mean center * N and standard deviation deviation * N, or the
          sum of it and of a uniform distribution of width * N around 0, cut off at both ends of
          the range, so that what is left is 1
zoned     as listed; addresses beyond the last zone are never used

A table has as many parts as it may. The first addresses of zipf and pareto are parts of their own,
so these are exact; further ones share parts, within which all addresses are equally likely. F is
exact at the edges of parts, to 2^-40.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from spekctl.contract.requests import TABLE_WEIGHT
from spekctl.errors import UsageError
from spekctl.workload.values import PARTS_IN_ALL as PARTS_IN_ALL
from spekctl.workload.values import PARTS_MAX as PARTS_MAX

WEIGHT = TABLE_WEIGHT  # what the weights of a table sum to
SLOTS_MAX = 1 << 40
SPREAD_SLOTS_MAX = 1 << 32

Parts = list[tuple[int, int]]
Law = Callable[[int], float]


def zipf(slots: int, theta: float, budget: int) -> Parts:
    """Parts of a Zipf distribution."""
    total = _zipf_sum(slots, theta)
    return _table(slots, lambda n: _zipf_sum(n, theta) / total, budget)


def pareto(slots: int, h: float, budget: int) -> Parts:
    """Parts of a Pareto distribution."""
    power = math.log1p(-h) / math.log(h)
    return _table(slots, lambda n: float((n / slots) ** power), budget)


def normal(slots: int, deviation: float, center: float, budget: int, width: float = 0) -> Parts:
    """Parts of a normal distribution, or of the sum of it and a uniform one of @width."""
    # A narrower one changes no weight.
    is_narrow = width < 1e-6 * deviation

    def below(place: float) -> float:
        z = (place - center) / deviation
        if is_narrow:
            return _standard(z)
        half = width / deviation / 2
        return (_standard_integral(z + half) - _standard_integral(z - half)) / (2 * half)

    first, last = below(0), below(1)
    # In steps of a quarter of the standard deviation where few I/Os go.
    total = math.sqrt(deviation**2 + width**2 / 12)
    steps = [round((center + total * step / 4) * slots) for step in range(-24, 25)]
    return _table(slots, lambda n: (below(n / slots) - first) / (last - first), budget, steps)


def zoned(slots: int, zones: Sequence[tuple[Fraction, int]]) -> Parts:
    """Parts with shares of the I/Os; a zone is its share and the address after its last one."""
    parts: Parts = []
    start, given, before = 0, Fraction(0), 0
    for number, (share, end) in enumerate(zones, start=1):
        given += share
        weight = math.floor(given * WEIGHT)
        if end <= start:
            raise UsageError(f"zone {number} is too small: no I/O starts in it")
        if end > slots:
            raise UsageError(f"zone {number} ends beyond its range")
        parts.append((end - start, weight - before))
        start, before = end, weight
    if start < slots:
        parts.append((slots - start, 0))
    return parts


def rotated(parts: Parts, by: int) -> Parts:
    """The same parts, moved up by @by addresses and from the end of the range to its start."""
    room = sum(slots for slots, _ in parts) - by
    low: Parts = []
    high: Parts = []
    for slots, weight in parts:
        here = min(max(room, 0), slots)
        left = weight * here // slots
        if here:
            high.append((here, left))
        if here < slots:
            low.append((slots - here, weight - left))
        room -= slots
    return low + high


def _standard(z: float) -> float:
    """The distribution function of the standard normal distribution."""
    return math.erfc(-z / math.sqrt(2)) / 2


def _standard_integral(z: float) -> float:
    """Its integral from -infinity to @z."""
    return z * _standard(z) + math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def _zipf_sum(n: int, theta: float) -> float:
    """1 + 2 ** -theta + ... + n ** -theta; beyond 64 by the formula of Euler and Maclaurin."""
    exact = min(n, 64)
    total = math.fsum(k**-theta for k in range(1, exact + 1))
    if n == exact:
        return total
    stretch, exponent = math.log(n / exact), 1 - theta
    scaled = exponent * stretch
    integral = exact**exponent * (stretch if scaled == 0 else math.expm1(scaled) / exponent)
    ends = (n**-theta - exact**-theta) / 2
    slopes = theta / 12 * (exact ** (-theta - 1) - n ** (-theta - 1))
    third = theta * (theta + 1) * (theta + 2) / 720
    bends = third * (n ** (-theta - 3) - exact ** (-theta - 3))
    return float(total + integral + ends + slopes + bends)


def _table(slots: int, law: Law, budget: int, more: Iterable[int] = ()) -> Parts:
    """Parts of a law with at most @budget of them."""
    if slots <= budget:
        edges = list(range(1, slots + 1))
    else:
        chosen = {slots, *(index for index in more if 0 < index < slots)}
        given = 0.0
        if not more:
            # The first ones alone, then in equal ratios.
            single = budget // 4
            chosen |= set(range(1, single + 1))
            ratio, steps = slots / single, budget // 2
            chosen |= {round(single * ratio ** (step / steps)) for step in range(1, steps)}
            given = law(single)
        # And where many I/Os go.
        more_parts = budget - len(chosen)
        chosen |= {
            _quantile(slots, law, given + (1 - given) * step / (more_parts + 1))
            for step in range(1, more_parts + 1)
        }
        edges = sorted(chosen)
    parts: Parts = []
    start = before = 0
    for end in edges:
        weight = WEIGHT if end == slots else min(WEIGHT, round(law(end) * WEIGHT))
        parts.append((end - start, max(0, weight - before)))
        start, before = end, max(before, weight)
    return parts


def _quantile(slots: int, law: Law, probability: float) -> int:
    """The smallest number of addresses that have this share of the I/Os."""
    low, high = 1, slots
    while low < high:
        middle = (low + high) // 2
        if law(middle) < probability:
            low = middle + 1
        else:
            high = middle
    return low
