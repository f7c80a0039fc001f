# SPDX-License-Identifier: GPL-2.0
"""Destage of blocks that change, or cannot be read, while it is under way."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from lib.core.augment_machine import FLUSH, LOG, NEVER, RAID, READ, SSD, WRITE, Machine

NORMAL, DRAINING, FAILED = 1, 2, 4
MIRROR = 1
RETRY_NS = 1000


def reads(machine: Machine, device: int) -> list[Any]:
    return [sent for sent in machine.sent if sent[:2] == (READ, device)]


def awaiting_flush() -> Machine:
    """Two blocks are to be destaged, and the log is being flushed."""
    machine = Machine()
    machine.write(70)
    machine.write(71)
    machine.sent.clear()
    machine.by_hand = True
    machine.lib.spek_augment_destage_all(machine.machine, 0)
    machine.run()
    assert [sent[:2] for sent in machine.sent] == [(FLUSH, SSD), (FLUSH, MIRROR)]
    return machine


def destaging() -> Machine:
    """Two blocks are being read for destage."""
    machine = awaiting_flush()
    for sent in machine.sent[:]:
        machine.end(sent)
    assert len(reads(machine, SSD)) == 2
    return machine


def write_again(machine: Machine) -> None:
    machine.write(70)
    for sent in [sent for sent in machine.sent if sent[0] == WRITE]:
        machine.end(sent)


def end_all(machine: Machine) -> None:
    while machine.sent:
        machine.end(machine.sent[0])


def test_nobody_needs_a_block_that_was_written_again() -> None:
    """Its old copy is on the SSD only, which cannot read it, and its mirror is lost."""
    machine = destaging()
    write_again(machine)
    first, second = reads(machine, SSD)
    machine.lib.spek_augment_lose(machine.machine, 0, MIRROR)
    machine.run()
    machine.end(first, -errno.EIO)
    machine.end(second)
    # The same read once more.
    machine.end(next(sent for sent in reads(machine, SSD) if sent[:4] == first[:4]), -errno.EIO)
    assert machine.machine.mode == DRAINING
    assert not [sent for sent in machine.sent if sent[:2] == (WRITE, RAID)]
    end_all(machine)
    machine.now_ns = RETRY_NS
    machine.lib.spek_augment_tick(machine.machine, machine.now_ns)
    machine.run()
    end_all(machine)
    assert machine.machine.mode == NORMAL
    assert machine.machine.dirty == 0


def test_a_block_that_is_needed_and_lost_fails_the_machine_after_all_others_are_destaged() -> None:
    machine = destaging()
    first, second = reads(machine, SSD)
    machine.lib.spek_augment_lose(machine.machine, 0, MIRROR)
    machine.run()
    machine.end(first, -errno.EIO)
    machine.end(second)
    machine.end(next(sent for sent in reads(machine, SSD) if sent[:4] == first[:4]), -errno.EIO)
    assert (machine.machine.mode, machine.stats.destaged) == (DRAINING, 0)
    end_all(machine)
    assert (machine.machine.mode, machine.stats.destaged, machine.machine.dirty) == (FAILED, 1, 1)


def test_a_read_that_fails_once_is_tried_again() -> None:
    machine = destaging()
    first, _ = reads(machine, SSD)
    machine.end(first, -errno.EIO)
    assert first[:4] in [sent[:4] for sent in reads(machine, SSD)]
    end_all(machine)
    assert (machine.machine.mode, machine.stats.destaged) == (NORMAL, 2)
    assert not reads(machine, MIRROR)


def test_a_batch_is_given_up_when_the_log_cannot_be_flushed() -> None:
    """Its blocks are drained with all others."""
    machine = awaiting_flush()
    ssd, mirror = machine.sent
    machine.end(mirror, -errno.EIO)
    machine.end(ssd)
    assert machine.machine.mode == DRAINING
    end_all(machine)
    assert machine.machine.mode == NORMAL
    assert machine.stats.destaged == 2
    assert machine.machine.dirty == 0


def test_the_log_is_flushed_once_for_a_batch() -> None:
    machine = Machine()
    for block in range(60):
        machine.write(block)
    machine.lib.spek_augment_destage_all(machine.machine, 0)
    machine.run()
    assert machine.stats.destaged == 60
    assert machine.stats.flushes == 1
    assert machine.machine.tail == machine.machine.head


def test_destage_ends_with_the_batch_that_meets_the_low_limit() -> None:
    """The tail moves only with a later flush, and until then the log looks as full as before."""
    high, low, batch = 128, 64, 16
    machine = Machine(high_blocks=high, low_blocks=low)
    # Each write takes a header and a block.
    writes = high // 2
    for block in range(writes):
        machine.write(10 * block)
    assert machine.stats.destaged == writes - low // 2 == 2 * batch
    log = machine.machine
    assert (log.head - log.tail) % LOG == low
    machine.write(1000)
    assert machine.stats.destaged == 2 * batch, "below the high limit nothing is destaged"


def test_a_log_full_of_blocks_that_were_written_again_destages_none() -> None:
    """The tail passes them."""
    machine = Machine(high_blocks=128, low_blocks=64)
    for _ in range(300):
        machine.write(70)
    assert machine.stats.destaged == 0
    assert machine.machine.dirty == 1


def test_a_limit_met_while_reads_go_first_is_met() -> None:
    """Otherwise the next writes would be destaged from the low limit on."""
    machine = Machine(high_blocks=32, low_blocks=4)
    for block in range(15):
        machine.write(10 * block)
    machine.sent.clear()
    machine.by_hand = True
    machine.write(900)
    while not any(sent[:2] == (FLUSH, RAID) for sent in machine.sent):
        machine.end(machine.sent[0])
    machine.read(5000)
    (read,) = reads(machine, RAID)
    while machine.sent != [read]:
        machine.end(next(sent for sent in machine.sent if sent != read))
    destaged = machine.stats.destaged
    assert destaged == 15 and machine.machine.head - machine.machine.tail == 2
    machine.end(read)
    end_all(machine)
    for block in range(3):
        machine.write(3000 + 10 * block)
        end_all(machine)
    assert machine.stats.destaged == destaged


def test_the_age_of_a_single_block_counts() -> None:
    machine = Machine(age_ns=1000)
    machine.sent.clear()
    machine.by_hand = True
    machine.write(70)
    assert machine.machine.dirty == 0
    end_all(machine)
    assert machine.machine.dirty == 1
    machine.now_ns = 1000
    assert machine.lib.spek_augment_next_ns(machine.machine) == 1000
    machine.lib.spek_augment_tick(machine.machine, machine.now_ns)
    machine.run()
    end_all(machine)
    assert machine.machine.dirty == 0


def test_what_may_be_where_nobody_could_read() -> None:
    machine = Machine()
    scan = machine.ffi.new("struct spek_augment_scan *")
    scan.super.devices = 0b11111
    unknown = machine.lib.spek_augment_is_unknown
    for present, unread, expected in (
        (0b11111, 0b00000, False),
        (0b11111, 0b00001, False),  # all members tell
        (0b11111, 0b11110, False),  # the SSD tells
        (0b11111, 0b00011, True),
        (0b11110, 0b00000, False),
        (0b11110, 0b00100, True),
        (0b11101, 0b00001, True),
        (0b11101, 0b00100, False),
    ):
        scan.present = present
        assert unknown(scan, unread) is expected, (present, unread)
    # A device that was lost before has nothing of this generation.
    scan.super.devices, scan.present = 0b11101, 0b11101
    assert unknown(scan, 0b00001) is False


def test_a_quiet_raid_is_written_once_for_each_time_that_it_was_read_or_woke() -> None:
    """Steady writes would keep members awake that have nothing else to do."""
    quiet_ns = 5000
    machine = Machine(quiet_ns=quiet_ns)

    def is_destaged() -> bool:
        is_written = any(sent[:2] == (WRITE, RAID) for sent in machine.sent)
        machine.sent.clear()
        return is_written

    def destaged_after_a_write() -> bool:
        machine.write(70)
        machine.now_ns += quiet_ns
        machine.lib.spek_augment_tick(machine.machine, machine.now_ns)
        machine.run()
        return is_destaged()

    assert destaged_after_a_write(), "the first time"
    assert not destaged_after_a_write()
    assert machine.lib.spek_augment_next_ns(machine.machine) == NEVER
    machine.read(200)
    assert destaged_after_a_write(), "what missed was read"
    assert not destaged_after_a_write()
    machine.tell(False, 2)
    assert not destaged_after_a_write()
    machine.tell(True, 2)
    assert is_destaged(), "a member woke"
    assert not destaged_after_a_write()


UP_NS = 10**12
QUIET_NS = 5000


class Created(Machine):
    """A machine with an empty log, on a host that has been up for long."""

    started_ns = UP_NS


class Attached(Created):
    """A machine with a log of two records."""

    adopted = (70, 71)


@pytest.mark.parametrize("kind", [Created, Attached])
def test_a_raid_is_not_quiet_before_it_was_watched(kind: type[Machine]) -> None:
    """However long the host is up, reads before the end of recovery are not known."""
    machine = kind(quiet_ns=QUIET_NS)
    if machine.by_hand:
        machine.now_ns += 700  # recovery takes its time
        end_all(machine)
        machine.by_hand = False
    assert machine.machine.mode == NORMAL
    quiet_at_ns = machine.now_ns + QUIET_NS
    machine.write(80)
    dirty = machine.machine.dirty
    assert dirty == len(kind.adopted) + 1
    assert machine.lib.spek_augment_next_ns(machine.machine) == quiet_at_ns
    for now_ns, left in ((quiet_at_ns - 1, dirty), (quiet_at_ns, 0)):
        machine.now_ns = now_ns
        machine.lib.spek_augment_tick(machine.machine, now_ns)
        machine.run()
        assert machine.machine.dirty == left
