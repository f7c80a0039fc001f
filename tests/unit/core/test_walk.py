"""The random walk step by step: worked examples, geometry, levels."""

from fractions import Fraction

import numpy as np
import pytest
from lib.core.spekcore import BLOCK, Arrival, Asu, Generator, Stream, Style, Workload, library

FFI, LIB = library()
CLASSIC, FIXED = False, True
ANYWHERE, BY_STATE = 1, 0  # lowest bit of a write's random bits


@pytest.mark.parametrize(
    ("leaf", "level", "place", "write", "expected"),
    [
        (1000, 7, 5, False, 901),
        (1000, 7, 5, True, 896),
        (1000, 16, 40000, False, 40000),
        (1000, 16, 40000, True, 40000),
        (1000, 7, 2**32 - 1, False, 1023),
        (1000, 7, 2**32 - 1, True, 1016),
        (2**32 - 1, 31, 0, False, 2**31),
    ],
)
def test_worked_windows(leaf: int, level: int, place: int, write: bool, expected: int) -> None:
    assert LIB.shim_walk_leaf(leaf, level, place, write) == expected


class Hot:
    """A hot spot at block 1769472 with one replica in it."""

    def __init__(self, fixed: bool, shift: int = 0) -> None:
        self.base = 1769472
        self.fixed = fixed
        self.walk = FFI.new("struct spek_walk *", {"origin": self.base + shift})
        self.leaves = FFI.new("u8[]", 2000)

    def enter(self, leaf: int, write: bool, bits: int = 0) -> int:
        args = (self.base, self.walk, self.fixed, self.leaves, leaf, write, bits)
        return int(LIB.shim_walk_enter(*args))


def test_worked_read() -> None:
    hot = Hot(CLASSIC)
    hot.leaves[901] = 3
    assert hot.enter(901, write=False) == 1776683
    assert hot.leaves[901] == 4
    assert hot.walk.leaf == 901


@pytest.mark.parametrize("fixed", [CLASSIC, FIXED])
def test_reads_go_round_a_leaf(fixed: bool) -> None:
    hot = Hot(fixed)
    blocks = [hot.enter(10, write=False) - hot.base - 80 for _ in range(10)]
    assert blocks == [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]


def test_classic_write_takes_the_next_block_and_fixed_the_last_one() -> None:
    for fixed, expected in ((CLASSIC, 3), (FIXED, 2)):
        hot = Hot(fixed)
        hot.leaves[16] = 3
        assert hot.enter(16, True, BY_STATE) == hot.base + 16 * 8 + expected
        assert hot.leaves[16] == 3


def test_fixed_write_to_a_fresh_leaf_takes_its_last_block() -> None:
    hot = Hot(FIXED)
    assert hot.enter(16, True, BY_STATE) == hot.base + 16 * 8 + 7


@pytest.mark.parametrize("fixed", [CLASSIC, FIXED])
def test_the_other_half_of_the_writes_takes_any_block(fixed: bool) -> None:
    hot = Hot(fixed)
    hot.leaves[16] = 3
    got = {hot.enter(16, True, block << 1 | ANYWHERE) - hot.base - 128 for block in range(8)}
    assert got == set(range(8))


def test_a_write_is_repeated_with_fifteen_per_cent() -> None:
    hot = Hot(CLASSIC)
    border = int(Fraction(15, 100) * 2**32)
    hot.enter(8, True, border - 1 << 32)
    assert hot.walk.rewrite_pending == 1
    hot.enter(8, True, border + 1 << 32)
    assert hot.walk.rewrite_pending == 0


def test_reads_leave_a_pending_rewrite_alone() -> None:
    hot = Hot(CLASSIC)
    hot.enter(8, True, BY_STATE)
    assert hot.walk.rewrite_pending == 1
    hot.enter(99, False)
    assert hot.walk.rewrite_pending == 1
    assert (hot.walk.rewrite_leaf, hot.walk.rewrite_block) == (8, 0)


def test_classic_counts_leaf_states_from_the_tree_and_fixed_from_the_hot_spot() -> None:
    classic, fixed = Hot(CLASSIC, shift=80), Hot(FIXED, shift=80)
    for hot in (classic, fixed):
        hot.enter(5, write=False)
    assert [i for i in range(2000) if classic.leaves[i]] == [5]
    assert [i for i in range(2000) if fixed.leaves[i]] == [15]


@pytest.mark.parametrize(("low", "high"), [(7, 7), (7, 8), (7, 16), (6, 19), (7, 31)])
def test_levels_end_at_the_top_of_the_tree(low: int, high: int) -> None:
    assert LIB.shim_walk_level(low, high, 0) == high
    assert LIB.shim_walk_level(low, high, 2**32 - 1) == low


def test_thresholds_are_powers_of_044() -> None:
    for climbs in range(26):
        border = round(Fraction(44, 100) ** (climbs + 1) * 2**32)
        assert LIB.shim_walk_level(0, 31, border) == climbs
        assert LIB.shim_walk_level(0, 31, border - 1) > climbs


# asu blocks, leaves, levels, left over
GEOMETRY = [
    (20480, 128, 7, 0),
    (262144, 1638, 10, 4912),
    (11796480, 73728, 16, 65536),
    (117964800, 737280, 19, 1703936),
]


@pytest.mark.parametrize("style", ["classic", "fixed"])
@pytest.mark.parametrize(("asu", "leaves", "levels", "left"), GEOMETRY)
def test_geometry_of_a_hot_spot(
    asu: int, leaves: int, levels: int, left: int, style: Style
) -> None:
    size = asu // 20
    assert (size // 8, 8 * (size // 8 - 2**levels)) == (leaves, left)
    base = asu * 47 // 100
    stream = Stream(
        "walk",
        range_start=base * BLOCK,
        range_bytes=size * BLOCK,
        read_ppm=500_000,
        replicas=200,
        walk_style=style,
    )
    workload = Workload([Asu(asu * BLOCK)], [Arrival(depth=1)], [stream])
    ops = Generator(workload, 1).ops(400_000)
    blocks = ops["addr"].astype(np.int64) // BLOCK
    # classic rounds trees down in the asu, but not to before the hot spot
    lowest = base - base % 8 if style == "classic" else base
    assert blocks.min() >= base
    assert blocks.max() < base + size
    origins = set()
    for replica in range(200):
        mine = blocks[ops["replica"] == replica]
        # writes start a window of 8 leaves of the tree, so they tell where the tree begins
        origins.add((int(mine.min()) - lowest) // (left + 1) if left else 0)
        assert mine.max() - mine.min() < 8 * 2**levels
    if left:
        # trees lie anywhere in the hot spot: what is left over is used too
        assert blocks.max() > lowest + 8 * 2**levels
