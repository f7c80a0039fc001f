# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of power: from the use of rails to watts, joules, and efficiency."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from spekctl.documents.document import Part
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Efficiency, IntervalPower, PowerResult, RailPower
from spekctl.kernel.records import Use

# Share of a span that may be without samples if its mean power is to be judged. Beyond it, what was
# drawn in that time could shift the mean by more than most changes that are looked for.
MOST_UNKNOWN = 0.05

# Why power is missing where there was nothing to measure it with.
NO_FEED = "power not measured: no feed is open in spek_prober (start spek-daq)"
NO_PROBER = "power not measured: the run had no prober"
UNMETERED = (NO_FEED, NO_PROBER)

FJ_PER_J = 10**15
MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Amount:
    """The use of a rail in an interval, under its name in the result."""

    name: str
    feed: str
    lsb_nw: int
    use: Use


@dataclass(frozen=True, slots=True)
class Metered:
    """Power of a run: the result's part, that of the intervals by number, and what is missing."""

    result: PowerResult | None = None
    intervals: Mapping[int, IntervalPower] = field(default_factory=dict)
    text: str = ""


def interval_power(amounts: Sequence[Amount]) -> IntervalPower:
    """Rails and their sum; without a load to compare with."""
    rails = [_rail(amount) for amount in amounts]
    return IntervalPower(rails=rails, total=total_of(rails))


def _rail(amount: Amount) -> RailPower:
    use = amount.use
    known = use.known_ns > 0
    return RailPower(
        name=amount.name,
        joules=joules_of(use.energy_fj),
        mean_w=use.energy_fj / (use.known_ns * 10**6) if known else None,
        min_w=use.min_uw / 1e6 if known else None,
        max_w=use.max_uw / 1e6 if known else None,
        known_s=use.known_ns / 1e9,
        gap_s=(use.gap_ns + use.lost_ns + use.pending_ns) / 1e9,
        samples=use.samples,
        feed=amount.feed,
        lsb_w=amount.lsb_nw / 1e9,
        energy_fj=use.energy_fj,
    )


def joules_of(energy_fj: int) -> float:
    """Joules, rounded once: as a float, an energy of more than 9 J has lost digits already."""
    return energy_fj / FJ_PER_J


def unknown(name: str, gap_s: float) -> RailPower:
    """A rail without samples for @gap_s seconds."""
    return RailPower(name, 0.0, None, None, None, 0.0, gap_s, 0, feed=name, energy_fj=0)


def total_of(rails: Sequence[RailPower]) -> RailPower:
    """The sum of the rails; a figure that any rail lacks is unknown for the sum. Energy is added in
    whole fJ and the other figures are rounded once, so the order of the rails does not matter."""

    def added(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return math.fsum(known) if known and len(known) == len(values) else None

    energies = [rail.energy_fj for rail in rails if rail.energy_fj is not None]
    energy_fj = sum(energies) if len(energies) == len(rails) else None
    return RailPower(
        name="total",
        joules=joules_of(energy_fj)
        if energy_fj is not None
        else math.fsum(rail.joules for rail in rails),
        mean_w=added([rail.mean_w for rail in rails]),
        min_w=added([rail.min_w for rail in rails]),
        max_w=added([rail.max_w for rail in rails]),
        known_s=min((rail.known_s for rail in rails), default=0.0),
        gap_s=max((rail.gap_s for rail in rails), default=0.0),
        samples=sum(rail.samples for rail in rails),
        lsb_w=math.fsum(rail.lsb_w for rail in rails),
        energy_fj=energy_fj,
    )


def rails_of(power: IntervalPower) -> list[RailPower]:
    """What the total of a power is the sum of, to be added to that of others: sums of sums would be
    rounded twice."""
    return list(power.rails) or [power.total]


def efficiency(mean_w: float | None, iops: float, bytes_per_s: float) -> Efficiency | None:
    """Efficiency at this load; None without power or load."""
    if mean_w is None or mean_w <= 0 or not iops or not bytes_per_s:
        return None
    return Efficiency(
        watts=mean_w,
        iops_per_w=iops / mean_w,
        mw_per_iops=1000 * mean_w / iops,
        mib_s_per_w=bytes_per_s / MIB / mean_w,
        j_per_gib=mean_w / (bytes_per_s / GIB),
    )


def figures(
    power: IntervalPower, baseline_w: float, iops: float, bytes_per_s: float
) -> IntervalPower:
    """The same, related to a load after subtracting @baseline_w."""
    mean_w = power.total.mean_w
    net_w = None if mean_w is None else mean_w - baseline_w
    return IntervalPower(power.rails, power.total, efficiency(net_w, iops, bytes_per_s))


class PowerFigures(Part, frozen=True):
    """All rails over a span, as measured."""

    rails: list[RailPower]
    total: RailPower
    baseline_w: Annotated[
        float, Meta(description="To be taken off the total before metrics are computed.")
    ] = 0.0

    @property
    def net_w(self) -> float | None:
        """Mean power less the baseline; None if nothing is known."""
        mean_w = self.total.mean_w
        return mean_w - self.baseline_w if mean_w is not None and self.total.known_s else None

    @property
    def remark(self) -> str:
        """A warning for the reader; empty if power is known all the time."""
        total = self.total
        silent = [rail.name for rail in self.rails if not rail.known_s]
        if 0 < len(silent) < len(self.rails):
            return f"power is not known: no samples of {', '.join(silent)}"
        if self.net_w is None:
            return f"power is not known: {total.gap_s:.3g} s without samples"
        if total.gap_s > 0:
            return gap_text(total.gap_s, total.known_s + total.gap_s)
        return ""

    @property
    def is_known(self) -> bool:
        """Whether its mean is that of the span: the share without samples is at most
        MOST_UNKNOWN."""
        total = self.total
        whole_s = total.known_s + total.gap_s
        return self.net_w is not None and total.gap_s <= MOST_UNKNOWN * whole_s


def gap_text(gap_s: float, whole_s: float) -> str:
    """That power is not known for part of a span."""
    return f"power is unknown for {gap_s:.3g} s of {whole_s:.3g} s"


def power_of(result: Result) -> PowerFigures | None:
    """Power over the measure phase of a run; None if there was none to measure."""
    power = result.power
    return figures_of(power.measure, power.baseline_w) if power is not None else None


def figures_of(interval: IntervalPower, baseline_w: float = 0.0) -> PowerFigures | None:
    """The figures of all rails in an interval."""
    if not interval.rails:
        return None
    return PowerFigures(interval.rails, interval.total, baseline_w)
