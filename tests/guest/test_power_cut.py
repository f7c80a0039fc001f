# SPDX-License-Identifier: GPL-2.0
"""Power cuts: modelled drives lose what they have not made permanent, and `spekctl verify` tells by
the log of --state-on whether that was more than they may."""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import re
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.command_line import Outcome, Spekctl
from lib.guest.disks import scsi_disk
from lib.guest.modelled import SMALL, Disk, modelled, send
from lib.guest.netlink import MIB, asu, delete, new, state, stream
from lib.guest.netlink_raw import Refusal, Socket
from lib.guest.spekctl import in_process
from lib.guest.trace import events
from lib.waiting import eventually

from spekctl.drive.model import Cache
from spekctl.errors import SpekError
from spekctl.kernel.drives import Drives
from spekctl.kernel.gen import spek, spek_drive
from spekctl.kernel.gen.spek import Backend, RunState
from spekctl.kernel.gen.spek import Cmd as SpekCmd
from spekctl.kernel.gen.spek_drive import Cmd, Fault
from spekctl.run import state_log

pytestmark = pytest.mark.usefixtures("drive_module")

BLKFLSBUF = 0x1261  # linux/fs.h
BLOCK, DATA_ERRORS, UNIT_ATTENTION = 4096, 6, 6
WRITES, FLUSHES = range(2)  # streams of SYNC
ISSUE_NS, DONE_NS, STREAM, ERROR = 1, 2, 6, 11  # fields of a record of the log
# Accesses of the cache end long before those that write it to the media.
WRITE_BACK = replace(SMALL, cache=Cache(write_sectors=16384, hit_ns=50_000, sector_ps=10**6))
SYNC = """
[workload]
name = "sync"
summary = "writes, flushed now and then"
doc = "For tests of power cuts."
[[asu]]
name = "all"
size = "4MiB"
[[arrival]]
name = "main"
law = "closed"
depth = 8
[[stream]]
name = "write"
share = "95%"
read = "0%"
sizes = [{ size = "4KiB", share = "100%" }]
[[stream]]
name = "flush"
share = "5%"
operation = "flush"
"""
ATOMIC_BYTES = 16384
ATOMIC = SYNC.replace('size = "4KiB"', 'size = "16KiB"').replace(
    'read = "0%"', 'read = "0%"\natomic = true'
)


@pytest.fixture
def spekctl(spek_module: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Spekctl]:
    with in_process(capfd) as call:
        yield call


def set_faults(disk: Disk, *kinds: Fault, clear: bool = False) -> None:
    with Socket(spek_drive) as nl:
        faults = [{"kind": int(kind)} for kind in kinds]
        nl.ask(Cmd.DRIVE_SET, id=disk.drive, clear_faults=int(clear), fault=faults)


def cut_and_return(disk: Disk) -> None:
    """The power goes, and comes back."""
    set_faults(disk, Fault.POWER_CUT)
    power_on(disk)


def power_on(disk: Disk) -> None:
    """Who looked at the disk meanwhile, as udev does after a write, found it without a size."""
    set_faults(disk, clear=True)
    (disk.device / "rescan").write_text("1")


def put(disk: Disk, block: int, letter: bytes, flags: int = 0) -> None:
    """Write a block past the page cache."""
    fd = os.open(disk.node, os.O_RDWR | os.O_DIRECT | flags)
    try:
        with mmap.mmap(-1, BLOCK) as memory:
            memory[:] = letter * BLOCK
            assert os.pwrite(fd, memory, block * BLOCK) == BLOCK
    finally:
        os.close(fd)


def put_with_fua(disk: Disk, block: int, letter: bytes) -> None:
    """By a command: after O_DSYNC the kernel flushes as well."""
    write = struct.pack(">BBIBHB", 0x2A, 0x08, block * 8, 0, 8, 0)
    assert send(disk.node, write, data=letter * BLOCK).status == 0


def flush(disk: Disk) -> None:
    fd = os.open(disk.node, os.O_RDWR)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def blocks(disk: Disk, count: int) -> bytes:
    """The first byte of each block."""
    fd = os.open(disk.node, os.O_RDONLY)
    try:
        fcntl.ioctl(fd, BLKFLSBUF)
        return b"".join(os.pread(fd, 1, block * BLOCK) for block in range(count))
    finally:
        os.close(fd)


@pytest.mark.debug_kernel
def test_what_was_not_flushed_is_lost(drives: Drives) -> None:
    with modelled(drives, WRITE_BACK) as disk:
        put(disk, 0, b"a")
        set_faults(disk, Fault.VOLATILE_CACHE)
        put(disk, 0, b"b")
        put(disk, 1, b"b")
        put(disk, 2, b"b")
        flush(disk)
        put(disk, 1, b"c")
        put_with_fua(disk, 2, b"c")
        put(disk, 3, b"c")
        assert blocks(disk, 4) == b"bccc"
        cut_and_return(disk)
        assert blocks(disk, 4) == b"bbc\0"
        # Without the fault nothing is lost any more.
        put(disk, 3, b"d")
        cut_and_return(disk)
        assert blocks(disk, 4) == b"bbcd"


@pytest.mark.parametrize(
    ("stop", "kept"),
    [
        (bytes([0x1B, 0, 0, 0, 0, 0]), True),
        (bytes([0x1B, 0, 0, 0, 4, 0]), False),  # NO_FLUSH
        (bytes([0x1B, 0, 0, 0, 0x30, 0]), True),
        (bytes([0x85, 6, *[0] * 12, 0xE0, 0]), True),
        (bytes([0x85, 6, *[0] * 12, 0xE1, 0]), False),  # IDLE IMMEDIATE keeps the spindle
    ],
    ids=["stop", "stop-no-flush", "standby", "ata-standby", "ata-idle"],
)
def test_stopping_the_spindle_writes_the_cache(drives: Drives, stop: bytes, kept: bool) -> None:
    with modelled(drives, WRITE_BACK) as disk:
        set_faults(disk, Fault.VOLATILE_CACHE)
        put(disk, 0, b"a")
        assert send(disk.node, stop).status == 0
        cut_and_return(disk)
        assert blocks(disk, 1) == (b"a" if kept else b"\0")


@pytest.mark.debug_kernel
def test_a_drive_that_lies_keeps_nothing(drives: Drives) -> None:
    with modelled(drives, WRITE_BACK) as disk:
        put(disk, 0, b"a")
        set_faults(disk, Fault.FLUSH_IGNORED)
        put(disk, 0, b"b")
        flush(disk)
        put(disk, 1, b"b", os.O_DSYNC)
        assert blocks(disk, 2) == b"bb"
        cut_and_return(disk)
        assert blocks(disk, 2) == b"a\0"


def test_a_drive_without_a_write_cache_loses_nothing(drives: Drives) -> None:
    with modelled(drives) as disk:
        set_faults(disk, Fault.VOLATILE_CACHE)
        put(disk, 0, b"a")
        cut_and_return(disk)
        assert blocks(disk, 1) == b"a"


@pytest.mark.debug_kernel
def test_a_write_that_the_power_took_comes_again(drives: Drives) -> None:
    """It is not acknowledged by the drive that is back, without its data."""
    # However long it takes to cut the power, one of these writes takes longer.
    for hit_ms in (200, 800, 3200, 12_800):
        cache = Cache(write_sectors=16384, hit_ns=hit_ms * 10**6, sector_ps=10**6)
        with modelled(drives, replace(SMALL, cache=cache)) as disk:
            inflight = disk.queue.parent / "inflight"
            set_faults(disk, Fault.VOLATILE_CACHE)
            writer = threading.Thread(target=put, args=(disk, 0, b"a"))
            writer.start()
            while writer.is_alive() and not int(inflight.read_text().split()[1]):
                time.sleep(0.001)
            set_faults(disk, Fault.POWER_CUT)
            # A gone drive keeps what it has; else the write was faster than the cut.
            taken = int(inflight.read_text().split()[1])
            power_on(disk)
            writer.join()
            if taken:
                assert blocks(disk, 1) == b"a"
                return
    pytest.fail("each write is faster than the cut")


def test_a_drive_whose_power_was_cut_starts_from_its_defaults(drives: Drives) -> None:
    """It is awake and not stopped, has no timer, tells so, and has drawn nothing meanwhile."""
    slow = replace(SMALL, watts=replace(SMALL.watts, starting_ns=200_000_000))
    with modelled(drives, slow) as disk:
        for command in (0xE3, 0xE6):  # IDLE with a timer of 10 minutes, SLEEP
            assert (
                send(disk.node, bytes([0x85, 6, *[0] * 4, 120, *[0] * 7, command, 0])).status == 0
            )
        before = drives.stats(disk.drive)
        set_faults(disk, Fault.POWER_CUT)
        cut = drives.stats(disk.drive)
        time.sleep(0.2)
        assert drives.stats(disk.drive).energies == cut.energies
        assert [rail.power_uw for rail in cut.energies] == [0, 0]
        assert drives.drive(disk.drive).condition.value == "standby"
        set_faults(disk, clear=True)
        assert send(disk.node, bytes(6)).code == (UNIT_ATTENTION, 0x29, 0)
        assert send(disk.node, bytes(6)).status == 0
        assert drives.stats(disk.drive).starts == before.starts + 1
        mode = send(disk.node, bytes([0x1A, 8, 0x1A, 0, 64, 0]), length=64)
        assert mode.data[4 + 3] == 0
        (disk.device / "rescan").write_text("1")
        put(disk, 0, b"a")
        assert blocks(disk, 1) == b"a"


def logged(log: str) -> list[tuple[int, ...]]:
    """The records of a log; SpekError if it has none yet."""
    fd = os.open(log, os.O_RDONLY)
    try:
        contents = list(state_log.contents(fd, log)[1])
    finally:
        os.close(fd)
    return [row for content in contents for row in state_log.RECORD.iter_unpack(content)]


def await_logged(log: str, writes: int, since_ns: int = 0) -> None:
    """Wait until the log has so many writes and a flush that were issued since then."""

    def is_logged() -> bool:
        try:
            rows = logged(log)
        except SpekError:
            return False
        streams = [row[STREAM] for row in rows if row[ISSUE_NS] > since_ns]
        return streams.count(WRITES) >= writes and FLUSHES in streams

    eventually(is_logged, "the log does not grow")


def spoil(disk: Disk, log: str, lies: bool) -> None:
    """Cut the power in mid-run; a drive that @lies begins with that some time before."""
    await_logged(log, 500)
    if lies:
        set_faults(disk, Fault.FLUSH_IGNORED)
    await_logged(log, 1500, time.monotonic_ns())
    set_faults(disk, Fault.POWER_CUT)


def unflushed_writes(log: str) -> int:
    """Writes that were issued after the last flush had ended, and acknowledged."""
    good = [row for row in logged(log) if not row[ERROR]]
    flushed_ns = max(row[DONE_NS] for row in good if row[STREAM] == FLUSHES)
    return sum(row[STREAM] == WRITES and row[ISSUE_NS] > flushed_ns for row in good)


def tear(disk: Disk, log: str) -> None:
    """Cut the power while blocks are being written again that were flushed before."""
    await_logged(log, 600)
    set_faults(disk, Fault.POWER_CUT)


@pytest.mark.parametrize("lies", [False, True])
def test_a_lost_write_is_named(
    drives: Drives, spekctl: Spekctl, tmp_path: Path, lies: bool
) -> None:
    """Two workers write when the power goes; the run ends with errors, as the machine would not."""
    workload = tmp_path / "sync.toml"
    workload.write_text(SYNC)
    with modelled(drives, WRITE_BACK) as disk, scsi_disk(size_mb=64, delay=0) as log:
        (disk.queue / "io_timeout").write_text("1000")
        set_faults(disk, Fault.VOLATILE_CACHE)
        cut = threading.Thread(target=spoil, args=(disk, log, lies))
        cut.start()
        run = spekctl(
            *("run", str(workload), "--device", disk.node, "--write", "--verify"),
            *(
                "--state-on",
                log,
                "--workers",
                "2",
                "--time",
                "1h",
                "--max-errors",
                "1",
                "--no-prober",
            ),
            *("--progress", "none", "--json"),
        )
        cut.join()
        assert run.code != 0, run.err
        assert any(f"state on {log}: " in line for line in json.loads(run.out)["remarks"])

        power_on(disk)
        (disk.device / "state").write_text("running\n")
        kept = state_log.load(Path(log))
        assert kept.writes >= 2000 and kept.flushes > 0 and kept.grains > 100
        check = spekctl("verify", "--device", disk.node, "--from", log, "--json")
    report = json.loads(check.out)
    assert report["complete"], report
    assert report["counts"]["checked"] > 100 * BLOCK // 512
    kinds = report["counts"]["by_kind"]
    if not lies:
        assert check.code == 0 and report["ok"], report
        return
    # What the blocks held when the drive began to lie is still there.
    assert check.code == DATA_ERRORS
    assert kinds and set(kinds) <= {"stale", "unstamped"}, kinds
    assert "a write that was acknowledged and flushed is gone" in report["text"]
    assert all(
        block["expected_generation"] > (block["found_generation"] or 0) for block in report["first"]
    )


def commands(text: str, opcode: int) -> int:
    """Commands of a kind that were sent to SCSI disks, by the trace of the SCSI layer."""
    return len(re.findall(rf"scsi_dispatch_cmd_start: .* raw={opcode:02x} ", text))


def has_atomic_writes(disk: Disk) -> bool:
    return (disk.queue / "atomic_write_unit_max_bytes").exists()


ONLY_ATOMIC = {"write": 1, "time_ns": None, "count": 50, "max_errors": 1}


def is_done(nl: Socket, run: int) -> bool:
    return state(nl, run) is RunState.DONE


def writes_of(bytes_: int, **changes: Any) -> list[dict[str, Any]]:
    return [
        stream(
            range_bytes=4 * MIB,
            align_bytes=bytes_,
            size=[{"bytes": bytes_, "weight": 1}],
            read_ppm=0,
            atomic=1,
            **changes,
        )
    ]


def test_drives_get_atomic_writes(drives: Drives, spek_module: Path) -> None:
    """From each back end; what a drive does not take as a whole is refused, with the limit."""
    common: dict[str, Any] = {**ONLY_ATOMIC, "asu": [asu(bytes=4 * MIB)]}
    # With one tag for four outstanding writes, most writes come again before they get one.
    with (
        Socket(spek) as nl,
        modelled(drives, WRITE_BACK, atomic_sectors=32, queue_depth=1) as disk,
    ):
        if not has_atomic_writes(disk):
            with pytest.raises(Refusal) as no:
                new(nl, disk.node, stream=writes_of(4096), **common)
            assert no.value.text == (
                "This kernel has no atomic writes: Linux has them from 6.11 on."
            )
            return
        for backend in (Backend.BIO, Backend.MQ, Backend.SCSI):
            with events("scsi") as trace:
                run = new(
                    nl, disk.node, stream=writes_of(ATOMIC_BYTES), backend=int(backend), **common
                )
                nl.ask(SpekCmd.RUN_START, id=run)
                eventually(partial(is_done, nl, run), "the run does not end")
                assert nl.ask(SpekCmd.RUN_GET, id=run).values[0]["errors"] == 0
                delete(nl, run)
                assert commands(trace.text(), 0x9C) >= 50, backend
                assert not commands(trace.text(), 0x8A) + commands(trace.text(), 0x2A), backend
        with pytest.raises(Refusal) as no:
            new(nl, disk.node, stream=writes_of(2 * ATOMIC_BYTES), **common)
        assert "above what the device writes atomically (atomic_write_unit_max" in no.value.text
    with Socket(spek) as nl, modelled(drives, WRITE_BACK) as disk:
        with pytest.raises(Refusal) as no:
            new(nl, disk.node, stream=writes_of(4096), **common)
        assert "The device has no atomic writes" in no.value.text


def cut_atomic_run(
    drives: Drives, spekctl: Spekctl, workload: Path, fault: Fault
) -> tuple[Outcome, int]:
    """Cut a run of atomic writes, on a drive with a fault. Return: what verify says, and how many
    writes were not flushed then."""
    with (
        modelled(drives, WRITE_BACK, atomic_sectors=ATOMIC_BYTES // 512) as disk,
        scsi_disk(size_mb=64, delay=0) as log,
    ):
        if not has_atomic_writes(disk):
            pytest.skip("this kernel has no atomic writes: Linux 6.11 does")
        (disk.queue / "io_timeout").write_text("1000")
        set_faults(disk, fault)
        cut = threading.Thread(target=tear, args=(disk, log))
        cut.start()
        run = spekctl(
            *("run", str(workload), "--device", disk.node, "--write", "--verify"),
            *("--state-on", log, "--time", "1h", "--max-errors", "1", "--no-prober"),
            *("--progress", "none", "--json"),
        )
        cut.join()
        assert run.code != 0, run.err
        remarks = json.loads(run.out)["remarks"]
        assert any("16 KiB with parts of two are torn" in line for line in remarks)
        power_on(disk)
        (disk.device / "state").write_text("running\n")
        check = spekctl("verify", "--device", disk.node, "--from", log, "--json")
        return check, unflushed_writes(log)


@pytest.mark.parametrize("tears", [False, True])
def test_torn_atomic_writes_are_named(
    drives: Drives, spekctl: Spekctl, tmp_path: Path, tears: bool
) -> None:
    """An honest drive loses a write as a whole, whichever the power took."""
    workload = tmp_path / "atomic.toml"
    workload.write_text(ATOMIC)
    fault = Fault.WRITES_TORN if tears else Fault.VOLATILE_CACHE
    check, unflushed = cut_atomic_run(drives, spekctl, workload, fault)
    # Behind a flush there is nothing to tear.
    while not unflushed:
        check, unflushed = cut_atomic_run(drives, spekctl, workload, fault)
    report = json.loads(check.out)
    assert report["complete"], report
    kinds = report["counts"]["by_kind"]
    if not tears:
        assert check.code == 0 and not kinds, report
        return
    assert check.code == DATA_ERRORS
    assert set(kinds) == {"torn"}, kinds
    # The drive keeps pages with even numbers: the second one is the first of another write.
    assert all(block["offset"] % ATOMIC_BYTES == BLOCK for block in report["first"]), report
