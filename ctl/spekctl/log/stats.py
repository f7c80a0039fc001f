# SPDX-License-Identifier: GPL-2.0-or-later
"""Summarizes a per-I/O log: exact figures for each stream and direction.

The file is read once for each kind of time, so that of a long log one value per I/O is in memory
at a time, and before that the places that were touched: up to 70 bytes per I/O where places are
random, next to nothing where they are sequential or come again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spekctl.errors import UsageError
from spekctl.log.file import LogFile, LogHeader
from spekctl.suggest import did_you_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spekctl.ranges import Ranges

    Array = NDArray[Any]
    Rows = dict[str, Array]

MEASURE = 1
BLOCK_BYTES = 4096
_PIECE = 1 << 20
# (stream, op); None: all of them.
Key = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection of rows of a log."""

    stream: int | None = None
    measure_only: bool = False
    limit: int | None = None

    @staticmethod
    def of(header: LogHeader, stream: str | None, phase: str, limit: int | None) -> Selection:
        """From options of the command line."""
        if limit is not None and limit < 1:
            raise UsageError(f"--first must be at least 1, not {limit}")
        if stream is not None and stream not in header.streams:
            names = ", ".join(header.streams)
            hint = did_you_mean(stream, header.streams) or f" it has {names}"
            raise UsageError(f"the log has no stream '{stream}';{hint.lstrip(';')}")
        index = header.streams.index(stream) if stream is not None else None
        return Selection(index, phase == "measure", limit)

    def rows(self, log: LogFile, names: Sequence[str]) -> Iterator[Rows]:
        """The rows by column, in pieces."""
        wanted = list(dict.fromkeys([*names, "stream", "phase"]))
        left = self.limit
        for arrays in log.columns(*wanted):
            rows = dict(zip(wanted, arrays, strict=True))
            keep = self._keep(rows)
            if keep is not None:
                rows = {name: values[keep] for name, values in rows.items()}
            if left is not None:
                rows = {name: values[:left] for name, values in rows.items()}
                left -= len(rows["stream"])
            yield rows
            if left == 0:
                return

    def _keep(self, rows: Rows) -> Array | None:
        keep: Array | None = rows["phase"] == MEASURE if self.measure_only else None
        if self.stream is not None:
            mine = rows["stream"] == self.stream
            keep = mine if keep is None else keep & mine
        return keep


@dataclass(frozen=True, slots=True)
class Times:
    """A distribution, exact: the nearest ranks of all values."""

    mean_ns: float
    p50_ns: int
    p99_ns: int
    p999_ns: int
    max_ns: int


@dataclass(frozen=True, slots=True)
class Gaps:
    """Time from one arrival to the next; Poisson arrivals have a coefficient of variation of 1."""

    mean_ns: float
    cv: float


@dataclass(slots=True)
class Cell:
    """One stream and direction, or a sum."""

    ios: int = 0
    errors: int = 0
    bytes: int = 0
    asu: int = 0
    sequential: int = 0
    blocks: int = 0
    distinct: int = 0
    response: Times | None = None
    service: Times | None = None
    gaps: Gaps | None = None

    @property
    def rewritten(self) -> float:
        """Share of its blocks that it had touched before: 1 - distinct / all."""
        return 1 - self.distinct / self.blocks if self.blocks else 0.0


@dataclass(slots=True)
class Summary:
    """Summary of a log."""

    header: LogHeader
    records: int = 0
    first_ns: int = 0
    last_ns: int = 0
    cells: dict[Key, Cell] = field(default_factory=dict)
    asu_blocks: dict[int, int] = field(default_factory=dict)
    errors: dict[int, int] = field(default_factory=dict)

    @property
    def span_ns(self) -> int:
        """First arrival to last completion."""
        return self.last_ns - self.first_ns

    @property
    def outstanding(self) -> float:
        """Mean number of I/Os that the devices had: Little's law, rate times service time."""
        total = self.cells.get((None, None), Cell())
        busy_ns = total.service.mean_ns * total.ios if total.service is not None else 0.0
        return busy_ns / self.span_ns if self.span_ns else 0.0


def summarize(log: LogFile, selection: Selection) -> Summary:
    """Compute the summary."""
    summary = Summary(log.header)
    _count(log, selection, summary)
    if not summary.records:
        return summary
    times = _gather(log, selection, "completion_ns", "arrival_ns")
    for key, cell in summary.cells.items():
        cell.response = _times(_matching(times, key))
    times = _gather(log, selection, "completion_ns", "issue_ns")
    for key, cell in summary.cells.items():
        cell.service = _times(_matching(times, key))
    times = _gather(log, selection, "arrival_ns")
    for key, cell in summary.cells.items():
        cell.gaps = _gaps(_matching(times, key))
    return summary


def _count(log: LogFile, selection: Selection, summary: Summary) -> None:
    """Counters, footprints and the order of addresses: one pass."""
    import numpy as np

    from spekctl.ranges import Ranges

    places: dict[Key, Ranges] = {}
    names = ("op", "asu", "error", "bytes", "address", "bsu", "arrival_ns", "completion_ns")
    for rows in selection.rows(log, names):
        if not len(rows["stream"]):
            continue
        first, last = int(rows["arrival_ns"].min()), int(rows["completion_ns"].max())
        summary.first_ns = min(summary.first_ns or first, first)
        summary.last_ns = max(summary.last_ns, last)
        summary.records += len(rows["stream"])
        log.check_named(stream=rows["stream"], asu=rows["asu"])
        codes, counts = np.unique(rows["error"], return_counts=True)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            if code:
                summary.errors[code] = summary.errors.get(code, 0) + count
        rows["sequential"] = _sequential(rows)
        for place, part in by_cell(rows):
            footprint = places.setdefault(place, Ranges())
            _count_cell(summary.cells.setdefault(place, Cell()), footprint, part)
    for key, cell in list(summary.cells.items()):
        _add_to_sums(summary.cells, key, cell)
        cell.distinct = places[key].total
    for asu in sorted({cell.asu for key, cell in summary.cells.items() if key in places}):
        whole = Ranges()
        for key in [key for key in places if summary.cells[key].asu == asu]:
            whole.update(places.pop(key))
        summary.asu_blocks[asu] = whole.total


def _count_cell(cell: Cell, footprint: Ranges, rows: Rows) -> None:
    fine = rows["error"] == 0
    failed = int(len(fine) - fine.sum())
    cell.errors += failed
    if failed:
        rows = {name: values[fine] for name, values in rows.items()}
    length = rows["bytes"].astype("u8")
    first = rows["address"] // BLOCK_BYTES
    end = (rows["address"] + length + (BLOCK_BYTES - 1)) // BLOCK_BYTES
    cell.ios += len(first)
    cell.bytes += int(length.sum())
    cell.sequential += int(rows["sequential"].sum())
    cell.blocks += int((end - first).sum())
    footprint.add(first, end)
    if len(first):
        cell.asu = int(rows["asu"][0])


def _add_to_sums(cells: dict[Key, Cell], key: Key, cell: Cell) -> None:
    """A cell into those of all streams; blocks of different asus are different blocks, so sums
    have no footprint."""
    for wider in ((None, key[1]), (None, None)):
        total = cells.setdefault(wider, Cell())
        total.ios += cell.ios
        total.errors += cell.errors
        total.bytes += cell.bytes
        total.sequential += cell.sequential
        total.blocks += cell.blocks


def _sequential(rows: Rows) -> Array:
    """Which I/Os begin where the one before in their stream and BSU ended.

    Before means by arrival, within one piece of the log."""
    import numpy as np

    order = np.lexsort((rows["arrival_ns"], rows["bsu"], rows["stream"]))
    stream, bsu, address = (rows[name][order] for name in ("stream", "bsu", "address"))
    end = address + rows["bytes"][order]
    sequential = np.zeros(len(order), bool)
    sequential[order[1:]] = (
        (stream[1:] == stream[:-1]) & (bsu[1:] == bsu[:-1]) & (address[1:] == end[:-1])
    )
    return sequential


def by_cell(rows: Rows) -> Iterator[tuple[tuple[int, int], Rows]]:
    """The rows of each stream and direction."""
    import numpy as np

    code = rows["stream"] * np.uint16(2) + rows["op"]
    order = np.argsort(code, kind="stable")
    bounds = np.flatnonzero(np.diff(code[order])) + 1
    for part in np.split(order, bounds):
        if len(part):
            key = divmod(int(code[part[0]]), 2)
            yield key, {name: values[part] for name, values in rows.items()}


def _gather(
    log: LogFile, selection: Selection, end: str, start: str | None = None
) -> dict[tuple[int, int], Array]:
    """By stream and direction: @end of all I/Os, or @end minus @start of those that succeeded."""
    import numpy as np

    gathered: dict[tuple[int, int], list[Array]] = {}
    names = (end, "op") if start is None else (end, start, "op", "error")
    for rows in selection.rows(log, names):
        for key, part in by_cell(rows):
            values = part[end]
            if start is not None:
                values = (values - part[start])[part["error"] == 0]
            gathered.setdefault(key, []).append(values)
    return {key: np.concatenate(parts) for key, parts in gathered.items()}


def _matching(values: dict[tuple[int, int], Array], key: Key) -> Array:
    """The values of a cell, or of all cells of a sum."""
    import numpy as np

    parts = [
        part
        for (stream, op), part in values.items()
        if key[0] in (None, stream) and key[1] in (None, op)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _times(values: Array) -> Times | None:
    if not len(values):
        return None
    # Nearest rank, as in stats.py: the smallest value not exceeded by this share of all values.
    ranks = [-(-len(values) * ppm // 1_000_000) - 1 for ppm in (500_000, 990_000, 999_000)]
    values.partition(ranks)  # in place: their order is not needed
    p50, p99, p999 = (int(values[rank]) for rank in ranks)
    return Times(float(values.mean()), p50, p99, p999, int(values.max()))


def _gaps(arrivals: Array) -> Gaps | None:
    import numpy as np

    if len(arrivals) < 3:
        return None
    arrivals.sort()
    mean = (int(arrivals[-1]) - int(arrivals[0])) / (len(arrivals) - 1)
    squares = 0.0
    for start in range(0, len(arrivals) - 1, _PIECE):
        gaps = np.diff(arrivals[start : start + _PIECE + 1]).astype(float) - mean
        squares += float(gaps @ gaps)
    deviation = math.sqrt(squares / (len(arrivals) - 1))
    return Gaps(mean, deviation / mean if mean else 0.0)
