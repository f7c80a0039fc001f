# SPDX-License-Identifier: GPL-2.0
"""Response times over time: whatever the moments of the looks, no I/O is lost or counted twice."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.schemas import validator
from lib.fakes.kernel import SECOND, START_NS, FakeKernel, histogram, interval_cell

from spekctl.documents import result
from spekctl.documents.histogram import (
    HIST_MAX_BITS,
    bucket_index,
    bucket_low,
    dense,
    last_bucket,
)
from spekctl.documents.result_parts import Slice
from spekctl.documents.times import Buckets
from spekctl.errors import ExitCode
from spekctl.kernel.records import Direction, IntervalRow, Metric, Phase, StatsCell
from spekctl.run import slices
from spekctl.run.slices import BITS, MOST, SERVICE_BITS, Slices

LINE = ("run", "random-read-4k", "--device", "/dev/fake0", "--time", "3s")


def row(seq: int, ios: int, phase: Phase = Phase.MEASURE) -> IntervalRow:
    start = START_NS + seq * SECOND
    return IntervalRow(
        seq, phase, start, start + SECOND, 0, 0, 0, 0, interval_cell(ios=ios), interval_cell(), []
    )


def cells(values: list[int]) -> list[StatsCell]:
    """Sums of both directions."""
    sums = []
    for at, direction in enumerate((Direction.READ, Direction.WRITE)):
        mine = values[at::2]
        times = {Metric.RESPONSE: histogram(mine)} if mine else {}
        sums.append(StatsCell(Phase.MEASURE, 0, direction, len(mine), 0, 0, 0, histograms=times))
    return sums


def count(pieces: list[Slice]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for piece in pieces:
        for at, number in enumerate(piece.response.counts, start=piece.response.first):
            counts[at] = counts.get(at, 0) + number
    return {at: number for at, number in counts.items() if number}


def test_every_bucket_lies_in_one_that_is_coarser() -> None:
    for index in range(last_bucket(6)):
        first, last = bucket_low(index, 6), bucket_low(index + 1, 6) - 1
        assert bucket_index(first, 6) == bucket_index(last, 6) == index
        assert bucket_index(first, BITS) == bucket_index(last, BITS)


@pytest.mark.parametrize("looks", [3, MOST, MOST + 1, 5 * MOST + 7])
def test_slices_add_up_and_are_few(looks: int) -> None:
    draw = random.Random(looks)
    series, values, rows = Slices(), [], [row(0, 50, Phase.RAMP)]
    for seq in range(1, looks + 1):
        news = [int(10 ** draw.uniform(3, 8)) for _ in range(draw.randrange(5))]
        values += news
        rows.append(row(seq, len(news)))
        series.take(cells(values), rows)
    pieces = series.result()
    assert count(pieces) == slices.coarse(
        cell.histograms[Metric.RESPONSE] for cell in cells(values)
    )
    assert sum(count(pieces).values()) == len(values)
    assert min(looks, MOST // 2) <= len(pieces) <= MOST
    bounds = [piece.start_ns for piece in pieces] + [pieces[-1].end_ns]
    assert bounds[1:] == [piece.end_ns for piece in pieces]
    assert (bounds[0], bounds[-1]) == (rows[1].start_ns, rows[-1].end_ns)


def test_a_look_that_comes_late_says_how_far_it_reaches() -> None:
    """The sums were read when two intervals had closed; the rows have a third one."""
    series = Slices()
    rows = [row(0, 2), row(1, 3), row(2, 4)]
    series.take(cells([1000] * 5), rows)
    series.take(cells([1000] * 5 + [10**6] * 4), rows)
    first, second = series.result()
    assert (first.end_ns, second.end_ns) == (rows[1].end_ns, rows[2].end_ns)
    assert count([second]) == {bucket_index(10**6, BITS): 4}


def test_a_worker_that_is_ahead_is_counted_once() -> None:
    """Its I/Os of the second interval are in the sums when the first one closes."""
    series = Slices()
    series.take(cells([1000] * 6), [row(0, 4)])
    series.take(cells([1000] * 9), [row(0, 4), row(1, 5)])
    assert [sum(count([piece]).values()) for piece in series.result()] == [6, 3]


def test_service_times_are_kept_by_operation_and_direction() -> None:
    def cell(stream: int, direction: Direction, values: list[int]) -> StatsCell:
        times = {Metric.RESPONSE: histogram(values), Metric.SERVICE: histogram(values)}
        ios = len(values)
        return StatsCell(Phase.MEASURE, stream, direction, ios, 0, 0, 0, histograms=times)

    series = Slices(["transfer", "discard", "transfer"])
    sums = [
        cell(0, Direction.READ, [1000] * 3),
        cell(1, Direction.WRITE, [2000] * 2),
        cell(2, Direction.READ, [1000, 1200]),
    ]
    series.take(sums, [row(0, 7)])
    series.take([*sums, cell(2, Direction.WRITE, [3000])], [row(0, 7), row(1, 1)])
    first, second = series.result()
    assert first.service is not None and second.service is not None
    assert [(part.operation, part.direction, part.service) for part in first.service] == [
        ("transfer", Direction.READ, buckets({1000: 4, 1200: 1})),
        ("discard", Direction.WRITE, buckets({2000: 2})),
    ]
    assert [(part.operation, part.direction, part.service) for part in second.service] == [
        ("transfer", Direction.WRITE, buckets({3000: 1})),
    ]
    assert (sum(count([first]).values()), sum(count([second]).values())) == (7, 1)


def buckets(counts: dict[int, int]) -> Buckets:
    """These values so many times, with all the buckets of the kernel."""
    by_bucket = {bucket_index(value, SERVICE_BITS): number for value, number in counts.items()}
    return Buckets(SERVICE_BITS, HIST_MAX_BITS, *dense(by_bucket))


def test_nothing_new_is_no_slice() -> None:
    series = Slices()
    series.take([], [row(0, 9, Phase.RAMP)])
    series.take(cells([1000]), [row(0, 9, Phase.RAMP)])
    assert series.result() == []


def test_a_result_has_slices_if_asked(spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    assert spekctl(*LINE, "--ramp", "1s", "--heat-map", "-o", str(path)).code == ExitCode.OK
    validator(result.SCHEMA_FILE).validate(json.loads(path.read_bytes()))
    kept = result.load_result(path)
    assert kept.slices is not None
    starts = [(piece.start_ns - START_NS) // SECOND for piece in kept.slices]
    assert starts == [1, 2, 3]
    (cell,) = kept.cells
    assert sum(count(kept.slices).values()) == cell.ios == 300
    assert {sum(count([piece]).values()) for piece in kept.slices} == {100}
    kernel.calls.clear()
    kernel.__init__()  # type: ignore[misc]
    assert spekctl(*LINE, "-o", str(path)).code == ExitCode.OK
    assert result.load_result(path).slices is None and kernel.calls.count("stats") == 1


def test_without_intervals_there_are_no_slices(spekctl: Spekctl, kernel: FakeKernel) -> None:
    outcome = spekctl(*LINE, "--heat-map", "--interval", "0")
    assert outcome.code == ExitCode.USAGE and "--heat-map needs report intervals" in outcome.err
    outcome = spekctl(*LINE, "--heat-map", "--detach")
    assert outcome.code == ExitCode.USAGE and "--heat-map cannot be combined" in outcome.err
    assert "run-new" not in kernel.calls
