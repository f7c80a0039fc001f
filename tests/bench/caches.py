# SPDX-License-Identifier: GPL-2.0
"""In the guest: caches of an SSD before a disk, all of a size, holding all of the disk's blocks.

The SSDs keep what is written: most caches have their metadata there, and read them. All of them do,
so that all caches compare with the same linear volume.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import subprocess
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.cases import DISKS, DiskKind
from lib.guest import device_mapper, modules
from lib.guest.disks import make_null
from lib.waiting import eventually

MIB = 1 << 20
DATA_MIB = 16
BLOCK = 4096
CHUNK = 64 << 10
SECTORS = DATA_MIB * MIB >> 9
# As many blocks as a run writes have room, with their headers, below the limit of the log.
LOG_BLOCKS = 32_768
LOG_MIB = LOG_BLOCKS * BLOCK // MIB
FILLS = 20
# bcache wants more than 512.
BUCKETS = ("--bucket", "128k")
NEVER = 4_294_967_295


class BrokenCacheError(Exception):
    """A cache does not do what it was set up for: its figures mean nothing."""


def _nothing() -> None:
    pass


@dataclass
class Cache:
    """A cache at work.

    @node: its device node
    @origin: that of the disk behind it
    @keepers: disks that keep what it needs to start again
    @stop: takes it away, as for good
    @start: sets it up by what @keepers hold; gives its device node
    @settle: writes back what is to be written back before a run
    """

    node: str
    origin: str
    keepers: tuple[str, ...]
    stop: Callable[[], None]
    start: Callable[[], str]
    settle: Callable[[], None] = field(default=_nothing)

    def prepare(self) -> None:
        """Everything is in the cache, and nothing is still to be done."""
        self.settle()
        for _ in range(FILLS):
            before = reads_of(self.origin)
            read_all(self.node)
            if reads_of(self.origin) == before:
                return
        raise BrokenCacheError(f"{self.node} does not come to hold all blocks of its disk")

    @contextlib.contextmanager
    def hitting(self) -> Iterator[None]:
        """No read reaches the disk behind the cache."""
        before = reads_of(self.origin)
        yield
        missed = reads_of(self.origin) - before
        if missed:
            raise BrokenCacheError(f"{missed} reads of {self.node} were served by its disk")


def reads_of(node: str) -> int:
    """Reads that a disk has served."""
    return int(Path("/sys/class/block", Path(node).name, "stat").read_text().split()[0])


def read_all(node: str) -> None:
    """Every block."""
    fd = os.open(node, os.O_RDONLY | os.O_DIRECT)
    try:
        with mmap.mmap(-1, CHUNK) as buffer:
            offset = 0
            while done := os.preadv(fd, [buffer], offset):
                offset += done
    finally:
        os.close(fd)


def write_all(node: str) -> None:
    """Every block."""
    fd = os.open(node, os.O_WRONLY | os.O_DIRECT)
    try:
        size = os.lseek(fd, 0, os.SEEK_END)
        with mmap.mmap(-1, CHUNK) as buffer:
            for offset in range(0, size, CHUNK):
                os.pwritev(fd, [memoryview(buffer)[: min(CHUNK, size - offset)]], offset)
    finally:
        os.close(fd)


def disk(mib: int, *, keeps: bool) -> str:
    """A null_blk disk; with @keeps it holds what is written."""
    node, _item = make_null(mib, **DISKS["plain"], memory_backed=int(keeps))
    Path("/sys/block", Path(node).name, "queue/scheduler").write_text("none")
    return node


def mapped(name: str, line: str) -> str:
    """A volume of device mapper; gives its device node."""
    node = Path("/dev", device_mapper.create(f"spek-bench-{name}", f"0 {SECTORS} {line}"))
    eventually(node.exists, f"{node} did not appear")
    return str(node)


def volume(
    name: str,
    line: str,
    origin: str,
    keepers: tuple[str, ...],
    settle: Callable[[], None] = _nothing,
) -> Cache:
    """A cache that is a volume of device mapper, which this makes."""
    return Cache(
        mapped(name, line),
        origin,
        keepers,
        stop=lambda: device_mapper.remove(f"spek-bench-{name}"),
        start=lambda: mapped(name, line),
        settle=settle,
    )


def status(name: str) -> list[str]:
    """Words of the status of a volume, after start, length and target."""
    done = subprocess.run(
        ["dmsetup", "status", f"spek-bench-{name}"], capture_output=True, text=True, check=True
    )
    return done.stdout.split()[3:]


def linear() -> Cache:
    ssd, origin = disk(DATA_MIB, keeps=True), disk(DATA_MIB, keeps=False)
    write_all(ssd)
    return volume("linear", f"linear {ssd} 0", origin, (ssd,))


def augment() -> Cache:
    subprocess.run(["modprobe", "-q", "libcrc32c"], check=False)
    modules.load(Path(os.environ["SPEK_MODULES"], "spek_augment.ko"))
    # Copies have twice the room of the data, and the superblocks a MiB.
    ssd = disk(LOG_MIB + 2 * DATA_MIB + 1, keeps=True)
    origin, spare = disk(DATA_MIB, keeps=False), disk(LOG_MIB + 1, keeps=True)

    def line(features: str) -> str:
        words = f"{features} copy first sequential_blocks {NEVER} quiet_ms {NEVER}".split()
        return f"spek-augment {origin} {ssd} 1 {spare} {LOG_BLOCKS} {len(words)} {' '.join(words)}"

    def settle() -> None:
        # A block that was written is in the log only: there it makes place for later ones.
        device_mapper.message("spek-bench-augment", "destage")
        eventually(lambda: status("augment")[5] == "0", "blocks stay dirty")

    cache = volume("augment", line(f"format {uuid.uuid4()}"), origin, (ssd, spare), settle)
    cache.start = lambda: mapped("augment", line(""))
    return cache


def dm_cache(mode: str) -> Cache:
    for module in ("dm_cache", "dm_cache_smq"):
        subprocess.run(["modprobe", module], check=True)
    meta, ssd = disk(8, keeps=True), disk(DATA_MIB, keeps=True)
    origin = disk(DATA_MIB, keeps=False)
    name, devices = f"cache-{mode}", f"cache {meta} {ssd} {origin} 64"
    # Whole blocks that are written to it find their place at once while there is room.
    line = f"{devices} 1 writeback smq 2 migration_threshold 204800"
    cache = volume(name, line, origin, (meta, ssd))
    write_all(cache.node)
    if mode == "writethrough":
        line = f"{devices} 1 {mode} smq 0"
        device_mapper.replace(f"spek-bench-{name}", f"0 {SECTORS} {line}")
        cache.start = lambda: mapped(name, line)
    return cache


def dm_writecache() -> Cache:
    subprocess.run(["modprobe", "dm_writecache"], check=True)
    ssd, origin = disk(4 * DATA_MIB, keeps=True), disk(DATA_MIB, keeps=False)
    line = f"writecache s {origin} {ssd} {BLOCK} 4 high_watermark 100 low_watermark 99"
    cache = volume("writecache", line, origin, (ssd,))
    write_all(cache.node)
    return cache


def bcache() -> Cache:
    subprocess.run(["modprobe", "bcache"], check=True)
    ssd, origin = disk(12 * DATA_MIB, keeps=True), disk(DATA_MIB + 1, keeps=True)
    subprocess.run(
        ["make-bcache", "--wipe-bcache", "--writeback", *BUCKETS, "-B", origin, "-C", ssd],
        check=True,
        capture_output=True,
    )
    attached = Path("/sys/class/block", Path(origin).name, "bcache")

    def start() -> str:
        for device in (ssd, origin):
            # udev may have been faster.
            with contextlib.suppress(OSError):
                Path("/sys/fs/bcache/register").write_text(device)
        eventually((attached / "cache").exists, "bcache does not attach")
        node = Path("/dev", (attached / "dev").resolve().name)
        eventually(node.exists, f"{node} did not appear")
        return str(node)

    def stop() -> None:
        cache_set = (attached / "cache").resolve()
        (attached / "stop").write_text("1")
        eventually(lambda: not attached.exists(), "bcache does not let go of its disk")
        (cache_set / "stop").write_text("1")
        eventually(lambda: not cache_set.exists(), "bcache does not let go of its SSD")

    node = start()
    for name in ("sequential_cutoff", "writeback_running", "writeback_percent"):
        (attached / name).write_text("0")
    (attached / "cache_mode").write_text("writeback")
    for name in ("congested_read_threshold_us", "congested_write_threshold_us"):
        (attached / "cache" / name).write_text("0")
    write_all(node)
    return Cache(node, origin, (ssd, origin), stop, start)


MAKERS: dict[DiskKind, Callable[[], Cache]] = {
    "linear": linear,
    "augment": augment,
    "cache-writeback": lambda: dm_cache("writeback"),
    "cache-writethrough": lambda: dm_cache("writethrough"),
    "writecache": dm_writecache,
    "bcache": bcache,
}


def make_caches(wanted: set[DiskKind]) -> dict[DiskKind, Cache]:
    """Those that are wanted."""
    if wanted & MAKERS.keys():
        subprocess.run(["modprobe", "dm_mod"], check=True)
    return {kind: make() for kind, make in MAKERS.items() if kind in wanted}
