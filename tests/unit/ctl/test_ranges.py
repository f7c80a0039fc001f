# SPDX-License-Identifier: GPL-2.0
"""Sets of addresses as ranges, against sets of numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl import ranges as module
from spekctl.ranges import Ranges

PARTS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=12)


def added(batches: list[list[tuple[int, int]]]) -> Ranges:
    """Of (first byte, length)."""
    ranges = Ranges()
    for batch in batches:
        first = np.array([start for start, _ in batch], np.uint64)
        ranges.add(first, first + np.array([length for _, length in batch], np.uint64))
    return ranges


@given(st.lists(PARTS, max_size=6), st.sampled_from([0, 5, 1 << 20]))
def test_the_set_is_the_union_however_often_it_settles(
    batches: list[list[tuple[int, int]]], compact: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_COMPACT", compact)
        ranges = added(batches)
    covered = {byte for batch in batches for start, n in batch for byte in range(start, start + n)}
    assert ranges.total == len(covered)
    first, end = (bounds.tolist() for bounds in ranges.ranges())
    assert {byte for pair in zip(first, end, strict=True) for byte in range(*pair)} == covered
    # They neither overlap nor touch.
    assert all(before < after for before, after in zip(end, first[1:], strict=False))
    assert len(ranges) == ranges.held == len(first)


@given(st.lists(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=8), max_size=6))
def test_what_is_touched_is_a_set_after_each_batch(batches: list[list[tuple[int, int]]]) -> None:
    ranges, expected = Ranges(), set()
    for batch in batches:
        first = np.array([at for at, _ in batch], np.uint64)
        end = np.array([at + length for at, length in batch], np.uint64)
        ranges.add(first, end)
        expected |= {block for at, length in batch for block in range(at, at + length)}
        assert ranges.total == len(expected)


def test_a_set_that_is_settled_now_and_then_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_COMPACT", 10)
    rng = np.random.default_rng(1)
    ranges, expected = Ranges(), set()
    for _ in range(50):
        first = rng.integers(0, 500, 7).astype(np.uint64)
        ranges.add(first, first + np.uint64(3))
        expected |= {int(start) + i for start in first for i in range(3)}
    assert len(ranges._parts) < 50
    assert ranges.total == len(expected)


@given(PARTS, PARTS)
def test_an_update_is_the_union(few: list[tuple[int, int]], more: list[tuple[int, int]]) -> None:
    first, second, both = added([few]), added([more]), added([few, more])
    first.update(second)
    assert [bounds.tolist() for bounds in first.ranges()] == [
        bounds.tolist() for bounds in both.ranges()
    ]
    assert second.total == added([more]).total


def test_the_whole_address_space_fits() -> None:
    ranges = added([[(0, 2**63 - 1)], [(2**63 - 1, 2**63)]])
    assert (ranges.total, len(ranges)) == (2**64 - 1, 1)


def test_ranges_that_come_again_do_not_fill_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_COMPACT", 1000)
    ranges = Ranges()
    first = np.arange(100, dtype=np.uint64) * np.uint64(8192)
    for _ in range(200):
        ranges.add(first, first + np.uint64(4096))
        assert ranges.held <= 1200
    assert (ranges.total, len(ranges)) == (409_600, 100)
