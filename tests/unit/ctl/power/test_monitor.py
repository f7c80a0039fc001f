# SPDX-License-Identifier: GPL-2.0
"""Views of the power of rails, from watermark to watermark."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from lib.ctl.rails import RAILS, rails_file, run

from spekctl.errors import ExitCode, NotFoundError
from spekctl.kernel import feeds as kernel_feeds
from spekctl.kernel.feeds import Feed, RailUse
from spekctl.kernel.gen.spek_prober_records import RailInfo
from spekctl.kernel.records import FeedState, Use
from spekctl.power.monitor import Monitor, total_w

rails = pytest.fixture(rails_file)

SECOND = 10**9


def feed(watermark_s: float, *, state: FeedState = FeedState.OPEN, name: str = "u6") -> Feed:
    rails = tuple(
        RailInfo(number=i, name=rail, samples=5, power_uw=1_500_000, energy_uj=2_000_000)
        for i, rail in enumerate(("12V", "5V"))
    )
    return Feed(
        id=1,
        name=name,
        source="u6",
        state=state,
        owner_pid=1,
        owner_name="spek-daq",
        history=64,
        max_step_ns=SECOND,
        uncertainty_ns=1_500_000,
        drift_ppb=0,
        residual_ns=0,
        overflows=0,
        lost=0,
        opened_ns=0,
        now_ns=0,
        watermark_ns=int(watermark_s * SECOND),
        batches=1,
        refused=0,
        left_behind=0,
        rails=rails,
    )


class FakeProber:
    """Two rails: 12V uses 2 W, 5V 1 W up to second 13 and is unknown from there on."""

    def __init__(self, *watermarks_s: float) -> None:
        self.watermarks_s = list(watermarks_s)
        self.asked: list[tuple[int, int]] = []
        self.is_gone = False

    def __enter__(self) -> FakeProber:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def feeds(self, feed_id: int | None = None) -> list[Feed]:
        watermark = self.watermarks_s[0]
        if len(self.watermarks_s) > 1:
            self.watermarks_s.pop(0)
        return [feed(watermark)]

    def energy(
        self, intervals: Sequence[tuple[int, int]], feed: int | None = None
    ) -> list[RailUse]:
        if self.is_gone:
            raise NotFoundError("There is no feed with this number.")
        self.asked += intervals
        ((start, end),) = intervals
        known = max(0, min(end, 13 * SECOND) - start)
        return [
            RailUse(1, "u6", 0, "12V", FeedState.OPEN, 0, 0, (use(2, end - start, 0),)),
            RailUse(1, "u6", 1, "5V", FeedState.OPEN, 0, 0, (use(1, known, end - start - known),)),
        ]


def use(watts: int, known_ns: int, gap_ns: int) -> Use:
    uw = watts * 10**6 if known_ns else 0
    return Use(uw * known_ns, known_ns, gap_ns, 0, 0, 9, uw, uw)


def test_the_monitor_outlives_a_feed_that_is_released_between_two_requests() -> None:
    prober = FakeProber(10, 11, 12, 13)
    monitor = Monitor(prober)
    monitor.step()
    assert monitor.step()[0].joules == 2
    prober.is_gone = True
    views = monitor.step()
    assert [(view.mean_w, view.joules) for view in views] == [(None, 2), (None, 1)]
    prober.is_gone = False
    assert monitor.step()[0].joules == 6


def test_a_feed_that_is_opened_again_adds_to_the_sums_of_its_name() -> None:
    """Its number is another one; it knows nothing of the time before its first sample."""

    class Reopened(FakeProber):
        def feeds(self, feed_id: int | None = None) -> list[Feed]:
            (first,) = super().feeds(feed_id)
            return [first if self.watermarks_s[0] < 13 else dataclasses.replace(first, id=2)]

    prober = Reopened(10, 12, 14, 15)
    monitor = Monitor(prober)
    for _ in range(3):
        views = monitor.step()
    assert [(view.joules, view.known_s, view.gap_s) for view in views] == [(8, 4, 0), (3, 3, 1)]
    assert [(a / SECOND, b / SECOND) for a, b in prober.asked] == [(10, 12), (12, 14)]


def test_the_monitor_goes_from_watermark_to_watermark() -> None:
    prober = FakeProber(10, 11.5, 11.5, 14, 15)
    monitor = Monitor(prober)
    assert [view.mean_w for view in monitor.step()] == [None, None]
    views = monitor.step()
    assert [view.mean_w for view in views] == [2, 1]
    assert total_w(views) == 3
    assert [view.mean_w for view in monitor.step()] == [None, None], "the feed has not come on"
    views = monitor.step()
    assert [(view.joules, view.gap_s) for view in views] == [(8, 0), (3, 1)]
    assert views[1].remark == "1.0 s unknown"
    views = monitor.step()
    assert [view.remark for view in views] == ["", "unknown"]
    assert total_w(views) is None, "nothing is added up that is not known"
    assert [(a / SECOND, b / SECOND) for a, b in prober.asked] == [
        (10, 11.5),
        (11.5, 14),
        (14, 15),
    ]


def test_the_monitor_shows_views_as_lines_and_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernel_feeds, "PowerLink", lambda: FakeProber(10, 10, 11, 12))
    assert run("monitor", "--interval", "50ms", "--count", "2") == 0
    text = capsys.readouterr().out
    assert "12V" in text
    assert "2.000" in text
    assert "total" in text
    monkeypatch.setattr(kernel_feeds, "PowerLink", lambda: FakeProber(10, 10, 11, 12))
    assert run("monitor", "--interval", "50ms", "--count", "2", "--json") == 0
    views = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [[rail["mean_w"] for rail in view] for view in views] == [[2, 1], [2, 1]]


def test_the_monitor_needs_a_feed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernel_feeds, "PowerLink", lambda: FakeProber(10))
    assert run("monitor", "--feed", "u6x") == ExitCode.USAGE
    assert "no open feed is called 'u6x'; did you mean 'u6'?" in capsys.readouterr().err
    assert run("monitor", "--interval", "1ms") == ExitCode.USAGE
    assert "--interval must be at least 50ms" in capsys.readouterr().err


def test_rails_of_the_prober_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernel_feeds, "PowerLink", lambda: FakeProber(10))
    assert run("rails") == 0
    text = capsys.readouterr().out
    for word in ("u6", "open", "12V", "5V", "1.500", "2.000"):
        assert word in text
    assert run("rails", "--json") == 0
    (feed,) = json.loads(capsys.readouterr().out)
    assert feed["state"] == "open"
    assert [rail["name"] for rail in feed["rails"]] == ["12V", "5V"]


def test_rails_of_a_file_are_listed(rails: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rails", rails) == 0
    text = capsys.readouterr().out
    assert "2.512345 V" in text
    assert "104.167 mV/A" in text
    assert run("rails", rails, "--json") == 0
    assert [rail["name"] for rail in json.loads(capsys.readouterr().out)] == ["12V", "5V"]


def test_names_of_rails_are_shown_as_they_are(
    rails: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rails.write_text(RAILS.replace('"12V"', '"[/x]"').replace('"5V"', '"[bold]"'))
    assert run("rails", rails) == 0
    text = capsys.readouterr().out
    assert "[/x]" in text and "[bold]" in text
