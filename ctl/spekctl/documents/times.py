# SPDX-License-Identifier: GPL-2.0-or-later
"""The times of I/Os as documents have them: exact buckets, and figures derived from them."""

from typing import Annotated

from msgspec import Meta

from spekctl.documents.document import Part
from spekctl.documents.histogram import (
    HIST_MAX_BITS,
    count_of,
    dense,
    mean,
    percentiles,
)
from spekctl.kernel.records import (
    Histogram,
)

PERCENTILES: dict[str, int] = {
    "p50": 500_000,
    "p90": 900_000,
    "p95": 950_000,
    "p99": 990_000,
    "p99.9": 999_000,
    "p99.99": 999_900,
}


class Buckets(Part, frozen=True):
    """A histogram: counts of consecutive buckets; kmod/core/hist.h says what a bucket is."""

    bits: Annotated[int, Meta(description="M: 2^M buckets for every power of two.")]
    max_bits: Annotated[int, Meta(description="Values from 2^max_bits ns on share one bucket.")]
    first: Annotated[int, Meta(description="Index of the bucket that counts[0] counts.")]
    counts: list[int]

    def __post_init__(self) -> None:
        if not 0 <= self.bits <= self.max_bits <= HIST_MAX_BITS:
            raise ValueError(f"bits and max_bits have to be 0 to {HIST_MAX_BITS}, bits the smaller")
        room = ((self.max_bits - self.bits + 1) << self.bits) - len(self.counts)
        if not 0 <= self.first <= room:
            raise ValueError("first and counts name buckets that a histogram of bits does not have")
        if min(self.counts, default=0) < 0:
            raise ValueError("counts have to be 0 or more")


class Distribution(Part, frozen=True):
    """Distribution of one kind of time."""

    count: int
    sum_ns: int
    mean_ns: float
    min_ns: int
    max_ns: int
    percentiles_ns: Annotated[
        dict[str, int], Meta(description="Nearest rank; a value is the middle of its bucket.")
    ]
    histogram: Annotated[
        Buckets | None, Meta(description="Missing in sums; add up those of the cells.")
    ] = None

    def __post_init__(self) -> None:
        missing = [name for name in PERCENTILES if name not in self.percentiles_ns]
        if missing:
            raise ValueError(f"percentiles_ns has no {', '.join(missing)}")


def histogram_of(times: Distribution | None) -> Histogram | None:
    """The buckets of a distribution that has them, to be merged with others (histogram.merge): as
    those of the kernel without empty buckets, which are most between the first and the last."""
    if times is None or times.histogram is None:
        return None
    buckets = times.histogram
    filled = enumerate(buckets.counts, start=buckets.first)
    counts = {index: count for index, count in filled if count}
    return Histogram(buckets.bits, counts, times.sum_ns, times.min_ns, times.max_ns)


def distribution(histogram: Histogram | None, with_buckets: bool) -> Distribution | None:
    """A histogram as a document has it; None without values."""
    if histogram is None or not histogram.counts:
        return None
    first, counts = dense(histogram.counts)
    return Distribution(
        count=count_of(histogram),
        sum_ns=histogram.sum_ns,
        mean_ns=mean(histogram),
        min_ns=histogram.min_ns,
        max_ns=histogram.max_ns,
        percentiles_ns=dict(
            zip(PERCENTILES, percentiles(histogram, PERCENTILES.values()), strict=True)
        ),
        histogram=(Buckets(histogram.bits, HIST_MAX_BITS, first, counts) if with_buckets else None),
    )


class Times(Part, frozen=True):
    """The three times of an I/O; null where no I/O was counted."""

    response: Annotated[
        Distribution | None, Meta(description="Completion minus intended arrival.")
    ] = None
    service: Annotated[
        Distribution | None,
        Meta(
            description="Completion minus issue, which is the first try to hand over the I/O: with"
            " every back end a wait for a free request of the device is included."
        ),
    ] = None
    slip: Annotated[Distribution | None, Meta(description="Issue minus intended arrival.")] = None
