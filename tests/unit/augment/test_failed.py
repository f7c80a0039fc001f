# SPDX-License-Identifier: GPL-2.0
"""A machine that has lost all copies of a dirty block serves reads of all others only."""

from __future__ import annotations

import errno

import pytest
from lib.core.augment_machine import FLUSH, MEMBERS, RAID, READ, WRITE, Machine

FAILED = 4


class Failed(Machine):
    """A write was flushed, and then all devices were lost."""

    def __init__(self) -> None:
        self.errors: list[int] = []
        super().__init__()
        self.write(70)
        self.bio(FLUSH, 0, 0)
        assert self.errors == [0, 0] and self.machine.flushed_seq == self.machine.issued_seq == 1
        for device in range(1 + MEMBERS):
            self.lib.spek_augment_lose(self.machine, self.now_ns, device)
        self.run()
        assert self.machine.mode == FAILED
        self.errors.clear()

    def run(self) -> None:
        io = self.ffi.new("struct spek_augment_io *")
        answer = self.ffi.new("struct spek_augment_answer *")
        while self.lib.spek_augment_next_io(self.machine, io):
            is_gone = io.device != RAID and not self.machine.live >> io.device & 1
            error = -errno.ENODEV if is_gone else 0
            self.lib.spek_augment_complete(self.machine, self.now_ns, io.tag, error)
        while self.lib.spek_augment_next_answer(self.machine, answer):
            self.errors.append(answer.error)


@pytest.mark.parametrize(
    ("op", "blocks", "flags"),
    [
        (READ, 1, {}),
        (WRITE, 1, {}),
        (WRITE, 1, {"fua": True}),
        # What it would flush was flushed before, and is lost all the same.
        (FLUSH, 0, {}),
    ],
)
def test_bios_that_need_what_is_lost_are_errors(
    op: int, blocks: int, flags: dict[str, bool]
) -> None:
    machine = Failed()
    machine.bio(op, 70 if blocks else 0, blocks, **flags)
    assert machine.errors == [-errno.EIO]


def test_what_the_raid_has_is_read() -> None:
    machine = Failed()
    machine.read(71)
    assert machine.errors == [0]
