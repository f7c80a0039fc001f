# SPDX-License-Identifier: GPL-2.0
"""Mixed load for as many I/Os as wanted, with log and prober on, and every account held against
every other: the result, its intervals, the log, what was sent, the disk's own statistics.

All by count, so that all is exact. Times are the guest's and mean nothing.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from lib.guest.disks import emulated, null_disk, scsi_disk
from lib.guest.drive import Controller, Outcome, one_stream, shipped
from lib.guest.modules import idle_meminfo, meminfo
from lib.guest.trace import DiskStat, disk_stat

from spekctl.kernel.prober import Prober, Row
from spekctl.kernel.records import Direction, Reason, RunInfo, RunState
from spekctl.log import file
from spekctl.log.buffer import debugfs
from spekctl.workload.config import ResolvedArrival, RunConfig

KIB = 1 << 10
MS, SECOND = 1_000_000, 1_000_000_000
RECORD = file.record_type()
LOG_RECORDS = 1 << 18
BUFFER = np.empty(1 << 16, RECORD)
BUFFER_BYTES = BUFFER.view(np.uint8).data
PAUSE_S = 0.25  # the log holds those of a second, and each look costs an emulated guest 20 ms
# What an emulated guest's own processes come and go with; a lost record per I/O would be more.
FLAT_KIB = 24 << 10
SIZES = [(512, 1), (4 * KIB, 5), (8 * KIB, 2), (64 * KIB, 1)]


@dataclass(frozen=True)
class Mix:
    """A part of the load.

    @share: of all I/Os, in thousandths; @by_disk: the disk's statistics know of these requests
    """

    name: str
    share: int
    config: RunConfig
    node: str
    by_disk: bool = True


@dataclass
class Account:
    """What has been counted so far."""

    ios: int = 0
    requests: int = 0
    bytes: int = 0
    lost_records: int = 0
    rows: int = 0
    rows_missed: int = 0
    by_mix: dict[str, int] = field(default_factory=dict)


@contextlib.contextmanager
def mixes() -> Iterator[list[Mix]]:
    """Closed and open loops, SPC-1-like and random, one worker and two, all back ends."""
    with (
        null_disk(size_mb=4096) as fast,
        null_disk(irqmode=2, completion_nsec=50_000) as timer,
        scsi_disk(ndelay=20_000) as scsi,
    ):
        nvme = emulated("nvme", 512)
        open_loop = ResolvedArrival("main", "poisson", rate_milli=20_000_000)
        bursts = ResolvedArrival("main", "burst", burst_length=64, burst_interval_ns=4 * MS)
        yield [
            Mix("spc1", 120, shipped("spc1", fast, bsu=400, count=1, seed=3), fast),
            Mix("random, mq", 400, half(fast, depth=32, backend="mq"), fast),
            Mix("sizes, bio", 250, half(fast, sizes=SIZES, align_bytes=512, depth=16, workers=2,
                                        backend="bio"), fast),
            Mix("open loop", 60, half(timer, arrival=open_loop, max_outstanding=256), timer),
            Mix("bursts", 70, half(timer, arrival=bursts, max_outstanding=256, workers=2), timer),
            Mix("scsi", 50, half(scsi, depth=16, backend="scsi"), scsi, by_disk=False),
            Mix("scsi by bio", 30, half(scsi, depth=16, backend="bio"), scsi),
            Mix("nvme", 20, half(nvme, depth=16), nvme),
        ]  # fmt: skip


def half(node: str, **options: Any) -> RunConfig:
    """As many reads as writes."""
    return one_stream(node, read_ppm=500_000, count=1, **options)


def counts(mixes: list[Mix], ios: int) -> list[int]:
    """I/Os of each mix, by its share; all of @ios."""
    assert sum(mix.share for mix in mixes) == 1000
    counts = [ios * mix.share // 1000 for mix in mixes]
    counts[0] += ios - sum(counts)
    return counts


# ---- one run ----


@dataclass
class Log:
    """What the log says of a run."""

    records: int = 0
    errors: int = 0
    ios: dict[Direction, int] = field(default_factory=lambda: dict.fromkeys(Direction, 0))
    bytes: dict[Direction, int] = field(default_factory=lambda: dict.fromkeys(Direction, 0))

    def take(self, files: list[int]) -> None:
        """Read everything available."""
        for fd in files:
            while got := os.readv(fd, [BUFFER_BYTES]):
                rows = BUFFER[: got // RECORD.itemsize]
                self.records += len(rows)
                self.errors += int(np.count_nonzero(rows["error"]))
                is_write = rows["write"] != 0
                for way in Direction:
                    mine = is_write == (way is Direction.WRITE)
                    self.ios[way] += int(np.count_nonzero(mine))
                    self.bytes[way] += int(rows["bytes"][mine].sum(dtype=np.uint64))
                if len(rows) < len(BUFFER):
                    break


@contextlib.contextmanager
def log_files(info: RunInfo) -> Iterator[list[int]]:
    """The log of each worker, open."""
    folder = debugfs() / info.log_dir
    files = [
        os.open(folder / f"worker{index}", os.O_RDONLY | os.O_CLOEXEC)
        for index in range(len(info.workers))
    ]
    try:
        yield files
    finally:
        for fd in files:
            os.close(fd)


def soak(controller: Controller, prober: Prober, mix: Mix, count: int, account: Account) -> None:
    """One run of a mix, with its results."""
    config = msgspec.structs.replace(
        mix.config, count=count, time_ns=0, ramp_ns=0, ramp_count=0, log_records=LOG_RECORDS,
        interval_ns=SECOND,
    )  # fmt: skip
    run = controller.run_new(config)
    try:
        info = controller.run_get(run)
        log, before = Log(), disk_stat(mix.node)
        with log_files(info) as files:
            probe = prober.start(100 * MS, tasks=[worker.pid for worker in info.workers])
            controller.run_start(run)
            while controller.run_get(run).state is not RunState.DONE:
                log.take(files)
                time.sleep(PAUSE_S)
            controller.wait_done(run)  # has been announced, and nothing unread stays in the socket
            log.take(files)
            seen = prober.stop(probe)
            rows, dropped = prober.rows(probe)
            prober.delete(probe)
        after = disk_stat(mix.node)
        outcome = Outcome(controller.run_get(run), controller.stats(run))
        in_rows = sum(row.read.ios + row.write.ios for row in controller.intervals(run, 0))
    finally:
        controller.run_delete(run)
    stat = {way: after[way].since(before[way]) for way in Direction}
    assert_accounts_agree(mix, count, outcome, log, stat if mix.by_disk else None)
    assert in_rows == count, mix.name
    assert_rows_are_whole(rows, dropped)
    account.ios += outcome.ios()
    account.requests += outcome.requests()
    account.bytes += outcome.bytes()
    account.lost_records += sum(worker.log_lost for worker in outcome.info.workers)
    account.rows += len(rows)
    account.rows_missed += seen.missed
    account.by_mix[mix.name] = account.by_mix.get(mix.name, 0) + outcome.ios()


def assert_accounts_agree(
    mix: Mix, count: int, outcome: Outcome, log: Log, stat: dict[Direction, DiskStat] | None
) -> None:
    """None lost and none invented, in any of the accounts."""
    info = outcome.info
    assert (info.reason, info.errors) == (Reason.COMPLETED, 0), f"{mix.name}: {info}"
    assert outcome.ios() == count, mix.name
    written = sum(worker.log_written for worker in info.workers)
    lost = sum(worker.log_lost for worker in info.workers)
    assert (written + lost, log.records, log.errors) == (count, written, 0), mix.name
    if not lost:
        for way in Direction:
            assert log.ios[way] == outcome.ios(way), mix.name
            assert log.bytes[way] == outcome.bytes(way), mix.name
    (target,) = info.targets
    sent = {
        Direction.READ: (target.reads, target.read_bytes // 512),
        Direction.WRITE: (target.writes, target.write_bytes // 512),
    }
    for way in Direction:
        assert sent[way] == (outcome.requests(way), outcome.bytes(way) // 512), mix.name
        if stat is not None and not target.refused:
            assert (stat[way].ios, stat[way].sectors) == sent[way], mix.name


def assert_rows_are_whole(rows: list[Row], dropped: int) -> None:
    """The prober's rows are numbered without a gap, as far back as its ring goes."""
    numbers = [row.seq for row in rows]
    assert numbers == list(range(dropped, dropped + len(numbers)))
    assert rows[-1].final


# ---- memory ----


def lost_kib(before: dict[str, int]) -> int:
    """Memory lost, other than that of this process."""
    parts = ("MemAvailable", "PerCpuLists", "Own")
    free = [sum(memory[part] for part in parts) for memory in (before, idle_meminfo())]
    return free[0] - free[1]


def changes(before: dict[str, int]) -> dict[str, int]:
    """How the use of memory differs from what it was, KiB."""
    now = meminfo()
    return {name: now[name] - before[name] for name in before if abs(now[name] - before[name]) > 99}


def assert_no_leak(marks: list[dict[str, int]], runs: int) -> None:
    """No cache has grown by an object per run in each of the rounds."""
    growth = {
        name: [after.get(name, 0) - before.get(name, 0) for before, after in pairwise(marks)]
        for name in marks[0]
    }
    leaking = {name: steps for name, steps in growth.items() if min(steps) >= runs}
    assert not leaking
