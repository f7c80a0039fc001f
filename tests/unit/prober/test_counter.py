# SPDX-License-Identifier: GPL-2.0
"""Counters of drivers that fall are counters that only grow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.railcore import library

ABSENT = 2**64 - 1


@pytest.fixture(scope="module")
def counter() -> Any:
    return library("-fsanitize=undefined", "-fno-sanitize-recover=all")


def values(counter: Any, readings: Iterable[int]) -> list[int | None]:
    """What the rows say; None where they say nothing."""
    ffi, lib = counter
    state, cell = ffi.new("struct spek_counter *"), ffi.new("u64 *")
    shown: list[int | None] = []
    for raw in readings:
        cell[0] = ABSENT
        known = lib.spek_counter_read(state, raw, cell)
        assert known == (cell[0] != ABSENT)
        shown.append(cell[0] if known else None)
    return shown


@pytest.mark.parametrize(
    ("readings", "rows"),
    [
        ([1000, 1000, 1500], [1000, 1000, 1500]),
        ([1000, 0, 30], [1000, None, 1030]),
        ([1000, 10, 30], [1000, None, 1020]),
        # A sum over queues that falls for a moment.
        ([1000, 998, 1002, 1010], [1000, None, 1004, 1012]),
        ([1000, 0, 0, 50, 20, 21], [1000, None, 1000, 1050, None, 1051]),
    ],
)
def test_a_counter_that_is_cleared_continues(
    counter: Any, readings: list[int], rows: list[int | None]
) -> None:
    assert values(counter, readings) == rows


@given(st.lists(st.integers(0, 2**40), min_size=1))
def test_no_difference_of_two_rows_is_negative(counter: Any, readings: list[int]) -> None:
    known = [value for value in values(counter, readings) if value is not None]
    assert known == sorted(known)
    assert known[-1] <= sum(readings)
