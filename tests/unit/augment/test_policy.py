# SPDX-License-Identifier: GPL-2.0
"""Which reads are copied to the SSD, which copies go, and how dirty blocks get to the RAID."""

from __future__ import annotations

from typing import Any

import pytest
from lib.core.augment_machine import LOG, RAID, READ, SSD, WRITE, Machine

NEVER, FIRST, SECOND = range(3)
COPIES = 200 - 2  # blocks of the SSD behind the log and the superblocks


def copied(machine: Machine, block: int, blocks: int = 1) -> int:
    """Read; how many blocks the SSD has got."""
    before = machine.stats.copies
    machine.read(block, blocks)
    return int(machine.stats.copies - before)


def hits(machine: Machine, block: int) -> bool:
    before = machine.stats.hits
    machine.read(block)
    return bool(machine.stats.hits - before)


@pytest.mark.parametrize(
    ("copy", "copies", "hit"),
    [(NEVER, [0, 0, 0], 0), (FIRST, [1, 0, 0], 2), (SECOND, [0, 1, 0], 1)],
)
def test_a_block_is_copied_at_the_touch_that_the_policy_names(
    copy: int, copies: list[int], hit: int
) -> None:
    machine = Machine(copy=copy)
    assert [copied(machine, 70) for _ in range(3)] == copies
    assert machine.stats.hits == hit


def test_a_scan_is_not_copied_at_second_touch() -> None:
    """What is read once, however much of it, does not replace what is read again."""
    machine = Machine(copy=SECOND)
    for _ in range(2):
        assert all(copied(machine, 10 * block) in (0, 1) for block in range(50))
    before = machine.stats.copies
    assert before == 50
    for block in range(5000, 9000, 2):
        machine.read(block)
    assert machine.stats.copies - before < 20, "but for blocks whose hashes meet"
    assert all(hits(machine, 10 * block) for block in range(50))


def test_a_long_sequence_passes_by() -> None:
    machine = Machine(copy=FIRST, sequential_blocks=64)
    # In reads of 16 blocks the fourth reaches the length.
    assert [copied(machine, 1000 + 16 * i, 16) for i in range(8)] == [16, 16, 16, 0, 0, 0, 0, 0]
    # Others are copied all the same, between those of the sequence as well.
    assert copied(machine, 5000, 4) == 4
    assert copied(machine, 1000 + 16 * 8, 16) == 0
    assert copied(machine, 6000, 4) == 4


def test_several_sequences_at_a_time_pass_by() -> None:
    machine = Machine(copy=FIRST, sequential_blocks=64)
    for i in range(3):
        for first in (1000, 3000, 5000):
            machine.read(first + 16 * i, 16)
    assert [copied(machine, first + 48, 16) for first in (1000, 3000, 5000)] == [0, 0, 0]


def test_copies_that_were_read_again_stay_longer() -> None:
    """CLOCK: the hand clears the mark of those, and takes the next one without."""
    machine = Machine(copy=FIRST)
    for block in range(COPIES):
        assert copied(machine, 10 * block) == 1
    assert hits(machine, 0) and hits(machine, 20)
    for block in range(3):
        assert copied(machine, 5000 + 10 * block) == 1
    # Blocks 10, 30 and 40 went; 0 and 20 had been read, and the hand has not come to 50.
    machine.by_hand = True
    machine.sent.clear()
    for block, device in ((0, SSD), (20, SSD), (50, SSD), (10, RAID), (30, RAID), (40, RAID)):
        machine.read(block)
        sent = next(sent for sent in machine.sent if sent[0] == READ)
        assert sent[1] == device, block
        while machine.sent:
            machine.end(machine.sent[0])


def test_dirty_blocks_are_not_replaced_by_copies() -> None:
    machine = Machine(copy=FIRST)
    for block in range(40):
        machine.write(10 * block)
    for block in range(3 * COPIES):
        machine.read(2000 + 2 * block)
    assert machine.machine.dirty == 40
    assert all(hits(machine, 10 * block) for block in range(40))


def raid_writes(machine: Machine) -> list[Any]:
    machine.sent.clear()
    machine.lib.spek_augment_destage_all(machine.machine, 0)
    machine.run()
    return [sent[2:4] for sent in machine.sent if sent[:2] == (WRITE, RAID)]


def test_blocks_are_destaged_by_stripes_in_the_order_of_the_raid() -> None:
    machine = Machine(stripe_blocks=8)
    # Oldest: block 803, then others of its stripe and of others, in any order.
    for block in (803, 16, 806, 805, 400, 804, 807, 800, 802, 17, 801):
        machine.write(block)
    assert raid_writes(machine) == [(16, 2), (400, 1), (800, 8)]


def test_a_batch_has_the_whole_stripes_of_its_oldest_blocks() -> None:
    """Blocks that were written much later go with the stripe of an old one."""
    machine = Machine(stripe_blocks=16)
    machine.write(160)
    for block in range(16):
        machine.write(1000 + 100 * block)
    for block in range(161, 176):
        machine.write(block)
    writes = raid_writes(machine)
    assert (160, 16) in writes
    # With the first batch, not with the last.
    assert writes.index((160, 16)) == 0


def test_the_log_is_never_full_of_what_is_clean() -> None:
    """A log that is destaged takes writes without end."""
    machine = Machine(high_blocks=LOG - 64, low_blocks=64)
    for block in range(5 * LOG):
        machine.write(block % 3000)
    assert machine.stats.records == 5 * LOG
    assert machine.stats.errors == 0
