"""Power of rows: the totals of a rail at their starts outlive the rail's samples."""

from __future__ import annotations

import errno
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.railcore import Rail, Tally, library

MS = 10**6
W = 10**6
LONG = 320  # samples of a rail that forgets nothing here


@pytest.fixture(scope="module")
def lib() -> Any:
    return library()


def short(lib: Any, rows: int = 1000) -> Tally:
    """Of a rail that keeps as few samples as there may be."""
    return Tally(Rail(lib, 64), rows)


STEPS = st.one_of(st.just(0), st.integers(1, 10), st.integers(1, 10**10))
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("row"), STEPS, st.just(0), st.just(False)),
        st.tuples(st.just("mark"), STEPS, st.just(0), st.just(False)),
        st.tuples(st.just("sample"), STEPS, st.integers(-(10**12), 10**12), st.booleans()),
    ),
    max_size=300,
)


@given(events=EVENTS, ended=st.booleans(), budget=st.sampled_from([0, 1, 3, 1 << 31]))
def test_rows_have_the_totals_of_a_rail_that_forgets_nothing(
    lib: Any, events: Any, ended: bool, budget: int
) -> None:
    tally, rail = short(lib), Rail(lib, LONG)
    for (kind, _, power, gap), at_ns in zip(
        events, accumulate(step for _, step, _, _ in events), strict=True
    ):
        if kind == "row":
            tally.starts.append(at_ns)
        elif kind == "mark":
            tally.rail.mark(at_ns)
            rail.mark(at_ns)
        else:
            assert tally.push(at_ns, power, gap, budget) == rail.push(at_ns, power, gap)
        tally.take(budget)

    for seq, start_ns in enumerate(tally.starts):
        error, energy, known, gap_ns = rail.total(start_ns, ended)
        nj = int(energy * 10**9 // 1) % 2**64
        assert tally.read(seq, ended) == ((error, 0, 0, 0) if error else (0, nj, known, gap_ns))


def test_a_row_keeps_its_power_when_its_samples_are_overwritten(lib: Any) -> None:
    tally = short(lib)
    tally.starts = [n * 10 * MS for n in range(100)]
    for n in range(1001):
        tally.push(n * MS, 3 * W)

    assert tally.rail.total(10 * MS)[0] == -errno.ESTALE
    assert [tally.read(seq) for seq in range(100)] == [
        (0, 30 * n * 10**6, n * 10 * MS, 0) for n in range(100)
    ]


def test_many_rows_of_a_rail_that_was_silent_are_taken_one_by_one(lib: Any) -> None:
    """They have their power meanwhile, and those that a sample would lose are taken before it."""
    tally = short(lib, rows=1000)
    for n in range(64):
        tally.push(n * MS, 3 * W)
    tally.starts = [63 * MS + n * MS // 8 for n in range(1, 401)]
    tally.push(113 * MS, 3 * W)
    tally.take(10)
    assert tally.c.next == 10
    for n in range(62):
        tally.push((114 + n) * MS, 3 * W, budget=1)
        assert tally.c.next == 11 + n
    rows = [(0, 3 * start, start, 0) for start in tally.starts]
    assert [tally.read(seq) for seq in range(400)] == rows
    # Sample 63, the oldest now, is overwritten; the last row starts at the sample after it.
    tally.push(176 * MS, 3 * W, budget=1)
    assert tally.c.next == 399
    assert [tally.read(seq) for seq in range(400)] == rows


def test_samples_of_one_batch_do_not_overtake_a_row(lib: Any) -> None:
    """A batch may have more samples than the rail keeps."""
    tally = short(lib)
    tally.starts = [5 * MS]
    for n in range(1000):
        tally.push(n * MS, W)
    assert tally.read(0) == (0, 5 * 10**6, 5 * MS, 0)


def test_rows_await_samples_that_may_still_come(lib: Any) -> None:
    tally = short(lib)
    tally.starts = [0, MS, 2 * MS]
    tally.push(0, W)
    tally.take()
    assert [tally.read(seq)[0] for seq in range(3)] == [0, -errno.EAGAIN, -errno.EAGAIN]
    assert tally.read(2, ended=True) == (0, 0, 0, 2 * MS)
    tally.push(MS, W)
    tally.take()
    assert tally.read(1) == (0, 10**6, MS, 0)


def test_a_row_before_the_first_sample_has_no_total(lib: Any) -> None:
    tally = short(lib)
    tally.starts = [5, 10]
    tally.push(10, W)
    tally.take()
    assert [tally.read(seq)[0] for seq in range(2)] == [-errno.ENOENT, 0]
    assert tally.c.next == 2


def test_totals_of_overwritten_rows_are_not_those_of_newer_ones(lib: Any) -> None:
    tally = short(lib, rows=4)
    tally.starts = [n * MS for n in range(10)]
    for n in range(10):
        tally.push(n * MS, W)
    tally.take()
    assert [tally.read(seq)[0] for seq in range(10)] == [-errno.ESTALE] * 6 + [0] * 4


def test_rows_that_were_skipped_have_no_total_of_older_ones(lib: Any) -> None:
    """A feed lagged for longer than there are rows, which were overwritten meanwhile."""
    tally = short(lib, rows=4)
    tally.starts = [n * MS for n in range(20)]
    for n in range(6):
        tally.push(n * MS, W)
    tally.take()
    tally.skip(16)
    tally.skip(3)  # of the past
    assert (tally.c.next, tally.c.first) == (16, 16)
    assert [tally.read(seq)[0] for seq in range(12, 16)] == [-errno.ESTALE] * 4
    for n in range(6, 20):
        tally.push(n * MS, W)
    tally.take()
    assert [tally.read(seq)[0] for seq in range(14, 20)] == [-errno.ESTALE] * 2 + [0] * 4
