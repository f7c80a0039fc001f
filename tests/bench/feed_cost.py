# SPDX-License-Identifier: GPL-2.0
"""Records of a trace that the feeder sends per second: read, mapped, scheduled, packed, encoded,
sent, and the answers decoded. A process at the other end of a socket takes the place of the kernel,
whose own cost bench.replay_times counts.

`PYTHONPATH=tests python -m bench.feed_cost` prints it, for a stored trace and for CSV. A time, of
this machine and of what else runs there: the best of several passes, by the CPU time of the
feeding process and by the clock.
"""

from __future__ import annotations

import multiprocessing
import socket
import struct
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lib.fakes.machine import disk

from spekctl.kernel import traces
from spekctl.kernel.gen import spek
from spekctl.kernel.link import Link, _encode
from spekctl.kernel.netlink import HEADER, NLMSG_ERROR, RECV_BYTES, NetlinkSocket
from spekctl.kernel.traces import TraceLink
from spekctl.run import replay_request
from spekctl.run.replay import RING_RECORDS, Feeder
from spekctl.trace.columns import Batch
from spekctl.trace.store import TraceHeader, writing
from spekctl.workload.model import TraceSource
from spekctl.workload.options import Options

RECORDS = 2_000_000
CSV_RECORDS = 500_000
PASSES = 3
FAMILY = 0x20  # any number that generic netlink might give


def mixture(count: int) -> Batch:
    """Reads and writes of 4 to 64 KiB."""
    draw = np.random.default_rng(1)
    return Batch(
        np.cumsum(draw.integers(0, 10_000, count)).astype(np.uint64),
        np.zeros(count, np.uint32),
        (draw.integers(0, 1 << 17, count) * 4096).astype(np.uint64),
        (draw.integers(1, 17, count) * 4096).astype(np.uint64),
        draw.integers(0, 2, count).astype(np.uint8),
        np.zeros(count, np.uint8),
    )


def write_csv(path: Path, batch: Batch) -> None:
    """The batch as CSV."""
    table = np.column_stack([batch.at_ns, batch.offset_bytes, batch.bytes])
    words = np.where(batch.op == 0, "read", "write")
    with path.open("w") as out:
        out.write("at_ns,offset_bytes,bytes,op\n")
        out.writelines(
            f"{at},{offset},{size},{op}\n"
            for (at, offset, size), op in zip(table.tolist(), words.tolist(), strict=True)
        )


def write_stored(path: Path, batch: Batch) -> None:
    """The batch in the stored form."""
    with writing(path) as writer:
        writer.add(batch)
        header = TraceHeader(
            origins=[],
            devices=["disk"],
            records=writer.records,
            span_ns=writer.span_ns,
            bad=0,
            unordered=0,
        )
        writer.finish(header)


class SinkSocket(NetlinkSocket):
    """spekctl's socket with a process at its other end."""

    def __init__(self, end: socket.socket) -> None:
        self._recv_bytes = RECV_BYTES
        self._socket = end
        self._sequence = 0

    def _receive(self) -> tuple[bytes, int, int]:
        return self._socket.recv(self._recv_bytes), 0, 0


class SinkLink(Link):
    """spekctl's link on it."""

    def __init__(self, end: socket.socket) -> None:
        self._gen = spek
        self._socket = SinkSocket(end)
        self._family = FAMILY


class SinkFeed(TraceLink):
    """spekctl's client on it."""

    def __init__(self, end: socket.socket) -> None:
        self._link = SinkLink(end)


def frame(command: spek.Cmd, **values: int | bytes) -> bytearray:
    """A message of the kernel's, whose sequence number is to be filled in."""
    message = spek.MESSAGES[command]()
    message["cmd"], message["version"] = int(command), spek.VERSION
    message["attrs"] = _encode(type(message), values)
    message["header"]["type"] = FAMILY
    message.encode()
    return bytearray(message.data)


def accept_all(end: socket.socket, sender: socket.socket) -> None:
    """In a process of its own: answer as the kernel does while there is room."""
    sender.close()  # inherited
    ack = struct.Struct("=IHHIIi16x")
    around = len(frame(spek.Cmd.TRACE_FEED, run=1, worker=0, records=b""))
    answers: dict[int, bytearray] = {}
    while request := end.recv(RECV_BYTES):
        sequence, records = HEADER.unpack_from(request)[3], (len(request) - around) // 24
        if request[HEADER.size] == spek.Cmd.TRACE_FEED:
            if records not in answers:
                answers[records] = frame(spek.Cmd.TRACE_FEED, accepted=records, room=RING_RECORDS)
            answer = answers[records]
            struct.pack_into("=I", answer, 8, sequence)
            end.send(answer)
        end.send(ack.pack(ack.size, NLMSG_ERROR, 0, sequence, 0, 0))


@dataclass(frozen=True)
class Speed:
    """Records per second."""

    of_cpu: float
    of_clock: float


def per_second(path: Path) -> Speed:
    """The feeder's speed with a trace at two and a half times its own."""
    workload = replay_request.workload_of(TraceSource([str(path)], speed="2.5"))
    request = replay_request.build(workload, [disk("/dev/fake0")], Options(write=True))
    assert request.replay is not None
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in (mine, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    sink = multiprocessing.get_context("fork").Process(target=accept_all, args=(theirs, mine))
    sink.start()
    theirs.close()
    clock, cpu = time.monotonic(), time.process_time()
    traces.connect = lambda: SinkFeed(mine)
    feeder = Feeder(request.replay, 1)
    assert feeder.wait_ready(600), "the feeder does not end"
    clock, cpu = time.monotonic() - clock, time.process_time() - cpu
    feeder.close()
    sink.join()
    assert not feeder.trouble(), feeder.trouble()
    return Speed(feeder.fed / cpu, feeder.fed / clock)


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as scratch:
        stored, csv = Path(scratch, "stored.parquet"), Path(scratch, "io.csv")
        write_stored(stored, mixture(RECORDS))
        write_csv(csv, mixture(CSV_RECORDS))
        for name, path in (("stored trace", stored), ("CSV", csv)):
            speeds = [per_second(path) for _ in range(PASSES)]
            cpu, clock = (
                max(getattr(speed, of) for speed in speeds) for of in ("of_cpu", "of_clock")
            )
            print(f"{name}: {cpu:,.0f} records/s of CPU time, {clock:,.0f} records/s by the clock")


if __name__ == "__main__":
    main()
