# SPDX-License-Identifier: GPL-2.0-or-later
"""On and off periods of an arrival process: their means, their tail, and what they need."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from spekctl import units
from spekctl.errors import UsageError
from spekctl.workload.model import Arrival
from spekctl.workload.once import once
from spekctl.workload.values import RATE_MILLI_MAX, TAIL_MAX, TAIL_MIN

MEAN_NS_MIN = 10**4
MEAN_NS_MAX = 10**15
MILLI_NS = 10**12  # an I/O, as a product of a rate in I/Os per 1000 s and ns


class Periods(NamedTuple):
    """Means in ns, and the shape of Pareto lengths in thousandths: 0 for exponential ones.

    All are 0 for a process that does not pause.
    """

    on_ns: int = 0
    off_ns: int = 0
    tail_milli: int = 0


@once
def periods_of(arrival: Arrival) -> Periods:
    """The periods of a process. UsageError with a sentence."""
    if arrival.on is None and arrival.off is None:
        if arrival.tail is not None:
            raise UsageError("'tail' belongs to on and off periods: give 'on' and 'off'")
        return Periods()
    if arrival.on is None or arrival.off is None:
        raise UsageError("on and off belong together: give both")
    if arrival.curve or arrival.shape is not None:
        raise UsageError("on and off exclude a curve: they need one rate")
    tail = arrival.tail
    if tail is not None and not TAIL_MIN <= tail <= TAIL_MAX:
        raise UsageError(f"tail must be {TAIL_MIN} to {TAIL_MAX}, not {tail}")
    return Periods(
        _mean_ns("on", arrival.on),
        _mean_ns("off", arrival.off),
        0 if tail is None else round(Fraction(str(tail)) * 1000),
    )


def _mean_ns(key: str, text: str) -> int:
    mean_ns = units.parse_duration_ns(text)
    if not MEAN_NS_MIN <= mean_ns <= MEAN_NS_MAX:
        raise UsageError(f"{key} must be 10us to 1000000s (11 days), not {text}")
    return mean_ns


def check_rate(rate_milli: int, on_ns: int) -> None:
    """Refuse a rate that these on periods (0: none) do not allow."""
    if not on_ns:
        return
    if rate_milli > RATE_MILLI_MAX:
        raise UsageError("in on periods, its rate is above 1000000000 I/Os per second")
    least = math.ceil(Fraction(MILLI_NS, rate_milli))
    if on_ns < least:
        raise UsageError(
            "an on period must have at least one I/O on average: at this rate, on must be"
            f" {units.format_duration(least)} or more"
        )
