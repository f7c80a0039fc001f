# SPDX-License-Identifier: GPL-2.0
"""Which member is woken, what woke those that are awake, and what is read ahead."""

from __future__ import annotations

import errno
from collections.abc import Collection, Iterator
from typing import Any

import pytest
from lib.core.augment_machine import FLUSH, LOG, MEMBERS, RAID, SSD, WAKE, WRITE, Machine

PASSING = 3


@pytest.fixture
def machine() -> Iterator[Machine]:
    yield Machine()


def count(**causes: int) -> list[int]:
    return [causes.get(name, 0) for name in ("other", "write", "read", "flush", "destage")]


def test_members_are_woken_in_turn(machine: Machine) -> None:
    for block in range(2 * MEMBERS):
        machine.tell(False)
        machine.write(block)
    assert machine.woken() == [*range(MEMBERS)] * 2
    assert machine.wakes() == count(write=2 * MEMBERS)


def test_last_mirror_is_woken_on_request() -> None:
    machine = Machine(wake=1)
    machine.tell(False, 0, 1)
    machine.write(0)
    for block in range(3):
        machine.tell(False)
        machine.write(block)
    # Member 2 was awake at the first write.
    assert machine.woken() == [2, 2, 2]


def test_a_lost_member_is_not_woken(machine: Machine) -> None:
    machine.lib.spek_augment_lose(machine.machine, 0, 1 + 1)
    machine.run()
    for block in range(MEMBERS):
        machine.tell(False)
        machine.write(block)
    assert machine.woken() == [0, 2, 3, 0]


def test_member_that_wakes_by_a_read_of_the_raid(machine: Machine) -> None:
    machine.tell(False)
    machine.read(5)
    machine.tell(True, 2)
    assert machine.wakes() == count(read=1)


def test_member_that_nothing_of_ours_has_woken(machine: Machine) -> None:
    machine.tell(False, 1)
    machine.tell(True, 1)
    machine.tell(True, 1)
    assert machine.wakes() == count(other=1)


def test_a_member_that_still_sleeps_was_not_woken_by_earlier_io(machine: Machine) -> None:
    machine.tell(False)
    machine.read(5)
    machine.tell(False)
    machine.tell(True, 0)
    assert machine.wakes() == count(other=1)


def test_hits_wake_nobody(machine: Machine) -> None:
    machine.read(5)
    machine.tell(False)
    machine.read(5)
    machine.tell(True)
    assert machine.stats.hits == 1
    assert machine.wakes() == count(other=MEMBERS)


def test_flush_and_destage_as_causes(machine: Machine) -> None:
    machine.write(0)
    machine.tell(False)
    machine.bio(FLUSH, 0, 0)
    machine.tell(True, 0)
    assert machine.wakes() == count(flush=1)
    machine.tell(False)
    machine.lib.spek_augment_destage_all(machine.machine, 0)
    machine.run()
    machine.tell(True)
    assert machine.wakes() == count(flush=1, destage=MEMBERS)


def test_a_flush_for_destage_as_a_cause(machine: Machine) -> None:
    machine.write(0)
    machine.tell(False)
    machine.sent.clear()
    machine.by_hand = True
    machine.lib.spek_augment_destage_all(machine.machine, 0)
    machine.run()
    assert [sent[0] for sent in machine.sent] == [FLUSH, FLUSH]
    machine.tell(True, 0)
    assert machine.wakes() == count(destage=1)


def test_read_ahead_hits_without_the_raid() -> None:
    machine = Machine(prefetch_blocks=8)
    machine.read(100, 2)
    raid = [(block, blocks) for _, device, block, blocks, _ in machine.sent if device == RAID]
    assert raid == [(100, 2), (102, 8)]
    assert machine.stats.prefetched == 8
    machine.sent.clear()
    machine.read(102, 8)
    machine.read(102, 8)
    assert all(device == 0 for _, device, *_ in machine.sent)
    assert machine.stats.prefetch_hits == 8
    assert machine.stats.misses == 2


@pytest.mark.parametrize(
    ("policy", "blocks"),
    [({}, 0), ({"prefetch_blocks": 16, "copy": 0}, 0), ({"prefetch_blocks": 16}, 3)],
)
def test_read_ahead_ends_at_the_end_of_the_raid(policy: dict[str, int], blocks: int) -> None:
    machine = Machine(**policy)
    machine.read(10_000 - 4)
    assert machine.stats.prefetched == blocks


def test_second_touch_reads_ahead_at_the_second() -> None:
    machine = Machine(prefetch_blocks=4, copy=2)
    machine.read(50)
    assert machine.stats.prefetched == 0
    machine.read(50)
    assert machine.stats.prefetched == 4


def test_blocks_that_are_there_are_not_read_ahead() -> None:
    machine = Machine(prefetch_blocks=4)
    machine.write(52)
    machine.read(50)
    assert machine.stats.prefetched == 1


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ({"wake": 2}, "Members are woken in turn, or the last mirror is."),
        ({"prefetch_blocks": 17}, "0 to 16 blocks are read ahead."),
    ],
)
def test_impossible_policy_is_refused(policy: dict[str, int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Machine(**policy)


class Answered(Machine):
    """A machine whose I/O is ended by hand, and whose bios may fail."""

    def run(self) -> None:
        io = self.ffi.new("struct spek_augment_io *")
        answer = self.ffi.new("struct spek_augment_answer *")
        while self.lib.spek_augment_next_io(self.machine, io):
            self.sent.append((io.op, io.device, io.block, io.blocks, io.tag))
            if not self.by_hand:
                self.end(self.sent[-1])
        while self.lib.spek_augment_next_answer(self.machine, answer):
            self.answers.append(answer.error)

    def __init__(self, **policy: Any) -> None:
        self.answers: list[int] = []
        super().__init__(**policy)

    def end_but(self, kept: Collection[Any], fails: Collection[tuple[int, int]] = ()) -> None:
        """End all I/O that is not to be kept in flight."""
        while ends := [sent for sent in self.sent if sent not in kept]:
            self.end(ends[0], -errno.EIO * (ends[0][:2] in fails))


def test_a_member_that_is_lost_as_it_wakes_keeps_no_other_asleep() -> None:
    machine = Answered()
    machine.tell(False)
    machine.by_hand = True
    machine.write(5)
    (hung,) = machine.sent
    assert machine.woken() == [0]
    machine.lib.spek_augment_lose(machine.machine, machine.now_ns, 1)
    machine.run()
    while supers := [sent for sent in machine.sent if sent[0] == WRITE]:
        machine.end(supers[0])
    assert machine.woken() == [0, 1]
    waking = next(sent for sent in machine.sent if sent[0] == WAKE and sent != hung)
    # The end of the first one is not taken for that of the second one.
    machine.end(hung, -errno.ENODEV)
    assert machine.machine.waking
    machine.end(waking)
    machine.end_but(())
    assert machine.answers == [0]
    assert machine.woken() == []


def test_what_outlives_its_bio_leaves_io_for_64_flushes() -> None:
    """Copies to an SSD that hangs, a block that is read ahead, and a member that does not wake."""
    machine = Answered(prefetch_blocks=16, ssd_blocks=LOG + 800, raid_blocks=1_000_000)
    machine.write(5)
    machine.tell(False)
    machine.by_hand = True
    for place in range(1, 8):
        machine.read(1000 * place, 16)
        for sent in [sent for sent in machine.sent if sent[1] == RAID]:
            # The last one that is read ahead.
            if sent[2:4] != (7016, 16):
                machine.end(sent)
    machine.write(6)
    hung = tuple(machine.sent)
    machine.lib.spek_augment_lose(machine.machine, machine.now_ns, SSD)
    machine.run()
    # The write waits for the log to be drained, until that fails.
    machine.answers.clear()
    machine.end_but(hung, {(WRITE, RAID)})
    assert machine.answers == [-errno.EIO]
    machine.now_ns += 2000
    machine.lib.spek_augment_tick(machine.machine, machine.now_ns)
    machine.run()
    machine.end_but(hung)
    assert (machine.machine.mode, machine.machine.dirty) == (PASSING, 0)
    assert tuple(machine.sent) == hung
    assert machine.machine.nr_free_ios >= 64
    for _ in range(64):
        machine.bio(FLUSH, 0, 0)
    assert len({sent[-1] for sent in machine.sent}) == len(hung) + 64
    machine.answers.clear()
    machine.end_but(())
    assert machine.answers == [0] * 64
    assert machine.machine.nr_free_ios == 256
