# SPDX-License-Identifier: GPL-2.0
"""Histograms in Python are those of the module, and percentiles those of numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.spekcore import library
from lib.fakes.kernel import HIST_BITS, histogram

from spekctl.documents import histogram as documents_histogram
from spekctl.kernel.records import Histogram

FFI, LIB = library()
TIMES = st.one_of(st.integers(0, 300), st.integers(0, 2**41), st.integers(0, 2**63))


@given(st.lists(TIMES, min_size=1))
def test_buckets_are_those_of_the_module(values: list[int]) -> None:
    out = FFI.new("u32[]", len(values))
    LIB.shim_hist_index(FFI.new("u64[]", values), out, len(values))
    assert [documents_histogram.bucket_index(value, HIST_BITS) for value in values] == list(out)


def test_every_bucket_has_the_value_of_the_module() -> None:
    last = documents_histogram.last_bucket(HIST_BITS)
    for index in range(last + 1):
        assert documents_histogram.bucket_value(index, HIST_BITS) == LIB.spek_hist_value(index)
        assert (
            documents_histogram.bucket_index(
                documents_histogram.bucket_value(index, HIST_BITS), HIST_BITS
            )
            == index
        )


@given(st.lists(TIMES, min_size=1, max_size=300), st.integers(0, 1_000_000))
def test_percentiles_are_those_of_the_module(values: list[int], ppm: int) -> None:
    hist = histogram(values)
    counts = [
        hist.counts.get(index, 0) for index in range(documents_histogram.last_bucket(HIST_BITS) + 1)
    ]
    theirs = LIB.spek_hist_percentile(FFI.new("u64[]", counts), len(values), ppm, max(values))
    assert documents_histogram.percentile(hist, ppm) == theirs


@pytest.mark.parametrize("ppm", [0, 500_000, 900_000, 990_000, 999_000, 999_900, 1_000_000])
@pytest.mark.parametrize("scale", [100, 50_000, 3_000_000, 10**9])
def test_percentiles_are_those_of_numpy_within_the_error_bound(ppm: int, scale: int) -> None:
    values = np.random.default_rng(scale).exponential(scale, 20_011).astype(np.uint64)
    exact = int(np.percentile(values, ppm / 10_000, method="inverted_cdf"))
    percentile = documents_histogram.percentile(histogram([int(value) for value in values]), ppm)
    assert abs(percentile - exact) <= max(exact / 128, 0)


@given(st.lists(st.lists(TIMES, min_size=1), min_size=1, max_size=5))
def test_merging_is_counting_together(parts: list[list[int]]) -> None:
    merged = documents_histogram.merge(histogram(part) for part in parts)
    assert merged == histogram([value for part in parts for value in part])


def test_merging_leaves_its_parts_alone() -> None:
    first, second = histogram([1, 2]), histogram([2, 3])
    before = dict(first.counts)
    documents_histogram.merge([first, second])
    assert first.counts == before


def test_nothing_merges_to_nothing() -> None:
    assert documents_histogram.merge([]) is None
    assert documents_histogram.percentile(Histogram(HIST_BITS, {}, 0, 0, 0), 500_000) == 0
    assert documents_histogram.mean(Histogram(HIST_BITS, {}, 0, 0, 0)) == 0
    assert documents_histogram.dense({}) == (0, [])


def test_histograms_of_different_kinds_do_not_merge() -> None:
    with pytest.raises(ValueError, match="bits"):
        documents_histogram.merge([histogram([1]), Histogram(7, {1: 1}, 1, 1, 1)])


def test_dense_counts_go_from_the_first_to_the_last() -> None:
    assert documents_histogram.dense({5: 1, 8: 2}) == (5, [1, 0, 0, 2])
