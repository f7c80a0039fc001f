# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures that the load fixes, not the device.

A rate below saturation, a think time, pauses or the times of a trace set how many I/Os complete in
a second: those rates are the same on any device that keeps up. Response times are the device's own
in every arrival law, and beyond saturation they grow. Only arrivals that do not wait for
completions have a backlog: that of closed loops is 0 on any device.
"""

from __future__ import annotations

from fractions import Fraction

from spekctl.documents.result import Result
from spekctl.documents.result_parts import ReplayResult
from spekctl.kernel.records import Phase
from spekctl.workload import pace
from spekctl.workload.config import ResolvedArrival, RunConfig

# A rate counts as kept from this share of it on: arrivals at random differ from run to run.
KEPT = Fraction(98, 100)
# The figure that tells devices apart under any load.
TELLING = "response.mean"
# Arrivals of a closed loop do not queue: one follows a completion.
_CLOSED = "the closed loop"
_RATES = ("iops", "bandwidth", "time_per_io")


def is_paced(result: Result) -> bool:
    """Whether anything but completions says when an I/O arrives."""
    return any(_paces(result))


def set_by_load(metric: str, result: Result) -> str:
    """What fixes a figure of this result, as the subject of a sentence; empty if the device does.

    A closed loop without pauses among the arrivals takes what the device has left. Figures of one
    direction are set by the arrivals that have it: reads at a rate beside writes in a closed loop.
    """
    name = metric.removeprefix("read.").removeprefix("write.")
    side = metric.removesuffix(name).removesuffix(".")
    if name == "backlog":
        return _CLOSED if _waits_always(result) else ""
    if name not in _RATES:
        return ""
    paces = _paces(result, side)
    if not paces or not all(paces):
        return ""
    rate = _most(result, side)
    if rate is None:
        return paces[0]
    return paces[0] if _reached(result, side) >= KEPT * rate else ""


def _waits_always(result: Result) -> bool:
    """Whether no arrival can find the device behind."""
    return all(
        arrival.law == "closed"
        or (arrival.law == "trace" and replay is not None and replay.pace == "closed")
        for config, replay in _loads(result)
        for arrival in pace.used(config)
    )


def _reached(result: Result, side: str) -> float:
    """I/Os per second of the arrivals that have @side; of all in a fleet, in the time in which all
    hosts were at work."""
    streams = result.config.streams
    numbers = {stream.arrival for stream in streams if pace.has(stream, side)}
    if len(numbers) < len({stream.arrival for stream in streams if stream.weight}):
        measured = [phase.duration_ns for phase in result.phases if phase.phase == Phase.MEASURE]
        ios = sum(
            cell.ios
            for cell in result.cells
            if cell.phase == Phase.MEASURE and streams[cell.stream].arrival in numbers
        )
        return ios * 1e9 / sum(measured) if any(measured) else 0.0
    common = result.common
    return result.totals.all.iops if common is None else common.all.iops


def _loads(result: Result) -> list[tuple[RunConfig, ReplayResult | None]]:
    """The load of the machine, or of each host."""
    if result.hosts is None:
        return [(result.config, result.replay)]
    runs = [host.run for host in result.hosts if host.run is not None]
    return [(run.config, run.replay) for run in runs]


def _paces(result: Result, side: str = "") -> list[str]:
    """Of every arrival process of every host that has @side what sets its pace; empty:
    completions."""
    return [
        _pace_of(arrival, config, replay)
        for config, replay in _loads(result)
        for arrival in pace.used(config, side)
    ]


def _most(result: Result, side: str) -> float | None:
    """I/Os per second that the arrivals that have @side allow, where all of them have a rate."""
    total = 0.0
    for config, _ in _loads(result):
        for arrival in pace.used(config, side):
            total += config.rate_of(arrival)
            if arrival.law == "trace" or (arrival.law == "closed" and not arrival.rate_milli):
                return None
            if arrival.law == "closed":
                total += arrival.rate_milli / 1000
    return total


def _pace_of(arrival: ResolvedArrival, config: RunConfig, replay: ReplayResult | None) -> str:
    waits = replay is not None and replay.pace == "closed" and not replay.think
    return pace.pace_of(arrival, config, waits)
