# SPDX-License-Identifier: GPL-2.0
"""Data of writes: compressible and duplicate as asked, and the same bytes on every machine."""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.core.spekcore import Asu, Stream, Workload, library

FFI, LIB = library()
BLOCK = 4096
COMMON = 64
HALF = 500_000
PERCENT = 10_000  # ppm


def blocks(
    number: int,
    size: int = BLOCK,
    *,
    seed: int = 1,
    worker: int = 0,
    index: int = 0,
    random: bool = False,
    own: int = 1,
    compressible: int = 0,
    duplicate: int = 0,
    fill: bytes = b"",
) -> list[bytes]:
    """The first blocks that a worker writes in a stream."""
    stream = Stream(
        read_ppm=0,
        own_data=own,
        compressible_ppm=compressible,
        duplicate_ppm=duplicate,
        fill=fill,
    )
    c = Workload([Asu(1 << 30)], [], [stream]).c
    data = FFI.new("struct spek_contents *")
    LIB.spek_contents_init(data, FFI.addressof(c.stream[0]), index, seed, worker, random)
    memory = FFI.new("u64 []", size // 8)
    blocks = []
    for _ in range(number):
        LIB.spek_contents_write(data, memory, size)
        blocks.append(bytes(FFI.buffer(memory)))
    return blocks


def repeated(contents: list[bytes]) -> int:
    """Blocks that equal another one."""
    return sum(count for count in Counter(contents).values() if count > 1)


@pytest.mark.parametrize("percent", [0, 25, 50, 75, 100])
@pytest.mark.parametrize("fill", [b"", b"\xde\xad\xbe\xef", bytes(range(61))])
def test_zlib_takes_away_the_share_that_is_asked_for(percent: int, fill: bytes) -> None:
    if not percent:
        fill = b""
    contents = blocks(1000, compressible=percent * PERCENT, fill=fill)
    together = len(zlib.compress(b"".join(contents))) / (BLOCK * len(contents))
    each = sum(len(zlib.compress(block)) for block in contents) / (BLOCK * len(contents))
    assert together == pytest.approx(1 - percent / 100, abs=0.02)
    # Alone, each block has headers and the bytes of the fill once.
    assert each == pytest.approx(1 - percent / 100, abs=0.025 + len(fill) / BLOCK)


@pytest.mark.parametrize("percent", [1, 25, 50, 99])
def test_the_share_of_duplicates_is_as_asked_for(percent: int) -> None:
    number, share = 100_000, percent / 100
    # Short blocks have the same draws.
    repeats = repeated(blocks(number, 16, duplicate=percent * PERCENT))
    sigma = (number * share * (1 - share)) ** 0.5
    assert abs(repeats - number * share) < 3 * sigma


def test_duplicates_are_drawn_evenly_from_few_blocks() -> None:
    number = 64_000
    often = Counter(blocks(number, 16, duplicate=1_000_000))
    assert len(often) == COMMON
    mean = number / COMMON
    # Chi-square with 63 degrees of freedom: 0.1 % are above 103.4.
    assert sum((count - mean) ** 2 / mean for count in often.values()) < 103.4


def test_blocks_are_unique_unless_they_are_duplicates() -> None:
    assert len(set(blocks(100_000, 16))) == 100_000
    # Unless all of a block is fill, a word of it is not.
    assert len(set(blocks(1000, 512, compressible=999_999))) == 1000
    assert len(set(blocks(1000, 512, compressible=1_000_000))) == 1


def test_workers_share_duplicates_and_nothing_else() -> None:
    mine, theirs = (set(blocks(20_000, 16, worker=worker, duplicate=HALF)) for worker in (0, 1))
    assert len(mine & theirs) == COMMON
    assert not set(blocks(1000, 16)) & set(blocks(1000, 16, worker=1))


@pytest.mark.parametrize("change", [{"seed": 2}, {"index": 1}])
def test_another_seed_or_stream_has_other_blocks(change: dict[str, Any]) -> None:
    first, second = (set(blocks(5000, 16, duplicate=HALF, **more)) for more in ({}, change))
    assert not first & second


def test_duplicates_are_compressible_too() -> None:
    contents = blocks(200, duplicate=1_000_000, compressible=HALF)
    assert all(block[BLOCK // 2 :] == bytes(BLOCK // 2) for block in contents)
    assert len({block[: BLOCK // 2] for block in contents}) > 32


@settings(max_examples=50, deadline=None)
@given(
    fill=st.binary(min_size=1, max_size=64),
    sectors=st.integers(1, 8),
    ppm=st.integers(1, 1_000_000),
)
def test_the_end_of_each_block_is_fill(fill: bytes, sectors: int, ppm: int) -> None:
    size = 512 * sectors
    (contents,) = blocks(1, size, compressible=ppm, fill=fill)
    # Whole words; the share that is random is rounded to 2^-32 and then up.
    random = -(-(1_000_000 - ppm) * size // 8_000_000) * 8
    starts = {start for start in (random, random + 8) if start <= size}
    ends = [(fill * (size // len(fill) + 1))[: size - start] for start in starts]
    assert any(contents.endswith(end) for end in ends)
    assert contents[:random] != (fill * (size // len(fill) + 1))[:random] or not random


@pytest.mark.parametrize("random", [False, True])
def test_streams_without_data_of_their_own_write_those_of_the_run(random: bool) -> None:
    contents = blocks(100, own=0, random=random)
    if not random:
        assert set(contents) == {bytes(BLOCK)}
        return
    assert len(set(contents)) == 100
    assert len(zlib.compress(b"".join(contents))) > 100 * BLOCK


# What a seed writes stays what it is, or stored data are no duplicates for the next version.
GOLDEN: dict[str, tuple[dict[str, Any], str]] = {
    "unique": ({}, "c6d1c702e5936528d7a6691fc0c46331cd984416eb56192435b91b91213f22ad"),
    "mixed": (
        {"compressible": 300_000, "duplicate": HALF, "fill": b"\xde\xad\xbe"},
        "d4c7d6c06efd34e3c0459dacba254e8046ea8ef014013ee008d406fd6bd0ebda",
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_bytes(name: str) -> None:
    options, digest = GOLDEN[name]
    contents = blocks(100, seed=7, worker=3, index=2, **options)
    assert hashlib.sha256(b"".join(contents)).hexdigest() == digest
