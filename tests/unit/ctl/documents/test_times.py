# SPDX-License-Identifier: GPL-2.0
"""Times in documents: they can be recomputed from the buckets, and broken ones are refused."""

from __future__ import annotations

import pytest
from lib.ctl.results import READS, WRITES, as_json, build

from spekctl.documents import histogram as documents_histogram
from spekctl.documents import times
from spekctl.kernel.records import Histogram


def test_percentiles_can_be_recomputed_from_the_buckets() -> None:
    data = as_json(build())
    parts = []
    for cell in data["cells"]:
        response = cell["times"]["response"]
        if response is None:
            continue
        buckets = response["histogram"]
        counts = dict(enumerate(buckets["counts"], start=buckets["first"]))
        parts.append(
            Histogram(
                buckets["bits"], counts, response["sum_ns"], response["min_ns"], response["max_ns"]
            )
        )
        assert sum(buckets["counts"]) == cell["ios"] == response["count"]
    merged = documents_histogram.merge(parts)
    assert merged is not None
    total = data["totals"]["all"]["times"]["response"]
    for name, ppm in times.PERCENTILES.items():
        assert total["percentiles_ns"][name] == documents_histogram.percentile(merged, ppm)
    assert total["mean_ns"] == pytest.approx(sum(READS + WRITES) / 100)
    assert (total["min_ns"], total["max_ns"]) == (min(READS), max(WRITES))


def test_a_distribution_and_its_histogram_are_the_same() -> None:
    histogram = Histogram(2, {5: 3, 9: 1}, 70, 12, 31)
    kept = times.distribution(histogram, True)
    assert kept is not None and kept.histogram is not None
    assert kept.histogram.counts == [3, 0, 0, 0, 1]
    again = times.histogram_of(kept)
    assert again is not None
    assert again == histogram


def test_without_values_or_buckets_there_is_nothing_to_merge() -> None:
    assert times.distribution(None, True) is None
    assert times.distribution(Histogram(2, {}, 0, 0, 0), True) is None
    assert times.histogram_of(None) is None
    assert times.histogram_of(times.distribution(Histogram(2, {5: 3}, 36, 12, 12), False)) is None


@pytest.mark.parametrize(
    ("buckets", "reason"),
    [
        ((5, 4, 0, [1]), "bits and max_bits have to be 0 to"),
        ((2, 4, 11, [1, 1]), "a histogram of bits does not have"),
        ((2, 4, -1, [1]), "a histogram of bits does not have"),
        ((2, 4, 0, [1, -1]), "counts have to be 0 or more"),
    ],
)
def test_buckets_that_no_histogram_has_are_refused(
    buckets: tuple[int, int, int, list[int]], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        times.Buckets(*buckets)


def test_a_distribution_without_a_percentile_is_refused() -> None:
    with pytest.raises(ValueError, match=r"percentiles_ns has no p50, p99\.99"):
        times.Distribution(1, 1, 1.0, 1, 1, {name: 1 for name in ("p90", "p95", "p99", "p99.9")})
