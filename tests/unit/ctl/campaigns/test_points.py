# SPDX-License-Identifier: GPL-2.0
"""Points of a curve from results."""

from __future__ import annotations

import pytest
from lib.ctl.sweep_command import a_result, queue_kernel
from lib.fakes.queue_kernel import QueueKernel

from spekctl.campaigns import points
from spekctl.documents.curve import Load, Point

kernel = pytest.fixture(queue_kernel)


def test_figures_of_streams_merge_exactly(kernel: QueueKernel) -> None:
    """Percentiles of the whole are those of the merged buckets, as the result has them."""
    contents = a_result(kernel)
    point: Point = points.point_of(contents, Load("depth", 32))
    whole = contents.totals.all.times.response
    assert whole is not None and point.response is not None
    assert point.response.p999 == whole.percentiles_ns["p99.9"]
    assert point.response.p90 == whole.percentiles_ns["p90"]
    assert (point.response.mean, point.response.max) == (whole.mean_ns, whole.max_ns)
