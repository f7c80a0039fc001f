"""Metrics: the short way of counting and the long one agree, whatever comes in which order."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lib.core.spekcore import library

FFI, LIB = library()
BUCKETS = 2240
U64_MAX = 2**64 - 1
# Close to the ends of what is counted the short way, and anywhere.
TIMES = st.one_of(
    st.integers(0, 200),
    st.integers(2**40 - 200, 2**40 + 200),
    st.integers(0, U64_MAX),
    st.integers(0, 40).map(lambda bits: 1 << bits),
)
LISTS = st.lists(TIMES, max_size=60)
HOURS = st.lists(st.integers(2**62, U64_MAX), max_size=60)  # few of them pass 2^64 ns


def metric() -> Any:
    """Empty."""
    fresh = FFI.new("struct spek_metric *")
    LIB.spek_metric_empty(fresh)
    return fresh


def add(counted: Any, times: list[int]) -> None:
    LIB.shim_metric_add(counted, FFI.new("u64[]", times), len(times))


def value(of_sum: Any) -> int:
    return int(of_sum.high) << 64 | int(of_sum.low)


def histogram(counted: Any) -> list[int]:
    return list(np.frombuffer(FFI.buffer(counted.hist), dtype=np.uint32))


def expected(times: list[int]) -> list[int]:
    indexes = FFI.new("u32[]", len(times))
    LIB.shim_hist_index(FFI.new("u64[]", times), indexes, len(times))
    return list(np.bincount(np.array(list(indexes), dtype=np.int64), minlength=BUCKETS))


@given(st.one_of(LISTS, HOURS))
def test_every_time_is_counted(times: list[int]) -> None:
    counted = metric()
    add(counted, times)
    assert histogram(counted) == expected(times)
    assert value(counted.sum) == sum(times)
    assert counted.min == min(times, default=U64_MAX)
    assert counted.max == max(times, default=0)


@given(LISTS, LISTS)
def test_an_emptied_metric_counts_as_a_fresh_one(before: list[int], after: list[int]) -> None:
    counted = metric()
    add(counted, before)
    LIB.spek_metric_empty(counted)
    assert not any(histogram(counted))
    add(counted, after)
    assert histogram(counted) == expected(after)
    assert value(counted.sum) == sum(after)
    assert (counted.min, counted.max) == (min(after, default=U64_MAX), max(after, default=0))


@given(st.lists(st.one_of(LISTS, HOURS), max_size=8))
def test_sums_of_sums_carry(parts: list[list[int]]) -> None:
    """As those of workers make a row and totals: whichever of them passes 2^64, or only all."""
    whole = FFI.new("struct spek_sum *")
    for times in parts:
        counted = metric()
        add(counted, times)
        LIB.shim_sum_join(whole, FFI.addressof(counted, "sum"))
    assert value(whole) == sum(sum(times) for times in parts)


@given(st.lists(st.integers(0, 2**128 - 1), max_size=8))
def test_sums_carry_from_any_value(sums: list[int]) -> None:
    whole = FFI.new("struct spek_sum *")
    for part in sums:
        LIB.shim_sum_join(whole, FFI.new("struct spek_sum *", (part & U64_MAX, part >> 64)))
    assert value(whole) == sum(sums) % 2**128


@given(st.lists(st.integers(2**6, 2**40 - 1), min_size=1, max_size=60))
def test_the_index_without_checks_is_the_index(times: list[int]) -> None:
    indexes = FFI.new("u64[]", len(times))
    LIB.shim_hist_index_within(FFI.new("u64[]", times), indexes, len(times))
    checked = FFI.new("u32[]", len(times))
    LIB.shim_hist_index(FFI.new("u64[]", times), checked, len(times))
    assert list(indexes) == list(checked)
