# SPDX-License-Identifier: GPL-2.0
"""Idle times that are cut to a limit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.traces import batch

from spekctl.trace.columns import Op
from spekctl.trace.idle import Idle


@given(
    st.lists(st.integers(0, 10**18), min_size=1, max_size=30).map(sorted),
    st.integers(1, 10**18),
    st.integers(1, 9),
)
def test_the_limit_holds_across_batches(times: list[int], limit: int, rows: int) -> None:
    idle = Idle(limit)
    parts = [
        batch([(at, 0, 0, 512, Op.READ) for at in times[first : first + rows]])
        for first in range(0, len(times), rows)
    ]
    cut = [int(at) for part in idle.of(parts) for at in part.at_ns]
    recorded = np.diff([0, *times]).tolist()
    assert np.diff([0, *cut]).tolist() == [min(gap, limit) for gap in recorded]
    assert (idle.count, idle.cut_ns) == (sum(gap > limit for gap in recorded), times[-1] - cut[-1])


def test_without_a_limit_times_are_as_recorded() -> None:
    idle = Idle(0)
    (same,) = idle.of([batch([(0, 0, 0, 512, Op.READ), (10**15, 0, 0, 512, Op.READ)])])
    assert same.at_ns.tolist() == [0, 10**15]
    assert (idle.count, idle.cut_ns) == (0, 0)
