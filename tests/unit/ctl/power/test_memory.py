# SPDX-License-Identifier: GPL-2.0
"""How long the prober keeps power, and which rows will be read too late for it."""

from __future__ import annotations

import pytest

from spekctl.kernel.feeds import Feed
from spekctl.kernel.gen.spek_prober_records import FeedState, RailInfo
from spekctl.power import memory

MS, SECOND = 10**6, 10**9


def feed(
    name: str, spacing_ns: int, *more_ns: int, samples: int = 101, history: int = 1000
) -> Feed:
    """Rails with so many samples at these distances."""
    rails = [
        RailInfo(index, f"rail{index}", samples=samples, first_ns=5, last_ns=5 + (samples - 1) * ns)
        for index, ns in enumerate((spacing_ns, *more_ns))
    ]
    return Feed(name=name, history=1000, rails=tuple(rails))


def test_a_feed_keeps_what_its_fastest_rail_does() -> None:
    """Each rail has a history of its own."""
    assert memory.kept_ns(feed("a", 10 * MS)) == 10 * SECOND
    assert memory.kept_ns(feed("a", 10 * MS, 2 * MS)) == 2 * SECOND


@pytest.mark.parametrize("samples", [0, 1])
def test_what_a_feed_keeps_is_not_known_before_two_samples(samples: int) -> None:
    fresh = feed("a", 10 * MS, samples=samples)
    assert memory.kept_ns(fresh) is None
    (text,) = memory.warnings_of([fresh], SECOND)
    assert text.startswith("feed 'a' has no samples yet") and text.endswith("the last 1000")


def test_each_open_feed_that_forgets_is_named() -> None:
    fast = feed("fast", MS)
    ended = Feed(name="ended", history=1000, rails=fast.rails, state=FeedState.CLOSED)
    feeds = [fast, feed("slow", SECOND), ended]
    (text,) = memory.warnings_of(feeds, 60 * SECOND)
    assert text.startswith("feed 'fast' keeps 1s of samples, the rows 1m: start spek-daq with")
    assert "--history 60000" in text


def test_rows_as_long_as_the_history_need_no_warning() -> None:
    assert memory.warnings_of([feed("a", 10 * MS)], 10 * SECOND) == []
    assert len(memory.warnings_of([feed("a", 10 * MS)], 10 * SECOND + 1)) == 1
