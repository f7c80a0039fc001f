# SPDX-License-Identifier: GPL-2.0
"""The document of a result: its numbers can be recomputed from the buckets."""

from __future__ import annotations

import pytest
from lib.ctl.results import READS, WRITES, as_json, build

from spekctl.documents import histogram as documents_histogram
from spekctl.documents import result
from spekctl.kernel.records import Histogram


def test_percentiles_can_be_recomputed_from_the_buckets() -> None:
    data = as_json(build())
    parts = []
    for cell in data["cells"]:
        times = cell["times"]["response"]
        if times is None:
            continue
        buckets = times["histogram"]
        counts = dict(enumerate(buckets["counts"], start=buckets["first"]))
        parts.append(
            Histogram(buckets["bits"], counts, times["sum_ns"], times["min_ns"], times["max_ns"])
        )
        assert sum(buckets["counts"]) == cell["ios"] == times["count"]
    merged = documents_histogram.merge(parts)
    assert merged is not None
    total = data["totals"]["all"]["times"]["response"]
    for name, ppm in result.PERCENTILES.items():
        assert total["percentiles_ns"][name] == documents_histogram.percentile(merged, ppm)
    assert total["mean_ns"] == pytest.approx(sum(READS + WRITES) / 100)
    assert (total["min_ns"], total["max_ns"]) == (min(READS), max(WRITES))
