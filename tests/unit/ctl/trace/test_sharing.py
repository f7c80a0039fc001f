# SPDX-License-Identifier: GPL-2.0
"""Workers that share a trace: all records, each once, and what overlaps with one worker."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.trace.columns import Op
from spekctl.trace.schedule import Block
from spekctl.trace.sharing import Sharing, sharing
from spekctl.workload.values import Share

# target, first sector, sectors: all on the smaller target, which has 200
Request = tuple[int, int, int]
CAPACITY = 1 << 20
requests = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 180), st.integers(1, 20)), max_size=40
)
ways = st.sampled_from(["address", "time"])


def block(requests: list[Request], op: int = Op.READ) -> Block:
    """Requests in order, of whole sectors."""
    target, first, size = np.array(requests, np.uint64).reshape(-1, 3).T

    def column(values: Any, kind: Any) -> Any:
        return np.broadcast_to(values, len(requests)).astype(kind)

    at = np.arange(len(requests), dtype=np.uint64)
    offset, length = column(first * 512, np.uint64), column(size * 512, np.uint64)
    return Block(at, offset, length, column(op, "u1"), column(0, "u1"), column(target, "u4"), at)


def shared(requests: list[Request], workers: int, by: Share, rows: int = 7) -> list[int]:
    """The worker of each request."""
    blocks = [block(requests[at : at + rows]) for at in range(0, len(requests), rows)]
    way: Sharing = sharing(blocks, workers, [200 * 512, CAPACITY], by)
    return [int(worker) for part in blocks for worker in way.workers(part)]


@given(requests, st.integers(1, 5), ways, st.integers(1, 50))
def test_requests_that_overlap_have_one_worker(
    requests: list[Request], workers: int, by: Share, rows: int
) -> None:
    assigned = shared(requests, workers, by, rows)

    assert len(assigned) == len(requests)
    assert all(0 <= worker < workers for worker in assigned)
    for (first, mine), (second, theirs) in itertools.combinations(
        zip(requests, assigned, strict=True), 2
    ):
        overlap = first[0] == second[0] and max(first[1], second[1]) < min(
            first[1] + first[2], second[1] + second[2]
        )
        assert not overlap or mine == theirs


@given(requests, ways, st.integers(1, 50))
def test_blocks_make_no_difference(requests: list[Request], by: Share, rows: int) -> None:
    assert shared(requests, 3, by, rows) == shared(requests, 3, by, 1000)


def test_by_address_each_worker_has_a_part_of_each_target() -> None:
    requests = [(target, at, 1) for target, at in itertools.product((0, 1), (0, 99, 100, 199))]
    # The first target has 200 sectors, the second 2048.
    assert shared(requests, 2, "address") == [0, 0, 1, 1, 0, 0, 0, 0]


def test_by_address_what_overlaps_across_the_end_of_a_part_stays() -> None:
    requests = [(0, 98, 4), (0, 101, 3), (0, 103, 2), (0, 105, 1)]
    assert shared(requests, 2, "address") == [0, 0, 0, 1]


def test_by_time_workers_take_turns() -> None:
    requests = [(0, 50, 1), (0, 10, 1), (1, 50, 1), (0, 50, 1), (0, 11, 1)]
    assert shared(requests, 3, "time") == [0, 1, 2, 0, 0]


def test_requests_that_touch_are_shared() -> None:
    requests = [(0, at, 4) for at in range(0, 40, 4)]
    assert shared(requests, 2, "time") == [0, 1] * 5


def test_a_trace_that_overlaps_all_the_way_has_one_worker() -> None:
    requests = [(0, at, 4) for at in range(0, 190, 3)]
    for by in ("address", "time"):
        assert set(shared(requests, 4, by)) == {0}


@pytest.mark.parametrize("by", ["address", "time"])
def test_flushes_and_traces_without_addresses_have_a_worker(by: Share) -> None:
    flush = Block(*(np.zeros(1, kind) for kind in ("u8", "u8", "u8")), *_flush())
    assert sharing([flush], 2, [CAPACITY], by).workers(flush).tolist() == [0]
    both = [block([(0, 500, 1)]), flush]
    assert sharing(both, 2, [CAPACITY], by).workers(flush).tolist() == [0]


def _flush() -> tuple[Any, ...]:
    """Operation, flags, target and index of a flush."""
    return np.full(1, Op.FLUSH, "u1"), np.zeros(1, "u1"), np.zeros(1, "u4"), np.zeros(1, "u8")
