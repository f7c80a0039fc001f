# SPDX-License-Identifier: GPL-2.0
"""The least of many numbers (least.c) against Python's min()."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

Core = tuple[Any, Any]
NONE = 0xFFFF


class Tree:
    """A tree in exactly the memory that it asks for."""

    def __init__(self, core: Core, numbers: int) -> None:
        ffi, self.lib = core
        size = self.lib.spek_drive_least_entries(numbers)
        self.memory = ffi.new("u16[]", [NONE] * size)
        self.c = ffi.new("struct spek_drive_least *")
        self.lib.spek_drive_least_init(self.c, self.memory, numbers)
        assert sum(self.c.length[0 : self.c.levels]) == size

    def set(self, place: int, number: int) -> None:
        self.lib.spek_drive_least_set(self.c, place, number)

    def first(self) -> int:
        return int(self.lib.spek_drive_least_first(self.c))


@given(
    numbers=st.integers(1, 300),
    steps=st.lists(st.tuples(st.integers(0, 299), st.sampled_from([0, 1, 2, 7, NONE]))),
)
def test_the_first_of_the_least_is_found(
    core: Core, numbers: int, steps: list[tuple[int, int]]
) -> None:
    tree, expected = Tree(core, numbers), [NONE] * numbers
    for place, number in steps:
        tree.set(place % numbers, number)
        expected[place % numbers] = number
        assert tree.first() == expected.index(min(expected))
    assert list(tree.c.level[0][0:numbers]) == expected


@pytest.mark.parametrize("numbers", [1, 2, 63, 64, 65, 4095, 4096, 4097, 262_145, 3_000_000])
def test_whatever_their_number(core: Core, numbers: int) -> None:
    draw = random.Random(numbers)
    tree, expected = Tree(core, numbers), {}
    for place in [0, numbers - 1, *(draw.randrange(numbers) for _ in range(300))]:
        number = draw.choice([draw.randrange(NONE), draw.randrange(10), NONE])
        tree.set(place, number)
        expected[place] = number
        least = min(expected.values())
        if least == NONE:
            assert tree.first() == 0
        else:
            assert tree.first() == min(at for at, had in expected.items() if had == least)


def test_two_to_the_thirty_fit_into_the_levels(core: Core) -> None:
    """As many blocks as a flash can have; the memory for them is not needed to count levels."""
    _, lib = core
    length, levels, entries = 2**30, 1, 2**30
    while length > 1:
        length = -(-length // 64)
        levels, entries = levels + 1, entries + length
    assert lib.spek_drive_least_entries(2**30) == entries
    assert levels == 6
