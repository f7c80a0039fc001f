# SPDX-License-Identifier: GPL-2.0-or-later
"""Sums of cells over hosts: buckets and counts are added, all else follows from the sums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import add

from spekctl.documents import histogram
from spekctl.documents.host_results import HostRun
from spekctl.documents.result_parts import Cell, InFlight, PhaseResult, Total, Totals
from spekctl.documents.times import Distribution, Times, distribution, histogram_of
from spekctl.kernel.records import Direction, Histogram, Phase

_PHASES, _DIRECTIONS = list(Phase), list(Direction)
_KINDS = ("response", "service", "slip")


def summed(runs: Sequence[HostRun]) -> list[Cell]:
    """The cells of all runs, by phase, stream and direction."""
    groups: dict[tuple[int, int, int], list[Cell]] = {}
    for run in runs:
        for cell in run.cells:
            groups.setdefault(_place(cell), []).append(cell)
    return [_cell(groups[place]) for place in sorted(groups)]


def _place(cell: Cell) -> tuple[int, int, int]:
    return _PHASES.index(cell.phase), cell.stream, _DIRECTIONS.index(cell.direction)


def _cell(cells: Sequence[Cell]) -> Cell:
    first = cells[0]
    return Cell(
        phase=first.phase,
        stream=first.stream,
        name=first.name,
        direction=first.direction,
        ios=sum(cell.ios for cell in cells),
        bytes=sum(cell.bytes for cell in cells),
        requests=sum(cell.requests for cell in cells),
        errors=sum(cell.errors for cell in cells),
        errors_by_cause=counts_by_name(cell.errors_by_cause for cell in cells),
        times=_times(cells, with_buckets=True),
        in_flight=_in_flight([cell.in_flight for cell in cells], with_buckets=True),
    )


def counts_by_name(tables: Iterable[dict[str, int]]) -> dict[str, int]:
    """Sums of counters with names, sorted by these."""
    sums: dict[str, int] = {}
    for table in tables:
        for name, count in table.items():
            sums[name] = sums.get(name, 0) + count
    return dict(sorted(sums.items()))


def _times(cells: Sequence[Cell], with_buckets: bool) -> Times:
    return Times(
        *(
            distribution(_merged([getattr(cell.times, kind) for cell in cells]), with_buckets)
            for kind in _KINDS
        )
    )


def _in_flight(parts: Sequence[InFlight | None], with_buckets: bool) -> InFlight | None:
    known = [part for part in parts if part is not None]
    if not known:
        return None
    return InFlight(
        sum(part.count for part in known),
        distribution(_merged([part.response_age for part in known]), with_buckets),
        distribution(_merged([part.service_age for part in known]), with_buckets),
    )


def _merged(parts: Sequence[Distribution | None]) -> Histogram | None:
    """The sum of the buckets. They are added in a list: a dict of each would be five times the
    work."""
    known = [part for part in parts if part is not None and part.histogram is not None]
    if len(known) < 2:
        return histogram_of(known[0]) if known else None
    buckets = [part.histogram for part in known if part.histogram is not None]
    bits = buckets[0].bits
    counts = [0] * (histogram.last_bucket(bits) + 1)
    for each in buckets:
        end = each.first + len(each.counts)
        counts[each.first : end] = map(add, counts[each.first : end], each.counts)
    return Histogram(
        bits,
        {index: count for index, count in enumerate(counts) if count},
        sum(part.sum_ns for part in known),
        min(part.min_ns for part in known),
        max(part.max_ns for part in known),
    )


def totals(cells: Sequence[Cell], duration_ns: int) -> Totals:
    """Sums over streams in the measure phase, which took @duration_ns."""
    measured = [cell for cell in cells if cell.phase is Phase.MEASURE]

    def of(direction: Direction) -> Total:
        return _total([cell for cell in measured if cell.direction is direction], duration_ns)

    return Totals(of(Direction.READ), of(Direction.WRITE), _total(measured, duration_ns))


def _total(cells: Sequence[Cell], duration_ns: int) -> Total:
    ios, amount = sum(cell.ios for cell in cells), sum(cell.bytes for cell in cells)
    held = _in_flight([cell.in_flight for cell in cells], with_buckets=False)
    return Total(
        ios=ios,
        bytes=amount,
        requests=sum(cell.requests for cell in cells),
        errors=sum(cell.errors for cell in cells),
        iops=ios * 10**9 / duration_ns if duration_ns else 0.0,
        bytes_per_s=amount * 10**9 / duration_ns if duration_ns else 0.0,
        mean_bytes=amount / ios if ios else 0.0,
        times=_times(cells, with_buckets=False),
        in_flight=held if held is not None or cells else InFlight(0),
    )


def phases(runs: Sequence[tuple[HostRun, int]], cells: Sequence[Cell]) -> list[PhaseResult]:
    """Phases from the first host that begins to the last that ends. @runs: with the distance of
    their clocks."""
    groups: dict[Phase, list[tuple[PhaseResult, int]]] = {}
    for run, offset_ns in runs:
        for phase in run.phases:
            groups.setdefault(phase.phase, []).append((phase, offset_ns))
    return [_phase(phase, groups[phase], cells) for phase in _PHASES if phase in groups]


def _phase(
    phase: Phase, parts: Sequence[tuple[PhaseResult, int]], cells: Sequence[Cell]
) -> PhaseResult:
    start_ns = min(part.start_ns + offset_ns for part, offset_ns in parts)
    end_ns = max(part.end_ns + offset_ns for part, offset_ns in parts)
    inside = [cell for cell in cells if cell.phase is phase]
    return PhaseResult(
        phase=phase,
        start_ns=start_ns,
        end_ns=end_ns,
        duration_ns=max(0, end_ns - start_ns),
        ios=sum(part.ios for part, _ in parts),
        bytes=sum(part.bytes for part, _ in parts),
        errors=sum(part.errors for part, _ in parts),
        times=_times(inside, with_buckets=False) if phase is not Phase.RAMP else None,
    )
