# SPDX-License-Identifier: GPL-2.0-or-later
"""Report intervals of several hosts as sums: those of one number since the common start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from spekctl.documents import power
from spekctl.documents.host_results import CellColumns, HostResult
from spekctl.documents.result_parts import Interval, IntervalPower
from spekctl.fleet.window import Placed, Places
from spekctl.kernel.records import COVERS_ALL, IntervalCell, IntervalRow, Phase, is_covered

_SUMS = ("ios", "bytes", "errors", "response_sum_ns", "service_sum_ns")
_MOSTS = ("response_max_ns", "service_max_ns")
_PERCENTILES = tuple(name for name in IntervalCell.__struct_fields__ if "_p" in name)


@dataclass(slots=True)
class _Cells:
    """A direction of all sums: a list for each field, and the last row with I/Os."""

    columns: dict[str, list[int]]
    contributors: list[int]
    last: list[tuple[CellColumns, int] | None]


@dataclass(slots=True)
class _Sums:
    """All sums, each a list with a place for each interval."""

    start_ns: list[int]
    length_ns: list[int]
    outstanding: list[int]
    backlog: list[int]
    cpu_ns: list[int]
    cpu_known: list[bool]
    switches: list[int]
    streams: list[list[list[int]]]
    covered: list[int]
    workers: list[int]
    read: _Cells
    write: _Cells
    powers: list[list[IntervalPower]] = field(default_factory=list)


def summed(hosts: Sequence[Placed], streams: int, baseline_w: float) -> list[Interval]:
    """The rows of all hosts. A host that has no row where it was at work lowers the coverage."""
    keys = sorted({key for each in hosts for key in each.places}, key=_order)
    slots = {key: slot for slot, key in enumerate(keys)}
    sums = _empty(len(keys), streams)
    for each in hosts:
        _add(sums, each, slots)
    rows = [_row(sums, slot, phase, len(hosts), baseline_w) for slot, (phase, _) in enumerate(keys)]
    rows.sort(key=lambda row: (row.start_ns, row.end_ns))
    return [_numbered(row, number) for number, row in enumerate(rows)]


_PHASES = list(Phase)


def _order(key: tuple[Phase, int]) -> tuple[int, int]:
    return _PHASES.index(key[0]), key[1]


def _empty(count: int, streams: int) -> _Sums:
    def zeroes() -> list[int]:
        return [0] * count

    def cells() -> _Cells:
        columns = {name: zeroes() for name in (*_SUMS, *_MOSTS)}
        return _Cells(columns, zeroes(), [None] * count)

    return _Sums(
        *([-1] * count, zeroes(), zeroes(), zeroes(), zeroes(), [True] * count, zeroes()),
        streams=[[[0] * 4 for _ in range(streams)] for _ in range(count)],
        covered=zeroes(),
        workers=zeroes(),
        read=cells(),
        write=cells(),
        powers=[[] for _ in range(count)],
    )


def _add(sums: _Sums, each: Placed, slots: Mapping[tuple[Phase, int], int]) -> None:
    rows, offset_ns = each.host.rows, each.host.start.offset_ns
    places = [0] * len(rows.seq)
    for key, own in each.places.items():
        slot = slots[key]
        for row in own:
            places[row] = slot
    for slot, start_ns, end_ns in zip(places, rows.start_ns, rows.end_ns, strict=True):
        start_ns += offset_ns
        if sums.start_ns[slot] < 0 or start_ns < sums.start_ns[slot]:
            sums.start_ns[slot] = start_ns
        sums.length_ns[slot] = max(sums.length_ns[slot], end_ns - start_ns + offset_ns)
    for slot, cpu_ns in zip(places, rows.worker_cpu_ns, strict=True):
        if cpu_ns is None:
            sums.cpu_known[slot] = False
        else:
            sums.cpu_ns[slot] += cpu_ns
    _accumulate(sums.switches, places, rows.worker_switches)
    for slot, counts in zip(places, rows.streams, strict=True):
        for stream, of_stream in zip(sums.streams[slot], counts, strict=False):
            stream[0] += of_stream[0]
            stream[1] += of_stream[1]
            stream[2] += of_stream[2]
            stream[3] += of_stream[3]
    _add_cells(sums.read, places, rows.read)
    _add_cells(sums.write, places, rows.write)
    _add_levels(sums, each, slots)
    _add_coverage(sums, each, slots)


def _accumulate(sums: list[int], places: Sequence[int], values: Sequence[int]) -> None:
    for slot, value in zip(places, values, strict=True):
        sums[slot] += value


def _add_cells(cells: _Cells, places: Sequence[int], more: CellColumns) -> None:
    for name in _SUMS:
        _accumulate(cells.columns[name], places, getattr(more, name))
    for name in _MOSTS:
        most = cells.columns[name]
        for slot, value in zip(places, getattr(more, name), strict=True):
            most[slot] = max(most[slot], value)
    for row, (slot, ios) in enumerate(zip(places, more.ios, strict=True)):
        if ios:
            cells.contributors[slot] += 1
            cells.last[slot] = (more, row)


def _add_levels(sums: _Sums, each: Placed, slots: Mapping[tuple[Phase, int], int]) -> None:
    """What is not a count: of the row of a host that most of its workers made."""
    rows = each.host.rows
    for key, own in each.places.items():
        slot, row = slots[key], own[0]
        if len(own) > 1:
            row = max(own, key=lambda at: rows.coverage_ppm[at])
        sums.outstanding[slot] += rows.outstanding[row]
        sums.backlog[slot] += rows.backlog[row]
        power_of_row = None if rows.power is None else rows.power[row]
        if power_of_row is not None:
            sums.powers[slot].append(power_of_row)


def _add_coverage(sums: _Sums, each: Placed, slots: Mapping[tuple[Phase, int], int]) -> None:
    rows, workers = each.host.rows, workers_of(each.host)
    spans = _spans(each.places)
    # Over the rows that there are: numbers, of times that hosts send, may be far apart.
    for (phase, number), slot in slots.items():
        low, high = spans.get(phase, (1, 0))
        if low <= number <= high:
            own = each.places.get((phase, number), ())
            covered = sum(rows.coverage_ppm[row] for row in own)
            sums.covered[slot] += min(COVERS_ALL, covered) * workers
            sums.workers[slot] += workers


def _spans(places: Places) -> dict[Phase, tuple[int, int]]:
    """First and last number of each phase: between them the host was at work."""
    spans: dict[Phase, tuple[int, int]] = {}
    for phase, number in places:
        low, high = spans.get(phase, (number, number))
        spans[phase] = min(low, number), max(high, number)
    return spans


def workers_of(host: HostResult) -> int:
    """Number of its workers; 1 if it did not tell."""
    return max(1, len(host.run.config.cpus)) if host.run is not None else 1


def _row(sums: _Sums, slot: int, phase: Phase, hosts: int, baseline_w: float) -> Interval:
    start_ns = sums.start_ns[slot]
    row = IntervalRow(
        seq=slot,
        phase=phase,
        start_ns=start_ns,
        end_ns=start_ns + sums.length_ns[slot],
        outstanding=sums.outstanding[slot],
        backlog=sums.backlog[slot],
        worker_cpu_ns=sums.cpu_ns[slot] if sums.cpu_known[slot] else None,
        worker_switches=sums.switches[slot],
        read=_cell(sums.read, slot),
        write=_cell(sums.write, slot),
        streams=[(a, b, c, d) for a, b, c, d in sums.streams[slot]],
        coverage_ppm=sums.covered[slot] // sums.workers[slot],
    )
    values = {name: getattr(row, name) for name in IntervalRow.__struct_fields__}
    return Interval(**values, power=_power(sums.powers[slot], hosts, row, baseline_w))


def _cell(cells: _Cells, slot: int) -> IntervalCell:
    """A percentile is known if all I/Os are of a single row, or if there are none."""
    last, several = cells.last[slot], cells.contributors[slot] > 1
    percentiles: dict[str, int | None] = dict.fromkeys(_PERCENTILES, None if several else 0)
    if last is not None and not several:
        columns, row = last
        percentiles = {name: getattr(columns, name)[row] for name in _PERCENTILES}
    return IntervalCell(
        **{name: column[slot] for name, column in cells.columns.items()},
        **percentiles,  # type: ignore[arg-type]
    )


def _power(
    parts: Sequence[IntervalPower], hosts: int, row: IntervalRow, baseline_w: float
) -> IntervalPower | None:
    """The sum over hosts; the rails are in the rows of each. None: that of a host is not known."""
    if not parts or len(parts) != hosts:
        return None
    every = [rail for part in parts for rail in power.rails_of(part)]
    whole = IntervalPower(rails=[], total=power.total_of(every))
    if not is_covered(row):
        return whole
    seconds = max(row.end_ns - row.start_ns, 1) / 1e9
    ios, amount = row.read.ios + row.write.ios, row.read.bytes + row.write.bytes
    return power.figures(whole, baseline_w, ios / seconds, amount / seconds)


def _numbered(row: Interval, number: int) -> Interval:
    values = {name: getattr(row, name) for name in Interval.__struct_fields__}
    return Interval(**(values | {"seq": number}))
