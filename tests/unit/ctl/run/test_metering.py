# SPDX-License-Identifier: GPL-2.0
"""Power as a collector of a run: asked for at every look, and put into the result."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from lib.core.railcore import Rail
from lib.ctl.results import plan
from lib.fakes.kernel import FakeKernel
from lib.fakes.metered import INFO, ROWS, FakeFeed, FakeLink, meter, rails

from spekctl.documents.power import NO_FEED
from spekctl.errors import UsageError
from spekctl.power.meter import PowerOptions
from spekctl.render.progress import LineProgress
from spekctl.run import job
from spekctl.run.collector import Claimed, Ended, Look, Sections
from spekctl.run.metering import PowerCollector
from spekctl.workload import file

rail = pytest.fixture(rails)


def armed(link: FakeLink, wish: PowerOptions | None = None) -> PowerCollector:
    collector = PowerCollector(meter(link, wish))
    wanted = plan()
    request = job.Request(file.load("random-read-4k"), wanted.config, ())
    view = LineProgress(quiet=True)
    assert collector.arm(Claimed(FakeKernel(), INFO, request, [], view, job.Interrupts())) == ""
    return collector


def test_power_of_each_interval_and_of_the_run(rail: Callable[..., Rail]) -> None:
    collector = armed(FakeLink([FakeFeed(1, "board", {"5V": rail(5.0)})]))
    assert collector.watts(ROWS[0]) is None
    for index, row in enumerate(ROWS):
        collector.take(Look(INFO, ROWS[: index + 1], [row]))
        assert collector.watts(row) == pytest.approx(5.0)
    sections = Sections()
    collector.conclude(Ended(plan(), INFO, ROWS, []), sections)
    assert sections.metered is not None and sections.metered.result is not None
    assert sections.metered.result.measure.total.joules == pytest.approx(20.0)


def test_a_run_without_feeds_says_so_in_its_section() -> None:
    sections = Sections()
    armed(FakeLink()).conclude(Ended(plan(), INFO, ROWS, []), sections)
    assert sections.metered is not None and sections.metered.text == NO_FEED


def test_a_feed_that_is_asked_for_and_missing_calls_the_run_off() -> None:
    with pytest.raises(UsageError, match="there is no open feed 'wall'"):
        armed(FakeLink(), PowerOptions(("wall",)))
