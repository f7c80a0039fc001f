# SPDX-License-Identifier: GPL-2.0
"""The measure phase of a result by fio's directions."""

from __future__ import annotations

import pytest
from lib.ctl import results
from msgspec.structs import replace

from spekctl.documents.result import Result
from spekctl.exports import measured
from spekctl.exports.measured import WAYS, Way
from spekctl.kernel.records import Direction, Phase


def doing(result: Result, operation: str) -> Result:
    config = result.config
    streams = [replace(config.streams[0], operation=operation)]
    return replace(result, config=replace(config, streams=streams))


@pytest.mark.parametrize(
    ("operation", "way"),
    [
        ("write", Way.WRITE),
        ("discard", Way.TRIM),
        ("flush", Way.SYNC),
        ("write-zeroes", Way.WRITE),
    ],
)
def test_what_does_not_read_has_the_direction_of_its_operation(
    ours: Result, operation: str, way: Way
) -> None:
    result = doing(ours, operation)
    assert measured.way_of(result, 0, Direction.WRITE) is way
    assert measured.way_of(result, 0, Direction.READ) is Way.READ
    assert [cell.ios for cell in measured.cells(result, way)] == [30]
    assert [cell.ios for cell in measured.cells(result, Way.READ)] == [70]
    assert [sample.ios for sample in measured.samples(result, way)] == [5, 5, 10, 10]


def test_samples_are_from_the_start_of_the_phase_and_lose_nothing(ours: Result) -> None:
    reads, writes, trims = (measured.samples(ours, way) for way in WAYS)
    assert [sample.start_ns for sample in reads] == [0, 10**9, 2 * 10**9, 3 * 10**9]
    assert {sample.seconds for sample in reads} == {1.0}
    assert (sum(sample.ios for sample in reads), sum(sample.ios for sample in writes)) == (70, 30)
    assert sum(sample.bytes for sample in reads) == 70 * 8192
    assert sum(sample.bytes for sample in writes) == 30 * 8192
    assert {sample.ios for sample in trims} == {0}


def test_other_phases_and_empty_intervals_are_left_out(ours: Result) -> None:
    first, second, third, last = ours.intervals
    rows = [replace(first, phase=Phase.RAMP), replace(second, end_ns=second.start_ns), third]
    rows.append(replace(last, phase=Phase.DRAIN))
    (only,) = measured.samples(replace(ours, intervals=rows), Way.READ)
    assert only.ios == 30


def test_a_phase_that_was_not_reached_has_no_span(ours: Result) -> None:
    start, end = measured.span_ns(ours)
    assert end - start == 4 * 10**9
    ramp = [phase for phase in ours.phases if phase.phase is not Phase.MEASURE]
    assert measured.span_ns(replace(ours, phases=ramp)) == (0, 0)


def test_times_of_several_cells_are_merged(ours: Result) -> None:
    reads, writes = measured.cells(ours, Way.READ), measured.cells(ours, Way.WRITE)
    both = measured.times([*reads, *writes], "response")
    assert both is not None
    assert both.sum_ns == sum(results.READS + results.WRITES)
    assert sum(both.counts.values()) == 100
    assert measured.times([], "response") is None
    without = replace(reads[0], times=replace(reads[0].times, service=None))
    assert measured.times([without], "service") is None
