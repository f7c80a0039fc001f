# SPDX-License-Identifier: GPL-2.0-or-later
"""Power since the last interval of a run, for an interval that is longer than the prober's memory.

When an interval ends is known only afterwards, and so is when it began, since both are times of the
workers. So what the feeds deliver is kept in pieces: small ones around the end of the last interval
and up to now, and a large one between them. An interval has the pieces that lie in it; less than
one small piece at its start is unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spekctl.kernel.feeds import energy_of_feed
from spekctl.kernel.records import Use
from spekctl.power.pieces import Feeds, joined

# How long pieces stay small on either side: an interval is known some looks after its end.
SLACK_NS = 10 * 10**9


@dataclass(frozen=True, slots=True)
class _Piece:
    """The use of the rails of a feed, by name, from one time up to another."""

    from_ns: int
    to_ns: int
    rails: dict[str, Use]

    def with_next(self, then: _Piece) -> _Piece:
        """This piece and the adjacent one; of rails that both have."""
        rails = {
            name: joined(use, then.rails[name])
            for name, use in self.rails.items()
            if name in then.rails
        }
        return _Piece(self.from_ns, then.to_ns, rails)


@dataclass(frozen=True, slots=True)
class _Head:
    """The start of an interval as one piece of the feed with this id."""

    feed: int
    piece: _Piece


@dataclass(frozen=True, slots=True)
class Stretch:
    """An interval, and its start by name of feed, up to the end of the last piece in it."""

    start_ns: int
    end_ns: int
    heads: dict[str, _Head]


class Trail:
    """Pieces of the feeds that @counts, which is asked by id and name, wants."""

    def __init__(self, link: Feeds, counts: Callable[[int, str], bool]) -> None:
        self._link = link
        self._counts = counts
        # By name: a reopened feed continues the pieces of its predecessor.
        self._pieces: dict[str, list[_Piece]] = {}
        self._ids: dict[str, int] = {}

    def follow(self, last_end_ns: int) -> None:
        """Add the samples that have arrived since the last call. What lies far before the end of
        the last interval is dropped."""
        for feed in self._link.feeds():
            if not feed.is_open or not self._counts(feed.id, feed.name):
                continue
            self._ids[feed.name] = feed.id
            pieces = self._pieces.setdefault(feed.name, [])
            from_ns = pieces[-1].to_ns if pieces else last_end_ns
            if feed.watermark_ns > from_ns:
                rails = self._uses(feed.id, from_ns, feed.watermark_ns)
                if rails and not any(use.pending_ns for use in rails.values()):
                    pieces.append(_Piece(from_ns, feed.watermark_ns, rails))
            _thin(pieces, last_end_ns)

    def within(self, start_ns: int, end_ns: int) -> Stretch:
        """What the pieces say of an interval that has just ended. They are dropped when the next
        one is followed; uses() knows the interval for as long as its stretch is kept."""
        heads = {}
        for feed, pieces in self._pieces.items():
            inside = [p for p in pieces if start_ns <= p.from_ns and p.to_ns <= end_ns]
            if inside:
                whole = inside[0]
                for piece in inside[1:]:
                    whole = whole.with_next(piece)
                heads[feed] = _Head(self._ids[feed], whole)
        return Stretch(start_ns, end_ns, heads)

    def uses(self, stretch: Stretch) -> dict[tuple[str, str], Use]:
        """The use of each rail, by names of feed and rail, as far as its samples have come: those
        of the end of an interval come after it."""
        return {
            (feed, rail): joined(use, _gap(stretch.end_ns - stretch.start_ns - _length(use)))
            for feed, head in stretch.heads.items()
            for rail, use in self._to(head, stretch.end_ns).items()
        }

    def _to(self, head: _Head, end_ns: int) -> dict[str, Use]:
        piece = head.piece
        if piece.to_ns < end_ns:
            # The samples of its end are there still.
            rest = self._uses(head.feed, piece.to_ns, end_ns)
            piece = piece.with_next(_Piece(piece.to_ns, end_ns, rest)) if rest else piece
        return piece.rails

    def _uses(self, feed: int, start_ns: int, end_ns: int) -> dict[str, Use]:
        rails = energy_of_feed(self._link, feed, start_ns, end_ns)
        return {rail.rail_name: rail.uses[0] for rail in rails}


def _thin(pieces: list[_Piece], last_end_ns: int) -> None:
    """Drop what is too early, and join what no interval that is still to come begins or ends in."""
    while pieces and pieces[0].to_ns < last_end_ns - SLACK_NS:
        del pieces[0]
    index = 0
    while index + 1 < len(pieces):
        first, then = pieces[index], pieces[index + 1]
        is_behind = then.to_ns <= pieces[-1].to_ns - SLACK_NS
        if first.from_ns >= last_end_ns + SLACK_NS and is_behind:
            pieces[index : index + 2] = [first.with_next(then)]
        else:
            index += 1


def _length(use: Use) -> int:
    return use.known_ns + use.gap_ns + use.lost_ns + use.pending_ns


def _gap(gap_ns: int) -> Use:
    return Use(0, 0, gap_ns, 0, 0, 0, 0, 0)
