# SPDX-License-Identifier: GPL-2.0
"""Power of intervals that are longer than the prober's memory, which its own integrator plays."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from lib.core.railcore import Rail
from lib.fakes.kernel import SECOND, START_NS
from lib.fakes.metered import FakeFeed, FakeLink, add, rails

from spekctl.kernel.records import FeedState
from spekctl.power.trail import SLACK_NS, Trail

rail = pytest.fixture(rails)


def trail_of(link: FakeLink, counts: str = "board") -> Trail:
    return Trail(link, lambda number, name: name == counts)


def at(second: float) -> int:
    return START_NS + round(second * SECOND)


def followed(trail: Trail, line: Rail, first: int, last: int, end_s: float, watts: float) -> None:
    """Samples of these seconds; the last interval ended at @end_s."""
    for second in range(first, last):
        add(line, watts, second + 0.1, second + 1)
        trail.follow(at(end_s))


def test_an_interval_longer_than_the_history_is_known(rail: Callable[..., Rail]) -> None:
    line = rail(10.0, last_s=0.0, capacity=64)
    trail = trail_of(FakeLink([FakeFeed(1, "board", {"5V": line})]))
    followed(trail, line, 0, 30, 0.0, 10.0)
    followed(trail, line, 30, 61, 0.0, 4.0)
    assert line.use(at(0), at(60)).lost_ns > 50 * SECOND
    ((key, use),) = trail.uses(trail.within(at(0), at(60))).items()
    assert key == ("board", "5V")
    assert (use.known_ns, use.gap_ns, use.lost_ns) == (60 * SECOND, 0, 0)
    # the step is a ramp between two samples
    assert use.energy_fj / 1e15 == pytest.approx(30 * 10 + 30 * 4 + 0.3)


def test_one_interval_after_another(rail: Callable[..., Rail]) -> None:
    line = rail(5.0, last_s=0.0, capacity=64)
    trail = trail_of(FakeLink([FakeFeed(1, "board", {"5V": line})]))
    followed(trail, line, 0, 61, 0.0, 5.0)
    first = trail.uses(trail.within(at(0), at(60)))["board", "5V"]
    followed(trail, line, 61, 121, 60.0, 5.0)
    then = trail.uses(trail.within(at(60), at(120)))["board", "5V"]
    for use in (first, then):
        assert use.known_ns + use.gap_ns == 60 * SECOND
        # Less than a piece at the start is unknown.
        assert use.gap_ns <= SECOND
        assert use.energy_fj / 1e15 == pytest.approx(5 * use.known_ns / SECOND)


def test_what_no_interval_can_begin_or_end_in_is_kept_as_one_piece(
    rail: Callable[..., Rail],
) -> None:
    line = rail(5.0, last_s=0.0, capacity=64)
    link = FakeLink([FakeFeed(1, "board", {"5V": line})])
    trail = trail_of(link)
    counts = []
    for minutes in range(1, 4):
        followed(trail, line, 60 * minutes - 60, 60 * minutes, 0.0, 5.0)
        counts.append(len(trail._pieces["board"]))
    assert len({*counts}) == 1 and counts[0] <= 2 * SLACK_NS // SECOND + 2


def test_other_feeds_and_ended_ones_are_not_followed(rail: Callable[..., Rail]) -> None:
    board, wall = rail(5.0, last_s=0.0), rail(7.0, last_s=0.0)
    ended = FakeFeed(3, "board", {"5V": board}, FeedState.CLOSED)
    trail = trail_of(FakeLink([FakeFeed(2, "wall", {"AC": wall}), ended]))
    followed(trail, wall, 0, 20, 0.0, 7.0)
    assert trail.uses(trail.within(at(0), at(20))) == {}


def test_a_feed_that_is_opened_again_goes_on(rail: Callable[..., Rail]) -> None:
    old, new = rail(10.0, last_s=0.0), rail(4.0, first_s=19.9, last_s=20.0)
    link = FakeLink([FakeFeed(1, "board", {"5V": old})])
    trail = trail_of(link)
    followed(trail, old, 0, 20, 0.0, 10.0)
    link.known = [FakeFeed(2, "board", {"5V": new})]
    followed(trail, new, 20, 41, 0.0, 4.0)
    use = trail.uses(trail.within(at(0), at(40)))["board", "5V"]
    assert use.known_ns + use.gap_ns == 40 * SECOND and use.gap_ns <= SECOND
    assert use.energy_fj / 1e15 == pytest.approx(20 * 10 + 20 * 4, rel=0.02)


def test_the_end_of_an_interval_may_come_after_it(rail: Callable[..., Rail]) -> None:
    line = rail(5.0, last_s=0.0, capacity=64)
    trail = trail_of(FakeLink([FakeFeed(1, "board", {"5V": line})]))
    followed(trail, line, 0, 59, 0.0, 5.0)
    stretch = trail.within(at(0), at(60))
    assert trail.uses(stretch)["board", "5V"].pending_ns > 0
    add(line, 5.0, 59.1, 61)
    use = trail.uses(stretch)["board", "5V"]
    assert (use.known_ns, use.pending_ns) == (60 * SECOND, 0)
