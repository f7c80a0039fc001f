# SPDX-License-Identifier: GPL-2.0-or-later
"""Emerald-like metrics (EP): work per watt in each active phase, capacity per watt when ready idle.

    EP_HB  hot band             I/Os per second per W
    EP_RR  random read          I/Os per second per W
    EP_RW  random write         I/Os per second per W
    EP_SR  sequential read      MiB per second per W
    EP_SW  sequential write     MiB per second per W
    EP_MW1 mixed, full rate     I/Os per second per W
    EP_MW2 mixed, quarter rate  I/Os per second per W
    EP_RI  ready idle           GB (10^9 bytes) of raw capacity per W

Work and power are means over the same measured time. Exact, printed half up with three decimals,
or with more if these have fewer than three significant digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from spekctl.documents.exact import Figure, figure

DECIMALS = 3
DIGITS = 3
IDLE = "EP_RI"
Unit = Literal["IOPS/W", "MiB/s/W", "GB/W"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A metric: what is done per watt, and in which phase."""

    name: str
    phase: str
    unit: Unit

    @property
    def work_unit(self) -> str:
        """Of what is divided by the power."""
        return self.unit.removesuffix("/W")


KINDS: tuple[Kind, ...] = (
    Kind("EP_HB", "hot-band", "IOPS/W"),
    Kind("EP_RR", "random-read", "IOPS/W"),
    Kind("EP_RW", "random-write", "IOPS/W"),
    Kind("EP_SR", "sequential-read", "MiB/s/W"),
    Kind("EP_SW", "sequential-write", "MiB/s/W"),
    Kind("EP_MW1", "mixed", "IOPS/W"),
    Kind("EP_MW2", "mixed-25", "IOPS/W"),
    Kind(IDLE, "ready-idle", "GB/W"),
)
BY_PHASE = {kind.phase: kind for kind in KINDS}


def metric(work: Fraction, watts: Fraction) -> Fraction:
    """Work per watt; both are more than 0 as fault() wants it."""
    return work / watts


def printed(value: Fraction) -> Figure:
    """@value, which is more than 0, as it is printed."""
    decimals = DECIMALS
    # 0.0995 is rounded to 0.100, which has three digits.
    while value * 10**decimals < 10 ** (DIGITS - 1) - Fraction(1, 2):
        decimals += 1
    return figure(value, decimals)


def gigabytes(capacity_bytes: int) -> Fraction:
    """Raw capacity as the work of being ready."""
    return Fraction(capacity_bytes, 10**9)


def fault(kind: Kind, work: Fraction, watts: Fraction) -> str:
    """Why the metric cannot be computed, as a sentence; empty if it can."""
    if watts <= 0:
        return f"{kind.phase}: the power is {float(watts):g} W; it must be more than 0"
    if work <= 0:
        return f"{kind.phase}: {float(work):g} {kind.work_unit} must be more than 0"
    return ""
