# SPDX-License-Identifier: GPL-2.0-or-later
"""What says when an I/O arrives, if it is not the completion of another one."""

from __future__ import annotations

from collections.abc import Sequence

from spekctl.units import format_rate
from spekctl.workload.config import ResolvedArrival, ResolvedStream, RunConfig


def has(stream: ResolvedStream, side: str) -> bool:
    """Whether a stream sends I/Os of @side, read or write; empty: any."""
    if not stream.weight or not side:
        return bool(stream.weight)
    return stream.read_ppm > 0 if side == "read" else stream.read_ppm < 1_000_000


def used(config: RunConfig, side: str = "") -> Sequence[ResolvedArrival]:
    """The arrivals that have streams; of one @side those whose streams read, or write."""
    numbers = {stream.arrival for stream in config.streams if has(stream, side)}
    return [arrival for number, arrival in enumerate(config.arrivals) if number in numbers]


def pace_of(arrival: ResolvedArrival, config: RunConfig, trace_waits: bool = False) -> str:
    """What sets the pace of @arrival, as the subject of a sentence; empty: completions alone do.

    @trace_waits: a trace is replayed in a closed loop without think times.
    """
    if arrival.law == "trace":
        return "" if trace_waits else "the times of the trace"
    if arrival.law != "closed":
        return f"the offered rate of {format_rate(config.arrival_rate)}"
    if arrival.rate_milli:
        return f"the limit of {format_rate(arrival.rate_milli / 1000)}"
    if arrival.pause_ns:
        return "the pauses"
    return "the think time" if arrival.think_ns else ""


def pace_of_all(config: RunConfig, trace_waits: bool = False, side: str = "") -> str:
    """What sets the pace of the whole load, or of its reads or its writes; empty if a closed loop
    takes what is left."""
    paces = [pace_of(arrival, config, trace_waits) for arrival in used(config, side)]
    return paces[0] if paces and all(paces) else ""
