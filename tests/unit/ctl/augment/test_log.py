# SPDX-License-Identifier: GPL-2.0
"""The log as it is followed without the module; the core in C follows the same bytes."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lib.core.augment_images import BLOCK, FOREIGN, LOG_START, Images, core, data_of, encoded
from lib.ctl.augment import make_unreadable

from spekctl.augment import format, log, sets
from spekctl.augment.log import Log
from spekctl.augment.reader import Reader


@pytest.fixture
def images(tmp_path: Path) -> Images:
    return Images(tmp_path / "set")


@contextlib.contextmanager
def opened(images: Images) -> Iterator[dict[int, Reader]]:
    with contextlib.ExitStack() as stack:
        yield {
            number: stack.enter_context(Reader(images.path(number))) for number in images.numbers
        }


def followed(images: Images, data: bool = True) -> Log:
    with opened(images) as readers:
        parts = [sets.read(reader.path, reader) for reader in readers.values()]
        known = sets.gather([part for part in parts if part is not None])
        current = {number: readers[number] for number in known.current}
        return log.follow(known.newest, current, data)


def test_an_empty_log_ends_at_once(images: Images) -> None:
    assert followed(images) == Log(0, 0, 0, 0, (), None)


def test_records_follow_each_other(images: Images) -> None:
    images.record(100, 4)
    images.record(5, 1, on=(0, 2))
    images.record(102, 8)
    images.record(0, 0)
    whole = followed(images)
    assert (whole.records, whole.used, whole.single, whole.broken) == (4, 17, 0, None)
    assert whole.ranges == ((5, 6), (100, 110))
    assert (whole.blocks, whole.end) == (11, 110)


def test_every_member_may_be_the_mirror(images: Images) -> None:
    images.record(0, 2, on=(2,))
    images.record(2, 2, on=(0, 1, 2))
    assert (followed(images).records, followed(images).single) == (2, 1)


def test_the_log_goes_round(tmp_path: Path) -> None:
    """A record never wraps: an empty header fills what is too short."""
    images = Images(tmp_path / "set", tail=250, seq=77)
    images.record(0, 4)
    images.record(0, 0)
    assert images.head == 0
    images.record(9, 3)
    whole = followed(images)
    assert (whole.records, whole.used, whole.ranges) == (3, 10, ((0, 4), (9, 12)))


def test_the_log_cannot_be_longer_than_itself(images: Images) -> None:
    for number in range(7):
        images.record(32 * number, 32)
    images.record(0, 23)
    assert images.head == 255
    assert followed(images).records == 8
    images.record(0, 0)
    whole = followed(images)
    assert whole.records == 8
    assert whole.broken is not None
    assert "impossible length of 0 blocks" in whole.broken.reasons[0]


def test_a_copy_that_is_torn_leaves_the_other(images: Images) -> None:
    place = images.record(10, 3)
    images.damage(0, LOG_START + place + 2)
    images.record(20, 1)
    whole = followed(images)
    assert (whole.records, whole.single, whole.broken) == (2, 1, None)


def test_a_record_torn_everywhere_ends_the_log(images: Images) -> None:
    images.record(10, 1)
    place = images.record(20, 3)
    images.damage(0, LOG_START + place + 2)
    images.damage(1, LOG_START + place + 3)
    images.record(30, 1)
    whole = followed(images)
    assert whole.records == 1
    assert whole.broken is not None
    assert (whole.broken.seq, whole.broken.place) == (2, 2)
    assert whole.broken.reasons == (
        "block 1 of the data has another checksum on the SSD",
        "block 2 of the data has another checksum on member 0",
    )
    # Headers alone do not show it.
    assert followed(images, data=False).records == 3


def test_a_damaged_header_is_told(images: Images) -> None:
    place = images.record(10, 1)
    for number in (0, 1):
        images.damage(number, LOG_START + place, at=30)
    broken = followed(images).broken
    assert broken is not None
    assert broken.reasons == (
        "the header on the SSD is damaged",
        "the header on member 0 is damaged",
    )


@pytest.mark.parametrize("at", [0, 2])
def test_what_cannot_be_read_is_taken_from_another_device(
    images: Images, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    place = images.record(10, 3)
    images.record(20, 1)
    make_unreadable(monkeypatch, (images.path(0), LOG_START + place + at))
    whole = followed(images)
    assert (whole.records, whole.single, whole.broken, whole.unread) == (2, 1, None, ())


def test_what_can_be_read_nowhere_ends_the_log(
    images: Images, monkeypatch: pytest.MonkeyPatch
) -> None:
    images.record(10, 1)
    place = images.record(20, 3)
    first = LOG_START + place
    bad = ((0, first), (0, first + 2), (1, first + 2))
    make_unreadable(monkeypatch, *((images.path(number), block) for number, block in bad))
    whole = followed(images)
    assert (whole.records, whole.scattered, whole.unread) == (1, 0, (0, 1))
    assert whole.broken is not None
    assert whole.broken.reasons == (
        "the header cannot be read on the SSD",
        "a block of the data cannot be read on member 0",
    )
    assert records_in_c(images, bad) == ([(1, 10, 1)], (0, 1))


# Blocks of a record of 3 that cannot be read: of the SSD, of its mirror. 0 is the header.
SCATTERED = {
    "data on either": ((1,), (3,)),
    "data on the mirror only": ((1, 2, 3), (0,)),
    "data on the SSD only": ((0,), (1, 2, 3)),
    "a block on the device without the header": ((0, 1, 3), (2,)),
}


@pytest.mark.parametrize("worn", SCATTERED.values(), ids=SCATTERED)
def test_a_record_is_put_together_of_what_each_device_can_read(
    images: Images, monkeypatch: pytest.MonkeyPatch, worn: tuple[tuple[int, ...], ...]
) -> None:
    first = LOG_START + images.record(20, 3)
    images.record(30, 1)
    bad = [(number, first + block) for number, blocks in enumerate(worn) for block in blocks]
    make_unreadable(monkeypatch, *((images.path(number), block) for number, block in bad))
    whole = followed(images)
    assert (whole.records, whole.scattered, whole.single) == (2, 1, 0)
    assert (whole.ranges, whole.broken, whole.unread) == (((20, 23), (30, 31)), None, ())
    assert records_in_c(images, bad) == ([(1, 20, 3), (2, 30, 1)], ())


@pytest.mark.parametrize(("headless", "lacking"), [(0, 1), (1, 0)])
def test_a_device_whose_header_is_damaged_has_the_block_that_the_other_one_cannot_read(
    images: Images, monkeypatch: pytest.MonkeyPatch, headless: int, lacking: int
) -> None:
    first = LOG_START + images.record(20, 3)
    images.damage(headless, first, at=30)
    make_unreadable(monkeypatch, (images.path(lacking), first + 2))
    assert (followed(images).records, followed(images).scattered) == (1, 1)
    assert records_in_c(images, [(lacking, first + 2)])[0] == [(1, 20, 3)]
    # It counts only with its checksum.
    images.damage(headless, first + 2)
    whole = followed(images)
    assert (whole.records, whole.unread) == (0, (lacking,))
    assert records_in_c(images, [(lacking, first + 2)]) == ([], (lacking,))


def test_a_record_from_before_the_newest_generation_may_be_damaged_on_each_device(
    images: Images,
) -> None:
    """It was flushed, so no write on its way looks like it."""
    first = LOG_START + images.record(20, 3)
    images.restart(2)
    images.record(30, 1)
    images.damage(0, first + 1)
    images.damage(1, first + 2)
    whole = followed(images)
    assert (whole.records, whole.scattered, whole.broken) == (2, 1, None)
    assert len(records_in_c(images)[0]) == 2


def test_a_block_that_is_read_at_the_second_try_is_there(
    images: Images, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the other blocks first, then alone."""
    first = LOG_START + images.record(20, 3)
    images.damage(1, first + 2)
    make_unreadable(monkeypatch, (images.path(0), first + 2), times=2)
    whole = followed(images)
    assert (whole.records, whole.single, whole.scattered, whole.broken) == (1, 1, 0, None)


def test_a_later_record_shows_a_gap(images: Images) -> None:
    images.seq += 1
    images.record(10, 1)
    broken = followed(images).broken
    assert broken is not None and broken.seq == 1
    assert broken.reasons == tuple(
        f"record 2 is there instead on {name}" for name in ("the SSD", "member 0")
    )


@pytest.mark.parametrize(
    "leave",
    [
        lambda images: images.record(0, 1, generation=9),
        lambda images: images.record(0, 1, uuid=FOREIGN.bytes),
        lambda images: images.record(0, 1, seq=1),
        lambda images: images.put(0, LOG_START + images.head, data_of(5, 5)),
    ],
)
def test_what_was_there_before_is_a_clean_end(
    images: Images, leave: Callable[[Images], object]
) -> None:
    images.record(7, 1)
    leave(images)
    whole = followed(images)
    assert (whole.records, whole.broken) == (1, None)


def test_a_stale_device_has_no_records(images: Images) -> None:
    images.record(5, 1, on=(0, 2))
    images.lose(2)
    assert followed(images).records == 0
    images.record(6, 1, on=(0, 1))
    assert (followed(images).records, followed(images).ranges) == (1, ((6, 7),))


def test_records_of_several_generations_follow_each_other(images: Images) -> None:
    images.record(5, 1)
    images.restart(2)
    images.record(7, 2)
    # The restart before did not find it: it does not count, whatever its number.
    images.record(9, 1, generation=1)
    whole = followed(images)
    assert (whole.records, whole.ranges, whole.broken) == (2, ((5, 6), (7, 9)), None)


def test_a_log_that_ends_before_a_generation_is_broken(images: Images) -> None:
    """Those records were flushed: an end before them is none that a power cut leaves."""
    images.record(5, 1)
    place = images.record(6, 1)
    images.restart(2)
    assert followed(images).broken is None
    for number in (0, 1):
        images.put(number, LOG_START + place, bytes(BLOCK))
    whole = followed(images)
    assert whole.records == 1
    assert whole.broken == log.Break(2, place, ("the superblocks tell of records up to 2",))


@pytest.mark.parametrize(("begun", "records"), [((), 2), ((1,), 1)])
def test_an_announced_generation_does_not_count(
    images: Images, begun: tuple[int, ...], records: int
) -> None:
    images.record(5, 1)
    images.restart(2, begun)
    images.record(7, 1, generation=1)
    assert followed(images).records == records == len(records_in_c(images)[0])


def test_the_last_generation_that_has_begun_counts_as_in_the_core(images: Images) -> None:
    """Also if the superblock has them in no order."""
    images.spans = [(1, 1), (2, 3), (3, 2)]
    images.superblock(0, 1, version=2)
    for generation in (1, 3, 3):
        images.record(generation=generation)
    assert followed(images).records == len(records_in_c(images)[0]) == 3


def test_a_device_that_ends_early_is_told(images: Images) -> None:
    with open(images.path(2), "r+b") as file:
        file.truncate(LOG_START * BLOCK)
    whole = followed(images)
    assert whole.broken is not None
    assert whole.broken.reasons == ("member 1 ends before it",)


Adopted = list[tuple[int, int, int]]


def records_in_c(
    images: Images, unreadable: Iterable[tuple[int, int]] = ()
) -> tuple[Adopted, tuple[int, ...]]:
    """Sequence number, block and length of what the core takes over, asked as the module asks it,
    and the devices that may have what follows but cannot be read. @unreadable: device and block
    of it."""
    ffi, lib = core()
    config = ffi.new("struct spek_augment_config *")
    config.uuid = images.uuid.bytes
    config.raid_blocks = 1 << 30
    config.ssd_blocks, config.log_blocks = images.ssd_blocks, images.log_blocks
    config.nr_members, config.stripe_blocks = images.members, 1
    config.high_blocks, config.low_blocks, config.retry_ns = 100, 50, 1
    memory = ffi.new("u8[]", lib.spek_augment_bytes(config))
    machine = ffi.new("struct spek_augment *")
    lib.spek_augment_init(machine, config, memory)
    supers = ffi.new("struct spek_augment_super[]", 2 * (images.members + 1))
    there = ffi.new("u32[]", images.members + 1)
    scan = ffi.new("struct spek_augment_scan *")
    refusal = ffi.new("struct spek_refusal *")
    following = ffi.new("struct spek_augment_next *")
    bad = set(unreadable)

    def c_block(data: bytes) -> Any:
        return ffi.from_buffer("u8[]", bytearray(data))

    with contextlib.ExitStack() as stack:
        files = {
            number: stack.enter_context(open(images.path(number), "rb"))
            for number in images.numbers
        }

        def block_of(number: int, place: int) -> Any:
            if (number, place) in bad:
                return ffi.NULL
            files[number].seek(place * BLOCK)
            return c_block(files[number].read(BLOCK))

        def look_at_data(numbers: int) -> None:
            for number, index in itertools.product(files, range(following.header.blocks)):
                if not numbers >> number & 1:
                    continue
                block = block_of(number, LOG_START + machine.head + 1 + index)
                crc = ffi.NULL
                if block:
                    crc = ffi.new("u32 *", lib.spek_augment_crc32c(block, BLOCK))
                lib.spek_augment_next_block(following, number, index, crc)

        for number, place in itertools.product(files, (0, 1)):
            taken = lib.spek_augment_super_decode(
                block_of(number, place), ffi.addressof(supers, 2 * number + place)
            )
            there[number] |= taken << place
        assert lib.spek_augment_choose(config, supers, there, scan, refusal) == 0
        lib.spek_augment_recover(machine, scan)
        readable = scan.present & ~scan.stale
        records: Adopted = []
        while True:
            lib.spek_augment_next_begin(following)
            for number in files:
                if readable >> number & 1:
                    block = block_of(number, LOG_START + machine.head)
                    lib.spek_augment_next_header(machine, following, number, block)
            look_at_data(following.headers)
            look_at_data(lib.spek_augment_next_others(following, readable))
            if not lib.spek_augment_next_adopt(machine, following, False):
                break
            header = following.header
            records.append((header.seq, header.block, header.blocks))
    unread = tuple(number for number in images.numbers if following.unread >> number & 1)
    return records, unread


@pytest.mark.parametrize("seed", range(24))
def test_the_core_follows_the_same_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Whatever was torn or cannot be read, in whichever log, the check and the core agree on where
    it ends."""
    dice = random.Random(seed)
    images = Images(tmp_path / "set", members=dice.choice((1, 2, 3)), tail=dice.randrange(256))
    live = images.members
    if dice.random() < 0.4 and images.members > 1:
        live -= 1
        images.record(1, 2, on=(0, images.members))
        images.lose(images.members)
    while (rest := images.log_blocks - images.head) and images.seq < 30:
        if dice.random() < 0.1:
            images.restart(20 + images.seq)
        blocks = min(dice.randrange(0, 12), rest - 1)
        images.record(dice.randrange(1000), blocks, on=(0, dice.randrange(1, live + 1)))
    for _ in range(dice.randrange(4)):
        number = dice.choice(list(images.numbers))
        images.damage(number, LOG_START + dice.randrange(256), at=dice.choice((0, 20, 40, 70)))
    bad = [
        (dice.choice(list(images.numbers)), LOG_START + dice.randrange(256))
        for _ in range(dice.choice((0, 0, 10, 40)))
    ]
    make_unreadable(monkeypatch, *((images.path(number), block) for number, block in bad))
    in_c, unread_in_c = records_in_c(images, bad)
    whole = followed(images)
    assert whole.records == len(in_c)
    blocks_in_c = {first + index for _, first, count in in_c for index in range(count)}
    assert whole.blocks == len(blocks_in_c)
    assert whole.used == sum(1 + count for _, _, count in in_c)
    assert whole.unread == unread_in_c


def test_a_header_of_the_core_is_what_is_followed(images: Images) -> None:
    """The fields that images are made of are those of the header."""
    fields = {"uuid": images.uuid.bytes, "generation": 1, "seq": 1, "block": 3, "blocks": 0}
    decoded = format.header(encoded("header", {**fields, "crc": []}))
    assert decoded is not None and (decoded.seq, decoded.block) == (1, 3)
