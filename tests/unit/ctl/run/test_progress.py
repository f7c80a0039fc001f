# SPDX-License-Identifier: GPL-2.0
"""Figures of an interval, and the time and share of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from lib.ctl import progress_rows
from lib.ctl.progress_rows import RUNNING
from lib.fakes.kernel import SECOND, START_NS, interval_cell

from spekctl.kernel.records import Phase, RunState
from spekctl.run.progress import clock_of, figures_of

ROW = msgspec.structs.replace(
    progress_rows.ROW,
    backlog=7,
    read=interval_cell(ios=5000, bytes=5000 * 4096, errors=1, response_p99_ns=980_000),
    write=interval_cell(ios=1000, bytes=1000 * 8192, errors=2, response_max_ns=5),
)


def test_rates_are_per_second_of_the_interval() -> None:
    figures = figures_of(ROW, START_NS, workers=2)
    assert (figures.at_s, figures.read.iops, figures.write.iops, figures.iops) == (
        4,
        2500,
        500,
        3000,
    )
    assert figures.read.mib_per_s == pytest.approx(2500 * 4096 / 2**20)
    assert figures.mib_per_s == pytest.approx((2500 * 4096 + 500 * 8192) / 2**20)
    assert (figures.read.p99_ns, figures.write.max_ns, figures.errors) == (980_000, 5, 3)
    assert (figures.outstanding, figures.backlog) == (3, 7)


def test_an_interval_that_says_nothing_of_the_device_is_marked() -> None:
    def rated(phase: Phase, length_ns: int, interval_ns: int = SECOND) -> bool:
        row = msgspec.structs.replace(ROW, phase=phase, end_ns=ROW.start_ns + length_ns)
        return figures_of(row, START_NS, 1, interval_ns=interval_ns).rated

    assert rated(Phase.MEASURE, SECOND) and rated(Phase.RAMP, SECOND // 10)
    assert not rated(Phase.MEASURE, SECOND // 10 - 1)
    assert not rated(Phase.DRAIN, SECOND)
    assert rated(Phase.MEASURE, 1, interval_ns=0)


def test_an_interval_without_a_worker_says_nothing_of_the_rate() -> None:
    partial = msgspec.structs.replace(ROW, coverage_ppm=500_000)
    assert not figures_of(partial, START_NS, 2, interval_ns=SECOND).rated
    nearly = msgspec.structs.replace(ROW, coverage_ppm=999_000)
    assert figures_of(nearly, START_NS, 2, interval_ns=SECOND).rated


def test_an_interval_too_short_for_cpu_time_has_none() -> None:
    assert (
        figures_of(msgspec.structs.replace(ROW, worker_cpu_ns=None), START_NS, 2).worker_cpu is None
    )


def test_rates_of_streams_are_per_second_as_well() -> None:
    row = msgspec.structs.replace(ROW, streams=[(10, 1, 4, 1), (0, 0, 3, 1)])
    assert figures_of(row, START_NS, 1).streams == (7, 1.5)


def test_cpu_is_the_share_of_one_worker() -> None:
    assert figures_of(ROW, START_NS, workers=2).worker_cpu == 0.25
    assert figures_of(ROW, START_NS, workers=0).worker_cpu == 0.5
    assert figures_of(ROW, START_NS, workers=2).worker_switches_per_io == 30 / 6000


def test_an_interval_without_ios_or_length_divides_by_nothing() -> None:
    idle = msgspec.structs.replace(ROW, read=interval_cell(), write=interval_cell())
    assert figures_of(idle, START_NS, 1).worker_switches_per_io is None
    empty = msgspec.structs.replace(ROW, end_ns=ROW.start_ns)
    assert figures_of(empty, START_NS, 1).iops > 0


def test_a_run_that_waits_for_its_start_says_how_long() -> None:
    clock = clock_of(replace(RUNNING, state=RunState.ARMED, started_ns=START_NS + 50 * SECOND))
    assert (clock.starts_in_s, clock.elapsed_s, clock.left_s, clock.share) == (30, 0, None, 0)
    late = clock_of(replace(RUNNING, state=RunState.ARMED, started_ns=START_NS))
    assert late.starts_in_s == 0


@pytest.mark.parametrize(
    ("measured", "left_s", "share"), [(0, None, 0.0), (250, 30.0, 0.25), (2000, 0.0, 1.0)]
)
def test_a_run_that_ends_by_count_goes_by_its_ios(
    measured: int, left_s: float | None, share: float
) -> None:
    clock = clock_of(replace(RUNNING, time_ns=0, count=1000), measured)
    assert (clock.left_s, clock.share) == (left_s, share)


def test_the_share_grows_to_one() -> None:
    clocks = [clock_of(replace(RUNNING, now_ns=START_NS + s * SECOND)) for s in range(10, 60, 5)]
    shares = [clock.share or 0.0 for clock in clocks]
    assert shares == sorted(shares) and shares[-1] == 1.0 and shares[0] == pytest.approx(10 / 50)
    assert all(clock.left_s is not None and clock.left_s >= 0 for clock in clocks)


@pytest.mark.parametrize(
    ("changes", "elapsed_s", "left_s"),
    [
        ({}, 20, 30),
        ({"measure_ns": 0, "phase": Phase.RAMP, "now_ns": START_NS + 4 * SECOND}, 4, 46),
        ({"measure_ns": 0, "ramp_count": 9, "ramp_ns": 0}, 20, None),
        ({"state": RunState.DRAINING}, 20, 0),
        ({"state": RunState.DONE, "ended_ns": START_NS + 7 * SECOND}, 7, 0),
        ({"time_ns": 0, "count": 1000}, 20, 30),
        ({"state": RunState.READY, "started_ns": 0, "measure_ns": 0}, 0, None),
    ],
)
def test_elapsed_and_remaining(
    changes: dict[str, Any], elapsed_s: float, left_s: float | None
) -> None:
    info = replace(RUNNING, **changes)
    clock = clock_of(info, measured_ios=250)
    assert clock.elapsed_s == elapsed_s
    if changes.get("state") is not RunState.READY:
        assert clock.left_s == left_s
