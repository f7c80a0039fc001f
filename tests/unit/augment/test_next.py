# SPDX-License-Identifier: GPL-2.0
"""Recovery of a record of which each device has lost a part: its blocks are taken from whichever
device has them, and from none without the checksum that a valid header has for them."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from lib.core.augment_machine import READ, SSD
from lib.core.augment_reading import FIRST, LOG_START, MIRROR, NORMAL, PASSING, Read, Reading

BLOCKS = Reading.length
HEADER = LOG_START
DATA = range(LOG_START + 1, LOG_START + 1 + BLOCKS)
HOLDERS = (SSD, MIRROR)
# Of a member that has never mirrored the record.
STRANGER = 2
ALL = range(5)
# Device and place.
Place = tuple[int, int]


class Worn(Reading):
    """A log of one record, on the SSD and on a mirror, that the devices do not return whole.

    @unread: what cannot be read. @wrong: what is read without an error, and is something else.
    @later: what cannot be read after the record is taken over. @loses: device that is lost
    then."""

    def __init__(
        self,
        unread: set[Place],
        wrong: set[Place] | None = None,
        gives_up: bool = False,
        later: set[Place] | None = None,
        loses: int | None = None,
    ) -> None:
        self.unread, self.wrong, self.gives_up = unread, wrong or set(), gives_up
        self.later, self.loses = later or set(), loses
        self.adopts = False
        super().__init__(self.is_worn)

    def is_worn(self, read: Read, number: int) -> bool:
        device, first, blocks = read
        return any((device, first + i) in self.unread for i in range(blocks))

    def header_on(self, device: int, header: Any) -> Any:
        """What is at the place of the header; NULL: it cannot be read."""
        if (device, HEADER) in self.unread:
            return self.ffi.NULL
        block = self.ffi.new("u8[]", 4096)
        if device in HOLDERS:
            self.lib.spek_augment_header_encode(header, block)
        block[40] ^= (device, HEADER) in self.wrong
        return block

    def look_at_data(self, devices: int) -> None:
        for device, (i, place) in itertools.product(ALL, enumerate(DATA)):
            if not devices >> device & 1:
                continue
            is_right = device in HOLDERS and (device, place) not in self.wrong
            crc = self.ffi.new("u32 *", 1000 + i if is_right else 7)
            is_unread = (device, place) in self.unread
            self.lib.spek_augment_next_block(
                self.next, device, i, self.ffi.NULL if is_unread else crc
            )

    def adopt(self, header: Any) -> None:
        header.uuid, header.generation, header.seq = bytes(range(1, 17)), 1, 1
        header.crc = [1000 + i for i in range(BLOCKS)]
        self.next = self.ffi.new("struct spek_augment_next *")
        self.lib.spek_augment_next_begin(self.next)
        for device in ALL:
            block = self.header_on(device, header)
            self.lib.spek_augment_next_header(self.machine, self.next, device, block)
        self.look_at_data(self.next.headers)
        self.look_at_data(self.lib.spek_augment_next_others(self.next, (1 << len(ALL)) - 1))
        self.adopts = bool(self.lib.spek_augment_next_adopt(self.machine, self.next, self.gives_up))
        self.unread = self.unread | self.later

    def end_all(self) -> None:
        if self.loses is not None:
            self.lib.spek_augment_lose(self.machine, self.now_ns, self.loses)
            self.run()
            self.loses = None
        super().end_all()

    def assert_all_is_there(self) -> None:
        assert self.mode == NORMAL
        if self.machine.dirty:
            self.lib.spek_augment_destage_all(self.machine, self.now_ns)
            self.run()
            self.end_all()
        self.assert_drained()

    def assert_drained(self) -> None:
        assert self.adopts
        assert self.mode in (NORMAL, PASSING)
        assert (self.machine.dirty, self.lost()) == (0, [])
        assert self.destaged == set(range(FIRST, FIRST + BLOCKS))


PAIRS = list(itertools.permutations(HOLDERS))


@pytest.mark.parametrize(("headless", "lacking"), PAIRS)
@pytest.mark.parametrize("is_wrong", [False, True])
def test_a_device_whose_header_is_damaged_has_the_block_that_the_other_one_lacks(
    headless: int, lacking: int, is_wrong: bool
) -> None:
    for place in DATA:
        header = {(headless, HEADER)}
        block = {(lacking, place)}
        # The block is known to have been there only if something cannot be read.
        machine = Worn(block, header) if is_wrong else Worn(header | block)
        machine.assert_all_is_there()


@pytest.mark.parametrize(("headless", "lacking"), PAIRS)
def test_a_block_that_is_wrong_is_taken_from_a_device_whose_header_cannot_be_read(
    headless: int, lacking: int
) -> None:
    machine = Worn({(headless, HEADER)}, {(lacking, DATA[5]), (lacking, DATA[-1])})
    machine.assert_all_is_there()
    for place in (DATA[5], DATA[-1]):
        assert (headless, place, 1) in machine.reads
        assert (lacking, place, 1) not in machine.reads


@pytest.mark.parametrize(("headless", "lacking"), PAIRS)
def test_a_block_without_its_checksum_is_taken_from_no_device(headless: int, lacking: int) -> None:
    place = DATA[5]
    worn = {(headless, HEADER), (lacking, place)}
    assert not Worn(worn, {(headless, place)}).adopts
    machine = Worn(worn, {(headless, place)}, gives_up=True)
    assert machine.adopts
    assert machine.lost() == [FIRST + 5]
    assert machine.ask(READ, FIRST + 5) != 0
    assert machine.destaged == set(range(FIRST, FIRST + BLOCKS)) - {FIRST + 5}
    # Of the two that had the record, both may have the block still: neither could be read.
    assert machine.next.unread == 1 << headless | 1 << lacking


def test_without_a_header_no_block_is_taken() -> None:
    for gives_up in (False, True):
        machine = Worn({(device, HEADER) for device in HOLDERS}, gives_up=gives_up)
        assert not machine.adopts
        assert machine.lib.spek_augment_next_others(machine.next, 31) == 0


def test_a_device_with_another_header_is_not_unread() -> None:
    """What it cannot read need not be of this record: it does not make it an unknown one."""
    machine = Worn({(STRANGER, DATA[3])}, {(device, DATA[5]) for device in HOLDERS})
    # As a cut leaves a write on its way.
    assert not machine.adopts
    assert machine.next.unread == 0


def test_a_whole_record_is_taken_as_it_is() -> None:
    machine = Worn(set())
    assert machine.lib.spek_augment_next_others(machine.next, 31) == 0
    assert machine.next.headers == 1 << SSD | 1 << MIRROR
    machine.assert_all_is_there()


@pytest.mark.parametrize(("lacking", "whole"), PAIRS)
@pytest.mark.parametrize("bad", [DATA[5], HEADER])
def test_blocks_of_a_record_that_is_not_whole_are_a_second_copy(
    lacking: int, whole: int, bad: int
) -> None:
    """A block of the device that has all cannot be read any more: the other one has it still."""
    for place in (DATA[4], DATA[-1]):
        machine = Worn({(lacking, bad)}, later={(whole, place)})
        assert (lacking, place, 1) in machine.reads
        machine.assert_all_is_there()


@pytest.mark.parametrize(("lacking", "whole"), PAIRS)
def test_a_device_with_all_of_a_record_that_is_lost_takes_what_no_other_one_has(
    lacking: int, whole: int
) -> None:
    bad = {(lacking, DATA[5]), (lacking, DATA[7])}
    machine = Worn(bad, loses=whole)
    assert machine.lost() == [FIRST + 5, FIRST + 7]
    assert machine.destaged == set(range(FIRST, FIRST + BLOCKS)) - {FIRST + 5, FIRST + 7}
    Worn({(lacking, HEADER)}, loses=whole).assert_drained()


@pytest.mark.parametrize(("lacking", "whole"), PAIRS)
def test_a_record_of_which_a_device_has_a_part_is_copied_from_one_that_has_all(
    lacking: int, whole: int
) -> None:
    machine = Worn({(lacking, HEADER)})
    assert machine.mode == NORMAL
    assert {read[0] for read in machine.reads} == {whole}
    # The copy can be read where it was written.
    machine.unread = set()
    machine.lib.spek_augment_lose(machine.machine, machine.now_ns, whole)
    machine.run()
    machine.end_all()
    machine.assert_drained()
