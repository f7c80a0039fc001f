# SPDX-License-Identifier: GPL-2.0-or-later
"""A result as fio's log of completion latencies by histogram.

Lines are "time, direction, block size" and the counts of fio's 1856 buckets since the line before
(log_hist_coarseness=0). They come from the best source there is: the per-I/O log, if it is
complete, for each report interval; the slices of the result, which are a few intervals each in
long runs; or its histograms, which are one interval, the measure phase. The kernel's buckets are
those of fio, so all counts are exact, except that fio's last bucket has everything from 17 s on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from spekctl.documents import histogram
from spekctl.documents.result import Result
from spekctl.errors import UsageError
from spekctl.exports import measured
from spekctl.exports.measured import WAYS, Way
from spekctl.kernel.records import Direction, Phase

# fio's buckets (stat.h): 29 groups of 64.
_BITS = 6
_BUCKETS = 29 << _BITS

# Counts of fio's buckets by the end of their interval and direction.
_Found = dict[tuple[int, Way], dict[int, int]]


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of all directions, in the order of time; none of an interval without I/Os. A line
    of 1856 numbers is made when it is written: those of a long run would fill the memory."""

    histograms: _Found
    zero_ns: int
    bytes_of: Mapping[Way, int]

    def __iter__(self) -> Iterator[bytes]:
        for end_ns, way in sorted(self.histograms, key=lambda place: (place[0], place[1].value)):
            counts = self.histograms[end_ns, way]
            if counts and way is not Way.SYNC:
                numbers = ", ".join(str(counts.get(place, 0)) for place in range(_BUCKETS))
                ms = (end_ns - self.zero_ns) // 10**6
                yield f"{ms}, {way.value}, {self.bytes_of[way]}, {numbers}\n".encode()


def lines(result: Result) -> Lines:
    """The lines of a result, whose source has been read."""
    zero, _ = measured.span_ns(result)
    histograms = _of_log(result) or _of_slices(result) or _of_cells(result)
    return Lines(histograms, zero, {way: _bytes_of(result, way) for way in WAYS})


def _bytes_of(result: Result, way: Way) -> int:
    """The mean size of I/Os, of the stream with the largest; fio has that of one of them."""
    return max(
        (cell.bytes // cell.ios for cell in measured.cells(result, way) if cell.ios), default=0
    )


def _of_log(result: Result) -> _Found:
    """From the per-I/O log: by report interval. Empty: it is not there, or lacks I/Os."""
    ends = sorted(
        {interval.end_ns for interval in result.intervals if interval.phase is Phase.MEASURE}
    )
    if result.log is None or not result.log.complete or not ends:
        return {}
    import numpy as np

    from spekctl.log.file import open_log

    lowest = np.array([histogram.bucket_low(index, _BITS) for index in range(_BUCKETS)], np.uint64)
    ways = np.array(
        [
            [measured.way_of(result, stream, direction).value for direction in Direction]
            for stream in range(len(result.config.streams))
        ]
    )
    names = ("stream", "op", "phase", "error", "issue_ns", "completion_ns")
    histograms: _Found = {}
    log = open_log(Path(result.log.file))
    if (log.header.measure_ns, log.header.records) != (
        measured.span_ns(result)[0],
        result.log.records,
    ):
        raise UsageError(f"{result.log.file} is the log of another run than the result")
    for rows in log.columns(*names):
        stream, op, phase, error, issue, completion = rows
        keep = (phase == Phase.MEASURE.code) & (error == 0)
        # The last interval has those that a worker completed while it noticed the end.
        intervals = np.searchsorted(ends[:-1], completion[keep], side="right")
        place = np.searchsorted(lowest, completion[keep] - issue[keep], side="right") - 1
        keys = (intervals * len(Way) + ways[stream[keep], op[keep]]) * _BUCKETS + place
        for key, count in zip(*np.unique(keys, return_counts=True), strict=True):
            rest, at = divmod(int(key), _BUCKETS)
            interval, way = divmod(rest, len(Way))
            counts = histograms.setdefault((ends[interval], Way(way)), {})
            counts[at] = counts.get(at, 0) + int(count)
    return histograms


def _of_slices(result: Result) -> _Found:
    """From its slices. Empty: they have no service times."""
    histograms: _Found = {}
    for time_slice in result.slices or ():
        for times in time_slice.service or ():
            way = measured.way_of_operation(times.operation, times.direction)
            counts = dict(enumerate(times.service.counts, start=times.service.first))
            _add(histograms.setdefault((time_slice.end_ns, way), {}), counts, times.service.bits)
    return histograms


def _of_cells(result: Result) -> _Found:
    """From the histograms of the measure phase."""
    histograms: _Found = {}
    _, end = measured.span_ns(result)
    for way in WAYS:
        times = measured.times(measured.cells(result, way), "service")
        if times is not None:
            _add(histograms.setdefault((end, way), {}), times.counts, times.bits)
    return histograms


def _add(counts: dict[int, int], more: Mapping[int, int], bits: int) -> None:
    """Add counts of our buckets to those of fio's."""
    for index, count in more.items():
        if count:
            at = histogram.bucket_index(histogram.bucket_value(index, bits), _BITS)
            at = min(at, _BUCKETS - 1)
            counts[at] = counts.get(at, 0) + count
