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

    A closed loop without pauses among the arrivals takes what the device has left.
    """
    name = metric.removeprefix("read.").removeprefix("write.")
    if name == "backlog":
        return _CLOSED if _waits_always(result) else ""
    if name not in _RATES:
        return ""
    paces = _paces(result)
    if not paces or not all(paces):
        return ""
    rate = _most(result)
    if rate is None:
        return paces[0]
    return paces[0] if _reached(result) >= KEPT * rate else ""


def _waits_always(result: Result) -> bool:
    """Whether no arrival can find the device behind."""
    return all(
        arrival.law == "closed"
        or (arrival.law == "trace" and replay is not None and replay.pace == "closed")
        for config, replay in _loads(result)
        for arrival in pace.used(config)
    )


def _reached(result: Result) -> float:
    """I/Os per second; of a fleet, in the time in which all hosts were at work."""
    common = result.common
    return result.totals.all.iops if common is None else common.all.iops


def _loads(result: Result) -> list[tuple[RunConfig, ReplayResult | None]]:
    """The load of the machine, or of each host."""
    if result.hosts is None:
        return [(result.config, result.replay)]
    runs = [host.run for host in result.hosts if host.run is not None]
    return [(run.config, run.replay) for run in runs]


def _paces(result: Result) -> list[str]:
    """Of every arrival process of every host what sets its pace; empty: completions."""
    return [
        _pace_of(arrival, config, replay)
        for config, replay in _loads(result)
        for arrival in pace.used(config)
    ]


def _most(result: Result) -> float | None:
    """I/Os per second that the arrivals allow, where all of them have a rate."""
    total = 0.0
    for config, _ in _loads(result):
        total += config.arrival_rate
        for arrival in pace.used(config):
            if arrival.law == "trace" or (arrival.law == "closed" and not arrival.rate_milli):
                return None
            if arrival.law == "closed":
                total += arrival.rate_milli / 1000
    return total


def _pace_of(arrival: ResolvedArrival, config: RunConfig, replay: ReplayResult | None) -> str:
    waits = replay is not None and replay.pace == "closed" and not replay.think
    return pace.pace_of(arrival, config, waits)
