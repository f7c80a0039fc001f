# SPDX-License-Identifier: GPL-2.0
"""Reads of the log that fail: each one once, and each block of a device for ever.

A read that fails once changes nothing. A block that stays unreadable is read from the other device;
if none has it, that block alone is lost, which is told, and all others are served.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

import pytest
from lib.core.augment_machine import FLUSH, LOG, MEMBERS, RAID, READ, SSD, WRITE, Machine
from lib.core.augment_reading import (
    FAILED,
    FIRST,
    LOG_START,
    MIRROR,
    NORMAL,
    PASSING,
    RETRY_NS,
    FailsAt,
    Read,
    Reading,
)

ALL = (2 << MEMBERS) - 1


class OnSsd(Reading):
    """Its copy is made again."""

    holders = 1 << SSD


class OnMember(Reading):
    holders = 1 << MIRROR


class WithoutSsd(Reading):
    """It is drained."""

    holders = ALL & ~1
    missing = 1 << SSD


class OnBoth(Reading):
    """It is destaged, after recovery has left it as it is."""

    def __init__(self, fails: FailsAt, **policy: Any) -> None:
        super().__init__(fails, **policy)
        self.destage()

    def destage(self) -> None:
        self.lib.spek_augment_destage_all(self.machine, self.now_ns)
        self.run()
        self.end_all()


class LosesSsd(OnBoth):
    """The SSD is lost after recovery."""

    def destage(self) -> None:
        self.lib.spek_augment_lose(self.machine, self.now_ns, SSD)
        self.run()
        self.end_all()


def never(read: Read, number: int) -> bool:
    return False


def once(failing: int) -> FailsAt:
    """The read of this number."""
    return lambda read, number: number == failing


def at(place: tuple[int, int]) -> FailsAt:
    """A block of a device that cannot be read, in whatever I/O."""
    device, block = place
    return lambda read, number: read[0] == device and read[1] <= block < read[1] + read[2]


def outcome(machine: Reading) -> tuple[int, ...]:
    state = machine.machine
    assert state.mend.pending == 0
    assert state.free_stages == len(state.stage_uses)
    assert state.nr_free_ios == len(state.slots)
    return state.mode, state.dirty, state.live, len(machine.destaged)


LOGS = (OnSsd, OnMember, WithoutSsd, OnBoth, LosesSsd)


@pytest.mark.parametrize("log", LOGS)
def test_a_read_that_fails_once_changes_nothing(log: type[Reading]) -> None:
    expected = log(never)
    assert outcome(expected)[0] in (NORMAL, PASSING)
    reads = expected.reads
    assert len(reads) >= 3
    for failing in range(len(reads)):
        machine = log(once(failing))
        assert machine.stats.errors == 1
        assert outcome(machine) == outcome(expected), reads[failing]
        assert machine.lost() == []


def places(reads: list[Read]) -> list[tuple[int, int]]:
    return sorted({(device, block + i) for device, block, n in reads for i in range(n)})


@pytest.mark.parametrize("log", LOGS)
def test_a_block_that_is_never_read_is_the_only_one_that_is_lost(log: type[Reading]) -> None:
    seen = places(log(never).reads)
    assert len(seen) >= log.length
    for device, place in seen:
        machine = log(at((device, place)))
        block = FIRST + place - LOG_START - 1
        if place == LOG_START or log is OnBoth:
            # Of a header nothing is lost; what is on both devices the other one has.
            assert machine.mode in (NORMAL, PASSING) and machine.lost() == []
            assert machine.destaged == set(range(FIRST, FIRST + log.length))
            continue
        assert (machine.mode, machine.lost()) == (FAILED, [block])
        assert machine.lib.spek_augment_lost(machine.machine) == 1
        assert machine.destaged == set(range(FIRST, FIRST + log.length)) - {block}
        assert [machine.ask(READ, each) for each in range(FIRST, FIRST + log.length)] == [
            -errno.EIO if each == block else 0 for each in range(FIRST, FIRST + log.length)
        ]
        assert machine.ask(WRITE, 5) == machine.ask(FLUSH, 0, 0) == -errno.EIO
        assert machine.lib.spek_augment_next_ns(machine.machine) == 2**64 - 1
        assert outcome(machine)[:2] == (FAILED, 1)


def forgotten(log: type[Reading]) -> Reading:
    machine = log(at((MIRROR if log is OnMember else SSD, LOG_START + 3)))
    assert machine.lost() == [FIRST + 2]
    generation = machine.machine.generation
    assert machine.lib.spek_augment_forget(machine.machine) == 0
    machine.lib.spek_augment_tick(machine.machine, machine.now_ns)
    machine.run()
    machine.end_all()
    assert machine.machine.generation > generation
    assert machine.machine.tail == machine.machine.head
    return machine


@pytest.mark.parametrize("log", [OnSsd, OnMember])
def test_after_lost_blocks_are_given_up_all_is_served(log: type[Reading]) -> None:
    machine = forgotten(log)
    assert (machine.mode, machine.machine.dirty, machine.lost()) == (NORMAL, 0, [])
    before = machine.stats.misses
    # What the RAID has counts again.
    assert machine.ask(READ, FIRST + 2) == 0
    assert machine.stats.misses == before + 1
    assert machine.ask(WRITE, FIRST + 2) == machine.ask(FLUSH, 0, 0) == 0
    assert machine.machine.dirty == 1


def test_only_what_is_lost_can_be_given_up() -> None:
    machine = OnBoth(never)
    assert machine.lib.spek_augment_forget(machine.machine) == -errno.EINVAL
    assert machine.mode == NORMAL
    without = OnSsd(at((SSD, LOG_START + 3)))
    for device in range(1 + MEMBERS):
        without.lib.spek_augment_lose(without.machine, 0, device)
    # No device could tell at the next restart that the log does not count.
    assert without.lib.spek_augment_forget(without.machine) == -errno.EINVAL
    assert without.lost() == [FIRST + 2]


def test_of_a_long_log_a_part_is_looked_at_in_a_call() -> None:
    """The caller has other things to do, and a log may have 2^30 blocks."""
    log_blocks, part = 200_000, 65_536

    machine = OnSsd(at((SSD, LOG_START + 3)), log_blocks=log_blocks, ssd_blocks=log_blocks + 10)
    cursor = machine.ffi.new("u32 *")
    lost = machine.ffi.new("struct spek_augment_range *")
    next_lost = machine.lib.spek_augment_next_lost
    assert next_lost(machine.machine, cursor, lost)
    assert (lost.block, lost.blocks) == (FIRST + 2, 1)
    looked = [cursor[0]]
    while cursor[0] < log_blocks:
        assert not next_lost(machine.machine, cursor, lost)
        looked.append(cursor[0])
    assert looked == [part, 2 * part, 3 * part, log_blocks]
    # Giving up takes as many calls, at once.
    assert machine.lib.spek_augment_forget(machine.machine) == 0
    for _ in range(3):
        assert machine.lib.spek_augment_next_ns(machine.machine) == machine.now_ns
        assert machine.mode == FAILED
        machine.lib.spek_augment_tick(machine.machine, machine.now_ns)
    machine.lib.spek_augment_tick(machine.machine, machine.now_ns)
    machine.run()
    machine.end_all()
    assert machine.mode == NORMAL


def test_what_lies_between_lost_blocks_is_looked_at_once() -> None:
    """However few they are, and however far apart."""
    places = [3, 4, 9, 17]

    def fails(read: Read, number: int) -> bool:
        return any(at((SSD, LOG_START + place))(read, number) for place in places)

    machine = OnSsd(fails)
    cursor = machine.ffi.new("u32 *")
    lost = machine.ffi.new("struct spek_augment_range *")
    told = []
    while machine.lib.spek_augment_next_lost(machine.machine, cursor, lost):
        told.append((lost.block - FIRST, lost.blocks, cursor[0]))
    # Each begins where the one before it has ended.
    assert told == [(2, 2, 9), (8, 1, 17), (16, 1, LOG)]


class Written(Machine):
    """A machine that is up, with blocks in its log."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        super().__init__()
        for block in range(4):
            self.write(FIRST + block)
        self.by_hand = True
        self.sent.clear()

    def run(self) -> None:
        io = self.ffi.new("struct spek_augment_io *")
        answer = self.ffi.new("struct spek_augment_answer *")
        while self.lib.spek_augment_next_io(self.machine, io):
            self.sent.append((io.op, io.device, io.block, io.blocks, io.tag))
            if not self.by_hand:
                self.lib.spek_augment_complete(self.machine, self.now_ns, io.tag, 0)
        while self.lib.spek_augment_next_answer(self.machine, answer):
            self.answers.append(answer.error)


def test_a_read_of_many_blocks_that_fails_tells_of_none() -> None:
    """They are read one by one, and only the one that fails from the mirror."""

    class Record(Written):
        def write(self, block: int) -> None:
            if block == FIRST:
                self.bio(WRITE, FIRST, 4)

    machine = Record()
    machine.answers.clear()
    machine.read(FIRST, 4)
    (sent,) = machine.sent
    assert sent[:4] == (READ, SSD, LOG_START + 1, 4)
    machine.end(sent, -errno.EIO)
    singles = machine.sent[:]
    assert [sent[:4] for sent in singles] == [(READ, SSD, LOG_START + 1 + i, 1) for i in range(4)]
    for number, sent in enumerate(singles):
        machine.end(sent, -errno.EIO if number == 2 else 0)
    (sent,) = machine.sent
    assert sent[:4] == (READ, 1, LOG_START + 3, 1)
    machine.end(sent)
    assert machine.answers == [0]


def test_the_last_copy_is_not_given_up_for_a_read() -> None:
    """It is an error of that read; the next one, and destage, ask the device again."""
    machine = Written()
    machine.answers.clear()
    machine.read(FIRST)
    for device, error in ((SSD, -errno.EIO), (1, -errno.EIO)):
        (sent,) = machine.sent
        assert sent[:2] == (READ, device)
        machine.end(sent, error)
    assert machine.answers == [-errno.EIO]
    machine.read(FIRST)
    (sent,) = machine.sent
    assert sent[:2] == (READ, SSD)
    machine.end(sent)
    assert machine.answers == [-errno.EIO, 0]
    machine.lib.spek_augment_destage_all(machine.machine, 0)
    machine.run()
    while machine.sent:
        machine.end(machine.sent[0])
    assert (machine.machine.mode, machine.machine.dirty) == (NORMAL, 0)


def fail_own_hit(machine: Written) -> None:
    hit = machine.ffi.new("struct spek_augment_hit *")
    assert machine.lib.spek_augment_begin_hit(machine.machine, FIRST, 1, hit)
    machine.lib.spek_augment_end_hit(machine.machine, hit, -errno.EIO)


def fail_hit(machine: Written) -> None:
    machine.read(FIRST)
    (sent,) = machine.sent
    assert sent[:2] == (READ, SSD)
    machine.end(sent, -errno.EIO)
    (sent,) = machine.sent
    assert sent[:2] == (READ, 1)
    machine.end(sent)


@pytest.mark.parametrize("fail", [fail_hit, fail_own_hit])
def test_a_read_that_fails_leaves_a_dirty_block_both_copies(
    fail: Callable[[Written], None],
) -> None:
    """The other copy may be lost before the block is destaged."""
    machine = Written()
    machine.answers.clear()
    fail(machine)
    assert machine.answers == [0] * (fail is fail_hit)
    machine.lib.spek_augment_lose(machine.machine, 0, 1)
    machine.run()
    while machine.sent:
        machine.end(machine.sent[0], -errno.ENODEV if machine.sent[0][1] == 1 else 0)
    assert (machine.machine.mode, machine.machine.dirty) == (NORMAL, 0)
    assert machine.stats.destaged == 4


def test_a_clean_block_that_cannot_be_read_is_read_from_elsewhere_from_then_on() -> None:
    machine = Written()
    machine.lib.spek_augment_destage_all(machine.machine, 0)
    machine.run()
    while machine.sent:
        machine.end(machine.sent[0])
    assert machine.machine.dirty == 0
    fail_hit(machine)
    machine.read(FIRST)
    assert [sent[:2] for sent in machine.sent] == [(READ, 1)]


def test_destage_keeps_the_copies_of_a_block_that_it_cannot_write() -> None:
    """The SSD fails twice, the mirror is read, the RAID fails; then the mirror is lost."""
    machine = Written()
    machine.lib.spek_augment_destage_all(machine.machine, 0)
    machine.run()
    place = (SSD, LOG_START + 1)
    reads = []
    while machine.sent:
        sent = machine.sent[0]
        is_bad = sent[0] == READ and sent[1:3] == place
        reads += [sent[1]] * (sent[0] == READ and sent[2] == place[1])
        is_bad |= sent[:2] == (WRITE, RAID)
        machine.end(sent, -errno.EIO if is_bad else 0)
    assert reads == [SSD, SSD, 1]
    assert (machine.machine.mode, machine.machine.dirty) == (NORMAL, 4)
    machine.lib.spek_augment_lose(machine.machine, 0, 1)
    machine.now_ns += RETRY_NS
    machine.lib.spek_augment_tick(machine.machine, machine.now_ns)
    machine.run()
    while machine.sent:
        machine.end(machine.sent[0])
    assert (machine.machine.mode, machine.machine.dirty, machine.stats.destaged) == (NORMAL, 0, 4)


def test_a_read_needs_no_further_io_to_be_repeated() -> None:
    """There may be none left."""
    machine = Written()
    free = machine.machine.nr_free_ios
    machine.read(FIRST)
    (sent,) = machine.sent
    machine.end(sent, -errno.EIO)
    (again,) = machine.sent
    assert (again[-1], machine.machine.nr_free_ios) == (sent[-1], free - 1)
    machine.end(again, -errno.EIO)
    assert machine.machine.nr_free_ios == free
    assert all(entry.member < 16 for entry in machine.machine.entries[0:LOG])


def test_a_hit_of_the_callers_own_that_fails_is_submitted_again() -> None:
    machine = Written()
    hit = machine.ffi.new("struct spek_augment_hit *")
    assert machine.lib.spek_augment_begin_hit(machine.machine, FIRST, 1, hit)
    machine.lib.spek_augment_lose(machine.machine, 0, 1)
    machine.lib.spek_augment_end_hit(machine.machine, hit, -errno.EIO)
    # The mirror is lost: the SSD is asked again.
    machine.read(FIRST)
    assert (READ, SSD) in [sent[:2] for sent in machine.sent]


def test_what_a_device_cannot_read_is_no_hit() -> None:
    """Else reads of a failing SSD would count twice, and half of them as hits."""
    machine = Machine()
    machine.read(50)
    assert (machine.stats.hits, machine.stats.misses) == (0, 1)
    hit = machine.ffi.new("struct spek_augment_hit *")
    assert machine.lib.spek_augment_begin_hit(machine.machine, 50, 1, hit)
    machine.lib.spek_augment_end_hit(machine.machine, hit, 0)
    machine.by_hand = True
    machine.sent.clear()
    machine.read(50)
    assert machine.stats.hits == 2
    machine.end(machine.sent[0], -errno.EIO)
    assert [sent[:2] for sent in machine.sent] == [(READ, RAID)]
    assert (machine.stats.hits, machine.stats.misses) == (1, 2)


def test_what_a_caller_cannot_read_itself_is_no_hit() -> None:
    machine = Written()
    hit = machine.ffi.new("struct spek_augment_hit *")
    assert machine.lib.spek_augment_begin_hit(machine.machine, FIRST, 1, hit)
    assert machine.stats.hits == 1
    machine.lib.spek_augment_end_hit(machine.machine, hit, -errno.EIO)
    assert (machine.stats.hits, machine.stats.errors) == (0, 1)
