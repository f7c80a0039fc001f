# SPDX-License-Identifier: GPL-2.0
"""In a guest: check what a cache of spek_augment.ko holds, then write to it until somebody kills
the guest.

PYTHONPATH=tests python -m machines.augment FOLDER MOST

FOLDER has `acknowledged`, the number of the last batch whose flush was acknowledged, and `checked`,
batch by batch that a guest has begun with. With MOST batches it ends by itself.
"""

from __future__ import annotations

import mmap
import os
import random
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lib.guest import device_mapper
from lib.waiting import eventually

NAME = "spek-killed"
BLOCK, LOG_BLOCKS, RAID_BLOCKS = 4096, 256, 2048
DEVICES = ("raid", "ssd", "spare0", "spare1")  # serial numbers
WRITES, THREADS = 12, 4


def batch(number: int) -> list[int]:
    """Blocks that are written with this number, each once."""
    return random.Random(number).sample(range(RAID_BLOCKS), WRITES)


def contents(block: int, number: int) -> bytes:
    word = number << 32 | block if number else 0
    return word.to_bytes(8, "little") * (BLOCK // 8)


def node_of(serial: str) -> str:
    for path in Path("/sys/block").glob("vd*"):
        if (path / "serial").read_text().strip() == serial:
            return f"/dev/{path.name}"
    raise AssertionError(f"no disk has serial number {serial}")


def attach(fresh: bool) -> str:
    raid, ssd, *spares = (node_of(serial) for serial in DEVICES)
    features = "copy first age_ms 100 quiet_ms 100" + f" format {uuid.uuid4()}" * fresh
    words = f"{raid} {ssd} {len(spares)} {' '.join(spares)} {LOG_BLOCKS}"
    table = f"0 {RAID_BLOCKS * 8} spek-augment {words} {len(features.split())} {features}"
    node = Path("/dev", device_mapper.create(NAME, table))
    eventually(node.exists, f"{node} did not appear")
    return str(node)


def check(fd: int, last: int) -> None:
    """All batches up to the last are there, and of the next any blocks."""
    may = [{0} for _ in range(RAID_BLOCKS)]
    for number in range(1, last + 1):
        for block in batch(number):
            may[block] = {number}
    for block in batch(last + 1):
        may[block].add(last + 1)
    with mmap.mmap(-1, RAID_BLOCKS * BLOCK) as buffer:
        assert os.preadv(fd, [buffer], 0) == RAID_BLOCKS * BLOCK
        for block, numbers in enumerate(may):
            seen = buffer[block * BLOCK : (block + 1) * BLOCK]
            assert seen in [contents(block, number) for number in numbers], (
                f"block {block} holds {seen[:8].hex()}, and may hold batches {numbers} of {last}"
            )


def write(fd: int, block: int, number: int) -> None:
    with mmap.mmap(-1, BLOCK) as buffer:
        buffer.write(contents(block, number))
        assert os.pwrite(fd, buffer, block * BLOCK) == BLOCK


def main() -> None:
    folder, most = Path(sys.argv[1]), int(sys.argv[2])
    acknowledged = os.open(folder / "acknowledged", os.O_RDWR)
    last = int(os.read(acknowledged, 20))
    subprocess.run(["modprobe", "-q", "libcrc32c"], check=False)
    subprocess.run(["modprobe", "dm_mod"], check=True)
    subprocess.run(["insmod", f"{os.environ['SPEK_MODULES']}/spek_augment.ko"], check=True)
    fd = os.open(attach(fresh=not last), os.O_RDWR | os.O_DIRECT)
    check(fd, last)
    with open(folder / "checked", "a") as file:
        file.write(f"{last}\n")
    with ThreadPoolExecutor(THREADS) as threads:
        for number in range(last + 1, last + 1 + most):
            list(threads.map(write, [fd] * WRITES, batch(number), [number] * WRITES))
            os.fsync(fd)
            os.pwrite(acknowledged, b"%-19d\n" % number, 0)


if __name__ == "__main__":
    main()
