"""Alias tables: what they say is what the weights said."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.spekcore import library

FFI, LIB = library()


def table_of(weights: list[int]) -> list[tuple[int, int]]:
    table = FFI.new("struct spek_alias[]", len(weights))
    LIB.spek_alias_init(table, FFI.new("u64[]", weights), len(weights))
    return [(c.threshold, c.other) for c in table]


def probabilities(table: list[tuple[int, int]]) -> list[Fraction]:
    """The law of a table for ideal random numbers."""
    n = len(table)
    result = [Fraction(0)] * n
    for i, (threshold, alias) in enumerate(table):
        keeps = Fraction(threshold, 2**32) if alias != i else Fraction(1)
        result[i] += keeps / n
        result[alias] += (1 - keeps) / n
    return result


def assert_is_exact(weights: list[int]) -> None:
    bound = Fraction(1, 2**32)  # n thresholds, each off by less than 2^-32 of a column 1/n
    for got, weight in zip(probabilities(table_of(weights)), weights, strict=True):
        assert abs(got - Fraction(weight, sum(weights))) <= bound
        if weight == 0:
            assert got == 0


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=64).filter(any))
def test_small_tables_are_exact(weights: list[int]) -> None:
    assert_is_exact(weights)


@pytest.mark.parametrize(
    "weights",
    [
        [1],
        [2**50 - 1],
        [0, 0, 1, 0],
        [1] * 8192,
        [2**49, *[1] * 8191],
        list(range(1, 8193)),
        [35, 281, 70, 210, 18, 70, 35, 281],
        [10, 6, 5, 2, 2],
    ],
)
def test_extreme_tables_are_exact(weights: list[int]) -> None:
    assert_is_exact(weights)


def test_equal_weights_need_no_other() -> None:
    assert table_of([7, 7, 7, 7]) == [(2**32 - 1, i) for i in range(4)]


def test_pick_follows_the_table_over_all_its_edges() -> None:
    weights = [3, 1, 0, 4]
    table = FFI.new("struct spek_alias[]", 4)
    LIB.spek_alias_init(table, FFI.new("u64[]", weights), 4)
    # 2^16 evenly spaced draws hit each thing in proportion to its weight, to the draw
    bits = np.arange(0, 2**32, 2**16, dtype=np.uint32)
    out = np.zeros(len(bits), dtype=np.uint32)
    LIB.shim_alias_pick(
        table,
        4,
        FFI.cast("u32 *", bits.ctypes.data),
        FFI.cast("u32 *", out.ctypes.data),
        len(bits),
    )
    assert list(np.bincount(out, minlength=4)) == [w * 2**16 // 8 for w in weights]
