# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams of hosts, for their sum.

A replay has streams of its own for each device of its host. Hosts with different numbers of devices
have one stream in the sum for each operation of the trace, behind the streams beside it, which are
the same on all hosts.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from spekctl.documents.host_results import HostResult, HostRun
from spekctl.errors import UsageError
from spekctl.workload.config import ResolvedStream, RunConfig

Counts = tuple[int, int, int, int]


def name_of(operation: str) -> str:
    """The stream of a trace's @operation in the sum."""
    return "trace" if operation == "transfer" else operation


def told(run: HostRun) -> str:
    """The streams that all hosts have to have."""
    beside = _beside(run) if run.replay is not None else len(run.config.streams)
    names = [f"{each.name} ({each.operation})" for each in run.config.streams[:beside]]
    return ", ".join(names + ["trace"] * (run.replay is not None))


def aligned(hosts: Sequence[HostResult]) -> list[HostResult]:
    """The hosts, whose told() are the same, with the same streams on all of them. UsageError if a
    stream beside the trace has the name of a stream of the sum."""
    runs = [host.run for host in hosts if host.run is not None]
    if len({_layout(run.config) for run in runs}) < 2 and not _lost_others(hosts, runs):
        return list(hosts)
    beside = _beside(runs[0])
    operations = list(
        dict.fromkeys(stream.operation for run in runs for stream in run.config.streams[beside:])
    )
    streams = _streams(runs, beside, operations)
    return [_with(host, streams, _places(host, runs[0], beside, operations)) for host in hosts]


def _lost_others(hosts: Sequence[HostResult], runs: Sequence[HostRun]) -> bool:
    """Whether the rows of a host without a result have another number of streams than @runs, which
    are alike: it replayed the trace on another number of devices."""
    if not runs or runs[0].replay is None:
        return False
    count = len(runs[0].config.streams)
    return any(host.run is None and _width(host) not in (0, count) for host in hosts)


def _width(host: HostResult) -> int:
    """Number of streams in the rows of a host; 0 if it has no rows."""
    return max(map(len, host.rows.streams), default=0)


def _layout(config: RunConfig) -> tuple[tuple[str, str], ...]:
    return tuple((stream.name, stream.operation) for stream in config.streams)


def _beside(run: HostRun) -> int:
    """Number of streams beside a trace, whose arrival process is the last."""
    last = len(run.config.arrivals) - 1
    return sum(stream.arrival != last for stream in run.config.streams)


def _streams(
    runs: Sequence[HostRun], beside: int, operations: Sequence[str]
) -> list[ResolvedStream]:
    """Those of the sum, for the config of the first host."""
    first = runs[0].config.streams
    own = [stream for run in runs for stream in run.config.streams[beside:]]
    streams = list(first[:beside])
    for operation in operations:
        stream = next(stream for stream in own if stream.operation == operation)
        name = name_of(operation)
        if any(name == each.name for each in first[:beside]):
            raise UsageError(
                f"stream '{name}': the sum of replays on different devices uses this name itself;"
                " choose another for the stream beside the trace, and run again"
            )
        streams.append(msgspec.structs.replace(stream, name=name, asu=first[beside].asu))
    return streams


def _places(host: HostResult, first: HostRun, beside: int, operations: Sequence[str]) -> list[int]:
    """Where each stream of a host is in the sum. A host without a result has not told its streams:
    the operations of its devices are taken to be those of the first host's."""
    if host.run is not None:
        own = [stream.operation for stream in host.run.config.streams[beside:]]
    else:
        count = _width(host) - beside
        turn = list(dict.fromkeys(each.operation for each in first.config.streams[beside:]))
        own = [turn[place % len(turn)] for place in range(count)]
    return [*range(beside), *(beside + operations.index(operation) for operation in own)]


def _with(host: HostResult, streams: Sequence[ResolvedStream], places: list[int]) -> HostResult:
    rows = msgspec.structs.replace(
        host.rows, streams=[_summed(row, places, len(streams)) for row in host.rows.streams]
    )
    run = host.run
    if run is not None:
        cells = [
            msgspec.structs.replace(
                cell, stream=places[cell.stream], name=streams[places[cell.stream]].name
            )
            for cell in run.cells
        ]
        config = msgspec.structs.replace(run.config, streams=list(streams))
        run = msgspec.structs.replace(run, config=config, cells=cells)
    return msgspec.structs.replace(host, rows=rows, run=run)


def _summed(row: Sequence[Counts], places: Sequence[int], count: int) -> list[Counts]:
    sums = [[0] * 4 for _ in range(count)]
    for counts, place in zip(row, places, strict=False):
        for field, value in enumerate(counts):
            sums[place][field] += value
    return [(a, b, c, d) for a, b, c, d in sums]
