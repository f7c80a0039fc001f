# SPDX-License-Identifier: GPL-2.0
"""The core of the cache on devices that fail reads of its log."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from typing import Any

from lib.core.augment_machine import LOG, MEMBERS, RAID, READ, WRITE, Machine

NORMAL, PASSING, FAILED = 1, 3, 4
LOG_START = 2
FIRST = 70
MIRROR = 3
RETRY_NS = 1000
# A read: device, place, blocks.
Read = tuple[int, int, int]
FailsAt = Callable[[Read, int], bool]


class Reading(Machine):
    """A log of two records of 20 and of one block, whose devices fail reads."""

    adopted = (FIRST,)
    length = 20
    missing = 0

    def __init__(self, fails: FailsAt, **policy: Any) -> None:
        self.fails = fails
        self.reads: list[Read] = []
        self.answers: list[int] = []
        self.destaged: set[int] = set()
        super().__init__(**policy)
        self.by_hand = True
        self.end_all()

    def superblocks(self, config: Any) -> tuple[Any, Any]:
        supers, present = super().superblocks(config)
        for device in range(1 + MEMBERS):
            if self.missing >> device & 1:
                present[device] = 0
        return supers, present

    def run(self) -> None:
        io = self.ffi.new("struct spek_augment_io *")
        answer = self.ffi.new("struct spek_augment_answer *")
        while self.lib.spek_augment_next_io(self.machine, io):
            self.sent.append((io.op, io.device, io.block, io.blocks, io.tag))
        while self.lib.spek_augment_next_answer(self.machine, answer):
            self.answers.append(answer.error)

    def end_all(self) -> None:
        """End all I/O, with pauses after what failed."""
        for _ in range(3):
            while self.sent:
                sent = op, device, block, blocks, _ = self.sent[0]
                error = 0
                if not self.machine.live >> device & 1 and device != RAID:
                    error = -errno.ENODEV
                elif op == READ and device != RAID:
                    read = (device, block, blocks)
                    error = -errno.EIO * self.fails(read, len(self.reads))
                    self.reads.append(read)
                elif (op, device) == (WRITE, RAID):
                    self.destaged |= set(range(block, block + blocks))
                self.end(sent, error)
            self.now_ns += RETRY_NS
            self.lib.spek_augment_tick(self.machine, self.now_ns)
            self.run()

    def ask(self, op: int, block: int, blocks: int = 1) -> int:
        """The error of a bio."""
        self.answers.clear()
        self.bio(op, block, blocks)
        self.end_all()
        (error,) = self.answers
        return error

    def lost(self) -> list[int]:
        return list(self._lost())

    def _lost(self) -> Iterator[int]:
        cursor = self.ffi.new("u32 *")
        lost = self.ffi.new("struct spek_augment_range *")
        while self.lib.spek_augment_next_lost(self.machine, cursor, lost):
            yield from range(lost.block, lost.block + lost.blocks)
        assert cursor[0] == LOG

    @property
    def mode(self) -> int:
        return int(self.machine.mode)
