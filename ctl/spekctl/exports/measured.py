# SPDX-License-Identifier: GPL-2.0-or-later
"""The measure phase of a result by fio's directions: what was done, how long it took, and when."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from spekctl.documents import histogram
from spekctl.documents.result import NOTHING, Result
from spekctl.documents.result_parts import Cell
from spekctl.documents.times import histogram_of
from spekctl.kernel.records import Direction, Histogram, Phase, is_covered


class Way(Enum):
    """A direction as fio has them; the value is its number in logs."""

    READ = 0
    WRITE = 1
    TRIM = 2
    SYNC = 3


WAYS = (Way.READ, Way.WRITE, Way.TRIM)
# fio's names of the three times, and those of a result.
TIMES = {"slat": "slip", "clat": "service", "lat": "response"}


@dataclass(frozen=True, slots=True)
class Sample:
    """A report interval of the measure phase; times are from its start."""

    start_ns: int
    end_ns: int
    ios: int
    bytes: int

    @property
    def seconds(self) -> float:
        """Its length."""
        return (self.end_ns - self.start_ns) / 1e9


def way_of(result: Result, stream: int, direction: Direction) -> Way:
    """The direction of a stream's reads or writes."""
    return way_of_operation(result.config.streams[stream].operation, direction)


def way_of_operation(operation: str, direction: Direction) -> Way:
    """The direction of an operation's reads or writes."""
    if direction is Direction.READ:
        return Way.READ
    return {"discard": Way.TRIM, "flush": Way.SYNC}.get(operation, Way.WRITE)


def cells(result: Result, way: Way) -> list[Cell]:
    """Cells of the measure phase in a direction."""
    return [
        cell
        for cell in result.cells
        if cell.phase is Phase.MEASURE and way_of(result, cell.stream, cell.direction) is way
    ]


def times(of_way: list[Cell], name: str) -> Histogram | None:
    """The times of cells together; @name: response, service or slip. None: no I/O was counted."""
    parts = [histogram_of(getattr(cell.times, name)) for cell in of_way]
    return histogram.merge(part for part in parts if part is not None)


def lacks(result: Result) -> str:
    """Why there are no times to write; empty if there are."""
    return "" if result.totals.all.ios else NOTHING


def span_ns(result: Result) -> tuple[int, int]:
    """Start and end of the measure phase, CLOCK_MONOTONIC; 0, 0: not reached."""
    for phase in result.phases:
        if phase.phase is Phase.MEASURE:
            return phase.start_ns, phase.end_ns
    return 0, 0


def samples(result: Result, way: Way) -> list[Sample]:
    """What was done in each report interval of the measure phase that has all workers' I/Os."""
    zero, _ = span_ns(result)
    samples = []
    for row in result.intervals:
        if row.phase is not Phase.MEASURE or row.end_ns <= row.start_ns or not is_covered(row):
            continue
        ios = count = 0
        for stream, (reads, read_bytes, writes, write_bytes) in enumerate(row.streams):
            if way is Way.READ:
                ios, count = ios + reads, count + read_bytes
            elif way_of(result, stream, Direction.WRITE) is way:
                ios, count = ios + writes, count + write_bytes
        samples.append(Sample(row.start_ns - zero, row.end_ns - zero, ios, count))
    return samples
