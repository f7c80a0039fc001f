# SPDX-License-Identifier: GPL-2.0-or-later
"""Power of a span that is longer than the prober's memory: the sum of adjacent pieces.

The prober keeps a number of samples per feed, at 1 ms the last minute. Each piece is integrated
while its samples are kept. It ends at the watermark of its feed, so that nothing in it is pending,
and the next one begins there. The integrals of adjacent pieces add up to that of the span.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from spekctl.kernel.feeds import Feed, RailUse
from spekctl.kernel.records import FeedState, Use


class Feeds(Protocol):
    """The part of PowerLink that is needed here."""

    def feeds(self) -> list[Feed]: ...
    def energy(
        self, intervals: Sequence[tuple[int, int]], feed: int | None = None
    ) -> list[RailUse]: ...
    def close(self) -> None: ...


class Pieces:
    """Pieces of one span, added up per rail. @counts: whether a feed, by id and name, is wanted."""

    def __init__(self, link: Feeds, counts: Callable[[int, str], bool]) -> None:
        self._link = link
        self._counts = counts
        self._start_ns = 0
        self._until_ns: dict[int, int] = {}  # by feed
        self._rails: dict[tuple[int, int], RailUse] = {}  # by feed and rail

    def follow(self, start_ns: int, end_ns: int) -> None:
        """Add the samples that have arrived from @start_ns up to @end_ns at most.

        To be called more often than the samples of a feed are overwritten.
        """
        if start_ns != self._start_ns:
            self._start_ns = start_ns
            self._until_ns.clear()
            self._rails.clear()
        for feed in self._link.feeds():
            from_ns = self._until_ns.get(feed.id, start_ns)
            to_ns = min(feed.watermark_ns, end_ns)
            if feed.is_open and self._counts(feed.id, feed.name) and to_ns > from_ns:
                self._add(feed.id, from_ns, to_ns)

    def whole(self, start_ns: int, end_ns: int) -> list[RailUse]:
        """The use of each wanted rail in a span, of pieces where they know more than the prober
        remembers now."""
        rails = [
            rail
            for rail in self._link.energy([(start_ns, end_ns)])
            if self._counts(rail.feed, rail.feed_name)
        ]
        if start_ns != self._start_ns:
            return rails
        there = {rail.feed for rail in rails}
        return [self._best(rail, end_ns) for rail in rails] + [
            replace(rail, state=FeedState.CLOSED, uses=(_gap_after(rail.uses[0], left_ns),))
            for rail in self._rails.values()
            if rail.feed not in there and (left_ns := end_ns - self._until_ns[rail.feed]) >= 0
        ]

    def _add(self, feed: int, from_ns: int, to_ns: int) -> None:
        pieces = self._link.energy([(from_ns, to_ns)], feed)
        if any(piece.uses[0].pending_ns for piece in pieces):
            return
        for piece in pieces:
            key = (piece.feed, piece.rail)
            before = self._rails.get(key)
            if before is not None:
                piece = replace(piece, uses=(joined(before.uses[0], piece.uses[0]),))
            self._rails[key] = piece
        self._until_ns[feed] = to_ns

    def _best(self, rail: RailUse, end_ns: int) -> RailUse:
        """@rail over the whole span, from the prober or from pieces and the rest."""
        before = self._rails.get((rail.feed, rail.rail))
        from_ns = self._until_ns.get(rail.feed, 0)
        if before is None or rail.uses[0].lost_ns == 0 or from_ns > end_ns:
            return rail
        use = before.uses[0]
        if from_ns < end_ns:
            for rest in self._link.energy([(from_ns, end_ns)], rail.feed):
                if rest.rail == rail.rail:
                    use = joined(use, rest.uses[0])
        return replace(rail, uses=(use,)) if use.known_ns > rail.uses[0].known_ns else rail


def joined(first: Use, then: Use) -> Use:
    """The use of two adjacent spans together."""
    known = [use for use in (first, then) if use.known_ns]
    return Use(
        energy_fj=first.energy_fj + then.energy_fj,
        known_ns=first.known_ns + then.known_ns,
        gap_ns=first.gap_ns + then.gap_ns,
        lost_ns=first.lost_ns + then.lost_ns,
        pending_ns=first.pending_ns + then.pending_ns,
        samples=first.samples + then.samples,
        min_uw=min((use.min_uw for use in known), default=0),
        max_uw=max((use.max_uw for use in known), default=0),
    )


def _gap_after(use: Use, gap_ns: int) -> Use:
    return joined(use, Use(0, 0, gap_ns, 0, 0, 0, 0, 0))
