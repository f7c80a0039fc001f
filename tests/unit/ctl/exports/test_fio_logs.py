# SPDX-License-Identifier: GPL-2.0
"""fio's logs of a result, beside those that fio itself writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl import results
from msgspec.structs import replace

from spekctl.documents.result import Result
from spekctl.exports import fio_logs
from spekctl.kernel.records import IntervalCell, Phase


def text_of(result: Result, kind: str) -> str:
    return b"".join(fio_logs.encode(result)[kind]).decode()


def test_logs_have_the_columns_of_fio(ours: Result, theirs: Path) -> None:
    logs = {kind: text_of(ours, kind) for kind in fio_logs.encode(ours)}
    for kind, text in logs.items():
        real = (theirs / f"L_{kind}.1.log").read_text().splitlines()
        lines = text.splitlines()
        assert {line.count(", ") for line in lines} == {real[0].count(", ")}, kind
        assert all(int(word) >= 0 for line in lines for word in line.split(", "))
    assert logs["iops"].splitlines()[:3] == [
        *("1000, 10, 0, 0, 0", "1000, 5, 1, 0, 0", "2000, 20, 0, 0, 0"),
    ]
    assert logs["bw"].splitlines()[0] == "1000, 80, 0, 0, 0"
    assert logs["lat"].splitlines()[0] == "1000, 5000, 0, 0, 0"
    assert logs["slat"].splitlines()[0] == "1000, 1000, 0, 0, 0"
    reads, writes = logs["clat_hist"].splitlines()
    counts = [int(word) for word in reads.split(", ")[3:]]
    assert reads.startswith("4000, 0, 8192, ") and sum(counts) == 70
    assert sum(map(int, writes.split(", ")[3:])) == 30
    # fio's buckets of 2^16 to 2^17 ns are 64 of 1024 ns each, from the 704th on.
    first = next(place for place, count in enumerate(counts) if count)
    assert first == 704 + (100_000 - 65536) // 1024


def doing(result: Result, **stream: object) -> Result:
    """@result, whose only stream is another one."""
    config = result.config
    return replace(result, config=replace(config, streams=[replace(config.streams[0], **stream)]))


def lines(result: Result, kind: str) -> list[list[int]]:
    text = text_of(result, kind)
    return [[int(word) for word in line.split(", ")] for line in text.splitlines()]


def test_files_are_named_as_those_of_the_first_job() -> None:
    paths = fio_logs.paths(Path("out/L"))
    assert paths["clat_hist"] == Path("out/L_clat_hist.1.log")
    assert list(paths) == list(fio_logs.encode(results.build()))


def test_discards_are_trims(ours: Result) -> None:
    result = doing(ours, operation="discard")
    for kind in ("bw", "iops", "lat", "clat", "slat"):
        assert {line[2] for line in lines(result, kind)} == {0, 2}, kind
    assert [line[1] for line in lines(result, "clat_hist")] == [0, 2]


def test_flushes_are_in_no_log(ours: Result) -> None:
    """Nor are their times: fio logs none of a sync, and has them in no other direction."""
    result = doing(ours, operation="flush")
    for kind in ("bw", "iops", "lat", "clat", "slat"):
        assert {line[2] for line in lines(result, kind)} == {0}, kind
    assert [line[1] for line in lines(result, "clat_hist")] == [0]


def test_an_interval_without_ios_has_no_line(ours: Result) -> None:
    first = ours.intervals[0]
    quiet = replace(first, read=replace(first.read, ios=0), streams=[(0, 0, 5, 5 * 8192)])
    result = replace(ours, intervals=[quiet, *ours.intervals[1:]])
    for kind in ("bw", "iops", "lat", "clat", "slat"):
        assert [line[0] for line in lines(result, kind)][:2] == [1000, 2000], kind


def test_failed_ios_are_not_in_the_mean(ours: Result) -> None:
    """The kernel counts them beside those that were completed, not among them."""
    first = ours.intervals[0]
    failed = replace(first, read=replace(first.read, errors=first.read.ios))
    result = replace(ours, intervals=[failed])
    assert lines(result, "lat") == lines(replace(ours, intervals=[first]), "lat")


def test_an_interval_of_failures_has_no_mean(ours: Result) -> None:
    first = ours.intervals[0]
    failures = IntervalCell(0, 0, 10, *[0] * 10)
    result = replace(ours, intervals=[replace(first, read=failures)])
    assert [line[2] for line in lines(result, "lat")] == [1]


def test_only_the_measure_phase_is_logged(ours: Result) -> None:
    first, *rest = ours.intervals
    result = replace(ours, intervals=[replace(first, phase=Phase.RAMP), *rest])
    assert {line[0] for kind in ("bw", "lat") for line in lines(result, kind)} == {2000, 3000, 4000}


def test_a_run_that_measured_nothing_has_empty_logs() -> None:
    result = results.build(cells=())
    assert [line for lines in fio_logs.encode(result).values() for line in lines] == []


@pytest.mark.parametrize("reads", [True, False])
def test_a_stream_of_one_direction_has_lines_of_it(ours: Result, reads: bool) -> None:
    result = doing(ours, read_ppm=1_000_000 if reads else 0)
    whole = [
        replace(interval, streams=[(15, 1, 0, 0) if reads else (0, 0, 15, 1)])
        for interval in result.intervals
    ]
    assert {line[2] for line in lines(replace(result, intervals=whole), "iops")} == {not reads}
