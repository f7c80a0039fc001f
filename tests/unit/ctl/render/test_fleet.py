# SPDX-License-Identifier: GPL-2.0
"""Progress of a fleet: all hosts at one moment, who is late, who is gone."""

from __future__ import annotations

import io

from spekctl.kernel.records import Phase, RunState
from spekctl.render.fleet import FleetProgress
from spekctl.run.beside import Stage
from spekctl.run.progress import Clock, DirectionFigures, Figures

NOW = Clock(Phase.MEASURE, RunState.RUNNING, 1.0, 9.0, 0.1)


def figures(at_s: float, iops: float = 1000.0, errors: int = 0) -> Figures:
    read = DirectionFigures(int(iops), iops, iops / 256, 100_000, 200_000, 300_000)
    none = DirectionFigures(0, 0.0, 0.0, 0, 0, 0)
    return Figures(at_s, Phase.MEASURE, read, none, 4, 0, errors, 0.5, None, None)


def lines_of(*told: tuple[str, float], hosts: str = "ab", gap_s: float = 0.0) -> list[str]:
    stream = io.StringIO()
    view = FleetProgress(list(hosts), stream, gap_s)
    for host, at_s in told:
        view.show(host, NOW, [figures(at_s)])
    view.close()
    return stream.getvalue().splitlines()


def test_a_moment_is_shown_once_all_have_told_of_it() -> None:
    assert lines_of(("a", 1.0)) == []
    (line,) = lines_of(("a", 1.0), ("b", 1.0))
    assert line == "  0:01 2 of 2 hosts  2,000 IOPS  7.8 MiB/s  a 1,000  b 1,000"


def test_who_is_late_is_named() -> None:
    *_, line = lines_of(("a", 1.0), ("b", 1.0), ("a", 9.0))
    assert line.startswith("  0:09 1 of 2 hosts  1,000 IOPS") and line.endswith("LATE b")


def test_who_is_gone_is_named_and_not_waited_for() -> None:
    stream = io.StringIO()
    view = FleetProgress(["a", "b"], stream, 0.0)
    view.reach("b", Stage.LOST, "it is silent")
    view.show("a", NOW, [figures(2.0, errors=3)])
    view.show("stranger", NOW, [figures(3.0)])
    view.show("a", NOW, [])
    (line,) = stream.getvalue().splitlines()
    assert "1 of 2 hosts" in line and line.endswith("ERRORS 3  gone b")


def test_lines_keep_their_distance_and_a_quiet_view_has_none() -> None:
    assert len(lines_of(*(("a", float(at_s)) for at_s in range(1, 11)), hosts="a", gap_s=5.0)) == 2
    stream = io.StringIO()
    view = FleetProgress(["a"], stream, 0.0, quiet=True)
    view.show("a", NOW, [figures(1.0)])
    view.note("armed")
    assert stream.getvalue() == "spekctl: armed\n"


def test_of_many_hosts_the_first_are_named() -> None:
    hosts = "abcdefghij"
    *_, line = lines_of(*((host, 1.0) for host in hosts), hosts=hosts)
    assert "10 of 10 hosts  10,000 IOPS" in line and line.endswith("h 1,000  and 2 more")


def test_a_fleet_of_one_is_shown_as_a_run() -> None:
    (line,) = lines_of(("a", 1.0), hosts="a")
    assert "measure" in line and "p99" in line
