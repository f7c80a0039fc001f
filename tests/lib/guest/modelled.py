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

from lib.guest.disks import settle
from lib.waiting import eventually

from spekctl.drive.model import Model, Watts, Zone
from spekctl.kernel.drives import Drives, Making

MS = 10**6
SG_IO = 0x2285
NONE, TO_DEVICE, FROM_DEVICE = -1, -2, -3
_SG_HEADER = struct.Struct("=iiBBHIQQQIIi4xQBBBBHHiII4x")

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
    info = drives.wait_ready(number, 60)
    address = f"{info.host}:0:0:0"
    block = Path("/sys/bus/scsi/devices", address, "block")
    eventually(lambda: block.is_dir() and any(block.iterdir()), "the drive has no disk")
    (found,) = block.iterdir()
    eventually(lambda: Path("/dev", found.name).exists(), "the disk has no node")
    return Disk(number, address, found.name)


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
        assert drives.wait_gone(disk.drive, 60)


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


def send(
    node: str, cdb: bytes, length: int = 0, data: bytes = b"", timeout_ms: int = 30_000
) -> Answer:
    """A command by SG_IO."""
    size = len(data) or length
    buffer = ctypes.create_string_buffer(data or b"\0" * size, max(size, 1))
    sense = ctypes.create_string_buffer(64)
    command = ctypes.create_string_buffer(cdb, len(cdb))
    direction = TO_DEVICE if data else FROM_DEVICE if length else NONE
    header = bytearray(
        _SG_HEADER.pack(
            *(ord("S"), direction, len(cdb), 64, 0, size, ctypes.addressof(buffer)),
            *(ctypes.addressof(command), ctypes.addressof(sense), timeout_ms, 0, 0, 0),
            *(0, 0, 0, 0, 0, 0, 0, 0, 0),
        )
    )
    fd = os.open(node, os.O_RDONLY | os.O_NONBLOCK)
    try:
        fcntl.ioctl(fd, SG_IO, header)
    finally:
        os.close(fd)
    fields = _SG_HEADER.unpack(header)
    status, _, _, written, host = fields[13:18]
    if host:
        raise OSError(f"host byte {host:#x}")
    residue = fields[19]
    return Answer(status, sense.raw[:written], buffer.raw[: size - residue], residue)
