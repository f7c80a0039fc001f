# SPDX-License-Identifier: GPL-2.0
"""The method's plan, a pure function of what is done, on queues with a closed form."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.ctl.spc1_steps import PER_BSU, phase
from lib.fakes.queue_kernel import mean_response_s

from spekctl.campaigns.search import Bracket
from spekctl.campaigns.spc1 import plan
from spekctl.campaigns.spc1.plan import PLAN, left_ns, next_step, position_of
from spekctl.documents.spc1 import (
    QUICK,
    STANDARD,
    Durations,
    Limits,
    Parameters,
    Phase,
    Shape,
    Step,
)
from spekctl.errors import SpekError

SECOND = 10**9
LIMIT_S = 0.030

SHAPE = Shape(
    seed=1,
    cpus=[0],
    stripe_bytes=65536,
    hrrw="classic",
    iops_per_bsu=None,
    backend="auto",
    polled=False,
    max_outstanding=None,
    batch=None,
    spin_ns=0,
    data=None,
)


def parameters(
    start: int = 1, most: int = 60_000, lengths: Durations = STANDARD, **changes: Any
) -> Parameters:
    return Parameters(
        durations=msgspec.structs.replace(lengths, **changes),
        limits=Limits(),
        shape=SHAPE,
        start_bsu=start,
        max_bsu=most,
    )


Response = Callable[[Step], float]


def queue(capacity: float) -> Response:
    """Mean response time in s of one queue that completes @capacity I/Os per second."""
    return lambda step: mean_response_s(
        step.bsu * PER_BSU, capacity, (step.ramp_ns + step.time_ns) / 1e9
    )


def carry_out(
    wanted: Parameters,
    done: list[Phase],
    measure: Callable[[Step], Phase | None],
    keep_going: bool = False,
) -> bool:
    """What the engine makes of the plan; False if @measure gives up."""
    while (step := next_step(wanted, done, keep_going)) is not None:
        measured = measure(step)
        if measured is None:
            return False
        done.append(measured)
    return True


def do_all(
    wanted: Parameters, response: Response, done: list[Phase] | None = None, **options: Any
) -> list[Phase]:
    phases = [] if done is None else done
    assert carry_out(wanted, phases, lambda step: phase(step, response(step)), **options)
    return phases


def searched(done: list[Phase]) -> list[int]:
    return [phase.step.bsu for phase in done if phase.step.kind == "search"]


def after_search(done: list[Phase]) -> list[tuple[str, int]]:
    return [(phase.step.name, phase.step.bsu) for phase in done if phase.step.kind != "search"]


def true_level(wanted: Parameters, response: Response) -> int:
    """The highest load that keeps the limit, by looking at each power of two from above."""
    level = 0
    for power in reversed(range(20)):
        bsu = level + (1 << power)
        step = Step("search", "", 100, bsu, wanted.durations.ramp_ns, wanted.durations.search_ns)
        if bsu <= wanted.max_bsu and response(step) <= LIMIT_S:
            level = bsu
    return level


@given(
    capacity=st.floats(90, 2e6),
    start=st.integers(1, 5000),
    most=st.integers(5000, 60_000),
)
@settings(max_examples=300, deadline=None)
def test_the_search_finds_the_highest_load_that_keeps_the_limit(
    capacity: float, start: int, most: int
) -> None:
    wanted = parameters(start, most)
    done = do_all(wanted, queue(capacity))
    level = position_of(wanted, done, False).sustained
    assert level == true_level(wanted, queue(capacity))
    # Where the queue has the time to become stationary that is 1 / (m - a) <= limit.
    if capacity < 20_000:
        assert level == math.floor((capacity - 1 / LIMIT_S) / PER_BSU)
    tried = searched(done)
    assert len(tried) == len(set(tried))
    assert len(tried) <= 2 * math.log2(most) + 3


def test_the_search_doubles_and_then_halves() -> None:
    # 1 / (m - a) = 30 ms at 22.6 BSU.
    assert searched(do_all(parameters(), queue(1163.3))) == [1, 2, 4, 8, 16, 32, 24, 20, 22, 23]
    assert searched(do_all(parameters(start=20), queue(1163.3))) == [20, 40, 30, 25, 22, 23]
    assert searched(do_all(parameters(start=100), queue(1163.3)))[:4] == [100, 50, 25, 12]


@pytest.mark.parametrize("percent", [1, 2, 5, 10])
@pytest.mark.parametrize("capacity", [400, 12_345, 876_543])
def test_the_search_is_as_exact_as_wanted(percent: float, capacity: float) -> None:
    wanted = parameters(resolution_percent=percent)
    done = do_all(wanted, queue(capacity))
    bracket = position_of(wanted, done, False).bracket
    assert bracket.bad is not None
    assert bracket.good <= true_level(wanted, queue(capacity)) < bracket.bad
    assert bracket.bad - bracket.good <= max(1, bracket.good * percent / 100)


@pytest.mark.parametrize("seed", range(20))
def test_a_noisy_device_gets_a_level_that_its_noise_allows(seed: int) -> None:
    """Each measurement is off by up to a quarter; so is the limit that the level keeps."""
    noise = random.Random(seed)
    exact = queue(1163.3)
    wanted = parameters()
    done = do_all(wanted, lambda step: exact(step) * noise.uniform(0.8, 1.25), keep_going=True)
    position = position_of(wanted, done, True)
    assert position.sustained is not None and position.bracket.bad is not None
    assert 1 / (1163.3 - position.sustained * PER_BSU) <= LIMIT_S / 0.8
    assert position.bracket.bad * PER_BSU >= 1163.3 - 1.25 / LIMIT_S
    assert len(position.final) == len(PLAN)


def test_a_device_that_serves_nothing_in_time_has_no_level() -> None:
    wanted = parameters(start=8)
    done = do_all(wanted, lambda step: 0.5)
    assert searched(done) == [8, 4, 2, 1] and len(done) == 4
    position = position_of(wanted, done, False)
    assert position.level is None
    assert position.stopped == (
        "the device cannot sustain even 1 BSU: mean response time 500 ms is above 30.0 ms"
    )


def test_a_device_that_is_faster_than_the_search_may_go_has_the_highest_level() -> None:
    wanted = parameters(most=1000)
    done = do_all(wanted, lambda step: 1e-4)
    assert searched(done) == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000]
    assert position_of(wanted, done, False).level == 1000
    assert len(done) == 11 + len(PLAN)


def test_the_phases_follow_in_their_order_with_their_loads_and_lengths() -> None:
    done = do_all(parameters(), queue(1163.3))
    assert after_search(done) == [
        ("sustain", 22),
        ("iops", 22),
        ("ramp-95", 20),
        ("ramp-90", 19),
        ("ramp-80", 17),
        ("ramp-50", 11),
        ("ramp-10", 2),
        ("repeat-1-10", 2),
        ("repeat-1-100", 22),
        ("repeat-2-10", 2),
        ("repeat-2-100", 22),
    ]
    minutes = {phase.step.name: phase.step.time_ns // (60 * SECOND) for phase in done}
    assert minutes["sustain"] == 480
    assert {minutes[item.name] for item in PLAN if item.name != "sustain"} == {10}
    assert {phase.step.ramp_ns for phase in done} == {180 * SECOND}


def test_no_phase_has_less_than_1_bsu() -> None:
    done = do_all(parameters(), queue(90 + 1 / LIMIT_S))
    assert {bsu for _, bsu in after_search(done)} == {1}


def test_each_length_is_a_parameter_of_its_own() -> None:
    wanted = parameters(
        sustain_ns=7 * SECOND,
        iops_ns=5 * SECOND,
        phase_ns=3 * SECOND,
        ramp_ns=2 * SECOND,
        search_ns=1 * SECOND,
    )
    lengths = {
        phase.step.name: phase.step.time_ns // SECOND for phase in do_all(wanted, queue(1163.3))
    }
    assert lengths["search-32"] == 1
    assert (lengths["sustain"], lengths["iops"], lengths["ramp-50"]) == (7, 5, 3)
    assert (lengths["repeat-1-10"], lengths["repeat-2-100"]) == (3, 5)


def test_brackets_only_narrow() -> None:
    """Every point of a search lies inside the bracket of those before it."""
    for capacity in (200, 3_333, 77_777):
        done = do_all(parameters(start=7), queue(capacity))
        search = [phase for phase in done if phase.step.kind == "search"]
        brackets = [plan.bracket_of(search[:count]) for count in range(len(search) + 1)]
        for (before, after), searched_phase in zip(pairwise(brackets), search, strict=True):
            assert before.good < searched_phase.step.bsu
            assert before.bad is None or searched_phase.step.bsu < before.bad
            assert after != before
        level = true_level(parameters(), queue(capacity))
        assert brackets[-1] == Bracket(level, level + 1)


# --- a level that does not last ------------------------------------------------------------------


def worse_in(kinds: set[str], until_bsu: int, exact: Response) -> Response:
    """The device gets slow in phases of these kinds, unless the load is low."""

    def response(step: Step) -> float:
        slow = step.kind in kinds and step.bsu > until_bsu
        return 0.040 if slow else exact(step)

    return response


def test_the_level_is_lowered_until_the_sustained_run_keeps_the_limit() -> None:
    wanted = parameters()
    done = do_all(wanted, worse_in({"sustain"}, 90, queue(5_100)))
    names = after_search(done)
    # 5 % of 101, rounded up, and then 5 % of 95.
    assert names[:4] == [
        ("sustain", 101),
        ("sustain-again-1", 95),
        ("sustain-again-2", 90),
        ("iops-again-2", 90),
    ]
    position = position_of(wanted, done, False)
    assert (position.sustained, position.level, position.lowered) == (101, 90, 2)
    assert [phase.step.bsu for phase in position.final[2:4]] == [85, 81]
    assert len(position.final) == len(PLAN) and not position.stopped


def test_the_iops_phase_can_lower_the_level_too_and_the_sustained_run_is_done_again() -> None:
    done = do_all(parameters(), worse_in({"iops"}, 96, queue(5_100)))
    assert after_search(done)[:4] == [
        ("sustain", 101),
        ("iops", 101),
        ("sustain-again-1", 95),
        ("iops-again-1", 95),
    ]


def test_lowering_ends() -> None:
    wanted = parameters()
    done = do_all(wanted, worse_in({"sustain"}, 0, queue(50_000)))
    assert len(after_search(done)) == 1 + Limits().lowered_at_most
    assert position_of(wanted, done, False).stopped.startswith("sustain-again-10: mean response")
    done = do_all(wanted, worse_in({"sustain"}, 0, queue(200)))
    assert after_search(done) == [("sustain", 3), ("sustain-again-1", 2), ("sustain-again-2", 1)]
    stopped = position_of(wanted, done, False).stopped
    assert stopped == "1 BSU missed the limit in sustain-again-2"


def test_a_ramp_step_that_misses_the_limit_ends_the_test_unless_told_to_go_on() -> None:
    wanted = parameters()
    slow = worse_in({"ramp"}, 85, queue(5_100))
    done = do_all(wanted, slow)
    assert after_search(done)[-1] == ("ramp-95", 95)
    assert "ramp-95: mean response time 40.0 ms" in position_of(wanted, done, False).stopped
    done = do_all(wanted, slow, done, keep_going=True)
    assert after_search(done)[-1] == ("repeat-2-100", 101)
    assert position_of(wanted, done, True).stopped == ""


def test_io_errors_end_the_test_unless_told_to_go_on() -> None:
    wanted = parameters()

    def measure(step: Step) -> Phase:
        return phase(step, queue(1163.3)(step), ok=step.bsu != 8)

    done: list[Phase] = []
    assert carry_out(wanted, done, measure)
    assert searched(done) == [1, 2, 4, 8]
    assert position_of(wanted, done, False).stopped == (
        "search-8 failed: the run completed; 3 I/Os failed"
    )
    assert carry_out(wanted, done, measure, keep_going=True)
    assert len(after_search(done)) == len(PLAN)


# --- interruption --------------------------------------------------------------------------------


def through_json(done: list[Phase]) -> list[Phase]:
    return msgspec.json.decode(msgspec.json.encode(done), type=list[Phase])


def test_a_test_can_be_interrupted_at_every_phase() -> None:
    wanted = parameters()
    response = worse_in({"sustain"}, 100, queue(5_100))
    whole = do_all(wanted, response)
    for stop_at in range(len(whole)):
        done: list[Phase] = []

        def measure(step: Step, done: list[Phase] = done, stop_at: int = stop_at) -> Phase | None:
            return None if len(done) == stop_at else phase(step, response(step))

        assert not carry_out(wanted, done, measure)
        assert done == whole[:stop_at]
        assert do_all(wanted, response, through_json(done)) == whole


def test_a_failure_in_a_phase_leaves_those_before() -> None:
    wanted = parameters()
    done: list[Phase] = []

    def measure(step: Step) -> Phase:
        if step.kind == "iops":
            raise SpekError("the device is gone")
        return phase(step, queue(1163.3)(step))

    with pytest.raises(SpekError):
        carry_out(wanted, done, measure)
    assert done[-1].step.name == "sustain"
    assert do_all(wanted, queue(1163.3), done) == do_all(wanted, queue(1163.3))


# --- time ----------------------------------------------------------------------------------------


def test_the_time_left_comes_down_to_nothing() -> None:
    wanted = parameters()
    done: list[Phase] = []
    lefts = [left_ns(wanted, done)]
    took = []
    while (step := next_step(wanted, done)) is not None:
        done.append(phase(step, queue(1163.3)(step)))
        took.append(step.ramp_ns + step.time_ns)
        lefts.append(left_ns(wanted, done))
    assert lefts[-1] == 0
    first_bad = next(index for index, phase in enumerate(done) if phase.beyond)
    # From the first load that was too much on, how many points are left is known, up to rounding.
    for index in range(first_bad + 1, len(done)):
        rounding = STANDARD.ramp_ns + STANDARD.search_ns if done[index].step.kind == "search" else 0
        assert sum(took[index:]) == pytest.approx(lefts[index], abs=rounding)
    assert all(left > 8 * 3600 * SECOND for left in lefts[:first_bad])


# Disks from a slow one to a fast array.
@pytest.mark.parametrize("capacity", [300, 1_000, 20_000, 150_000, 1_000_000])
def test_a_quick_test_takes_minutes(capacity: float) -> None:
    done = do_all(parameters(lengths=QUICK), queue(capacity))
    position = position_of(parameters(lengths=QUICK), done, False)
    assert len(position.final) == len(PLAN) and position.lowered <= 1
    steps = [phase.step for phase in done if phase in position.final or phase.step.kind == "search"]
    seconds = sum(step.ramp_ns + step.time_ns for step in steps) / SECOND
    assert 5 * 60 <= seconds <= 8 * 60


def test_a_quick_test_is_long_enough_for_its_limits() -> None:
    """At 20 BSU a stream of 28 % is known to 5 % in every full-load phase (five sigma)."""
    ios = 20 * PER_BSU * QUICK.iops_ns / SECOND
    assert 5 * math.sqrt((1 - 0.281) / (0.281 * ios)) < 0.05


@pytest.mark.parametrize("capacity", [40, 130, 190, 600, 5000])
def test_each_client_of_a_fleet_has_a_bsu_at_any_step(capacity: float) -> None:
    """A step with less cannot be divided among them, and would end the test."""
    wanted = msgspec.structs.replace(parameters(start=30), clients=3)
    done = do_all(wanted, queue(capacity))
    assert min(phase.step.bsu for phase in done) >= 3
    position = position_of(wanted, done, False)
    if capacity < 3 * PER_BSU:
        assert position.stopped.startswith("the device cannot sustain even 3 BSU: ")
    else:
        assert not position.stopped and len(position.final) == len(PLAN)


def test_the_least_load_of_a_fleet_is_not_lowered() -> None:
    wanted = msgspec.structs.replace(parameters(start=30), clients=3)
    done = do_all(wanted, lambda step: 0.001 if step.kind == "search" and step.bsu <= 3 else 0.04)
    assert after_search(done) == [("sustain", 3)]
    assert position_of(wanted, done, False).stopped == "3 BSU missed the limit in sustain"
