# SPDX-License-Identifier: GPL-2.0-or-later
"""The common window of a fleet: the report intervals of the measure phase that all clients have.

Rows of a phase follow a schedule that begins with it, so their numbers are exact on each host; the
clocks only say by how many whole intervals a host began later than the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spekctl.documents.host_results import CellColumns, HostResult
from spekctl.documents.hosts import CommonWindow, HostShare, WindowStream, WindowSum
from spekctl.kernel.records import Phase

# Phase and number of an interval -> the rows that a host has there. A worker that was late makes a
# row of its own with the times of another.
Places = Mapping[tuple[Phase, int], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Placed:
    """A host and where its rows lie."""

    host: HostResult
    places: Places


def placed(hosts: Iterable[HostResult], interval_ns: int) -> list[Placed]:
    """The rows of all hosts by phase and number."""
    hosts = list(hosts)
    step = max(1, interval_ns)
    begun = [_begun(host) for host in hosts]
    first: dict[Phase, int] = {}
    for host, own in zip(hosts, begun, strict=True):
        for phase, start_ns in own.items():
            at_ns = start_ns + host.start.offset_ns
            first[phase] = min(at_ns, first.get(phase, at_ns))
    return [
        Placed(host, _places(host, own, first, step))
        for host, own in zip(hosts, begun, strict=True)
    ]


def _begun(host: HostResult) -> dict[Phase, int]:
    """When each phase began, by the host's clock; of a host that was lost, its first row."""
    begun: dict[Phase, int] = {}
    for phase, start_ns in zip(host.rows.phase, host.rows.start_ns, strict=True):
        begun[phase] = min(start_ns, begun.get(phase, start_ns))
    if host.run is not None:
        begun |= {phase.phase: phase.start_ns for phase in host.run.phases}
    return begun


def _places(
    host: HostResult, begun: Mapping[Phase, int], first: Mapping[Phase, int], step: int
) -> Places:
    late = {
        phase: (start_ns + host.start.offset_ns - first[phase] + step // 2) // step
        for phase, start_ns in begun.items()
    }
    places: dict[tuple[Phase, int], list[int]] = {}
    rows = zip(host.rows.phase, host.rows.start_ns, strict=True)
    for row, (phase, start_ns) in enumerate(rows):
        key = phase, late[phase] + (start_ns - begun[phase]) // step
        own = places.get(key)
        if own is None:
            places[key] = [row]
        else:
            own.append(row)
    return places


@dataclass(slots=True)
class _Sum:
    """Integers of one direction, or of both."""

    ios: int = 0
    bytes: int = 0
    errors: int = 0
    response_sum_ns: int = 0
    response_max_ns: int = 0

    def add(self, cells: CellColumns, row: int) -> None:
        self.ios += cells.ios[row]
        self.bytes += cells.bytes[row]
        self.errors += cells.errors[row]
        self.response_sum_ns += cells.response_sum_ns[row]
        self.response_max_ns = max(self.response_max_ns, cells.response_max_ns[row])

    def __add__(self, more: _Sum) -> _Sum:
        return _Sum(
            self.ios + more.ios,
            self.bytes + more.bytes,
            self.errors + more.errors,
            self.response_sum_ns + more.response_sum_ns,
            max(self.response_max_ns, more.response_max_ns),
        )

    def over(self, duration_ns: int) -> WindowSum:
        return WindowSum(
            self.ios,
            self.bytes,
            self.errors,
            self.response_sum_ns,
            self.response_max_ns,
            iops=self.ios * 10**9 / duration_ns if duration_ns else 0.0,
            bytes_per_s=self.bytes * 10**9 / duration_ns if duration_ns else 0.0,
            mean_ns=self.response_sum_ns / self.ios if self.ios else None,
        )


@dataclass(slots=True)
class _Part:
    """What a host has in the window."""

    read: _Sum
    write: _Sum
    streams: list[list[int]]
    start_ns: int
    end_ns: int
    duration_ns: int


def common(hosts: Sequence[Placed], streams: Sequence[str], measured: int) -> CommonWindow:
    """The window of @hosts. @measured: I/Os of all measure phases, which it may have all of."""
    started = [each for each in hosts if each.host.start.actual_ns is not None]
    own = [{number for phase, number in each.places if phase is Phase.MEASURE} for each in started]
    numbers = sorted(set.intersection(*own)) if own else []
    parts = [_part(each, numbers, len(streams)) for each in started]
    longest = max((part.duration_ns for part in parts), default=0)
    read = sum((part.read for part in parts), _Sum())
    write = sum((part.write for part in parts), _Sum())
    both = read + write
    told = all(each.host.run is not None for each in hosts)
    return CommonWindow(
        start_ns=max((part.start_ns for part in parts), default=0),
        end_ns=min((part.end_ns for part in parts), default=0),
        duration_ns=longest,
        intervals=len(numbers),
        whole=bool(numbers) and told and both.ios == measured,
        read=read.over(longest),
        write=write.over(longest),
        all=both.over(longest),
        streams=[
            WindowStream(name, *(sum(part.streams[at][field] for part in parts) for field in _FOUR))
            for at, name in enumerate(streams)
        ],
        hosts=[
            _share(each.host.name, part, both.ios)
            for each, part in zip(started, parts, strict=True)
        ],
        jain=jain([(part.read + part.write).ios for part in parts]),
        skew_ns=_worst_skew([each.host for each in started]),
        spread_ns=_spread([each.host for each in started]),
        bound_ns=_worst_bound([each.host for each in started]),
        text=_text(started, own, numbers),
    )


_FOUR = range(4)


def jain(amounts: Sequence[int]) -> float | None:
    """Jain's index of fairness; None if nothing was done."""
    squares = sum(amount * amount for amount in amounts)
    return sum(amounts) ** 2 / (len(amounts) * squares) if squares else None


def _part(each: Placed, numbers: Sequence[int], streams: int) -> _Part:
    rows, offset_ns = each.host.rows, each.host.start.offset_ns
    part = _Part(_Sum(), _Sum(), [[0] * 4 for _ in range(streams)], 0, 0, 0)
    for number in numbers:
        inside = each.places[Phase.MEASURE, number]
        for row in inside:
            part.read.add(rows.read, row)
            part.write.add(rows.write, row)
            for sums, counts in zip(part.streams, rows.streams[row], strict=False):
                for field in _FOUR:
                    sums[field] += counts[field]
        spans = {(rows.start_ns[row], rows.end_ns[row]) for row in inside}
        part.duration_ns += sum(end - start for start, end in spans)
        part.end_ns = max(rows.end_ns[row] for row in inside) + offset_ns
    if numbers:
        begun = each.places[Phase.MEASURE, numbers[0]]
        part.start_ns = min(rows.start_ns[row] for row in begun) + offset_ns
    return part


def _share(name: str, part: _Part, ios: int) -> HostShare:
    both = part.read + part.write
    return HostShare(name, both.over(part.duration_ns), both.ios / ios if ios else None)


def _worst_skew(hosts: Sequence[HostResult]) -> int | None:
    known = [abs(host.start.skew_ns) for host in hosts if host.start.skew_ns is not None]
    return max(known, default=None)


def _worst_bound(hosts: Sequence[HostResult]) -> int | None:
    bounds = [host.clock.bound_ns for host in hosts]
    known = [bound for bound in bounds if bound is not None]
    return max(known) if known and len(known) == len(bounds) else None


def _spread(hosts: Sequence[HostResult]) -> int:
    starts = [
        host.start.actual_ns or 0
        for host in hosts
        if host.start.planned_ns is None or host.start.skew_ns is not None
    ]
    return max(starts) - min(starts) if starts else 0


def _text(hosts: Sequence[Placed], own: Sequence[set[int]], numbers: Sequence[int]) -> str:
    if numbers:
        return ""
    if not hosts:
        return "no host started"
    for each, of_host in zip(hosts, own, strict=True):
        if not of_host:
            return f"{each.host.name} has no report interval of a measure phase"
    return "there was no report interval in which all hosts measured"
