# SPDX-License-Identifier: GPL-2.0
"""A cache of spek_augment.ko on slices of one disk whose writes are logged (dm-log-writes), and the
cache again on the disk as it was at each flush.

One disk, so that there is one order of all that was written to RAID, SSD and spare areas. For the
same reason a flush of a slice is one of them all: a flush of the SSD alone that is missing beside
one of the mirror is not noticed here, nor one of the mirror beside the SSD's. Cuts of disks with
volatile caches of their own (augment_cuts.py) are for these.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import random
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from guest.augment_cuts import BLOCK, RAID, WRITERS, History, Power, Setting, Writer, read_all
from lib.guest import device_mapper, write_log
from lib.guest.disks import mapped_disk, null_disk
from lib.guest.write_log import Moment
from lib.waiting import eventually

SIZES = (4, 4, 2, 2)  # RAID, SSD, spare areas, MiB
MIB = 1 << 20
LOG_MIB = 64  # of what one load writes, with an entry of 512 bytes for each write
RECORDER = "spek-recorder"
CALLS = 6  # of each writer of a load


class Slices(Power):
    """Of one disk, which always has power."""

    def __init__(self, nodes: list[str]) -> None:
        self.mib = SIZES
        self.nodes = nodes

    @property
    def is_on(self) -> bool:
        return True

    def node(self, disk: int) -> str:
        return self.nodes[disk]

    def ignore_flushes(self) -> None:
        """The kernel sends none to a disk that is said to have no cache."""
        for node in self.nodes:
            Path("/sys/block", Path(node).name, "queue/write_cache").write_text("write through")


@contextlib.contextmanager
def sliced(name: str, node: str) -> Iterator[Slices]:
    """The disks that a cache takes, one behind the other on @node."""
    with ExitStack() as stack:
        nodes, start = [], 0
        for number, mib in enumerate(SIZES):
            table = f"0 {mib << 11} linear {node} {start}"
            nodes.append(stack.enter_context(mapped_disk(f"{name}{number}", table)))
            start += mib << 11
        yield Slices(nodes)


@dataclass
class Journal(History):
    """What was begun, and what was acknowledged as durable, in their order.

    @events: blocks and the version that was written to them, or None once that is durable
    @marks: for each mark of the log, the number of events before it
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    events: list[tuple[list[int], int | None]] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)

    def note(self, blocks: Iterable[int], version: int) -> None:
        with self.lock:
            self.events.append((list(blocks), version))
            super().note(self.events[-1][0], version)

    def settle(self, blocks: Iterable[int]) -> None:
        with self.lock:
            self.events.append((list(blocks), None))
            super().settle(self.events[-1][0])
            self.mark()

    def mark(self) -> None:
        """What is in the log from here on may have begun up to the next mark."""
        device_mapper.message(RECORDER, f"mark {len(self.marks)}")
        self.marks.append(len(self.events))

    def at_mark(self, number: int) -> History:
        """What each block may hold on a disk as it was between a mark and the next."""
        history = History(self.blocks)
        end = self.marks[number + 1] if number + 1 < len(self.marks) else len(self.events)
        for blocks, version in self.events[: self.marks[number]]:
            if version is None:
                history.settle(blocks)
            else:
                history.note(blocks, version)
        for blocks, version in self.events[self.marks[number] : end]:
            if version is not None:
                history.note(blocks, version)
        return history


class Finished(Exception):
    """A writer has made its calls."""


class FewCalls(Writer):
    """Ends after CALLS calls, with a flush."""

    def act(self, fd: int) -> None:
        if self.ios == CALLS:
            os.fsync(fd)
            self.settle(self.open)
            raise Finished
        super().act(fd)


@dataclass
class Replays:
    """Loads, and the cache on the disk as it was at each flush of them.

    @stride: of so many disks that a log has, one is compared, beside all with part of what waited
    @ignores_flushes: from the beginning of a load on, its disks do
    @checked: disks that were attached and compared; @partial: of these, with part of what waited
        for a flush; @repeated: attached a second time, after a recovery
    """

    rng: random.Random
    stride: int = 1
    ignores_flushes: bool = False
    checked: int = 0
    partial: int = 0
    repeated: int = 0
    loads: int = 0
    logged: int = 0

    def run(self, wanted: int, say: Callable[[Replays], None] = lambda _: None) -> None:
        """Until so many were checked, and the last load's all. @say: called after each load."""
        with null_disk(sum(SIZES), memory_backed=1) as disk, sliced("spek-replayed", disk) as copy:
            while self.checked < wanted:
                journal = Journal((SIZES[RAID] << 20) // BLOCK)
                self.replay(self.load(journal), journal, disk, copy)
                self.loads += 1
                say(self)

    def load(self, journal: Journal) -> list[write_log.Entry]:
        """Return: what was written by a load on a new cache."""
        with (
            null_disk(sum(SIZES), memory_backed=1) as disk,
            null_disk(LOG_MIB, memory_backed=1) as log,
        ):
            table = f"0 {sum(SIZES) << 11} log-writes {disk} {log}"
            with mapped_disk(RECORDER, table) as recorded, sliced("spek-slice", recorded) as slices:
                self.write(Setting(slices, self.rng), journal)
                assert "logging_disabled" not in device_mapper.status(RECORDER)
            with open(log, "rb") as file:
                entries = write_log.entries(file)
        self.logged += len(entries)
        return entries

    def write(self, setting: Setting, journal: Journal) -> None:
        node = setting.attach(fresh=True)
        journal.mark()
        if self.ignores_flushes:
            assert isinstance(setting.power, Slices)
            setting.power.ignore_flushes()
        each = journal.blocks // WRITERS
        writers = [
            FewCalls(node, journal, number * each, each, self.rng.randrange(1 << 32))
            for number in range(WRITERS)
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        setting.detach()
        for writer in writers:
            if not isinstance(writer.failure, Finished):
                raise writer.failure or AssertionError("a writer has not ended")

    def replay(self, log: list[write_log.Entry], journal: Journal, disk: str, copy: Slices) -> None:
        setting = Setting(copy, self.rng)
        for number, moment in enumerate(write_log.moments(log, sum(SIZES) * MIB, self.rng)):
            # Before the first mark there is no cache yet.
            is_chosen = moment.is_partial or number % self.stride == 0
            if moment.mark.isdecimal() and is_chosen:
                put(disk, moment)
                history = journal.at_mark(int(moment.mark))
                self.compare(setting, history, f"at mark {moment.mark}")
                self.partial += moment.is_partial
                self.checked += 1
                if self.checked % 4 == 0:
                    self.compare(setting, history, f"after recovery at mark {moment.mark}")
                    self.repeated += 1

    def compare(self, setting: Setting, history: History, when: str) -> None:
        """Recover, and compare all; what there is is what may be there the next time."""
        node = setting.attach()
        try:
            eventually(lambda: setting.mode() == "normal", "recovery does not end")
            fd = os.open(node, os.O_RDWR | os.O_DIRECT)
            try:
                torn = history.check(read_all(fd, history.blocks))
            finally:
                os.close(fd)
            assert not torn, f"{when}: torn blocks {torn}"
        except AssertionError as error:
            error.add_note(when)
            raise
        finally:
            setting.detach()

    def __str__(self) -> str:
        return (
            f"{self.loads:,} loads, {self.logged:,} entries of the log; {self.checked:,} disks "
            f"compared, {self.partial:,} of them with part of what waited for a flush; "
            f"{self.repeated:,} a second time; no acknowledged byte lost"
        )


def put(node: str, moment: Moment) -> None:
    """Make a disk what it was then."""
    fd = os.open(node, os.O_RDWR | os.O_DIRECT)
    try:
        with mmap.mmap(-1, len(moment.image)) as buffer:
            buffer.write(moment.image.tobytes())
            assert os.pwritev(fd, [buffer], 0) == len(moment.image)
    finally:
        os.close(fd)
