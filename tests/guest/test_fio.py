# SPDX-License-Identifier: GPL-2.0
"""Ten job files of different kinds, by fio and by spek, on one disk: what reaches the disk.

The block layer's own tracepoint sees every request of either, and the disk counts them. Jobs end by
their amount, so numbers are equal, not similar. Where fio's order is a law and not a draw, the very
places are equal; else their region and block are, and shares are within four standard deviations.
"""

from __future__ import annotations

import fcntl
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.guest.disks import scsi_disk, settle
from lib.guest.drive import SECTOR, sysfs
from lib.guest.spekctl import in_process
from lib.guest.trace import DiskStat, RequestLog, disk_stat, request_log

from spekctl.documents.result import Plan
from spekctl.kernel.records import Direction
from spekctl.run.session import Session

pytestmark = pytest.mark.any_kernel

KIB, MIB = 1 << 10, 1 << 20
HEAD = """[global]
ioengine=libaio
direct=1
thread
clocksource=clock_gettime
zero_buffers
filename={node}
[job]
"""


@dataclass(frozen=True)
class Kind:
    """A job file.

    @region: bytes, first and behind the last
    @ios: of every direction together
    @reads: expected share
    @sizes: bytes -> share
    @places: they are the same, each as often
    @operation: letter of the tracepoint where it is neither R nor W
    """

    job: str
    region: tuple[int, int]
    ios: int
    reads: float
    sizes: dict[int, float]
    places: bool
    operation: str = ""


KINDS = {
    "sequential-read": Kind(
        "rw=read\nbs=64k\niodepth=4\noffset=8m\nsize=4m",
        (8 * MIB, 12 * MIB), 64, 1.0, {64 * KIB: 1.0}, True,
    ),
    "sequential-write": Kind(
        "rw=write\nbs=128k\niodepth=2\noffset=16m\nsize=4m",
        (16 * MIB, 20 * MIB), 32, 0.0, {128 * KIB: 1.0}, True,
    ),
    "random-read-map": Kind(
        "rw=randread\nbs=4k\niodepth=8\noffset=1m\nsize=1m",
        (1 * MIB, 2 * MIB), 256, 1.0, {4 * KIB: 1.0}, True,
    ),
    "random-write": Kind(
        "rw=randwrite\nnorandommap\nbs=4k\niodepth=8\noffset=4m\nsize=4m\nnumber_ios=400",
        (4 * MIB, 8 * MIB), 400, 0.0, {4 * KIB: 1.0}, False,
    ),
    "mixed": Kind(
        "rw=randrw\nrwmixread=70\nnorandommap\nbs=8k\niodepth=4\noffset=20m\nsize=4m\n"
        "number_ios=400",
        (20 * MIB, 24 * MIB), 400, 0.7, {8 * KIB: 1.0}, False,
    ),
    "strided": Kind(
        "rw=read:60k\nbs=4k\niodepth=4\noffset=24m\nsize=4m\nnumber_ios=64",
        (24 * MIB, 28 * MIB), 64, 1.0, {4 * KIB: 1.0}, True,
    ),
    # All zones up to the end of the disk.
    "zones": Kind(
        "rw=read\nbs=4k\niodepth=4\noffset=24m\nzonemode=strided\nzonesize=16k\nzoneskip=240k\n"
        "number_ios=640",
        (24 * MIB, 64 * MIB), 640, 1.0, {4 * KIB: 1.0}, True,
    ),
    "random-zones": Kind(
        "rw=randread\nbs=4k\niodepth=4\noffset=24m\nzonemode=strided\nzonesize=64k\n"
        "zoneskip=960k\nnumber_ios=640",
        (24 * MIB, 64 * MIB), 640, 1.0, {4 * KIB: 1.0}, True,
    ),
    "sizes": Kind(
        "rw=randread\nnorandommap\nbssplit=4k/75:64k/25\niodepth=4\noffset=28m\nsize=4m\n"
        "io_size=64m\nnumber_ios=400",
        (28 * MIB, 32 * MIB), 400, 1.0, {4 * KIB: 0.75, 64 * KIB: 0.25}, False,
    ),
    "zipf": Kind(
        "rw=randwrite\nrandom_distribution=zipf:1.2\nbs=16k\niodepth=4\noffset=32m\nsize=8m\n"
        "number_ios=400",
        (32 * MIB, 40 * MIB), 400, 0.0, {16 * KIB: 1.0}, False,
    ),
    "clones": Kind(
        "rw=read\nbs=32k\niodepth=2\nnumjobs=3\noffset=40m\noffset_increment=4m\nsize=2m",
        (40 * MIB, 50 * MIB), 192, 1.0, {32 * KIB: 1.0}, False,
    ),
    "trim": Kind(
        "rw=randtrim\nbs=64k\niodepth=1\noffset=56m\nsize=2m",
        (56 * MIB, 58 * MIB), 32, 0.0, {64 * KIB: 1.0}, True, "D",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Request:
    """A request as it was issued."""

    operation: str  # R, W or D
    place: int  # bytes
    bytes: int


@pytest.fixture(scope="module")
def disk() -> Iterator[str]:
    """One disk for all kinds, whose queue neither merges nor sorts.

    The lock keeps udev, which reads a disk that a writer has closed, away from it.
    """
    with scsi_disk(64, lbpu=1, delay=0) as node:
        (sysfs(node) / "queue/nomerges").write_text("2")
        (sysfs(node) / "queue/scheduler").write_text("none")
        settle()
        with open(node, "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield node


@pytest.fixture
def spekctl(spek_module: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Spekctl]:
    with in_process(capfd) as call:
        yield call


def issued(log: RequestLog) -> list[Request]:
    """All requests that move data or discard, in order."""
    return [
        Request(letters[0], request.sector * SECTOR, request.sectors * SECTOR)
        for letters, request in log.read_with_flags()
        if request.sectors
    ]


def by_fio(node: str, job: Path) -> list[Request]:
    """What fio sends."""
    with request_log(node) as log:
        done = subprocess.run(["fio", job], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        return issued(log)


def by_spek(node: str, job: Path, spekctl: Spekctl, writes: bool) -> list[Request]:
    """What spek sends for the same file, once it has looked for data on the disk; the disk's own
    counters agree."""
    words = ["--device", node, "--progress", "none", *(["--write"] if writes else [])]
    before: dict[Direction, DiskStat] = {}
    arm = Session.arm

    def arm_counting(session: Session, start_ns: int = 0) -> Plan:
        log.forget()
        before.update(disk_stat(node))
        return arm(session, start_ns)

    with request_log(node) as log, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "arm", arm_counting)
        done = spekctl("run", f"fio:{job}", *words)
        assert done.code == 0, done.err
        requests = issued(log)
    counted = {way: stat.since(before[way]) for way, stat in disk_stat(node).items()}
    for way, letter in zip(counted, "RW", strict=True):
        assert counted[way].ios == sum(request.operation == letter for request in requests)
    return requests


def assert_shares(counts: Counter[int], wanted: dict[int, float], total: int) -> None:
    """Shares are those of the law, within four standard deviations of a draw."""
    assert set(counts) <= {value for value, share in wanted.items() if share}
    for value, share in wanted.items():
        allowed = 4 * (total * share * (1 - share)) ** 0.5
        assert abs(counts[value] - total * share) <= allowed, (value, counts[value], total * share)


@pytest.mark.sampled
@pytest.mark.parametrize("name", KINDS)
def test_the_disk_gets_the_same_from_both(
    name: str, disk: str, spekctl: Spekctl, tmp_path: Path
) -> None:
    kind = KINDS[name]
    job = tmp_path / f"{name}.fio"
    job.write_text(HEAD.format(node=disk) + kind.job + "\n")

    theirs = by_fio(disk, job)
    ours = by_spek(disk, job, spekctl, writes=kind.reads < 1)

    block = min(kind.sizes)
    for requests in (theirs, ours):
        assert len(requests) == kind.ios
        if kind.operation:
            assert {request.operation for request in requests} == {kind.operation}
        else:
            reads = Counter(int(request.operation == "R") for request in requests)
            assert_shares(reads, {1: kind.reads, 0: 1 - kind.reads}, kind.ios)
        assert_shares(Counter(request.bytes for request in requests), kind.sizes, kind.ios)
        assert min(request.place for request in requests) >= kind.region[0]
        assert max(request.place + request.bytes for request in requests) <= kind.region[1]
        assert all(request.place % block == 0 for request in requests)
    if kind.places:
        assert Counter(ours) == Counter(theirs)
    else:
        # Both are in the same fifths of the region: in all, or where the clones of a job are.
        start, end = kind.region
        fifths = [
            {5 * (request.place - start) // (end - start) for request in requests}
            for requests in (theirs, ours)
        ]
        assert fifths[0] == fifths[1]
