# SPDX-License-Identifier: GPL-2.0
"""Sets of bytes as ranges, against sets of bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.trace import intervals as module
from spekctl.trace.intervals import Intervals

RANGES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=12)


def added(batches: list[list[tuple[int, int]]]) -> Intervals:
    """Of (first byte, length)."""
    found = Intervals()
    for one in batches:
        first = np.array([start for start, _ in one], np.uint64)
        found.add(first, first + np.array([length for _, length in one], np.uint64))
    return found


@given(st.lists(RANGES, max_size=6), st.sampled_from([0, 5, 1 << 20]))
def test_the_set_is_the_union_however_often_it_settles(
    batches: list[list[tuple[int, int]]], compact: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_COMPACT", compact)
        found = added(batches)
    covered = {byte for one in batches for start, n in one for byte in range(start, start + n)}
    assert found.bytes == len(covered)
    first, end = (one.tolist() for one in found.ranges())
    assert {byte for pair in zip(first, end, strict=True) for byte in range(*pair)} == covered
    # They neither overlap nor touch.
    assert all(before < after for before, after in zip(end, first[1:], strict=False))
    assert len(found) == found.held == len(first)


def test_reading_between_additions_loses_nothing() -> None:
    found = added([[(0, 10), (20, 10)]])
    assert (found.bytes, len(found)) == (20, 2)
    found.add(np.array([10], np.uint64), np.array([20], np.uint64))
    assert (found.bytes, len(found)) == (30, 1)


def test_the_whole_address_space_fits() -> None:
    found = added([[(0, 2**63 - 1)], [(2**63 - 1, 2**63)]])
    assert (found.bytes, len(found)) == (2**64 - 1, 1)


def test_ranges_that_come_again_do_not_fill_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_COMPACT", 1000)
    found = Intervals()
    first = np.arange(100, dtype=np.uint64) * np.uint64(8192)
    for _ in range(200):
        found.add(first, first + np.uint64(4096))
        assert found.held <= 1200
    assert (found.bytes, len(found)) == (409_600, 100)
