# SPDX-License-Identifier: GPL-2.0-or-later
"""Power of a span that is longer than the prober's memory: the sum of adjacent pieces.

The prober keeps a number of samples per feed, at 1 ms the last minute. Each piece is integrated
while its samples are kept. It ends at the watermark of its feed, so that nothing in it is pending,
and the next one begins there. The integrals of adjacent pieces add up to that of the span.

A feed that is opened again takes the place of the ended one of its name, and continues its pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from spekctl.kernel.feeds import EnergySource, Feed, RailUse, energy_of_feed
from spekctl.kernel.records import FeedState, Use

_NOTHING = Use(0, 0, 0, 0, 0, 0, 0, 0)


class Feeds(EnergySource, Protocol):
    """The part of PowerLink that is needed here."""

    def feeds(self) -> list[Feed]: ...
    def close(self) -> None: ...


@dataclass(slots=True)
class _Part:
    """The rails of one feed, by name, from one time up to another."""

    name: str
    from_ns: int
    to_ns: int
    rails: dict[str, RailUse] = field(default_factory=dict)

    def use_of(self, rail: str) -> Use:
        if rail in self.rails:
            return self.rails[rail].uses[0]
        return replace(_NOTHING, gap_ns=self.to_ns - self.from_ns)


class Pieces:
    """Pieces of one span, added up per rail. @counts: whether a feed, by id and name, is wanted."""

    def __init__(self, link: Feeds, counts: Callable[[int, str], bool]) -> None:
        self._link = link
        self._counts = counts
        self._start_ns = 0
        self._parts: dict[int, _Part] = {}  # by feed

    def follow(self, start_ns: int, end_ns: int) -> None:
        """Add the samples that have arrived from @start_ns up to @end_ns at most.

        To be called more often than the samples of a feed are overwritten.
        """
        if start_ns != self._start_ns:
            self._start_ns = start_ns
            self._parts.clear()
        for feed in self._link.feeds():
            if not feed.is_open or not self._counts(feed.id, feed.name):
                continue
            part = self._parts.get(feed.id)
            if part is None:
                from_ns = _end_of(self._before(feed.id, feed.name), start_ns)
                part = _Part(feed.name, from_ns, from_ns)
            to_ns = min(feed.watermark_ns, end_ns)
            if to_ns > part.to_ns:
                self._add(feed.id, part, to_ns)

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
        there = {rail.feed: rail.feed_name for rail in rails}
        whole = []
        for feed, name in there.items():
            before = self._before(feed, name, end_ns)
            from_ns = _end_of(before, start_ns)
            if from_ns > start_ns:
                last = self._between(feed, from_ns, end_ns) if from_ns < end_ns else []
            else:
                last = [rail for rail in rails if rail.feed == feed]
            best = {rail.rail_name: self._best(rail, from_ns, end_ns) for rail in last}
            whole += _chained([*before, _Part(name, from_ns, end_ns, best)])
        names = {*there.values()}
        gone = {part.name: feed for feed, part in sorted(self._parts.items())}
        for name, feed in gone.items():
            parts = self._before(feed + 1, name, end_ns)
            if name not in names and parts:
                whole += _chained([*parts, _Part(name, parts[-1].to_ns, end_ns)])
        return whole

    def _before(self, feed: int, name: str, end_ns: int | None = None) -> list[_Part]:
        """Those of the feeds of this name that came before a feed, up to a time at most."""
        return [
            part
            for number, part in sorted(self._parts.items())
            if number < feed and part.name == name and (end_ns is None or part.to_ns <= end_ns)
        ]

    def _between(self, feed: int, start_ns: int, end_ns: int) -> list[RailUse]:
        return energy_of_feed(self._link, feed, start_ns, end_ns)

    def _add(self, feed: int, part: _Part, to_ns: int) -> None:
        pieces = self._between(feed, part.to_ns, to_ns)
        if not pieces or any(piece.uses[0].pending_ns for piece in pieces):
            return
        for piece in pieces:
            before = part.rails.get(piece.rail_name)
            if before is not None:
                piece = replace(piece, uses=(joined(before.uses[0], piece.uses[0]),))
            part.rails[piece.rail_name] = piece
        part.to_ns = to_ns
        self._parts[feed] = part

    def _best(self, rail: RailUse, from_ns: int, end_ns: int) -> RailUse:
        """@rail between two times, from the prober or from pieces and the rest."""
        part = self._parts.get(rail.feed)
        if (
            part is None
            or rail.rail_name not in part.rails
            or rail.uses[0].lost_ns == 0
            or part.from_ns != from_ns
            or part.to_ns > end_ns
        ):
            return rail
        use = part.use_of(rail.rail_name)
        if part.to_ns < end_ns:
            rest = [
                other.uses[0]
                for other in self._between(rail.feed, part.to_ns, end_ns)
                if other.rail == rail.rail
            ]
            if not rest:
                return rail
            use = joined(use, rest[0])
        return replace(rail, uses=(use,)) if use.known_ns > rail.uses[0].known_ns else rail


def _end_of(parts: Sequence[_Part], start_ns: int) -> int:
    return parts[-1].to_ns if parts else start_ns


def _chained(parts: Sequence[_Part]) -> list[RailUse]:
    """Adjacent parts of feeds of one name, rail by rail, as the last feed has them."""
    names = dict.fromkeys(rail for part in reversed(parts) for rail in part.rails)
    return [_as_of_last(parts, name) for name in names]


def _as_of_last(parts: Sequence[_Part], name: str) -> RailUse:
    last = next(part.rails[name] for part in reversed(parts) if name in part.rails)
    return replace(
        last,
        state=last.state if name in parts[-1].rails else FeedState.CLOSED,
        uses=(_sum(part.use_of(name) for part in parts),),
    )


def _sum(uses: Iterable[Use]) -> Use:
    total = _NOTHING
    for use in uses:
        total = joined(total, use)
    return total


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
