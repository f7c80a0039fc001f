# SPDX-License-Identifier: GPL-2.0-or-later
"""The course of a run by interval: what completed, how long it took, and what waited.

A log is counted here; plots.timeline reads the same from the intervals of a result.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from spekctl import units
from spekctl.documents import histogram
from spekctl.errors import UsageError
from spekctl.kernel.records import Histogram, tells_rate
from spekctl.log import buckets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spekctl.log.file import LogFile, LogHeader

    Floats = NDArray[np.float64]

_P99 = 990_000
_LOG_INTERVALS = 120  # default number of intervals of a log, about
_MOST_INTERVALS = 4096  # as many as the module keeps
_COLUMNS = ("arrival_ns", "issue_ns", "completion_ns", "bytes", "op", "error")


@dataclass(frozen=True, slots=True)
class Direction:
    """Reads or writes, by interval; times are nan where nothing completed."""

    ios: Floats
    bytes: Floats
    mean_ns: Floats
    p99_ns: Floats


@dataclass(frozen=True, slots=True)
class PhaseSpan:
    """A phase, in seconds since the start of the run."""

    name: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Course:
    """A run by interval. Seconds count from its start."""

    start_s: Floats
    end_s: Floats
    outstanding: Floats
    backlog: Floats
    directions: dict[str, Direction]
    phases: list[PhaseSpan]
    offered_iops: float | None = None
    whole_s: float = 0.0  # length of a whole interval; 0: the longest
    covered: Floats | None = None  # 1: with the I/Os of all workers, else nan; None: all have them


def rated_seconds(course: Course) -> Floats:
    """The length of each interval; nan where counts divided by it are no rate of the device."""
    seconds = course.end_s - course.start_s
    whole = course.whole_s or float(seconds.max())
    lengths = zip(_phases_of(course), seconds, strict=True)
    rated = np.array(
        [seconds if tells_rate(phase, seconds, whole) else np.nan for phase, seconds in lengths]
    )
    return rated if course.covered is None else rated * course.covered


def _phases_of(course: Course) -> list[str]:
    """The phase in which each interval lies."""
    middles = (course.start_s + course.end_s) / 2
    return [
        next((phase.name for phase in course.phases if phase.start_s <= at < phase.end_s), "")
        for at in middles
    ]


def of_log(log: LogFile, interval_ns: int = 0) -> Course:
    """A log cut into intervals of this length (0: about 120 of them), by completion."""
    header = log.header
    edges = _edges(log.path, header, interval_ns)
    counts = _Counts(len(edges) - 1)
    for columns in log.columns(*_COLUMNS):
        signed = [values.astype(np.int64) for values in columns]
        counts.add(dict(zip(_COLUMNS, signed, strict=True)), edges)
    bounds = [("ramp", header.started_ns), ("measure", header.measure_ns)]
    bounds += [("drain", header.drain_ns)] if header.drain_ns else []
    ends = [start for _, start in bounds[1:]] + [int(edges[-1])]
    zero = header.started_ns
    return Course(
        (edges[:-1] - zero) / 1e9,
        (edges[1:] - zero) / 1e9,
        counts.between("issue_ns", "completion_ns"),
        counts.between("arrival_ns", "issue_ns"),
        {"read": counts.direction(0), "write": counts.direction(1)},
        [
            PhaseSpan(name, (start - zero) / 1e9, (end - zero) / 1e9)
            for (name, start), end in zip(bounds, ends, strict=True)
            if end > start
        ],
    )


def or_nan(values: Floats) -> Floats:
    """The values that are above 0."""
    return np.where(values > 0, values, np.nan)


def _edges(path: Path, header: LogHeader, interval_ns: int) -> NDArray[np.int64]:
    """Borders of the intervals: a grid through the start of the measure phase, and all phases'."""
    end_ns = header.ended_ns or header.drain_ns
    if end_ns <= header.measure_ns:
        raise UsageError(f"{path} does not say when its run ended")
    step = interval_ns or _round_step((end_ns - header.started_ns) / _LOG_INTERVALS)
    if (end_ns - header.started_ns) / step > _MOST_INTERVALS:
        raise UsageError(
            f"{units.format_duration(step)} makes more than {_MOST_INTERVALS} intervals of"
            f" this run of {(end_ns - header.started_ns) / 1e9:.1f} s"
        )
    before = (header.measure_ns - header.started_ns) // step
    grid = np.arange(header.measure_ns - before * step, end_ns, step, dtype=np.int64)
    bounds = {header.started_ns, header.measure_ns, end_ns}
    if header.drain_ns:
        bounds.add(header.drain_ns)
    fixed = np.array(sorted(bounds), dtype=np.int64)
    # A sliver beside the border of a phase would show noise: the grid makes room.
    apart = np.abs(grid[:, None] - fixed[None, :]).min(axis=1) >= step / 2
    return np.union1d(grid[apart], fixed)


def _round_step(ns: float) -> int:
    """1, 2 or 5 times a power of ten, not less than that."""
    power = 10 ** max(0, int(np.floor(np.log10(ns))))
    return next(int(factor * power) for factor in (1, 2, 5, 10) if factor * power >= ns)


class _Counts:
    """Sums by interval; memory grows with the intervals, not with the log."""

    def __init__(self, nr: int) -> None:
        self.nr = nr
        self.ios = np.zeros((2, nr))
        self.bytes = np.zeros((2, nr))
        self.sum_ns = np.zeros((2, nr))
        self.max_ns = np.zeros((2, nr), dtype=np.int64)
        self.buckets = np.zeros((2, nr * buckets.NR_BUCKETS), dtype=np.int64)
        self.events = {name: np.zeros(nr) for name in ("arrival_ns", "issue_ns", "completion_ns")}

    def add(self, columns: dict[str, NDArray[np.int64]], edges: NDArray[np.int64]) -> None:
        """Count records."""
        for name, counts in self.events.items():
            counts += np.bincount(self._slot(columns[name], edges), minlength=self.nr)
        slot = self._slot(columns["completion_ns"], edges)
        response_ns = columns["completion_ns"] - columns["arrival_ns"]
        bucket = buckets.index(response_ns.astype(np.uint64))
        for op in (0, 1):
            mine = (columns["op"] == op) & (columns["error"] == 0)
            where = slot[mine]
            self.ios[op] += np.bincount(where, minlength=self.nr)
            self.bytes[op] += np.bincount(where, columns["bytes"][mine], self.nr)
            self.sum_ns[op] += np.bincount(where, response_ns[mine], self.nr)
            np.maximum.at(self.max_ns[op], where, response_ns[mine])
            flat = where * buckets.NR_BUCKETS + bucket[mine]
            self.buckets[op] += np.bincount(flat, minlength=self.nr * buckets.NR_BUCKETS)

    def _slot(self, ns: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
        slot = np.searchsorted(edges, ns, side="right") - 1
        return np.clip(slot, 0, self.nr - 1)

    def between(self, first: str, then: str) -> Floats:
        """I/Os that had the first event and not yet the other, at the end of each interval."""
        waiting: Floats = np.cumsum(self.events[first]) - np.cumsum(self.events[then])
        return waiting

    def direction(self, op: int) -> Direction:
        """Rows of reads or writes."""
        p99 = np.full(self.nr, np.nan)
        table = self.buckets[op].reshape(self.nr, buckets.NR_BUCKETS)
        for slot in np.flatnonzero(self.ios[op]):
            counts = {int(at): int(table[slot][at]) for at in np.flatnonzero(table[slot])}
            # Bounded by the maximum, as the percentiles of a result.
            times = Histogram(buckets.BITS, counts, 0, 0, int(self.max_ns[op][slot]))
            p99[slot] = histogram.percentile(times, _P99)
        return Direction(self.ios[op], self.bytes[op], self.sum_ns[op] / or_nan(self.ios[op]), p99)
