# SPDX-License-Identifier: GPL-2.0
"""Superblocks and headers of records as bytes: what was encoded is decoded, and nothing else."""

from __future__ import annotations

import functools
import struct
from itertools import product
from typing import Any

import pytest
from lib.build.declarations import opened
from lib.core.build import AUGMENT

BLOCK_BYTES = 4096
HEADER_BYTES = 64
SUPER_BYTES = 96 + 16 * 16
RAID_BYTES = 252


@functools.cache
def library() -> tuple[Any, Any]:
    return opened(*AUGMENT.compiled(AUGMENT.folder / "format.h"))


def encoded(name: str, fields: dict[str, object]) -> bytearray:
    ffi, lib = library()
    block = bytearray(BLOCK_BYTES)
    value = ffi.new(f"struct spek_augment_{name} *", {"uuid": bytes(range(16)), **fields})
    getattr(lib, f"spek_augment_{name}_encode")(value, ffi.from_buffer("u8[]", block))
    return block


def decoded(name: str, block: bytearray) -> Any:
    ffi, lib = library()
    value = ffi.new(f"struct spek_augment_{name} *")
    taken = getattr(lib, f"spek_augment_{name}_decode")(ffi.from_buffer("u8[]", block), value)
    return value if taken else None


SUPER = {
    "generation": 2**40 + 1, "version": 7, "tail_seq": 2**33, "tail": 500, "log_blocks": 1000,
    "ssd_blocks": 2000, "device": 3, "devices": 0b11111, "nr_members": 4, "nr_spans": 2,
    "announced": 2**40 + 2,
}  # fmt: skip
NAMED = {**SUPER, "raid": b"wwn=naa.5000c500a1b2c3d4,serial=ZA1B2C,part=1"}
SPANS = [{"generation": 7, "first_seq": 2**33 - 5}, {"generation": 2**40, "first_seq": 2**34}]
HEADER = {"generation": 3, "seq": 2**50, "block": 2**47 + 5, "blocks": 2, "crc": [1, 2**32 - 1]}


POLYNOMIAL = 0x82F63B78  # Castagnoli's, lowest bit first


def by_polynomial(data: bytes) -> int:
    """CRC-32C, a bit at a time."""
    crc = 2**32 - 1
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
    return crc ^ 2**32 - 1


def checksum(data: bytes, offset: int = 0) -> int:
    """Of @data at an address @offset bytes past an aligned one."""
    ffi, lib = library()
    memory = ffi.from_buffer("u8[]", bytearray(bytes(offset) + data))
    return int(lib.spek_augment_crc32c(memory + offset, len(data)))


def test_checksum_is_crc32c() -> None:
    # The published check value of this polynomial.
    assert checksum(b"123456789") == by_polynomial(b"123456789") == 0xE3069283


def test_all_entries_of_the_tables_follow_from_the_polynomial() -> None:
    """Each entry decides the checksum of a message: its byte at one of 4 places, zeroes at the
    others."""
    for place, byte in product(range(4), range(256)):
        message = bytes(place) + bytes([byte]) + bytes(3 - place)
        assert checksum(message) == by_polynomial(message), (place, byte)


def test_checksum_of_any_length_at_any_address() -> None:
    data = bytes(by_polynomial(bytes([n])) & 255 for n in range(70))
    for length, offset in product(range(len(data)), range(4)):
        assert checksum(data[:length], offset) == by_polynomial(data[:length]), (length, offset)


def test_superblock_comes_back() -> None:
    value = decoded("super", encoded("super", {**SUPER, "spans": SPANS}))

    assert {name: getattr(value, name) for name in SUPER} == SUPER
    spans = [{name: getattr(span, name) for name in SPANS[0]} for span in list(value.spans)[:2]]
    assert spans == SPANS
    assert bytes(value.uuid) == bytes(range(16))


def test_header_comes_back() -> None:
    value = decoded("header", encoded("header", dict(HEADER)))

    assert (value.generation, value.seq, value.block, value.blocks) == (3, 2**50, 2**47 + 5, 2)
    assert list(value.crc)[:2] == [1, 2**32 - 1]


def test_bytes_of_a_superblock() -> None:
    """Other versions of spek read what this one wrote."""
    spans = struct.pack("<4Q", 7, 2**33 - 5, 2**40, 2**34).ljust(16 * 16, b"\0")
    numbers = (2**40 + 1, 7, 2**33, 500, 1000, 2000, 3, 0b11111, 4, 2**40 + 2, 2)
    fields = bytes(range(16)) + struct.pack("<3Q6IQI4x", *numbers) + spans
    used = b"SKRESUPR" + struct.pack("<2I", 3, by_polynomial(fields)) + fields
    assert len(used) == SUPER_BYTES
    assert encoded("super", {**SUPER, "spans": SPANS}) == used.ljust(BLOCK_BYTES, b"\0")


def test_bytes_of_a_name_of_the_raid() -> None:
    """Behind what versions without it wrote, whose zeroes are no name."""
    text = NAMED["raid"].ljust(RAID_BYTES, b"\0")  # type: ignore[attr-defined]
    unnamed, named = encoded("super", dict(SUPER)), encoded("super", dict(NAMED))
    assert unnamed[:SUPER_BYTES] == named[:SUPER_BYTES]
    area = struct.pack("<I", by_polynomial(text)) + text
    assert named[SUPER_BYTES:] == area.ljust(BLOCK_BYTES - SUPER_BYTES, b"\0")
    ffi, _ = library()
    assert ffi.string(decoded("super", named).raid) == NAMED["raid"]
    assert ffi.string(decoded("super", unnamed).raid) == b""


def test_a_name_of_the_raid_that_was_torn_is_no_superblock() -> None:
    """It reaches into another sector, whose former contents a cut may leave."""
    longest = {**SUPER, "raid": b"wwn=" + b"5" * (RAID_BYTES - 5)}
    block = encoded("super", longest)
    assert decoded("super", block) is not None
    for before in (bytes(BLOCK_BYTES), encoded("super", dict(NAMED))):
        assert decoded("super", block[:512] + before[512:]) is None
    longer = encoded("super", dict(NAMED))[:512] + block[512:]
    assert decoded("super", longer) is None


@pytest.mark.parametrize("crc", [[], [1, 2**32 - 1], [2**32 - 1 - 77 * n for n in range(32)]])
def test_bytes_of_a_header(crc: list[int]) -> None:
    fields = bytes(range(16)) + struct.pack("<3QI4x", 3, 2**50, 2**47 + 5, len(crc))
    fields += struct.pack(f"<{len(crc)}I", *crc)
    used = b"SKGRECRD" + struct.pack("<2I", 3, by_polynomial(fields)) + fields
    assert len(used) == HEADER_BYTES + 4 * len(crc)
    block = encoded("header", {**HEADER, "blocks": len(crc), "crc": crc})
    assert block == used.ljust(BLOCK_BYTES, b"\0")


@pytest.mark.parametrize(
    ("name", "fields", "used"),
    [
        ("super", SUPER, SUPER_BYTES + 4 + RAID_BYTES),
        ("super", NAMED, SUPER_BYTES + 4 + RAID_BYTES),
        ("header", HEADER, HEADER_BYTES + 8),
    ],
)
def test_every_changed_bit_is_noticed(name: str, fields: dict[str, object], used: int) -> None:
    block = encoded(name, dict(fields))
    for bit in range(8 * used):
        block[bit // 8] ^= 1 << bit % 8
        assert decoded(name, block) is None, bit
        block[bit // 8] ^= 1 << bit % 8


@pytest.mark.parametrize(
    ("at", "value", "is_foreign"), [(8, 2, True), (8, 3, False), (0, 0, False), (100, 1, False)]
)
def test_another_version_of_the_format_is_told_from_damage(
    at: int, value: int, is_foreign: bool
) -> None:
    ffi, lib = library()
    block = encoded("super", dict(SUPER))
    block[at] = value
    assert lib.spek_augment_super_is_foreign(ffi.from_buffer("u8[]", block)) == is_foreign


@pytest.mark.parametrize(
    "field",
    [
        {"generation": 0},
        {"tail": 1000},
        {"nr_members": 9},
        {"device": 5},
        {"tail_seq": 0},
        {"nr_spans": 0},
        {"generation": 2**62},
        {"announced": 2**40},
        {"announced": 2**62},
        {"version": 2**62},
        {"tail_seq": 2**62},
        {"spans": [{"generation": 7, "first_seq": 2**33 + 1}]},
    ],
)
def test_superblock_that_cannot_be_is_refused(field: dict[str, object]) -> None:
    assert decoded("super", encoded("super", {**SUPER, **field})) is None


def test_an_earlier_header_leaves_nothing_behind() -> None:
    """A record has the block of one that was longer."""
    ffi, lib = library()
    block = encoded("header", {**HEADER, "blocks": 32, "crc": [2**32 - 1] * 32})
    value = ffi.new("struct spek_augment_header *", {"uuid": bytes(range(16)), **HEADER})
    lib.spek_augment_header_encode(value, ffi.from_buffer("u8[]", block))
    assert block == encoded("header", dict(HEADER))
