# SPDX-License-Identifier: GPL-2.0
"""Power of a span of time from the prober's answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from lib.fakes.feeds import SECOND, use

from spekctl.errors import NoKernelSideError, SpekError, UsageError
from spekctl.kernel import feeds as kernel_feeds
from spekctl.kernel.feeds import Feed, RailUse
from spekctl.kernel.records import FeedState, Use
from spekctl.power import span
from spekctl.power.meter import PowerOptions


def rail(what: Use, feed: int = 1, number: int = 0, state: FeedState = FeedState.OPEN) -> RailUse:
    return RailUse(feed, f"feed{feed}", number, f"{number + 3}V", state, 0, 1000, (what,))


def feed(name: str, state: FeedState = FeedState.OPEN) -> Feed:
    numbers: dict[str, Any] = dict.fromkeys(Feed.__dataclass_fields__, 0)
    return Feed(**{**numbers, "name": name, "state": state, "rails": ()})


class FakeLink:
    """Answers with one list of rails after the other, the last one for ever."""

    def __init__(self, *answers: list[RailUse], feeds: Sequence[Feed] = ()) -> None:
        self.answers = list(answers)
        self.known = list(feeds)
        self.asked: list[tuple[int, int]] = []
        self.refuses: SpekError | None = None
        self.closed = False

    def feeds(self) -> list[Feed]:
        if self.refuses is not None:
            raise self.refuses
        return self.known

    def energy(
        self, intervals: Sequence[tuple[int, int]], feed: int | None = None
    ) -> list[RailUse]:
        self.asked += intervals
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def close(self) -> None:
        self.closed = True


def asked(
    *answers: list[RailUse], wish: PowerOptions | None = None
) -> tuple[span.ProberMeter, FakeLink, list[float]]:
    link = FakeLink(*answers)
    pauses: list[float] = []
    return span.ProberMeter(link, wish or PowerOptions(), pauses.append), link, pauses


def test_rails_and_their_sum() -> None:
    source, link, pauses = asked([rail(use(20, 10)), rail(use(50, 10), number=1)])
    figures = source.between(5 * SECOND, 15 * SECOND)
    assert figures is not None and figures.net_w == 7 and figures.remark == ""
    assert [rail.name for rail in figures.rails] == ["3V", "4V"]
    assert (figures.rails[0].joules, figures.rails[0].mean_w) == (20, 2)
    assert (figures.rails[0].min_w, figures.rails[0].max_w) == (1.9999, 2.0002)
    assert figures.total.joules == 70
    assert link.asked == [(5 * SECOND, 15 * SECOND)] and pauses == []


def test_no_feed_is_no_power() -> None:
    assert asked([])[0].between(1, 2) is None


def test_what_is_on_its_way_is_waited_for() -> None:
    late = [rail(use(18, 9, pending_s=1))]
    source, link, pauses = asked(late, late, [rail(use(20, 10))])
    figures = source.between(0, 10 * SECOND)
    assert figures is not None and figures.total.gap_s == 0
    assert len(link.asked) == 3 and len(pauses) == 2


def test_a_feed_that_stays_behind_is_unknown_from_there_on() -> None:
    source, _, pauses = asked([rail(use(18, 9, pending_s=1))])
    figures = source.between(0, 10 * SECOND)
    assert figures is not None and figures.net_w == 2
    assert figures.remark == "power is unknown for 1 s of 10 s"
    assert span.LAG_S <= sum(pauses) < span.LAG_S + 0.2


def test_gaps_and_lost_time_are_unknown() -> None:
    both = [rail(use(14, 7, gap_s=1, lost_s=2)), rail(use(30, 10), number=1)]
    figures = asked(both)[0].between(0, 10 * SECOND)
    assert figures is not None
    assert (figures.total.known_s, figures.total.gap_s, figures.net_w) == (7, 3, 5)


def test_a_rail_of_which_nothing_is_known_leaves_no_total() -> None:
    both = [rail(use(0, 0, gap_s=10)), rail(use(30, 10), number=1)]
    figures = asked(both)[0].between(0, 10 * SECOND)
    assert figures is not None and figures.net_w is None
    assert figures.rails[1].mean_w is not None
    assert figures.remark == f"power is not known: no samples of {figures.rails[0].name}"


def test_ended_feeds_of_another_time_do_not_count() -> None:
    gone = rail(use(0, 0, gap_s=10), feed=1, state=FeedState.CLOSED)
    broken = rail(use(15, 3, gap_s=7), feed=2, state=FeedState.BROKEN)
    source, _, pauses = asked([gone, broken, rail(use(30, 10), feed=3)])
    figures = source.between(0, 10 * SECOND)
    assert figures is not None and pauses == []
    assert [rail.name for rail in figures.rails] == ["feed2/3V", "feed3/3V"]
    assert asked([gone])[0].between(0, 10 * SECOND) is None


def test_only_the_feeds_that_are_wanted_count() -> None:
    both = [rail(use(20, 10)), rail(use(50, 10), feed=2)]
    figures = asked(both, wish=PowerOptions(("feed2",)))[0].between(0, 10 * SECOND)
    assert figures is not None and figures.net_w == 5


def test_a_baseline_is_taken_off() -> None:
    figures = asked([rail(use(50, 10))], wish=PowerOptions(baseline_w=3.5))[0].between(
        0, 10 * SECOND
    )
    assert figures is not None and (figures.net_w, figures.total.mean_w) == (1.5, 5)


def connect_to(monkeypatch: pytest.MonkeyPatch, link: FakeLink) -> None:
    monkeypatch.setattr(kernel_feeds, "PowerLink", lambda: link)


def test_a_prober_with_a_feed_is_a_meter(monkeypatch: pytest.MonkeyPatch) -> None:
    link = FakeLink(feeds=[feed("board")])
    connect_to(monkeypatch, link)
    meter, text = span.connect(PowerOptions(("board",)), SECOND)
    assert meter is not None and text == ""
    meter.close()
    assert link.closed


@pytest.mark.parametrize("feeds", [[], [feed("board", FeedState.BROKEN)]])
def test_a_prober_without_an_open_feed_says_so(
    feeds: list[Feed], monkeypatch: pytest.MonkeyPatch
) -> None:
    link = FakeLink(feeds=feeds)
    connect_to(monkeypatch, link)
    meter, text = span.connect(None, SECOND)
    assert meter is None and link.closed
    assert text == "power not measured: no feed is open in spek_prober (start spek-daq)"


def test_an_unknown_feed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    link = FakeLink(feeds=[feed("board")])
    connect_to(monkeypatch, link)
    with pytest.raises(UsageError, match="there is no open feed 'bord'; open are board"):
        span.connect(PowerOptions(("bord",)), SECOND)
    assert link.closed


def test_no_prober_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise NoKernelSideError("the kernel module spek_prober is not loaded")

    monkeypatch.setattr(kernel_feeds, "PowerLink", refuse)
    missing = "power not measured: the kernel module spek_prober is not loaded"
    assert span.connect(None, SECOND) == (None, missing)
    assert "--no-prober was given" in span.connect(None, None)[1]


def test_a_refusal_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    link = FakeLink()
    link.refuses = SpekError("not permitted: spek needs root")
    connect_to(monkeypatch, link)
    missing = "power not measured: not permitted: spek needs root"
    assert span.connect(None, SECOND) == (None, missing)
    assert link.closed
