# SPDX-License-Identifier: GPL-2.0-or-later
"""DCsE: storage efficiency of a data centre in operation.

    capacity    GB (10^9 bytes) per W, idle
    workload    I/Os per second per W, under load
    throughput  MB (10^6 bytes) per second per W, under load

Each is given where both of its numbers are known, exact and rounded half up to two decimals.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

DECIMALS = 2


@dataclass(frozen=True, slots=True)
class Inputs:
    """Measurements of a system; None: not measured."""

    gigabytes: Fraction | None = None
    idle_watts: Fraction | None = None
    load_watts: Fraction | None = None
    iops: Fraction | None = None
    megabytes_per_s: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Metrics:
    """None: a number for it is missing."""

    gb_per_watt: Fraction | None
    iops_per_watt: Fraction | None
    mb_per_s_per_watt: Fraction | None


def metrics(known: Inputs) -> Metrics:
    """The figures that can be computed; @known has passed fault()."""
    return Metrics(
        gb_per_watt=_ratio(known.gigabytes, known.idle_watts),
        iops_per_watt=_ratio(known.iops, known.load_watts),
        mb_per_s_per_watt=_ratio(known.megabytes_per_s, known.load_watts),
    )


def _ratio(amount: Fraction | None, watts: Fraction | None) -> Fraction | None:
    return amount / watts if amount is not None and watts is not None else None


def change(before: Fraction | None, after: Fraction | None) -> Fraction | None:
    """Relative change, 1 is twice as much."""
    return (after - before) / before if before and after is not None else None


def fault(known: Inputs) -> str:
    """What is wrong with the numbers, as a sentence; empty if nothing."""
    for value, what in (
        (known.idle_watts, "the idle power"),
        (known.load_watts, "the power under load"),
        (known.gigabytes, "the capacity"),
        (known.iops, "the rate of I/Os"),
        (known.megabytes_per_s, "the throughput"),
    ):
        if value is not None and value <= 0:
            return f"{what} is {float(value):g}; it must be more than 0"
    idle, load = known.idle_watts, known.load_watts
    if idle is not None and load is not None and idle > load:
        return f"idle power, {float(idle):g} W, is above that under load, {float(load):g} W"
    computed = metrics(known)
    if (computed.gb_per_watt, computed.iops_per_watt, computed.mb_per_s_per_watt) == (
        None,
        None,
        None,
    ):
        return (
            "nothing to compute: give a capacity and idle power, or power under load and"
            " I/Os per second or MB per second"
        )
    return ""
