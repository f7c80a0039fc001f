# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts a per-I/O log in integers that add up: of several logs, the sum of their tallies is the
tally of one log with all of their rows.

Percentiles are those of the module's histogram buckets, within 1/128 of a value; for exact ones of
one log see stats.py. Report intervals are of CLOCK_REALTIME, and begin at its multiples, so those
of several hosts lie on each other as well as their clocks do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from spekctl import units
from spekctl.documents import histogram
from spekctl.errors import UsageError
from spekctl.kernel.records import Histogram
from spekctl.log.file import LogFile
from spekctl.log.stats import Selection, by_cell

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Of one log: what its tally has to carry.
MOST_INTERVALS = 100_000


class Cell(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stream and direction. Failed I/Os have no bytes and no times; @causes: their number by
    errno."""

    stream: str
    op: str
    ios: int
    bytes: int
    errors: int
    causes: dict[int, int]
    response: Histogram | None
    service: Histogram | None


class Interval(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Completions of a direction in an interval; @number: since the epoch."""

    number: int
    op: str
    ios: int
    bytes: int
    errors: int
    response_sum_ns: int
    response_max_ns: int


class Tally(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A log, or several of them. Times are of CLOCK_REALTIME, 0 without records: the first arrival
    and the last completion. @interval_ns: 0: there are no intervals. @lost: I/Os of the runs that
    have no row; @incomplete: logs that do not have all of their run."""

    interval_ns: int
    records: int
    lost: int
    incomplete: int
    first_ns: int
    last_ns: int
    cells: list[Cell]
    intervals: list[Interval]

    @property
    def span_ns(self) -> int:
        """First arrival to last completion."""
        return self.last_ns - self.first_ns

    def total(self, op: str | None = None) -> Cell:
        """The sum of all streams in a direction, or in both."""
        chosen = [cell for cell in self.cells if op in (None, cell.op)]
        return _sum_cells("", op or "", chosen)


def of_log(
    log: LogFile,
    selection: Selection,
    interval_ns: int,
    check: Callable[[], None] = lambda: None,
) -> Tally:
    """Count a log; UsageError if it has too many intervals. @interval_ns: their length; 0: count
    none. @check: called for each batch of rows; what it raises ends the count."""
    header = log.header
    # Both clocks are slewed alike: their distance at the start is that of all times.
    shift_ns = header.start_real_ns - header.started_ns
    names = ("op", "error", "bytes", "arrival_ns", "issue_ns", "completion_ns")
    by_time: dict[tuple[int, str], list[int]] = {}
    numbers: set[int] = set()
    parts = [Tally(interval_ns, 0, header.lost, int(not header.complete), 0, 0, [], [])]
    for rows in selection.rows(log, names):
        check()
        if not len(rows["stream"]):
            continue
        first, last = int(rows["arrival_ns"].min()), int(rows["completion_ns"].max())
        cells: list[Cell] = []
        for (stream, op), part in by_cell(rows):
            direction = "write" if op else "read"
            # A number without a name stands for itself.
            known = stream < len(header.streams)
            name = header.streams[stream] if known else str(stream)
            cells.append(_cell(name, direction, part))
            if interval_ns:
                for interval in _intervals(direction, part, shift_ns, interval_ns):
                    numbers.add(interval.number)
                    _add(by_time.setdefault((interval.number, direction), [0] * 5), interval)
        batch = Tally(
            *(interval_ns, len(rows["stream"]), 0, 0, first + shift_ns, last + shift_ns),
            *(cells, []),
        )
        # At once, so that memory does not grow with the log.
        parts = [merge([*parts, batch])]
        if len(numbers) > MOST_INTERVALS:
            raise UsageError(
                f"{log.path} has more than {MOST_INTERVALS:,} intervals of"
                f" {units.format_duration(interval_ns)}; choose longer ones"
            )
    return msgspec.structs.replace(merge(parts), intervals=_listed(by_time))


def merge(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies of the same intervals, in any order and grouping."""
    given = list(tallies)
    lengths = {tally.interval_ns for tally in given}
    if len(lengths) != 1:
        raise ValueError("tallies add up if they have the same intervals")
    counted = [tally for tally in given if tally.records]
    cells: dict[tuple[str, str], list[Cell]] = {}
    by_time: dict[tuple[int, str], list[int]] = {}
    for tally in counted:
        for cell in tally.cells:
            cells.setdefault((cell.stream, cell.op), []).append(cell)
        for interval in tally.intervals:
            _add(by_time.setdefault((interval.number, interval.op), [0] * 5), interval)
    return Tally(
        interval_ns=lengths.pop(),
        records=sum(tally.records for tally in counted),
        lost=sum(tally.lost for tally in given),
        incomplete=sum(tally.incomplete for tally in given),
        first_ns=min((tally.first_ns for tally in counted), default=0),
        last_ns=max((tally.last_ns for tally in counted), default=0),
        cells=[_sum_cells(*key, cells[key]) for key in sorted(cells)],
        intervals=_listed(by_time),
    )


def _sum_cells(stream: str, op: str, cells: list[Cell]) -> Cell:
    causes: dict[int, int] = {}
    for cell in cells:
        for code, count in cell.causes.items():
            causes[code] = causes.get(code, 0) + count
    return Cell(
        stream=stream,
        op=op,
        ios=sum(cell.ios for cell in cells),
        bytes=sum(cell.bytes for cell in cells),
        errors=sum(cell.errors for cell in cells),
        causes=dict(sorted(causes.items())),
        response=_sum_times(cell.response for cell in cells),
        service=_sum_times(cell.service for cell in cells),
    )


def _sum_times(given: Iterable[Histogram | None]) -> Histogram | None:
    return histogram.merge(times for times in given if times is not None)


def _add(sums: list[int], interval: Interval) -> None:
    """Add an interval to the counts of one in place: what comes later does not copy them all."""
    sums[0] += interval.ios
    sums[1] += interval.bytes
    sums[2] += interval.errors
    sums[3] += interval.response_sum_ns
    sums[4] = max(sums[4], interval.response_max_ns)


def _listed(by_time: dict[tuple[int, str], list[int]]) -> list[Interval]:
    """By time, and then by direction."""
    return [Interval(*key, *by_time[key]) for key in sorted(by_time)]


def _cell(stream: str, op: str, rows: dict[str, NDArray[Any]]) -> Cell:
    import numpy as np

    from spekctl.log import buckets

    fine = rows["error"] == 0
    codes, counts = np.unique(rows["error"][~fine], return_counts=True)
    done = rows["completion_ns"][fine]
    return Cell(
        stream=stream,
        op=op,
        ios=int(fine.sum()),
        bytes=int(rows["bytes"][fine].sum(dtype="u8")),
        errors=int((~fine).sum()),
        causes=dict(zip(codes.tolist(), counts.tolist(), strict=True)),
        response=buckets.histogram(done - rows["arrival_ns"][fine]),
        service=buckets.histogram(done - rows["issue_ns"][fine]),
    )


def _intervals(
    op: str, rows: dict[str, NDArray[Any]], shift_ns: int, interval_ns: int
) -> list[Interval]:
    """The intervals of rows of one direction."""
    import numpy as np

    number = (rows["completion_ns"].astype(np.int64) + shift_ns) // interval_ns
    order = np.argsort(number, kind="stable")
    numbers, starts = np.unique(number[order], return_index=True)
    fine = (rows["error"] == 0)[order]
    times = (rows["completion_ns"] - rows["arrival_ns"])[order] * fine
    # In integers all the way: a double has too few digits for sums of ns.
    sums = [
        np.add.reduceat(values, starts).tolist()
        for values in (
            fine.astype(np.int64),
            rows["bytes"][order].astype(np.uint64) * fine,
            (~fine).astype(np.int64),
            times >> np.uint64(32),
            times & np.uint64(0xFFFF_FFFF),
        )
    ]
    # Those of times may pass 2^64: by halves of 32 bits.
    lower, upper = sums.pop(), sums.pop()
    sums.append([(high << 32) + low for high, low in zip(upper, lower, strict=True)])
    longest = np.maximum.reduceat(times, starts).tolist()
    return [
        Interval(at, op, *(int(value) for value in values))
        for at, *values in zip(numbers.tolist(), *sums, longest, strict=True)
    ]
