# SPDX-License-Identifier: GPL-2.0
"""Starts that a cut ends while they write the first superblocks of a generation, with devices
missing: what bios were served from last counts when all devices are back."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from lib.core.augment_machine import FLUSH, SSD, WRITE, Machine, core

BLOCK, PLACES = 4096, 2
NORMAL, PASSING = 1, 3
# Of a set with members 1 and 2.
M1, M2 = 1, 2
NR_MEMBERS = 2
Blocks = dict[tuple[int, int], bytes]


@dataclass(frozen=True)
class Start:
    """Devices that are present, and those whose superblock a cut tears: the announcement, or the
    first of the generation. It ends there; the superblocks of the other devices are whole.
    Without @torn it serves."""

    present: Collection[int]
    torn: Collection[int] = ()
    announces: bool = False


class Life(Machine):
    """A machine on superblocks that outlive it; nothing is in the log."""

    def __init__(self, blocks: Blocks, start: Start, **policy: Any) -> None:
        self.blocks, self.start = blocks, start
        self.written = 0
        super().__init__(nr_members=NR_MEMBERS, **policy)

    def superblocks(self, config: Any) -> tuple[Any, Any]:
        supers, present = decoded(self.blocks)
        for device in set(range(1 + NR_MEMBERS)) - set(self.start.present):
            present[device] = 0
        return supers, present

    def run(self) -> None:
        """Take what the machine says, until the cut."""
        io = self.ffi.new("struct spek_augment_io *")
        while self.lib.spek_augment_next_io(self.machine, io):
            if io.op == WRITE and io.encoded:
                self.write(io)
            if not self.is_over:
                self.lib.spek_augment_complete(self.machine, 0, io.tag, 0)

    def write(self, io: Any) -> None:
        """Write a superblock: first those of the announcement, one for each device."""
        block = bytearray(BLOCK)
        self.lib.spek_augment_encode(self.machine, io.tag, self.ffi.from_buffer("u8[]", block))
        announces = self.written < len(self.start.present)
        if self.start.torn and announces == self.start.announces and io.device in self.start.torn:
            block[20:120] = bytes(100)
        self.blocks[io.device, io.block] = bytes(block)
        self.written += 1

    @property
    def is_over(self) -> bool:
        steps = 1 if self.start.announces else 2
        return bool(self.start.torn) and self.written > (steps - 1) * len(self.start.present)


def decoded(blocks: Blocks) -> tuple[Any, Any]:
    """Superblocks of devices, and which of them are intact."""
    ffi, lib = core()
    supers, there = ffi.new("struct spek_augment_super[]", 2 * 9), ffi.new("u32[]", 9)
    for (device, place), block in blocks.items():
        taken = lib.spek_augment_super_decode(
            ffi.from_buffer("u8[]", bytearray(block)), supers + 2 * device + place
        )
        there[device] |= taken << place
    return supers, there


def formatted(**policy: Any) -> Blocks:
    ffi, lib = core()
    machine = Machine(nr_members=NR_MEMBERS, **policy)
    config = ffi.addressof(machine.machine, "config")
    block, blocks = bytearray(BLOCK), {}
    super_ = ffi.new("struct spek_augment_super *")
    for device in range(1 + NR_MEMBERS):
        lib.spek_augment_format(config, device, super_)
        lib.spek_augment_super_encode(super_, ffi.from_buffer("u8[]", block))
        for place in range(PLACES):
            blocks[device, place] = bytes(block)
    return blocks


def lives(*starts: Start) -> Iterator[tuple[Life, Blocks]]:
    blocks = formatted()
    for start in starts:
        yield Life(blocks, start), blocks


@pytest.mark.parametrize(
    "starts",
    [
        # The member that is there twice has lost the first superblock of the first start.
        (Start((SSD, M1), torn=(M1,)), Start((M1, M2))),
        (Start((SSD, M1), torn=(SSD,)), Start((SSD, M2))),
        (Start((M1, M2), torn=(M2,)), Start((SSD, M2))),
        # And then an announcement.
        (
            Start((SSD, M1), torn=(M1,)),
            Start((M1, M2), torn=(M1, M2), announces=True),
            Start((M1, M2)),
        ),
        (
            Start((SSD, M1, M2), torn=(M1, M2)),
            Start((M1, M2), torn=(M1, M2)),
            Start((M1, M2)),
        ),
        (Start((SSD, M1, M2), torn=(M1, M2)), Start((M1, M2))),
        # Two losses: member 2, which has an announcement only, is away, and then the SSD.
        (
            Start((SSD, M1, M2), torn=(SSD, M1, M2)),
            Start((SSD, M1)),
            Start((M1, M2)),
        ),
    ],
)
def test_what_was_served_from_last_counts(starts: tuple[Start, ...]) -> None:
    for life, blocks in lives(*starts):
        ended = life
        after = blocks
    served = starts[-1].present
    assert ended.machine.mode == (NORMAL if SSD in served else PASSING)
    scan = ended.ffi.new("struct spek_augment_scan *")
    config = ended.ffi.addressof(ended.machine, "config")
    assert ended.lib.spek_augment_choose(config, *decoded(after), scan, ended.ffi.NULL) == 0
    assert scan.super.generation == ended.machine.generation
    assert scan.stale == 0b111 & ~sum(1 << device for device in served)


class ByHand(Life):
    """I/O is not ended until the test says so."""

    def run(self) -> None:
        io = self.ffi.new("struct spek_augment_io *")
        while self.lib.spek_augment_next_io(self.machine, io):
            self.sent.append((io.op, io.device, io.tag))


@pytest.mark.parametrize("present", [(SSD, M1, M2), (SSD, M1), (M1, M2), (SSD,)])
def test_caches_are_flushed_before_superblocks_are_written(present: tuple[int, ...]) -> None:
    """The log is empty, but a crash may have left the superblocks that say so in caches only. The
    announcement goes to the place of what is on the media: if it is torn and the caches are lost,
    an earlier superblock has the log begin at records that were destaged long ago."""
    life = ByHand(formatted(), Start(present))
    assert [sent[:2] for sent in life.sent] == [(FLUSH, device) for device in present]
    for flush in tuple(life.sent):
        assert {op for op, *_ in life.sent} == {FLUSH}
        life.end(flush)
    assert [sent[:2] for sent in life.sent] == [(WRITE, device) for device in present]


class WithLog(Life):
    """Two records are in the log."""

    adopted = (70, 71)
    holders = 0b111


def test_nothing_is_left_in_the_logs_of_devices_that_lived_apart() -> None:
    """First the SSD alone, then the members: both generations have the same number, and whichever
    counts when they meet, no log is written over the RAID."""
    blocks = formatted()
    for present in ((SSD,), (M1, M2)):
        assert WithLog(blocks, Start(present)).machine.mode == PASSING
    supers, _ = decoded(blocks)
    newest = [
        max(supers[2 * device : 2 * device + 2], key=lambda super_: super_.version)
        for device in (SSD, M1, M2)
    ]
    assert [each.generation for each in newest] == [2, 2, 2]
    assert [(each.tail_seq, each.nr_spans, each.spans[0].first_seq) for each in newest] == [
        (3, 1, 3)
    ] * 3
    together = Life(blocks, Start((SSD, M1, M2))).machine
    assert (together.mode, together.generation, together.dirty) == (NORMAL, 3, 0)


def test_every_device_in_use_knows_a_generation_that_any_has_begun() -> None:
    for begun in (SSD, M1, M2):
        torn = {SSD, M1, M2} - {begun}
        ((life, blocks),) = lives(Start((SSD, M1, M2), torn=tuple(torn)))
        supers, there = decoded(blocks)
        for device in (SSD, M1, M2):
            known = [
                supers[2 * device + place].announced
                for place in range(PLACES)
                if there[device] >> place & 1
            ]
            assert max(known) == life.machine.generation == 2


RAID, ANOTHER = b"serial=A", b"wwn=b,serial=C"


def names(blocks: Blocks) -> list[bytes]:
    """Names of the RAID in the superblocks of each device, the newer one first."""
    ffi, _ = core()
    supers, _ = decoded(blocks)
    return [
        ffi.string(each.raid)
        for device in range(1 + NR_MEMBERS)
        for each in sorted(
            (supers[2 * device + place] for place in range(PLACES)),
            key=lambda each: -int(each.version),
        )
    ]


@pytest.mark.parametrize(
    ("first", "later", "kept"),
    [
        ({"sets_raid": True, "raid": RAID}, {}, RAID),
        ({"sets_raid": True, "raid": RAID}, {"sets_raid": True, "raid": ANOTHER}, ANOTHER),
        ({"sets_raid": True, "raid": ANOTHER}, {"sets_raid": True, "raid": RAID}, RAID),
        ({"sets_raid": True, "raid": RAID}, {"sets_raid": True}, b""),
        ({}, {}, b""),
        ({}, {"sets_raid": True, "raid": RAID}, RAID),
    ],
)
def test_all_superblocks_of_a_start_have_the_name_of_the_raid(
    first: dict[str, Any], later: dict[str, Any], kept: bytes
) -> None:
    blocks = formatted(**first)
    assert set(names(blocks)) == {first.get("raid", b"")}
    Life(blocks, Start((SSD, M1, M2)), **later)
    assert set(names(blocks)) == {kept}
    # Not given again, it stays, through the loss of a device as well.
    Life(blocks, Start((SSD, M1, M2)))
    assert set(names(blocks)) == {kept}
    life = Life(blocks, Start((SSD, M1, M2)))
    life.lib.spek_augment_lose(life.machine, 0, SSD)
    life.run()
    assert set(names(blocks)) == {kept}


def test_a_cut_amid_announcements_leaves_the_new_name_on_the_newest() -> None:
    blocks = formatted(sets_raid=True, raid=RAID)
    torn = Start((SSD, M1, M2), torn=(M1, M2), announces=True)
    Life(blocks, torn, sets_raid=True, raid=ANOTHER)
    life = Life(blocks, Start((SSD, M1, M2)))
    assert life.ffi.string(life.machine.super.raid) == ANOTHER
    assert set(names(blocks)) == {ANOTHER}
