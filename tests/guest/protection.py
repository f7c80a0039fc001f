# SPDX-License-Identifier: GPL-2.0
"""Disks that keep protection information, and blocks whose information is planted wrong."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

from lib.guest.disks import emulated, format_nvme, scsi_disk
from lib.guest.drive import sysfs
from lib.guest.modelled import send
from lib.guest.scsi import WRITE_16

BLOCK = 512
# linux/nvme_ioctl.h, struct nvme_user_io
NVME_IOCTL_SUBMIT_IO, NVME_WRITE = 0x40304E42, 1
USER_IO = struct.Struct("=BBHHHQQQIIHH")
T10_POLYNOMIAL = 0x8BB7


@contextlib.contextmanager
def protected_scsi(dif: int, guard: int = 0, **parameters: int) -> Iterator[str]:
    """scsi_debug whose host adapter transfers protection information (DIX); gives its node.

    @dif: type of the information, which the disk checks, too; 0: it only keeps it
    @guard: 0 CRC, 1 IP checksum
    """
    with scsi_disk(size_mb=8, dif=dif, dix=1, guard=guard, **parameters) as node:
        yield node


@contextlib.contextmanager
def protected_nvme(kind: int) -> Iterator[str]:
    """QEMU's NVMe disk with 8 bytes of metadata for each block; gives its node.

    @kind: type of protection information; 0: they are none
    """
    node = emulated("nvme", BLOCK)
    format_nvme(node, BLOCK, metadata=True, protection=kind)
    try:
        yield emulated("nvme", BLOCK)
    finally:
        format_nvme(node, BLOCK)


def setting(node: str, name: str) -> Path:
    """Of the block layer: read_verify or write_generate."""
    return sysfs(node) / "integrity" / name


def read_through_kernel(node: str, size: int) -> None:
    """Read the beginning of a disk by the block layer alone, which checks it. CalledProcessError if
    it does not match."""
    copy = ["dd", f"if={node}", "of=/dev/null", "bs=64k", f"count={size >> 16}", "iflag=direct"]
    subprocess.run(copy, check=True, capture_output=True)


def plant_scsi(node: str, block: int) -> None:
    """Other data in a block of scsi_debug, which keeps the information of the data before."""
    cdb = bytes([WRITE_16, 0]) + block.to_bytes(8, "big") + (1).to_bytes(4, "big") + bytes(2)
    answer = send(node, cdb, data=b"\xa5" * BLOCK)
    assert answer.status == 0, answer


def plant_nvme(node: str, block: int, *, guard: int = 0, tag: int = 0) -> None:
    """A block of an NVMe disk whose guard, or reference tag, is off by as much."""
    data = ctypes.create_string_buffer(b"\xa5" * BLOCK, BLOCK)
    wrong = struct.pack(">HHI", crc_t10(data.raw) ^ guard, 0, block + tag)
    metadata = ctypes.create_string_buffer(wrong, len(wrong))
    # Of one block (0's based), which the controller is not to check.
    request = USER_IO.pack(
        *(NVME_WRITE, 0, 0, 0, 0, ctypes.addressof(metadata), ctypes.addressof(data), block),
        *(0, 0, 0, 0),
    )
    with open(node, "rb", buffering=0) as device:
        assert fcntl.ioctl(device, NVME_IOCTL_SUBMIT_IO, bytearray(request)) == 0


def crc_t10(data: bytes) -> int:
    """Guard of a block, by its definition: the remainder of a division, most significant bit
    first."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = crc << 1 ^ (T10_POLYNOMIAL if crc & 0x8000 else 0)
            crc &= 0xFFFF
    return crc
