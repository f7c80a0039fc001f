# SPDX-License-Identifier: GPL-2.0
"""spek_drive.ko and hosts that go wrong: buffers of the wrong kind, commands that the kernel gives
up, resets of what is just being removed."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.guest.modelled import (
    TO_DEVICE,
    exchange,
    modelled,
    send,
)

from spekctl.kernel.drives import Drives

pytestmark = [pytest.mark.usefixtures("drive_module"), pytest.mark.debug_kernel]

MS, SECOND = 10**6, 10**9
QUEUE_DEPTH = 32
SYS_IOCTL = 16
SG_SCSI_RESET, SG_SCSI_RESET_DEVICE = 0x2284, 1
INQUIRY = bytes([0x12, 0, 0, 0, 96, 0])
START, STOP = bytes([0x1B, 0, 0, 0, 1, 0]), bytes([0x1B, 0, 0, 0, 0, 0])
NOT_READY, UNIT_ATTENTION = 2, 6
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


def test_no_answer_is_put_into_memory_that_is_to_be_sent(drives: Drives, tmp_path: Path) -> None:
    """Of a transfer to the device the kernel maps the sender's pages for reading: here those of a
    file that the sender can't write."""
    path = tmp_path / "kept"
    path.write_bytes(b"k" * mmap.PAGESIZE)
    path.chmod(0o444)
    with modelled(drives) as disk, opened(disk.node) as fd, path.open("rb") as file:
        address = libc.mmap(None, mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
        answer = exchange(fd, INQUIRY, TO_DEVICE, address, 512)
        assert (answer.status, answer.residue) == (0, 512)
        assert path.read_bytes() == b"k" * mmap.PAGESIZE
        assert send(disk.node, INQUIRY, length=512).residue == 512 - 96
