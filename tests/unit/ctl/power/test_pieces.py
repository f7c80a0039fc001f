# SPDX-License-Identifier: GPL-2.0
"""Power of a span longer than the prober's memory, which its own integrator plays."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from lib.core.railcore import Rail
from lib.fakes.kernel import SECOND, START_NS
from lib.fakes.metered import FakeFeed, FakeLink, add, rails

from spekctl.kernel.records import FeedState
from spekctl.power.meter import PowerOptions
from spekctl.power.pieces import Pieces
from spekctl.power.span import ProberMeter

rail = pytest.fixture(rails)
END_NS = START_NS + 60 * SECOND


def pieces_of(link: FakeLink) -> Pieces:
    return Pieces(link, lambda number, name: True)


def course(line: Rail, then: Callable[[], None]) -> None:
    """A minute, of which the rail remembers 6.4 s: 10 W in its first half, 4 W in its second."""
    for second in range(1, 62):
        add(line, 10.0 if second <= 30 else 4.0, second - 0.9, second)
        then()


def test_a_span_longer_than_the_history_is_known_throughout(rail: Callable[..., Rail]) -> None:
    line = rail(10.0, last_s=0.0, capacity=64)
    meter = ProberMeter(FakeLink([FakeFeed(1, "board", {"5V": line})]), PowerOptions())
    course(line, lambda: meter.follow(START_NS, END_NS))
    assert line.use(START_NS, END_NS).lost_ns > 50 * SECOND
    figures = meter.between(START_NS, END_NS)
    assert figures is not None and figures.remark == "" and figures.is_known
    # the step is a ramp between two samples
    assert figures.total.joules == pytest.approx(30 * 10 + 30 * 4 + 0.3)
    assert figures.net_w == pytest.approx(7.005)
    assert (figures.total.min_w, figures.total.max_w, figures.total.known_s) == (4, 10, 60)


def test_each_feed_has_pieces_of_its_own(rail: Callable[..., Rail]) -> None:
    """One that lags keeps no other one from being asked in time, and loses nothing itself."""
    line, late = rail(10.0, last_s=0.0, capacity=64), rail(2.0, last_s=0.0)
    link = FakeLink([FakeFeed(1, "board", {"5V": line}), FakeFeed(2, "wall", {"5V": late})])
    meter = ProberMeter(link, PowerOptions())
    course(line, lambda: meter.follow(START_NS, END_NS))
    add(late, 2.0, 0.1, 61.0)
    figures = meter.between(START_NS, END_NS)
    assert figures is not None and figures.remark == ""
    assert [power.joules for power in figures.rails] == pytest.approx([420.3, 120.0])


def test_a_feed_that_ends_and_is_forgotten_keeps_its_pieces(rail: Callable[..., Rail]) -> None:
    line = rail(10.0, last_s=0.0, capacity=64)
    link = FakeLink([FakeFeed(1, "board", {"5V": line})])
    pieces = pieces_of(link)
    add(line, 10.0, 0.1, 20.0)
    pieces.follow(START_NS, END_NS)
    link.known.clear()
    (whole,) = pieces.whole(START_NS, END_NS)
    assert whole.state is FeedState.CLOSED
    use = whole.uses[0]
    assert use.known_ns + use.lost_ns == 20 * SECOND and use.gap_ns == 40 * SECOND


def test_pieces_of_another_span_are_dropped(rail: Callable[..., Rail]) -> None:
    line = rail(10.0, last_s=0.0, capacity=64)
    pieces = pieces_of(FakeLink([FakeFeed(1, "board", {"5V": line})]))
    course(line, lambda: pieces.follow(START_NS, END_NS))
    later_ns = START_NS + 2 * SECOND
    (other,) = pieces.whole(later_ns, END_NS)
    assert other.uses[0].lost_ns > 0
    pieces.follow(later_ns, END_NS)
    (again,) = pieces.whole(START_NS, END_NS)
    assert again.uses[0].lost_ns > 0


def test_a_piece_beyond_the_end_of_the_span_is_not_used(rail: Callable[..., Rail]) -> None:
    line = rail(10.0, last_s=0.0, capacity=64)
    pieces = pieces_of(FakeLink([FakeFeed(1, "board", {"5V": line})]))
    course(line, lambda: pieces.follow(START_NS, END_NS))
    (short,) = pieces.whole(START_NS, END_NS - 3 * SECOND)
    assert short.uses[0].lost_ns > 0


# ---- feeds that are opened again ----


def reopened(
    link: FakeLink, rail: Callable[..., Rail], meter: ProberMeter | Pieces, *names: str
) -> None:
    """10 W up to 20 s from a feed, then from 25 s on 4 W from one of its name, with these rails."""
    old = rail(10.0, last_s=20.0)
    link.known = [FakeFeed(1, "board", {"5V": old})]
    meter.follow(START_NS, END_NS)
    new = {name: rail(4.0, first_s=25.0, last_s=24.9, capacity=64) for name in names}
    link.known = [FakeFeed(2, "board", new)]
    for second in range(26, 62):
        for line in new.values():
            add(line, 4.0, second - 1 + 0.1 * (second > 26), second)
        meter.follow(START_NS, END_NS)


def test_a_feed_that_is_opened_again_counts_once(rail: Callable[..., Rail]) -> None:
    link = FakeLink()
    meter = ProberMeter(link, PowerOptions())
    reopened(link, rail, meter, "5V")
    figures = meter.between(START_NS, END_NS)
    assert figures is not None
    (power,) = figures.rails
    assert (power.name, power.known_s, power.gap_s) == ("5V", 55, 5)
    assert power.joules == pytest.approx(20 * 10 + 35 * 4)
    assert figures.net_w == pytest.approx(340 / 55)
    assert (power.min_w, power.max_w) == (4, 10)


def test_a_feed_that_comes_back_with_other_rails_keeps_those_it_had(
    rail: Callable[..., Rail],
) -> None:
    link = FakeLink()
    pieces = pieces_of(link)
    reopened(link, rail, pieces, "12V")
    rails = {rail.rail_name: rail for rail in pieces.whole(START_NS, END_NS)}
    assert {name: (rail.state, rail.uses[0].known_ns) for name, rail in rails.items()} == {
        "12V": (FeedState.OPEN, 35 * SECOND),
        "5V": (FeedState.CLOSED, 20 * SECOND),
    }
    for power in rails.values():
        use = power.uses[0]
        assert use.known_ns + use.gap_ns == 60 * SECOND


def test_a_feed_that_is_opened_twice_and_is_gone_at_the_end(rail: Callable[..., Rail]) -> None:
    link = FakeLink()
    pieces = pieces_of(link)
    reopened(link, rail, pieces, "5V")
    link.known.clear()
    (whole,) = pieces.whole(START_NS, END_NS)
    assert (whole.state, whole.uses[0].known_ns) == (FeedState.CLOSED, 55 * SECOND)
    assert whole.uses[0].gap_ns == 5 * SECOND


def test_samples_that_are_sent_again_to_a_new_feed_count_once(rail: Callable[..., Rail]) -> None:
    """spek-daq has lost the answer to a batch, and sends it to the feed that it opens next."""
    link = FakeLink([FakeFeed(1, "board", {"5V": rail(10.0, last_s=20.0)})])
    pieces = pieces_of(link)
    pieces.follow(START_NS, END_NS)
    link.known = [FakeFeed(2, "board", {"5V": rail(10.0, first_s=15.0, last_s=61.0)})]
    (whole,) = pieces.whole(START_NS, END_NS)
    use = whole.uses[0]
    assert (use.known_ns, use.energy_fj, use.gap_ns) == (60 * SECOND, 600 * 10**15, 0)


def test_a_feed_that_is_released_between_two_requests_is_no_failure(
    rail: Callable[..., Rail],
) -> None:
    """Of a long idle test, because spek-daq was started again."""
    link = FakeLink([FakeFeed(1, "board", {"5V": rail(10.0, last_s=10.0)})])
    pieces = pieces_of(link)
    pieces.follow(START_NS, END_NS)
    add(link.known[0].rails["5V"], 10.0, 10.1, 20.0)
    link.after_feeds = link.known.clear
    pieces.follow(START_NS, END_NS)
    link.after_feeds = lambda: None
    (whole,) = pieces.whole(START_NS, END_NS)
    assert (whole.uses[0].known_ns, whole.uses[0].gap_ns) == (10 * SECOND, 50 * SECOND)
