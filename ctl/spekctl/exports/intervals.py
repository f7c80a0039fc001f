# SPDX-License-Identifier: GPL-2.0-or-later
"""The report intervals of a result as CSV: a row for each direction of each interval, and one for
each direction of each stream in it.

Every phase is there, in the order of time. start_ns and end_ns count from the start of the run, and
end_unix_ns from the epoch. A row with an empty stream is of all streams together; only such rows
have errors and times, as the kernel keeps times of an interval by direction. A value that is not
known is empty: the percentiles of an interval without I/Os, power that was not measured.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from spekctl.cells import row
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Interval
from spekctl.kernel.records import Direction, IntervalCell

_OF_INTERVAL = (
    *("interval", "phase", "start_ns", "end_ns", "end_unix_ns", "coverage_ppm"),
    *("outstanding", "backlog", "power_w"),
)
_OF_ROW = ("stream", "operation", "direction", "ios", "bytes", "iops", "bytes_per_s")
_OF_TIMES = (
    *("errors", "response_mean_ns", "response_p50_ns", "response_p90_ns", "response_p99_ns"),
    *("response_p99_9_ns", "response_max_ns", "service_mean_ns", "service_p50_ns"),
    *("service_p99_ns", "service_max_ns"),
)
COLUMNS = (*_OF_INTERVAL, *_OF_ROW, *_OF_TIMES)


def lacks(result: Result) -> str:
    """Why there are no intervals to write; empty if there are."""
    if result.intervals:
        return ""
    why = " (--interval 0)" if result.config.interval_ns == 0 else ""
    return f"the result has no report intervals{why}"


def encode(result: Result) -> bytes:
    """The file."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for interval in result.intervals:
        writer.writerows(map(row, _rows(result, interval)))
    return stream.getvalue().encode()


def _rows(result: Result, interval: Interval) -> Iterator[list[object]]:
    zero_ns = result.start.monotonic_ns
    head = [
        *(interval.seq, interval.phase.value),
        *(interval.start_ns - zero_ns, interval.end_ns - zero_ns),
        result.start.realtime_ns + interval.end_ns - zero_ns,
        *(interval.coverage_ppm, interval.outstanding, interval.backlog),
        None if interval.power is None else interval.power.total.mean_w,
    ]
    seconds = (interval.end_ns - interval.start_ns) / 1e9
    for direction, cell in ((Direction.READ, interval.read), (Direction.WRITE, interval.write)):
        counts = _counts(cell.ios, cell.bytes, seconds)
        yield [*head, None, None, direction.value, *counts, *_times(cell)]
    # Old results may have intervals without streams.
    pairs = zip(result.config.streams, interval.streams, strict=False)
    for stream, (reads, read_bytes, writes, write_bytes) in pairs:
        name = [stream.name, stream.operation]
        if stream.read_ppm or reads:
            counts = _counts(reads, read_bytes, seconds)
            yield [*head, *name, Direction.READ.value, *counts, *[None] * len(_OF_TIMES)]
        if stream.read_ppm < 1_000_000 or writes:
            counts = _counts(writes, write_bytes, seconds)
            yield [*head, *name, Direction.WRITE.value, *counts, *[None] * len(_OF_TIMES)]


def _counts(ios: int, count_bytes: int, seconds: float) -> list[object]:
    if seconds <= 0:
        return [ios, count_bytes, None, None]
    return [ios, count_bytes, round(ios / seconds, 3), round(count_bytes / seconds, 3)]


def _times(cell: IntervalCell) -> list[object]:
    if not cell.ios:
        return [cell.errors, *[None] * (len(_OF_TIMES) - 1)]
    return [
        *(cell.errors, round(cell.response_sum_ns / cell.ios, 1)),
        *(cell.response_p50_ns, cell.response_p90_ns, cell.response_p99_ns),
        *(cell.response_p999_ns, cell.response_max_ns),
        *(round(cell.service_sum_ns / cell.ios, 1), cell.service_p50_ns),
        *(cell.service_p99_ns, cell.service_max_ns),
    ]
