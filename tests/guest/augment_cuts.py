# SPDX-License-Identifier: GPL-2.0
"""Cuts of the power under spek_augment.ko, many in one guest.

The devices are disks in memory that lose power all at one instant (tests/disks/volatile.c): what no
flush has made durable is kept or lost by chance, sector by sector, and writes under way are torn.
That is harsher than a restart of the machine, which leaves what the devices have been given, and
than a replay of writes up to a flush, which leaves them in their order. What runs before the cut
gets errors for all it does afterwards, so it cannot acknowledge anything that was not done before;
then its table is removed, the power comes back, and a new table recovers from the devices.
"""

from __future__ import annotations

import contextlib
import itertools
import mmap
import os
import random
import subprocess
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from lib.guest import device_mapper
from lib.guest.disks import settle
from lib.guest.modules import unload_soon
from lib.waiting import LONG_S, eventually

MODULE = "spek_volatile"
NAME = "spek-cut"
BLOCK, SECTOR = 4096, 512
WORDS = BLOCK // 8
RAID, SSD, SPARES = 0, 1, (2, 3)  # disks
LOG_BLOCKS = 256  # the shortest, so that it wraps and is destaged all the time
WRITERS = 4
PATIENCE_S = LONG_S


class Power:
    """The disks' parameters."""

    def __init__(self, mib: tuple[int, ...]) -> None:
        self.mib = mib
        self.folder = Path("/sys/module", MODULE, "parameters")

    def set(self, **values: int) -> None:
        for name, value in values.items():
            (self.folder / name).write_text(str(value))

    def get(self, name: str) -> int:
        return int((self.folder / name).read_text().replace("Y", "1").replace("N", "0"))

    @property
    def is_on(self) -> bool:
        return bool(self.get("power"))

    def node(self, disk: int) -> str:
        return f"/dev/{MODULE}{disk}"


@contextlib.contextmanager
def volatile_disks(*mib: int) -> Iterator[Power]:
    """RAID, SSD and two spare areas of these sizes, zeroed."""
    module = Path(os.environ["SPEK_DISKS"], f"{MODULE}.ko")
    sizes = ",".join(str(size) for size in mib)
    subprocess.run(["insmod", module, f"mib={sizes}"], check=True)
    power = Power(mib)
    try:
        eventually(lambda: Path(power.node(len(mib) - 1)).exists(), "the disks do not appear")
        settle()
        yield power
    finally:
        unload_soon(MODULE)


# ---- the cache on them ----


class PowerIsOut(Exception):
    """What was tried has failed because the power is out."""


@dataclass
class Setting:
    """A cache that is attached again and again.

    @missing: a device that is left out, or None
    """

    power: Power
    rng: random.Random
    log_blocks: int = LOG_BLOCKS
    missing: int | None = None
    attached: bool = False

    def line(self, fresh: bool = False) -> str:
        """A table, with any policy."""
        nodes = [self.power.node(disk) for disk in range(len(self.power.mib))]
        if self.missing is not None:
            nodes[self.missing] = "-"
        raid, ssd, *spares = nodes
        pick = self.rng.choice
        features = f"copy {pick(['never', 'first', 'second'])} stripe_blocks {pick([1, 4, 16])} "
        features += f"age_ms {pick([0, 20, 200])} quiet_ms {pick([0, 10, 10**6])} retry_ms 50"
        if fresh:
            features += f" format {uuid.uuid4()}"
        words = f"{raid} {ssd} {len(spares)} {' '.join(spares)} {self.log_blocks}"
        sectors = self.power.mib[RAID] << 11
        return f"0 {sectors} spek-augment {words} {len(features.split())} {features}"

    def attach(self, fresh: bool = False) -> str:
        """Return: the device node. Raises PowerIsOut, or AssertionError if it is refused."""
        try:
            node = Path("/dev", device_mapper.create(NAME, self.line(fresh)))
        except AssertionError:
            subprocess.run(["dmsetup", "remove", NAME], check=False, capture_output=True)
            if not self.power.is_on:
                raise PowerIsOut from None
            raise
        self.attached = True
        eventually(node.exists, f"{node} did not appear")
        return str(node)

    def detach(self) -> None:
        """As a machine goes down: nothing is destaged."""
        if self.attached:
            device_mapper.remove(NAME)
            self.attached = False

    def mode(self) -> str:
        return device_mapper.status(NAME).split()[0]

    @property
    def may_lose(self) -> bool:
        """Whether a device may be lost now."""
        return self.missing is None


class NoCache(Setting):
    """The first disk alone: what its file systems lose, disks and test lose, and not the cache."""

    def attach(self, fresh: bool = False) -> str:
        return self.power.node(RAID)

    def mode(self) -> str:
        return "no cache"

    @property
    def may_lose(self) -> bool:
        return False


# ---- what is written, and what may be there ----


def contents(block: int, version: int) -> bytes:
    word = version << 32 | block if version else 0
    return word.to_bytes(8, "little") * WORDS


@dataclass
class History:
    """What each block may hold.

    @may: versions by block: the last that is sure to be durable, then all that were written since,
        in their order
    """

    blocks: int
    may: list[list[int]] = field(default_factory=list)
    versions: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.may = [[0] for _ in range(self.blocks)]

    def note(self, blocks: Iterable[int], version: int) -> None:
        """A write begins."""
        for block in blocks:
            self.may[block].append(version)

    def settle(self, blocks: Iterable[int]) -> None:
        """What was last written to these is durable."""
        for block in blocks:
            self.may[block] = self.may[block][-1:]

    def check(self, data: bytes) -> list[int]:
        """Compare all blocks as they are after a cut, and go on from there.

        Return: blocks whose sectors have several versions, as on any disk with sectors of 512
        bytes.
        """
        words = np.frombuffer(data, np.uint64).reshape(self.blocks, BLOCK // SECTOR, SECTOR // 8)
        heads = words[:, :, 0]
        whole = (words == heads[:, :, None]).all(axis=(1, 2))
        numbers = np.arange(self.blocks, dtype=np.uint64)[:, None]
        mine = ((heads == 0) | ((heads & np.uint64(0xFFFFFFFF)) == numbers)).all(axis=1)
        torn = []
        for block, seen in enumerate((heads >> np.uint64(32)).tolist()):
            may = self.may[block]
            assert whole[block] and mine[block] and set(seen) <= set(may), (
                f"block {block} holds versions {seen} ({words[block, :, :2]}), and may hold {may}"
            )
            if len(set(seen)) > 1:
                torn.append(block)
            else:
                self.may[block] = seen[:1]
        return torn


class Worker(threading.Thread):
    """Does one thing after the other on an open file until that fails."""

    def __init__(self, path: str, flags: int, seed: int) -> None:
        super().__init__()
        self.path, self.flags = path, flags
        self.rng = random.Random(seed)
        self.failure: BaseException | None = None
        self.ios = 0

    def run(self) -> None:
        try:
            fd = os.open(self.path, self.flags)
            try:
                while True:
                    self.act(fd)
                    self.ios += 1
            finally:
                os.close(fd)
        except BaseException as failure:
            self.failure = failure

    def act(self, fd: int) -> None:
        raise NotImplementedError


def write(fd: int, first: int, blocks: int, version: int, flags: int = 0) -> None:
    """Past the page cache."""
    with mmap.mmap(-1, blocks * BLOCK) as buffer:
        buffer.write(b"".join(contents(first + i, version) for i in range(blocks)))
        assert os.pwritev(fd, [buffer], first * BLOCK, flags) == blocks * BLOCK


class Writer(Worker):
    """Writes, flushes and reads blocks of its own."""

    def __init__(self, node: str, history: History, first: int, blocks: int, seed: int) -> None:
        super().__init__(node, os.O_RDWR | os.O_DIRECT, seed)
        self.history, self.first, self.blocks = history, first, blocks
        self.open: set[int] = set()  # blocks that may hold more than one version

    def act(self, fd: int) -> None:
        kind = self.rng.random()
        if kind < 0.2:
            os.fsync(fd)
            self.settle(self.open)
        elif kind < 0.35:
            self.read(fd)
        else:
            self.write(fd, os.RWF_DSYNC if kind < 0.45 else 0)

    def settle(self, blocks: set[int]) -> None:
        """These are durable."""
        self.history.settle(blocks)
        self.open -= set(blocks)

    def place(self) -> tuple[int, int]:
        blocks = self.rng.choice([1, 1, 1, 2, 5, 16])
        # Half of it in a few places, which are written again and again.
        within = self.blocks if self.rng.random() < 0.5 else 20
        return self.first + self.rng.randrange(within - blocks + 1), blocks

    def write(self, fd: int, flags: int) -> None:
        first, blocks = self.place()
        version = next(self.history.versions)
        mine = set(range(first, first + blocks))
        self.history.note(mine, version)
        self.open |= mine
        write(fd, first, blocks, version, flags)
        if flags:
            self.settle(mine)

    def read(self, fd: int) -> None:
        first, blocks = self.place()
        with mmap.mmap(-1, blocks * BLOCK) as buffer:
            assert os.preadv(fd, [buffer], first * BLOCK) == blocks * BLOCK
            for i in range(blocks):
                seen = buffer[i * BLOCK : (i + 1) * BLOCK]
                version = self.history.may[first + i][-1]
                assert seen == contents(first + i, version), (first + i, seen[:8].hex(), version)


# ---- lives ----


@dataclass
class Campaign:
    """Life after life of a cache on disks whose power is cut.

    @losses: devices lost, by when: "load" or "recovery"
    @ios: what the load has done
    @modes: with which loads began
    """

    setting: Setting
    losses: dict[str, int] = field(default_factory=lambda: {"load": 0, "recovery": 0})
    cut_in_recovery: int = 0
    ios: int = 0
    modes: Counter[str] = field(default_factory=Counter)
    is_over: bool = False

    @property
    def power(self) -> Power:
        return self.setting.power

    def prepare(self, node: str) -> None:
        """Once, before all."""

    def compare(self, node: str) -> None:
        """What is there after a cut with what may be there. OSError: the power may be out."""
        raise NotImplementedError

    def load(self, node: str, endanger: Callable[[], None]) -> None:
        """Work until the power fails.

        @endanger: from its call on the power may fail; a device, too
        """
        raise NotImplementedError

    def run(self, cuts: int, say: Callable[[Campaign], None]) -> None:
        """Until there were so many cuts, and a last recovery. @say: called ten times, or more."""
        step = max(1, min(100, cuts // 10))
        try:
            self.prepare(self.setting.attach(fresh=True))
            self.setting.detach()
            while (done := self.power.get("cuts")) < cuts:
                self.life()
                if done // step != self.power.get("cuts") // step:
                    say(self)
            self.recover()
            self.is_over = True
            say(self)
        finally:
            self.power.set(cut_after=0, power=1)
            self.setting.detach()

    def life(self) -> None:
        """From power on to power out."""
        rng, power = self.setting.rng, self.power
        may_lose = self.setting.may_lose and rng.random() < 0.25
        when = rng.choice(["load", "recovery"]) if may_lose else ""
        if rng.random() < 0.2:
            power.set(cut_after=any_number(rng, 60))
        if when == "recovery":
            self.arm_loss(60)
        try:
            node = self.recover()
            self.modes[self.setting.mode()] += 1
            self.load(node, lambda: self.endanger(when))
        except PowerIsOut:
            self.cut_in_recovery += 1
        if power.get("lost"):
            self.losses[when] += 1
        self.setting.detach()
        self.restore()

    def endanger(self, when: str) -> None:
        self.power.set(cut_after=any_number(self.setting.rng, 600))
        if when == "load":
            self.arm_loss(300)

    def arm_loss(self, most: int) -> None:
        disk = self.setting.rng.choice([SSD, *SPARES])
        self.power.set(lose=1 << disk, lose_after=any_number(self.setting.rng, most))

    def restore(self) -> None:
        """The power comes back; a disk that was lost has come back, too, or is still missing."""
        lost = self.power.get("lost")
        stays = self.setting.missing is None and lost and self.setting.rng.random() < 0.5
        self.setting.missing = lost.bit_length() - 1 if stays else None
        self.power.set(cut_after=0, lose_after=0, lost=0, power=1)

    def recover(self) -> str:
        """Attach, and compare all. Return: the device node."""
        try:
            node = self.setting.attach()
            self.compare(node)
        except (device_mapper.Refused, OSError):
            self.setting.detach()
            lost = self.power.get("lost")
            if not self.power.is_on:
                raise PowerIsOut from None
            if not lost or self.setting.missing is not None:
                raise
            # Lost in the midst: recovery is repeated without it.
            self.setting.missing = lost.bit_length() - 1
            return self.recover()
        return node

    def perform(self, workers: Sequence[Worker]) -> None:
        """Have them work until the power fails."""
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(PATIENCE_S)
            assert not worker.is_alive(), f"no answer; mode: {self.setting.mode()}"
        for worker in workers:
            self.ios += worker.ios
            if not isinstance(worker.failure, OSError) or self.power.is_on:
                assert worker.failure
                raise worker.failure

    def __str__(self) -> str:
        power = self.power
        return (
            f"{power.get('cuts'):,} cuts, {self.cut_in_recovery:,} of them in recovery; "
            f"lost devices: {self.losses['load']:,} under load, {self.losses['recovery']:,} in "
            f"recovery; {self.ios:,} calls of the load, {power.get('carried'):,} I/Os of devices; "
            f"{power.get('dropped'):,} sectors dropped, {power.get('torn'):,} torn; "
            f"loads that began in mode: {dict(self.modes)}"
        )


@dataclass
class Blocks(Campaign):
    """The load: blocks of the device itself.

    @compared: blocks, all of them at each recovery
    """

    history: History = field(kw_only=True)
    compared: int = 0

    def __str__(self) -> str:
        return f"{super().__str__()}; {self.compared:,} blocks compared, no acknowledged byte lost"

    def compare(self, node: str) -> None:
        fd = os.open(node, os.O_RDWR | os.O_DIRECT)
        try:
            torn = self.history.check(read_all(fd, self.history.blocks))
            self.compared += self.history.blocks
            # So that a block has one version again.
            for block in torn:
                version = next(self.history.versions)
                self.history.note([block], version)
                write(fd, block, 1, version)
            os.fsync(fd)
        finally:
            os.close(fd)
        self.history.settle(torn)

    def load(self, node: str, endanger: Callable[[], None]) -> None:
        endanger()
        each = self.history.blocks // WRITERS
        writers = [
            Writer(node, self.history, number * each, each, self.setting.rng.randrange(1 << 32))
            for number in range(WRITERS)
        ]
        self.perform(writers)


def any_number(rng: random.Random, most: int) -> int:
    """Small ones as often as large ones."""
    return int(rng.random() ** 2 * most) + 1


def read_all(fd: int, blocks: int) -> bytes:
    with mmap.mmap(-1, blocks * BLOCK) as buffer:
        assert os.preadv(fd, [buffer], 0) == blocks * BLOCK
        return bytes(buffer)
