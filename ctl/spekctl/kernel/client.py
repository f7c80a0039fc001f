# SPDX-License-Identifier: GPL-2.0-or-later
"""Client of spek.ko: records in, records out; a refusal is a SpekError.

A Client is one socket, which owns its claims, and the runs that it creates unless they are
detached. When it is closed or this process dies, the kernel stops these runs and releases the
devices.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, Protocol, TypeVar

import msgspec

from spekctl.closing import Closing
from spekctl.contract.requests import ClaimRequest, run_attributes
from spekctl.errors import NotFoundError, SpekError
from spekctl.kernel.gen.spek_records import (
    CellInfo,
    IntervalInfo,
    IntervalStream,
    OpInfo,
    StatsInfo,
)
from spekctl.kernel.link import Link, _refusal, not_loaded
from spekctl.kernel.records import (
    ClaimInfo,
    ClaimState,
    ConfigPart,
    Direction,
    Histogram,
    IntervalCell,
    IntervalRow,
    MapInfo,
    Metric,
    MismatchInfo,
    OpRecord,
    Phase,
    RunInfo,
    RunState,
    StatsCell,
)
from spekctl.workload.config import DeviceNumber, RunConfig

T = TypeVar("T")

# Notifications wake us up; polling covers a lost one.
OPEN_POLL_S = 0.25


# Called while the module waits for a device; raises to stop waiting.
Patience = Callable[[], None]


def endless() -> None:
    """Wait as long as it takes."""


class Kernel(Protocol):
    """The kernel as the rest of spekctl sees it; unit tests provide their own."""

    def run_new(
        self, config: RunConfig, patience: Patience = endless, claim: int | None = None
    ) -> int: ...
    def run_get(self, run: int) -> RunInfo: ...
    def runs(self) -> list[RunInfo]: ...
    def run_start(self, run: int, start_ns: int = 0) -> None: ...
    def run_stop(self, run: int) -> None: ...
    def run_delete(self, run: int, patience: Patience = endless) -> None: ...
    def claim_new(
        self, targets: Sequence[DeviceNumber], write: bool, patience: Patience = endless
    ) -> int: ...
    def claim_del(self, claim: int, patience: Patience = endless) -> None: ...
    def claims(self) -> list[ClaimInfo]: ...
    def stats(self, run: int) -> list[StatsCell]: ...
    def intervals(self, run: int, since: int) -> list[IntervalRow]: ...
    def mismatches(self, run: int) -> list[MismatchInfo]: ...
    def map_get(self, run: int) -> list[MapInfo]: ...
    def map_set(self, run: int, part: MapInfo) -> None: ...
    def wait(self, timeout_s: float) -> None: ...
    def close(self) -> None: ...


def connect() -> Kernel:
    """A connection to spek.ko; NoKernelSideError, with the remedy, if it is not loaded."""
    return Client()


class Client(Closing):
    """A connection to spek.ko."""

    def __init__(self) -> None:
        from spekctl.kernel.gen import spek

        self._spek = spek
        self._link = Link(
            spek,
            None,
            not_loaded("spek"),
        )
        self._listener: Link | None = None

    def close(self) -> None:
        """Close the connection; runs that it owns end."""
        if self._listener is not None:
            self._listener.close()
        self._link.close()

    def run_new(
        self, config: RunConfig, patience: Patience = endless, claim: int | None = None
    ) -> int:
        """Check a configuration and claim its devices; return the number of the READY run.

        Opening a device may take arbitrarily long. An exception from @patience ends the wait; the
        run is deleted as soon as the open returns. @claim: one of this connection that has the
        devices; the run borrows them.
        """
        self._listen()
        values = _run_attributes(config)
        if claim is not None:
            values["claim"] = claim
        answer = self._link.ask(self._spek.Cmd.RUN_NEW, **values)
        run = int(answer["id"])
        try:
            while (info := self.run_get(run)).state is RunState.OPENING:
                patience()
                self.wait(OPEN_POLL_S)
        except BaseException:
            with contextlib.suppress(SpekError):
                self._link.tell(self._spek.Cmd.RUN_DEL, id=run)
            raise
        if info.state is not RunState.FAILED:
            return run
        self.run_delete(run)
        error = _refusal(info.failure_errno, info.failure, "run-new")
        if info.failure_part is not ConfigPart.RUN:
            error.blamed = (info.failure_part, info.failure_index)
        raise error

    def run_get(self, run: int) -> RunInfo:
        """State and progress of a run."""
        return msgspec.convert(self._link.ask(self._spek.Cmd.RUN_GET, id=run), RunInfo)

    def runs(self) -> list[RunInfo]:
        """All runs that the kernel knows."""
        return self._all(self._spek.Cmd.RUN_GET, RunInfo)

    def run_start(self, run: int, start_ns: int = 0) -> None:
        """Start a READY run, at once or at @start_ns of CLOCK_MONOTONIC."""
        self._listen()
        values = {"start_ns": start_ns} if start_ns else {}
        self._link.tell(self._spek.Cmd.RUN_START, id=run, **values)

    def run_stop(self, run: int) -> None:
        """Ask a run to end; it is over when its state is DONE."""
        self._listen()
        self._link.tell(self._spek.Cmd.RUN_STOP, id=run)

    def run_delete(self, run: int, patience: Patience = endless) -> None:
        """Delete a run without I/O in flight, and wait until its devices are free.

        An exception from @patience ends the wait, not the deletion.
        """
        self._listen()
        self._link.tell(self._spek.Cmd.RUN_DEL, id=run)
        with contextlib.suppress(NotFoundError):
            while self.run_get(run):
                patience()
                self.wait(OPEN_POLL_S)

    def claim_new(
        self, targets: Sequence[DeviceNumber], write: bool, patience: Patience = endless
    ) -> int:
        """Claim devices for several runs of this connection; return the number of the READY claim.

        @write: runs under the claim may write. Waits as run_new() does.
        """
        self._listen()
        request = ClaimRequest(targets=list(targets), write=int(write))
        answer = self._link.ask(self._spek.Cmd.CLAIM_NEW, **request.attributes())
        claim = int(answer["id"])
        try:
            while (info := self._claim_get(claim)).state is ClaimState.OPENING:
                patience()
                self.wait(OPEN_POLL_S)
        except BaseException:
            with contextlib.suppress(SpekError):
                self._link.tell(self._spek.Cmd.CLAIM_DEL, id=claim)
            raise
        if info.state is not ClaimState.FAILED:
            return claim
        self.claim_del(claim)
        error = _refusal(info.failure_errno, info.failure, "claim-new")
        error.blamed = ("target", info.failure_index)
        raise error

    def claim_del(self, claim: int, patience: Patience = endless) -> None:
        """Delete a claim that no run uses, and wait until its devices are free.

        An exception from @patience ends the wait, not the deletion.
        """
        self._listen()
        self._link.tell(self._spek.Cmd.CLAIM_DEL, id=claim)
        with contextlib.suppress(NotFoundError):
            while self._claim_get(claim):
                patience()
                self.wait(OPEN_POLL_S)

    def claims(self) -> list[ClaimInfo]:
        """All claims that the kernel knows."""
        return self._all(self._spek.Cmd.CLAIM_GET, ClaimInfo)

    def _claim_get(self, claim: int) -> ClaimInfo:
        return msgspec.convert(self._link.ask(self._spek.Cmd.CLAIM_GET, id=claim), ClaimInfo)

    def stats(self, run: int) -> list[StatsCell]:
        """Counters of all phases, histograms of the measure phase and the drain."""
        cells: dict[Key, StatsInfo] = {}
        parts: dict[Key, dict[Metric, Histogram]] = {}
        for info in self._all(self._spek.Cmd.STATS_GET, StatsInfo, run=run):
            key = (info.phase, info.stream, info.direction)
            if info.hist_bits:
                _add_histogram(parts.setdefault(key, {}), info)
            else:
                cells[key] = info
        return [
            StatsCell(
                phase=info.phase,
                stream=info.stream,
                direction=info.direction,
                ios=info.ios,
                bytes=info.bytes,
                requests=info.requests,
                errors=info.errors,
                errors_by_errno={cause.status: cause.count for cause in info.error},
                histograms=parts.get(key, {}),
            )
            for key, info in sorted(cells.items(), key=_by_code)
        ]

    def intervals(self, run: int, since: int) -> list[IntervalRow]:
        """Closed intervals from number @since on, in the order of closing."""
        rows = self._link.dump(self._spek.Cmd.INTERVAL_GET, run=run, since=since)
        return [_interval(msgspec.convert(row, IntervalInfo), "cpu_ns" in row) for row in rows]

    def operations(self, run: int, worker: int, count: int) -> list[OpRecord]:
        """The first operations that a worker of this run would generate; no I/O is sent."""
        parts = self._all(self._spek.Cmd.OP_GET, OpInfo, run=run, worker=worker, count=count)
        parts.sort(key=lambda part: part.first)
        return [op for part in parts for op in OpRecord.unpack(part.ops)]

    def mismatches(self, run: int) -> list[MismatchInfo]:
        """The first mismatches that a run with stamped data has found."""
        return self._all(self._spek.Cmd.MISMATCH_GET, MismatchInfo, run=run)

    def map_get(self, run: int) -> list[MapInfo]:
        """The write states of the blocks of a run with stamped data."""
        return self._all(self._spek.Cmd.MAP_GET, MapInfo, run=run)

    def map_set(self, run: int, part: MapInfo) -> None:
        """Give a READY run the write states of an earlier run."""
        step = self._spek.MAP_STATES * 8
        for at in range(0, len(part.states), step):
            self._link.tell(
                self._spek.Cmd.MAP_SET,
                run=run,
                target=part.target,
                first=part.first + at // 8,
                states=part.states[at : at + step],
            )

    def wait(self, timeout_s: float) -> None:
        """Wait until a run or a claim changes its state, at most @timeout_s."""
        self._listen()
        assert self._listener is not None
        self._listener.wait(timeout_s)

    def _listen(self) -> None:
        """Subscribe to notifications; to be called before any request that causes one."""
        if self._listener is None:
            self._listener = Link(self._spek, self._spek.GROUP_RUNS, "spek was unloaded")

    def _all(self, command: IntEnum, record: type[T], **values: Any) -> list[T]:
        """All messages of a dump as records; unknown attributes of a newer module are ignored."""
        return [msgspec.convert(answer, record) for answer in self._link.dump(command, **values)]


# Phase, stream and direction.
Key = tuple[Phase, int, Direction]


def _by_code(item: tuple[Key, StatsInfo]) -> tuple[int, int, int]:
    phase, stream, direction = item[0]
    return phase.code, stream, direction.code


def _interval(info: IntervalInfo, has_cpu_time: bool) -> IntervalRow:
    cells = {cell.direction: cell for cell in info.cells}

    def cell(direction: Direction) -> IntervalCell:
        counted = cells.get(direction, CellInfo(direction))
        low_words = msgspec.convert(counted, IntervalCell, from_attributes=True)
        return msgspec.structs.replace(
            low_words,
            response_sum_ns=counted.response_sum_high << 64 | counted.response_sum_ns,
            service_sum_ns=counted.service_sum_high << 64 | counted.service_sum_ns,
        )

    return IntervalRow(
        seq=info.seq,
        phase=info.phase,
        start_ns=info.start_ns,
        end_ns=info.end_ns,
        outstanding=info.outstanding,
        backlog=info.backlog,
        worker_cpu_ns=info.cpu_ns if has_cpu_time else None,
        worker_switches=info.switches,
        read=cell(Direction.READ),
        write=cell(Direction.WRITE),
        streams=list(IntervalStream.unpack(info.streams)),
        coverage_ppm=info.coverage_ppm,
    )


def _add_histogram(histograms: dict[Metric, Histogram], info: StatsInfo) -> None:
    """Add one message of buckets to the histogram of its metric."""
    counts: dict[int, int] = histograms[info.metric].counts if info.metric in histograms else {}
    for index, (count,) in enumerate(struct.iter_unpack("=Q", info.hist), start=info.hist_first):
        if count:
            counts[index] = count
    sum_ns = info.sum_high << 64 | info.sum_ns
    histograms[info.metric] = Histogram(info.hist_bits, counts, sum_ns, info.min_ns, info.max_ns)


def _run_attributes(config: RunConfig) -> dict[str, Any]:
    """A RunConfig as the attributes of run-new, without those that have the kernel's default."""
    return {
        **run_attributes(config),
        "worker": [{"cpu": cpu} for cpu in config.cpus],
        "target": [target.attributes() for target in config.targets],
        "asu": [asu.attributes() for asu in config.asus],
        "arrival": [arrival.attributes() for arrival in config.arrivals],
        "stream": [stream.attributes() for stream in config.streams],
    }
