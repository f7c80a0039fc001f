# SPDX-License-Identifier: GPL-2.0
"""The log of dm-log-writes, the kernel's recorder of writes: its format, and disks as a log says
that they may have been.

What it logs, and when (Documentation/admin-guide/device-mapper/log-writes.rst): writes with FUA
when they have completed; other writes that had completed when a flush came, when that flush has;
marks at once. So all that is in the log up to a flush or a mark was durable then, and nothing else
needs to have been.
"""

from __future__ import annotations

import enum
import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

SECTOR = 512
MAGIC, VERSION = 0x6A736677736872, 1
SUPER = struct.Struct("<QQQL")  # magic, version, entries, bytes of a sector
ENTRY = struct.Struct("<QQQQ")  # sector, sectors, kind, bytes of the mark

Image = NDArray[np.uint8]


class Kind(enum.IntFlag):
    """What an entry is."""

    WRITE = 0
    FLUSH = 1
    FUA = 2
    DISCARD = 4
    MARK = 8
    METADATA = 16


@dataclass(frozen=True)
class Entry:
    """A write, flush or mark.

    @start: byte of the disk; @data: what was written there; @mark: text of a mark
    """

    kind: Kind
    start: int = 0
    data: bytes = b""
    mark: str = ""

    @property
    def waits(self) -> bool:
        """Whether it was in the disk's cache until the flush that comes next in the log."""
        return not self.kind & (Kind.FLUSH | Kind.FUA | Kind.MARK)

    def apply(self, image: Image) -> None:
        """Write it."""
        image[self.start : self.start + len(self.data)] = np.frombuffer(self.data, np.uint8)


def entries(log: BinaryIO) -> list[Entry]:
    """All that a log has, from its beginning; ValueError if it is none."""
    magic, version, number, sector = SUPER.unpack(log.read(SUPER.size))
    if (magic, version) != (MAGIC, VERSION):
        raise ValueError(f"no log of dm-log-writes: magic {magic:#x}, version {version}")
    parsed: list[Entry] = []
    log.seek(sector)
    for _ in range(number):
        head = log.read(sector)
        if len(head) < sector:
            raise ValueError(f"the log ends before entry {len(parsed)} of {number}")
        start, sectors, flags, mark_bytes = ENTRY.unpack_from(head)
        kind = Kind(flags)
        if kind & Kind.DISCARD:
            raise ValueError("a discard, of which the log has no data")
        text = head[ENTRY.size :][: mark_bytes if kind & Kind.MARK else 0]
        data = log.read(sectors * sector)
        if len(data) != sectors * sector:
            raise ValueError(f"the log ends in entry {len(parsed)} of {number}")
        parsed.append(Entry(kind, start * sector, data, text.decode()))
    return parsed


@dataclass(frozen=True)
class Moment:
    """A disk as a cut may have left it.

    @mark: the last mark before; @is_partial: some of what waited for the next flush is there, too
    """

    image: Image
    mark: str
    is_partial: bool = False


def moments(log: Sequence[Entry], size: int, rng: random.Random) -> Iterator[Moment]:
    """A disk of @size bytes, zeroed at first, at each flush and each mark, with nothing of what
    waits for the next flush; and before each flush, with any sectors of what waits for it.

    A flush right before a mark is left out: the mark says more of the same. The image changes
    when the next one is wanted.
    """
    image = np.zeros(size, np.uint8)
    waiting: list[Entry] = []
    mark = ""
    for at, entry in enumerate(log):
        if entry.waits:
            waiting.append(entry)
            continue
        if entry.kind & Kind.FLUSH:
            if waiting:
                yield Moment(partial(image, waiting, rng), mark, is_partial=True)
            for write in waiting:
                write.apply(image)
            waiting.clear()
        entry.apply(image)
        mark = entry.mark or mark
        is_last_before_mark = at + 1 < len(log) and log[at + 1].mark
        if entry.mark or (entry.kind & Kind.FLUSH and not is_last_before_mark):
            yield Moment(image, mark)


def partial(image: Image, waiting: Sequence[Entry], rng: random.Random) -> Image:
    """@image and some sectors of @waiting, in their order."""
    kept = image.copy()
    share = rng.choice([0.1, 0.5, 0.9, 1.0])
    for write in waiting:
        for at in range(0, len(write.data), SECTOR):
            if rng.random() < share:
                Entry(write.kind, write.start + at, write.data[at : at + SECTOR]).apply(kept)
    return kept
