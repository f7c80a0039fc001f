# SPDX-License-Identifier: GPL-2.0
"""fio's log of histograms, from each of its sources, and as fio's own reader understands it."""

from __future__ import annotations

import random
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl import log_files, results
from lib.ctl.command_line import Spekctl
from lib.fakes.kernel import SECOND, START_NS, FakeKernel, histogram, interval_cell
from lib.waiting import LONG_S
from msgspec.structs import replace

from spekctl import files
from spekctl.documents import histogram as buckets
from spekctl.documents import result
from spekctl.documents.result import Result
from spekctl.documents.result_parts import LogResult
from spekctl.errors import ExitCode, UsageError
from spekctl.exports import fio_hist
from spekctl.exports.measured import Way
from spekctl.kernel.records import Direction, IntervalRow, Metric, Phase, StatsCell
from spekctl.run.slices import Slices

# The I/Os of the seconds of the measure phase. None of their percentiles lies between two of them.
COUNTS = (101, 203, 307)
SOURCES = ("log", "slices", "cells")
Times = dict[Direction, list[int]]


def drawn() -> list[Times]:
    """Service times of each second, by direction."""
    draw = random.Random(24)
    seconds: list[Times] = []
    for count in COUNTS:
        times: Times = {Direction.READ: [], Direction.WRITE: []}
        for _ in range(count):
            way = Direction.READ if draw.random() < 0.7 else Direction.WRITE
            times[way].append(int(10 ** draw.uniform(4, 8.9)))
        times[Direction.READ][-1] = 1 << 20  # the first of a bucket
        seconds.append(times)
    return seconds


TIMES = drawn()


def cells(seconds: int) -> list[StatsCell]:
    """The sums after so many seconds; response times are twice as long."""
    cells = []
    for way in Direction:
        mine = [time for times in TIMES[:seconds] for time in times[way]]
        times = {
            Metric.RESPONSE: histogram([2 * time for time in mine]),
            Metric.SERVICE: histogram(mine),
            Metric.SLIP: histogram(mine),
        }
        cells.append(
            StatsCell(Phase.MEASURE, 0, way, len(mine), 8192 * len(mine), len(mine), 0, {}, times)
        )
    return cells


def rows() -> list[IntervalRow]:
    """The seconds of the measure phase, which begins with the first."""
    rows = []
    for at, times in enumerate(TIMES):
        start = START_NS + (at + 1) * SECOND
        counts = [len(times[way]) for way in Direction]
        reads, writes = (interval_cell(ios=ios, bytes=8192 * ios) for ios in counts)
        streams = [(counts[0], 8192 * counts[0], counts[1], 8192 * counts[1])]
        rows.append(
            IntervalRow(
                *(at, Phase.MEASURE, start, start + SECOND, 9, 0, 5, 6),
                *(reads, writes, streams),
            )
        )
    return rows


def records() -> np.ndarray:
    """The log: the I/Os of the measure phase, one in the ramp-up, one in the drain, and an error.

    The last of each second completes as late as it can; that of the phase, after its end.
    """
    ios = []
    for row, times in zip(rows(), TIMES, strict=True):
        end_ns = row.end_ns - (0 if row.seq == len(TIMES) - 1 else 1)
        for way in Direction:
            for number, time in enumerate(times[way]):
                done = end_ns if not number else row.start_ns + number
                ios.append((done - 2 * time, done - time, done, way.code, 1, 0))
    done = START_NS + 2 * SECOND
    ios += [(done - 2, done - 1, done, 0, phase, 0) for phase in (0, 2)]
    ios.append((done - 2, done - 1, done, 0, 1, 5))
    log = np.zeros(len(ios), log_files.TYPE)
    for name, column in zip(
        ("at_ns", "issue_ns", "done_ns", "write", "phase", "error"),
        zip(*ios, strict=True),
        strict=True,
    ):
        log[name] = column
    log["bytes"] = 8192
    return log


def logged(path: Path, complete: bool = True) -> LogResult:
    """A log, and what a result says of it."""
    log = records()
    log_files.written(path, log, measure_ns=START_NS + SECOND)
    count = len(log)
    return LogResult(str(path), 1, count, int(not complete), count, 0, 1 << 18, complete, "")


def measured(source: str, folder: Path, operation: str = "transfer") -> Result:
    """The result of a run that has this source of histograms, and whose writes are others."""
    ours = results.build(cells=cells(len(TIMES)), rows=rows())
    stream = replace(ours.config.streams[0], operation=operation)
    ours = replace(ours, config=replace(ours.config, streams=[stream]))
    if source == "log":
        return replace(ours, log=logged(folder / "log"))
    if source == "slices":
        slices = Slices([operation])
        for at in range(len(TIMES)):
            slices.take(cells(at + 1), rows()[: at + 1])
        return replace(ours, slices=slices.result())
    return ours


def lines(ours: Result) -> list[list[int]]:
    return [[int(word) for word in line.split(b", ")] for line in fio_hist.lines(ours)]


def test_the_log_of_another_run_is_refused(tmp_path: Path) -> None:
    """A result keeps the name of its log, to which a later run may have written."""
    ours = measured("log", tmp_path)
    log_files.written(tmp_path / "log", records(), measure_ns=START_NS + 2 * SECOND)
    with pytest.raises(UsageError, match="is the log of another run than the result"):
        fio_hist.lines(ours)
    (tmp_path / "log").unlink()
    with pytest.raises(UsageError, match="there is no file"):
        fio_hist.lines(ours)


def test_a_log_is_written_without_holding_it_in_memory(tmp_path: Path) -> None:
    """A line has more than 5 KiB, and an interval of a second leaves two."""
    histograms = {(second * SECOND, Way.READ): {second: 1} for second in range(1000)}
    lines = fio_hist.Lines(histograms, 0, {Way.READ: 4096})
    path = tmp_path / "L_clat_hist.1.log"
    tracemalloc.start()
    try:
        files.deliver(lines, path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 5 << 20
    assert peak < 1 << 20
    assert path.read_bytes() == b"".join(lines)


def counted(times: list[int]) -> list[int]:
    """Counts in fio's buckets; ours start with the same ones."""
    counts = [0] * (29 * 64)
    for index, count in histogram(times).counts.items():
        counts[index] += count
    return counts


@pytest.mark.parametrize("source", ["log", "slices"])
def test_every_interval_has_a_line_of_each_direction(source: str, tmp_path: Path) -> None:
    assert lines(measured(source, tmp_path)) == [
        [1000 * second, way.code, 8192, *counted(times[way])]
        for second, times in enumerate(TIMES, start=1)
        for way in Direction
    ]


def test_without_times_over_time_the_phase_is_one_interval(tmp_path: Path) -> None:
    ours = measured("cells", tmp_path)
    assert lines(ours) == [
        [
            *(4000, way.code, 8192),
            *counted([time for times in TIMES for time in times[way]]),
        ]
        for way in Direction
    ]


def test_a_log_that_lacks_ios_is_not_used(tmp_path: Path) -> None:
    ours = measured("slices", tmp_path)
    lacking = replace(ours, log=logged(tmp_path / "log", complete=False))
    (tmp_path / "log").unlink()
    assert lines(lacking) == lines(ours)


def test_response_times_over_time_are_no_source(tmp_path: Path) -> None:
    """Those of --heat-map: fio's histograms are of completion latencies."""
    slices = Slices()
    slices.take(cells(1), rows()[:1])
    ours = measured("cells", tmp_path)
    assert lines(replace(ours, slices=slices.result())) == lines(ours)


def test_a_second_without_ios_has_no_line(tmp_path: Path) -> None:
    slices = Slices(["transfer"])
    slices.take(cells(1), rows()[:1])
    quiet = replace(rows()[1], read=interval_cell(), write=interval_cell())
    slices.take(cells(1), [rows()[0], quiet])
    ours = replace(measured("cells", tmp_path), slices=slices.result())
    assert [line[0] for line in lines(ours)] == [1000, 1000]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("operation", "ways"), [("discard", [0, 2]), ("flush", [0])])
def test_operations_have_the_directions_of_fio(
    source: str, operation: str, ways: list[int], tmp_path: Path
) -> None:
    """Flushes have no line, as in fio."""
    ours = measured(source, tmp_path, operation)
    intervals = 1 if source == "cells" else len(TIMES)
    assert [line[1] for line in lines(ours)] == ways * intervals


@given(st.lists(st.integers(1, 10**10), min_size=1, max_size=50))
def test_every_io_is_in_a_bucket_that_holds_its_time(times: list[int]) -> None:
    """Of fio: 64 buckets for each power of two, from the 64th on."""
    cell = results.cell(Direction.READ, times)
    ((_, _, _, *counts),) = lines(results.build(cells=[cell]))
    assert (len(counts), sum(counts)) == (29 * 64, len(times))
    places = [place for place, count in enumerate(counts) for _ in range(count)]
    for place, time in zip(places, sorted(times), strict=True):
        group = max(0, place // 64 - 1)
        low = (place - group * 64) << group
        assert low <= time < low + (1 << group)


def test_what_takes_longer_than_fio_can_count_is_in_the_last_bucket(tmp_path: Path) -> None:
    cell = results.cell(Direction.READ, [1 << 34, 1 << 36, 1 << 50])
    ((*_, before, last),) = lines(results.build(cells=[cell]))
    assert (before, last) == (0, 3)


# --- as fio reads it -----------------------------------------------------------------------------

PERCENTILES = (50, 90, 99, 100)


def read(program: Path, log: Path, quantum_s: int) -> dict[int, tuple[int, list[float]]]:
    """What fio's reader prints by time: I/Os, and percentiles in ns."""
    words = ["--time-quantum", str(quantum_s), "--percentiles", *map(str, PERCENTILES)]
    done = subprocess.run(
        [sys.executable, program, *words, "--", log],
        capture_output=True,
        text=True,
        timeout=LONG_S,
        check=True,
    )
    _, table = done.stdout.split("max, \n")
    figures = {}
    for line in table.splitlines():
        ms, samples, *values = (word.strip() for word in line.split(","))
        if int(samples):
            figures[int(ms)] = (int(samples), [1000 * float(value) for value in values])
    return figures


def same_bucket(theirs: float, ours: int) -> bool:
    """fio interpolates between the bounds of the bucket, of which we name the middle."""
    place = buckets.bucket_index(ours, 6)
    return buckets.bucket_low(place, 6) <= theirs <= buckets.bucket_low(place + 1, 6)


def written(ours: Result, folder: Path) -> Path:
    path = folder / "L_clat_hist.1.log"
    path.write_bytes(b"".join(fio_hist.lines(ours)))
    return path


@pytest.mark.parametrize("source", SOURCES)
def test_fio_reads_the_percentiles_of_the_result(
    source: str, pctiles: Path, tmp_path: Path
) -> None:
    result = measured(source, tmp_path)
    ((ios, theirs),) = read(pctiles, written(result, tmp_path), 10).values()
    times = result.totals.all.times.service
    assert times is not None and ios == times.count == sum(COUNTS)
    ours = [times.percentiles_ns[f"p{percentile}"] for percentile in PERCENTILES[:-1]] + [
        times.max_ns
    ]
    assert all(map(same_bucket, theirs, ours)), (theirs, ours)


@pytest.mark.parametrize("source", ["log", "slices"])
def test_fio_reads_the_percentiles_of_every_second(
    source: str, pctiles: Path, tmp_path: Path
) -> None:
    figures = read(pctiles, written(measured(source, tmp_path), tmp_path), 1)
    assert [(ms, ios) for ms, (ios, _) in figures.items()] == [
        (1000 * second, count) for second, count in enumerate(COUNTS, start=1)
    ]
    for times, (_, theirs) in zip(TIMES, figures.values(), strict=True):
        both = histogram([time for way in Direction for time in times[way]])
        ours = buckets.percentiles(both, (percentile * 10_000 for percentile in PERCENTILES))
        assert all(map(same_bucket, theirs, ours)), (theirs, ours)


# --- a run ---------------------------------------------------------------------------------------

LINE = ("run", "random-read-4k", "--device", "/dev/fake0", "--time", "3s", "-o", "r.json")


def test_a_run_keeps_the_times_for_its_log(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    done = spekctl(*LINE, "--fio-logs", "L")
    assert done.code == ExitCode.OK, done.err
    slices = result.load_result(tmp_path / "r.json").slices
    assert slices is not None and all(piece.service for piece in slices)
    log = [line.split(", ") for line in (tmp_path / "L_clat_hist.1.log").read_text().splitlines()]
    counts = [(line[0], sum(map(int, line[3:]))) for line in log]
    assert counts == [("1000", 100), ("2000", 100), ("3000", 100)]


@pytest.mark.parametrize("options", [("--heat-map",), ("--fio-logs", "L", "--interval", "0")])
def test_service_times_are_kept_for_logs_of_intervals_only(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path, options: tuple[str, ...]
) -> None:
    done = spekctl(*LINE, *options)
    assert done.code == ExitCode.OK, done.err
    slices = result.load_result(tmp_path / "r.json").slices or []
    assert not any(piece.service for piece in slices)
