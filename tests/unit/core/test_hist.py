"""Histogram: edges, error bound, percentiles against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.spekcore import library

FFI, LIB = library()
BITS, MAX_BITS, BUCKETS = 6, 40, 2240


def index(values: list[int]) -> list[int]:
    out = FFI.new("u32[]", len(values))
    LIB.shim_hist_index(FFI.new("u64[]", values), out, len(values))
    return list(out)


def count(values: np.ndarray) -> np.ndarray:
    counts = np.zeros(BUCKETS, dtype=np.uint64)
    values = np.ascontiguousarray(values, dtype=np.uint64)
    LIB.shim_hist_count(
        FFI.cast("u64 *", values.ctypes.data),
        len(values),
        FFI.cast("u64 *", counts.ctypes.data),
    )
    return counts


def percentile(counts: np.ndarray, ppm: int, max_ns: int) -> int:
    pointer = FFI.cast("u64 *", counts.ctypes.data)
    return int(LIB.spek_hist_percentile(pointer, int(counts.sum()), ppm, max_ns))


@pytest.mark.parametrize(
    ("ns", "bucket"),
    [
        (0, 0),
        (127, 127),
        (128, 128),
        (129, 128),
        (130, 129),
        (255, 191),
        (256, 192),
        (2**40 - 1, 2239),
        (2**40, 2239),
        (2**64 - 1, 2239),
    ],
)
def test_edges(ns: int, bucket: int) -> None:
    assert index([ns]) == [bucket]


def test_buckets_tile_the_range() -> None:
    lows = [LIB.spek_hist_low(i) for i in range(BUCKETS)]
    assert lows[0] == 0
    assert lows == sorted(set(lows))
    assert index(lows) == list(range(BUCKETS))
    # the last value before each bucket lies in the one before
    assert index([low - 1 for low in lows[1:]]) == list(range(BUCKETS - 1))


@given(st.integers(0, 2**MAX_BITS - 1))
def test_a_bucket_stands_for_its_values_within_one_part_in_128(ns: int) -> None:
    value = LIB.spek_hist_value(index([ns])[0])
    assert abs(value - ns) * 128 <= ns


@given(
    st.lists(st.integers(0, 2**MAX_BITS - 1), min_size=1, max_size=300),
    st.integers(0, 1_000_000),
)
def test_percentiles_agree_with_numpy(values: list[int], ppm: int) -> None:
    data = np.array(values, dtype=np.uint64)
    # numpy's inverted_cdf is the nearest rank, rounded up; in integers to have no doubt at steps
    rank = max(1, -(-len(values) * ppm // 1_000_000))
    exact = sorted(values)[rank - 1]
    got = percentile(count(data), ppm, max(values))
    assert abs(got - exact) * 128 <= exact
    assert got <= max(values)
    if ppm in (0, 500_000, 1_000_000):
        assert exact == np.percentile(data, ppm / 10_000, method="inverted_cdf")


def test_percentile_of_nothing_is_zero() -> None:
    assert percentile(np.zeros(BUCKETS, dtype=np.uint64), 500_000, 0) == 0


def test_percentile_beyond_the_range_is_the_maximum() -> None:
    counts = count(np.array([5, 2**50], dtype=np.uint64))
    assert percentile(counts, 500_000, 2**50) == 5
    assert percentile(counts, 1_000_000, 2**50) == 2**50


def test_rank_of_a_huge_total_does_not_overflow() -> None:
    counts = np.zeros(BUCKETS, dtype=np.uint64)
    counts[10], counts[20] = 2**62, 2**62
    assert percentile(counts, 500_000, 1000) == 10
    assert percentile(counts, 500_001, 1000) == 20
