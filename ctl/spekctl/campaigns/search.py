# SPDX-License-Identifier: GPL-2.0-or-later
"""The search for the highest load that a device sustains: doubling, then bisection. Pure functions.

The level is the highest load that was served below the lowest one that was not, each of them
measured. A load is a whole number of something: BSUs, streams.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bracket:
    """The bracket of loads around the level."""

    good: int  # 0: no load is known to be sustained
    bad: int | None  # None: no load is known to be too high

    @property
    def width(self) -> int:
        """Undecided loads, including the bad one."""
        assert self.bad is not None
        return self.bad - self.good


@dataclass(frozen=True, slots=True)
class Search:
    """Range and precision of a search."""

    start: int
    most: int
    resolution_percent: float  # of the level; 0: to 1
    least: int = 1

    def next_load(self, bracket: Bracket) -> int | None:
        """The next load to measure; None when the search is over."""
        good, bad = bracket.good, bracket.bad
        if bad is None:
            if good >= self.most:
                return None
            return min(max(2 * good, self.start), self.most)
        if bracket.width <= self._grain(good) or bad <= self.least:
            return None
        return max(self.least, good + bracket.width // 2)

    def points_left(self, bracket: Bracket) -> int:
        """Number of points needed if the next doubling is too high."""
        good, bad = bracket.good, bracket.bad
        first = self.next_load(bracket)
        if first is None:
            return 0
        count = 0
        if bad is None:
            count, bad = 1, first
        if bad <= self.least:
            return count
        width = bad - good
        while width > self._grain(good):
            count, width = count + 1, width - width // 2
        return count

    def _grain(self, good: int) -> int:
        """Width of the bracket at which the search ends."""
        return max(1, math.floor(good * self.resolution_percent / 100))


def bracket_of(served: Mapping[int, bool]) -> Bracket:
    """The bracket from the measured loads in @served."""
    bad = min((load for load, good in served.items() if not good), default=None)
    good = max(
        (load for load, fine in served.items() if fine and (bad is None or load < bad)), default=0
    )
    return Bracket(good, bad)


def lower(level: int, percent: float) -> int:
    """The next lower level after one turned out too high."""
    return max(1, level - max(1, math.ceil(level * percent / 100)))
