# SPDX-License-Identifier: GPL-2.0
"""Power over a span of time as energy metrics take it, wherever it was measured."""

from __future__ import annotations

from typing import Annotated, Protocol

from msgspec import Meta

from spekctl.result import IntervalPower, Part, RailPower, Result


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
        """What a reader has to know about it; empty if it is whole."""
        total = self.total
        if self.net_w is None:
            return f"power is not known: {total.gap_s:.3g} s without samples"
        if total.gap_s > 0:
            whole = total.known_s + total.gap_s
            return f"power is unknown for {total.gap_s:.3g} s of {whole:.3g} s"
        return ""


class Meter(Protocol):
    """Power of any span of time, as long as it is remembered."""

    def between(self, start_ns: int, end_ns: int) -> PowerFigures | None:
        """From one CLOCK_MONOTONIC time to another; None if nothing measures power."""

    def close(self) -> None:
        """Give everything back."""


def power_of(result: Result) -> PowerFigures | None:
    """Power over the measure phase of a run; None if there was none to measure."""
    power = result.power
    return figures_of(power.measure, power.baseline_w) if power is not None else None


def figures_of(interval: IntervalPower, baseline_w: float = 0.0) -> PowerFigures | None:
    """What the rails of an interval say."""
    if not interval.rails:
        return None
    return PowerFigures(interval.rails, interval.total, baseline_w)
