# SPDX-License-Identifier: GPL-2.0
"""The device of --state-on: what is refused, what is written to it, and what ends the run."""

from __future__ import annotations

import dataclasses
import errno
import fcntl
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl.verified import config_of
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk
from lib.processes import closes_what_it_opens
from lib.waiting import LONG_S, eventually

from spekctl.block import openers, opening, safety
from spekctl.block.device import Device
from spekctl.errors import NotPermittedError, RefusedError, SpekError, UsageError
from spekctl.kernel.records import RunInfo, RunState, TargetInfo, WorkerInfo
from spekctl.log.place import FilePlace
from spekctl.render.progress import LineProgress
from spekctl.run import job, state_log, state_on
from spekctl.run.collector import Claimed, Ended, Look, Sections
from spekctl.run.rights import Rights
from spekctl.run.state_log import BLOCK
from spekctl.run.state_on import Log, StateCollector, with_state_on
from spekctl.workload import file
from spekctl.workload.config import Extent, ResolvedAsu

MIB, GIB = 1 << 20, 1 << 30
TARGET = disk(zone_bytes=0)
OTHER = disk("/dev/fake1", disk="fake1", serial="S124", zone_bytes=0)


def request_of(targets: tuple[Device, ...] = (TARGET,), **changes: Any) -> job.Request:
    """A verified run that writes and flushes."""
    config = config_of("random-write-4k", count=1000)
    (plain,) = config.streams
    flush = msgspec.structs.replace(plain, name="flush", operation="flush")
    changed = {"data": "stamped", "streams": [plain, flush], **changes}
    config = msgspec.structs.replace(config, **changed)
    return job.Request(file.load("random-write-4k"), config, targets)


# ---- what is refused ----


def test_a_run_with_a_log_keeps_all_records() -> None:
    wanted = with_state_on(request_of(), OTHER)
    assert wanted.state_on is OTHER and wanted.config.log_records >= 1024
    assert with_state_on(request_of(count=0), OTHER).state_on is OTHER


def test_reads_take_no_room_in_the_log() -> None:
    small = disk("/dev/fake1", disk="fake1", zone_bytes=0, bytes=4 * MIB)
    mixed = changed(read_ppm=500_000)
    config = msgspec.structs.replace(mixed.config, count=1 << 20)
    assert with_state_on(dataclasses.replace(mixed, config=config), small).state_on is small


def changed(index: int = 0, **changes: Any) -> job.Request:
    request = request_of()
    streams = list(request.config.streams)
    streams[index] = msgspec.structs.replace(streams[index], **changes)
    return dataclasses.replace(
        request, config=msgspec.structs.replace(request.config, streams=streams)
    )


STRIPED = [ResolvedAsu("a", MIB, [Extent(0, 0), Extent(1, 0)], stripe_bytes=4096)]


@pytest.mark.parametrize(
    ("request_", "device", "sentence"),
    [
        (request_of(data="zero"), OTHER, "--state-on needs --verify as well"),
        (
            dataclasses.replace(request_of(), log=FilePlace(Path("x"))),
            OTHER,
            "--state-on takes the records that --log would write: give one of them",
        ),
        (request_of(), TARGET, "is on the same disk as /dev/fake0"),
        (
            request_of(),
            disk("/dev/fake2", disk="fake2", other_paths=("fake0",), zone_bytes=0),
            "is on the same disk as /dev/fake0",
        ),
        (changed(pattern="trace"), OTHER, "replays a trace, and --state-on follows workloads only"),
        (
            changed(operation="discard"),
            OTHER,
            "the data after discard and a power cut are unknown",
        ),
        (request_of(asus=STRIPED), OTHER, "needs address ranges that are on one device each"),
        (request_of((disk(),)), OTHER, "/dev/fake0 has zones"),
        (changed(1, operation="transfer"), OTHER, "nothing flushes /dev/fake0"),
        (request_of(), disk("/dev/fake1", disk="fake1"), "has zones: a log needs a disk"),
        (
            request_of(),
            disk("/dev/fake1", disk="fake1", zone_bytes=0, logical_block=16384),
            "has logical blocks of 16384 bytes; the log has blocks of 4096",
        ),
        (
            request_of(),
            disk("/dev/fake1", disk="fake1", zone_bytes=0, bytes=MIB),
            "has 1 MiB, which is too small for a log",
        ),
        (
            request_of(count=1 << 20),
            disk("/dev/fake1", disk="fake1", zone_bytes=0, bytes=4 * MIB),
            "has room for at most 65,447 writes, and the run has 1,048,576 I/Os",
        ),
    ],
)
def test_what_cannot_work_is_refused(request_: job.Request, device: Device, sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        with_state_on(request_, device)


def test_what_two_drives_share_is_named_and_the_user_may_insist() -> None:
    """Guards the mend of 1530c248: units of a storage system share a serial number."""
    target, log = (
        disk(f"/dev/{name}", disk=name, serial="S9", shared=frozenset({"S9"}), zone_bytes=0)
        for name in ("fake0", "fake1")
    )
    shared = f"/dev/fake1 and /dev/fake0 have serial number S9 of {log.model} in common"
    with pytest.raises(UsageError) as refusal:
        with_state_on(request_of((target,)), log)
    assert refusal.value.message == (
        f"--state-on: {shared}: a power cut would hit both if they are one drive; give another"
        " disk, or --state-apart if they are on different drives"
    )
    wanted = with_state_on(request_of((target,)), log, is_apart=True)
    assert wanted.state_on is log
    said = f"{shared}, and are on different drives according to --state-apart"
    assert list(wanted.remarks) == [said]


def test_nobody_can_insist_on_the_disk_under_test() -> None:
    with pytest.raises(UsageError, match="is on the same disk as /dev/fake0"):
        with_state_on(request_of(), TARGET, is_apart=True)


def test_a_read_only_device_is_refused() -> None:
    device = disk("/dev/fake1", disk="fake1", zone_bytes=0, read_only=True)
    with pytest.raises(RefusedError, match="/dev/fake1 is read-only"):
        with_state_on(request_of(), device)


def test_a_disk_without_a_volatile_cache_needs_no_flushes(tmp_path: Path) -> None:
    (tmp_path / "queue").mkdir()
    (tmp_path / "queue/write_cache").write_text("write through\n")
    through = disk(zone_bytes=0, sysfs=tmp_path)
    assert state_on.is_write_through(through) and not state_on.is_write_through(TARGET)
    assert state_on.is_write_through(disk(sysfs=tmp_path / "part", partition=1))
    request = changed(1, operation="transfer")
    wanted = with_state_on(dataclasses.replace(request, devices=(through,)), OTHER)
    assert wanted.state_on is OTHER
    fua = with_state_on(changed(1, operation="transfer", fua=1), OTHER)
    assert fua.state_on is OTHER


# ---- the device ----


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in place of a device."""
    path = tmp_path / "log"
    path.write_bytes(bytes(16 * BLOCK))
    monkeypatch.setattr(
        opening,
        "open_block_device",
        lambda _path, flags, _number: os.open(path, flags & ~os.O_EXCL),
    )
    monkeypatch.setattr(safety, "check_write", lambda *_asked, **_: "it holds data")
    monkeypatch.setattr(fcntl, "ioctl", lambda *_asked: 0)
    return path


def claimed_of(request: job.Request) -> Claimed:
    info = RunInfo(
        7,
        state=RunState.READY,
        seed=5,
        stamp_id=9,
        grain_bytes=4096,
        targets=(TargetInfo(map_start=0, map_bytes=GIB, bytes=GIB, logical_block=512),),
        workers=(WorkerInfo(), WorkerInfo()),
    )
    view = LineProgress(quiet=True)
    return Claimed(FakeKernel(), info, request, [TARGET.facts(1)], view, job.Interrupts())


def record(stream: int, write: int, done_ns: int) -> bytes:
    """0: a write, 1: a flush"""
    fields = (0, done_ns - 1, done_ns, 0, 4096, 0, stream, 0, 0, write, 1, 0)
    return state_log.RECORD.pack(*fields)


class Records:
    """The buffers of the workers, which hold what is given and no more."""

    def __init__(self, *contents: bytes) -> None:
        self.left = list(contents)
        self.closed = 0
        self.empty = threading.Event()

    def readinto(self, buffer: memoryview, /) -> int:
        if not self.left:
            self.empty.set()
            return 0
        data = self.left.pop(0)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self.closed += 1


class Opening(Rights):
    """Rights whose buffers are given."""

    def __init__(self, *buffers: Records) -> None:
        self.buffers = buffers

    def open_log(self, info: RunInfo, worker: int) -> Records:
        return self.buffers[worker]


def collector_of(*buffers: Records, device: Device = OTHER) -> tuple[StateCollector, job.Request]:
    request = dataclasses.replace(request_of(), rights=Opening(*buffers), state_on=device)
    return StateCollector(request, device), request


def ended(claimed: Claimed) -> Ended:
    return Ended(None, claimed.info, [], [])  # type: ignore[arg-type]


def kept(path: Path) -> state_log.Acknowledged:
    fd = os.open(path, os.O_RDONLY)
    try:
        return state_log.fold(*state_log.contents(fd, "log"))
    finally:
        os.close(fd)


def test_writes_and_flushes_of_all_workers_get_into_the_log(image: Path) -> None:
    write, read, flush = record(0, 1, 10_000), record(0, 0, 11_000), record(1, 1, 90_001)
    first, second = Records(write + read, write), Records(flush)
    collector, request = collector_of(first, second)
    claimed = claimed_of(request)
    assert collector.arm(claimed) == "it holds data"
    assert first.empty.wait(LONG_S) and second.empty.wait(LONG_S)
    collector.take(Look(claimed.info, [], []))
    assert collector.stop_reason() == ""
    sections = Sections()
    collector.conclude(ended(claimed), sections)
    collector.close()
    assert first.closed == second.closed == 1
    written = len(image.read_bytes().rstrip(b"\0"))
    kib = -(-written // BLOCK) * BLOCK // 1024
    assert sections.remarks == [f"state on /dev/fake1: 3 writes and flushes in {kib} KiB"]
    log = kept(image)
    assert (log.writes, log.flushes, log.grains) == (2, 1, 1)
    assert (log.state.seed, log.state.stamp_id) == (5, 9)


def test_a_device_that_an_unknown_user_has_open_is_refused(
    image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is written as the devices of the run are, and not claimed by it."""
    monkeypatch.setattr(openers, "LOOKS_FOR_UNKNOWN", 1)
    monkeypatch.setattr(openers, "_files", lambda *_: set())
    collector, request = collector_of(Records(), Records())
    claimed = claimed_of(request)
    kernel = claimed.kernel
    assert isinstance(kernel, FakeKernel)
    kernel.opens = 2
    with pytest.raises(RefusedError, match="/dev/fake1 is in use: the kernel counts 1 more open"):
        collector.arm(claimed)
    assert kernel.claim_calls() == ["claim-new", "claim-del"]
    assert not image.read_bytes().strip(b"\0")
    collector = StateCollector(dataclasses.replace(request, destroy=["S124"]), OTHER)
    assert collector.arm(claimed) == (
        "it holds data; /dev/fake1 will be overwritten although the kernel counts 1 more open of it"
        " than processes have: by a kernel user without a claim, or a process that is not visible"
        " here"
    )
    collector.close()


def await_trouble(collector: StateCollector) -> str:
    return str(eventually(collector.stop_reason, "nothing goes wrong"))


def test_a_full_device_ends_the_run(image: Path) -> None:
    small = disk("/dev/fake1", disk="fake1", zone_bytes=0, bytes=5 * BLOCK)
    buffer = Records(*[record(0, 1, 10)] * 10)
    collector, request = collector_of(buffer, Records(), device=small)
    claimed = claimed_of(request)
    collector.arm(claimed)
    sentence = (
        "the state on /dev/fake1 has ended: /dev/fake1 is full: its 20 KiB have no room for"
        " further writes of the run"
    )
    assert await_trouble(collector) == collector.trouble() == sentence
    sections = Sections()
    collector.conclude(ended(claimed), sections)
    collector.close()
    assert sections.remarks[0].endswith(sentence)
    assert kept(image).writes == 10 - len(buffer.left) - 1 > 0


def test_a_device_that_is_too_slow_ends_the_run(image: Path) -> None:
    collector, request = collector_of(Records(), Records())
    claimed = claimed_of(request)
    collector.arm(claimed)
    info = dataclasses.replace(claimed.info, workers=(WorkerInfo(log_lost=3), WorkerInfo()))
    collector.take(Look(info, [], []))
    assert collector.stop_reason().endswith(
        "/dev/fake1 is too slow: there was no room to record 3 I/Os"
    )
    collector.close()


def test_a_failed_write_ends_the_run(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collector, request = collector_of(Records(record(0, 1, 10)), Records())

    def fail(_fd: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    sync = os.fdatasync
    calls: list[Callable[[int], None]] = [sync]
    monkeypatch.setattr(os, "fdatasync", lambda fd: (calls.pop() if calls else fail)(fd))
    collector.arm(claimed_of(request))
    assert await_trouble(collector).endswith("cannot write /dev/fake1: Input/output error")
    collector.close()


def test_a_device_that_keeps_nothing_is_refused(
    image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "pwrite", lambda _fd, data, _at: len(data))
    collector, request = collector_of(Records(), Records())
    with pytest.raises(RefusedError, match="/dev/fake1 does not keep what is written to it"):
        collector.arm(claimed_of(request))
    collector.close()


@pytest.mark.parametrize(
    ("number", "kind", "sentence"),
    [
        (errno.EBUSY, RefusedError, "/dev/fake1 is in use: a mount"),
        (errno.EACCES, NotPermittedError, "not permitted to open /dev/fake1"),
        (errno.ENXIO, SpekError, "cannot open /dev/fake1: No such device"),
    ],
)
def test_a_device_that_cannot_be_claimed_is_refused(
    monkeypatch: pytest.MonkeyPatch, number: int, kind: type[SpekError], sentence: str
) -> None:
    def refuse(_path: str, flags: int, _number: object) -> int:
        assert flags & os.O_EXCL
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(opening, "open_block_device", refuse)
    monkeypatch.setattr(safety, "explain_busy", lambda _device: "a mount")
    with pytest.raises(kind, match=sentence):
        Log(OTHER, (), True)


@pytest.mark.parametrize("allowed", [False, True])
def test_data_on_the_device_needs_its_name(
    image: Path, monkeypatch: pytest.MonkeyPatch, allowed: bool
) -> None:
    """And --write, which a run that only reads may lack. The claim is given back without them."""

    def refuse(*asked: object, **_: object) -> str:
        assert asked == (OTHER, 0, ["S123"], allowed)
        raise RefusedError("it holds data")

    monkeypatch.setattr(safety, "check_write", refuse)
    with closes_what_it_opens(), pytest.raises(RefusedError, match="it holds data"):
        Log(OTHER, ["S123"], allowed)


def test_without_the_right_to_open_disks_there_is_no_log() -> None:
    rights = Rights()
    rights.opens_disks = False
    request = dataclasses.replace(request_of(), rights=rights)
    with pytest.raises(NotPermittedError, match="which needs root"):
        StateCollector(request, OTHER)
