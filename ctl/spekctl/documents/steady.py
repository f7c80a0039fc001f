# SPDX-License-Identifier: GPL-2.0-or-later
"""Steady state as the SNIA Performance Test Specification defines it: pure functions, and structs.

A variable is steady over the last WINDOW rounds if, with their average A,

    range       largest value - smallest value                     <= 20 % of A, and
    excursion   |slope of the least-squares line| x (WINDOW - 1)   <= 10 % of A
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from spekctl.documents.document import Part


class Criteria(Part, frozen=True):
    """The limits; shares of the average."""

    window: Annotated[int, Meta(description="Rounds.")] = 5
    range: Annotated[float, Meta(description="Largest less smallest value.")] = 0.2
    slope: Annotated[float, Meta(description="Excursion of the least-squares line.")] = 0.1


class Window(Part, frozen=True):
    """A variable over some rounds in a row."""

    variable: Annotated[
        str, Meta(description="I/Os per second, bytes per second, or ns, as its name says.")
    ]
    first: Annotated[int, Meta(description="Number of the first round, from 1.")]
    values: Annotated[list[float], Meta(description="Of each round.")]
    average: float
    range: Annotated[float, Meta(description="Largest less smallest value, over the average.")]
    slope: Annotated[
        float, Meta(description="Of the least-squares line, per round, in units of the variable.")
    ]
    excursion: Annotated[
        float, Meta(description="Rise or fall of that line over the window, over the average.")
    ]
    steady: Annotated[bool, Meta(description="As long as asked for, and within both limits.")]

    @property
    def last(self) -> int:
        """Number of the last round."""
        return self.first + len(self.values) - 1


def slope_of(values: Sequence[float]) -> float:
    """Slope of the least-squares line through @values at 0, 1, 2, ...; 0 of less than two."""
    count = len(values)
    if count < 2:
        return 0.0
    middle, mean = (count - 1) / 2, sum(values) / count
    # The sum of the squares of 0 - middle, 1 - middle, ...
    squares = count * (count * count - 1) / 12
    return sum((at - middle) * (value - mean) for at, value in enumerate(values)) / squares


def judge(variable: str, values: Sequence[float], criteria: Criteria, before: int = 0) -> Window:
    """The last rounds of @values, which follow @before others.

    An average of 0 is not steady: nothing was done.
    """
    inside = list(values[-criteria.window :])
    average = sum(inside) / len(inside) if inside else 0.0
    slope = slope_of(inside)
    spread = (max(inside) - min(inside)) / average if average else 0.0
    excursion = abs(slope) * (len(inside) - 1) / average if average else 0.0
    return Window(
        variable=variable,
        first=before + len(values) - len(inside) + 1,
        values=inside,
        average=average,
        range=spread,
        slope=slope,
        excursion=excursion,
        steady=len(inside) == criteria.window
        and average > 0
        and spread <= criteria.range
        and excursion <= criteria.slope,
    )
