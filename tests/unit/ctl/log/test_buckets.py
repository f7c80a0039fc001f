# SPDX-License-Identifier: GPL-2.0
"""Times of a log in the buckets that the module counts with."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spekctl.documents import histogram
from spekctl.log import buckets


def test_arrays_fall_into_the_same_buckets_as_single_times() -> None:
    picks = {0, 1, 63, 64, 127, 128, 129, 2**40 - 1, 2**40, 2**63}
    picks |= {2**power + delta for power in range(2, 41) for delta in (-1, 0, 1)}
    picks |= set(np.random.default_rng(1).integers(0, 2**41, 2000).tolist())
    ordered = sorted(picks)
    indices = buckets.index(np.array(ordered, dtype=np.uint64))
    assert indices.tolist() == [histogram.bucket_index(ns, buckets.BITS) for ns in ordered]


@given(st.lists(st.one_of(st.integers(0, 2**45), st.integers(2**62, 2**64 - 1)), max_size=50))
def test_a_histogram_has_all_times_and_their_exact_bounds(times: list[int]) -> None:
    hist = buckets.histogram(np.array(times, dtype=np.uint64))
    if not times:
        assert hist is None
        return
    assert hist is not None
    assert histogram.count_of(hist) == len(times)
    assert (hist.sum_ns, hist.min_ns, hist.max_ns) == (sum(times), min(times), max(times))
    assert all(hist.counts.values())
    assert max(hist.counts) < buckets.NR_BUCKETS
