# SPDX-License-Identifier: GPL-2.0
"""Progress of consecutive runs: the time left in all, and messages that come once."""

from __future__ import annotations

import pytest
from lib.fakes.kernel import SECOND, START_NS

from spekctl.kernel.records import Phase, RunInfo, RunState
from spekctl.render import series
from spekctl.render.progress import LiveProgress
from spekctl.render.series import SeriesProgress
from spekctl.run.progress import Clock, clock_of

CLOCK = Clock(Phase.MEASURE, RunState.RUNNING, 4.0, 6.0, 0.4)


def test_the_time_left_counts_what_follows(capsys: pytest.CaptureFixture[str]) -> None:
    view = SeriesProgress("plain", "test of /dev/x")
    view.begin("ramp at 80 %, 8 BSU", 60, 3600)
    view.rest("idle test for 10m, nothing is sent", 600, 60)
    view.close()
    assert capsys.readouterr().err.splitlines() == [
        "spekctl: test of /dev/x: ramp at 80 %, 8 BSU, 1:01:00 left in all",
        "spekctl: test of /dev/x: idle test for 10m, nothing is sent, 11:00 left in all",
    ]


def test_what_every_run_repeats_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    view = SeriesProgress("plain", "test")
    for number in range(3):
        view.begin(f"point {number}", 1, 3 - number)
        view.note("no prober")
    view.close()
    err = capsys.readouterr().err
    assert err.count("no prober") == 1 and err.count("left in all") == 3


def test_a_user_who_wants_no_view_gets_messages_only(capsys: pytest.CaptureFixture[str]) -> None:
    view = SeriesProgress("none", "test")
    view.begin("point 1", 1, 1)
    view.tell("0 watts")
    view.show(CLOCK, [])
    view.note("no prober")
    view.close()
    assert capsys.readouterr().err == "spekctl: no prober\n"


def test_the_panel_has_the_time_of_the_run_or_the_expected_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    panels: list[str] = []

    class Panel(LiveProgress):
        def __init__(self, title: str) -> None:
            self.title = title

        def show(self, clock: object, news: object) -> None:
            panels.append(self.title)

        def close(self) -> None:
            pass

    monkeypatch.setattr(series, "choose", lambda mode, title: Panel(title))
    view = SeriesProgress("live", "test of /dev/x")
    view.begin("point 1 of 2", 10, 100)
    view.show(CLOCK, [])
    unknown = RunInfo(id=1, state=RunState.RUNNING, started_ns=START_NS, now_ns=START_NS + SECOND)
    view.show(clock_of(unknown), [])
    assert panels == [
        "point 1 of 2, 1:46 left in all: test of /dev/x",
        "point 1 of 2, 1:49 left in all: test of /dev/x",
    ]
