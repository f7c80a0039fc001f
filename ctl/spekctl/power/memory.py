# SPDX-License-Identifier: GPL-2.0-or-later
"""How long the prober keeps power: it fills in power of a row when the row is read, from the last
samples of the feeds."""

from __future__ import annotations

from collections.abc import Iterable

from spekctl import units
from spekctl.kernel.feeds import Feed
from spekctl.kernel.gen.spek_prober import MAX_HISTORY


def kept_ns(feed: Feed) -> int | None:
    """The time that the history of a feed holds, at the mean spacing of its samples so far; None
    before a rail has two samples."""
    spacings = _spacings(feed)
    return round(feed.history * min(spacings)) if spacings else None


def _spacings(feed: Feed) -> list[float]:
    return [
        (rail.last_ns - rail.first_ns) / (rail.samples - 1)
        for rail in feed.rails
        if rail.samples > 1
    ]


def warnings_of(feeds: Iterable[Feed], rows_ns: int) -> list[str]:
    """A sentence for each open feed whose power is forgotten before the rows of @rows_ns are."""
    return [text for feed in feeds if feed.is_open and (text := _warning(feed, rows_ns))]


def _warning(feed: Feed, rows_ns: int) -> str:
    kept = kept_ns(feed)
    if kept is None:
        return (
            f"feed '{feed.name}' has no samples yet: rows have its power only if they are read"
            f" while it keeps their samples, the last {feed.history}"
        )
    if kept >= rows_ns:
        return ""
    wanted = -(-rows_ns * feed.history // max(1, kept))
    more = f"--history {wanted}" if wanted <= MAX_HISTORY else "a longer --interval"
    return (
        f"feed '{feed.name}' keeps {units.format_duration(_rounded(kept))} of samples, the rows"
        f" {units.format_duration(rows_ns)}: start spek-daq with {more}, or read the rows"
        " more often, since older ones have no power"
    )


def _rounded(length_ns: int) -> int:
    """Down to whole seconds, of at least one."""
    second = 10**9
    return length_ns // second * second if length_ns >= second else length_ns
