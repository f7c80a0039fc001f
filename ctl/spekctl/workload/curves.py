# SPDX-License-Identifier: GPL-2.0-or-later
"""Rate curves: the points of an arrival process whose rate changes with time.

A point is a time in ns and a rate in I/Os per 1000 s. Between two points the rate changes linearly,
two points at one time are a jump. After the last one a curve repeats, or keeps its last rate.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

from spekctl import units
from spekctl.errors import UsageError
from spekctl.workload.model import Arrival
from spekctl.workload.once import once
from spekctl.workload.values import POINTS_MAX, RATE_MILLI_MAX

Points = Sequence[tuple[int, int]]
LENGTH_NS_MAX = 10**15
REPEAT_NS_MIN = 10**6
MILLI_NS = 10**12  # an I/O, as an area under a curve
DAY = "24h"
SWING = "50%"
DIURNAL_POINTS = 97  # a quarter of an hour of a day apart


@once
def points_of(arrival: Arrival) -> list[tuple[int, int]]:
    """The points of a process with a curve; [] without one. UsageError with a sentence."""
    if arrival.shape == "ramp":
        assert arrival.rate is not None and arrival.to is not None and arrival.period is not None
        points = [
            (0, _milli(arrival.rate)),
            (units.parse_duration_ns(arrival.period), _milli(arrival.to)),
        ]
    elif arrival.shape == "diurnal":
        assert arrival.rate is not None
        points = _diurnal(
            _milli(arrival.rate),
            units.parse_percent(SWING if arrival.swing is None else arrival.swing),
            units.parse_duration_ns(DAY if arrival.period is None else arrival.period),
        )
    else:
        points = [
            (units.parse_duration_ns(point.at), _milli(point.rate)) for point in arrival.curve
        ]
    if points:
        _check(points, repeats(arrival))
    return points


def repeats(arrival: Arrival) -> bool:
    """True if the curve begins again after its last point."""
    if arrival.repeat is None:
        return arrival.shape == "diurnal"
    return arrival.repeat


def _milli(rate: int | float) -> int:
    # A whole number may be too long for a float.
    if not 0 <= rate < math.inf:
        raise UsageError(f"the rates of a curve must be numbers from 0 on, not {rate:g}")
    milli = round(Fraction(str(rate)) * 1000)
    if milli > RATE_MILLI_MAX:
        raise UsageError(f"a rate of {rate} is more than 1000000000 I/Os per second")
    return milli


def _diurnal(mean: int, swing: Fraction, period_ns: int) -> list[tuple[int, int]]:
    """A wave around the mean rate from its lowest point on."""
    steps = DIURNAL_POINTS - 1
    return [
        (
            period_ns * step // steps,
            round(mean * (1 - float(swing) * math.cos(2 * math.pi * step / steps))),
        )
        for step in range(DIURNAL_POINTS)
    ]


def _check(points: Points, repeat: bool) -> None:
    if not 2 <= len(points) <= POINTS_MAX:
        raise UsageError(f"a curve needs 2 to {POINTS_MAX} points, not {len(points)}")
    if points[0][0]:
        raise UsageError("the first point of a curve must be at 0")
    for (before, _), (at, _) in itertools.pairwise(points):
        if at < before:
            raise UsageError(
                f"the points of a curve must be in the order of their times, and"
                f" {units.format_duration(at)} follows {units.format_duration(before)}"
            )
    if points[-1][0] > LENGTH_NS_MAX:
        raise UsageError("a curve can be 1000000 s (11 days) long")
    if not any(rate for _, rate in points):
        raise UsageError("all rates of the curve are 0: one must be above 0")
    if repeat and points[-1][0] < REPEAT_NS_MIN:
        raise UsageError("a curve that repeats must be 1 ms long or longer")
    if repeat and _area(points, points[-1][0]) < MILLI_NS:
        raise UsageError("a curve that repeats must have at least one I/O per pass")


def _area(points: Points, ns: int) -> Fraction:
    """Area under a curve that does not repeat from its start to @ns after it."""
    total = Fraction(0)
    for (start, low), (end, high) in itertools.pairwise(points):
        length = min(end, ns) - start
        if length > 0:
            total += (2 * low + Fraction((high - low) * length, end - start)) * length / 2
    last_ns, last = points[-1]
    return total + last * max(0, ns - last_ns)


def mean_milli(
    points: Points, repeat: bool, start_ns: int = 0, end_ns: int | None = None
) -> Fraction:
    """Mean rate from @start_ns to @end_ns, by default over the points of the curve."""
    period = points[-1][0]
    if end_ns is None:
        start_ns, end_ns = 0, period
    if end_ns <= start_ns:
        return Fraction(points[-1][1])

    def until(ns: int) -> Fraction:
        if not repeat:
            return _area(points, ns)
        return ns // period * _area(points, period) + _area(points, ns % period)

    return (until(end_ns) - until(start_ns)) / (end_ns - start_ns)


def scaled(points: Points, by: Fraction) -> list[tuple[int, int]]:
    """The same curve with all rates multiplied."""
    multiplied = [(at, round(rate * by)) for at, rate in points]
    if max(rate for _, rate in multiplied) > RATE_MILLI_MAX:
        raise UsageError(
            "at this mean rate, the highest of the curve is above 1000000000 per second"
        )
    return multiplied
