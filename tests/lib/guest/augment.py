# SPDX-License-Identifier: GPL-2.0
"""A cache of spek_augment.ko on disks in memory, and what the module says of it."""

from __future__ import annotations

import contextlib
import mmap
import os
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest
from lib.guest import device_mapper
from lib.guest.disks import mapped_disk, null_disk, settle

BLOCK = 4096
LOG_BLOCKS = 1024
RAID_MIB, SSD_MIB, SPARE_MIB = 32, 12, 8
SECTORS = RAID_MIB << 11
NAME = "spek-cache"
NEVER_MS = 4294967295
LOG_START = 2  # kmod/augment/core/format.h
# Nothing is destaged unless a test asks for it.
QUIET = f"quiet_ms {NEVER_MS} retry_ms 100"


@dataclass(frozen=True)
class Devices:
    """RAID, SSD and spare areas; - for one that is missing."""

    raid: str
    ssd: str
    spares: tuple[str, str]

    def line(self, features: str = QUIET) -> str:
        words = f"{self.raid} {self.ssd} 2 {' '.join(self.spares)} {LOG_BLOCKS}"
        return f"0 {SECTORS} spek-augment {words} {len(features.split())} {features}"


@dataclass(frozen=True)
class Status:
    mode: str
    generation: int
    live: int
    awake: int
    mirror: int
    dirty: int
    used: int
    hits: int
    misses: int
    prefetched: int
    records: int
    wakes: tuple[int, ...]  # by writes, reads, flushes, destage, others
    lost: int


class Cache:
    """The mapped device."""

    def __init__(self, node: str) -> None:
        self.node = node
        self.fd = os.open(node, os.O_RDWR | os.O_DIRECT)

    def close(self) -> None:
        os.close(self.fd)

    def status(self) -> Status:
        done = subprocess.run(
            ["dmsetup", "status", NAME], check=True, capture_output=True, text=True
        )
        words = done.stdout.split()[3:]
        assert len(words) == 23
        return Status(
            mode=words[0],
            generation=int(words[1]),
            live=int(words[2], 16),
            awake=int(words[3], 16),
            mirror=int(words[4]),
            dirty=int(words[5]),
            used=int(words[6].partition("/")[0]),
            hits=int(words[8]),
            misses=int(words[9]),
            prefetched=int(words[11]),
            records=int(words[13]),
            wakes=tuple(map(int, words[17:22])),
            lost=int(words[22]),
        )

    def write(self, block: int, version: int, blocks: int = 1) -> None:
        with mmap.mmap(-1, blocks * BLOCK) as buffer:
            buffer.write(b"".join(contents(block + i, version) for i in range(blocks)))
            assert os.pwrite(self.fd, buffer, block * BLOCK) == blocks * BLOCK

    def flush(self) -> None:
        os.fsync(self.fd)

    def assert_holds(self, block: int, version: int, blocks: int = 1) -> None:
        assert_holds(self.fd, block, version, blocks)


def contents(block: int, version: int) -> bytes:
    return (version << 32 | block).to_bytes(8, "little") * (BLOCK // 8)


def assert_holds(fd: int, block: int, version: int, blocks: int = 1) -> None:
    with mmap.mmap(-1, blocks * BLOCK) as buffer:
        assert os.preadv(fd, [buffer], block * BLOCK) == blocks * BLOCK
        for i in range(blocks):
            seen = buffer[i * BLOCK : (i + 1) * BLOCK]
            assert seen == contents(block + i, version), (block + i, seen[:8].hex())


def fresh() -> str:
    return f"{QUIET} format {uuid.uuid4()}"


@contextmanager
def attached(devices: Devices, features: str = QUIET) -> Iterator[Cache]:
    with mapped_disk(NAME, devices.line(features)) as node:
        cache = Cache(node)
        try:
            yield cache
        finally:
            cache.close()
            settle()


@contextmanager
def disks() -> Iterator[Devices]:
    with ExitStack() as stack:
        raid, ssd, *spares = (
            stack.enter_context(null_disk(size_mb, memory_backed=1))
            for size_mb in (RAID_MIB, SSD_MIB, SPARE_MIB, SPARE_MIB)
        )
        yield Devices(raid, ssd, (spares[0], spares[1]))


class KernelLog:
    """What the kernel says from now on: its buffer is a ring, and may have lost its beginning."""

    def __init__(self) -> None:
        self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.fd, 0, os.SEEK_END)

    def close(self) -> None:
        os.close(self.fd)

    def read(self) -> str:
        text = b""
        with contextlib.suppress(BlockingIOError):
            while record := os.read(self.fd, 8192):
                text += record
        return text.decode(errors="replace")


def assert_refused(line: str, sentence: str) -> None:
    with contextlib.closing(KernelLog()) as log:
        with pytest.raises(AssertionError, match="refused"):
            device_mapper.create(NAME, line)
        # The volume without a table is left.
        subprocess.run(["dmsetup", "remove", NAME], check=False, capture_output=True)
        assert sentence in log.read()
