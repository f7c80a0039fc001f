# SPDX-License-Identifier: GPL-2.0
"""What the core in C encodes is decoded, and what it refuses is refused."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.augment_images import BLOCK, SET, core, crc, encoded

from spekctl.augment import format

SUPER: dict[str, Any] = {
    "generation": 2**40 + 1, "version": 7, "tail_seq": 2**33, "tail": 500, "log_blocks": 1000,
    "ssd_blocks": 2000, "device": 3, "devices": 0b11111, "nr_members": 4, "nr_spans": 2,
    "announced": 2**40 + 2,
    "spans": [{"generation": 7, "first_seq": 2**33 - 5}, {"generation": 2**40, "first_seq": 2**34}],
}  # fmt: skip
NAMED = {**SUPER, "raid": b"wwn=naa.5000c500a1b2c3d4,serial=ZA1B2C"}
HEADER: dict[str, Any] = {
    "generation": 3, "seq": 2**50, "block": 2**47 + 5, "blocks": 2, "crc": [1, 2**32 - 1],
}  # fmt: skip


def block_of(name: str, fields: dict[str, Any]) -> bytes:
    return encoded(name, {"uuid": SET.bytes, **fields})


def c_takes(name: str, block: bytes) -> bool:
    ffi, lib = core()
    value = ffi.new(f"struct spek_augment_{name} *")
    decode = getattr(lib, f"spek_augment_{name}_decode")
    return bool(decode(ffi.from_buffer("u8[]", bytearray(block)), value))


def test_a_superblock_comes_back() -> None:
    decoded = format.superblock(block_of("super", SUPER))
    assert decoded is not None
    fields = {name: value for name, value in SUPER.items() if name != "nr_spans"}
    assert asdict(decoded) == {"uuid": SET, **fields, "spans": tuple(SUPER["spans"]), "raid": ""}
    assert [decoded.generation_of(seq) for seq in (2**33, 2**34 - 1, 2**34)] == [7, 7, 2**40]
    assert decoded.age == (2**40 + 1, 7)


def test_a_superblock_has_room_for_16_generations() -> None:
    fields = {**SUPER, "nr_spans": 16, "spans": [SUPER["spans"][0]] * 16}
    decoded = format.superblock(block_of("super", fields))
    assert decoded is not None and len(decoded.spans) == 16


def test_a_header_comes_back() -> None:
    decoded = format.header(block_of("header", HEADER))
    assert decoded is not None
    assert asdict(decoded) == {"uuid": SET, **HEADER, "crc": (1, 2**32 - 1)}


def test_a_header_has_room_for_32_checksums() -> None:
    fields = {**HEADER, "blocks": 32, "crc": list(range(32))}
    decoded = format.header(block_of("header", fields))
    assert decoded is not None and decoded.crc == tuple(range(32))
    # The number of blocks is read before the checksum is: a wrong one reaches beyond the block.
    wrong = bytearray(block_of("header", fields))
    wrong[56] = 33
    assert format.header(bytes(wrong)) is None


def test_the_name_of_the_raid_comes_back() -> None:
    decoded = format.superblock(block_of("super", NAMED))
    assert decoded is not None and decoded.raid == "wwn=naa.5000c500a1b2c3d4,serial=ZA1B2C"
    longest = {**SUPER, "raid": b"w" * 251}
    decoded = format.superblock(block_of("super", longest))
    assert decoded is not None and decoded.raid == "w" * 251


@pytest.mark.parametrize(
    ("name", "fields"), [("super", SUPER), ("super", NAMED), ("header", HEADER)]
)
def test_every_changed_bit_is_noticed_as_in_c(name: str, fields: dict[str, Any]) -> None:
    decode = {"super": format.superblock, "header": format.header}[name]
    block = bytearray(block_of(name, fields))
    for bit in (*range(8 * 120), *range(8 * 350, 8 * 610)):
        block[bit // 8] ^= 1 << bit % 8
        assert (decode(bytes(block)) is not None) == c_takes(name, bytes(block)), bit
        block[bit // 8] ^= 1 << bit % 8


@pytest.mark.parametrize(
    ("name", "change"),
    [
        *(("super", each) for each in (
            {"generation": 0}, {"tail": 1000}, {"nr_members": 9}, {"nr_members": 0},
            {"device": 5}, {"tail_seq": 0}, {"nr_spans": 0}, {"tail_seq": 2**33 - 6},
            {"generation": 2**62}, {"version": 2**62}, {"tail_seq": 2**62},
        )),
        ("header", {"block": 2**48}),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_as_in_c(name: str, change: dict[str, int]) -> None:
    fields = {"super": SUPER, "header": HEADER}[name]
    block = block_of(name, {**fields, **change})
    assert not c_takes(name, block)
    assert {"super": format.superblock, "header": format.header}[name](block) is None


@given(st.binary(max_size=300))
def test_any_bytes_are_decoded_or_refused(data: bytes) -> None:
    whole = data.ljust(BLOCK, b"\0")
    for decode in (format.superblock, format.header):
        assert decode(whole) is None
        assert decode(data) is None


def test_a_damaged_header_is_told_from_data() -> None:
    block = bytearray(block_of("header", HEADER))
    assert not format.is_damaged_header(bytes(block))
    block[40] ^= 1
    assert format.is_damaged_header(bytes(block))
    assert not format.is_damaged_header(bytes(BLOCK))


def test_the_checksum_is_that_of_the_core() -> None:
    assert format.checksum(b"123456789") == 0xE3069283 == crc(b"123456789")


def test_devices_have_names() -> None:
    assert [format.name_of(number) for number in (0, 1, 8)] == ["the SSD", "member 0", "member 7"]
