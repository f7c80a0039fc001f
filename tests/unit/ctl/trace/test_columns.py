# SPDX-License-Identifier: GPL-2.0
"""Columns of records: devices by number and by name, words, and addresses that cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.traces import batch

from spekctl.trace.columns import (
    END_MAX,
    Devices,
    Misfit,
    Op,
    Words,
    batch_of,
    check_extents,
    concatenated,
    grouped,
    in_bytes,
    pieces,
)


@given(st.lists(st.integers(0, 4), max_size=30))
def test_groups_are_the_records_of_each_key_in_their_order(keys: list[int]) -> None:
    places = np.arange(len(keys))
    groups = {key: places[which].tolist() for key, which in grouped(np.array(keys, np.uint32))}
    assert list(groups) == sorted(set(keys))
    assert groups == {
        key: [n for n, of_record in enumerate(keys) if of_record == key] for key in set(keys)
    }


@given(st.integers(0, 40), st.integers(1, 50))
def test_pieces_make_the_batch_again(count: int, rows: int) -> None:
    whole = batch([(n, n % 3, n * 512, 512, Op.READ) for n in range(count)])
    parts = list(pieces(whole, rows))
    assert all(0 < len(part) <= rows for part in parts)
    if parts:
        assert np.array_equal(concatenated(parts).offset_bytes, whole.offset_bytes)
    else:
        assert count == 0


@given(st.lists(st.lists(st.integers(0, 2**32), max_size=9), max_size=5))
def test_devices_are_numbered_as_they_are_met(batches: list[list[int]]) -> None:
    devices, by_word = Devices(), Devices()
    flat = [number for part in batches for number in part]
    numbers: list[int] = []
    for part in batches:
        numbers += devices.of_numbers(np.array(part, np.uint64)).tolist()
        values = sorted({str(number) for number in part}, reverse=True)
        codes = np.array([values.index(str(number)) for number in part], np.int64)
        by_word.of_words(Words(codes, [*values, "of no record"]))
    assert devices.names == [str(number) for number in dict.fromkeys(flat)]
    assert [devices.names[number] for number in numbers] == [str(number) for number in flat]
    assert by_word.names == devices.names


def test_words_have_their_numbers_and_only_those_that_occur_count() -> None:
    words = Words(np.array([1, 0, 1]), ["R ", "w", "of a line that was left out"])
    assert words.mapped({"R": 0, "w": 1}, "operation").tolist() == [1, 0, 1]
    with pytest.raises(Misfit) as caught:
        Words(np.array([0]), ["x" * 100]).mapped({"R": 0}, "operation")
    assert caught.value.reason == f"unknown operation '{'x' * 40}'"


@pytest.mark.parametrize("unit", [1, 512, 4096])
def test_the_last_address_is_that_of_loff_t(unit: int) -> None:
    most = END_MAX // unit
    assert in_bytes(np.array([0, most], np.uint64), unit, "lba").tolist() == [0, most * unit]
    with pytest.raises(Misfit, match=r"^lba beyond 8 EiB$"):
        in_bytes(np.array([0, most + 1], np.uint64), unit, "lba")
    assert not len(in_bytes(np.array([], np.uint64), unit, "lba"))


@pytest.mark.parametrize(
    ("offset", "size", "reason"),
    [
        (END_MAX, 0, ""),
        (0, END_MAX, ""),
        (END_MAX + 1, 0, "offset beyond 8 EiB"),
        (0, END_MAX + 1, "size beyond 8 EiB"),
        (1, END_MAX, "end beyond 8 EiB"),
        (2**64 - 1, 1, "offset beyond 8 EiB"),
    ],
)
def test_no_request_lies_beyond_it(offset: int, size: int, reason: str) -> None:
    whole = batch([(0, 0, 0, 512, Op.READ), (1, 0, offset, size, Op.READ)])
    if not reason:
        assert check_extents(whole) is whole
        return
    with pytest.raises(Misfit) as caught:
        check_extents(whole)
    assert caught.value.reason == reason


def test_scalars_stand_for_a_column() -> None:
    batch = batch_of([3, -1], 2, [0, 8], 512, Op.WRITE)
    assert batch.at_ns.tolist() == [3, -1]
    assert batch.end_bytes.tolist() == [512, 520]
    assert (batch.device.tolist(), batch.op.tolist(), batch.flags.tolist()) == (
        [2, 2],
        [Op.WRITE, Op.WRITE],
        [0, 0],
    )
