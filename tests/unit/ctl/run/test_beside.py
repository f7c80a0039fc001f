# SPDX-License-Identifier: GPL-2.0
"""All hosts at one time: who is together, who is late, who is gone."""

from __future__ import annotations

from spekctl.kernel.records import Phase
from spekctl.run.beside import LATE_S, Beside
from spekctl.run.progress import DirectionFigures, Figures

NONE = DirectionFigures(0, 0.0, 0.0, 0, 0, 0)


def figures(at_s: float) -> Figures:
    return Figures(at_s, Phase.MEASURE, NONE, NONE, 0, 0, 0, None, None, None)


def told(hosts: str, **at_s: float) -> Beside:
    beside = Beside(list(hosts))
    for name, time_s in at_s.items():
        beside.take(name, figures(time_s))
    return beside


def test_a_time_is_whole_once_all_have_told_of_it() -> None:
    assert not told("ab", a=1.0).is_whole(1.0)
    beside = told("ab", a=1.0, b=0.9)
    assert beside.is_whole(1.0) and list(beside.together(1.0)) == ["a", "b"]
    assert not told("ab", a=2.0, b=1.0).is_whole(2.0)


def test_who_is_late_is_not_waited_for_and_not_counted() -> None:
    beside = told("abc", a=9.0, b=9.0 - LATE_S, c=8.9 - LATE_S)
    assert beside.late(9.0) == ["c"] and not beside.is_whole(9.0)
    beside.take("b", figures(9.0))
    assert beside.is_whole(9.0) and list(beside.together(9.0)) == ["a", "b"]


def test_who_never_told_is_late_by_the_time_since_the_start() -> None:
    assert told("ab", a=LATE_S).late(LATE_S) == []
    assert told("ab", a=LATE_S + 1).late(LATE_S + 1) == ["b"]


def test_who_has_left_counts_no_more() -> None:
    beside = told("ab", a=5.0, b=5.0)
    beside.leave("b")
    beside.leave("a target, which sends nothing")
    assert beside.gone == ["b"] and beside.late(99.0) == ["a"]
    assert beside.is_whole(5.0) and list(beside.together(5.0)) == ["a"]
    assert len(beside) == 2 and "b" in beside and beside.newest("b") == figures(5.0)
