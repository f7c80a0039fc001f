# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams with rates of their own: short for a Poisson arrival process of each.

``rate`` becomes an arrival process with the name of the stream. ``read_rate`` and ``write_rate``
divide a stream into two, NAME-read and NAME-write, which arrive independently.
"""

from __future__ import annotations

import msgspec

from spekctl.errors import UsageError, at
from spekctl.workload.model import KEYS, Arrival, Stream, WorkloadFile
from spekctl.workload.once import once

DEFAULT = Arrival(name="default", law="closed", depth=1)


@once
def expanded(workload: WorkloadFile) -> WorkloadFile:
    """The same workload with all arrivals as sections. UsageError with a sentence."""
    arrivals = list(workload.arrival)
    streams: list[Stream] = []
    if not any(has_own_rate(stream) for stream in workload.stream):
        return workload
    if workload.workload.scale == "bsu":
        raise UsageError("scale = bsu: the rates follow from the scale; streams have none")
    if not arrivals and not all(
        has_own_rate(stream) or stream.pattern == "trace" for stream in workload.stream
    ):
        arrivals.append(DEFAULT)
    for stream in workload.stream:
        with at(f"stream '{stream.name}'"):
            parts = _parts(stream)
        for part, rate in parts:
            if rate is not None:
                arrivals.append(Arrival(name=part.name, law="poisson", rate=rate))
                part = msgspec.structs.replace(part, arrival=part.name)
            streams.append(part)
    return msgspec.structs.replace(workload, arrival=arrivals, stream=streams)


def has_own_rate(stream: Stream) -> bool:
    """True if the stream is an arrival process of its own, or two."""
    return any(rate is not None for rate in (stream.rate, stream.read_rate, stream.write_rate))


def _parts(stream: Stream) -> list[tuple[Stream, int | float | None]]:
    if not has_own_rate(stream):
        return [(stream, None)]
    for key, usual in (("arrival", None), ("share", 1)):
        if getattr(stream, key) != usual:
            raise UsageError(f"a stream with a rate of its own has no '{key}'")
    own = {"rate": None, "read_rate": None, "write_rate": None}
    if stream.rate is not None:
        if stream.read_rate is not None or stream.write_rate is not None:
            raise UsageError("rate excludes read_rate and write_rate: it is that of both")
        return [(msgspec.structs.replace(stream, **own), stream.rate)]
    if stream.read_rate is None or stream.write_rate is None:
        raise UsageError("read_rate and write_rate belong together; a single one is 'rate'")
    if stream.operation != "transfer":
        raise UsageError(f"operation {stream.operation} has no reads: give it a 'rate'")
    if stream.read is not None:
        raise UsageError("'read' follows from read_rate and write_rate: remove it")
    plain = Stream(name=stream.name)
    of_writes = {name: getattr(plain, name) for name, key in KEYS.items() if key.writes}
    reads = msgspec.structs.replace(
        stream, name=f"{stream.name}-read", read="100%", **(own | of_writes)
    )
    writes = msgspec.structs.replace(stream, name=f"{stream.name}-write", read="0%", **own)
    return [(reads, stream.read_rate), (writes, stream.write_rate)]
