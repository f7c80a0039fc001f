# SPDX-License-Identifier: GPL-2.0
"""Order of time: within a file as far as the window reaches, and of several files together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.errors import UsageError
from spekctl.trace.columns import Batch, batch_of
from spekctl.trace.faults import Faults
from spekctl.trace.order import from_zero, in_order, merged, signed

TIMES = st.lists(st.lists(st.integers(-1000, 1000), max_size=30), max_size=6)


def stream(parts: list[list[int]], device: int = 0) -> Iterator[Batch]:
    place = 0
    for part in parts:
        offsets = np.arange(place, place + len(part), dtype=np.uint64)
        yield batch_of(np.array(part, np.int64), device, offsets, 1, 0)
        place += len(part)


def rows(batches: Iterator[Batch]) -> list[tuple[int, int]]:
    flat: list[tuple[int, int]] = []
    for batch in batches:
        assert len(batch)
        flat += zip(batch.at_ns.tolist(), batch.offset_bytes.tolist(), strict=True)
    return flat


@given(TIMES)
def test_what_the_window_holds_is_sorted_stably(parts: list[list[int]]) -> None:
    faults = Faults()
    flat = [at for part in parts for at in part]
    expected = sorted(
        zip(flat, range(len(flat)), strict=True), key=lambda at_and_place: at_and_place[0]
    )
    assert rows(in_order(stream(parts), faults)) == expected
    assert faults.unordered == sum(b < a for a, b in pairwise(flat))
    assert faults.moved == 0


@given(TIMES, st.integers(0, 10))
def test_what_is_later_than_the_window_moves_and_is_counted(
    parts: list[list[int]], window: int
) -> None:
    faults = Faults()
    ordered = rows(in_order(stream(parts), faults, window, more=1))
    flat = [at for part in parts for at in part]
    times = [at for at, _ in ordered]
    assert times == sorted(times)
    assert sorted(place for _, place in ordered) == list(range(len(flat)))
    changed = sum(at != flat[place] for at, place in ordered)
    assert changed == faults.moved


@given(st.lists(st.lists(st.lists(st.integers(0, 50), max_size=9), max_size=4), max_size=4))
def test_several_streams_are_one(streams: list[list[list[int]]]) -> None:
    ordered = [in_order(stream(parts, number), Faults()) for number, parts in enumerate(streams)]
    times = [at for at, _ in rows(merged(ordered))]
    assert times == sorted(at for parts in streams for part in parts for at in part)


def test_times_count_from_the_first_however_far_they_are_apart() -> None:
    times = [-(2**63), 0, 2**63 - 1]
    (batch,) = from_zero(stream([times]))
    assert batch.at_ns.dtype == np.uint64
    assert batch.at_ns.tolist() == [0, 2**63, 2**64 - 1]


def test_some_users_need_times_that_fit_an_int64() -> None:
    (short,) = from_zero(stream([[0, 2**63 - 1]]))
    assert list(signed([short])) == [short]
    with pytest.raises(UsageError, match="more than 292 years apart"):
        list(signed(from_zero(stream([[-1, 2**63 - 1]]))))
