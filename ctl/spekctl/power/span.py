# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks spek_prober for the power of a span of time without a run: the idle tests.

The prober keeps the last samples of its feeds and integrates them over any interval. A span that
is longer than that is followed while it lasts. What the feeds have not delivered yet at its end is
awaited for a short time: of a feed that lags more, power is unknown.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from spekctl.documents.power import Amount, PowerFigures, figures_of, interval_power
from spekctl.errors import SpekError, UsageError
from spekctl.kernel import feeds
from spekctl.kernel.feeds import RailUse
from spekctl.kernel.gen.spek_prober import MAX_LAG_NS
from spekctl.kernel.records import FeedState
from spekctl.power.meter import PowerOptions
from spekctl.power.pieces import Feeds, Pieces

# A second more than the prober itself waits for a feed that lags.
LAG_S = MAX_LAG_NS / 1e9 + 1.0
_POLL_S = 0.1


class SpanMeter(Protocol):
    """Power of a span of time."""

    def follow(self, start_ns: int, end_ns: int) -> None:
        """Take what is known so far of a span whose end is ahead, before the prober forgets it."""

    def between(self, start_ns: int, end_ns: int) -> PowerFigures | None:
        """From one CLOCK_MONOTONIC time to another; None if nothing measures power."""

    def close(self) -> None:
        """Release everything."""


def connect(wish: PowerOptions | None, prober_ns: int | None) -> tuple[SpanMeter | None, str]:
    """The prober's power; without it None and why, as a sentence.

    @prober_ns is None where the user wants no prober.
    """
    if prober_ns is None:
        return None, "power not measured: --no-prober was given, and power comes from spek_prober"
    wish = wish or PowerOptions()
    try:
        link = feeds.PowerLink()
    except SpekError as error:
        return None, f"power not measured: {error.message}"
    try:
        names = [feed.name for feed in link.feeds() if feed.is_open]
    except SpekError as error:
        link.close()
        return None, f"power not measured: {error.message}"
    try:
        wish.check_open(names)
    except UsageError:
        link.close()
        raise
    if not names:
        link.close()
        return None, "power not measured: no feed is open in spek_prober (start spek-daq)"
    return ProberMeter(link, wish), ""


class ProberMeter:
    """The feeds of spek_prober, or the selected ones."""

    def __init__(
        self, link: Feeds, wish: PowerOptions, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._link = link
        self._wish = wish
        self._pause = pause
        self._pieces = Pieces(link, self._counts)

    def close(self) -> None:
        """Close the connection; the feeds belong to others."""
        self._link.close()

    def follow(self, start_ns: int, end_ns: int) -> None:
        """Ask for the samples that have arrived since the last call."""
        self._pieces.follow(start_ns, end_ns)

    def between(self, start_ns: int, end_ns: int) -> PowerFigures | None:
        """Power of all rails between two times; None without a rail."""
        waited_s = 0.0
        while True:
            rails = self._rails(start_ns, end_ns)
            pending = any(_is_open(rail) and rail.uses[0].pending_ns for rail in rails)
            if not pending or waited_s >= LAG_S:
                break
            self._pause(_POLL_S)
            waited_s += _POLL_S
        several = len({rail.feed for rail in rails}) > 1
        amounts = [
            Amount(
                f"{rail.feed_name}/{rail.rail_name}" if several else rail.rail_name,
                rail.feed_name,
                rail.lsb_nw,
                rail.uses[0],
            )
            for rail in rails
        ]
        return figures_of(interval_power(amounts), self._wish.baseline_w)

    def _rails(self, start_ns: int, end_ns: int) -> list[RailUse]:
        """The selected feeds, without those that ended before the span."""
        rails = self._pieces.whole(start_ns, end_ns)
        return [rail for rail in rails if _is_open(rail) or rail.uses[0].known_ns]

    def _counts(self, _number: int, name: str) -> bool:
        return not self._wish.feeds or name in self._wish.feeds


def _is_open(rail: RailUse) -> bool:
    return rail.state is FeedState.OPEN
