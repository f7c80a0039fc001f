# SPDX-License-Identifier: GPL-2.0
"""Drive runs from a test in the guest, and say what a run must have sent.

The controller is spekctl's own client, over a plain netlink socket: pyroute2's event loop costs
a tenth of a second for each request in an emulated guest, and there are a thousand of them.

What must have been sent follows from the operations that the run itself announces (op-get) and
from the limits of its targets, by the rules of the contract: an operation is cut at the stripe
units of its asu, at the device's chunks and at the largest request the device takes whole.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.guest.netlink_raw import Answer, Refusal, Socket
from lib.waiting import LONG_S

from spekctl.documents.histogram import count_of, merge
from spekctl.errors import SpekError
from spekctl.kernel.answers import answer
from spekctl.kernel.client import Client, Patience, _run_attributes, endless
from spekctl.kernel.gen import spek
from spekctl.kernel.link import Link
from spekctl.kernel.records import (
    Direction,
    Histogram,
    Metric,
    OpRecord,
    Phase,
    Reason,
    RunInfo,
    RunState,
    StatsCell,
    TargetInfo,
)
from spekctl.workload import file, resolve
from spekctl.workload.config import (
    DeviceNumber,
    Extent,
    ResolvedArrival,
    ResolvedAsu,
    ResolvedSize,
    ResolvedStream,
    RunConfig,
)

SECTOR = 512
WAIT_STEP_S = 0.01
WAIT_S = LONG_S
Size = tuple[int, int]  # bytes, weight
Requests = Counter[tuple[Direction, int]]  # (direction, sectors): requests


class PlainLink(Link):
    """spekctl's link on the socket of tests, whose refusals name an attribute by its path."""

    def __init__(self) -> None:
        self._plain = Socket(spek)

    def close(self) -> None:
        """Close the socket; runs that it owns end."""
        self._plain.close()

    def ask(self, command: Any, **values: Any) -> dict[str, Any]:
        """A request that is answered with one message."""
        return self._named(self._plain.ask(command, **values))[0]

    def tell(self, command: Any, **values: Any) -> None:
        """A request that is only acknowledged."""
        self._plain.ask(command, **values)

    def dump(self, command: Any, **values: Any) -> list[dict[str, Any]]:
        """All messages of a dump that was not interrupted."""
        while True:
            raw_answer = self._plain.dump(command, **values)
            if not raw_answer.interrupted:
                return self._named(raw_answer)

    def _named(self, raw_answer: Answer) -> list[dict[str, Any]]:
        return [answer(spek, message.data) for message in raw_answer.messages]


def make_ready(link: PlainLink, config: RunConfig) -> int:
    """A run that has opened its devices, for who has no more than a link."""
    run = int(link.ask(spek.Cmd.RUN_NEW, **_run_attributes(config))["id"])
    while (state := link.ask(spek.Cmd.RUN_GET, id=run)["state"]) == RunState.OPENING:
        time.sleep(WAIT_STEP_S)
    assert state == RunState.READY
    return run


@dataclass(frozen=True)
class Outcome:
    """A run that is over."""

    info: RunInfo
    cells: list[StatsCell]

    @property
    def target(self) -> TargetInfo:
        """The only target."""
        (target,) = self.info.targets
        return target

    def ios(self, direction: Direction | None = None, phase: Phase | None = None) -> int:
        """I/Os that succeeded."""
        return sum(cell.ios for cell in self._cells(direction, phase))

    def bytes(self, direction: Direction | None = None) -> int:
        """Bytes of I/Os that succeeded."""
        return sum(cell.bytes for cell in self._cells(direction, None))

    def requests(self, direction: Direction | None = None) -> int:
        """Requests that these I/Os took."""
        return sum(cell.requests for cell in self._cells(direction, None))

    def times(self, metric: Metric, phase: Phase = Phase.MEASURE) -> Histogram:
        """Distribution of a time over a phase, both directions."""
        cells = self._cells(None, phase)
        merged = merge(cell.histograms[metric] for cell in cells if metric in cell.histograms)
        assert merged is not None, f"{phase.name} has no {metric.name}"
        return merged

    def in_flight(self) -> int:
        """I/Os that were in flight at the end of the measure phase."""
        ages = (cell.histograms.get(Metric.RESPONSE_AGE) for cell in self.cells)
        return sum(count_of(age) for age in ages if age is not None)

    def _cells(self, direction: Direction | None, phase: Phase | None) -> Iterator[StatsCell]:
        for cell in self.cells:
            if direction in (None, cell.direction) and phase in (None, cell.phase):
                yield cell


class Controller(Client):
    """One socket that owns runs, and one that hears when they are over.

    Who never waits for that must not hear of it: what is not read stays in the socket.
    """

    def __init__(self, hears: bool = True) -> None:
        self._spek = spek
        self._link = PlainLink()
        self._listener = None
        self._heard = Socket(spek)
        if hears:
            self._heard.join(spek.GROUP_RUNS)

    def close(self) -> None:
        """Close both sockets; runs that this owns end."""
        self._link.close()
        self._heard.close()

    def _listen(self) -> None:
        """It has listened from the start, or never will."""

    def wait(self, timeout_s: float) -> None:
        """A moment: what was heard is for wait_done()."""
        time.sleep(min(timeout_s, WAIT_STEP_S))

    def run_new(
        self, config: RunConfig, patience: Patience = endless, claim: int | None = None
    ) -> int:
        """A READY run. What becomes FAILED is refused like what run-new itself refuses."""
        try:
            return super().run_new(config, patience, claim)
        except SpekError as error:
            part, index = error.blamed or ("", 0)
            attr = f"{part}[{index}]" if part else ""
            raise Refusal(error.errno, error.message, attr) from error

    def run_delete(self, run: int, patience: Patience = endless) -> None:
        """Delete a run and wait until its devices are free."""
        self._link.tell(spek.Cmd.RUN_DEL, id=run)
        try:
            while self.run_get(run):
                patience()
                self.wait(WAIT_S)
        except Refusal as refusal:
            if refusal.errno != errno.ENOENT:
                raise

    def wait_done(self, run: int, timeout_s: float = WAIT_S) -> RunInfo:
        """Sleep until the kernel announces the end of a run that was started after __init__."""
        while True:
            values = self._heard.notification(timeout_s).values
            if values["id"] == run and values["state"] == RunState.DONE.code:
                return self.run_get(run)

    def wait_done_unless_gone(self, run: int, timeout_s: float = WAIT_S) -> RunInfo | None:
        """Like wait_done() for a run that is deleted as soon as it is over."""
        try:
            return self.wait_done(run, timeout_s)
        except Refusal as refusal:
            if refusal.errno != errno.ENOENT:
                raise
            return None

    def op_bytes(self, run: int, worker: int, count: int) -> bytes:
        """Operations as the kernel sends them, unparsed."""
        parts = self._link.dump(spek.Cmd.OP_GET, run=run, worker=worker, count=count)
        first = 0
        for part in parts:
            assert part["first"] == first, "operations are missing from the dump"
            first += len(part["ops"]) // 32
        return b"".join(part["ops"] for part in parts)

    @contextlib.contextmanager
    def ready(self, config: RunConfig) -> Iterator[int]:
        """A READY run; stopped and deleted at the end, whatever became of it."""
        run = self.run_new(config)
        try:
            yield run
        finally:
            if self.run_get(run).state in (RunState.ARMED, RunState.RUNNING, RunState.DRAINING):
                self.run_stop(run)
                self.wait_done(run)
            self.run_delete(run)

    def finish(self, run: int, timeout_s: float = WAIT_S) -> Outcome:
        """Start a READY run and wait for its end."""
        self.run_start(run)
        info = self.wait_done(run, timeout_s)
        return Outcome(info, self.stats(run))

    def complete(self, config: RunConfig) -> Outcome:
        """Make, run and delete a run that must complete by itself without errors."""
        with self.ready(config) as run:
            outcome = self.finish(run)
        assert_completed(outcome)
        return outcome


def assert_completed(outcome: Outcome) -> None:
    """The run came to its own end, and all I/Os succeeded."""
    assert outcome.info.reason is Reason.COMPLETED, outcome.info
    assert outcome.info.errors == 0, outcome.info.first_error


# ---- configurations ----


def device_number(node: str) -> DeviceNumber:
    """Numbers of a device node."""
    number = os.stat(node).st_rdev
    return DeviceNumber(os.major(number), os.minor(number))


def sysfs(node: str) -> Path:
    """Directory of a disk or partition."""
    return Path("/sys/class/block", os.path.basename(os.path.realpath(node)))


def capacity(node: str) -> int:
    """Bytes of a device."""
    return int((sysfs(node) / "size").read_text()) * SECTOR


def queue_of(node: str) -> Path:
    """Directory of the queue of a disk, or of the disk that a partition is on."""
    own = sysfs(node) / "queue"
    return own if own.exists() else sysfs(node).resolve().parent / "queue"


def logical_block(node: str) -> int:
    """Bytes of a logical block."""
    return int((queue_of(node) / "logical_block_size").read_text())


def one_stream(
    *nodes: str,
    sizes: Sequence[Size] = ((4096, 1),),
    read_ppm: int = 1_000_000,
    pattern: Any = "uniform",
    arrival: ResolvedArrival | None = None,
    depth: int = 1,
    workers: int = 1,
    backend: str = "auto",
    polled: bool = False,
    count: int = 0,
    time_ns: int = 0,
    interval_ns: int = 0,
    max_outstanding: int = 0,
    batch: int = 0,
    seed: int = 1,
    stripe_bytes: int = 0,
    align_bytes: int = 0,
    spin_ns: int = 0,
    range_bytes: int = 0,
) -> RunConfig:
    """One stream over the whole of a device, or striped over several.

    @range_bytes: of its range, from the beginning; 0: all
    """
    smallest = min(capacity(node) for node in nodes)
    if len(nodes) > 1:
        smallest -= smallest % stripe_bytes
    size = smallest * len(nodes)
    arrival = arrival or ResolvedArrival("main", "closed", depth=depth)
    stream = ResolvedStream(
        name="main",
        asu=0,
        arrival=0,
        weight=1,
        replicas=1,
        read_ppm=read_ppm,
        pattern=pattern,
        range_start=0,
        range_bytes=range_bytes or size,
        align_bytes=align_bytes or min(size for size, _ in sizes),
        sizes=[ResolvedSize(size, weight) for size, weight in sizes],
    )
    return RunConfig(
        name="test",
        seed=seed,
        write=read_ppm < 1_000_000,
        backend=backend,
        polled=polled,
        data="zero",
        max_outstanding=max_outstanding or max(depth, workers),
        spin_ns=spin_ns,
        interval_ns=interval_ns,
        ramp_ns=0,
        ramp_count=0,
        time_ns=time_ns,
        count=count,
        max_errors=0,
        cpus=list(range(workers)),
        targets=[device_number(node) for node in nodes],
        asus=[
            ResolvedAsu("all", size, [Extent(i, 0) for i in range(len(nodes))], stripe_bytes),
        ],
        arrivals=[arrival],
        streams=[stream],
        batch=batch,
    )


def shipped(name: str, *nodes: str, **options: Any) -> RunConfig:
    """A workload file as `spekctl run` resolves it."""
    targets = []
    for node in nodes:
        number = device_number(node)
        targets.append(
            resolve.Target(node, number.major, number.minor, capacity(node), logical_block(node))
        )
    given = resolve.Options(write=True, available_cpus=(0, 1), **options)
    return resolve.resolve(file.load(name), given, targets)


# ---- what must have been sent ----


def share(total: int, worker: int, workers: int) -> int:
    """What a worker gets of a number of I/Os."""
    return total // workers + (worker < total % workers)


def operations_of(controller: Controller, run: int, config: RunConfig) -> list[list[OpRecord]]:
    """Every operation of a run by count, for each worker in its order.

    The counts are dealt out to the workers that have any work. How many I/Os a ramp-up by count
    has is known beforehand only with one of them: it ends when the last has made its share.
    """
    operations: list[list[OpRecord]] = [
        controller.operations(run, worker, 1) for worker in range(len(config.cpus))
    ]
    busy = [worker for worker, first in enumerate(operations) if first]
    assert not config.ramp_count or len(busy) == 1
    for index, worker in enumerate(busy):
        count = share(config.ramp_count, index, len(busy)) + share(config.count, index, len(busy))
        operations[worker] = controller.operations(run, worker, count)
    return operations


def pieces(asu: ResolvedAsu, addr: int, length: int) -> Iterator[tuple[int, int, int]]:
    """(target, byte on it, bytes) for each stripe unit that an operation touches."""
    if len(asu.extents) == 1:
        yield asu.extents[0].target, asu.extents[0].start + addr, length
        return
    while length:
        stripe, within = divmod(addr, asu.stripe_bytes)
        row, column = divmod(stripe, len(asu.extents))
        part = min(length, asu.stripe_bytes - within)
        extent = asu.extents[column]
        yield extent.target, extent.start + row * asu.stripe_bytes + within, part
        addr, length = addr + part, length - part


@dataclass(frozen=True)
class Edges:
    """What the requests of a disk may not cross, and where they end if they can.

    @chunk: multiples of so many bytes on the disk; 0: none
    @segment: where a request has one segment, multiples of so many bytes in the buffer; 0: none
    @block: the physical block; what is cut ends at a multiple of it on the disk
    """

    chunk: int = 0
    segment: int = 0
    block: int = 1


def edges_of(node: str) -> Edges:
    """As the disk's queue tells them."""

    def limit(name: str) -> int:
        return int((queue_of(node) / name).read_text())

    # spek's buffers are cut at powers of two.
    segment = 1 << limit("max_segment_size").bit_length() - 1 if limit("max_segments") == 1 else 0
    return Edges(limit("chunk_sectors") * SECTOR, segment, limit("physical_block_size"))


def cut(
    start: int, length: int, largest: int, edges: Edges, in_buffer: int = 0
) -> Iterator[tuple[int, int]]:
    """(byte, bytes) for each request; @largest is what goes out whole."""
    while length:
        part = largest
        if edges.chunk:
            part = min(part, edges.chunk - start % edges.chunk)
        end = (start + part) // edges.block * edges.block
        part = min(length, end - start if end > start else part)
        if edges.segment:
            part = min(part, edges.segment - in_buffer % edges.segment)
        yield start, part
        start, in_buffer, length = start + part, in_buffer + part, length - part


@dataclass(frozen=True)
class Sent:
    """A request: @start in bytes from the start of its target."""

    target: int
    start: int
    bytes: int
    direction: Direction


def requests_for(
    operation: OpRecord, config: RunConfig, targets: Sequence[TargetInfo], edges: Sequence[Edges]
) -> Iterator[Sent]:
    """The requests that an operation takes; @edges: of each target's disk."""
    asu = config.asus[operation.asu]
    in_buffer = 0
    for target, start, length in pieces(asu, operation.addr, operation.bytes):
        for at, part in cut(start, length, targets[target].max_io, edges[target], in_buffer):
            yield Sent(target, at, part, Direction.of(operation.write))
        in_buffer += length


def tally(sent: Sequence[Sent], targets: int) -> list[Requests]:
    """Requests by direction and size, for each target."""
    tallies: list[Requests] = [Counter() for _ in range(targets)]
    for request in sent:
        tallies[request.target][request.direction, request.bytes // SECTOR] += 1
    return tallies
