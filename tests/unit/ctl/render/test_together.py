# SPDX-License-Identifier: GPL-2.0
"""The sum of runs that went side by side is what they did at the same time."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from lib.ctl import results
from lib.fakes.kernel import interval_cell

from spekctl.documents.result import Result
from spekctl.documents.result_parts import Interval
from spekctl.kernel.records import IntervalRow, Phase
from spekctl.render.together import sum_line

SECOND = 10**9
MIB = 1 << 20


def row(number: int, start_ns: int, end_ns: int, ios: int, phase: Phase = Phase.MEASURE) -> Any:
    cell = interval_cell(ios=ios, bytes=ios * MIB)
    return Interval(
        *(number, phase, start_ns, end_ns),
        0,
        0,
        None,
        0,
        read=cell,
        write=interval_cell(),
        streams=[],
    )


def ran(start: int, seconds: int, iops: int, interval: int = 1) -> Result:
    """A run that was measured for @seconds from second @start on, with this many reads in each, and
    one more in each second after the first of its own."""
    done = results.build()
    (measure,) = [phase for phase in done.phases if phase.phase is Phase.MEASURE]
    first, last = start * SECOND, (start + seconds) * SECOND
    rows = [
        row(at, first + at * SECOND, first + (at + interval) * SECOND, (iops + at) * interval)
        for at in range(0, seconds, interval)
    ]
    reads = msgspec.structs.replace(
        done.totals.read,
        ios=sum(each.read.ios for each in rows),
        bytes=sum(each.read.bytes for each in rows),
    )
    none = msgspec.structs.replace(done.totals.write, ios=0, bytes=0)
    return msgspec.structs.replace(
        done,
        phases=[msgspec.structs.replace(measure, start_ns=first, end_ns=last)],
        intervals=rows,
        totals=msgspec.structs.replace(done.totals, read=reads, write=none),
    )


def test_runs_of_the_same_time_are_added_up() -> None:
    assert sum_line([ran(5, 3, 100), ran(5, 3, 200)]) == (
        "2 runs together: read 302 IOPS, 302.0 MiB/s"
    )


@pytest.mark.parametrize(
    ("second", "rate"),
    [
        (ran(0, 4, 1000), 100 + 1 + 0.5 + 1000 + 1.5),
        (ran(8, 10, 1000), 100 + 8.5 + 1000 + 0.5),
        (ran(3, 2, 1000), 100 + 3.5 + 1000 + 0.5),
    ],
)
def test_of_runs_that_were_longer_the_common_time_counts(second: Result, rate: float) -> None:
    """Each of them alone would have had its rate for all of its own time."""
    line = sum_line([ran(0, 10, 100), second])
    at_once, _, told = line.partition(" in which all were measured: ")
    assert at_once in ("2 runs together, in the 4.00 s", "2 runs together, in the 2.00 s")
    assert told == f"read {rate:,.0f} IOPS, {rate:,.1f} MiB/s"


def test_the_rows_of_a_late_worker_are_of_the_same_time() -> None:
    late = ran(0, 10, 100)
    more = row(11, 2 * SECOND, 3 * SECOND, 80)
    late = msgspec.structs.replace(late, intervals=[*late.intervals, more])
    assert "read 125 IOPS" in sum_line([late, ran(2, 4, 0)])


@pytest.mark.parametrize(
    ("results", "sentence"),
    [
        ([ran(0, 10, 5), ran(10, 10, 5)], "at no time were all of them measured"),
        ([ran(0, 10, 5), ran(5, 10, 5), ran(20, 5, 5)], "at no time were all of them measured"),
        ([ran(0, 10, 5), ran(3, 4, 5, interval=4)], "2 runs together, in the 4.00 s"),
        ([ran(0, 10, 5, interval=10), ran(3, 4, 5)], "no report interval of each lies in the time"),
    ],
)
def test_without_a_common_time_there_is_no_sum(results: list[Result], sentence: str) -> None:
    line = sum_line(results)
    assert sentence in line and line.endswith("no sum") != ("IOPS" in line)


def test_a_run_that_ended_in_its_ramp_has_no_part_in_a_sum() -> None:
    ramp = msgspec.structs.replace(ran(0, 10, 5), phases=[], intervals=[])
    assert sum_line([ramp, ran(0, 10, 5)]).startswith("2 runs: at no time were all of them")


def test_rows_of_a_ramp_are_not_measured() -> None:
    run = ran(0, 10, 100)
    ramp = row(20, 3 * SECOND, 4 * SECOND, 999, Phase.RAMP)
    assert isinstance(ramp, IntervalRow)
    run = msgspec.structs.replace(run, intervals=[*run.intervals, ramp])
    assert "read 104 IOPS" in sum_line([run, ran(3, 2, 0)])
