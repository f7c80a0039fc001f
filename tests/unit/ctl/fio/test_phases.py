# SPDX-License-Identifier: GPL-2.0
"""Jobs of different times as phases."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.fio_jobs import HEAD

from spekctl import units
from spekctl.errors import UsageError
from spekctl.fio import convert
from spekctl.fio.phases import PHASES, RAMPS, TIMED, WITHIN, cut, in_phases
from spekctl.fio.plan import Plan

SECOND = 10**9


def job(start: int, length: int | None, ramp: int = 0, exits: str = "", group: int = 0) -> Plan:
    run = {} if length is None else {"time": f"{length}s"}
    run |= {"ramp": f"{ramp}s"} if ramp else {}
    return Plan(run=dict(run), delay_ns=start * SECOND, exits=exits, group=group)


def seconds(text: str | None) -> int:
    return units.parse_duration_ns(text) // SECOND if text else 0


def shown(plans: list[Plan]) -> list[tuple[list[int], int, int, int]]:
    """Jobs, pause before them, ramp-up and time of each phase, in seconds."""
    phases = []
    for phase in in_phases(plans):
        (values,) = {(plan.delay_ns, plan.run.get("ramp"), plan.run["time"]) for _, plan in phase}
        places = [place for place, _ in phase]
        phases.append((places, values[0] // SECOND, seconds(values[1]), seconds(values[2])))
    return phases


@pytest.mark.parametrize(
    ("plans", "phases"),
    [
        ([job(0, 5), job(0, 5)], [([0, 1], 0, 0, 5)]),
        ([job(3, 5, 1), job(3, 5, 1)], [([0, 1], 3, 1, 5)]),
        ([job(0, 5), job(0, 8)], [([0, 1], 0, 0, 5), ([1], 0, 0, 3)]),
        ([job(0, 10), job(4, 2)], [([0], 0, 0, 4), ([0, 1], 0, 0, 2), ([0], 0, 0, 4)]),
        ([job(1, 5), job(6, 5)], [([0], 1, 0, 5), ([1], 0, 0, 5)]),
        ([job(0, 5), job(8, 5)], [([0], 0, 0, 5), ([1], 3, 0, 5)]),
        # fio adds the ramp-up to the runtime, and jobs that go on have theirs behind them.
        ([job(0, 5, 2), job(0, 8, 2)], [([0, 1], 0, 2, 5), ([1], 0, 0, 3)]),
        ([job(0, 5, exits="group"), job(0, 8, exits="group")], [([0, 1], 0, 0, 5)]),
        (
            [job(0, 5, exits="group"), job(0, 8, exits="group", group=1)],
            [([0, 1], 0, 0, 5), ([1], 0, 0, 3)],
        ),
        (
            [job(0, 5, exits="all"), job(2, 8, exits="group", group=1)],
            [([0], 0, 0, 2), ([0, 1], 0, 0, 3)],
        ),
    ],
)
def test_a_phase_has_the_jobs_that_run_in_it(
    plans: list[Plan], phases: list[tuple[list[int], int, int, int]]
) -> None:
    assert shown(plans) == phases


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=5))
def test_each_job_runs_as_long_as_it_should_and_when(spans: list[tuple[int, int]]) -> None:
    clock = 0
    seen: dict[int, set[int]] = {}
    for places, pause, ramp, length in shown([job(*span) for span in spans]):
        clock += pause
        for place in places:
            seen.setdefault(place, set()).update(range(clock, clock + length))
        assert not ramp
        clock += length
    assert seen == {
        place: set(range(start, start + length)) for place, (start, length) in enumerate(spans)
    }


def test_jobs_that_end_by_their_size_end_with_the_last_of_the_others() -> None:
    (phase,) = in_phases([job(0, 5), job(0, None)])
    assert [(plan.run["time"], TIMED in plan.differences) for _, plan in phase] == [
        *(("5s", False), ("5s", True)),
    ]
    assert all(PHASES not in plan.differences for _, plan in phase)
    assert shown([job(0, 5), job(2, None)]) == [([0], 0, 0, 2), ([0, 1], 0, 0, 3)]
    with pytest.raises(UsageError, match="startdelay: a job that ends by its size starts when all"):
        in_phases([job(0, 5), job(5, None)])


def test_the_longest_ramp_is_that_of_all() -> None:
    assert shown([job(0, 5, 1), job(0, 6)]) == [([0, 1], 0, 1, 5)]
    (phase,) = in_phases([job(0, None, 1), job(0, None)])
    assert [plan.run for _, plan in phase] == [{"ramp": "1s"}] * 2
    assert all(RAMPS in plan.differences for _, plan in phase)


def test_a_job_that_another_ends_before_its_start_is_refused() -> None:
    with pytest.raises(UsageError, match="exitall: it ends a job before its startdelay"):
        in_phases([job(0, 5, exits="group"), job(6, 8, exits="group")])
    # With stonewall only those that run are ended.
    assert len(in_phases([job(0, 5, exits="stonewall"), job(6, 8, exits="group")])) == 2


def test_jobs_apart_end_with_the_one_that_ends_them() -> None:
    plans = [job(0, 5, exits="group"), job(1, 8, 2, exits="group")]
    cut(plans)
    assert [plan.run["time"] for plan in plans] == ["5s", "2s"]
    for untouched in ([job(0, 5), job(0, 8)], [job(0, 5, exits="all"), job(0, None, exits="all")]):
        before = [dict(plan.run) for plan in untouched]
        cut(untouched)
        assert [plan.run for plan in untouched] == before
    with pytest.raises(UsageError, match="exitall: it ends a job before the job measures"):
        cut([job(0, 5, exits="all"), job(0, 8, 5, exits="all")])


def test_jobs_that_end_by_their_size_are_left_as_they_are() -> None:
    plans = [job(0, None), job(3, None)]
    (phase,) = in_phases(plans)
    assert [plan for _, plan in phase] == plans


def test_a_ramp_goes_on_when_another_job_starts() -> None:
    plans = [job(0, 9, 5), job(3, 9, 5)]
    assert shown(plans) == [([0], 0, 0, 3), ([0, 1], 0, 5, 6), ([1], 0, 0, 3)]
    first, *others = in_phases(plans)
    assert WITHIN in first[0][1].differences
    # A job says so in its later phases as well: its result has steps of both kinds.
    assert [WITHIN in plan.differences for _, plan in others[0]] == [True, False]
    longer = [job(0, 9, 5), job(3, 9, 1)]
    assert shown(longer) == [([0], 0, 0, 3), ([0, 1], 0, 2, 8), ([0], 0, 0, 1)]


def test_phases_are_steps(tmp_path: Path) -> None:
    text = HEAD + "rw=randread\nruntime=5\n[k]\ndirect=1\nruntime=9\nstartdelay=2\n"
    (tmp_path / "job.fio").write_text(text)
    steps = convert.load_steps(tmp_path / "job.fio")
    assert [
        ([stream.name for stream in step.workload.stream], step.workload.run.time) for step in steps
    ] == [(["j"], "2s"), (["j", "k"], "3s"), (["k"], "6s")]
    assert all(PHASES in step.differences and not step.beside for step in steps)
