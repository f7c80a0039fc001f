# SPDX-License-Identifier: GPL-2.0
"""In the guest: feed traces and replay them, with spek and with fio. See replay_times.py."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
from bench.cases import DISKS
from bench.drive_times_guest import calm_down
from bench.drivers import BrokenRunError, copy_program, idle_ns, run_program
from bench.feed_cost import mixture, write_stored
from lib.guest import modules
from lib.guest.disks import do_without_udev, make_null
from lib.guest.drive import Controller, queue_of
from lib.guest.trace import request_log

from spekctl import cli
from spekctl.block import device
from spekctl.documents.result import Result
from spekctl.errors import ExitCode
from spekctl.kernel.traces import BATCH, TraceLink
from spekctl.run import replay_request
from spekctl.run.job import Request
from spekctl.run.replay import RECORD, Feeder
from spekctl.workload.model import TraceSource
from spekctl.workload.options import Options

DISK_MIB = 4096
BLOCK = 4096
SLOW_NS = 1_000_000
RING = 1 << 18
# Records that are fed, and messages of so many records each: the cost of one is the difference.
FED = (20_000, 200_000)
MESSAGES, SIZES = 100, (200, BATCH)
FAST_RATE, FAST_RECORDS = 200_000, 600_000
SLOW_RATE = 500
FIO_ENGINES = ("io_uring", "libaio")
FOLDER = Path("/tmp/replay-times")  # of memory: a read over 9p is idle time, which passes at once


class Issued(msgspec.Struct, frozen=True):
    """When a replayer had its requests issued: us on CLOCK_MONOTONIC, in the order of the trace."""

    replayer: str
    us: list[int]


class Found(msgspec.Struct, frozen=True):
    """What the guest found. Its ns are instructions.

    @fed_ns: feeding so many records with spekctl's feeder
    @message_ns: sending MESSAGES messages of so many records; the difference is the kernel's
    @due_us: of the requests that @issued is about, from the start of the trace
    """

    fed_ns: dict[int, int]
    message_ns: dict[int, int]
    fast_issued: int
    fast_underruns: int
    fast_slip_ns: dict[str, int]
    due_us: list[int]
    issued: list[Issued]


# ---- the feed ----


@contextmanager
def busy_ns() -> Iterator[Callable[[], int]]:
    """Gives the time since then in which the CPU was not idle."""
    start_ns, start_idle_ns = time.monotonic_ns(), idle_ns()
    yield lambda: time.monotonic_ns() - start_ns - (idle_ns() - start_idle_ns)


def request_of(trace: Path, node: str) -> Request:
    """A run that replays a trace, with room for all of it."""
    workload = replay_request.workload_of(TraceSource([str(trace)], speed="2.5"))
    request = replay_request.build(workload, [device.find(node)], Options(write=True))
    return replace(request, config=msgspec.structs.replace(request.config, trace_records=RING))


def feed(controller: Controller, node: str, count: int) -> int:
    """Feed a stored trace with spekctl's feeder; ns."""
    path = FOLDER / f"{count}.parquet"
    write_stored(path, mixture(count))
    request = request_of(path, node)
    assert request.replay is not None
    with controller.ready(request.config) as run:
        with busy_ns() as spent_ns:
            feeder = Feeder(request.replay, run)
            assert feeder.wait_ready(600), "the feeder does not end"
            ns = spent_ns()
        feeder.close()
    assert (feeder.fed, feeder.trouble()) == (count, "")
    return ns


def send(controller: Controller, node: str, size: int) -> int:
    """Send MESSAGES messages of @size records, none of which userspace looks at; ns."""
    records = np.zeros(size, RECORD)
    records["addr"] = np.arange(size) * BLOCK
    records["bytes"] = BLOCK
    message = records.view(np.uint8).data
    with controller.ready(request_of(FOLDER / f"{FED[0]}.parquet", node).config) as run:
        with TraceLink() as link, busy_ns() as spent_ns:
            for _ in range(MESSAGES):
                link.feed(run, 0, message)
            ns = spent_ns()
        counts = controller.run_get(run).replay
        assert counts is not None and counts.fed == MESSAGES * size
    return ns


def spekctl_run(node: str, trace: Path, *arguments: object) -> Result:
    """`spekctl run --trace`, which must complete."""
    out = FOLDER / "result.json"
    line = ["run", "--trace", str(trace), *map(str, arguments), "--device", node, "--write"]
    line += ["--no-prober", "--progress", "none", "-o", str(out)]
    if cli.run(line) != ExitCode.OK:
        raise BrokenRunError(f"spekctl {' '.join(line)} failed")
    result = msgspec.json.decode(out.read_bytes(), type=Result)
    assert result.replay is not None and result.replay.complete
    return result


# ---- slip ----


def slow_trace(path: Path, count: int) -> list[tuple[int, int]]:
    """Write reads at random times as an iolog of fio; their us, and their sectors, all distinct."""
    draw = np.random.default_rng(2)
    us = 1000 + np.cumsum(draw.exponential(1e6 / SLOW_RATE, count)).astype(int)
    blocks = draw.permutation(DISK_MIB * 256)[:count]
    lines = ["fio version 3 iolog", "0 /dev/sdx add", "0 /dev/sdx open"]
    lines += [
        f"{at} /dev/sdx read {block * BLOCK} {BLOCK}"
        for at, block in zip(us.tolist(), blocks.tolist(), strict=True)
    ]
    lines.append(f"{us[-1]} /dev/sdx close")
    path.write_text("\n".join([*lines, ""]))
    return list(zip(us.tolist(), (blocks * BLOCK // 512).tolist(), strict=True))


def replayers(node: str, trace: Path, fio: list[str]) -> Iterator[tuple[str, Callable[[], object]]]:
    """What replays the trace, by name."""
    yield "spek", lambda: spekctl_run(node, trace)
    for engine in FIO_ENGINES:
        command = [*fio, "--name=replay", f"--read_iolog={trace}", f"--replay_redirect={node}"]
        command += [f"--ioengine={engine}", "--iodepth=64", "--direct=1", "--readonly"]
        yield f"fio {engine}", lambda command=command: run_program(command)  # type: ignore[misc]


def slips(node: str, fio: list[str], count: int) -> tuple[list[int], list[Issued]]:
    """When the requests of a trace were due, and when each replayer had them issued."""
    trace = FOLDER / "slow.iolog"
    due = slow_trace(trace, count)
    issued = []
    for name, replay in replayers(node, trace, fio):
        with request_log(node) as log:
            replay()
            at = {traced.sector: traced.us for traced in log.read()}
        issued.append(Issued(name, [at[sector] for _us, sector in due]))
    return [us for us, _sector in due], issued


# ---- all of it ----


def disk(**changes: int) -> str:
    """A null_blk disk without an elevator."""
    node, _item = make_null(DISK_MIB, **{**DISKS["slow"], **changes})
    (queue_of(node) / "scheduler").write_text("none")
    return node


def measure(requests: int) -> Found:
    """Everything, in order."""
    FOLDER.mkdir()
    fio = copy_program("fio", Path("/tmp/fio"))
    calm_down()
    modules.load(Path(os.environ["SPEK_MODULES"], "spek.ko"))
    slow, fast = disk(completion_nsec=SLOW_NS), disk(irqmode=1)
    due_us, issued = slips(slow, fio, requests)
    with Controller() as controller:
        # The first one imports what the others find.
        fed = [(count, feed(controller, fast, count)) for count in (FED[0], *FED)]
        sent = [(size, send(controller, fast, size)) for size in (SIZES[0], *SIZES)]
    trace = FOLDER / "fast.parquet"
    write_stored(trace, mixture(FAST_RECORDS))
    result = spekctl_run(fast, trace, "--rate", FAST_RATE)
    replayed, slip = result.replay, result.totals.all.times.slip
    assert replayed is not None and slip is not None
    return Found(
        dict(fed),
        dict(sent),
        replayed.issued,
        replayed.underruns,
        {
            **{percentile: slip.percentiles_ns[percentile] for percentile in ("p50", "p99")},
            "max": slip.max_ns,
        },
        due_us,
        issued,
    )


def main() -> int:
    """Measure, and leave it for the host."""
    do_without_udev()
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--requests", type=int, required=True)
    arguments = parser.parse_args()
    arguments.out.write_bytes(msgspec.json.encode(measure(arguments.requests)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
