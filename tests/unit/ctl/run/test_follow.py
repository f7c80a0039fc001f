# SPDX-License-Identifier: GPL-2.0
"""Looks at a run until its end: what is shown, what is asked of the kernel, and what stops it."""

from __future__ import annotations

import signal

import pytest
from lib.ctl.verified import config_of
from lib.fakes.kernel import SECOND, FakeKernel

from spekctl.kernel.records import IntervalRow, RunState
from spekctl.run.collector import Collector, Look
from spekctl.run.follow import POLL_MIN_S, Follower, follow
from spekctl.run.job import Interrupts
from spekctl.run.progress import Clock, Figures, MachineFigures


class Shown:
    """A progress that remembers."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.figures: list[Figures] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def show(self, clock: Clock, news: list[Figures]) -> None:
        self.figures += news

    def close(self) -> None:
        pass


def followed(
    kernel: FakeKernel,
    view: Shown,
    *collectors: Collector,
    interrupts: Interrupts | None = None,
    owned: bool = True,
) -> Follower:
    kernel.run_new(config_of("random-write-4k", time_ns=3 * SECOND, interval_ns=SECOND))
    kernel.run_start(7)
    follower = Follower(kernel, 7, view, interrupts or Interrupts(), collectors, owned=owned)
    follow([follower])
    return follower


class Watts(Collector):
    """Knows the power of the odd intervals; 0 is one that is known."""

    def watts(self, row: IntervalRow) -> float | None:
        return float(row.seq - 1) if row.seq % 2 else None


class Idle(Collector):
    """Knows the machine, and power if nobody else does."""

    def machine(self, row: IntervalRow) -> MachineFigures | None:
        return MachineFigures(0, 0, 0, 1, None, None)

    def watts(self, row: IntervalRow) -> float | None:
        return 99.0


def test_collectors_give_the_figures_of_each_interval() -> None:
    view = Shown()
    follower = followed(FakeKernel(), view, Watts(), Idle())
    assert [figures.watts for figures in view.figures] == [99.0, 0.0, 99.0]
    assert all(figures.machine is not None for figures in view.figures)
    assert [row.seq for row in follower.rows] == [0, 1, 2]
    assert follower.info.state is RunState.DONE


def test_a_run_without_collectors_has_no_such_figures() -> None:
    view = Shown()
    followed(FakeKernel(), view)
    assert [(figures.watts, figures.machine) for figures in view.figures] == [(None, None)] * 3


class Sums(Collector):
    """Notes the looks at which it was given the sums."""

    def __init__(self, needs_cells: bool) -> None:
        self.needs_cells = needs_cells
        self.looks: list[tuple[int, bool]] = []

    def take(self, look: Look) -> None:
        self.looks.append((len(look.news), bool(look.cells)))


def test_sums_are_read_before_the_rows_and_only_if_needed_and_an_interval_has_ended() -> None:
    kernel, needs = FakeKernel(), Sums(True)
    followed(kernel, Shown(), Sums(False), needs)
    assert needs.looks == [(0, False), (1, True), (1, True), (1, True)]
    asked = [call for call in kernel.calls if call in ("stats", "intervals")]
    assert asked == ["stats", "intervals"] * 3
    kernel, spared = FakeKernel(), Sums(False)
    followed(kernel, Shown(), spared)
    assert "stats" not in kernel.calls
    assert spared.looks == [(0, False), (1, False), (1, False), (1, False)]


def test_a_trouble_is_told_once() -> None:
    class Lost(Collector):
        def trouble(self) -> str:
            return "lost"

    view = Shown()
    followed(FakeKernel(), view, Lost(), Lost())
    assert view.notes == ["lost", "lost"]


def test_a_reason_to_stop_is_told_and_stops_an_owned_run_once() -> None:
    class Enough(Collector):
        def stop_reason(self) -> str:
            return "enough"

    kernel, view = FakeKernel(), Shown()
    followed(kernel, view, Enough())
    assert view.notes == ["stopping: enough"]
    assert kernel.calls.count("run-stop") == 1


def test_an_interrupt_leaves_a_run_alone_that_is_only_watched() -> None:
    kernel, view, interrupts = FakeKernel(), Shown(), Interrupts()
    kernel.on_wait = lambda second: interrupts.interrupt(signal.SIGINT)
    follower = followed(kernel, view, interrupts=interrupts, owned=False)
    assert follower.info.state is RunState.RUNNING
    assert "run-stop" not in kernel.calls and not view.notes


def test_a_second_interrupt_ends_the_wait_for_a_device_that_does_not_answer() -> None:
    kernel, view, interrupts = FakeKernel(hangs=True), Shown(), Interrupts()
    kernel.on_wait = lambda second: interrupts.interrupt(signal.SIGINT)
    follower = followed(kernel, view, interrupts=interrupts)
    assert follower.info.state is RunState.DRAINING
    assert kernel.calls.count("run-stop") == 1
    assert view.notes[0].startswith("stopping; press Ctrl-C again")
    assert view.notes[1].startswith("leaving; 3 I/Os are still outstanding")


class Counted:
    """A run that is over at the nth look."""

    def __init__(self, looks: int, pause_s: float) -> None:
        self.looks = looks
        self.waits: list[float] = []
        self._pause_s = pause_s

    def step(self) -> bool:
        self.looks -= 1
        assert self.looks >= 0, "it was over"
        return not self.looks

    def pause_s(self) -> float:
        return self._pause_s

    def wait(self, timeout_s: float) -> None:
        self.waits.append(timeout_s)


def test_runs_are_stepped_in_turn_by_the_shortest_pause_of_those_left() -> None:
    short, long = Counted(2, 0.25), Counted(4, 1.0)
    follow([short, long])
    assert (short.looks, long.looks) == (0, 0)
    assert short.waits + long.waits == [0.25, 1.0, 1.0]


@pytest.mark.parametrize(
    ("interval_ns", "pause_s"),
    [(0, 1.0), (SECOND // 100, POLL_MIN_S), (SECOND // 2, 0.5), (60 * SECOND, 1.0)],
)
def test_a_look_is_taken_about_once_in_an_interval(interval_ns: int, pause_s: float) -> None:
    kernel = FakeKernel()
    kernel.run_new(config_of("random-write-4k", interval_ns=interval_ns))
    follower = Follower(kernel, 7, Shown(), Interrupts(), owned=True)
    follower.step()
    assert follower.pause_s() == pause_s
