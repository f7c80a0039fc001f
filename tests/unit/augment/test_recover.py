# SPDX-License-Identifier: GPL-2.0
"""Recovery: what is done before a log of an earlier life is served from, and what is not."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import Any

import pytest
from lib.core.augment_machine import FLUSH, MEMBERS, RAID, READ, SSD, WRITE, Machine

NORMAL, PASSING, FAILED = 1, 3, 4
LOG_START = 2
DEVICES = range(1 + MEMBERS)
# An announcement and a superblock that counts.
SUPERBLOCKS = 2 * len(DEVICES)


class TakenOver(Machine):
    """A machine with a log of two records."""

    adopted: Sequence[int] = (70, 71)


class OnSsd(TakenOver):
    holders = 1 << SSD


class OnMember(TakenOver):
    holders = 1 << 3


class Wide(OnSsd):
    """A log of one record of 32 blocks."""

    adopted = (70,)
    length = 32


class Twice(OnSsd):
    """A log of two records of one block."""

    adopted = (70, 70)


class Long(TakenOver):
    adopted = tuple(range(60))


class Crowded(OnSsd):
    """The superblocks have no room for another generation."""

    def superblocks(self, config: Any) -> tuple[Any, Any]:
        supers, present = super().superblocks(config)
        for device in DEVICES:
            own = supers[2 * device]
            own.generation = own.announced = own.nr_spans = 16
            for index in range(16):
                own.spans[index].generation = 1 + index
                own.spans[index].first_seq = 1 if index < 15 else 2
        return supers, present


class CutShort(TakenOver):
    """The log ends before what superblocks say of it."""

    def superblocks(self, config: Any) -> tuple[Any, Any]:
        supers, present = super().superblocks(config)
        for device in DEVICES:
            own = supers[2 * device]
            own.generation = own.announced = own.nr_spans = 3
            own.spans[1].generation, own.spans[1].first_seq = 2, 50
            own.spans[2].generation, own.spans[2].first_seq = 3, 100
        return supers, present


def end_all(machine: Machine, error_of: int | None = None) -> list[Any]:
    """End all I/O, what @error_of has to do with an error; what was issued, in order."""
    issued = []
    while machine.sent:
        sent = machine.sent[0]
        issued.append(sent)
        machine.end(sent, -errno.EIO if sent[1] == error_of else 0)
    return issued


def test_a_log_is_flushed_before_it_is_served_from() -> None:
    """After a crash of the kernel, which is no power cut, it may be in the devices' caches only."""
    machine = TakenOver()
    assert [sent[:2] for sent in machine.sent] == [(FLUSH, device) for device in DEVICES]
    machine.read(70)
    for sent in machine.sent[:]:
        assert all(op == FLUSH for op, *_ in machine.sent)
        machine.end(sent)
    end_all(machine)
    assert (machine.machine.mode, machine.stats.hits) == (NORMAL, 1)


def test_a_generation_is_announced_to_all_devices_before_it_begins() -> None:
    """Each superblock takes the place of the older one."""
    machine = TakenOver()
    seen, generation = machine.machine.super_seen, machine.machine.super.generation
    for sent in machine.sent[:]:
        machine.end(sent)
    for counts, announced in ((generation, generation + 1), (generation + 1, generation + 1)):
        superblocks = machine.sent[:]
        assert [(sent[0], sent[1], sent[2]) for sent in superblocks] == [
            (WRITE, device, seen >> device & 1) for device in DEVICES
        ]
        for sent in superblocks:
            written = machine.machine.super
            assert (written.generation, written.announced) == (counts, announced)
            machine.end(sent)
        seen ^= (1 << len(DEVICES)) - 1
    assert (machine.machine.mode, machine.machine.super_seen) == (NORMAL, seen)


def test_an_announced_generation_is_known_but_does_not_count() -> None:
    """Member 1 has seen two generations announced, was missing when the others lived on, and is
    back."""
    machine = Machine()
    ffi, lib, config = machine.ffi, machine.lib, machine.ffi.addressof(machine.machine, "config")
    supers = ffi.new("struct spek_augment_super[]", 2 * 9)
    there = ffi.new("u32[]", 9)
    back = 2
    for device in DEVICES:
        older, newer = supers[2 * device], supers[2 * device + 1]
        for each in (older, newer):
            lib.spek_augment_format(config, device, ffi.addressof(each))
        newer.generation, newer.version, newer.announced = (
            (1, 9, 3) if device == back else (2, 5, 2)
        )
        newer.devices = older.devices if device == back else older.devices & ~(1 << back)
        there[device] = 3
    scan = ffi.new("struct spek_augment_scan *")
    refusal = ffi.new("struct spek_refusal *")
    assert lib.spek_augment_choose(config, supers, there, scan, refusal) == 0
    assert (scan.super.generation, scan.super.version, scan.stale) == (2, 5, 1 << back)
    # What comes next is newer than all that any device knows of.
    assert (scan.generation, scan.version) == (3, 9)
    assert scan.seen == 0


@pytest.mark.parametrize("kind", [TakenOver, Long])
def test_what_is_dirty_stays_dirty(kind: type[TakenOver]) -> None:
    """However much it is, recovery flushes, and writes superblocks."""
    machine = kind()
    issued = end_all(machine)
    assert len(issued) == len(DEVICES) + SUPERBLOCKS
    assert RAID not in {device for _, device, *_ in issued}
    assert (machine.machine.mode, machine.machine.dirty) == (NORMAL, len(kind.adopted))
    machine.lib.spek_augment_destage_all(machine.machine, 0)
    machine.run()
    end_all(machine)
    assert (machine.stats.destaged, machine.machine.dirty) == (len(kind.adopted), 0)


@pytest.mark.parametrize(("kind", "source", "lacks"), [(OnSsd, SSD, 1), (OnMember, 3, SSD)])
def test_a_record_on_one_device_gets_its_copy_first(
    kind: type[TakenOver], source: int, lacks: int
) -> None:
    machine = kind()
    read = [(READ, source, LOG_START + place, 2) for place in (0, 2)]
    assert [sent[:4] for sent in machine.sent] == read
    for sent in machine.sent[:]:
        machine.end(sent)
    assert [sent[:4] for sent in machine.sent] == [
        (WRITE, lacks, LOG_START + place, 2) for place in (0, 2)
    ]
    for sent in machine.sent[:]:
        machine.end(sent)
    assert {sent[0] for sent in machine.sent} == {FLUSH}
    end_all(machine)
    assert (machine.machine.mode, machine.machine.dirty) == (NORMAL, 2)
    # Now either is enough.
    machine.lib.spek_augment_lose(machine.machine, 0, source)
    machine.run()
    end_all(machine)
    assert (machine.stats.destaged, machine.machine.dirty) == (2, 0)


CRC = [1000 + index for index in range(Wide.length)]
# Place in the log and length.
PARTS = [(0, 16), (16, 15), (31, 2)]


def header_of(machine: Machine, **changes: Any) -> bytearray:
    """The header of the record of Wide."""
    fields = {
        "uuid": bytes(range(1, 17)), "generation": 1, "seq": 1, "block": 70,
        "blocks": Wide.length, "crc": CRC,
    } | changes  # fmt: skip
    block = bytearray(4096)
    header = machine.ffi.new("struct spek_augment_header *", fields)
    machine.lib.spek_augment_header_encode(header, machine.ffi.from_buffer("u8[]", block))
    return block


DAMAGED, HEADLESS = -errno.EBADMSG, -errno.EUCLEAN


def check_copy(machine: Machine, tag: int, header: bytearray, crc: Sequence[int]) -> int:
    ffi = machine.ffi
    block = ffi.from_buffer("u8[]", header)
    return int(machine.lib.spek_augment_check_copy(machine.machine, tag, block, list(crc)))


def copying() -> tuple[Wide, list[Any]]:
    """A machine that has read a record for its copy, and the writes of that."""
    machine = Wide()
    reads = [sent[2:4] for sent in machine.sent]
    first, *others = ((LOG_START + place, blocks) for place, blocks in PARTS)
    assert reads == [first, *(each for part in others for each in ((LOG_START, 1), part))]
    for sent in machine.sent[:]:
        machine.end(sent)
    writes = machine.sent[:]
    assert [sent[:4] for sent in writes] == [
        (WRITE, 1, LOG_START + place, blocks) for place, blocks in PARTS
    ]
    return machine, writes


def test_a_copy_has_the_checksums_of_its_record() -> None:
    machine, writes = copying()
    for (place, _, *_), sent in zip(PARTS, writes, strict=True):
        tag = sent[-1]
        assert machine.machine.slots[tag].io.is_copy
        # Of the header itself, in the first block of the first part, it is not used.
        crc = [7, *CRC][place : place + sent[3]]
        assert check_copy(machine, tag, header_of(machine), crc) == 0
        for index in range(place == 0, sent[3]):
            wrong = [each ^ (at == index) for at, each in enumerate(crc)]
            assert check_copy(machine, tag, header_of(machine), wrong) == DAMAGED, (place, index)
        for changes in (
            {"uuid": bytes(16)}, {"generation": 2}, {"seq": 2}, {"seq": 0}, {"block": 71},
            {"blocks": 31, "crc": CRC[:31]},
        ):  # fmt: skip
            assert check_copy(machine, tag, header_of(machine, **changes), crc) == DAMAGED, changes
        torn = header_of(machine)
        torn[40] ^= 1
        assert check_copy(machine, tag, torn, crc) == HEADLESS


def test_a_copy_is_of_the_record_at_its_place() -> None:
    """A read of another place returns an intact record, with older data of the same block."""
    machine = Twice()
    for sent in machine.sent[:]:
        machine.end(sent)
    for number, sent in enumerate(machine.sent, start=1):
        for seq in (1, 2):
            header = header_of(machine, seq=seq, blocks=1, crc=CRC[:1])
            assert (check_copy(machine, sent[-1], header, [7, CRC[0]]) == 0) == (seq == number)


def end_copies(machine: Machine, wrong: set[int], error: int = DAMAGED) -> list[Any]:
    """End all I/O; copies of these blocks of the log are of something else."""
    issued = []
    while machine.sent:
        sent = op, device, block, blocks, _ = machine.sent[0]
        is_wrong = op == WRITE and device == 1 and wrong & set(range(block, block + blocks))
        issued.append(sent)
        machine.end(sent, error if is_wrong else 0)
    return issued


@pytest.mark.parametrize("part", range(len(PARTS)))
def test_what_was_read_wrongly_is_read_again_block_by_block(part: int) -> None:
    machine, writes = copying()
    for number, sent in enumerate(writes):
        machine.end(sent, -errno.EBADMSG if number == part else 0)
    place, blocks = PARTS[part]
    copied = [sent[2:4] for sent in end_copies(machine, set()) if sent[:2] == (WRITE, 1)]
    assert copied[:blocks] == [(LOG_START + place + i, 1) for i in range(blocks)]
    assert (machine.machine.mode, machine.machine.dirty) == (NORMAL, Wide.length)


@pytest.mark.parametrize("place", [1, 15, 16, 31, 32])
def test_what_is_on_one_device_and_is_read_wrongly_twice_is_lost(place: int) -> None:
    """It would be served from the copy, and destaged. The blocks beside it are not lost."""
    machine = Wide()
    end_copies(machine, {LOG_START + place})
    assert (machine.machine.mode, machine.machine.dirty) == (FAILED, 1)
    assert machine.stats.destaged == Wide.length - 1
    cursor = machine.ffi.new("u32 *")
    lost = machine.ffi.new("struct spek_augment_range *")
    assert machine.lib.spek_augment_next_lost(machine.machine, cursor, lost)
    assert (lost.block, lost.blocks) == (Wide.adopted[0] + place - 1, 1)
    # No device is to blame for good: the next restart may read it.
    assert machine.machine.live == (1 << len(DEVICES)) - 1


@pytest.mark.parametrize("place", [0, 1, 15, 16, 31, 32])
def test_of_a_record_whose_header_is_read_wrongly_twice_nothing_is_lost(place: int) -> None:
    """Its blocks were intact before, and are left to the drain as those under a header that cannot
    be read."""
    machine = Wide()
    issued = end_copies(machine, {LOG_START + place}, HEADLESS)
    assert (machine.machine.mode, machine.machine.dirty) == (NORMAL, 0)
    assert machine.stats.destaged == Wide.length
    assert machine.machine.mend.pending == 0
    assert [sent[:2] for sent in issued].count((WRITE, RAID)) >= 1


@pytest.mark.parametrize("part", range(len(PARTS)))
@pytest.mark.parametrize("error", [DAMAGED, HEADLESS])
def test_what_is_read_wrongly_once_is_copied(part: int, error: int) -> None:
    machine, writes = copying()
    for number, sent in enumerate(writes):
        machine.end(sent, error if number == part else 0)
    end_copies(machine, set())
    assert (machine.machine.mode, machine.machine.dirty) == (NORMAL, Wide.length)


def end_reads_of(machine: Machine, bad: tuple[int, int] | None) -> list[Any]:
    """End all I/O, reads of a block of a device with an error; what was issued."""
    issued = []
    while machine.sent:
        sent = op, device, block, blocks, _ = machine.sent[0]
        is_bad = bad and op == READ and device == bad[0] and block <= bad[1] < block + blocks
        issued.append(sent)
        machine.end(sent, -errno.EIO if is_bad else 0)
    return issued


def assert_drained(machine: Machine, part: int, bad: tuple[int, int] | None = None) -> None:
    """The log went to the RAID, and the part to no other place of the log."""
    place, blocks = PARTS[part]
    own = range(LOG_START + place, LOG_START + place + blocks)
    issued = end_reads_of(machine, bad)
    places = [sent[1:3] for sent in issued if sent[0] == WRITE]
    assert [each for each in places if each[0] != RAID and each[1] in own] == []
    state = machine.machine
    assert (state.mode, state.dirty, machine.stats.destaged) == (NORMAL, 0, Wide.length)
    assert state.mend.pending == 0
    assert (state.free_stages, sum(state.stage_uses)) == (len(state.stage_uses), 0)


def reads_of(machine: Machine, part: int, data_first: bool) -> list[Any]:
    """Of the header and of the blocks of a part that is not the first."""
    reads = machine.sent[2 * part - 1 : 2 * part + 1]
    return sorted(reads, key=lambda sent: (sent[2:4] == (LOG_START, 1)) == data_first)


@pytest.mark.parametrize("data_first", [False, True])
@pytest.mark.parametrize("part", [1, 2])
def test_a_part_whose_header_cannot_be_read_is_not_written(part: int, data_first: bool) -> None:
    machine = Wide()
    for sent in reads_of(machine, part, data_first):
        is_header = sent[2:4] == (LOG_START, 1)
        machine.end(sent, -errno.EIO if is_header else 0)
    assert_drained(machine, part, (SSD, LOG_START))


@pytest.mark.parametrize("lost", [1, 2])
@pytest.mark.parametrize("data_first", [False, True])
@pytest.mark.parametrize("part", [1, 2])
def test_a_part_is_not_written_after_a_loss_between_its_reads(
    part: int, data_first: bool, lost: int
) -> None:
    """Of the member that gets the copies, or of another one."""
    machine = Wide()
    first, second = reads_of(machine, part, data_first)
    machine.end(first)
    machine.lib.spek_augment_lose(machine.machine, 0, lost)
    machine.run()
    machine.end(second)
    assert_drained(machine, part)


@pytest.mark.parametrize(("lost", "mode"), [(2, NORMAL), (SSD, PASSING)])
def test_a_loss_in_recovery_drains_the_log(lost: int, mode: int) -> None:
    machine = TakenOver()
    end_all(machine, error_of=lost)
    assert (machine.machine.mode, machine.machine.dirty) == (mode, 0)
    assert not machine.machine.live & 1 << lost
    assert machine.machine.tail == machine.machine.head


def test_what_was_on_one_device_and_cannot_be_read_fails_the_machine() -> None:
    machine = OnSsd()
    end_all(machine, error_of=SSD)
    assert machine.machine.mode == FAILED


def test_each_life_has_a_generation() -> None:
    """The superblocks have where it begins, as long as the log has records of an earlier one."""
    machine = TakenOver()
    end_all(machine)
    state = machine.machine
    assert (state.generation, state.nr_spans, state.super.generation) == (2, 2, 2)
    spans = [(span.generation, span.first_seq) for span in list(state.super.spans)[:2]]
    assert spans == [(1, 1), (2, 3)]
    machine.write(72)
    end_all(machine)
    machine.lib.spek_augment_destage_all(state, 0)
    machine.run()
    end_all(machine)
    assert (state.super.nr_spans, state.super.spans[0].generation) == (1, 2)


def test_a_log_that_ends_before_the_newest_generation_is_short() -> None:
    """What came before was flushed: only damage takes it away."""
    short, whole = CutShort(), TakenOver()
    is_short = whole.lib.spek_augment_is_short
    assert is_short(short.machine) and not is_short(whole.machine)
    # Given up, it is as long as it is.
    end_all(short)
    assert not is_short(short.machine)


def test_generations_whose_records_were_not_found_are_forgotten() -> None:
    """Else those of the new generation would have numbers of an older one."""
    machine = CutShort()
    end_all(machine)
    written = machine.machine.super
    spans = [(span.generation, span.first_seq) for span in list(written.spans)[: written.nr_spans]]
    assert (machine.machine.mode, spans) == (NORMAL, [(1, 1), (4, 3)])


def test_a_log_that_has_to_be_drained_gets_its_copies_first() -> None:
    """A cut may tear a block on the RAID, and take a device."""
    machine = Crowded()
    issued = end_all(machine)
    to_raid = next(i for i, sent in enumerate(issued) if sent[:2] == (WRITE, RAID))
    log_writes = [sent[:3] for sent in issued[:to_raid] if sent[0] == WRITE]
    assert log_writes == [(WRITE, 1, LOG_START + place) for place in (0, 2)]
    assert (machine.machine.mode, machine.machine.dirty, machine.machine.nr_spans) == (NORMAL, 0, 1)


class InParts(Wide):
    """Of the record, no device has all: the SSD the first blocks, a member the others, and nobody
    those in @lost."""

    lost: tuple[int, ...] = ()

    def adopt(self, header: Any) -> None:
        blocks = [1 << SSD if index < 20 else 1 << 3 for index in range(self.length)]
        for index in self.lost:
            blocks[index] = 0
        self.lib.spek_augment_adopt_parts(self.machine, header, 1 << SSD | 1 << 3, blocks)


class InPartsButOne(InParts):
    lost = (5,)


def test_a_record_of_which_no_device_has_all_is_drained_of_each() -> None:
    machine = InParts()
    issued = end_all(machine)
    read = {(device, block - LOG_START - 1) for op, device, block, *_ in issued if op == READ}
    assert read == {(SSD if index < 20 else 3, index) for index in range(Wide.length)}
    assert (machine.machine.mode, machine.machine.dirty) == (NORMAL, 0)
    assert machine.stats.destaged == Wide.length


def test_a_block_that_no_device_has_is_lost() -> None:
    machine = InPartsButOne()
    end_all(machine)
    assert (machine.machine.mode, machine.machine.dirty) == (FAILED, 1)
    assert machine.stats.destaged == Wide.length - 1
    cursor = machine.ffi.new("u32 *")
    lost = machine.ffi.new("struct spek_augment_range *")
    assert machine.lib.spek_augment_next_lost(machine.machine, cursor, lost)
    assert (lost.block, lost.blocks) == (Wide.adopted[0] + 5, 1)
