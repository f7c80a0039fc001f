# SPDX-License-Identifier: GPL-2.0
"""Modelled drives for tests in the guest: made, found and sent commands to."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

from lib.build.for_guests import for_guests
from lib.guest.disks import settle
from lib.guest.trace import fields_of
from lib.waiting import LONG_S, eventually

from spekctl.drive import core
from spekctl.drive.core import REQUEST, RESULT, Rule, Simulation
from spekctl.drive.model import MOST_ARMS, Cache, Flash, Model, Watts, Zone
from spekctl.kernel.drives import Drives, Making

# Compiled on the host; where guests look for it otherwise they can write nothing.
_LIBRARY = for_guests("drive.so", core.library_path)
MS = 10**6
SG_IO = 0x2285
NONE, TO_DEVICE, FROM_DEVICE = -1, -2, -3
SG_HEADER = struct.Struct("=iiBBHIQQQIIi4xQBBBBHHiII4x")

# 256 MiB, 20 ms a turn at most: small enough to fill, slow enough to see.
SMALL = Model(
    title="Small",
    name="small",
    heads=2,
    zones=(Zone(0, 400, 400, 1 << 60, 1 << 60), Zone(400, 512, 200, 1 << 60, 1 << 60)),
    seek=((1, 500_000), (100, 2 * MS), (911, 6 * MS)),
    period_ps=8_333_333_333,
    settle_ns=100_000,
    head_switch_ns=200_000,
    watts=Watts(
        base=(
            (3_000_000, 6_000_000),
            (500_000, 100_000),
            (400_000, 100_000),
            (3_000_000, 20_000_000),
            (1_000_000, 1_000_000),
            (1_000_000, 1_000_000),
        ),
        hold=500_000,
        seek=5_000_000,
        read=1_000_000,
        write=1_200_000,
        starting_ns=300 * MS,
        stopping_ns=200 * MS,
    ),
)

# 16 MiB of 4 KiB pages on two channels, and as little besides as goes.
FLASH = Model(
    title="Flash",
    name="flash",
    heads=0,
    zones=(),
    seek=(),
    period_ps=0,
    sectors=32768,
    arm_angles=(),
    head_angles=(),
    channels=0,
    cache=Cache(hit_ns=5_000, sector_ps=1_000_000),
    flash=Flash(
        channels=2,
        page_sectors=8,
        block_pages=32,
        blocks=70,
        low_blocks=2,
        read_ns=50_000,
        program_ns=200_000,
        erase_ns=MS,
        sector_ps=1_000_000,
    ),
    watts=Watts(base=((700_000, 0),) * 6, read=300_001, write=900_007, erase=500_003),
)


@dataclass(frozen=True, slots=True)
class Disk:
    """The disk of a drive."""

    drive: int
    address: str  # H:C:T:L
    name: str

    @property
    def node(self) -> str:
        return f"/dev/{self.name}"

    @property
    def queue(self) -> Path:
        return Path("/sys/block", self.name, "queue")

    @property
    def device(self) -> Path:
        return Path("/sys/bus/scsi/devices", self.address)


def disk_of(drives: Drives, number: int) -> Disk:
    """The disk of a drive that was made."""
    info = drives.wait_ready(number, LONG_S)
    address = f"{info.host}:0:0:0"
    block = Path("/sys/bus/scsi/devices", address, "block")
    eventually(lambda: block.is_dir() and any(block.iterdir()), "the drive has no disk")
    (entry,) = block.iterdir()
    eventually(lambda: Path("/dev", entry.name).exists(), "the disk has no node")
    return Disk(number, address, entry.name)


def make(drives: Drives, model: Model = SMALL, **making: object) -> Disk:
    """A drive and its disk, which udev has looked at."""
    disk = disk_of(drives, drives.new(model, replace(Making(), **making)))  # type: ignore[arg-type]
    settle()
    return disk


@contextlib.contextmanager
def modelled(drives: Drives, model: Model = SMALL, **making: object) -> Iterator[Disk]:
    """A drive while the block runs."""
    disk = make(drives, model, **making)
    try:
        yield disk
    finally:
        drives.delete(disk.drive)
        assert drives.wait_gone(disk.drive, LONG_S)


@dataclass(frozen=True, slots=True)
class Served:
    """An access as the model served it; @arm is None where the cache did."""

    lba: int
    sectors: int
    write: bool
    arm: int | None
    arrival_ns: int
    start_ns: int
    overhead_ns: int
    seek_ns: int
    rotate_ns: int
    transfer_ns: int
    end_ns: int


def served(trace: str, drive: int) -> tuple[list[Served], list[int]]:
    """Accesses that a drive has served since it was made, in the order of arrival; and by how much
    the completion of each was late, ns. None may be missing."""
    fields = [
        event for event in fields_of(trace, "spek_drive_complete") if event["drive"] == str(drive)
    ]
    fields.sort(key=lambda event: int(event["seq"]))
    assert [int(event["seq"]) for event in fields] == list(range(len(fields)))
    accesses = []
    for event in fields:
        assert (event["error"], event["reported"], event["fua"]) == ("none", "1", "0"), event
        assert event["op"] in ("read", "write"), event
        number = {key: int(event[key]) for key in Served.__slots__ if key in event and key != "arm"}
        arm = int(event["arm"])
        accesses.append(
            Served(write=event["op"] == "write", arm=None if arm < 0 else arm, **number)
        )
    return accesses, [int(event["late_ns"]) for event in fields]


def simulated(model: Model, rule: Rule, requests: list[Served]) -> list[Served]:
    """The same requests, served by the core in this process."""
    with mock.patch.object(core, "library_path", lambda: _LIBRARY):
        simulation = Simulation(model, rule)
    packed = b"".join(
        REQUEST.pack(request.arrival_ns, request.lba, request.sectors, request.write)
        for request in requests
    )
    results = simulation.feed(packed) + simulation.drain()
    rows = sorted(RESULT.iter_unpack(results))
    return [
        Served(
            lba=lba,
            sectors=sectors,
            write=bool(write),
            arm=arm if arm < MOST_ARMS else None,
            arrival_ns=arrival,
            start_ns=start,
            overhead_ns=overhead,
            seek_ns=seek,
            rotate_ns=rotate,
            transfer_ns=transfer,
            end_ns=end,
        )
        for _, arrival, lba, start, end, overhead, seek, rotate, transfer, sectors, write, arm, _
        in rows
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command ended with."""

    status: int
    sense: bytes
    data: bytes
    residue: int

    @property
    def code(self) -> tuple[int, int, int]:
        """Sense key, additional sense code and qualifier, of either format."""
        if not self.sense:
            return (0, 0, 0)
        if self.sense[0] & 0x7F >= 0x72:
            return (self.sense[1] & 15, self.sense[2], self.sense[3])
        return (self.sense[2] & 15, self.sense[12], self.sense[13])


def exchange(
    fd: int, cdb: bytes, direction: int, address: int, size: int, timeout_ms: int = 30_000
) -> Answer:
    """A command by SG_IO, with the memory at @address; the answer holds no data."""
    sense = ctypes.create_string_buffer(64)
    command = ctypes.create_string_buffer(cdb, len(cdb))
    header = bytearray(
        SG_HEADER.pack(
            *(ord("S"), direction, len(cdb), 64, 0, size, address),
            *(ctypes.addressof(command), ctypes.addressof(sense), timeout_ms, 0, 0, 0),
            *(0, 0, 0, 0, 0, 0, 0, 0, 0),
        )
    )
    fcntl.ioctl(fd, SG_IO, header)
    fields = SG_HEADER.unpack(header)
    status, _, _, written, host = fields[13:18]
    if host:
        raise OSError(f"host byte {host:#x}")
    return Answer(status, sense.raw[:written], b"", fields[19])


def send(
    node: str, cdb: bytes, length: int = 0, data: bytes = b"", timeout_ms: int = 30_000
) -> Answer:
    """A command by SG_IO."""
    size = len(data) or length
    buffer = ctypes.create_string_buffer(data or b"\0" * size, max(size, 1))
    direction = TO_DEVICE if data else FROM_DEVICE if length else NONE
    fd = os.open(node, os.O_RDONLY | os.O_NONBLOCK)
    try:
        answer = exchange(fd, cdb, direction, ctypes.addressof(buffer), size, timeout_ms)
    finally:
        os.close(fd)
    return replace(answer, data=buffer.raw[: size - answer.residue])
