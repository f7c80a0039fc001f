# SPDX-License-Identifier: GPL-2.0
"""The table of hosts and their sum: stages, who is late, and nothing added that does not add up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lib.fakes.fleet_rig import plan_of

from spekctl.fleet import plan
from spekctl.fleet.board import GAP_S, Board, Seen, sum_of
from spekctl.fleet.clock import Bound
from spekctl.fleet.clocks import Skew
from spekctl.fleet.protocol import HostNews, Hosts
from spekctl.host.protocol import Note, Rows
from spekctl.kernel.records import Phase, RunState
from spekctl.run.beside import Stage
from spekctl.run.progress import Clock, DirectionFigures, Figures

NOW = Clock(Phase.MEASURE, RunState.RUNNING, 1.0, 9.0, 0.1)


def figures(at_s: float, iops: float = 100.0, p99_ns: int = 2000) -> Figures:
    read = DirectionFigures(int(iops), iops, iops / 256, 1000, p99_ns, 3000)
    write = DirectionFigures(0, 0.0, 0.0, 0, 0, 0)
    return Figures(at_s, Phase.MEASURE, read, write, 4, 1, 0, 0.5, None, None, 7.5, (iops,))


class Rig:
    def __init__(self, *names: str) -> None:
        self.now_s = 0.0
        self.told: list[Any] = []
        target = '[[host]]\nname = "t"\nrole = "target"\n'
        hosts = plan.parse(plan_of(names) + target).hosts
        self.board = Board(hosts, self.told.append, self.seen, lambda: self.now_s)

    def seen(self, name: str) -> Seen:
        return Seen([f"/dev/{name}", "/dev/z"], Skew(-7, 3), Bound(5000, "chrony"))

    def table(self) -> dict[str, HostNews]:
        self.board.tell(at_once=True)
        return {news.name: news for news in self.told[-1].hosts}

    def sums(self) -> list[Figures]:
        return [row for event in self.told if isinstance(event, Rows) for row in event.rows]


def test_a_host_is_seen_from_its_wait_to_its_end() -> None:
    rig = Rig("a", "b")
    assert {name: news.stage for name, news in rig.table().items()} == dict.fromkeys(
        ["a", "b", "t"], "awaited"
    )
    for stage in (Stage.JOINED, Stage.CHECKED, Stage.CLAIMED, Stage.ARMED):
        rig.board.reach("a", stage)
        assert rig.table()["a"].stage == stage
    checked = rig.table()["a"]
    assert (checked.text, checked.off_ns, checked.off_bound_ns) == ("/dev/a /dev/z", -7, 3)
    assert (checked.bound_ns, checked.clock) == (5000, "chrony")
    rig.board.show("a", NOW, [figures(1.0)])
    running = rig.table()["a"]
    assert (running.stage, running.at_s, running.iops) == ("running", 1.0, 100.0)
    assert (running.p50_ns, running.p99_ns, running.max_ns) == (1000, 2000, 3000)
    rig.board.reach("a", Stage.LOST, "it has been silent for 10 s")
    assert (rig.table()["a"].stage, rig.table()["a"].text) == (
        "lost",
        "it has been silent for 10 s",
    )
    rig.board.finish({"b": -900, "stranger": 1})
    assert rig.table()["b"].skew_ns == -900


def test_a_loss_is_told_at_once_and_all_else_now_and_then() -> None:
    rig = Rig("a")
    rig.board.tell()
    for at_s in range(5):
        rig.board.show("a", NOW, [figures(at_s + 1.0)])
    assert sum(isinstance(event, Hosts) for event in rig.told) == 1
    rig.now_s += 2 * GAP_S
    rig.board.show("a", NOW, [figures(9.0)])
    assert sum(isinstance(event, Hosts) for event in rig.told) == 2
    rig.board.reach("a", Stage.LOST, "gone")
    assert rig.told[-1].hosts[0].stage == "lost"


def test_the_sum_waits_for_all_but_who_is_late() -> None:
    rig = Rig("a", "b")
    rig.board.show("a", NOW, [figures(1.0)])
    assert rig.sums() == []
    rig.board.show("b", NOW, [figures(1.0, 50.0, 9000)])
    (total,) = rig.sums()
    assert (total.at_s, total.iops, total.read.p99_ns, total.outstanding) == (1.0, 150.0, 9000, 8)
    rig.board.show("a", NOW, [figures(9.0)])
    assert rig.table()["b"].stage == "late" and rig.sums()[-1].iops == 100.0
    rig.board.show("t", NOW, [figures(9.0)])
    assert rig.table()["t"].at_s is None


def test_a_moment_is_summed_once() -> None:
    rig = Rig("a", "b")
    for at_s in (1.0, 1.1, 1.2, 2.0):
        for name in "ab":
            rig.board.show(name, NOW, [figures(at_s)])
    assert [total.at_s for total in rig.sums()] == [1.0, 2.0]


def test_what_only_one_of_them_has_is_not_summed() -> None:
    whole = sum_of({"a": figures(1.0), "b": figures(1.0)}, 1.0)
    assert whole is not None and (whole.watts, whole.streams, whole.worker_cpu) == (15, (200,), 0.5)
    part = sum_of({"a": figures(1.0), "b": replace(figures(1.0), watts=None, streams=())}, 1.0)
    assert part is not None and (part.watts, part.streams) == (None, ())
    assert sum_of({}, 1.0) is None


def test_the_wait_for_the_word_is_told_when_it_changes() -> None:
    rig = Rig("a")
    rig.board.note("a remark")
    for holds in (False, True, True, False):
        rig.board.hold(holds)
    assert rig.told[0] == Note("a remark")
    assert [event.holds for event in rig.told[1:]] == [True, False]
