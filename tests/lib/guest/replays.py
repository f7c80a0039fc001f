# SPDX-License-Identifier: GPL-2.0
"""Replays: a disk, runs and records for them, what feeds them, and what has become of them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from lib.guest.disks import null_disk
from lib.guest.drive import queue_of
from lib.guest.netlink import (
    MIB,
    SECOND,
    config,
    make,
    state,
    stream,
)
from lib.guest.netlink_raw import Socket
from lib.waiting import comes_true, eventually

from spekctl.kernel.gen.spek import (
    TRACE_BATCH,
    Backend,
    Cmd,
    Law,
    Operation,
    Pattern,
    Reason,
    RunState,
)

BLOCK = 4096
DISK_MIB = 64
RING = 1024
MS = 1_000_000
# struct spek_trace_record
RECORD = np.dtype(
    [
        ("at_ns", "<u8"),
        ("addr", "<u8"),
        ("bytes", "<u4"),
        ("asu", "<u2"),
        ("op", "u1"),
        ("flags", "u1"),
    ]
)
Records = np.ndarray[Any, np.dtype[np.void]]


@contextlib.contextmanager
def replay_disk() -> Iterator[str]:
    """A disk with a write cache and discards."""
    with null_disk(DISK_MIB, memory_backed=1, cache_size=1, discard=1) as node:
        # An elevator may sort what bio sends.
        (queue_of(node) / "scheduler").write_text("none")
        yield node


def streams(asus: int = 1, **changes: Any) -> list[dict[str, Any]]:
    """Streams for everything that a trace may have on each address range."""
    common = {"pattern": int(Pattern.TRACE), "align_bytes": 512, **changes}
    size = [{"bytes": 64 * 1024, "weight": 1}]
    streams = []
    for index in range(asus):
        streams.append(stream(asu=index, read_ppm=500_000, size=size, **common))
        streams += [
            stream(asu=index, read_ppm=0, size=size, operation=int(operation), **common)
            for operation in (Operation.FLUSH, Operation.DISCARD)
        ]
    return streams


def replay(nl: Socket, node: str, **changes: Any) -> int:
    """A READY run that replays a trace."""
    values: dict[str, Any] = {
        "write": 1,
        "backend": int(Backend.BIO),
        # The block layer of 6.1 hands bios under a plug to the driver last one first.
        "batch": 1,
        "time_ns": None,
        "trace_records": RING,
        "arrival": [{"law": int(Law.TRACE)}],
        "stream": streams(),
        **changes,
    }
    return make(nl, config(node, **values))


def records(count: int, **columns: Any) -> Records:
    """Reads of one block each, a block apart and all due at once, but for @columns."""
    requests = np.zeros(count, RECORD)
    requests["addr"] = np.arange(count, dtype=np.uint64) * BLOCK % (DISK_MIB * MIB)
    requests["bytes"] = BLOCK
    for name, values in columns.items():
        requests[name] = values
    return requests


def mixture(count: int, gap_ns: int, seed: int = 7) -> Records:
    """Reads and writes of many sizes all over the disk."""
    draw = np.random.default_rng(seed)
    sizes = 512 * draw.integers(1, 129, count)
    return records(
        count,
        at_ns=np.cumsum(draw.integers(0, 2 * gap_ns, count)),
        addr=512 * (draw.integers(0, DISK_MIB * MIB // 512, count) * 0.99).astype(np.uint64),
        bytes=sizes,
        op=draw.integers(0, 2, count),
    )


def feed(nl: Socket, run: int, which: Records, worker: int = 0) -> int:
    """One message. Return: records that were accepted."""
    (answer,) = nl.ask(Cmd.TRACE_FEED, run=run, worker=worker, records=which.tobytes()).values
    return int(answer["accepted"])


def feed_all(nl: Socket, run: int, which: Records, worker: int = 0) -> None:
    """As many messages as it takes, while the run makes room."""
    done = 0
    while done < len(which):
        message = which[done : done + TRACE_BATCH]
        done += eventually(partial(feed, nl, run, message, worker), "the run makes no room")


# Times from now for what has to come before them: however long an emulated machine takes for a
# request, one of these is longer.
AHEAD_NS = (300 * MS, 3000 * MS, 15_000 * MS)


def feed_ahead(nl: Socket, run: int, ahead_ns: int) -> tuple[int, bool]:
    """Feed a read that is due in @ahead_ns. Return: when, since the start of the run, and True if
    it came before."""
    before = info(nl, run)
    due_ns = int(before["now_ns"] - before["started_ns"] + ahead_ns)
    feed_all(nl, run, records(1, at_ns=due_ns))
    after = info(nl, run)
    return due_ns, bool(after["now_ns"] - after["started_ns"] < due_ns)


def end(nl: Socket, run: int, count: int) -> None:
    nl.ask(Cmd.TRACE_END, run=run, count=count)


def info(nl: Socket, run: int) -> dict[str, Any]:
    values: dict[str, Any] = nl.ask(Cmd.RUN_GET, id=run).values[0]
    return values


def has_issued(nl: Socket, run: int, count: int) -> bool:
    return bool(info(nl, run)["replay"]["issued"] == count)


def start(nl: Socket, run: int) -> None:
    nl.ask(Cmd.RUN_START, id=run)


def finished(nl: Socket, run: int) -> dict[str, Any]:
    assert comes_true(lambda: state(nl, run) == RunState.DONE)
    return info(nl, run)


def completed(nl: Socket, run: int) -> dict[str, Any]:
    """The run has ended because its trace has; nothing is missing and nothing has failed."""
    info = finished(nl, run)
    counts = info["replay"]
    assert info["reason"] == Reason.COMPLETED
    assert info["errors"] == 0
    assert counts["issued"] == counts["fed"]
    assert counts["ended"] == 1
    return info


def counted(nl: Socket, run: int) -> dict[tuple[int, int], tuple[int, int]]:
    """I/Os and bytes by stream and direction."""
    sums: dict[tuple[int, int], tuple[int, int]] = {}
    for cell in nl.dump(Cmd.STATS_GET, run=run).values:
        if "ios" in cell:
            key = (cell["stream"], cell["direction"])
            ios, amount = sums.get(key, (0, 0))
            sums[key] = ios + cell["ios"], amount + cell["bytes"]
    return sums


def play(nl: Socket, run: int, trace: Records) -> dict[str, Any]:
    """Feed the whole trace; the run starts as soon as it may."""
    head = min(len(trace), RING)
    feed_all(nl, run, trace[:head])
    if head == len(trace):
        end(nl, run, head)
    start(nl, run)
    if head < len(trace):
        feed_all(nl, run, trace[head:])
        end(nl, run, len(trace))
    return completed(nl, run)


FEEDER = """
import sys
from lib.guest.netlink_raw import Socket
from spekctl.kernel.gen import spek
run, worker, path = int(sys.argv[1]), 0, sys.argv[2]
data = open(path, "rb").read()
with Socket(spek) as nl:
    nl.ask(spek.Cmd.TRACE_FEED, run=run, worker=worker, records=data)
    print("fed", flush=True)
    sys.stdin.read()
"""


def feeder(run: int, trace: Records, folder: Path) -> subprocess.Popen[str]:
    """A process that has fed the trace and stays."""
    path = folder / "records"
    path.write_bytes(trace.tobytes())
    process = subprocess.Popen(
        [sys.executable, "-c", FEEDER, str(run), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "fed\n"
    return process


def with_killed_feeder(nl: Socket, run: int, folder: Path) -> dict[str, Any]:
    """A run whose feeder is killed in the midst of it, at its end. Half of the records are due long
    after that."""
    due_ns = np.arange(RING) * MS
    due_ns[RING // 2 :] += 600 * SECOND
    process = feeder(run, records(RING, at_ns=due_ns), folder)
    start(nl, run)
    assert comes_true(lambda: info(nl, run)["replay"]["issued"] > 10)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return finished(nl, run)
