# SPDX-License-Identifier: GPL-2.0
"""Block sizes of fio's jobs: ranges with more sizes than a stream can have."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.fio_jobs import plan

from spekctl.fio import sizes
from spekctl.fio.plan import Plan
from spekctl.workload.values import SIZES_MAX


def shares_of(planned: Plan) -> dict[int, int]:
    return {stream["size"]: stream["share"] for stream in planned.streams[0]["sizes"]}


def test_a_range_has_as_many_sizes_as_a_stream_can_have() -> None:
    planned = plan(rw="randread", bsrange=f"512-{512 * SIZES_MAX}")
    assert len(planned.streams[0]["sizes"]) == SIZES_MAX
    assert sizes.RANGE not in planned.differences


@given(st.integers(SIZES_MAX + 1, 20 * SIZES_MAX), st.sampled_from("-:"))
def test_a_size_of_a_long_range_stands_for_its_neighbours(count: int, between: str) -> None:
    planned = plan(rw="randread", bsrange=f"512{between}{512 * count}")
    shares = shares_of(planned)
    assert len(shares) <= SIZES_MAX and sum(shares.values()) == count
    mean = Fraction(sum(size * often for size, often in shares.items()), count)
    assert abs(mean - Fraction(512 * (1 + count), 2)) <= 256
    assert sizes.RANGE in planned.differences
