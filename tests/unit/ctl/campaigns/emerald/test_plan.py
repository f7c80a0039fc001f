# SPDX-License-Identifier: GPL-2.0
"""What an Emerald-like test does next: a pure function of what is done."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.ctl import frozen

from spekctl.campaigns.emerald import figures as emerald
from spekctl.campaigns.emerald import report
from spekctl.campaigns.emerald.plan import (
    DEPTHS,
    LIMITS,
    MIXED_QUARTER,
    PHASES,
    STANDARD,
    Done,
    Step,
    best_trial,
    check,
    left_ns,
    next_step,
    trial_of,
)
from spekctl.documents.energy import EmeraldParameters, EmeraldPhase
from spekctl.documents.result_parts import Interval
from spekctl.errors import UsageError
from spekctl.kernel.records import IntervalCell, Phase

SECOND = 10**9


def parameters(**changes: Any) -> EmeraldParameters:
    usual = EmeraldParameters(
        durations=STANDARD,
        limits=LIMITS,
        phases=PHASES,
        depths=DEPTHS,
        workers=[1],
        seed=1,
        stripe_bytes=65536,
        backend="auto",
        data="random",
        raw_gigabytes="7300",
    )
    return msgspec.structs.replace(usual, **changes)


@dataclass(frozen=True)
class Device:
    """Work and watts at a depth; too slow from some depth on."""

    per_slot: float = 100.0
    most: float = 1500.0
    idle_w: float | None = 5.0
    watts_per_depth: float = 0.05
    slow_from: int = 10**9

    def done(self, step: Step) -> Done:
        depth = step.depth or 16
        work = step.rate or min(depth * self.per_slot * step.workers, self.most)
        watts = None
        if self.idle_w is not None:
            watts = str(Fraction(str(self.idle_w + self.watts_per_depth * depth)))
        figures = EmeraldPhase(
            name=step.phase,
            metric="",
            unit="",
            workers=step.workers,
            depth=step.depth,
            rate=step.rate,
            measured_ns=step.time_ns,
            work=str(Fraction(work)),
            watts=watts,
            value=None,
            response_ns=None,
            worst_response_ns=None,
            passed=depth < self.slow_from,
            text="",
            power=None,
            result_file=None,
        )
        return Done(step, figures)


def do_all(wanted: EmeraldParameters, device: Device = Device()) -> list[Done]:
    done: list[Done] = []
    while (step := next_step(wanted, done)) is not None:
        assert left_ns(wanted, done) >= step.ramp_ns + step.time_ns
        done.append(device.done(step))
        assert len(done) < 1000
    assert left_ns(wanted, done) == 0
    return done


def test_a_standard_test_has_all_its_steps() -> None:
    steps = [entry.step for entry in do_all(parameters())]
    assert [step.kind for step in steps[:3]] == ["prefill", "conditioning", "search"]
    assert steps[1].time_ns == 12 * 3600 * SECOND
    measured = [step for step in steps if step.kind in ("measure", "idle")]
    assert [step.phase for step in measured] == PHASES
    assert {step.time_ns for step in measured[:-1]} == {1800 * SECOND}
    assert {step.ramp_ns for step in measured[:-1]} == {660 * SECOND}
    assert measured[-1].time_ns == 7200 * SECOND


def test_the_quarter_has_a_quarter_of_the_rate() -> None:
    done = do_all(parameters())
    by_phase = {entry.step.phase: entry for entry in done if entry.step.kind == "measure"}
    quarter = by_phase[MIXED_QUARTER].step
    assert quarter.depth is None
    assert quarter.rate == pytest.approx(float(Fraction(by_phase["mixed"].figures.work)) / 4)


def searched(done: list[Done], phase: str = "random-read") -> list[int | None]:
    return [
        entry.step.depth
        for entry in done
        if entry.step.kind == "search" and entry.step.phase == phase
    ]


def chosen(done: list[Done], phase: str = "random-read") -> tuple[int, int | None]:
    (step,) = [
        entry.step for entry in done if entry.step.kind == "measure" and entry.step.phase == phase
    ]
    return step.workers, step.depth


def test_the_best_foot_is_the_most_work_per_watt() -> None:
    # 1500 I/Os per second are all from depth 15 on: more depth only costs.
    done = do_all(parameters(), Device())
    assert searched(done) == [1, 2, 4, 8, 16, 32, 64]
    assert chosen(done) == (1, 16)


def test_without_power_the_most_work_counts() -> None:
    done = do_all(parameters(), Device(most=1e9, idle_w=None))
    assert chosen(done) == (1, 256)
    assert chosen(do_all(parameters(), Device(idle_w=None))) == (1, 16)


def test_the_search_stops_where_it_gets_too_slow() -> None:
    done = do_all(parameters(), Device(most=1e9, slow_from=20))
    assert searched(done) == [1, 2, 4, 8, 16, 32]
    assert chosen(done) == (1, 16)


def test_where_nothing_keeps_the_limits_the_least_load_is_taken() -> None:
    done = do_all(parameters(), Device(slow_from=1))
    assert searched(done) == [1] and chosen(done) == (1, 1)


def test_workers_are_searched_too() -> None:
    wanted = parameters(workers=[1, 4], depths=[1, 2, 4])
    done = do_all(wanted, Device(watts_per_depth=0.0))
    assert chosen(done) == (4, 4)
    tried = [
        (entry.step.workers, entry.step.depth) for entry in done if entry.step.phase == "hot-band"
    ]
    assert tried[:6] == [(1, 1), (1, 2), (1, 4), (4, 1), (4, 2), (4, 4)]


def test_the_quarter_has_the_options_of_the_mixed_phase() -> None:
    done = do_all(parameters(depths=[4], search=["batch=1,8"]))
    steps = {entry.step.phase: entry.step for entry in done if entry.step.kind == "measure"}
    assert steps[MIXED_QUARTER].options == steps["mixed"].options == {"batch": "1"}


def test_depths_are_tried_for_each_combination_of_workers_and_options() -> None:
    done = do_all(parameters(depths=[1, 2], workers=[1, 4], search=["batch=1,8"]))
    names = [entry.step.name for entry in done if entry.step.phase == "hot-band"]
    assert names[:-1] == [
        f"hot-band-search-{workers}x{depth}-batch={batch}"
        for batch in (1, 8)
        for workers in (1, 4)
        for depth in (1, 2)
    ]


def test_one_combination_needs_no_search() -> None:
    done = do_all(parameters(depths=[8]))
    assert searched(done) == [] and chosen(done) == (1, 8)


@settings(max_examples=100, deadline=None)
@given(
    depths=st.lists(st.integers(1, 512), min_size=2, max_size=9, unique=True),
    most=st.floats(50, 1e6),
    watts=st.floats(0, 2),
    slow=st.integers(1, 600),
)
def test_the_choice_is_the_best_that_was_tried(
    depths: list[int], most: float, watts: float, slow: int
) -> None:
    wanted = parameters(depths=depths)
    device = Device(most=most, watts_per_depth=round(watts, 3), slow_from=slow)
    done = do_all(wanted, device)
    trials = [trial_of(entry) for entry in done if entry.step.kind == "search"]
    trials = [trial for trial in trials if trial.phase == "random-read"]
    allowed = [trial for trial in trials if trial.allowed]
    workers, depth, _ = best_trial(wanted, trials)
    assert chosen(done) == (workers, depth)
    if allowed:
        best = max(Fraction(trial.work) / Fraction(trial.watts or 1) for trial in allowed)
        mine = next(trial for trial in allowed if trial.depth == depth)
        assert Fraction(mine.work) / Fraction(mine.watts or 1) == best
    else:
        assert depth == min(depths)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"phases": ["mixed-25", "mixed"]}, "mixed-25 has a quarter of the rate of mixed, which"),
        (
            {"durations": msgspec.structs.replace(STANDARD, search_ns=0)},
            "--search-time 0 leaves no time to choose among 9 combinations",
        ),
    ],
)
def test_plans_that_cannot_be(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        check(parameters(**changes))


def row(start_s: float, ios: int, mean_ms: float, held: int = 0) -> Interval:
    zero = IntervalCell(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    cell = msgspec.structs.replace(zero, ios=ios, response_sum_ns=round(ios * mean_ms * 1e6))
    start_ns = round(start_s * 1e9)
    return Interval(0, Phase.MEASURE, start_ns, start_ns + SECOND, held, 0, 0, 0, cell, zero, [])


def test_the_worst_window_is_a_mean_over_its_ios() -> None:
    rows = [row(100, 10, 1), row(101, 30, 5), row(102, 1, 100), row(103, 99, 1)]

    def worst(rows: list[Interval], window_ns: int) -> float | None:
        window = report.worst_window(rows, window_ns)
        return window.mean_ns if window is not None else None

    assert worst(rows, SECOND) == pytest.approx(100e6)
    assert worst(rows, 2 * SECOND) == pytest.approx(4e6)
    assert worst(rows, 60 * SECOND) == pytest.approx((10 + 150 + 100 + 99) / 140 * 1e6)
    assert worst([], SECOND) is None and worst([row(1, 0, 0)], SECOND) is None


def test_a_window_in_which_nothing_completes_is_waited_for() -> None:
    """What does complete after it has its own window."""
    silent = [row(second, 0, 0, held=8) for second in range(2, 6)]
    worst = report.worst_window([row(0, 9, 5, 8), row(1, 9, 5, 8), *silent], 2 * SECOND)
    assert worst == report.Worst(2e9, "I/Os were outstanding and none completed in it")
    # Four were there from its start, and four came at its end.
    rows = [row(0, 9, 5, 4), row(1, 9, 5, 4), row(2, 0, 0, 4), row(3, 0, 0, 8)]
    worst = report.worst_window(rows, 2 * SECOND)
    assert worst is not None and worst.mean_ns == 1e9
    # Nothing was asked of the device.
    idle = report.worst_window([row(0, 9, 5), row(1, 9, 5), row(2, 0, 0), row(3, 0, 0)], 2 * SECOND)
    assert idle == report.Worst(5e6)


def phase_of(ages: list[int], silent: int, ios: int = 54_000) -> EmeraldPhase:
    step = Step("measure", "random-read", 1, 8, None, SECOND, 1800 * SECOND)
    contents = frozen.result(ages, ios=ios, seconds=1800, silent=silent)
    return report.phase_of_run(step, contents, LIMITS, None)


def test_a_device_that_stops_to_answer_misses_the_limit_of_windows() -> None:
    """What completed was fast, so the mean of the phase does not show it."""
    stuck = phase_of([600 * SECOND] * 8, silent=600)
    assert not stuck.passed
    assert stuck.text == (
        "mean response time is at least 93.9 ms, above 20.0 ms: 8 I/Os had not been answered for"
        " up to 600 s when the measurement ended"
    )
    assert stuck.response_ns == 5e6 and stuck.worst_response_ns == 600e9
    many = phase_of([30 * SECOND] * 8, silent=30)
    assert many.text == (
        "mean response time of a window, at least 265 ms, is above 80.0 ms: 8 I/Os had not been"
        " answered for up to 30.0 s when the measurement ended"
    )


def test_the_last_window_is_no_slower_for_young_ios_in_flight() -> None:
    fine = phase_of([4 * frozen.MS] * 8, silent=0)
    assert fine.passed and fine.worst_response_ns == 5e6


def test_every_phase_has_a_metric() -> None:
    assert {kind.phase for kind in emerald.KINDS} == set(PHASES)
    assert len({kind.name for kind in emerald.KINDS}) == len(PHASES)
