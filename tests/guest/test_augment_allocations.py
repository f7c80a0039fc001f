# SPDX-License-Identifier: GPL-2.0
"""Every allocation of the cache in turn fails: a call says so or does without, nothing is left
behind, and nothing that was acknowledged is lost.

As in test_allocations.py. What disks lack while the module sends them something counts as the
module's: then a device is lost, which the cache has to do without. A table takes thousands of
pages, of which some are tried by number; `make augment-allocations TIMES=100` tries each of them
once, in as many rounds.
"""

from __future__ import annotations

import errno
import itertools
import mmap
import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from guest.allocations import (
    Attempt,
    Failing,
    Outcomes,
    fail_by_number,
    fail_by_site,
)
from guest.faults.times import TIMES
from lib.guest import device_mapper
from lib.guest.disks import null_disk
from lib.waiting import comes_true, eventually

pytestmark = [
    pytest.mark.debug_kernel_only("debug"),
    # ten minutes of such a guest
    pytest.mark.at_length,
    pytest.mark.usefixtures("allocation_sites", "failing_allocations", "augment_module"),
    # the kernel shows where each allocation failed, and vmalloc() that it did
    pytest.mark.allow_kernel_messages(r"Call Trace:"),
    # a disk that lacked memory
    pytest.mark.allow_kernel_messages(r"spek-augment: .* is lost"),
]

NAME = "spek-lacking"
BLOCK, LOG_BLOCKS = 4096, 256
RAID_MIB, SSD_MIB, SPARE_MIB = 8, 4, 2
PLACES = range(0, 400, 100)  # blocks that are written
NOT_WRITTEN = 1500
ALL_DEVICES = 0b111
# ENOBUFS, EFAULT: as in test_allocations.py. EIO, ENOSPC: a disk lacked memory.
NO_MEMORY = {errno.ENOMEM, errno.ENOBUFS, errno.EFAULT, errno.EIO, errno.ENOSPC}
LAST_NUMBER = 6000  # allocations of a table, and more
# Of these, in each round; as many rounds try each once.
STRIDE = TIMES if TIMES > 1 else 211
CALL_NUMBERS = 40  # allocations of a call on the device


def contents(block: int, version: int) -> bytes:
    return (version << 32 | block).to_bytes(8, "little") * (BLOCK // 8)


@dataclass
class Cache:
    """A cache on RAID, SSD and two spare areas, and what each block may hold.

    @may: versions by block: the last that was acknowledged, then those that were tried since
    @codes: errnos of calls that lacked memory
    """

    nodes: list[str]
    may: dict[int, list[int]] = field(default_factory=lambda: {block: [0] for block in PLACES})
    versions: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    codes: list[int] = field(default_factory=list)

    def line(self, fresh: bool = False) -> str:
        raid, ssd, *spares = self.nodes
        words = f"{raid} {ssd} {len(spares)} {' '.join(spares)} {LOG_BLOCKS}"
        features = "copy first quiet_ms 4294967295 retry_ms 20"
        if fresh:
            features += f" format {uuid.uuid4()}"
        return f"0 {RAID_MIB << 11} spek-augment {words} {len(features.split())} {features}"

    def lacking(self, failing: Failing, n: int, call: Callable[[], object]) -> bool:
        """Make a call while an allocation fails. Return: false if the call failed, too."""
        failing.arm(n)
        try:
            call()
        except (OSError, device_mapper.Refused) as error:
            assert error.errno, error
            self.codes.append(error.errno)
            return False
        finally:
            failing.disarm()
        return True

    def code(self) -> int:
        """Of an attempt that ends: errno of its first call that lacked memory."""
        code = self.codes[0] if self.codes else 0
        self.codes.clear()
        return code

    def begin(self) -> str:
        """A device without a table. Return: its node, which comes with the first table."""
        return str(Path("/dev", device_mapper.create(NAME, "")))

    def attach(self, fresh: bool = False) -> str:
        node = self.begin()
        device_mapper.replace(NAME, self.line(fresh))
        eventually(Path(node).exists, f"{node} did not appear")
        return node

    def is_whole(self) -> bool:
        """Whether all devices are in use."""
        mode, _generation, live, *_ = device_mapper.status(NAME).split()
        return mode == "normal" and int(live, 16) == ALL_DEVICES

    def has_recovered(self, node: str) -> bool:
        eventually(Path(node).exists, f"{node} did not appear")
        eventually(
            lambda: device_mapper.status(NAME).split()[0] in ("normal", "passing", "failed"),
            "recovery does not end",
        )
        return self.is_whole()

    def write(self, fd: int, block: int) -> None:
        version = next(self.versions)
        self.may[block].append(version)
        with mmap.mmap(-1, BLOCK) as buffer:
            buffer.write(contents(block, version))
            assert os.pwritev(fd, [buffer], block * BLOCK) == BLOCK
        self.may[block] = [version]

    def read(self, fd: int, block: int) -> None:
        with mmap.mmap(-1, BLOCK) as buffer:
            assert os.preadv(fd, [buffer], block * BLOCK) == BLOCK
            may = [
                contents(block, version) if version else bytes(BLOCK)
                for version in self.may.get(block, [0])
            ]
            assert buffer[:] in may, f"block {block}: {buffer[:8].hex()}, may be {self.may[block]}"

    def on_each(self, node: str, call: Callable[[int, int], None]) -> None:
        """Read, or write new records, at all places."""
        fd = os.open(node, os.O_RDWR | os.O_DIRECT)
        try:
            for block in PLACES:
                call(fd, block)
        finally:
            os.close(fd)

    def check(self, node: str) -> None:
        self.on_each(node, self.read)

    def fill(self, node: str) -> None:
        self.on_each(node, self.write)


@pytest.fixture
def cache() -> Iterator[Cache]:
    with (
        null_disk(RAID_MIB, memory_backed=1) as raid,
        null_disk(SSD_MIB, memory_backed=1) as ssd,
        null_disk(SPARE_MIB, memory_backed=1) as first,
        null_disk(SPARE_MIB, memory_backed=1) as second,
    ):
        yield Cache([raid, ssd, first, second])


def create(cache: Cache) -> Attempt:
    """A cache that is made new."""

    def attempt(failing: Failing, n: int) -> int:
        cache.begin()
        line = cache.line(fresh=True)
        cache.lacking(failing, n, lambda: device_mapper.replace(NAME, line))
        device_mapper.remove(NAME)
        return cache.code()

    return attempt


def recover(cache: Cache) -> Attempt:
    """A cache that has something in its log."""

    def attempt(failing: Failing, n: int) -> int:
        node = cache.begin()
        if not cache.lacking(failing, n, lambda: device_mapper.replace(NAME, cache.line())):
            device_mapper.replace(NAME, cache.line())
        if not cache.has_recovered(node):
            # A disk lacked memory in recovery, which is repeated.
            device_mapper.remove(NAME)
            node = cache.attach()
            assert cache.has_recovered(node)
        cache.check(node)
        cache.fill(node)
        device_mapper.remove(NAME)
        return cache.code()

    cache.fill(cache.attach(fresh=True))
    device_mapper.remove(NAME)
    return attempt


def use(cache: Cache) -> Attempt:
    """Writes, flushes, reads, messages, destage."""
    node = cache.attach(fresh=True)
    reads = itertools.cycle(range(NOT_WRITTEN, NOT_WRITTEN + 400))

    def destage() -> None:
        device_mapper.message(NAME, "destage")
        assert comes_true(lambda: not cache.is_whole() or is_clean())

    def is_clean() -> bool:
        return device_mapper.status(NAME).split()[5] == "0"

    def attempt(failing: Failing, n: int) -> int:
        nonlocal node
        fd = os.open(node, os.O_RDWR | os.O_DIRECT)
        try:
            for block in PLACES:
                cache.lacking(failing, n, partial(cache.write, fd, block))
            cache.lacking(failing, n, lambda: os.fsync(fd))
            for block in (PLACES[1], next(reads)):
                cache.lacking(failing, n, partial(cache.read, fd, block))
            cache.lacking(failing, n, lambda: device_mapper.status(NAME))
            cache.lacking(failing, n, lambda: device_mapper.message(NAME, "awake 0 0"))
            cache.lacking(failing, n, lambda: cache.write(fd, PLACES[0]))
            cache.lacking(failing, n, lambda: device_mapper.message(NAME, "awake 0 1"))
            cache.lacking(failing, n, destage)
        finally:
            os.close(fd)
        if not cache.is_whole():
            device_mapper.remove(NAME)
            node = cache.attach()
            assert cache.has_recovered(node)
        cache.check(node)
        return cache.code()

    return attempt


BEGINNINGS: dict[str, Callable[[Cache], Attempt]] = {
    "create": create,
    "recover": recover,
    "use": use,
}


def say(record_property: Callable[[str, object], None], what: str, outcomes: Outcomes) -> None:
    record_property("count", f"cache, {what}: {outcomes}")
    for site, times in sorted(outcomes.sites.items()):
        print(f"  {times:4d} {site}")


@pytest.fixture(params=list(BEGINNINGS))
def part(request: pytest.FixtureRequest, cache: Cache) -> Iterator[tuple[str, Attempt]]:
    yield request.param, BEGINNINGS[request.param](cache)
    if request.param == "use":
        device_mapper.remove(NAME)


# Functions that ask for memory.
SITES = {
    "create": {"augment_ctr", "spek_augment_blocks_alloc", "spek_augment_serve_init"},
    "recover": {"spek_augment_blocks_alloc"},
    "use": set[str](),
}


def test_each_place(
    part: tuple[str, Attempt], record_property: Callable[[str, object], None]
) -> None:
    """Whichever task allocates, the worker too."""
    name, attempt = part
    outcomes = Outcomes()
    fail_by_site(attempt, outcomes, "spek_augment", whose="*")
    say(record_property, name, outcomes)
    assert set(outcomes.errors) <= NO_MEMORY
    assert outcomes.functions >= SITES[name]


def test_by_number(
    part: tuple[str, Attempt], record_property: Callable[[str, object], None]
) -> None:
    """Of the calling task's: also those below the module that are not at a place of its own."""
    name, attempt = part
    outcomes = Outcomes()

    def numbers(turn: int) -> list[int]:
        last = CALL_NUMBERS if name == "use" else LAST_NUMBER
        rest = range(CALL_NUMBERS + 1 + turn % STRIDE, last, STRIDE)
        return [*range(1, CALL_NUMBERS + 1), *rest]

    fail_by_number(attempt, outcomes, numbers, "thread-self")
    say(record_property, f"{name}, by number", outcomes)
    assert set(outcomes.errors) <= NO_MEMORY
    assert outcomes.failed >= 10
    if name != "use":
        # None was left out behind the last.
        beyond = Outcomes()
        fail_by_number(attempt, beyond, lambda _: [LAST_NUMBER], "thread-self")
        assert not beyond.failed
