# SPDX-License-Identifier: GPL-2.0-or-later
"""Live view of rails: power and energy since its start, up to the latest samples of the feeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from spekctl.kernel.feeds import EnergySource, Feed, energy_of_feed
from spekctl.kernel.records import Use

SECOND = 10**9


class Source(EnergySource, Protocol):
    """The part of PowerLink that the monitor needs."""

    def feeds(self, feed: int | None = None) -> list[Feed]: ...


@dataclass(slots=True)
class RailView:
    """One line: power in the last interval, and the accumulated energy."""

    feed: str
    rail: str
    mean_w: float | None
    min_w: float | None
    max_w: float | None
    joules: float
    known_s: float
    gap_s: float
    uncertainty_ns: int

    @property
    def remark(self) -> str:
        """Why power is missing, or was missing for a while."""
        if self.mean_w is None:
            return "unknown"
        return f"{self.gap_s:.1f} s unknown" if self.gap_s >= 0.05 else ""


@dataclass(slots=True)
class _Sum:
    joules: float = 0.0
    known_s: float = 0.0
    gap_s: float = 0.0


@dataclass(slots=True)
class Monitor:
    """Asks for each feed's energy from where it asked last up to that feed's watermark. A feed that
    is opened again continues the one of its name; the time between them is unknown."""

    source: Source
    only: str | None = None
    _from_ns: dict[str, int] = field(default_factory=dict)
    _sums: dict[tuple[str, str], _Sum] = field(default_factory=dict)

    def feeds(self) -> list[Feed]:
        """The open feeds that were selected."""
        return [
            feed for feed in self.source.feeds() if feed.is_open and self.only in (None, feed.name)
        ]

    def step(self) -> list[RailView]:
        """All rails now; a feed without new samples has no power."""
        return [view for feed in self.feeds() for view in self._views(feed)]

    def _views(self, feed: Feed) -> Iterator[RailView]:
        start = self._from_ns.setdefault(feed.name, feed.watermark_ns)
        if not start:
            del self._from_ns[feed.name]
        uses: dict[int, Use] = {}
        if start and feed.watermark_ns > start:
            rails = energy_of_feed(self.source, feed.id, start, feed.watermark_ns)
            uses = {rail.rail: rail.uses[0] for rail in rails}
            # A feed that is gone by now has no rails; the next one of its name has the gap.
            if rails:
                self._from_ns[feed.name] = feed.watermark_ns
        for rail in feed.rails:
            total = self._sums.setdefault((feed.name, rail.name), _Sum())
            use = uses.get(rail.number)
            if use:
                total.joules += use.energy_fj / 1e15
                total.known_s += use.known_ns / SECOND
                total.gap_s += (use.gap_ns + use.lost_ns) / SECOND
            known = use is not None and use.known_ns > 0
            yield RailView(
                feed=feed.name,
                rail=rail.name,
                mean_w=use.energy_fj / use.known_ns / 1e6 if use and known else None,
                min_w=use.min_uw / 1e6 if use and known else None,
                max_w=use.max_uw / 1e6 if use and known else None,
                joules=total.joules,
                known_s=total.known_s,
                gap_s=total.gap_s,
                uncertainty_ns=feed.uncertainty_ns,
            )


def total_w(views: list[RailView]) -> float | None:
    """Power of all rails together; unknown where that of any rail is."""
    known = [view.mean_w for view in views if view.mean_w is not None]
    return sum(known) if views and len(known) == len(views) else None
