# SPDX-License-Identifier: GPL-2.0
"""Stamped blocks: what is sound passes, what is not is found and told apart."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.core.spekcore import library

from spekctl.kernel.gen.spek import Mismatch

FFI, LIB = library()
HEADER = struct.Struct("=QQQQQIHHQ")
OK = LIB.SPEK_MISMATCH_NONE
U64 = st.integers(0, 2**64 - 1)
BLOCKS = st.sampled_from([512, 520 - 8, 1024, 4096, 65536])
GENERATIONS = st.integers(1, 2**45 - 1)
STAMPED, UNCERTAIN, ZEROES, DISCARDED = range(4)


@dataclass(frozen=True)
class Version:
    """A version of a block."""

    seed: int = 7
    id: int = 0x1234567890ABCDEF
    generation: int = 3
    sector: int = 80
    target: int = 0
    worker: int = 1
    stream: int = 2


def block_of(version: Version, size: int) -> bytearray:
    """The block as it is written."""
    stamp = FFI.new(
        "struct spek_stamp *",
        {name: getattr(version, name) for name in Version.__dataclass_fields__},
    )
    memory = FFI.new("u64 []", size // 8)
    LIB.spek_stamp_write(memory, size, stamp)
    return bytearray(FFI.buffer(memory))


def version_of(block: bytes | bytearray, version: Version) -> int:
    """The write of the place of @version that the block is of."""
    memory = FFI.new("u64 []", len(block) // 8)
    FFI.buffer(memory)[:] = bytes(block)
    expect = FFI.new("struct spek_expect *")
    for name in ("seed", "id", "sector", "target"):
        setattr(expect, name, getattr(version, name))
    return int(LIB.spek_stamp_version(memory, len(block), expect))


def test_a_block_tells_which_write_of_its_place_it_is_of() -> None:
    here = Version()
    block = block_of(here, 512)
    assert version_of(block, here) == here.generation
    assert version_of(block, replace(here, sector=81)) == 0
    assert version_of(block, replace(here, target=1)) == 0
    assert version_of(block, replace(here, id=1)) == 0
    assert version_of(bytes(512), here) == 0
    block[256:] = block_of(replace(here, generation=4), 512)[256:]
    assert version_of(block, here) == 2**64 - 1


def check(
    block: bytes | bytearray, version: Version, content: int = STAMPED, newer: bool = False
) -> tuple[int, Any]:
    """What the block is found to be where that version should be. @newer: or a later one"""
    memory = FFI.new("u64 []", len(block) // 8)
    FFI.buffer(memory)[:] = bytes(block)
    expect = FFI.new("struct spek_expect *")
    for name in ("seed", "id", "generation", "sector", "target"):
        setattr(expect, name, getattr(version, name))
    expect.content = content
    expect.newer = newer
    finding = FFI.new("struct spek_finding *")
    verdict = LIB.spek_stamp_check(memory, len(block), expect, finding)
    if verdict != OK:
        assert finding.verdict == verdict
    return verdict, finding


VERSIONS = st.builds(
    Version,
    seed=U64,
    id=U64,
    generation=GENERATIONS,
    sector=st.integers(0, 2**55),
    target=st.integers(0, 15),
    worker=st.integers(0, 255),
    stream=st.integers(0, 63),
)


def test_verdicts_are_those_of_the_contract() -> None:
    for member in Mismatch:
        assert getattr(LIB, f"SPEK_MISMATCH_{member.name}") == member
    assert len(Mismatch) == LIB.SPEK_NR_MISMATCHES
    assert FFI.sizeof("struct spek_stamp") == HEADER.size


@settings(max_examples=50)
@given(VERSIONS, BLOCKS)
def test_what_was_written_is_found_right(version: Version, size: int) -> None:
    block = block_of(version, size)
    assert check(block, version)[0] == OK
    # Who wrote it is not expected to be anybody.
    assert check(block_of(replace(version, worker=9, stream=9), size), version)[0] == OK
    fields = HEADER.unpack_from(block)
    assert fields[1:4] == (version.seed, version.id, version.generation)


@given(VERSIONS, st.sampled_from([512, 4096]), st.data())
def test_every_flipped_bit_is_corruption(version: Version, size: int, data: st.DataObject) -> None:
    block = block_of(version, size)
    bit = data.draw(st.integers(0, size * 8 - 1))
    block[bit // 8] ^= 1 << bit % 8
    verdict, finding = check(block, version)
    assert verdict == Mismatch.CORRUPT
    known = not 40 + 4 <= bit // 8 < HEADER.size
    assert finding.bits == (1 if known else 0)
    assert finding.first == (bit // 8 if known else 40)


def test_each_single_bit_of_a_block() -> None:
    version = Version()
    block = block_of(version, 512)
    for bit in range(512 * 8):
        block[bit // 8] ^= 1 << bit % 8
        assert check(block, version)[0] == Mismatch.CORRUPT, bit
        block[bit // 8] ^= 1 << bit % 8
    assert check(block, version)[0] == OK


@given(VERSIONS, st.integers(2, 200), st.randoms())
def test_many_flipped_bits_are_corruption(version: Version, count: int, random: Random) -> None:
    """As long as they do not fill whole stretches, which would look torn."""
    block = block_of(version, 4096)
    for word in random.sample(range(4096 // 8), min(count, 60)):
        block[word * 8] ^= 0x10
    verdict, _ = check(block, version)
    assert verdict in (Mismatch.CORRUPT, Mismatch.TORN)
    if count < 8:
        assert verdict == Mismatch.CORRUPT


def test_one_stuck_line_is_corruption() -> None:
    """A bit of every word."""
    version = Version()
    block = block_of(version, 4096)
    for start in range(0, len(block), 8):
        block[start] ^= 1
    assert check(block, version)[0] == Mismatch.CORRUPT


@settings(max_examples=50)
@given(VERSIONS, BLOCKS, st.sampled_from(["sector", "target", "both"]), GENERATIONS)
def test_of_another_place_is_misdirected(
    version: Version, size: int, what: str, generation: int
) -> None:
    there = replace(version, generation=generation)
    if what != "target":
        there = replace(there, sector=version.sector + 8)
    if what != "sector":
        there = replace(there, target=version.target + 1)
    verdict, finding = check(block_of(there, size), version)
    assert verdict == Mismatch.MISDIRECTED
    assert (finding.found.sector, finding.found.target) == (there.sector, there.target)
    assert finding.found.generation == generation
    # Also where the run has written nothing.
    assert check(block_of(there, size), replace(version, generation=0))[0] == Mismatch.MISDIRECTED


@settings(max_examples=50)
@given(VERSIONS, BLOCKS, GENERATIONS)
def test_an_older_version_is_stale_and_a_later_one_was_never_written(
    version: Version, size: int, generation: int
) -> None:
    verdict, finding = check(block_of(replace(version, generation=generation), size), version)
    if generation == version.generation:
        assert verdict == OK
        return
    stale = generation < version.generation
    assert verdict == (Mismatch.STALE if stale else Mismatch.UNWRITTEN)
    assert finding.found.generation == generation and finding.intact


@settings(max_examples=50)
@given(VERSIONS, BLOCKS, st.booleans(), st.data())
def test_parts_of_two_versions_are_torn(
    version: Version, size: int, new_first: bool, data: st.DataObject
) -> None:
    version = replace(version, generation=max(2, version.generation))
    older = data.draw(st.integers(1, version.generation - 1))
    old, new = block_of(replace(version, generation=older), size), block_of(version, size)
    # Not within the header, and not the last 64 bytes: see SPEK_TORN_WORDS.
    at = data.draw(st.integers(HEADER.size + 64 + 8, size - 64 - 8))
    block = new[:at] + old[at:] if new_first else old[:at] + new[at:]
    verdict, finding = check(block, version)
    assert verdict == Mismatch.TORN
    if new_first:
        assert at <= finding.first < at + 8
    else:
        assert 24 <= finding.first < 32  # the generation in the header


@given(VERSIONS, st.integers(128, 512 - 72), st.sampled_from(["zero", "noise"]), st.booleans())
def test_a_part_that_was_there_before_the_run_is_torn(
    version: Version, at: int, before: str, new_first: bool
) -> None:
    old = bytes(512) if before == "zero" else Random(1).randbytes(512)
    new = block_of(version, 512)
    block = new[:at] + old[at:] if new_first else old[:at] + new[at:]
    assert check(block, version)[0] == Mismatch.TORN


def test_a_new_header_over_old_data_is_torn() -> None:
    old, new = block_of(Version(generation=2), 512), block_of(Version(generation=3), 512)
    block = new[: HEADER.size] + old[HEADER.size :]
    assert check(block, Version(generation=3))[0] == Mismatch.TORN


@settings(max_examples=50)
@given(VERSIONS, BLOCKS, st.booleans())
def test_of_another_run_is_foreign_where_something_was_written(
    version: Version, size: int, same_seed: bool
) -> None:
    foreign = replace(version, id=version.id ^ 1)
    if not same_seed:
        foreign = replace(foreign, seed=version.seed ^ 1)
    block = block_of(foreign, size)
    assert check(block, version)[0] == Mismatch.FOREIGN
    assert check(block, replace(version, generation=0))[0] == OK


@given(VERSIONS, st.sampled_from([bytes(512), b"\xff" * 512, Random(3).randbytes(512)]))
def test_without_a_stamp(version: Version, block: bytes) -> None:
    verdict, finding = check(block, version)
    assert verdict == Mismatch.UNSTAMPED
    assert finding.zeroes == (not any(block)) and not finding.stamped
    assert check(block, replace(version, generation=0))[0] == OK


@given(VERSIONS, GENERATIONS)
def test_never_written_space_holds_no_stamp_of_this_run(version: Version, generation: int) -> None:
    block = block_of(replace(version, generation=generation), 512)
    never = replace(version, generation=0)
    assert check(block, never)[0] == Mismatch.UNWRITTEN
    # A damaged one is one, too: nobody else draws this number.
    block[300] ^= 1
    assert check(block, never)[0] == Mismatch.UNWRITTEN


@given(VERSIONS, st.integers(72, 440))
def test_a_failed_write_leaves_anything_that_was_tried(version: Version, at: int) -> None:
    version = replace(version, generation=max(2, version.generation))
    old, new = block_of(replace(version, generation=1), 512), block_of(version, 512)
    later = block_of(replace(version, generation=version.generation + 1), 512)
    elsewhere = block_of(replace(version, sector=version.sector + 1), 512)
    for block in (old, new, new[:at] + old[at:], bytes(512)):
        assert check(block, version, UNCERTAIN)[0] == OK
    assert check(later, version, UNCERTAIN)[0] == Mismatch.UNWRITTEN
    assert check(elsewhere, version, UNCERTAIN)[0] == Mismatch.MISDIRECTED


@pytest.mark.parametrize("damage", [lambda b: b, lambda b: b[:100] + b"x" + b[101:]])
def test_a_damaged_block_of_another_place_is_misdirected(
    damage: Callable[[bytes], bytes],
) -> None:
    block = damage(bytes(block_of(Version(sector=160), 512)))
    assert check(block, Version())[0] == Mismatch.MISDIRECTED


# ---- what other operations leave ----


@settings(max_examples=50)
@given(VERSIONS, BLOCKS)
def test_after_write_zeroes_a_block_holds_zeroes(version: Version, size: int) -> None:
    never = replace(version, generation=0)
    for expected in (version, never):
        assert check(bytes(size), expected, ZEROES)[0] == OK
    for older in (version, replace(version, generation=max(1, version.generation - 1))):
        assert check(block_of(older, size), version, ZEROES)[0] == Mismatch.STALE
    later = replace(version, generation=version.generation + 1)
    assert check(block_of(later, size), version, ZEROES)[0] == Mismatch.UNWRITTEN
    assert check(block_of(version, size), never, ZEROES)[0] == Mismatch.UNWRITTEN
    elsewhere = replace(version, sector=version.sector + 8)
    assert check(block_of(elsewhere, size), version, ZEROES)[0] == Mismatch.MISDIRECTED
    foreign = replace(version, id=version.id ^ 1)
    assert check(block_of(foreign, size), version, ZEROES)[0] == Mismatch.FOREIGN
    assert check(Random(1).randbytes(size), version, ZEROES)[0] == Mismatch.UNSTAMPED


@given(VERSIONS, st.integers(0, 512 * 8 - 1))
def test_a_flipped_bit_of_zeroes_is_corruption(version: Version, bit: int) -> None:
    block = bytearray(512)
    block[bit // 8] ^= 1 << bit % 8
    verdict, finding = check(block, version, ZEROES)
    assert (verdict, finding.bits, finding.first) == (Mismatch.CORRUPT, 1, bit // 8)


@given(VERSIONS, st.integers(128, 512 - 72), st.booleans())
def test_a_part_without_zeroes_is_torn(version: Version, at: int, zeroes_first: bool) -> None:
    old = block_of(version, 512)
    block = bytes(at) + old[at:] if zeroes_first else old[:at] + bytes(512 - at)
    assert check(block, version, ZEROES)[0] == Mismatch.TORN


@given(VERSIONS, st.sampled_from([bytes(512), b"\xff" * 512, Random(3).randbytes(512)]))
def test_after_a_discard_a_block_may_hold_anything(version: Version, block: bytes) -> None:
    elsewhere = block_of(replace(version, sector=version.sector + 8), 512)
    for contents in (block, elsewhere, block_of(version, 512)):
        assert check(contents, version, DISCARDED)[0] == OK
        # Written again, it is judged again.
        again = replace(version, generation=version.generation + 1)
        assert check(contents, again)[0] != OK


@given(VERSIONS, st.integers(1, 1 << 20), BLOCKS)
def test_where_later_writes_are_right_only_older_ones_are_lost(
    version: Version, more: int, size: int
) -> None:
    later = replace(version, generation=version.generation + more)
    assert check(block_of(version, size), version, newer=True)[0] == OK
    assert check(block_of(later, size), version, newer=True)[0] == OK
    assert check(block_of(later, size), version)[0] == Mismatch.UNWRITTEN
    assert check(block_of(version, size), later, newer=True)[0] == Mismatch.STALE
    assert check(bytes(size), version, newer=True)[0] == Mismatch.UNSTAMPED
    for content in (UNCERTAIN, ZEROES):
        assert check(block_of(later, size), version, content, newer=True)[0] == OK
    # Where nothing was promised, anything whole is right.
    nothing = replace(version, generation=0)
    assert check(block_of(later, size), nothing, newer=True)[0] == OK
    assert check(bytes(size), nothing, newer=True)[0] == OK


@given(VERSIONS, st.integers(1, 100))
def test_parts_of_later_writes_are_torn(version: Version, more: int) -> None:
    old = block_of(version, 4096)
    new = block_of(replace(version, generation=version.generation + more), 4096)
    for block in (new[:1024] + old[1024:], old[:1024] + new[1024:]):
        assert check(block, version, newer=True)[0] == Mismatch.TORN
    place = replace(version, sector=version.sector + 8, generation=version.generation + more)
    assert check(block_of(place, 4096), version, newer=True)[0] == Mismatch.MISDIRECTED
