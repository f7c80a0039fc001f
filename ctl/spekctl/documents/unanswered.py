# SPDX-License-Identifier: GPL-2.0-or-later
"""What I/Os without an answer at the end of the measure phase say of its times.

They count in the drain, so a device that stops answering leaves no trace in the times of the
measure phase. But an I/O that has been in flight for an age takes at least that long: with these
I/Os counted by their ages, mean, percentiles and maximum are lower bounds of what they would be had
the measurement waited. Of a device at work the I/Os in flight are young, and the bounds are below
the figures of the completed I/Os, which then stand as they are.
"""

from __future__ import annotations

from collections.abc import Iterable

from spekctl import units
from spekctl.documents.histogram import merge
from spekctl.documents.result_parts import Cell, InFlight
from spekctl.documents.times import Distribution, histogram_of
from spekctl.kernel.records import Histogram, Phase

# Times that have ages. A slip ends at the issue, which I/Os in flight have behind them.
KINDS = ("response", "service")


def ages_of(cells: Iterable[Cell], kind: str = "response") -> Histogram | None:
    """Ages of the I/Os in flight at the end of the measure phase, of these cells together; None if
    there were none, and in results of versions that did not count them."""
    return merge(
        ages
        for cell in cells
        if cell.in_flight is not None
        and (ages := histogram_of(_age(cell.in_flight, kind))) is not None
    )


def times_of(cells: Iterable[Cell], kind: str) -> Histogram | None:
    """One of the three times in the measure phase, of these cells together."""
    return merge(
        times
        for cell in cells
        if cell.phase is Phase.MEASURE
        and (times := histogram_of(getattr(cell.times, kind))) is not None
    )


def _age(held: InFlight, kind: str) -> Distribution | None:
    return held.response_age if kind == "response" else held.service_age


def sentence(count: int, oldest_ns: float) -> str:
    """How many I/Os had no answer at the end, and for how long."""
    ios = f"{count:,} I/Os" if count != 1 else "1 I/O"
    return (
        f"{ios} had not been answered for up to {units.format_ns(oldest_ns)} when the measurement"
        " ended"
    )
