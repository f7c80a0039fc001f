# SPDX-License-Identifier: GPL-2.0
"""The core of the cache that lets disks sleep; its I/O is ended by hand, or at once."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from lib.build.declarations import opened
from lib.core.build import AUGMENT

MEMBERS, LOG = 4, 256
READ, WRITE, FLUSH, WAKE = range(4)
NEVER = 2**64 - 1
SSD, RAID = 0, 9


@functools.cache
def core() -> tuple[Any, Any]:
    return opened(*AUGMENT.compiled(AUGMENT.folder / "augment.h"))


class Machine:
    """A machine that has been started; I/O succeeds as soon as it is issued, unless @by_hand.

    @adopted: blocks of which the log has a record each, as of an earlier life; then I/O is ended by
    hand. @length: blocks of each of these records. @holders: bitmap of the devices that have
    them. @started_ns: time at which recovery begins."""

    adopted: Sequence[int] = ()
    length: int = 1
    holders: int = (2 << MEMBERS) - 1
    started_ns: int = 0

    def __init__(self, **policy: Any) -> None:
        self.ffi, self.lib = core()
        config = self.ffi.new(
            "struct spek_augment_config *",
            {
                "uuid": bytes(range(1, 17)), "raid_blocks": 10_000, "ssd_blocks": LOG + 200,
                "log_blocks": LOG, "nr_members": MEMBERS, "copy": 1, "stripe_blocks": 1,
                "sequential_blocks": 1000, "high_blocks": 128, "low_blocks": 64,
                "quiet_ns": NEVER, "retry_ns": 1000,
            }
            | policy,
        )  # fmt: skip
        refusal = self.ffi.new("struct spek_refusal *")
        if self.lib.spek_augment_check(config, refusal):
            raise ValueError(self.ffi.string(refusal.text).decode())
        supers, present = self.superblocks(config)
        scan = self.ffi.new("struct spek_augment_scan *")
        assert self.lib.spek_augment_choose(config, supers, present, scan, refusal) == 0
        self.memory = self.ffi.new("u32[]", self.lib.spek_augment_bytes(config) // 4 + 1)
        self.machine = self.ffi.new("struct spek_augment *")
        self.lib.spek_augment_init(self.machine, config, self.memory)
        self.lib.spek_augment_recover(self.machine, scan)
        for block in self.adopted:
            header = self.ffi.new(
                "struct spek_augment_header *", {"block": block, "blocks": self.length}
            )
            self.adopt(header)
        self.now_ns = self.started_ns
        self.lib.spek_augment_start(self.machine, self.now_ns)
        self.crc = self.ffi.new("u32[]", 256)
        self.sent: list[Any] = []
        self.by_hand = bool(self.adopted)
        self.run()

    def adopt(self, header: Any) -> None:
        """Take a record over."""
        self.lib.spek_augment_adopt(self.machine, header, self.holders, self.ffi.NULL)

    def superblocks(self, config: Any) -> tuple[Any, Any]:
        """What is on the devices: two superblocks for each, and a bitmap of those present."""
        supers = self.ffi.new("struct spek_augment_super[]", 2 * 9)
        present = self.ffi.new("u32[]", 9)
        for number in range(1 + MEMBERS):
            self.lib.spek_augment_format(config, number, supers + 2 * number)
            present[number] = 1
        return supers, present

    def run(self) -> None:
        """Take what the machine says."""
        io = self.ffi.new("struct spek_augment_io *")
        answer = self.ffi.new("struct spek_augment_answer *")
        while self.lib.spek_augment_next_io(self.machine, io):
            self.sent.append((io.op, io.device, io.block, io.blocks, io.tag))
            if not self.by_hand:
                self.lib.spek_augment_complete(self.machine, self.now_ns, io.tag, 0)
        while self.lib.spek_augment_next_answer(self.machine, answer):
            assert answer.error == 0

    def end(self, sent: Any, error: int = 0) -> None:
        """End an I/O that was issued by hand."""
        self.sent.remove(sent)
        self.lib.spek_augment_complete(self.machine, self.now_ns, sent[-1], error)
        self.run()

    def bio(self, op: int, block: int, blocks: int, **more: Any) -> None:
        """Submit a bio."""
        fields = {"op": op, "block": block, "blocks": blocks, "crc": self.crc} | more
        wanted = self.ffi.new("struct spek_augment_bio *", fields)
        assert self.lib.spek_augment_submit(self.machine, self.now_ns, wanted) == 0
        self.run()

    def read(self, block: int, blocks: int = 1) -> None:
        self.bio(READ, block, blocks)

    def write(self, block: int) -> None:
        self.bio(WRITE, block, 1)

    def tell(self, is_awake: bool, *members: int) -> None:
        """Tell whether members, or all, are awake."""
        for member in members or range(MEMBERS):
            self.lib.spek_augment_set_awake(self.machine, self.now_ns, member, is_awake)
        self.run()

    def woken(self) -> list[int]:
        """Members that were woken for writes, in order."""
        return [device - 1 for op, device, *_ in self.sent if op == WAKE]

    @property
    def stats(self) -> Any:
        return self.machine.stats

    def wakes(self) -> list[int]:
        """Wake-ups by cause."""
        return list(self.stats.wakes)
