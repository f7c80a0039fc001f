# SPDX-License-Identifier: GPL-2.0
"""spek_drive.ko and hosts that go wrong: buffers of the wrong kind, commands that the kernel gives
up, resets of what is just being removed."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import re
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from lib.guest.absent import absent, address_of
from lib.guest.modelled import (
    FLASH,
    FROM_DEVICE,
    NONE,
    SMALL,
    TO_DEVICE,
    Disk,
    disk_of,
    exchange,
    modelled,
    send,
)
from lib.guest.netlink_raw import Socket
from lib.guest.syscalls import SYS
from lib.guest.trace import trace_instance
from lib.waiting import LONG_S, eventually

from spekctl.drive.model import Cache
from spekctl.kernel.drives import Drives, Making
from spekctl.kernel.gen import spek_drive
from spekctl.kernel.gen.spek_drive import Cmd, Fault

pytestmark = [pytest.mark.usefixtures("drive_module"), pytest.mark.debug_kernel_at_length]

MS, SECOND = 10**6, 10**9
QUEUE_DEPTH = 32
SG_SCSI_RESET, SG_SCSI_RESET_DEVICE = 0x2284, 1
INQUIRY = bytes([0x12, 0, 0, 0, 96, 0])
MODE_SENSE = bytes([0x1A, 8, 0x1A, 0, 44, 0])  # of the power condition page, as it is now
START, STOP = bytes([0x1B, 0, 0, 0, 1, 0]), bytes([0x1B, 0, 0, 0, 0, 0])
STANDBY, STOP_AT_ONCE = bytes([0x1B, 0, 0, 0, 0x30, 0]), bytes([0x1B, 1, 0, 0, 0, 0])
CHECK_CONDITION, ILLEGAL_REQUEST, UNIT_ATTENTION = 2, 5, 6
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [
    *(ctypes.c_void_p, ctypes.c_size_t),
    *(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long),
]


def ten(opcode: int, lba: int, sectors: int) -> bytes:
    """READ(10) or WRITE(10)."""
    return struct.pack(">BBIBHB", opcode, 0, lba, 0, sectors, 0)


def read_ten(lba: int, sectors: int = 8) -> bytes:
    return ten(0x28, lba, sectors)


def write_ten(lba: int, sectors: int = 8) -> bytes:
    return ten(0x2A, lba, sectors)


@contextlib.contextmanager
def opened(node: str) -> Iterator[int]:
    fd = os.open(node, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def running(*threads: threading.Thread) -> Iterator[None]:
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join()


def set_standby_timer(node: str, ticks: int) -> None:
    """By MODE SELECT. @ticks: of 100 ms"""
    page = struct.pack(">BBBBII28x", 0x1A, 38, 0, 1, 0, ticks)
    select = bytes([0x15, 0x10, 0, 0, 4 + len(page), 0])
    assert send(node, select, data=bytes(4) + page).status == 0


def await_condition(drives: Drives, disk: Disk, condition: str) -> None:
    eventually(
        lambda: drives.drive(disk.drive).condition.value == condition,
        f"the drive does not become {condition}",
    )


@pytest.mark.debug_kernel
def test_no_answer_is_put_into_memory_that_is_to_be_sent(drives: Drives, tmp_path: Path) -> None:
    """Of a transfer to the device the kernel maps the sender's pages for reading: here those of a
    file that the sender can't write."""
    path = tmp_path / "kept"
    path.write_bytes(b"k" * mmap.PAGESIZE)
    path.chmod(0o444)
    with modelled(drives) as disk, opened(disk.node) as fd, path.open("rb") as file:
        address = libc.mmap(None, mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
        answer = exchange(fd, INQUIRY, TO_DEVICE, address, 512)
        assert path.read_bytes() == b"k" * mmap.PAGESIZE
        assert (answer.status, answer.residue) == (0, 512)
        assert send(disk.node, INQUIRY, length=512).residue == 512 - 96


@pytest.mark.debug_kernel
def test_what_the_kernel_has_given_up_is_forgotten(drives: Drives) -> None:
    """A drive that does not answer refuses abort and reset, and the kernel takes its commands
    back by itself: their numbers belong to other commands when the drive answers again."""
    # Seconds for a command: however slow this machine is, it is quicker than with one of these.
    for limit_s in (1, 6):
        if is_forgotten_when_given_up(drives, limit_s):
            break
    else:
        pytest.fail("the drive is not gone, or the arm has ended, before the kernel gives up")


def is_forgotten_when_given_up(drives: Drives, limit_s: int) -> bool:
    """False if the drive went when the kernel had taken the command back by an abort, or if the arm
    has ended meanwhile."""
    bad = 1 << 18
    lost: list[OSError] = []

    def lose(node: str) -> None:
        try:
            send(node, read_ten(bad), length=4096, timeout_ms=1000 * limit_s)
        except OSError as error:
            lost.append(error)

    with modelled(drives) as disk, Socket(spek_drive) as nl:
        slow = {"kind": int(Fault.MEDIUM_ERROR), "lba": bad, "delay_ns": 8 * limit_s * SECOND}
        nl.ask(Cmd.DRIVE_SET, id=disk.drive, fault=[slow])
        with running(threading.Thread(target=lose, args=(disk.node,))):
            eventually(lambda: drives.drive(disk.drive).outstanding == 1 or lost, "nothing is sent")
            nl.ask(Cmd.DRIVE_SET, id=disk.drive, fault=[{"kind": int(Fault.GONE)}])
            is_in_time = not drives.stats(disk.drive).aborted
        state = disk.device / "state"
        assert len(lost) == 1
        assert not is_in_time or state.read_text() == "offline\n"

        nl.ask(Cmd.DRIVE_SET, id=disk.drive, clear_faults=1)
        if not is_in_time or drives.drive(disk.drive).outstanding != 1:
            return False
        state.write_text("running\n")
        statuses: list[int] = []
        readers = [
            threading.Thread(
                target=lambda: statuses.append(send(disk.node, read_ten(0), length=4096).status)
            )
            for _ in range(2 * QUEUE_DEPTH)
        ]
        with running(*readers):
            pass
        assert statuses == [0] * len(readers)
        eventually(lambda: drives.drive(disk.drive).outstanding == 0, "commands stay")
        assert drives.stats(disk.drive).aborted == 1
    return True


def test_a_stop_is_done_when_the_drive_is_back(drives: Drives) -> None:
    """Also if the request that it waited for was taken back while the drive was gone."""

    def lose(node: str) -> None:
        with contextlib.suppress(OSError):
            send(node, read_ten(0), length=4096, timeout_ms=1000)

    slow = replace(SMALL, watts=replace(SMALL.watts, starting_ns=8 * SECOND))
    with modelled(drives, slow) as disk, Socket(spek_drive) as nl:
        assert send(disk.node, STANDBY).status == 0
        with running(threading.Thread(target=lose, args=(disk.node,))):
            eventually(lambda: drives.drive(disk.drive).outstanding == 1, "nothing is sent")
            assert send(disk.node, STOP_AT_ONCE).status == 0
            nl.ask(Cmd.DRIVE_SET, id=disk.drive, fault=[{"kind": int(Fault.GONE)}])
        assert drives.drive(disk.drive).outstanding == 0
        await_condition(drives, disk, "active")
        nl.ask(Cmd.DRIVE_SET, id=disk.drive, clear_faults=1)
        await_condition(drives, disk, "stopped")
        (disk.device / "state").write_text("running\n")


def elements(node: str) -> list[tuple[int, int]]:
    """Identifiers of the arms and their health."""
    answer = send(node, element_command(0x17, length=512), length=512)
    assert answer.status == 0
    matching, returned = struct.unpack(">II", answer.data[:8])
    assert matching == returned
    rows = (answer.data[at : at + 32] for at in range(32, 32 + 32 * returned, 32))
    return [(int.from_bytes(row[4:8]), row[15]) for row in rows]


def element_command(service: int, length: int = 0) -> bytes:
    """@length: allocation length, or the element."""
    return struct.pack(">BB8xI2x", 0x9E, service, length)


def arms_at_work(disk: Disk) -> set[int]:
    """Arms that serve reads all over the disk."""
    instance = trace_instance("spek-arms")
    trigger = instance / "events/spek_drive/spek_drive_complete/trigger"
    try:
        trigger.write_text("hist:keys=arm")
        for read in range(40):
            assert send(disk.node, read_ten(read * 7919 % 65536 * 8), length=4096).status == 0
        hist = (trigger.parent / "hist").read_text()
    finally:
        trigger.write_text("!hist:keys=arm")
        instance.rmdir()
    # -1, as an unsigned number, stands for the cache.
    return {int(arm) for arm in re.findall(r"arm: +(\d+)", hist)} & set(range(8))


def test_an_arm_is_removed_by_a_command_and_the_other_does_its_work(drives: Drives) -> None:
    good, gone = 0x01, 0xFF
    remove, restore = element_command(0x18, 2), element_command(0x19)
    with modelled(drives, replace(SMALL.with_arms(2), channels=1)) as disk:
        size = (disk.queue.parent / "size").read_text()
        assert elements(disk.node) == [(1, good), (2, good)]
        assert arms_at_work(disk) == {0, 1}

        assert send(disk.node, remove).status == 0
        assert elements(disk.node) == [(1, good), (2, gone)]
        assert arms_at_work(disk) == {0}
        (fault,) = drives.drive(disk.drive).faults
        assert (fault.kind.value, fault.number) == ("arm-failed", 1)
        listed = subprocess.run(
            ["sg_get_elem_status", disk.node], capture_output=True, text=True, check=True
        ).stdout
        assert "Number of descriptors: 2" in listed
        # The last one stays, and what is removed is not removed again.
        for element in (1, 2):
            answer = send(disk.node, element_command(0x18, element))
            assert (answer.status, answer.code[0]) == (CHECK_CONDITION, ILLEGAL_REQUEST)
        assert (disk.queue.parent / "size").read_text() == size

        assert send(disk.node, restore).status == 0
        assert elements(disk.node) == [(1, good), (2, good)]
        assert arms_at_work(disk) == {0, 1}


def test_an_arm_that_alone_reaches_a_stack_is_not_removed(drives: Drives) -> None:
    """The disk would fail all accesses to half of its capacity."""
    model = replace(SMALL.with_arms(4), stacks=2, channels=2)
    with modelled(drives, model) as disk:
        assert send(disk.node, element_command(0x18, 3)).status == 0
        answer = send(disk.node, element_command(0x18, 4))
        assert (answer.status, answer.code[0]) == (CHECK_CONDITION, ILLEGAL_REQUEST)
        assert send(disk.node, element_command(0x18, 1)).status == 0
        assert elements(disk.node) == [(1, 0xFF), (2, 1), (3, 0xFF), (4, 1)]
        # Reads of the first stack, and one of the last sectors of the second.
        assert arms_at_work(disk) == {1}
        last = int((disk.queue.parent / "size").read_text()) - 8
        assert send(disk.node, read_ten(last), length=4096).status == 0


def reset_device(fd: int, address: int) -> int:
    """SG_SCSI_RESET; what is to be reset is at @address."""
    return int(libc.ioctl(fd, ctypes.c_ulong(SG_SCSI_RESET), ctypes.c_void_p(address)))


@pytest.mark.debug_kernel
def test_commands_end_with_the_reset_of_the_drive(drives: Drives) -> None:
    """They were not failed by the kernel, which would wait for them until their time is over."""
    slow = 1 << 18
    ends: list[str] = []

    def be_reset(node: str) -> None:
        try:
            send(node, read_ten(slow), length=4096, timeout_ms=200_000)
        except OSError as error:
            ends.append(str(error))

    with modelled(drives) as disk, Socket(spek_drive) as nl, opened(disk.node) as fd:
        fault = {"kind": int(Fault.MEDIUM_ERROR), "lba": slow, "delay_ns": 100 * SECOND}
        nl.ask(Cmd.DRIVE_SET, id=disk.drive, fault=[fault])
        default = send(disk.node, MODE_SENSE, length=44).data
        set_standby_timer(disk.node, 6000)
        assert send(disk.node, MODE_SENSE, length=44).data != default
        threads = [threading.Thread(target=be_reset, args=(disk.node,)) for _ in range(3)]
        with running(*threads):
            eventually(lambda: drives.drive(disk.drive).outstanding == 3, "nothing is sent")
            what = ctypes.c_int(SG_SCSI_RESET_DEVICE)
            assert reset_device(fd, ctypes.addressof(what)) == 0
        assert ends == ["host byte 0x8"] * 3  # DID_RESET, and not the medium error
        assert send(disk.node, bytes(6)).code == (UNIT_ATTENTION, 0x29, 3)
        assert send(disk.node, MODE_SENSE, length=44).data == default


def commands_out(disk: Disk) -> int:
    """Commands that the drive was given and has not ended."""
    given, ended = (
        int((disk.device / f"io{name}_cnt").read_text(), 16) for name in ("request", "done")
    )
    return given - ended


INQUIRY = bytes([0x12, 0, 0, 0, 96, 0])
SLEEP = bytes([0x85, 0x06, *[0] * 12, 0xE6, 0])  # by ATA PASS-THROUGH (16)


@pytest.mark.debug_kernel
def test_a_drive_that_sleeps_answers_after_a_reset(drives: Drives) -> None:
    """Nothing before, not even what it is; a reset leaves it in standby."""
    ends: list[str] = []

    def ask(node: str) -> None:
        try:
            ends.append(str(send(node, INQUIRY, length=96, timeout_ms=200_000)))
        except OSError as error:
            ends.append(str(error))

    with modelled(drives) as disk, opened(disk.node) as fd:
        assert send(disk.node, SLEEP).status == 0
        await_condition(drives, disk, "standby")
        before = commands_out(disk)
        asks = threading.Thread(target=ask, args=(disk.node,))
        with running(asks):
            eventually(lambda: commands_out(disk) > before, "the question is not asked")
            what = ctypes.c_int(SG_SCSI_RESET_DEVICE)
            assert ends == []
            assert reset_device(fd, ctypes.addressof(what)) == 0
        assert ends == ["host byte 0x8"]  # DID_RESET
        assert send(disk.node, bytes(6)).code == (UNIT_ATTENTION, 0x29, 3)
        assert drives.drive(disk.drive).condition.value == "standby"
        assert send(disk.node, read_ten(0), length=4096).status == 0
        assert drives.stats(disk.drive).starts == 1


def test_the_kernel_wakes_a_drive_that_sleeps(drives: Drives) -> None:
    """By its error handling, after the time of a command; what it does then is only late."""
    with modelled(drives) as disk:
        (disk.device / "eh_timeout").write_text("2")
        (disk.device / "timeout").write_text("2")
        assert send(disk.node, SLEEP).status == 0
        await_condition(drives, disk, "standby")
        with opened(disk.node) as fd:
            assert os.pread(fd, 512, 0) == bytes(512)
        assert drives.stats(disk.drive).aborted > 0


@pytest.mark.debug_kernel
def test_a_reset_is_too_late_for_a_drive_that_is_gone(drives: Drives) -> None:
    """SG_SCSI_RESET comes without a command, so that the removal does not wait for it."""
    disk = disk_of(drives, drives.new(SMALL, Making()))
    memory = mmap.mmap(-1, mmap.PAGESIZE)
    results: list[int] = []
    content = struct.pack("=i", SG_SCSI_RESET_DEVICE)
    with opened(disk.node) as fd, absent(memory, content) as come:
        address = address_of(memory)
        reset = threading.Thread(target=lambda: results.append(reset_device(fd, address)))
        with running(reset):
            call = Path(f"/proc/self/task/{reset.native_id}/syscall")
            eventually(
                lambda: call.read_text().startswith(f"{SYS.ioctl} 0x{fd:x} 0x2284 "),
                "it does not wait for what it is to do",
            )
            drives.delete(disk.drive)
            assert drives.wait_gone(disk.drive, LONG_S)
            come()
    assert results == [-1]


# Accesses of the cache end long before those that write it to the media.
WRITE_BACK = replace(
    SMALL,
    cache=Cache(write_sectors=8192, hit_ns=50_000, sector_ps=10**6),
    watts=replace(SMALL.watts, starting_ns=MS, stopping_ns=MS),
)


def test_a_standby_timer_of_0_waits_for_the_drives_own_work(drives: Drives) -> None:
    """And does not ask every nanosecond whether it is done."""
    instance = trace_instance("spek-timer")
    trigger = instance / "events/timer/hrtimer_expire_entry/trigger"
    try:
        with modelled(drives, WRITE_BACK) as disk:
            set_standby_timer(disk.node, 0)
            trigger.write_text("hist:keys=function.sym:size=1024")
            for write in range(40):
                cdb = write_ten(write * 7919 % 65536 * 8)
                assert send(disk.node, cdb, data=b"w" * 4096).status == 0
            await_condition(drives, disk, "standby")
            stats = drives.stats(disk.drive)
            hist = (trigger.parent / "hist").read_text()
    finally:
        trigger.write_text("!hist:keys=function.sym:size=1024")
        instance.rmdir()

    (line,) = [row for row in hist.splitlines() if "[spek_drive]" in row]
    (expired,) = re.findall(r"hitcount: +(\d+)", line)
    assert stats.accepted >= 40
    assert stats.destages >= 30
    # A start, an end and a stop of the spindle for each of them, at most.
    assert int(expired) < 4 * (stats.accepted + stats.destages + 10)


assert FLASH.flash
# Starts and stops at once, so that a command may find it in any condition.
FICKLE = replace(
    FLASH,
    flash=replace(FLASH.flash, read_ns=1, program_ns=1, erase_ns=1, sector_ps=0),
    cache=Cache(hit_ns=1000),
    watts=replace(FLASH.watts, starting_ns=0, stopping_ns=0),
)
FICKLE_S = 15.0


def test_a_write_that_succeeds_has_moved_its_data(drives: Drives) -> None:
    """While another host stops and starts the drive all the time."""
    stop = threading.Event()
    buffer = ctypes.create_string_buffer(512)
    address = ctypes.addressof(buffer)

    with modelled(drives, FICKLE) as disk, opened(disk.node) as fd:

        def turn() -> None:
            with opened(disk.node) as own:
                while not stop.is_set():
                    exchange(own, STOP, NONE, 0, 0)
                    exchange(own, START, NONE, 0, 0)

        done = refused = 0
        with running(threading.Thread(target=turn)):
            try:
                end = time.monotonic() + FICKLE_S
                # However long it takes for enough of either.
                while time.monotonic() < end or min(done, refused) <= 20:
                    number = done + refused
                    struct.pack_into("=Q", buffer, 0, number)
                    if exchange(fd, write_ten(0, 1), TO_DEVICE, address, 512).status:
                        refused += 1
                        continue
                    while exchange(fd, read_ten(0, 1), FROM_DEVICE, address, 512).status:
                        pass
                    assert struct.unpack_from("=Q", buffer) == (number,)
                    done += 1
            finally:
                stop.set()
