# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of each host of a fleet again, for readers that show or export hosts one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from spekctl.documents.host_results import CellColumns, HostResult, HostRows, HostRun
from spekctl.documents.hosts import Role
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Interval
from spekctl.errors import UsageError
from spekctl.kernel.records import IntervalCell

_OF_RUN = tuple(HostRun.__struct_fields__)
_OF_CELL = tuple(IntervalCell.__struct_fields__)
# Fields of a row that are lists of their own; `power` is one only where it was measured.
_PLAIN = tuple(
    name for name in HostRows.__struct_fields__ if name not in ("read", "write", "power")
)


def packed(rows: Sequence[Interval]) -> HostRows:
    """Report intervals by column."""
    columns = {name: [getattr(row, name) for row in rows] for name in _PLAIN}
    power = [row.power for row in rows]
    return HostRows(
        **columns,
        read=_columns([row.read for row in rows]),
        write=_columns([row.write for row in rows]),
        power=power if any(part is not None for part in power) else None,
    )


def _columns(cells: Sequence[IntervalCell]) -> CellColumns:
    return CellColumns(**{name: [getattr(cell, name) for cell in cells] for name in _OF_CELL})


def unpacked(rows: HostRows) -> list[Interval]:
    """The same as a list."""
    reads, writes = _cells(rows.read), _cells(rows.write)
    power = rows.power or [None] * len(reads)
    names = (*_PLAIN, "read", "write", "power")
    columns = (*(getattr(rows, name) for name in _PLAIN), reads, writes, power)
    return [
        Interval(**dict(zip(names, values, strict=True))) for values in zip(*columns, strict=True)
    ]


def _cells(columns: CellColumns) -> list[IntervalCell]:
    return [
        IntervalCell(*values)
        for values in zip(*(getattr(columns, name) for name in _OF_CELL), strict=True)
    ]


def run_of(result: Result) -> HostRun:
    """The part of a result that a host keeps beside its intervals and prober."""
    return HostRun(**{name: getattr(result, name) for name in _OF_RUN})


def own_result(result: Result, host: HostResult) -> Result | None:
    """The result of the host's own run as it was, under the name that the fleet has for the host;
    None if it is not known."""
    run = host.run
    if run is None:
        return None
    fields = {name: getattr(run, name) for name in _OF_RUN}
    fields["environment"] = msgspec.structs.replace(run.environment, hostname=host.name)
    return Result(
        **fields,
        created=result.created,
        command=result.command,
        workload=result.workload,
        intervals=unpacked(host.rows),
        prober=host.prober,
    )


def own_results(result: Result) -> list[Result]:
    """Those of all clients that have one; of a single machine, its own."""
    if result.hosts is None:
        return [result]
    own = (own_result(result, host) for host in clients(result.hosts))
    return [each for each in own if each is not None]


def clients(hosts: Iterable[HostResult]) -> list[HostResult]:
    """The hosts that send I/O."""
    return [host for host in hosts if host.role is Role.CLIENT]


def refuse_fleet(result: Result, what: str, instead: str = "") -> None:
    """UsageError if a result is of several hosts, which @what does not take."""
    if result.hosts is not None:
        hint = f"; {instead}" if instead else ""
        raise UsageError(f"{what} takes the result of one machine, not that of a fleet{hint}")
