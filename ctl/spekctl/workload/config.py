# SPDX-License-Identifier: GPL-2.0-or-later
"""A run as numbers: what ``resolve.py`` makes, ``client.py`` sends and the result repeats.

All values are whole numbers in the units of their names and go to the kernel unchanged;
shares are weights or parts per million. What a run consists of follows from the contract
(kmod/load/uapi/spek.yaml); here are the run itself, whose values are those of options.py, and what
people ask about it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from typing import Annotated, Protocol

import msgspec
from msgspec import Meta

from spekctl.contract.requests import (
    ArrivalRequest,
    AsuRequest,
    Data,
    StreamRequest,
)
from spekctl.contract.requests import ExtentRequest as Extent
from spekctl.contract.requests import SizeRequest as ResolvedSize
from spekctl.contract.requests import TargetRequest as DeviceNumber
from spekctl.workload.options import OPTIONS

__all__ = ["DeviceNumber", "Extent", "ResolvedSize"]


class Numbered(Protocol):
    """A device with its number."""

    @property
    def major(self) -> int: ...
    @property
    def minor(self) -> int: ...
    @property
    def diskseq(self) -> int: ...


class Resolved(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of the resolved tables."""


class ResolvedAsu(AsuRequest, frozen=True):
    """A range of addresses."""


class ResolvedArrival(ArrivalRequest, frozen=True):
    """An arrival process; totals over all workers."""

    @property
    def on_share(self) -> Fraction:
        """Mean share of the time that the process is in on periods."""
        return Fraction(self.on_ns, self.on_ns + self.off_ns) if self.on_ns else Fraction(1)


class ResolvedStream(StreamRequest, frozen=True):
    """A stream; fields that its pattern does not use have their defaults."""


def written_by(streams: Iterable[ResolvedStream], asus: Sequence[ResolvedAsu]) -> set[int]:
    """The targets that streams can write."""
    return {
        extent.target
        for stream in streams
        if stream.read_ppm < 1_000_000
        for extent in asus[stream.asu].extents
    }


def numbers_of(
    devices: Iterable[Numbered], write: bool, written: Collection[int]
) -> list[DeviceNumber]:
    """The targets of a run, for reading only where no stream writes although the run may."""
    return [
        DeviceNumber(
            *(device.major, device.minor, device.diskseq), int(write and index not in written)
        )
        for index, device in enumerate(devices)
    ]


class RunConfig(Resolved, frozen=True):
    """All parameters of run-new."""

    name: str
    seed: int
    write: bool
    backend: str
    polled: bool
    data: Data
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
    verify_newer: Annotated[
        int,
        Meta(description="stamped: 1: writes later than the recorded ones are correct as well."),
    ] = 0
    verify_atomic: Annotated[
        int, Meta(description="stamped: 1: each grain holds one write, as all were atomic.")
    ] = 0

    @property
    def writes(self) -> bool:
        """True if any stream can write."""
        return any(stream.read_ppm < 1_000_000 and stream.weight for stream in self.streams)

    @property
    def written(self) -> set[tuple[int, int]]:
        """Numbers of the devices that the run may write."""
        return {
            (target.major, target.minor)
            for target in self.targets
            if self.write and not target.read_only
        }

    @property
    def offered_rate(self) -> float | None:
        """I/Os per second that arrive whatever the device does, as configured; None if any loop is
        closed, if they come from a trace, or if processes end apart."""
        return self.arrival_rate if self._is_open else None

    def offered_between(self, start_ns: int, end_ns: int) -> float | None:
        """As offered_rate, of what was run: times are since the start. A rate that changes with
        time has another mean if the run ends earlier or later than configured."""
        if not self._is_open:
            return None
        return sum((self.rate_of(each, (start_ns, end_ns)) for each in self.arrivals), 0.0)

    @property
    def _is_open(self) -> bool:
        apart = len(self.arrivals) > 1 and any(arrival.count for arrival in self.arrivals)
        return not apart and all(each.law not in ("closed", "trace") for each in self.arrivals)

    @property
    def arrival_rate(self) -> float:
        """I/Os per second of all arrivals that have a rate; closed loops and traces have none."""
        return sum(map(self.rate_of, self.arrivals), 0.0)

    def rate_of(self, arrival: ResolvedArrival, between: tuple[int, int] | None = None) -> float:
        """I/Os per second of one of the arrivals; 0: a closed loop or a trace, which has none.
        @between: ns since the start; by default the measurement."""
        if arrival.law == "burst":
            return arrival.burst_length * 1e9 / arrival.burst_interval_ns
        if arrival.points:
            return float(self._mean_milli(arrival, between)) / 1000
        if arrival.law in ("closed", "trace"):
            return 0.0
        return float(arrival.rate_milli * arrival.on_share) / 1000

    def _mean_milli(
        self, arrival: ResolvedArrival, between: tuple[int, int] | None = None
    ) -> Fraction:
        """Mean rate of a curve; by default over the measurement, or by count over its points."""
        from spekctl.workload.curves import mean_milli

        if between is not None:
            return mean_milli(arrival.points, bool(arrival.repeats), *between)
        if not self.time_ns or self.ramp_count:
            return mean_milli(arrival.points, bool(arrival.repeats))
        end_ns = self.ramp_ns + self.time_ns
        return mean_milli(arrival.points, bool(arrival.repeats), self.ramp_ns, end_ns)
