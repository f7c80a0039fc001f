# SPDX-License-Identifier: GPL-2.0-or-later
"""Histograms of the module: what a bucket means, merging, percentiles.

The same arithmetic as kmod/core/hist.c (a test compares them): with M bits, values below
2^(M+1) have a bucket each; above, a group of 2^M buckets for every power of two. A bucket stands
for its middle, a percentile is the nearest rank, bounded by the exact maximum.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from spekctl.kernel.records import Histogram

# What the module counts with.
HIST_BITS = 6
HIST_MAX_BITS = 40
PPM = 1_000_000


def bucket_index(ns: int, bits: int) -> int:
    """Bucket of a value."""
    if ns >> HIST_MAX_BITS:
        return last_bucket(bits)
    shift = max(ns.bit_length() - 1, bits) - bits
    return (shift << bits) + (ns >> shift)


def last_bucket(bits: int) -> int:
    """The last bucket; it also holds everything from 2^40 ns on."""
    return ((HIST_MAX_BITS - bits + 1) << bits) - 1


def bucket_low(index: int, bits: int) -> int:
    """The smallest value of a bucket, and the end of the one before."""
    shift = _shift(index, bits)
    return (index - (shift << bits)) << shift


def bucket_value(index: int, bits: int) -> int:
    """Value that stands for a bucket: its middle."""
    return bucket_low(index, bits) + ((1 << _shift(index, bits)) >> 1)


def _shift(index: int, bits: int) -> int:
    """A bucket is 2^this wide."""
    return 0 if index < 2 << bits else (index >> bits) - 1


def merge(histograms: Iterable[Histogram]) -> Histogram | None:
    """Sum of histograms of the same kind; None of none. Exact: buckets are just added."""
    merged: Histogram | None = None
    for histogram in histograms:
        if not histogram.counts:
            continue
        if merged is None:
            merged = Histogram(
                histogram.bits,
                dict(histogram.counts),
                histogram.sum_ns,
                histogram.min_ns,
                histogram.max_ns,
            )
            continue
        if histogram.bits != merged.bits:
            raise ValueError(
                f"histograms with {histogram.bits} and {merged.bits} bits don't add up"
            )
        counts = merged.counts
        for index, count in histogram.counts.items():
            counts[index] = counts.get(index, 0) + count
        merged = Histogram(
            merged.bits,
            counts,
            merged.sum_ns + histogram.sum_ns,
            min(merged.min_ns, histogram.min_ns),
            max(merged.max_ns, histogram.max_ns),
        )
    return merged


def count_of(histogram: Histogram) -> int:
    """How many values were counted."""
    return sum(histogram.counts.values())


def percentile(histogram: Histogram, ppm: int) -> int:
    """Value at or below which @ppm of the counted values lie; 0 if there are none."""
    return percentiles(histogram, (ppm,))[0]


def percentiles(histogram: Histogram, ppms: Iterable[int]) -> list[int]:
    """Several of them."""
    total = count_of(histogram)
    return at_ranks(histogram, (-(-total * ppm // PPM) for ppm in ppms))


def at_ranks(histogram: Histogram, ranks: Iterable[int]) -> list[int]:
    """The values of these ranks, from 1 for the smallest value; 0 if there are no values."""
    order = sorted(histogram.counts)
    reached = list(accumulate(histogram.counts[index] for index in order))
    return [_at_rank(histogram, order, reached, rank) for rank in ranks]


def _at_rank(histogram: Histogram, order: Sequence[int], reached: Sequence[int], rank: int) -> int:
    """The value of this rank; @reached: values up to and in each bucket of @order."""
    if not reached or not reached[-1]:
        return 0
    index = order[bisect_left(reached, min(max(1, rank), reached[-1]))]
    if index == last_bucket(histogram.bits) and histogram.max_ns >> HIST_MAX_BITS:
        return histogram.max_ns
    return min(bucket_value(index, histogram.bits), histogram.max_ns)


def mean(histogram: Histogram) -> float:
    """Exact mean, from the sum; 0 if there are no values."""
    total = count_of(histogram)
    return histogram.sum_ns / total if total else 0.0


def dense(counts: Mapping[int, int]) -> tuple[int, list[int]]:
    """(index of the first bucket, counts from there to the last one that is not empty)."""
    used = {index: count for index, count in counts.items() if count}
    if not used:
        return 0, []
    first = min(used)
    filled = [0] * (max(used) - first + 1)
    for index, count in used.items():
        filled[index - first] = count
    return first, filled
