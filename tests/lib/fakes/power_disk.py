# SPDX-License-Identifier: GPL-2.0
"""A disk in a sysfs of its own, and a channel that answers commands as a test says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from spekctl.block.device import Device
from spekctl.power.disk import Disk, Protocol
from spekctl.power.passthrough import NvmeReply, Place, ScsiReply

SG = (21, 0)


@dataclass
class FakeDisk:
    """/sys/block/sda as the kernel has it; files are changed by the test."""

    root: Path
    name: str = "sda"
    protocol: Protocol = Protocol.SCSI

    def __post_init__(self) -> None:
        for folder in (self.sysfs / "queue", self.scsi / "power", self.scsi / "scsi_disk/0:0:0:0"):
            folder.mkdir(parents=True)
        (self.sysfs / "device").symlink_to(self.scsi)
        (self.scsi / "uevent").touch()
        self.write("dev", "8:0")
        self.write("diskseq", "7")
        self.write("device/scsi_level", "6")
        self.write("device/vendor", "VENDOR")
        self.write("device/state", "running")
        self.write("device/iorequest_cnt", "0x10")
        self.write("device/power/runtime_status", "active")
        self.write("device/power/control", "on")
        self.write("queue/iostats", "1")
        self.write("removable", "0")
        self.io(0)

    @property
    def scsi(self) -> Path:
        return self.root / "devices" / "host0" / "0:0:0:0"

    @property
    def sysfs(self) -> Path:
        return self.root / "block" / self.name

    def write(self, place: str, text: str) -> None:
        """An attribute below the disk's folder."""
        path = self.sysfs / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")

    def io(self, completed: int, in_flight: int = 0) -> None:
        """Counters: reads that have completed, and requests in flight."""
        self.write("stat", f"{completed} 0 8 1 0 0 0 0 {in_flight} 0 0 0 0 0 0 0 0")

    @property
    def device(self) -> Device:
        return Device(
            path=f"/dev/{self.name}", node=f"/dev/{self.name}", name=self.name, disk=self.name,
            major=8, minor=0, diskseq=7, bytes=1 << 30, logical_block=512, physical_block=512,
            read_only=False, partition=0, model="M", serial="S", wwn="W", driver="sd",
            rotational=True, zoned="none", scheduler="none", iostats="1", nomerges="0",
            poll_queues=False, sysfs=self.sysfs,
        )  # fmt: skip

    @property
    def disk(self) -> Disk:
        return Disk(self.device, self.protocol, Place("/dev/sg0", SG, is_character=True))


ScsiAnswer = Callable[[bytes], ScsiReply]
NvmeAnswer = Callable[[int, tuple[int, ...]], NvmeReply]


def _no_scsi(cdb: bytes) -> ScsiReply:
    raise AssertionError(f"sent {cdb.hex(' ')}")


def _no_nvme(opcode: int, dwords: tuple[int, ...]) -> NvmeReply:
    raise AssertionError(f"sent {opcode:#x} {dwords}")


@dataclass
class FakeChannel:
    """Answers by the test's functions, and remembers what it was sent."""

    scsi_answer: ScsiAnswer = _no_scsi
    nvme_answer: NvmeAnswer = _no_nvme
    sent: list[bytes] = field(default_factory=list)
    data: list[bytes] = field(default_factory=list)
    namespaces: list[int] = field(default_factory=list)
    resets: int = 0
    opens: int = 0
    closes: int = 0

    def open(self, place: Place) -> FakeChannel:
        """As an Opener."""
        self.opens += 1
        return self

    def scsi(
        self, cdb: bytes, length: int = 0, data: bytes = b"", timeout_ms: int = 0
    ) -> ScsiReply:
        self.sent.append(cdb)
        if data:
            self.data.append(data)
        return self.scsi_answer(cdb)

    def nvme(
        self, opcode: int, dwords: tuple[int, ...], length: int = 0, namespace: int = 0
    ) -> NvmeReply:
        self.namespaces.append(namespace)
        self.sent.append(bytes([opcode, dwords[0] & 0xFF]))
        reply = self.nvme_answer(opcode, dwords)
        return NvmeReply(reply.status, reply.result, reply.data.ljust(length, b"\0"))

    def reset(self) -> None:
        self.resets += 1

    def close(self) -> None:
        self.closes += 1


def ata_sense(count: int, status: int = 0x50, error: int = 0, fixed: bool = False) -> bytes:
    """Sense data with the registers of an ATA command, as libata or some bridges return them."""
    if fixed:
        return bytes([0xF0, 0, 1, error, status, 0x40, count, 10, *[0] * 4, 0, 0x1D, *[0] * 4])
    body = [9, 12, 0, error, 0, count, 0, 0, 0, 0, 0, 0, 0x40, status]
    return bytes([0x72, 1, 0, 0x1D, 0, 0, 0, 14, *body])


def ata_reply(count: int, status: int = 0x50, error: int = 0, fixed: bool = False) -> ScsiReply:
    return ScsiReply(2, 0, ata_sense(count, status, error, fixed), b"")


def fixed_sense(key: int, asc: int, ascq: int) -> bytes:
    return bytes([0x70, 0, key, 0, 0, 0, 0, 10, 0, 0, 0, 0, asc, ascq, 0, 0, 0, 0])


def polled(asc: int, ascq: int, key: int = 0) -> ScsiReply:
    """The answer of REQUEST SENSE."""
    return ScsiReply(0, 0, b"", fixed_sense(key, asc, ascq))
