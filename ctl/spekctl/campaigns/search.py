# SPDX-License-Identifier: GPL-2.0-or-later
"""The search for the highest load that a device serves: doubling, then bisection. Pure functions.

The level is the highest load that was served below the lowest one that was not, each of them
measured. A load is a whole number of something: BSUs, streams.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bracket:
    """Between which loads the level is."""

    good: int  # 0: none is known to be served
    bad: int | None  # None: none is known to be too much

    @property
    def width(self) -> int:
        """Loads that are not decided, the bad one included."""
        assert self.bad is not None
        return self.bad - self.good


@dataclass(frozen=True, slots=True)
class Search:
    """Where a search begins, where it ends, and how exact it has to be."""

    start: int
    most: int
    resolution_percent: float  # of the level; 0: to 1

    def next_load(self, bracket: Bracket) -> int | None:
        """What to measure next; None when the search is over."""
        good, bad = bracket.good, bracket.bad
        if bad is None:
            if good >= self.most:
                return None
            return min(max(2 * good, self.start), self.most)
        if bracket.width <= self._grain(good):
            return None
        return good + bracket.width // 2

    def points_left(self, bracket: Bracket) -> int:
        """How many points it takes if the next doubling is too much."""
        good, bad = bracket.good, bracket.bad
        first = self.next_load(bracket)
        if first is None:
            return 0
        count = 0
        if bad is None:
            count, bad = 1, first
        width = bad - good
        while width > self._grain(good):
            count, width = count + 1, width - width // 2
        return count

    def _grain(self, good: int) -> int:
        """How narrow the bracket has to be."""
        return max(1, math.floor(good * self.resolution_percent / 100))


def bracket_of(served: Mapping[int, bool]) -> Bracket:
    """What the points say; @served has the loads that were measured."""
    bad = min((load for load, good in served.items() if not good), default=None)
    good = max(
        (load for load, fine in served.items() if fine and (bad is None or load < bad)), default=0
    )
    return Bracket(good, bad)


def lower(level: int, percent: float) -> int:
    """The next level to try when one turned out too high."""
    return max(1, level - max(1, math.ceil(level * percent / 100)))
