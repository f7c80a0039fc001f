# SPDX-License-Identifier: GPL-2.0-or-later
"""A run as numbers: what ``resolve.py`` makes, ``client.py`` sends and the result repeats.

All values are whole numbers in the units of their names and go to the kernel unchanged;
shares are weights or parts per million.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from spekctl.workload.options import OPTIONS
from spekctl.workload.values import (
    CorePattern,
    Data,
    Law,
    Operation,
    Priority,
    WalkStyle,
    WriteHint,
)


class Resolved(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of the resolved tables."""


class Extent(Resolved, frozen=True):
    """Part of an asu on one target."""

    target: Annotated[int, Meta(description="Index of the target.")]
    start: Annotated[int, Meta(description="First byte on it.")]


class ResolvedAsu(Resolved, frozen=True):
    """A range of addresses."""

    name: str
    bytes: Annotated[int, Meta(description="Size over all its extents.")]
    stripe_bytes: Annotated[int, Meta(description="Stripe unit; 0 with one extent.")]
    extents: list[Extent]
    zone_bytes: Annotated[
        int, Meta(description="write-pointer: from zone to zone of the device; else 0.")
    ] = 0
    open_zones: Annotated[
        int, Meta(description="write-pointer: zones written in turn over all workers; else 0.")
    ] = 0


class ResolvedArrival(Resolved, frozen=True):
    """An arrival process; totals over all workers."""

    name: str
    law: Law
    depth: Annotated[int, Meta(description="closed: I/Os outstanding, else 0.")] = 0
    think_ns: Annotated[int, Meta(description="closed: pause after a completion.")] = 0
    rate_milli: Annotated[
        int,
        Meta(
            description="poisson, constant: I/Os per 1000 s; closed: at most so many, 0: no limit."
        ),
    ] = 0
    burst_length: Annotated[
        int,
        Meta(
            description="burst: I/Os of a burst; closed with a limit: I/Os that may follow a pause"
            " at once, 0: 1."
        ),
    ] = 0
    burst_interval_ns: Annotated[int, Meta(description="burst: from start to start.")] = 0
    points: Annotated[
        list[tuple[int, int]],
        Meta(description="Rate curve instead of rate_milli: times in ns and I/Os per 1000 s."),
    ] = []
    repeats: Annotated[int, Meta(description="1: the curve begins again after its end.")] = 0
    on_ns: Annotated[
        int, Meta(description="Mean of on periods, in which rate_milli applies; 0: all the time.")
    ] = 0
    off_ns: Annotated[int, Meta(description="Mean of off periods.")] = 0
    tail_milli: Annotated[
        int,
        Meta(
            description="Shape of Pareto lengths of on and off periods in thousandths; 0:"
            " exponential."
        ),
    ] = 0

    @property
    def on_share(self) -> Fraction:
        """Mean share of the time that the process is in on periods."""
        return Fraction(self.on_ns, self.on_ns + self.off_ns) if self.on_ns else Fraction(1)


class ResolvedSize(Resolved, frozen=True):
    """A block size with its weight."""

    bytes: int
    weight: int


class ResolvedStream(Resolved, frozen=True):
    """A stream; fields that its pattern does not use are 0."""

    name: str
    asu: Annotated[int, Meta(description="Index of its asu.")]
    arrival: Annotated[int, Meta(description="Index of its arrival process.")]
    weight: Annotated[int, Meta(description="Share among the streams of that process.")]
    replicas: Annotated[int, Meta(description="Independent copies; SPC-1: BSUs.")]
    read_ppm: Annotated[int, Meta(description="Share of reads.")]
    pattern: CorePattern
    range_start: Annotated[int, Meta(description="First byte within the asu.")]
    range_bytes: int
    align_bytes: int
    sizes: list[ResolvedSize]
    seq_ppm: int = 0
    stride_bytes: int = 0
    run_bytes: int = 0
    restart_bytes: int = 0
    run_align_bytes: int = 0
    walk_style: WalkStyle = "classic"
    jitter_bytes: int = 0
    parts: Annotated[
        list[tuple[int, int]],
        Meta(description="table: number of addresses of each part and its share of 2^40 I/Os."),
    ] = []
    spread: Annotated[
        int, Meta(description="table: 1: neighbouring addresses are spread over the range.")
    ] = 0
    operation: Annotated[Operation, Meta(description="What it does.")] = "transfer"
    fua: Annotated[int, Meta(description="1: its writes have forced unit access.")] = 0
    priority: Annotated[
        Priority, Meta(description="Class of its I/O priority; none: that of the worker's thread.")
    ] = "none"
    priority_level: Annotated[int, Meta(description="rt, be: 0 (highest) to 7.")] = 0
    write_hint: Annotated[
        WriteHint, Meta(description="Expected lifetime of the data it writes.")
    ] = "not-set"
    own_data: Annotated[
        int, Meta(description="1: it writes data of its own, 0: those of the run.")
    ] = 0
    compressible_ppm: Annotated[
        int, Meta(description="own_data: share of fill in each 4 KiB; the rest is random.")
    ] = 0
    duplicate_ppm: Annotated[
        int, Meta(description="own_data: share of 4 KiB blocks that are one of 64.")
    ] = 0
    fill: Annotated[
        str, Meta(description="own_data: bytes of the fill, hexadecimal; empty: zeroes.")
    ] = ""


class DeviceNumber(Resolved, frozen=True):
    """Which device a target is."""

    major: int
    minor: int
    diskseq: Annotated[
        int, Meta(description="Sequence number of the disk that was looked at; 0: not known.")
    ] = 0


class RunConfig(Resolved, frozen=True):
    """All parameters of run-new."""

    name: str
    seed: int
    write: bool
    backend: str
    polled: bool
    data: Data | Literal["stamped"]
    max_outstanding: int
    spin_ns: int
    interval_ns: int
    ramp_ns: int
    ramp_count: int
    time_ns: int
    count: int
    max_errors: int
    cpus: Annotated[list[int], Meta(description="CPU of each worker.")]
    targets: list[DeviceNumber]
    asus: list[ResolvedAsu]
    arrivals: list[ResolvedArrival]
    streams: list[ResolvedStream]
    batch: Annotated[int, Meta(description=f"{OPTIONS['batch'].help} 0: the module's default.")]
    detached: bool = False
    log_records: Annotated[
        int, Meta(description="Room per worker for the per-I/O log; 0: no log.")
    ] = 0
    stamp_id: Annotated[
        int, Meta(description="stamped: tells this run's blocks from those of others; 0: none.")
    ] = 0
    verify_from: Annotated[
        int, Meta(description="stamped: run whose knowledge is taken over; 0: none.")
    ] = 0
    grain_bytes: Annotated[
        int, Meta(description="stamped: most that one state may stand for; 0: as it fits.")
    ] = 0
    trace_records: Annotated[
        int, Meta(description="trace: room of each worker's ring, in records; 0: no trace.")
    ] = 0

    @property
    def writes(self) -> bool:
        """True if any stream can write."""
        return any(stream.read_ppm < 1_000_000 and stream.weight for stream in self.streams)

    @property
    def offered_rate(self) -> float | None:
        """I/Os per second that arrive whatever the device does; None if any loop is closed, or if
        they come from a trace."""
        if any(arrival.law in ("closed", "trace") for arrival in self.arrivals):
            return None
        return self.arrival_rate

    @property
    def arrival_rate(self) -> float:
        """I/Os per second of all arrivals that have a rate; closed loops and traces have none."""
        total = 0.0
        for arrival in self.arrivals:
            if arrival.law == "burst":
                total += arrival.burst_length * 1e9 / arrival.burst_interval_ns
            elif arrival.points:
                total += float(self._mean_milli(arrival)) / 1000
            elif arrival.law not in ("closed", "trace"):
                total += float(arrival.rate_milli * arrival.on_share) / 1000
        return total

    def _mean_milli(self, arrival: ResolvedArrival) -> Fraction:
        """Mean rate of a curve over the measurement; by count, over its points."""
        from spekctl.workload.curves import mean_milli

        if not self.time_ns or self.ramp_count:
            return mean_milli(arrival.points, bool(arrival.repeats))
        end_ns = self.ramp_ns + self.time_ns
        return mean_milli(arrival.points, bool(arrival.repeats), self.ramp_ns, end_ns)
