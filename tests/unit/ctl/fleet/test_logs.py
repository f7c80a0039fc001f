# SPDX-License-Identifier: GPL-2.0
"""Logs of hosts that are not alike, or not of one run, are not added up."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from lib.fakes.kernel import SECOND

from spekctl import __version__
from spekctl.documents import histogram
from spekctl.errors import SpekError, UsageError
from spekctl.fleet import logs, wire
from spekctl.fleet.coordinator import seed_of, seeds_of
from spekctl.kernel.records import Histogram
from spekctl.log.tally import Cell, Interval, Tally

SEED = 42
START_NS = 1_700_000_000 * SECOND


def logged(place: int, **changes: Any) -> wire.Logged:
    """Of a host of a fleet's run."""
    counted = Tally(SECOND, 1, 0, 0, 1, 2, [], [])
    answer = wire.Logged(__version__, "mine", START_NS, seed_of(SEED, place), counted)
    return msgspec.structs.replace(answer, **changes)


def counted_in(times: Histogram) -> wire.Logged:
    """With services in these buckets."""
    cell = Cell("first", "read", 1, 1, 0, {}, None, times)
    return logged(0, tally=Tally(SECOND, 1, 0, 0, 1, 2, [cell], []))


def check(**hosts: wire.Logged) -> None:
    logs.check_one_run(hosts, seeds_of(SEED), "do better")


def refusal(**hosts: wire.Logged) -> str:
    with pytest.raises(UsageError) as refused:
        check(**hosts)
    return refused.value.message


def test_what_was_asked_for_adds_up() -> None:
    question = wire.Log("x", "", "all", SECOND)
    times = Histogram(6, {0: 1, histogram.last_bucket(6): 2}, 1, 1, 1)
    logs.check_answer(question, logged(0))
    logs.check_answer(question, counted_in(times))
    without = msgspec.structs.replace(question, interval_ns=0)
    logs.check_answer(without, logged(0, tally=Tally(0, 1, 0, 0, 1, 2, [], [])))


@pytest.mark.parametrize(
    "times",
    [
        Histogram(7, {0: 1}, 1, 1, 1),
        Histogram(6, {histogram.last_bucket(6) + 1: 1}, 1, 1, 1),
        Histogram(6, {-1: 1}, 1, 1, 1),
        Histogram(6, {0: -1}, 1, 1, 1),
    ],
)
def test_other_buckets_are_refused(times: Histogram) -> None:
    with pytest.raises(SpekError, match="times in other buckets than the controller's"):
        logs.check_answer(wire.Log("x", "", "all", SECOND), counted_in(times))


@pytest.mark.parametrize(
    ("interval_ns", "tally"),
    [
        (1, Tally(SECOND, 1, 0, 0, 1, 2, [], [])),
        (0, Tally(0, 1, 0, 0, 1, 2, [], [Interval(1, "read", 1, 1, 0, 1, 1)])),
    ],
)
def test_other_intervals_are_refused(interval_ns: int, tally: Tally) -> None:
    with pytest.raises(SpekError, match="other intervals than were asked for"):
        logs.check_answer(wire.Log("x", "", "all", interval_ns), logged(0, tally=tally))


def test_logs_of_one_run_add_up() -> None:
    # A host may have left the plan since, and clocks are not the same.
    check(a=logged(0), c=logged(2, start_real_ns=START_NS + logs.APART_NS))
    # One that never started has no rows.
    check(a=logged(0), b=logged(1, start_real_ns=0))
    # Runs by --start-at have what seeds they like.
    check(a=logged(0, seed=1), b=logged(1, seed=2))
    check(a=logged(0))


def test_different_workloads_are_named() -> None:
    assert refusal(a=logged(0), b=logged(1, workload="theirs")) == (
        "the logs are of different workloads: mine on a, theirs on b; do better"
    )


def test_hosts_of_another_start_are_named() -> None:
    late = logged(1, start_real_ns=START_NS + logs.APART_NS + 1)
    latest = logged(2, start_real_ns=START_NS + 60 * SECOND)
    assert refusal(d=latest, b=late, a=logged(0), c=logged(3, start_real_ns=START_NS + 1)) == (
        "the logs are of different runs: that of a began at 2023-11-14T22:13:20Z, that of d 60.0 s"
        " later, that of b 1.00 s later; do better"
    )


def test_seeds_of_the_plan_and_others_are_of_different_runs() -> None:
    assert refusal(a=logged(0), b=logged(1, seed=7)) == (
        "the logs are of different runs by their seeds: one of the plan on a, another one on b;"
        " do better"
    )
